package io.drover.shim.core;

import java.net.MalformedURLException;
import java.net.URL;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;

/** The job's {@code drover.*} properties. A bad value is logged and its default used. */
final class Settings {
  static final String PATH = "/shim/v1/exchange";

  final List<URL> urls;
  final String mode;
  final int connectTimeoutMs;
  final int readTimeoutMs;
  final int minIntervalMs;
  final int maxIntervalMs;
  final int firstBackoffMs;
  final int maxBackoffMs;
  final int maxRows;

  Settings(Configuration conf) {
    urls = urls(conf.getTrimmedStrings("drover.service.urls"));
    String wanted = mode(conf.getTrimmed("drover.mode", "act"));
    boolean insists = conf.getBoolean("drover.act.plain-http", false);
    mode = wanted.equals("act") && !insists && anyInTheClear(urls) ? "advise" : wanted;
    connectTimeoutMs = number(conf, "drover.exchange.connect-timeout-ms", 2_000, 50, 30_000);
    // The service may hold an answer for 300 ms.
    readTimeoutMs = number(conf, "drover.exchange.read-timeout-ms", 5_000, 1_000, 60_000);
    // A lease is of 10 s, where nobody has changed that, and is to outlast four exchanges.
    minIntervalMs = number(conf, "drover.exchange.min-interval-ms", 100, 100, 2_500);
    maxIntervalMs = number(conf, "drover.exchange.max-interval-ms", 60_000, 1_000, 60_000);
    firstBackoffMs = number(conf, "drover.exchange.first-backoff-ms", 1_000, 100, 60_000);
    maxBackoffMs = number(conf, "drover.exchange.max-backoff-ms", 60_000, 1_000, 600_000);
    maxRows = number(conf, "drover.exchange.max-rows", 2_000, 10, 20_000);
  }

  /** The service's pace, within what this job allows. */
  long pace(long wantedMs) {
    return Math.max(minIntervalMs, Math.min(wantedMs, Math.max(minIntervalMs, maxIntervalMs)));
  }

  /** Whether the job lets Drover launch copies. */
  boolean acts() {
    return mode.equals("act");
  }

  /**
   * Whoever can change what comes from the network in the clear could kill attempts in Drover's
   * name, from whichever of the addresses the session goes on.
   */
  private static boolean anyInTheClear(List<URL> urls) {
    for (URL url : urls) {
      if ("http".equals(url.getProtocol()) && !isLoopback(url.getHost())) {
        Log.warn(
            "{} is plain HTTP: the job is only advised on (drover.act.plain-http)",
            Text.address(url));
        return true;
      }
    }
    return false;
  }

  /** By its name alone: a name server is no better protected than what it leads to. */
  private static boolean isLoopback(String host) {
    return host.equals("localhost") || host.equals("[::1]") || host.matches("127(\\.\\d+){3}");
  }

  private static List<URL> urls(String[] names) {
    List<URL> urls = new ArrayList<>();
    for (String name : names) {
      try {
        URL base = new URL(name);
        boolean http = "http".equals(base.getProtocol()) || "https".equals(base.getProtocol());
        boolean bare =
            base.getUserInfo() == null && base.getQuery() == null && base.getRef() == null;
        if (http && bare && !base.getHost().isEmpty()) {
          urls.add(new URL(name.replaceAll("/+$", "") + PATH));
          continue;
        }
      } catch (MalformedURLException e) {
        // said below
      }
      Log.warn("drover.service.urls: '{}' is not http(s)://host:port, ignored", Text.address(name));
    }
    return Collections.unmodifiableList(urls);
  }

  /** Unset leaves the choice to the service; a job can only make itself more cautious. */
  private static String mode(String value) {
    String mode = value.toLowerCase(Locale.ROOT);
    if (mode.equals("off") || mode.equals("advise") || mode.equals("act")) {
      return mode;
    }
    Log.warn("drover.mode: '{}' is none of off, advise, act; using advise", value);
    return "advise";
  }

  private static int number(Configuration conf, String key, int standard, int least, int most) {
    String text = conf.getTrimmed(key);
    if (text == null) {
      return standard;
    }
    try {
      int value = Integer.parseInt(text);
      if (value >= least && value <= most) {
        return value;
      }
    } catch (NumberFormatException e) {
      // said below
    }
    Log.warn("{}: '{}' is not within {} to {}; using {}", key, text, least, most, standard);
    return standard;
  }
}
