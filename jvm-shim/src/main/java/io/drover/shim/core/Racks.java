package io.drover.shim.core;

import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;

/**
 * Racks of hosts that the AM may never have seen. Hadoop asks a name server for them, and perhaps a
 * script, which takes its time: so it is asked on the exchange thread, and once for each host.
 */
final class Racks {
  private static final int MAX_KNOWN = 10_000;

  /** So long an answer waits at most for the next host's. */
  private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final UnaryOperator<String> resolver;
  private final LongSupplier nanos;
  private final Map<String, String> known = new HashMap<>();
  private long untilNanos;

  Racks(UnaryOperator<String> resolver, LongSupplier nanos) {
    this.resolver = resolver;
    this.nanos = nanos;
  }

  /** Another answer is looked at. */
  void begin() {
    untilNanos = nanos.getAsLong() + PATIENCE_NANOS;
  }

  /** Those of the first so many hosts that are known, or become so in time. */
  Map<String, String> of(List<String> hosts, int first) {
    if (hosts.isEmpty()) {
      return Collections.emptyMap();
    }
    Map<String, String> racks = new HashMap<>();
    for (String host : hosts.subList(0, Math.min(first, hosts.size()))) {
      String rack = known.get(host);
      boolean inTime = nanos.getAsLong() - untilNanos < 0;
      if (rack == null && !known.containsKey(host) && inTime && known.size() < MAX_KNOWN) {
        rack = resolve(host);
        known.put(host, rack);
      }
      if (rack != null) {
        racks.put(host, rack);
      }
    }
    return racks;
  }

  private String resolve(String host) {
    try {
      return resolver.apply(host);
    } catch (Throwable e) {
      Log.info("the rack of {} cannot be told: {}", host, e.toString());
      return null;
    }
  }
}
