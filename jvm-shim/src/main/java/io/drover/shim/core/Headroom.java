package io.drover.shim.core;

import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;

/**
 * Whether the job can spare containers for copies; on the dispatcher thread. Copies come last: they
 * take no container that the job's own attempts wait for.
 */
final class Headroom {
  private final Configuration conf;
  private final ToLongFunction<String> nativeCounts;
  private final Supplier<Needs> seen;
  private final Copies copies;

  Headroom(
      Configuration conf,
      ToLongFunction<String> nativeCounts,
      Supplier<Needs> seen,
      Copies copies) {
    this.conf = conf;
    this.nativeCounts = nativeCounts;
    this.seen = seen;
    this.copies = copies;
  }

  /** Whether there is room for so many further copies. */
  boolean allows(TaskType kind, int more) {
    return others(kind) == 0 && bearsWaiting(more);
  }

  /** Whether an attempt may be restarted: the new one takes the container that falls free. */
  boolean allowsRestart(TaskAttempt victim) {
    return mayHurry(victim.getID().getTaskId().getTaskType())
        && bearsWaiting(1)
        && copies.ending() < Copies.MAX_ENDING_TO_RESTART
        && spares(victim);
  }

  /**
   * Whether an attempt's container may be given up for another. That one may go to another job, and
   * once no map holds one while a map waits, Hadoop preempts reduces: other maps that run may end
   * before.
   */
  boolean spares(TaskAttempt victim) {
    return victim.getID().getTaskId().getTaskType() != TaskType.MAP || !seen.get().reducesRun;
  }

  /**
   * Whether what replaces a killed attempt may ask before the tasks that wait. Where a job limits
   * the maps that run at once, Hadoop never forgets such a request that is withdrawn, as when
   * another attempt ends first: for each it asks for one container fewer, in the end for none.
   */
  boolean mayHurry(TaskType kind) {
    return kind != TaskType.MAP || conf.getInt("mapreduce.job.running.map.limit", 0) <= 0;
  }

  /**
   * Whether a task would go on though all its copies failed, these among them. A copy's failure
   * counts as the task's own: with the last that Hadoop allows it kills the attempts that run and
   * fails the job.
   */
  boolean bearsFailures(Task task, int more) {
    boolean map = task.getType() == TaskType.MAP;
    int most = conf.getInt(map ? MRJobConfig.MAP_MAX_ATTEMPTS : MRJobConfig.REDUCE_MAX_ATTEMPTS, 4);
    int failing = more;
    for (TaskAttempt attempt : task.getAttempts().values()) {
      boolean failed = attempt.getState() == TaskAttemptState.FAILED;
      failing += failed || !attempt.isFinished() ? 1 : 0;
    }
    return failing <= most;
  }

  private boolean bearsWaiting(int more) {
    boolean few =
        copies.unplaced() + more <= Copies.MAX_UNPLACED
            && copies.ending() < Copies.MAX_ENDING_TO_ADD;
    boolean mapWaits = copies.anyAsks(TaskType.MAP) || others(TaskType.MAP) > 0;
    return few && !(mapWaits && seen.get().reducesRun);
  }

  /** Whether the job waits for containers, and none of its attempts holds one. */
  boolean starves() {
    return seen.get().starved();
  }

  boolean speculates(TaskType kind) {
    boolean map = kind == TaskType.MAP;
    return conf.getBoolean(
        map ? MRJobConfig.MAP_SPECULATIVE : MRJobConfig.REDUCE_SPECULATIVE, false);
  }

  /**
   * Attempts other than our copies that wait for a container. The AM tells its speculator of each
   * request of a kind that may speculate; of the other kind the newest look must do.
   */
  private long others(TaskType kind) {
    boolean map = kind == TaskType.MAP;
    if (!speculates(kind)) {
      return map ? seen.get().maps : seen.get().reduces;
    }
    long waiting = nativeCounts.applyAsLong(map ? "waiting_maps" : "waiting_reduces");
    return Math.max(0, waiting - copies.asking(kind));
  }
}
