package io.drover.shim.core;

import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptEvent;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptKillEvent;
import org.apache.hadoop.yarn.event.EventHandler;

/**
 * Kills an attempt that is to be replaced, on the dispatcher thread and synchronously, so that
 * nothing changes after the checks.
 */
final class Kill {
  private Kill() {}

  /**
   * False when Hadoop threw. Its attempts handle events, which the interface TaskAttempt does not
   * say.
   */
  @SuppressWarnings("unchecked")
  static boolean of(TaskAttempt attempt, String why) {
    try {
      // The replacement of one that is rescheduled asks for no host, and before the job's tasks
      // that wait. Any other asks for those of its split again, and where requests wait for their
      // hosts is given the same one.
      ((EventHandler<TaskAttemptEvent>) attempt)
          .handle(new TaskAttemptKillEvent(attempt.getID(), why, true));
      return true;
    } catch (Throwable e) {
      Log.warn("cannot kill {}: {}", attempt.getID(), e.toString());
      return false;
    }
  }
}
