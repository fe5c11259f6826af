package io.drover.shim.core;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskState;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.yarn.api.records.NodeId;

/**
 * Moves copies away from hosts to avoid, and from those of their siblings, on the dispatcher
 * thread: a host can be preferred but not excluded, so a copy that was given such a host is killed
 * before its JVM starts, and Hadoop, which replaces every killed attempt of a task without success,
 * asks for another container. Only copies of Drover's own, and what certainly replaces them or an
 * attempt that was restarted, are ever moved.
 */
final class Mover {
  /** A task as it was when the first of its copies began to move. */
  private static final class Before {
    final Set<TaskAttemptId> known = new HashSet<>();
    final Set<TaskAttemptId> killed = new HashSet<>();
    int othersEnded;
  }

  private final Headroom headroom;
  private final Copies copies;

  /** How many the cluster has. */
  private final IntSupplier nodes;

  private final BooleanSupplier leased;
  private final Consumer<Ack> answers;
  private final HadoopInside inside = new HadoopInside();
  private final Map<TaskId, Before> moving = new HashMap<>();

  Mover(
      Headroom headroom,
      Copies copies,
      IntSupplier nodes,
      BooleanSupplier leased,
      Consumer<Ack> answers) {
    this.headroom = headroom;
    this.copies = copies;
    this.nodes = nodes;
    this.leased = leased;
    this.answers = answers;
  }

  /** An attempt of the task has asked for a container, or was given one and has not started. */
  void needChanged(TaskId id) {
    if (copies.isEmpty()) {
      moving.clear();
      return;
    }
    List<Copies.Copy> some = copies.of(id);
    if (!some.isEmpty()) {
      findReplacements(some);
      for (int i = some.size() - 1; i >= 0; i--) { // of two on one host the later goes
        if (mustMove(some.get(i))) {
          move(some.get(i));
        }
      }
    }
    copies.forgetStarted();
    moving.keySet().removeIf(task -> copies.of(task).isEmpty());
  }

  private boolean mustMove(Copies.Copy copy) {
    Copies.Standing standing = copy.standing;
    if (copy.moving || standing.movesLeft <= 0 || standing.action.avoid.isEmpty()) {
      return false;
    }
    NodeId node = copy.attempt.getNodeId();
    boolean assigned =
        copy.attempt.getState() == TaskAttemptState.STARTING
            && copy.attempt.getAssignedContainerID() != null;
    return assigned
        && node != null
        && isTaken(copy, node.getHost())
        && leased.getAsBoolean()
        && headroom.mayHurry(copy.standing.task.getID().getTaskType())
        && canSpare(copy);
  }

  /**
   * Whether it is not to run on that host: one to avoid, or a sibling's, as long as the cluster has
   * any other.
   */
  private boolean isTaken(Copies.Copy copy, String host) {
    Set<String> avoid = copy.standing.action.avoid;
    if (avoid.contains(host)) {
      return true;
    }
    Set<String> siblings = siblingHosts(copy);
    boolean sibling = siblings.contains(host);
    siblings.addAll(avoid);
    return sibling && siblings.size() < nodes.getAsInt();
  }

  /** Where the task's other attempts run or are about to, but for those that move. */
  private Set<String> siblingHosts(Copies.Copy copy) {
    Task task = copy.standing.task;
    Before before = moving.get(task.getID());
    Set<String> hosts = new HashSet<>();
    for (TaskAttempt attempt : task.getAttempts().values()) {
      NodeId node = attempt.getNodeId();
      boolean moves = before != null && before.killed.contains(attempt.getID());
      boolean other = attempt != copy.attempt && !moves && !attempt.isFinished();
      if (other && node != null) {
        hosts.add(node.getHost());
      }
    }
    return hosts;
  }

  /**
   * Another attempt runs, or the copy is all that a restart has left and no reduce is endangered,
   * and none is done or commits.
   */
  private boolean canSpare(Copies.Copy copy) {
    Task task = copy.standing.task;
    if (task.getState() != TaskState.RUNNING) {
      return false;
    }
    boolean spared = copy.standing.action.isRestart() && headroom.spares(copy.attempt);
    for (TaskAttempt attempt : task.getAttempts().values()) {
      if (inside.saidDone(attempt) || attempt.getState() == TaskAttemptState.COMMIT_PENDING) {
        return false;
      }
      spared |= attempt != copy.attempt && inside.runs(attempt);
    }
    return spared;
  }

  private void move(Copies.Copy copy) {
    copy.standing.movesLeft--;
    kill(copy, "Drover: no copy is to run on " + copy.attempt.getNodeId().getHost());
  }

  /** Kills an attempt that is to be replaced. False when Hadoop threw. */
  boolean kill(Copies.Copy copy, String why) {
    Task task = copy.standing.task;
    TaskAttemptId id = copy.attempt.getID();
    if (copies.of(task.getID()).stream().noneMatch(other -> other.moving)) {
      moving.remove(task.getID()); // of copies that have started since
    }
    Before before = moving.computeIfAbsent(task.getID(), any -> before(task));
    before.killed.add(id);
    copy.moving = true;
    boolean killed = Kill.of(copy.attempt, why);
    if (!killed) {
      copies.forget(copy);
    }
    return killed;
  }

  private static Before before(Task task) {
    Before before = new Before();
    before.known.addAll(task.getAttempts().keySet());
    before.othersEnded = othersEnded(task, before);
    return before;
  }

  private static int othersEnded(Task task, Before before) {
    int ended = 0;
    for (TaskAttempt attempt : task.getAttempts().values()) {
      TaskAttemptId id = attempt.getID();
      boolean other = before.known.contains(id) && !before.killed.contains(id);
      ended += other && attempt.isFinished() ? 1 : 0;
    }
    return ended;
  }

  /** What Hadoop added since: ours, unless anybody else's attempt ended, too. */
  private void findReplacements(List<Copies.Copy> some) {
    Task task = some.get(0).standing.task;
    Before before = moving.get(task.getID());
    if (before == null) {
      return;
    }
    List<TaskAttempt> fresh = new ArrayList<>();
    for (TaskAttempt attempt : task.getAttempts().values()) {
      if (!before.known.contains(attempt.getID())) {
        fresh.add(attempt);
      }
    }
    List<Copies.Copy> killed = new ArrayList<>(some);
    killed.removeIf(copy -> !copy.moving || !copy.attempt.isFinished());
    boolean certain =
        fresh.size() <= killed.size()
            && othersEnded(task, before) == before.othersEnded
            && fresh.stream()
                .noneMatch(attempt -> Boolean.TRUE.equals(inside.speculative(attempt)));
    for (int i = 0; certain && i < fresh.size(); i++) {
      before.known.add(fresh.get(i).getID());
      replace(killed.get(i), fresh.get(i));
    }
    if (!certain && !fresh.isEmpty()) {
      some.stream().filter(copy -> copy.moving).forEach(this::letGo);
      moving.remove(task.getID());
    }
  }

  private void replace(Copies.Copy copy, TaskAttempt replacement) {
    copy.attempt = replacement;
    copy.moving = false;
    copy.standing.numbers[copy.slot] = replacement.getID().getId();
    answerMoved(copy);
  }

  /** Its replacement may be another's: nothing more is done to it. */
  private void letGo(Copies.Copy copy) {
    copy.standing.numbers[copy.slot] = -1;
    copies.forget(copy);
    answerMoved(copy);
  }

  private void answerMoved(Copies.Copy copy) {
    Copies.Standing standing = copy.standing;
    int[] known = java.util.Arrays.stream(standing.numbers).filter(n -> n >= 0).sorted().toArray();
    answers.accept(new Ack(standing.action.id, Ack.MOVED, known));
  }
}
