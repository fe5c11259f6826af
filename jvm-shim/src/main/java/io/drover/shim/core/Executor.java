package io.drover.shim.core;

import java.util.Map;
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
  private final Map<String, Act> acts;

  /** {@code acts} by the type of action. */
  Executor(Lease lease, Grounds grounds, Headroom headroom, Map<String, Act> acts) {
    this.lease = lease;
    this.grounds = grounds;
    this.headroom = headroom;
    this.acts = acts;
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
        Act act = acts.get(action.type);
        if (act == null) {
          return new Ack(action.id, Ack.UNSUPPORTED);
        }
        Task task = grounds.task(action);
        String refusal = grounds.refusal(action, task, epoch, deadlineNanos);
        refusal = refusal == null ? act.refusal(action, task) : refusal;
        if (refusal == null && !headroom.speculates(Grounds.kind(action))) {
          refusal = Ack.SPECULATION_OFF;
        }
        return refusal == null ? act.carryOut(action, task) : new Ack(action.id, refusal);
      }
    } catch (Throwable e) {
      Log.warn("cannot look at {}: {}", action.id, e.toString());
      return new Ack(action.id, Ack.FAILED);
    }
  }
}
