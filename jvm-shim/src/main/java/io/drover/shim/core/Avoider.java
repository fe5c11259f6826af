package io.drover.shim.core;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.v2.api.records.JobId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.rm.ContainerFailedEvent;
import org.apache.hadoop.mapreduce.v2.util.MRBuilderUtils;
import org.apache.hadoop.yarn.event.Event;

/**
 * Keeps the job's new containers off hosts for a time. A host is put on the AM's own list by the
 * events by which Hadoop puts one there, and taken off when its time or the lease is over. Any
 * thread may look at the time.
 */
final class Avoider implements Act {
  /** Long enough for some heartbeats to the ResourceManager. */
  private static final long REPEATED_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** So long a job may be without containers before its hosts are let in again. */
  private static final long STARVED_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** Any but 0: only the host counts. */
  private static final String PORT = ":1";

  private final Blacklist blacklist;
  private final BooleanSupplier leased;
  private final BooleanSupplier starves;
  private final LongSupplier nanos;
  private final Consumer<Event<?>> dispatcher;
  private final Consumer<Ack> answers;
  private final TaskAttemptId nobody;
  private final int failures;

  /** Hosts that Drover had listed. */
  private final Set<String> avoided = new HashSet<>();

  /** Hosts taken off, and until when that is said again. */
  private final Map<String, Long> lifted = new HashMap<>();

  /** Since when the job is seen to wait while nothing of it runs; null when it does not. */
  private Long starvedNanos;

  private String action;
  private long endNanos;

  /** Whether there is anything to look at. */
  private volatile boolean busy;

  Avoider(
      Blacklist blacklist,
      BooleanSupplier leased,
      BooleanSupplier starves,
      LongSupplier nanos,
      Consumer<Event<?>> dispatcher,
      Consumer<Ack> answers,
      JobId job,
      Configuration conf) {
    this.blacklist = blacklist;
    this.leased = leased;
    this.starves = starves;
    this.nanos = nanos;
    this.dispatcher = dispatcher;
    this.answers = answers;
    // Of the attempt that failed Hadoop asks nothing here; a checkpointing policy would forget its
    // checkpoint, which one that never was has not.
    nobody =
        MRBuilderUtils.newTaskAttemptId(
            MRBuilderUtils.newTaskId(job, Integer.MAX_VALUE, TaskType.MAP), Integer.MAX_VALUE);
    failures = Blacklist.failures(conf);
  }

  @Override
  public boolean isAboutATask() {
    return false;
  }

  @Override
  public synchronized String refusal(Action asked, Task none) {
    try {
      int more = 0;
      for (String host : asked.avoid) {
        more += blacklist.has(host) ? 0 : 1;
      }
      int fewer = 0;
      for (String host : avoided) {
        fewer += asked.avoid.contains(host) ? 0 : 1;
      }
      boolean bears = asked.avoid.isEmpty() || blacklist.bears(more - fewer);
      return bears && !(blacklist.isDropped() && more > 0) ? null : Ack.TOO_MANY_NODES;
    } catch (IllegalAccessException e) {
      return Ack.FAILED;
    }
  }

  @Override
  public synchronized Ack carryOut(Action asked, Task none) {
    for (String host : new HashSet<>(avoided)) {
      if (!asked.avoid.contains(host)) {
        lift(host);
      }
    }
    for (String host : asked.avoid) {
      boolean liftedNow = lifted.remove(host) != null;
      if (liftedNow || !blacklist.has(host)) {
        blacklist.forget(host);
        avoided.add(host);
        starvedNanos = null;
        for (int i = 0; i < failures; i++) {
          dispatcher.accept(new ContainerFailedEvent(nobody, host + PORT));
        }
      }
    }
    action = asked.id;
    busy = true;
    endNanos = nanos.getAsLong() + TimeUnit.MILLISECONDS.toNanos(asked.forMs);
    Log.info("new containers keep off {} for {} ms, for {}", avoided, asked.forMs, asked.id);
    return new Ack(asked.id, Ack.APPLIED);
  }

  /** Whether hosts are avoided, or were until a moment ago. */
  boolean busy() {
    return busy;
  }

  /** Lifts what is over. */
  void look() {
    if (busy) {
      // Whoever carries an action out holds the lease's monitor and waits for this one's, so the
      // lease is asked first.
      look(leased.getAsBoolean());
    }
  }

  private synchronized void look(boolean held) {
    long now = nanos.getAsLong();
    boolean starved = hasStarved(now);
    if (!avoided.isEmpty() && (blacklist.isDropped() || starved)) {
      liftAll();
      answers.accept(new Ack(action, Ack.TOO_MANY_NODES));
    } else if (!avoided.isEmpty() && !held && now - endNanos < 0) {
      liftAll();
      answers.accept(new Ack(action, Ack.NOT_LEASED));
    } else if (now - endNanos >= 0) {
      liftAll();
    }
    for (Iterator<Map.Entry<String, Long>> each = lifted.entrySet().iterator(); each.hasNext(); ) {
      Map.Entry<String, Long> host = each.next();
      // What is told while a heartbeat is under way is forgotten with it, and what listed the host
      // may have waited in the AM's queues.
      blacklist.lift(host.getKey());
      if (now - host.getValue() >= 0) {
        each.remove();
      }
    }
    busy = !(avoided.isEmpty() && lifted.isEmpty());
  }

  /** The nodes that the job may use at all may be few of those that the list is measured by. */
  private boolean hasStarved(long now) {
    if (avoided.isEmpty() || !starves.getAsBoolean()) {
      starvedNanos = null;
      return false;
    }
    starvedNanos = starvedNanos == null ? (Long) now : starvedNanos;
    return now - starvedNanos >= STARVED_NANOS;
  }

  /** Lifts everything, for good. */
  synchronized void liftAll() {
    for (String host : new HashSet<>(avoided)) {
      lift(host);
    }
  }

  private void lift(String host) {
    avoided.remove(host);
    blacklist.lift(host);
    lifted.put(host, nanos.getAsLong() + REPEATED_NANOS);
    Log.info("new containers may go to {} again", host);
  }
}
