package io.drover.shim;

import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.job.Job;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.app.speculate.DefaultSpeculator;
import org.apache.hadoop.mapreduce.v2.app.speculate.Speculator;
import org.apache.hadoop.mapreduce.v2.app.speculate.SpeculatorEvent;

/**
 * Hadoop's own speculator, which learns from every event as ever and is held only at the moment it
 * would launch: while somebody else owns the job, and after a restart of the AM until it has seen
 * enough tasks finish. A held launch still counts as one for its rhythm of one pass in 15 s, so
 * that it comes back with no more haste than it would have had; Hadoop's own note of what it has
 * launched ({@code mayHaveSpeculated}) only orders two checks that a task must pass either way.
 */
public final class NativeSpeculator extends DefaultSpeculator
    implements ToLongFunction<String>, Consumer<BooleanSupplier> {
  /** What Hadoop's estimators ask for before they judge a kind of task: as StartEndTimesBase. */
  private static final int LEAST_FINISHED = 1;

  private static final float LEAST_SHARE_FINISHED = 0.05f;

  private static final int ATTEMPT_NUMBERS_PER_AM = 1000;

  private static final Set<TaskAttemptState> AT_WORK =
      EnumSet.of(TaskAttemptState.NEW, TaskAttemptState.STARTING, TaskAttemptState.RUNNING);

  private final AppContext context;
  private final int firstAttemptNumber;
  private final AtomicLong launched = new AtomicLong();
  private final AtomicLong held = new AtomicLong();
  private final AtomicLong waitingMaps = new AtomicLong();
  private final AtomicLong waitingReduces = new AtomicLong();
  private final Set<TaskType> informed = EnumSet.noneOf(TaskType.class);
  private volatile BooleanSupplier owner;

  public NativeSpeculator(Configuration conf, AppContext context) {
    super(conf, context);
    this.context = context;
    int amsBefore = context.getApplicationAttemptId().getAttemptId() - 1;
    this.firstAttemptNumber = amsBefore * ATTEMPT_NUMBERS_PER_AM;
  }

  /** Whom to ask before each launch whether to hold it; null for nobody. */
  @Override
  public void accept(BooleanSupplier newOwner) {
    owner = newOwner;
  }

  /**
   * Copies {@code launched} so far, and those wanted and {@code held}; requests for containers that
   * wait now, {@code waiting_maps} and {@code waiting_reduces}, of kinds that may speculate.
   */
  @Override
  public long applyAsLong(String name) {
    switch (name) {
      case "launched":
        return launched.get();
      case "held":
        return held.get();
      case "waiting_maps":
        return waitingMaps.get();
      case "waiting_reduces":
        return waitingReduces.get();
      default:
        return 0;
    }
  }

  @Override
  public void handle(SpeculatorEvent event) {
    super.handle(event);
    if (event.getType() == Speculator.EventType.TASK_CONTAINER_NEED_UPDATE) {
      boolean map = event.getTaskID().getTaskType() == TaskType.MAP;
      (map ? waitingMaps : waitingReduces).addAndGet(event.containersNeededChange());
    }
  }

  @Override
  protected void addSpeculativeAttempt(TaskId taskId) {
    if (!isInformed(taskId) || !launchUnlessOwned(taskId, owner)) {
      held.incrementAndGet();
    }
  }

  private boolean launchUnlessOwned(TaskId taskId, BooleanSupplier asked) {
    if (asked == null) {
      launch(taskId);
      return true;
    }
    // With the owner's monitor a launch is in the AM's queue before anything its next owner sends.
    synchronized (asked) {
      if (isHeld(asked) || isCopied(taskId)) {
        return false;
      }
      launch(taskId);
      return true;
    }
  }

  /**
   * Whether the task got its copy after this pass had judged it: from an owner until a moment ago.
   * By Hadoop's own rule, which counts none that commits or is being killed, and counting what was
   * just added: refused for more, one task would be picked pass after pass instead of all others.
   */
  private boolean isCopied(TaskId taskId) {
    int atWork = 0;
    for (TaskAttempt attempt :
        context.getJob(taskId.getJobId()).getTask(taskId).getAttempts().values()) {
      atWork += AT_WORK.contains(attempt.getState()) ? 1 : 0;
    }
    return atWork > 1;
  }

  private void launch(TaskId taskId) {
    super.addSpeculativeAttempt(taskId);
    launched.incrementAndGet();
  }

  /** An owner that cannot answer owns nothing. */
  private static boolean isHeld(BooleanSupplier asked) {
    try {
      return asked.getAsBoolean();
    } catch (Throwable e) {
      return false;
    }
  }

  /**
   * Tasks recovered from the history send no events, yet count as completed: Hadoop's estimator
   * would take a copy's time for zero and copy every task.
   */
  private boolean isInformed(TaskId taskId) {
    TaskType kind = taskId.getTaskType();
    if (firstAttemptNumber == 0 || informed.contains(kind)) {
      return true;
    }
    Job job = context.getJob(taskId.getJobId());
    int finished = 0;
    int toDo = 0;
    for (Task task : job.getTasks(kind).values()) {
      boolean here = finishedHere(task);
      finished += here ? 1 : 0;
      // Where nearly all were recovered, what is left may be less than the share of all.
      toDo += here || !task.isFinished() ? 1 : 0;
    }
    if (finished >= LEAST_FINISHED && (float) finished / toDo >= LEAST_SHARE_FINISHED) {
      informed.add(kind); // from the next pass on: this one may have judged before they finished
    }
    return false;
  }

  private boolean finishedHere(Task task) {
    if (task.getState() != TaskState.SUCCEEDED) {
      return false;
    }
    for (TaskAttempt attempt : task.getAttempts().values()) {
      if (attempt.getID().getId() >= firstAttemptNumber
          && attempt.getState() == TaskAttemptState.SUCCEEDED) {
        return true;
      }
    }
    return false;
  }
}
