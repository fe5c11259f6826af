package io.drover.shim.core;

import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.mapreduce.v2.api.records.TaskId;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;

/**
 * Kills running attempts that a new one would overtake. Hadoop replaces each by itself, as it does
 * every attempt of a task without success that is killed, and counts no failure.
 */
final class Restarter implements Act {
  private final Headroom headroom;
  private final Copies copies;
  private final Mover mover;
  private final HadoopInside inside = new HadoopInside();

  /** How often each task was restarted, whoever had decided on it. */
  private final Map<TaskId, Integer> restarts = new HashMap<>();

  Restarter(Headroom headroom, Copies copies, Mover mover) {
    this.headroom = headroom;
    this.copies = copies;
    this.mover = mover;
  }

  @Override
  public String refusal(Action action, Task task) {
    TaskAttempt victim = victim(action, task);
    if (victim == null || !inside.onlyRuns(victim)) {
      return Ack.ATTEMPT_ENDED;
    }
    if (victim.getProgress() >= action.below) {
      return Ack.TOO_FAR;
    }
    for (TaskAttempt other : task.getAttempts().values()) {
      boolean runs = other != victim && inside.onlyRuns(other);
      if (runs && other.getProgress() > victim.getProgress()) {
        return Ack.ANOTHER_AHEAD;
      }
    }
    if (restarts.getOrDefault(task.getID(), 0) > action.restarts) {
      return Ack.RESTARTS_SPENT;
    }
    return headroom.allowsRestart(victim) ? null : Ack.NO_HEADROOM;
  }

  private static TaskAttempt victim(Action action, Task task) {
    for (TaskAttempt attempt : task.getAttempts().values()) {
      if (attempt.getID().getId() == action.attempt) {
        return attempt;
      }
    }
    return null;
  }

  @Override
  public Ack carryOut(Action action, Task task) {
    Copies.Copy replaced = copies.adoptVictim(action, task, victim(action, task));
    restarts.merge(task.getID(), 1, Integer::sum);
    Log.info("{} is restarted for {}", replaced.attempt.getID(), action.id);
    boolean killed = mover.kill(replaced, "Drover: a new attempt is expected to end sooner");
    return new Ack(action.id, killed ? Ack.APPLIED : Ack.FAILED);
  }
}
