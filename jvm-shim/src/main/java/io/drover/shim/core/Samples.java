package io.drover.shim.core;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptStatusUpdateEvent.TaskAttemptStatus;

/**
 * The newest sample of each attempt: written by the dispatcher thread, read by the exchange thread,
 * without locks. An attempt costs the dispatcher one array access and one small object an update.
 */
final class Samples {
  private final AtomicReferenceArray<Cell> maps;
  private final AtomicReferenceArray<Cell> reduces;
  private final AtomicLong unknownTasks = new AtomicLong();
  private final AtomicLong badProgress = new AtomicLong();
  private final Misses misses = new Misses();

  Samples(int mapCount, int reduceCount) {
    maps = new AtomicReferenceArray<>(mapCount);
    reduces = new AtomicReferenceArray<>(reduceCount);
  }

  /** Copies what is needed; the caller's object stays Hadoop's. */
  void add(TaskAttemptStatus status, long atMs) {
    TaskAttemptId id = status.id;
    AtomicReferenceArray<Cell> cells = cells(id.getTaskId());
    int task = id.getTaskId().getId();
    if (task < 0 || task >= cells.length()) {
      unknownTasks.incrementAndGet();
      return;
    }
    Cell cell = cell(cells, task, id.getId());
    Sample last = cell.newest;
    float progress = status.progress;
    if (!(progress >= 0f && progress <= 1f)) { // true for NaN, too
      badProgress.incrementAndGet();
      progress = last == null ? 0f : last.progress;
    }
    long count = last == null ? 1 : last.count + 1;
    cell.newest =
        new Sample(
            progress, status.phase, atMs, status.shuffleFinishTime, status.sortFinishTime, count);
    misses.add(status, atMs);
  }

  /** The newest sample of an attempt, or null when none has come. */
  Sample newest(boolean map, int task, int attempt) {
    AtomicReferenceArray<Cell> cells = map ? maps : reduces;
    if (task >= cells.length()) {
      return null;
    }
    Cell cell = find(cells.get(task), attempt);
    return cell == null ? null : cell.newest;
  }

  /** Outputs that reduces could not fetch. */
  Misses misses() {
    return misses;
  }

  long unknownTasks() {
    return unknownTasks.get();
  }

  long badProgress() {
    return badProgress.get();
  }

  private AtomicReferenceArray<Cell> cells(TaskId task) {
    return task.getTaskType() == TaskType.MAP ? maps : reduces;
  }

  private static Cell cell(AtomicReferenceArray<Cell> cells, int task, int attempt) {
    while (true) {
      Cell head = cells.get(task);
      Cell found = find(head, attempt);
      if (found != null) {
        return found;
      }
      Cell fresh = new Cell(attempt, head);
      if (cells.compareAndSet(task, head, fresh)) {
        return fresh;
      }
    }
  }

  private static Cell find(Cell head, int attempt) {
    Cell cell = head;
    while (cell != null && cell.attempt != attempt) {
      cell = cell.next;
    }
    return cell;
  }

  private static final class Cell {
    final int attempt;
    final Cell next;
    volatile Sample newest;

    Cell(int attempt, Cell next) {
      this.attempt = attempt;
      this.next = next;
    }
  }
}
