package io.drover.shim;

import static org.junit.Assert.assertEquals;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.mapreduce.split.JobSplit.TaskSplitMetaInfo;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptEventType;
import org.apache.hadoop.mapreduce.v2.app.job.impl.MapTaskImpl;
import org.apache.hadoop.yarn.util.SystemClock;
import org.junit.Test;

/** Copies that are given a host on which none is to run. */
public class MoveTest extends LeasedJob {
  private static String avoiding(int task, int copies, int live, int moves) {
    return duplicate("m", task, copies, live) + ",'avoid':['slow'],'moves':" + moves;
  }

  private static boolean isCopyOf(TaskAttemptId attempt, int task) {
    return attempt.getTaskId().getId() == task && attempt.getId() > 0;
  }

  @Test
  public void aCopyIsMovedUntilItHasAnotherHost() throws Exception {
    am.place(attempt -> attempt.getId() == 3 ? "fast" : attempt.getId() > 0 ? "slow" : "old");
    run();
    service.act("move", avoiding(0, 1, 1, 5));
    awaitStates(0, "RUNNING@old KILLED@slow KILLED@slow RUNNING@fast");
    awaitOutcome("move", "moved [3]");
    assertJobSucceeds();
  }

  @Test
  public void itIsMovedNoMoreOftenThanAllowed() throws Exception {
    am.place(attempt -> isCopyOf(attempt, 0) ? "slow" : "old");
    run();
    service.act("move", avoiding(0, 1, 1, 2));
    awaitStates(0, "RUNNING@old KILLED@slow KILLED@slow RUNNING@slow");
    awaitOutcome("move", "moved [3]");
    assertJobSucceeds();
  }

  @Test
  public void inAJobThatLimitsItsRunningMapsNoCopyMovesAsHadoopMayNeverForgetItsRequest()
      throws Exception {
    am.place(attempt -> isCopyOf(attempt, 0) ? "slow" : "old");
    run("mapreduce.job.running.map.limit", "100");
    assertEquals("applied [1]", outcome(avoiding(0, 1, 1, 4)));
    awaitStates(0, "RUNNING@old RUNNING@slow");
    assertJobSucceeds();
  }

  @Test
  public void withoutMovesItStaysWhereItIs() throws Exception {
    am.place(attempt -> isCopyOf(attempt, 0) ? "slow" : "old");
    run();
    assertEquals("applied [1]", outcome(avoiding(0, 1, 1, 0)));
    awaitStates(0, "RUNNING@old RUNNING@slow");
    assertJobSucceeds();
  }

  @Test
  public void severalCopiesMoveEachForItself() throws Exception {
    am.place(attempt -> List.of("old", "slow", "slow", "fast", "faster").get(attempt.getId()));
    run();
    service.act("move", avoiding(0, 2, 1, 4));
    awaitStates(0, "RUNNING@old KILLED@slow KILLED@slow RUNNING@fast RUNNING@faster");
    awaitOutcome("move", "moved [3,4]");
    assertJobSucceeds();
  }

  @Test
  public void ofTwoCopiesThatAreGivenOneHostOneMovesToAnother() throws Exception {
    am.place(attempt -> List.of("old", "fast", "fast", "faster").get(attempt.getId()));
    run();
    service.act("move", avoiding(0, 2, 1, 4));
    awaitOutcome("move", "moved [1,3]");
    awaitStates(0, "RUNNING@old RUNNING@fast KILLED@fast RUNNING@faster");
    assertJobSucceeds();
  }

  @Test
  public void aCopyIsMovedOffTheHostOfAnAttemptThatNobodyNamed() throws Exception {
    am.place(attempt -> List.of("old", "old", "fast").get(attempt.getId()));
    run();
    service.act("move", avoiding(0, 1, 1, 4));
    awaitOutcome("move", "moved [2]");
    awaitStates(0, "RUNNING@old KILLED@old RUNNING@fast");
    assertJobSucceeds();
  }

  @Test
  public void aCopyStaysBesideItsOriginalWhereTheClusterHasNoOtherHost() throws Exception {
    am.nodes(2); // the original's and the one to avoid
    am.place(attempt -> "old");
    run();
    service.act("move", avoiding(0, 1, 1, 4));
    awaitStates(0, "RUNNING@old RUNNING@old");
    awaitOutcome("move", "applied [1]");
    assertJobSucceeds();
  }

  @Test
  public void whereNoHostIsToBeAvoidedACopyStaysBesideItsOriginal() throws Exception {
    am.place(attempt -> "old");
    run();
    service.act("move", map(0) + ",'avoid':[],'moves':4");
    awaitStates(0, "RUNNING@old RUNNING@old");
    awaitOutcome("move", "applied [1]");
    assertJobSucceeds();
  }

  @Test
  public void aMovedCopyStillCountsAmongThoseThatWait() throws Exception {
    am.place(attempt -> isCopyOf(attempt, 0) ? "slow" : "old");
    run();
    am.holdContainers(attempt -> isCopyOf(attempt, 0) && attempt.getId() == 2);
    service.act("move", avoiding(0, 1, 1, 5));
    awaitOutcome("move", "moved [2]");
    Am.await("a look at the reduce", () -> "RUNNING".equals(service.field("r0/0", "s")));
    assertEquals("no_headroom", outcome(map(1)));
    assertJobSucceeds();
  }

  @Test
  public void asManyMovesAsMayHangKeepNoCopiesFromOtherTasks() throws Exception {
    am.stop();
    am = new Am(4, 0, "move", 1, SystemClock.getInstance());
    am.place(attempt -> attempt.getId() > 0 ? "slow" : "old");
    run("mapreduce.map.maxattempts", "9");
    am.hangKills();
    assertEquals("applied [1,2,3,4,5,6,7,8]", outcome(avoiding(0, 8, 1, 8)));
    awaitStates(0, "RUNNING@old" + " KILLED@slow".repeat(8));
    assertEquals("applied [1]", outcome(map(1)));
    assertEquals(
        "no more than these are killed at once", "no_headroom", outcome(restart(2, 0, "")));
    assertEquals("applied [1,2,3,4,5,6,7,8]", outcome(avoiding(2, 8, 1, 8)));
    awaitStates(2, "RUNNING@old" + " KILLED@slow".repeat(8));
    assertEquals("twice as many, and none is added", "no_headroom", outcome(map(3)));
  }

  @Test
  public void theLastAttemptThatCouldRunIsNotMoved() throws Exception {
    am.place(attempt -> isCopyOf(attempt, 0) ? "slow" : "old");
    run();
    am.holdContainers(attempt -> isCopyOf(attempt, 0));
    assertEquals("applied [1]", outcome(avoiding(0, 1, 1, 5)));
    am.signal(attempt(TaskType.MAP, 0, 0), TaskAttemptEventType.TA_KILL);
    Am.await("the original's replacement", () -> attempts(0) == 3);
    am.drain();
    am.releaseContainer(attempt(TaskType.MAP, 0, 1));
    awaitStates(0, "KILLED@old RUNNING@slow STARTING@-");
    assertJobSucceeds();
  }

  @Test
  public void besideAnAttemptThatCommitsNothingIsMoved() throws Exception {
    am.place(attempt -> isCopyOf(attempt, 0) ? "slow" : "old");
    run();
    am.holdContainers(attempt -> isCopyOf(attempt, 0));
    assertEquals("applied [1]", outcome(avoiding(0, 1, 1, 5)));
    am.signal(attempt(TaskType.MAP, 0, 0), TaskAttemptEventType.TA_COMMIT_PENDING);
    am.drain();
    am.releaseContainer(attempt(TaskType.MAP, 0, 1));
    awaitStates(0, "COMMIT_PENDING@old RUNNING@slow");
    finish(attempt(TaskType.MAP, 0, 0));
    awaitStates(0, "SUCCEEDED@old KILLED@slow");
    assertJobSucceeds();
  }

  @Test
  public void aSuccessThatWaitsInTheQueueIsNotHarmed() throws Exception {
    am.place(attempt -> isCopyOf(attempt, 0) ? "slow" : "old");
    run();
    am.holdContainers(attempt -> isCopyOf(attempt, 0));
    assertEquals("applied [1]", outcome(avoiding(0, 1, 1, 5)));
    am.whileHeld(
        () -> {
          am.releaseContainer(attempt(TaskType.MAP, 0, 1));
          finish(attempt(TaskType.MAP, 0, 0));
        });
    awaitStates(0, "SUCCEEDED@old KILLED@slow");
    assertJobSucceeds();
    assertEquals("SUCCEEDED@old KILLED@slow", states(0));
  }

  @Test
  public void withoutALeaseNothingIsMoved() throws Exception {
    am.place(attempt -> isCopyOf(attempt, 0) ? "slow" : "old");
    run();
    am.holdContainers(attempt -> isCopyOf(attempt, 0));
    assertEquals("applied [1]", outcome(avoiding(0, 1, 1, 5)));
    service.leaseMs = 0;
    service.awaitLease(false);
    am.releaseContainer(attempt(TaskType.MAP, 0, 1));
    awaitStates(0, "RUNNING@old RUNNING@slow");
    assertJobSucceeds();
  }

  @Test
  public void whatMayReplaceAnothersAttemptIsLeftAlone() throws Exception {
    am.place(attempt -> isCopyOf(attempt, 0) && attempt.getId() > 1 ? "slow" : "old");
    run();
    assertEquals("applied [1]", outcome(map(0)));
    awaitStates(0, "RUNNING@old RUNNING@old");
    am.holdContainers(attempt -> isCopyOf(attempt, 0));
    service.act("move", avoiding(0, 1, 2, 5));
    awaitOutcome("move", "applied [2]");
    am.drain();
    am.holdContainers(attempt -> false);
    am.whileHeld(
        () -> {
          am.releaseContainer(attempt(TaskType.MAP, 0, 2));
          am.signal(attempt(TaskType.MAP, 0, 1), TaskAttemptEventType.TA_KILL);
        });
    awaitStates(0, "RUNNING@old KILLED@old KILLED@slow RUNNING@slow RUNNING@slow");
    awaitOutcome("move", "moved");
    assertJobSucceeds();
  }

  @Test
  public void aCopyDoesNotAskForAHostToAvoid() throws Exception {
    run();
    setSplitHosts(am.task(TaskType.MAP, 0), "slow", "near");
    assertEquals("applied [1]", outcome(avoiding(0, 1, 1, 0)));
    assertEquals(List.of("near"), am.asked(attempt(TaskType.MAP, 0, 1)));
    assertEquals(TaskAttemptState.RUNNING, attempt(TaskType.MAP, 0, 0).getState());
    assertJobSucceeds();
  }

  @Test
  public void eachCopyAsksForAHostOfItsOwnAndItsRackBesideThoseThatHoldItsInput() throws Exception {
    run();
    setSplitHosts(am.task(TaskType.MAP, 0), "slow", "near");
    assertEquals(
        "applied [1,2,3]", outcome(avoiding(0, 3, 1, 0) + ",'prefer':['fast','slow','faster']"));
    assertEquals(Set.of("near", "fast"), Set.copyOf(am.asked(attempt(TaskType.MAP, 0, 1))));
    assertEquals(List.of("near"), am.asked(attempt(TaskType.MAP, 0, 2)));
    assertEquals(Set.of("near", "faster"), Set.copyOf(am.asked(attempt(TaskType.MAP, 0, 3))));
    assertJobSucceeds();
  }

  @Test
  public void aCopyOfAReduceAsksForTheNamedHostAndItsRack() throws Exception {
    run();
    assertEquals("applied [1,2]", outcome(duplicate("r", 0, 2, 1) + ",'prefer':['fast']"));
    assertEquals(List.of("fast"), am.asked(attempt(TaskType.REDUCE, 0, 1)));
    assertEquals(List.of("/default-rack"), am.racksAsked(attempt(TaskType.REDUCE, 0, 1)));
    assertEquals(List.of(), am.asked(attempt(TaskType.REDUCE, 0, 2)));
    assertEquals(List.of(), am.racksAsked(attempt(TaskType.REDUCE, 0, 2)));
    assertJobSucceeds();
  }

  static void setSplitHosts(Task map, String... hosts) throws Exception {
    setSplit(map, "locations", hosts);
  }

  static void setSplit(Task map, String fact, Object value) throws Exception {
    Method split = MapTaskImpl.class.getDeclaredMethod("getTaskSplitMetaInfo");
    split.setAccessible(true);
    Field field = TaskSplitMetaInfo.class.getDeclaredField(fact);
    field.setAccessible(true);
    field.set(split.invoke(map), value);
  }
}
