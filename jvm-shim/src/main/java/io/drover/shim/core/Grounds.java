package io.drover.shim.core;

import java.util.Set;
import java.util.function.LongSupplier;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.Job;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.util.MRBuilderUtils;

/** What speaks against whatever is to be done; on the dispatcher thread. */
final class Grounds {
  private final Job job;
  private final Lease lease;
  private final LongSupplier nanos;
  private final HadoopInside inside = new HadoopInside();

  Grounds(Job job, Lease lease, LongSupplier nanos) {
    this.job = job;
    this.lease = lease;
    this.nanos = nanos;
  }

  static TaskType kind(Action action) {
    return action.map ? TaskType.MAP : TaskType.REDUCE;
  }

  /** The task that is meant, or null. */
  Task task(Action action) {
    if (action.task > Integer.MAX_VALUE) {
      return null;
    }
    return job.getTask(MRBuilderUtils.newTaskId(job.getID(), (int) action.task, kind(action)));
  }

  /** What speaks against doing anything now: an outcome of {@link Ack}, or null for nothing. */
  String refusal(long epoch, long deadlineNanos) {
    if (!lease.heldUnder(epoch)) {
      return Ack.NOT_LEASED;
    }
    return deadlineNanos - nanos.getAsLong() <= 0 ? Ack.PAST_DEADLINE : null;
  }

  /** What speaks against doing anything to a task, likewise. */
  String refusal(Action action, Task task) {
    if (task == null) {
      return Ack.UNKNOWN_TASK;
    }
    // Hadoop shows a task as RUNNING only in the one internal state that takes an order for a copy.
    TaskState state = task.getState();
    if (state != TaskState.RUNNING) {
      return state == TaskState.SUCCEEDED ? Ack.TASK_ENDED : Ack.NOT_RUNNING;
    }
    return refusalByAttempts(action, task);
  }

  private String refusalByAttempts(Action action, Task task) {
    Set<?> unended = inside.inProgress(task);
    int live = 0;
    boolean committing = false;
    for (TaskAttempt attempt : task.getAttempts().values()) {
      if (inside.saidDone(attempt)) {
        return Ack.TASK_ENDED;
      }
      committing |= attempt.getState() == TaskAttemptState.COMMIT_PENDING;
      // One that is being killed counts: Hadoop is about to replace it.
      live += !attempt.isFinished() || unended.contains(attempt.getID()) ? 1 : 0;
    }
    if (committing) {
      return Ack.COMMITTING;
    }
    return live > action.live ? Ack.TOO_MANY_ATTEMPTS : null;
  }
}
