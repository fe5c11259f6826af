package io.drover.shim.core;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;

/** The copies that this shim has added and that have no container yet. */
final class Copies {
  /** More than these never wait for containers. */
  static final int MAX_UNPLACED = 8;

  private static final class Copy {
    final Task task;
    final TaskAttempt attempt;

    Copy(Task task, TaskAttempt attempt) {
      this.task = task;
      this.attempt = attempt;
    }

    boolean waits() {
      return attempt.getAssignedContainerID() == null && !attempt.isFinished();
    }
  }

  private final List<Copy> copies = new ArrayList<>();

  /** Takes over attempts just added for an action; returns their numbers. */
  int[] adopt(Action action, Task task, List<TaskAttempt> added) {
    int[] numbers = new int[added.size()];
    for (int i = 0; i < numbers.length; i++) {
      TaskAttempt attempt = added.get(i);
      numbers[i] = attempt.getID().getId();
      copies.add(new Copy(task, attempt));
    }
    return numbers;
  }

  /** A container was asked for, or found, for an attempt of the task. */
  void needChanged(TaskId task) {
    if (!copies.isEmpty()) {
      forgetPlaced();
    }
  }

  private void forgetPlaced() {
    for (Iterator<Copy> each = copies.iterator(); each.hasNext(); ) {
      Copy copy = each.next();
      if (!copy.waits()) {
        each.remove();
      }
    }
  }

  /** Copies of a kind that wait for containers. */
  int unplaced(TaskType kind) {
    forgetPlaced();
    int unplaced = 0;
    for (Copy copy : copies) {
      unplaced += copy.task.getType() == kind ? 1 : 0;
    }
    return unplaced;
  }

  /** Those of them that have asked for one. */
  int asking(TaskType kind) {
    int asking = 0;
    for (Copy copy : copies) {
      boolean asks = copy.waits() && copy.attempt.getState() == TaskAttemptState.STARTING;
      asking += asks && copy.task.getType() == kind ? 1 : 0;
    }
    return asking;
  }
}
