package io.drover.shim.core;

import static org.junit.Assert.assertEquals;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptEvent;
import org.apache.hadoop.mapreduce.v2.util.MRBuilderUtils;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.event.EventHandler;
import org.junit.Test;

/** Copies beside attempts that Hadoop 2.7 shows as running until their containers are gone. */
public class MoverTest {
  private interface Untold extends TaskAttempt, EventHandler<TaskAttemptEvent> {}

  private interface Told extends Untold {
    String getInternalState();

    String getAvataar();
  }

  private final ApplicationId application = ApplicationId.newInstance(1_000, 1);
  private final TaskId taskId =
      MRBuilderUtils.newTaskId(MRBuilderUtils.newJobId(application, 1), 0, TaskType.MAP);
  private final Map<TaskAttemptId, TaskAttempt> attempts = new LinkedHashMap<>();
  private final List<Integer> killed = new ArrayList<>();
  private final List<String> said = new ArrayList<>();
  private boolean killedEnd;
  private String avataar = "VIRGIN";
  private Mover mover;

  private TaskAttempt add(Class<?> type, TaskAttemptState shown, String own, String host) {
    TaskAttemptId id = MRBuilderUtils.newTaskAttemptId(taskId, attempts.size());
    ApplicationAttemptId master = ApplicationAttemptId.newInstance(application, 1);
    InvocationHandler answers =
        (proxy, method, arguments) ->
            switch (method.getName()) {
              case "getID" -> id;
              case "getState" -> shown;
              case "getInternalState" -> own;
              case "getAvataar" -> avataar;
              case "isFinished" -> killedEnd && killed.contains(id.getId());
              case "getNodeId" -> NodeId.newInstance(host, 1);
              case "getAssignedContainerID" -> ContainerId.newContainerId(master, id.getId());
              case "handle" -> {
                killed.add(id.getId());
                yield null;
              }
              default -> throw new AssertionError(method.getName());
            };
    ClassLoader loader = getClass().getClassLoader();
    TaskAttempt attempt =
        (TaskAttempt) Proxy.newProxyInstance(loader, new Class<?>[] {type}, answers);
    attempts.put(id, attempt);
    return attempt;
  }

  private Task task() {
    return (Task)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {Task.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "getID" -> taskId;
                  case "getState" -> TaskState.RUNNING;
                  case "getAttempts" -> attempts;
                  default -> throw new AssertionError(method.getName());
                });
  }

  /**
   * A copy is given a host to avoid, beside such attempts, all of which Hadoop shows as running.
   */
  private String killedBeside(Class<?> type, String... own) {
    attempts.clear();
    killed.clear();
    said.clear();
    killedEnd = false;
    for (String each : own) {
      add(type, TaskAttemptState.RUNNING, each, "fast");
    }
    TaskAttempt copy = add(type, TaskAttemptState.STARTING, "ASSIGNED", "slow");
    Action.Draft draft = new Action.Draft();
    draft.id = "a";
    draft.type = Action.DUPLICATE;
    draft.kind = "m";
    draft.avoid = Set.of("slow");
    draft.moves = 1;
    Copies copies = new Copies();
    copies.adopt(new Action(draft), task(), List.of(copy));
    Headroom headroom = new Headroom(new Configuration(false), name -> 0, () -> Needs.NONE, copies);
    mover = new Mover(headroom, copies, () -> 9, () -> true, ack -> said.add(ack.toString()));
    mover.needChanged(taskId);
    return killed.toString();
  }

  /** What is said of a killed copy that has ended, when this is the task's next attempt. */
  private String saidOfNext(String itsAvataar) {
    assertEquals("[1]", killedBeside(Told.class, "RUNNING"));
    killedEnd = true;
    avataar = itsAvataar;
    add(Told.class, TaskAttemptState.STARTING, "UNASSIGNED", "other");
    mover.needChanged(taskId);
    return said.toString();
  }

  @Test
  public void theCopyOfAnotherDecisionIsNotTakenForTheReplacementOfAKilledOne() {
    assertEquals("[a moved [2]]", saidOfNext("VIRGIN"));
    assertEquals("[a moved []]", saidOfNext("SPECULATIVE"));
  }

  @Test
  public void besideAnAttemptThatHasSaidItIsDoneNoCopyIsMoved() {
    assertEquals("[1]", killedBeside(Told.class, "RUNNING"));
    assertEquals("[]", killedBeside(Told.class, "SUCCESS_CONTAINER_CLEANUP"));
    assertEquals("[]", killedBeside(Told.class, "RUNNING", "SUCCESS_CONTAINER_CLEANUP"));
  }

  @Test
  public void anAttemptThatIsBeingKilledOrHasFailedIsNoneThatWouldGoOnInItsPlace() {
    for (String own : List.of("KILL_CONTAINER_CLEANUP", "KILL_TASK_CLEANUP", "FAIL_TASK_CLEANUP")) {
      assertEquals(own, "[]", killedBeside(Told.class, own));
      assertEquals("another runs", "[2]", killedBeside(Told.class, "RUNNING", own));
    }
  }

  @Test
  public void whereAnAttemptsOwnStateCannotBeToldACopyIsMovedByWhatIsShown() {
    assertEquals("[1]", killedBeside(Untold.class, ""));
  }
}
