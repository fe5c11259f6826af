package io.drover.shim.core;

import org.apache.hadoop.mapreduce.v2.app.job.Job;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.yarn.event.EventHandler;

/**
 * Carries actions out, on the dispatcher thread. Hadoop itself checks nothing: a copy for a task
 * that does not run ends the whole job, one is added to a task that commits, and a kill may hit the
 * attempt that was about to win. So everything is checked here, and the order is given
 * synchronously, so that nothing changes in between.
 */
final class Executor implements Actions.Hand {
  private final Lease lease;
  private final Grounds grounds;
  private final Headroom headroom;
  private final Means means;

  Executor(Lease lease, Grounds grounds, Headroom headroom, Means means) {
    this.lease = lease;
    this.grounds = grounds;
    this.headroom = headroom;
    this.means = means;
  }

  /** Whether anything can be done to this job's tasks by this Hadoop at all. */
  static boolean canAct(Job job) {
    for (Task task : job.getTasks().values()) {
      return !job.isUber() && task instanceof EventHandler;
    }
    return false;
  }

  @Override
  public Ack apply(Action action, long epoch, long deadlineNanos) {
    // With the lease's monitor Hadoop's own speculator launches before the check or after the act.
    try {
      synchronized (lease) {
        Act act = means.of(action.type);
        if (act == null) {
          return new Ack(action.id, Ack.UNSUPPORTED);
        }
        Task task = act.isAboutATask() ? grounds.task(action) : null;
        String refusal = grounds.refusal(epoch, deadlineNanos);
        refusal = refusal == null ? refusal(act, action, task) : refusal;
        return refusal == null ? act.carryOut(action, task) : new Ack(action.id, refusal);
      }
    } catch (Throwable e) {
      Log.warn("cannot look at {}: {}", action.id, e.toString());
      return new Ack(action.id, Ack.FAILED);
    }
  }

  private String refusal(Act act, Action action, Task task) {
    if (!act.isAboutATask()) {
      return act.refusal(action, null);
    }
    String refusal = grounds.refusal(action, task);
    refusal = refusal == null ? act.refusal(action, task) : refusal;
    boolean off = refusal == null && !headroom.speculates(Grounds.kind(action));
    return off ? Ack.SPECULATION_OFF : refusal;
  }
}
