package io.drover.shim.core;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptStatusUpdateEvent.TaskAttemptStatus;

/**
 * Outputs of maps that reduces told they could not fetch: from the dispatcher thread to the
 * exchange thread, and only while the service wants to know. A reduce tells again each time it has
 * tried again, so nothing is lost for good by what is dropped.
 */
final class Misses {
  private static final int MAX_WAITING = 20_000;

  /** One reduce's word on one output. */
  static final class Miss {
    final int map;
    final int attempt;
    final int reduce;
    final long atMs;

    Miss(int map, int attempt, int reduce, long atMs) {
      this.map = map;
      this.attempt = attempt;
      this.reduce = reduce;
      this.atMs = atMs;
    }
  }

  private final Queue<Miss> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicInteger count = new AtomicInteger();
  private final AtomicLong dropped = new AtomicLong();
  private volatile boolean wanted;

  /** On the dispatcher thread; Hadoop makes a new list for each update. */
  void add(TaskAttemptStatus status, long atMs) {
    List<TaskAttemptId> failed = status.fetchFailedMaps;
    if (!wanted || failed == null || status.id.getTaskId().getTaskType() != TaskType.REDUCE) {
      return;
    }
    int reduce = status.id.getTaskId().getId();
    for (TaskAttemptId output : failed) {
      if (count.get() >= MAX_WAITING) {
        dropped.incrementAndGet();
        continue;
      }
      count.incrementAndGet();
      waiting.add(new Miss(output.getTaskId().getId(), output.getId(), reduce, atMs));
    }
  }

  /** The oldest that was not taken yet, or null; on the exchange thread. */
  Miss take() {
    Miss miss = waiting.poll();
    if (miss != null) {
      count.decrementAndGet();
    }
    return miss;
  }

  void want(boolean asked) {
    wanted = asked;
  }

  boolean wanted() {
    return wanted;
  }

  long dropped() {
    return dropped.get();
  }
}
