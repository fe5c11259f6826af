package io.drover.shim.core;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.mapreduce.v2.api.records.Phase;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.Job;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.util.MRBuilderUtils;

/**
 * Has maps run again whose outputs are out of reach, all of a list at once: kills the attempts that
 * have succeeded, as Hadoop does where the ResourceManager calls their node lost. Hadoop then has
 * each task start anew, counts no failure, and has it ask for a container before all that wait.
 */
final class Rerunner implements Act {
  private static final Set<TaskState> ENDED =
      EnumSet.of(TaskState.SUCCEEDED, TaskState.FAILED, TaskState.KILLED);

  private final Job job;
  private final HadoopInside inside = new HadoopInside();

  /** Tasks that this shim has had run again: once each. */
  private final Set<TaskId> again = new HashSet<>();

  Rerunner(Job job) {
    this.job = job;
  }

  /** Without reduces nobody reads the outputs of maps from where they ran. */
  static boolean canServe(Job job) {
    try {
      return job.getTotalReduces() > 0;
    } catch (Throwable e) {
      Log.warn("cannot tell whether the job has reduces: {}", e.toString());
      return false;
    }
  }

  @Override
  public boolean isAboutATask() {
    return false;
  }

  @Override
  public String refusal(Action action, Task none) {
    if (!inside.onlyRuns(job) || !isRead()) {
      return Ack.NOT_READ;
    }
    return standing(action).isEmpty() ? Ack.NO_OUTPUT : null;
  }

  /** Whether a reduce still has outputs to fetch. */
  private boolean isRead() {
    for (Task reduce : job.getTasks(TaskType.REDUCE).values()) {
      if (!ENDED.contains(reduce.getState()) && !isPastShuffle(reduce)) {
        return true;
      }
    }
    return false;
  }

  private boolean isPastShuffle(Task reduce) {
    for (TaskAttempt attempt : reduce.getAttempts().values()) {
      // Its task hears of that only later. A map taken away in between would be told to the job
      // after its last task's end, and end again while it commits: an error to Hadoop up to 3.1.
      if (inside.saidDone(attempt)) {
        return true;
      }
      TaskAttemptState state = attempt.getState();
      boolean runs = state == TaskAttemptState.RUNNING || state == TaskAttemptState.COMMIT_PENDING;
      Phase phase = attempt.getPhase();
      if (runs && (phase == Phase.SORT || phase == Phase.REDUCE || phase == Phase.CLEANUP)) {
        return true;
      }
    }
    return false;
  }

  /** Those of the outputs that are their tasks' own, and may be taken away. */
  private List<TaskAttempt> standing(Action action) {
    List<TaskAttempt> standing = new ArrayList<>();
    for (long[] output : action.outputs) {
      TaskAttempt attempt = output[0] > Integer.MAX_VALUE ? null : standing(output);
      if (attempt != null) {
        standing.add(attempt);
      }
    }
    return standing;
  }

  private TaskAttempt standing(long[] output) {
    Task map = job.getTask(MRBuilderUtils.newTaskId(job.getID(), (int) output[0], TaskType.MAP));
    if (map == null || map.getState() != TaskState.SUCCEEDED || again.contains(map.getID())) {
      return null;
    }
    TaskAttempt found = null;
    for (TaskAttempt attempt : map.getAttempts().values()) {
      // The end of any other would be taken for one of the new attempt's, or end the whole job.
      boolean ended = attempt.isFinished() || inside.hasSucceeded(attempt);
      if (!ended) {
        return null;
      }
      found = attempt.getID().getId() == output[1] ? attempt : found;
    }
    boolean itsOwn =
        found != null
            && inside.hasSucceeded(found)
            && found.getID().equals(inside.successfulAttempt(map))
            && inside.inProgress(map).isEmpty();
    return itsOwn ? found : null;
  }

  @Override
  public Ack carryOut(Action action, Task none) {
    int killed = 0;
    for (TaskAttempt attempt : standing(action)) {
      Kill.of(attempt, "Drover: its output is out of reach of the reduces");
      // Some versions ignore it while the attempt's container is being cleaned up.
      if (attempt.getState() == TaskAttemptState.KILLED) {
        again.add(attempt.getID().getTaskId());
        killed++;
      }
    }
    Log.info("{} maps run again for {}", killed, action.id);
    return new Ack(action.id, killed > 0 ? Ack.APPLIED : Ack.FAILED);
  }
}
