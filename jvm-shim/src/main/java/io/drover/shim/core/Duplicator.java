package io.drover.shim.core;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.Job;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskEvent;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskEventType;
import org.apache.hadoop.mapreduce.v2.util.MRBuilderUtils;
import org.apache.hadoop.yarn.event.EventHandler;

/**
 * Adds copies, on the dispatcher thread. Hadoop itself checks nothing: a copy for a task that does
 * not run ends the whole job, and one is added to a task that commits. So everything is checked
 * here, and the order is given synchronously, so that nothing changes in between.
 */
final class Duplicator implements Actions.Hand {
  private final Job job;
  private final Lease lease;
  private final LongSupplier nanos;
  private final Headroom headroom;
  private final Copies copies;
  private final HadoopInside inside = new HadoopInside();

  Duplicator(Job job, Lease lease, LongSupplier nanos, Headroom headroom, Copies copies) {
    this.job = job;
    this.lease = lease;
    this.nanos = nanos;
    this.headroom = headroom;
    this.copies = copies;
  }

  /** Whether this Hadoop and this job can be given copies at all. */
  static boolean canAct(Job job) {
    for (Task task : job.getTasks().values()) {
      return !job.isUber() && task instanceof EventHandler;
    }
    return false;
  }

  @Override
  public Ack apply(Action action, long epoch, long deadlineNanos) {
    // With the lease's monitor Hadoop's own speculator launches before the check or after the copy.
    try {
      synchronized (lease) {
        Task task = task(action);
        String refusal = refusal(action, task, epoch, deadlineNanos);
        return refusal == null ? add(action, task) : new Ack(action.id, refusal);
      }
    } catch (Throwable e) {
      Log.warn("cannot look at {}: {}", action.id, e.toString());
      return new Ack(action.id, Ack.FAILED);
    }
  }

  private Task task(Action action) {
    if (action.task > Integer.MAX_VALUE) {
      return null;
    }
    return job.getTask(MRBuilderUtils.newTaskId(job.getID(), (int) action.task, kind(action)));
  }

  private static TaskType kind(Action action) {
    return action.map ? TaskType.MAP : TaskType.REDUCE;
  }

  private String refusal(Action action, Task task, long epoch, long deadlineNanos) {
    if (!lease.heldUnder(epoch)) {
      return Ack.NOT_LEASED;
    }
    if (deadlineNanos - nanos.getAsLong() <= 0) {
      return Ack.PAST_DEADLINE;
    }
    if (task == null) {
      return Ack.UNKNOWN_TASK;
    }
    // Hadoop shows a task as RUNNING only in the one internal state that takes an order for a copy.
    TaskState state = task.getState();
    if (state != TaskState.RUNNING) {
      return state == TaskState.SUCCEEDED ? Ack.TASK_ENDED : Ack.NOT_RUNNING;
    }
    String busy = refusalByAttempts(action, task);
    if (busy != null) {
      return busy;
    }
    if (!headroom.allows(kind(action), action.copies)) {
      return Ack.NO_HEADROOM;
    }
    return headroom.speculates(kind(action)) ? null : Ack.SPECULATION_OFF;
  }

  private String refusalByAttempts(Action action, Task task) {
    Set<?> unended = inside.inProgress(task);
    int live = 0;
    boolean committing = false;
    for (TaskAttempt attempt : task.getAttempts().values()) {
      TaskAttemptState state = attempt.getState();
      if (state == TaskAttemptState.SUCCEEDED) {
        return Ack.TASK_ENDED;
      }
      committing |= state == TaskAttemptState.COMMIT_PENDING;
      // One that is being killed counts: Hadoop is about to replace it.
      live += !attempt.isFinished() || unended.contains(attempt.getID()) ? 1 : 0;
    }
    if (committing) {
      return Ack.COMMITTING;
    }
    return live > action.live ? Ack.TOO_MANY_ATTEMPTS : null;
  }

  private Ack add(Action action, Task task) {
    Set<TaskAttemptId> before = new HashSet<>(task.getAttempts().keySet());
    boolean whole = order(action, task);
    List<TaskAttempt> added = new ArrayList<>();
    for (TaskAttempt attempt : task.getAttempts().values()) {
      if (!before.contains(attempt.getID())) {
        added.add(attempt);
        inside.askElsewhere(attempt, action.avoid);
      }
    }
    int[] numbers = copies.adopt(action, task, added);
    boolean applied = whole && added.size() == action.copies;
    Log.info("copies of {} for {}: attempts {}", task.getID(), action.id, Arrays.toString(numbers));
    return new Ack(action.id, applied ? Ack.APPLIED : Ack.FAILED, numbers);
  }

  /** False when Hadoop threw. Its tasks handle events, which the interface Task does not say. */
  @SuppressWarnings("unchecked")
  private static boolean order(Action action, Task task) {
    try {
      for (int i = 0; i < action.copies; i++) {
        ((EventHandler<TaskEvent>) task)
            .handle(new TaskEvent(task.getID(), TaskEventType.T_ADD_SPEC_ATTEMPT));
      }
      return true;
    } catch (Throwable e) {
      Log.warn("Hadoop did not add a copy of {}: {}", task.getID(), e.toString());
      return false;
    }
  }
}
