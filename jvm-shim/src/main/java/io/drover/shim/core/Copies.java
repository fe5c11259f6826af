package io.drover.shim.core;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;

/**
 * The copies that this shim has added, or that Hadoop adds for what this shim has killed, and that
 * have not started; on the dispatcher thread.
 */
final class Copies {
  /** More than these never wait for containers, but for what replaces killed ones. */
  static final int MAX_UNPLACED = 8;

  /**
   * No attempt is restarted while so many that were killed, for that or to be moved, have not
   * ended. A bound of their own: where their nodes do not answer their ends take minutes, in which
   * other tasks may need copies.
   */
  static final int MAX_ENDING_TO_RESTART = 8;

  /** Nor is any attempt added while so many have not: each may keep a thread of Hadoop's. */
  static final int MAX_ENDING_TO_ADD = 16;

  /** What stands for one applied action. */
  static final class Standing {
    final Action action;
    final Task task;

    /** The numbers of its attempts; -1 for one that is not known. */
    final int[] numbers;

    int movesLeft;

    Standing(Action action, Task task, int[] numbers) {
      this.action = action;
      this.task = task;
      this.numbers = numbers;
      this.movesLeft = action.moves;
    }
  }

  /** One copy: an attempt, or, while it moves, the killed one that Hadoop is about to replace. */
  static final class Copy {
    final Standing standing;

    /** Its place among the standing's numbers. */
    final int slot;

    TaskAttempt attempt;
    boolean moving;

    Copy(Standing standing, int slot, TaskAttempt attempt) {
      this.standing = standing;
      this.slot = slot;
      this.attempt = attempt;
    }

    /** Whether it was killed, to be moved or restarted, and has not ended. */
    private boolean ends() {
      return moving && !attempt.isFinished();
    }

    /**
     * Whether a container must still be found for it: its request waits, or is about to be made.
     * What is killed asks for nothing until its end, which takes minutes where its node does not
     * answer.
     */
    private boolean asks() {
      return moving
          ? attempt.isFinished()
          : attempt.getAssignedContainerID() == null && !attempt.isFinished();
    }

    private boolean started() {
      TaskAttemptState state = attempt.getState();
      boolean before = state == TaskAttemptState.NEW || state == TaskAttemptState.STARTING;
      return standing.task.getState() != TaskState.RUNNING || !before && !moving;
    }
  }

  private final List<Copy> copies = new ArrayList<>();

  /** Takes over attempts just added for an action; returns their numbers. */
  int[] adopt(Action action, Task task, List<TaskAttempt> added) {
    int[] numbers = added.stream().mapToInt(attempt -> attempt.getID().getId()).toArray();
    Standing standing = new Standing(action, task, numbers);
    for (int slot = 0; slot < numbers.length; slot++) {
      copies.add(new Copy(standing, slot, added.get(slot)));
    }
    return numbers.clone();
  }

  /** Takes over what Hadoop will put in the place of an attempt that is about to be killed. */
  Copy adoptVictim(Action action, Task task, TaskAttempt victim) {
    Copy copy = new Copy(new Standing(action, task, new int[] {-1}), 0, victim);
    copies.add(copy);
    return copy;
  }

  /** Those of one task; a list of the caller's own. */
  List<Copy> of(TaskId task) {
    List<Copy> some = new ArrayList<>();
    for (Copy copy : copies) {
      if (copy.standing.task.getID().equals(task)) {
        some.add(copy);
      }
    }
    return some;
  }

  boolean isEmpty() {
    return copies.isEmpty();
  }

  void forget(Copy copy) {
    copies.remove(copy);
  }

  /** From its start on a copy is Hadoop's alone. */
  void forgetStarted() {
    copies.removeIf(Copy::started);
  }

  /** Copies for which containers must still be found. */
  int unplaced() {
    return count(Copy::asks);
  }

  /** Attempts that were killed, to be moved or restarted, and have not ended. */
  int ending() {
    return count(Copy::ends);
  }

  private int count(Predicate<Copy> which) {
    forgetStarted();
    int some = 0;
    for (Copy copy : copies) {
      some += which.test(copy) ? 1 : 0;
    }
    return some;
  }

  /** Whether one of a kind waits for a container now. */
  boolean anyAsks(TaskType kind) {
    for (Copy copy : copies) {
      if (copy.asks() && copy.standing.task.getType() == kind) {
        return true;
      }
    }
    return false;
  }

  /** Copies of a kind that have asked for a container and have none. */
  int asking(TaskType kind) {
    int asking = 0;
    for (Copy copy : copies) {
      boolean asks = copy.asks() && copy.attempt.getState() == TaskAttemptState.STARTING;
      asking += asks && copy.standing.task.getType() == kind ? 1 : 0;
    }
    return asking;
  }
}
