package io.drover.shim.core;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskEvent;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskEventType;
import org.apache.hadoop.yarn.event.EventHandler;

/** Adds copies of running tasks. */
final class Duplicator implements Act {
  private final Headroom headroom;
  private final Copies copies;
  private final HadoopInside inside = new HadoopInside();

  Duplicator(Headroom headroom, Copies copies) {
    this.headroom = headroom;
    this.copies = copies;
  }

  @Override
  public String refusal(Action action, Task task) {
    if (!headroom.bearsFailures(task, action.copies)) {
      return Ack.FAILURES_SPENT;
    }
    return headroom.allows(Grounds.kind(action), action.copies) ? null : Ack.NO_HEADROOM;
  }

  @Override
  public Ack carryOut(Action action, Task task) {
    Set<TaskAttemptId> before = new HashSet<>(task.getAttempts().keySet());
    boolean whole = order(action, task);
    List<TaskAttempt> added = new ArrayList<>();
    for (TaskAttempt attempt : task.getAttempts().values()) {
      if (!before.contains(attempt.getID())) {
        inside.askElsewhere(attempt, action.avoid);
        // One host each: two copies that both ask for it may both be given it.
        if (added.size() < action.prefer.size()) {
          String host = action.prefer.get(added.size());
          inside.askFor(attempt, host, action.racks.get(host), action.avoid);
        }
        added.add(attempt);
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
