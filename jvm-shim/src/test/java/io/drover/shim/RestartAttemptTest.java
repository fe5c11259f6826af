package io.drover.shim;

import static org.junit.Assert.assertEquals;

import java.util.List;
import org.apache.hadoop.mapreduce.v2.api.records.Phase;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptEventType;
import org.apache.hadoop.yarn.util.SystemClock;
import org.junit.Before;
import org.junit.Test;

/** Attempts that a service has killed so that their tasks start anew: each outcome, each race. */
public class RestartAttemptTest extends LeasedJob {
  private static final String REDUCE = duplicate("r", 0, 1, 1);
  private static final String AWAY = ",'avoid':['slow'],'moves':3";

  /** Beside reduces that run no map is restarted. */
  @Before
  public void withoutReduces() {
    has(0);
  }

  private void has(int reduces) {
    am.stop();
    am = new Am(12, reduces, "restart", 1, SystemClock.getInstance());
  }

  private static boolean isReduce(TaskAttemptId attempt) {
    return attempt.getTaskId().getTaskType() == TaskType.REDUCE;
  }

  private void awaitLookAtReduce() throws Exception {
    Am.await("a look at the reduce", () -> "RUNNING".equals(service.field("r0/0", "s")));
  }

  private void letReduceRun() throws Exception {
    am.releaseContainer(attempt(TaskType.REDUCE, 0, 0));
    awaitLookAtReduce();
  }

  private void assertRefused(String outcome, String action, String states) throws Exception {
    assertEquals(outcome, outcome(action));
    assertEquals(states, states(0));
  }

  private void progress(TaskAttempt attempt, float progress) throws Exception {
    am.update(attempt.getID(), progress, Phase.MAP, null);
    am.drain();
  }

  @Test
  public void hadoopItselfReplacesTheKilledAttemptAndCountsNoFailure() throws Exception {
    run("mapreduce.map.maxattempts", "1");
    service.act("again", restart(0, 0, ""));
    awaitOutcome("again", "moved [1]");
    awaitStates(0, "KILLED@localhost RUNNING@localhost");
    assertEquals(TaskState.RUNNING, am.task(TaskType.MAP, 0).getState());
    assertJobSucceeds();
    assertEquals(2, attempts(0));
  }

  @Test
  public void theReplacementAsksForNoHostAndIsMovedOffThoseToAvoid() throws Exception {
    am.place(attempt -> attempt.getId() < 2 ? "slow" : "fast");
    run();
    MoveTest.setSplitHosts(am.task(TaskType.MAP, 0), "slow", "near");
    service.act("again", restart(0, 0, AWAY));
    awaitStates(0, "KILLED@slow KILLED@slow RUNNING@fast");
    awaitOutcome("again", "moved [2]");
    assertEquals(List.of(), am.asked(attempt(TaskType.MAP, 0, 1)));
    assertJobSucceeds();
  }

  @Test
  public void theReplacementIsMovedNoMoreOftenThanAllowedAndThenRunsWhereItIs() throws Exception {
    am.place(attempt -> "slow");
    run();
    service.act("again", restart(0, 0, AWAY.replace('3', '1')));
    awaitStates(0, "KILLED@slow KILLED@slow RUNNING@slow");
    awaitOutcome("again", "moved [2]");
    assertJobSucceeds();
  }

  @Test
  public void withoutALeaseTheReplacementRunsWhereItIs() throws Exception {
    am.place(attempt -> "slow");
    run();
    am.holdContainers(attempt -> attempt.getId() == 1);
    service.act("again", restart(0, 0, AWAY));
    awaitOutcome("again", "moved [1]");
    service.leaseMs = 0;
    service.awaitLease(false);
    am.releaseContainer(attempt(TaskType.MAP, 0, 1));
    awaitStates(0, "KILLED@slow RUNNING@slow");
    assertJobSucceeds();
  }

  @Test
  public void anAttemptThatCommitsIsNeverKilled() throws Exception {
    run();
    TaskAttempt only = attempt(TaskType.MAP, 0, 0);
    Am.Action commits = () -> am.signal(only, TaskAttemptEventType.TA_COMMIT_PENDING);
    assertEquals("committing", outcomeAfter(commits, () -> {}, restart(0, 0, "")));
    assertRefused("committing", restart(0, 0, ""), "COMMIT_PENDING@localhost");
    finish(only);
    assertJobSucceeds();
  }

  @Test
  public void anAttemptBesideOneThatCommitsIsNotKilled() throws Exception {
    run();
    assertEquals("applied [1]", outcome(map(0)));
    awaitStates(0, "RUNNING@localhost RUNNING@localhost");
    am.signal(attempt(TaskType.MAP, 0, 1), TaskAttemptEventType.TA_COMMIT_PENDING);
    am.drain();
    String both = restart(0, 0, "").replace("'live':1", "'live':2");
    assertRefused("committing", both, "RUNNING@localhost COMMIT_PENDING@localhost");
    finish(attempt(TaskType.MAP, 0, 1));
    assertJobSucceeds();
  }

  @Test
  public void aSuccessThatWaitsInTheQueueIsNotKilled() throws Exception {
    run();
    TaskAttempt winner = attempt(TaskType.MAP, 0, 0);
    assertEquals("task_ended", outcomeAfter(() -> finish(winner), () -> {}, restart(0, 0, "")));
    assertEquals(1, attempts(0));
    assertEquals(TaskAttemptState.SUCCEEDED, winner.getState());
    assertJobSucceeds();
  }

  @Test
  public void aCopysSuccessThatWaitsInTheQueueSavesTheTaskFromAnother() throws Exception {
    run();
    assertEquals("applied [1]", outcome(map(0)));
    awaitStates(0, "RUNNING@localhost RUNNING@localhost");
    String both = restart(0, 0, "").replace("'live':1", "'live':2");
    TaskAttempt copy = attempt(TaskType.MAP, 0, 1);
    assertEquals("task_ended", outcomeAfter(() -> finish(copy), () -> {}, both));
    awaitStates(0, "KILLED@localhost SUCCEEDED@localhost");
    assertJobSucceeds();
  }

  @Test
  public void aSuccessThatComesAfterTheKillLeavesTheTaskWithItsReplacement() throws Exception {
    run();
    service.act("again", restart(0, 0, ""));
    awaitOutcome("again", "moved [1]");
    finish(attempt(TaskType.MAP, 0, 0));
    am.drain();
    awaitStates(0, "KILLED@localhost RUNNING@localhost");
    assertJobSucceeds();
  }

  @Test
  public void anAttemptThatHasComeFartherThanANewOneWouldIsLeft() throws Exception {
    run();
    progress(attempt(TaskType.MAP, 0, 0), 0.5f);
    assertRefused("too_far", restart(0, 0, ""), "RUNNING@localhost");
    assertJobSucceeds();
  }

  @Test
  public void whereAnotherAttemptIsAheadNoneIsKilled() throws Exception {
    run();
    assertEquals("applied [1]", outcome(map(0)));
    awaitStates(0, "RUNNING@localhost RUNNING@localhost");
    progress(attempt(TaskType.MAP, 0, 0), 0.1f);
    progress(attempt(TaskType.MAP, 0, 1), 0.2f);
    String both = restart(0, 0, "").replace("'live':1", "'live':2");
    assertRefused("another_ahead", both, "RUNNING@localhost RUNNING@localhost");
    assertJobSucceeds();
  }

  @Test
  public void besideMoreAttemptsThanTheDecisionAssumedNoneIsKilled() throws Exception {
    run();
    assertEquals("applied [1]", outcome(map(0)));
    awaitStates(0, "RUNNING@localhost RUNNING@localhost");
    assertRefused("too_many_attempts", restart(0, 0, ""), "RUNNING@localhost RUNNING@localhost");
    assertJobSucceeds();
  }

  @Test
  public void aTaskIsRestartedNoMoreOftenThanTheDecisionsKnewOf() throws Exception {
    run();
    service.act("first", restart(0, 0, ""));
    awaitOutcome("first", "moved [1]");
    awaitStates(0, "KILLED@localhost RUNNING@localhost");
    assertRefused("restarts_spent", restart(0, 1, ""), "KILLED@localhost RUNNING@localhost");
    service.act("second", restart(0, 1, "").replace("'restarts':0", "'restarts':1"));
    awaitOutcome("second", "moved [2]");
    assertJobSucceeds();
  }

  @Test
  public void anAttemptThatIsUnknownOrBeingKilledIsNotKilledAgain() throws Exception {
    run();
    assertRefused("attempt_ended", restart(0, 7, ""), "RUNNING@localhost");
    TaskAttempt only = attempt(TaskType.MAP, 0, 0);
    Am.Action kill = () -> am.signal(only, TaskAttemptEventType.TA_KILL);
    assertEquals("attempt_ended", outcomeAfter(kill, () -> {}, restart(0, 0, "")));
    awaitStates(0, "KILLED@localhost RUNNING@localhost");
    assertJobSucceeds();
  }

  @Test
  public void whereOtherTasksWaitTheNewAttemptTakesTheContainerThatFallsFree() throws Exception {
    run();
    am.holdContainers(attempt -> attempt.getTaskId().getId() == 7 && attempt.getId() == 1);
    am.signal(attempt(TaskType.MAP, 7, 0), TaskAttemptEventType.TA_KILL);
    Am.await("the replacement's request", () -> attempts(7) == 2);
    am.drain();
    assertEquals("no_headroom", outcome(map(0)));
    service.act("again", restart(0, 0, ""));
    awaitOutcome("again", "moved [1]");
    awaitStates(0, "KILLED@localhost RUNNING@localhost");
  }

  @Test
  public void whileReducesRunAndAMapWaitsNoReduceIsRestartedEither() throws Exception {
    has(1);
    run();
    am.holdContainers(attempt -> attempt.getTaskId().getId() == 7 && attempt.getId() == 1);
    am.signal(attempt(TaskType.MAP, 7, 0), TaskAttemptEventType.TA_KILL);
    Am.await("the replacement's request", () -> attempts(7) == 2);
    awaitLookAtReduce();
    assertEquals("no_headroom", outcome(restart(0, 0, "").replace("'k':'m'", "'k':'r'")));
    assertEquals(1, am.running(TaskType.REDUCE, 0).size());
  }

  @Test
  public void whatAnEarlierMoveKnewOfTheTaskIsForgotten() throws Exception {
    am.place(attempt -> List.of("old", "slow", "fast", "third", "fourth").get(attempt.getId()));
    run(false);
    service.act("copy", map(0) + AWAY);
    awaitOutcome("copy", "moved [2]");
    awaitStates(0, "RUNNING@old KILLED@slow RUNNING@fast");
    assertEquals("no copy is watched any more", "unknown_task", outcome(REDUCE));
    am.signal(attempt(TaskType.MAP, 0, 0), TaskAttemptEventType.TA_KILL);
    awaitStates(0, "KILLED@old KILLED@slow RUNNING@fast RUNNING@third");
    service.act("again", restart(0, 2, "").replace("'live':1", "'live':2"));
    awaitOutcome("again", "moved [4]");
    assertJobSucceeds();
  }

  @Test
  public void besideReducesNoMapIsRestartedThoughOthersRunAndACopyIsMade() throws Exception {
    has(1);
    run();
    awaitLookAtReduce();
    assertRefused("no_headroom", restart(0, 0, ""), "RUNNING@localhost");
    assertEquals("applied [1]", outcome(map(0)));
    assertJobSucceeds();
  }

  @Test
  public void beforeReducesRunAMapIsRestartedThoughTheyAskForContainers() throws Exception {
    has(1);
    am.holdContainers(RestartAttemptTest::isReduce);
    run();
    service.act("again", restart(0, 0, ""));
    awaitOutcome("again", "moved [1]");
    awaitStates(0, "KILLED@localhost RUNNING@localhost");
    letReduceRun();
    assertJobSucceeds();
  }

  @Test
  public void besideReducesThatHaveBegunSinceWhatReplacesAKilledMapIsNotMoved() throws Exception {
    has(1);
    am.place(attempt -> "slow");
    am.holdContainers(attempt -> isReduce(attempt) || attempt.getId() == 1);
    run();
    service.act("again", restart(0, 0, AWAY));
    awaitOutcome("again", "moved [1]");
    letReduceRun();
    am.releaseContainer(attempt(TaskType.MAP, 0, 1));
    awaitStates(0, "KILLED@slow RUNNING@slow");
    assertJobSucceeds();
    assertEquals("KILLED@slow SUCCEEDED@slow", states(0));
  }

  @Test
  public void aKillThatHangsWithItsNodeKeepsNoCopyFromOtherTasks() throws Exception {
    has(1);
    am.holdContainers(RestartAttemptTest::isReduce);
    run();
    am.hangKills();
    assertEquals("applied", outcome(restart(0, 0, "")));
    awaitStates(0, "KILLED@localhost");
    letReduceRun();
    assertEquals("applied [1]", outcome(map(1)));
    am.holdContainers(attempt -> attempt.getId() == 1);
    am.endKill(attempt(TaskType.MAP, 0, 0).getID());
    Am.await("the replacement's request", () -> attempts(0) == 2);
    am.drain();
    assertEquals("no_headroom", outcome(map(2)));
    am.releaseContainer(attempt(TaskType.MAP, 0, 1));
    awaitStates(0, "KILLED@localhost RUNNING@localhost");
    assertJobSucceeds();
  }

  @Test
  public void inAJobThatLimitsItsRunningMapsNoMapIsRestarted() throws Exception {
    run("mapreduce.job.running.map.limit", "100");
    assertRefused("no_headroom", restart(0, 0, ""), "RUNNING@localhost");
    assertJobSucceeds();
  }

  @Test
  public void asManyKillsAsMayHangKeepNoCopiesFromOtherTasks() throws Exception {
    run("mapreduce.map.maxattempts", "9");
    am.hangKills();
    for (int task = 0; task < 8; task++) {
      assertEquals("applied", outcome(restart(task, 0, "")));
    }
    assertEquals("no_headroom", outcome(restart(8, 0, "")));
    am.holdContainers(attempt -> attempt.getId() > 0);
    assertEquals("applied [1,2,3,4,5,6]", outcome(duplicate("m", 8, 6, 1)));
    assertEquals("applied [1,2]", outcome(duplicate("m", 9, 2, 1)));
    assertEquals("no_headroom", outcome(map(10)));
    am.endKill(attempt(TaskType.MAP, 0, 0).getID());
    Am.await("the replacement's request", () -> attempts(0) == 2);
    am.drain();
    finish(attempt(TaskType.MAP, 9, 0));
    Am.await("the copies' end", () -> attempt(TaskType.MAP, 9, 2).isFinished());
    assertEquals("what replaces a killed one waits", "applied [1]", outcome(map(10)));
    assertEquals("no_headroom", outcome(map(11)));
  }

  @Test
  public void aKindWhoseSpeculationIsOffIsLeftAlone() throws Exception {
    has(1);
    run(false);
    String reduce = restart(0, 0, "").replace("'k':'m'", "'k':'r'");
    assertEquals("speculation_off", outcome(reduce));
    assertEquals(1, am.running(TaskType.REDUCE, 0).size());
    assertJobSucceeds();
  }

  @Test
  public void withoutALeaseOrPastItsDeadlineNothingIsKilled() throws Exception {
    run();
    String brief = restart(0, 0, "").replace("30000", "1");
    assertEquals("past_deadline", outcomeAfter(() -> {}, () -> Thread.sleep(2), brief));
    service.leaseMs = 0;
    service.awaitLease(false);
    assertRefused("not_leased", restart(0, 0, ""), "RUNNING@localhost");
    assertJobSucceeds();
  }

  @Test
  public void aRepeatedRestartKillsOnce() throws Exception {
    run();
    for (int i = 0; i < 3; i++) {
      service.act("same", restart(0, 0, ""));
      awaitOutcome("same", "moved [1]");
    }
    awaitStates(0, "KILLED@localhost RUNNING@localhost");
    assertJobSucceeds();
  }

  @Test
  public void oneThatLacksWhatItMustSayIsMalformed() throws Exception {
    run();
    for (String missing : List.of(",'n':0", ",'below':0.5", ",'restarts':0", ",'live':1")) {
      String action = restart(0, 0, "").replace(missing, "");
      assertRefused("malformed_action", action, "RUNNING@localhost");
    }
    assertJobSucceeds();
  }
}
