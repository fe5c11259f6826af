package io.drover.shim.core;

import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;

/**
 * Racks of hosts that the AM may never have seen. Hadoop asks a name server for them, and perhaps a
 * script, which takes its time: so each is asked for once, on a thread of its own. What comes too
 * late for one answer is there for the next.
 */
final class Racks {
  private static final int MAX_KNOWN = 10_000;

  /** So many wait to be asked for at most, and so long the thread stays when none does. */
  private static final int MAX_WAITING = 100;

  private static final long IDLE_S = 10;

  /** So long an answer waits at most, for all its racks. */
  private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final UnaryOperator<String> resolver;
  private final LongSupplier nanos;
  private final Map<String, Future<String>> asked = new HashMap<>();
  private final ThreadPoolExecutor asks;
  private long untilNanos;

  Racks(UnaryOperator<String> resolver, LongSupplier nanos) {
    this.resolver = resolver;
    this.nanos = nanos;
    asks =
        new ThreadPoolExecutor(
            1,
            1,
            IDLE_S,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(MAX_WAITING),
            run -> Helper.thread(run, "drover-racks"));
    asks.allowCoreThreadTimeOut(true);
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
    List<String> wanted = hosts.subList(0, Math.min(first, hosts.size()));
    wanted.forEach(this::ask);
    Map<String, String> racks = new HashMap<>();
    for (String host : wanted) {
      Future<String> answer = asked.get(host);
      String rack = answer == null ? null : await(answer);
      if (rack != null) {
        racks.put(host, rack);
      }
    }
    return racks;
  }

  private void ask(String host) {
    if (asked.containsKey(host) || asked.size() >= MAX_KNOWN) {
      return;
    }
    try {
      asked.put(host, asks.submit(() -> resolve(host)));
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      // another answer may ask; without memory no thread is to be had now
    }
  }

  private String resolve(String host) {
    try {
      return resolver.apply(host);
    } catch (Throwable e) {
      Log.info("the rack of {} cannot be told: {}", host, e.toString());
      return null;
    }
  }

  private String await(Future<String> answer) {
    try {
      // With no time left it still gives what is there.
      return answer.get(Math.max(0, untilNanos - nanos.getAsLong()), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    } catch (ExecutionException | TimeoutException e) {
      return null;
    }
  }
}
