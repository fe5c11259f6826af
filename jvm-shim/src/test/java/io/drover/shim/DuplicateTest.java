package io.drover.shim;

import static org.junit.Assert.assertEquals;

import org.apache.hadoop.mapreduce.v2.api.records.JobState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptEventType;
import org.apache.hadoop.yarn.util.SystemClock;
import org.junit.Test;

/** Copies that a service asks for: each outcome, and the job unharmed. */
public class DuplicateTest extends LeasedJob {
  private void assertRefused(String outcome, String action, TaskType type, int task)
      throws Exception {
    int before = am.task(type, task).getAttempts().size();
    assertEquals(outcome, outcome(action));
    assertEquals(before, am.task(type, task).getAttempts().size());
  }

  @Test
  public void aCopyRunsBesideItsOriginalAndTheFirstToSucceedWins() throws Exception {
    run();
    assertEquals("applied [1]", outcome(map(3)));
    Am.await("the copy", () -> am.running(TaskType.MAP, 3).size() == 2);
    finish(attempt(TaskType.MAP, 3, 1));
    Am.await("the win", () -> am.task(TaskType.MAP, 3).getState() == TaskState.SUCCEEDED);
    Am.await(
        "the loser's end", () -> attempt(TaskType.MAP, 3, 0).getState() == TaskAttemptState.KILLED);
    assertEquals(2, attempts(3));
    assertJobSucceeds();
  }

  @Test
  public void severalCopiesAreNamedEach() throws Exception {
    run();
    assertEquals("applied [1,2,3]", outcome(duplicate("m", 0, 3, 1)));
    assertEquals("applied [1]", outcome(duplicate("r", 0, 1, 1)));
    assertEquals(4, attempts(0));
    assertJobSucceeds();
  }

  @Test
  public void aTaskThatIsOnlyScheduledGetsNoneForItWouldEndTheJob() throws Exception {
    am.holdContainers(TaskType.REDUCE);
    run();
    assertEquals(TaskState.SCHEDULED, am.task(TaskType.REDUCE, 0).getState());
    assertRefused("not_running", duplicate("r", 0, 1, 1), TaskType.REDUCE, 0);
    assertEquals(JobState.RUNNING, am.job().getState());
  }

  @Test
  public void aTaskThatDoesNotExistIsUnknown() throws Exception {
    run();
    assertEquals("unknown_task", outcome(duplicate("m", 12, 1, 1)));
    assertEquals("unknown_task", outcome(duplicate("r", 4_294_967_295L, 1, 1)));
    assertJobSucceeds();
  }

  @Test
  public void aTaskThatHasSucceededGetsNone() throws Exception {
    run();
    finish(attempt(TaskType.MAP, 2, 0));
    Am.await("success", () -> am.task(TaskType.MAP, 2).getState() == TaskState.SUCCEEDED);
    assertRefused("task_ended", map(2), TaskType.MAP, 2);
    assertJobSucceeds();
  }

  @Test
  public void anAttemptThatHasSucceededIsEnoughEvenBeforeItsTaskKnows() throws Exception {
    run();
    TaskAttempt winner = attempt(TaskType.MAP, 2, 0);
    assertEquals("task_ended", outcomeAfter(() -> finish(winner), () -> {}, map(2)));
    assertEquals(1, attempts(2));
    assertJobSucceeds();
  }

  @Test
  public void aTaskThatCommitsGetsNone() throws Exception {
    run();
    am.signal(attempt(TaskType.MAP, 2, 0), TaskAttemptEventType.TA_COMMIT_PENDING);
    am.drain();
    assertRefused("committing", map(2), TaskType.MAP, 2);
    finish(attempt(TaskType.MAP, 2, 0));
    assertJobSucceeds();
  }

  @Test
  public void noMoreAttemptsThanTheDecisionAssumed() throws Exception {
    run();
    assertEquals("applied [1]", outcome(map(4)));
    assertRefused("too_many_attempts", map(4), TaskType.MAP, 4);
    assertEquals("applied [2]", outcome(duplicate("m", 4, 1, 2)));
    assertJobSucceeds();
  }

  private void failCopy(int number) throws Exception {
    TaskAttempt copy = attempt(TaskType.MAP, 4, number);
    am.signal(copy, TaskAttemptEventType.TA_FAILMSG);
    Am.await("the failure", () -> copy.getState() == TaskAttemptState.FAILED);
    am.drain();
  }

  @Test
  public void aTaskOfWhichNoAttemptMayFailGetsNone() throws Exception {
    run("mapreduce.map.maxattempts", "1");
    assertRefused("failures_spent", map(4), TaskType.MAP, 4);
    assertEquals("applied [1]", outcome(duplicate("r", 0, 1, 1)));
    assertJobSucceeds();
  }

  @Test
  public void aTasksCopiesAloneNeverFailItHoweverManyOfThemDo() throws Exception {
    run("mapreduce.map.maxattempts", "3");
    assertRefused("failures_spent", duplicate("m", 4, 3, 1), TaskType.MAP, 4);
    assertEquals("applied [1]", outcome(map(4)));
    Am.await("the copy", () -> am.running(TaskType.MAP, 4).size() == 2);
    failCopy(1);
    assertEquals("applied [2]", outcome(map(4)));
    Am.await("another", () -> am.running(TaskType.MAP, 4).size() == 2);
    failCopy(2);
    assertRefused("failures_spent", map(4), TaskType.MAP, 4);
    assertJobSucceeds();
  }

  @Test
  public void anAttemptBeingKilledCountsForHadoopReplacesIt() throws Exception {
    run();
    assertEquals("applied [1]", outcome(map(4)));
    Am.await("the copy", () -> am.running(TaskType.MAP, 4).size() == 2);
    TaskAttempt copy = attempt(TaskType.MAP, 4, 1);
    Am.Action kill = () -> am.signal(copy, TaskAttemptEventType.TA_KILL);
    assertEquals("too_many_attempts", outcomeAfter(kill, () -> {}, map(4)));
    Am.await("the replacement", () -> am.running(TaskType.MAP, 4).size() == 2);
    assertEquals(3, attempts(4));
    assertJobSucceeds();
  }

  @Test
  public void aJobThatWaitsForContainersItselfGetsNoCopies() throws Exception {
    run();
    am.holdContainers(attempt -> attempt.getTaskId().getId() == 7 && attempt.getId() == 1);
    am.signal(attempt(TaskType.MAP, 7, 0), TaskAttemptEventType.TA_KILL);
    Am.await("the replacement's request", () -> attempts(7) == 2);
    am.drain();
    assertRefused("no_headroom", map(4), TaskType.MAP, 4);
    // A reduce runs, which Hadoop could preempt for the map.
    assertRefused("no_headroom", duplicate("r", 0, 1, 1), TaskType.REDUCE, 0);
  }

  @Test
  public void aMapThatWaitsKeepsCopiesFromReducesThoughMapsAreNotSpeculated() throws Exception {
    run(false, true);
    am.holdContainers(attempt -> attempt.getTaskId().getId() == 7);
    am.signal(attempt(TaskType.MAP, 7, 0), TaskAttemptEventType.TA_KILL);
    Am.await("a look at its replacement", () -> "STARTING".equals(service.field("m7/1", "s")));
    assertRefused("no_headroom", duplicate("r", 0, 1, 1), TaskType.REDUCE, 0);
    am.releaseContainer(attempt(TaskType.MAP, 7, 1));
    Am.await("a look at it as it runs", () -> "RUNNING".equals(service.field("m7/1", "s")));
    assertEquals("applied [1]", outcome(duplicate("r", 0, 1, 1)));
    assertJobSucceeds();
  }

  @Test
  public void onlySoManyCopiesWaitForContainers() throws Exception {
    am.stop();
    am = new Am(12, 0, "duplicate", 1, SystemClock.getInstance());
    run("mapreduce.map.maxattempts", "9");
    am.holdContainers(attempt -> attempt.getId() > 0);
    assertEquals("applied [1,2,3,4,5]", outcome(duplicate("m", 0, 5, 1)));
    assertRefused("no_headroom", duplicate("m", 1, 4, 1), TaskType.MAP, 1);
    assertEquals("applied [1,2,3]", outcome(duplicate("m", 1, 3, 1)));
    assertRefused("no_headroom", map(2), TaskType.MAP, 2);
    finish(attempt(TaskType.MAP, 0, 0));
    Am.await("the copies' end", () -> attempt(TaskType.MAP, 0, 5).isFinished());
    assertEquals("applied [1]", outcome(map(2)));
    assertJobSucceeds();
  }

  @Test
  public void whileReducesRunNoSecondMapCopyWaits() throws Exception {
    run();
    Am.await("a look at the reduce", () -> "RUNNING".equals(service.field("r0/0", "s")));
    am.holdContainers(attempt -> attempt.getId() > 0);
    assertEquals("applied [1]", outcome(map(0)));
    assertRefused("no_headroom", map(1), TaskType.MAP, 1);
    assertJobSucceeds();
  }

  @Test
  public void aKindWhoseSpeculationIsOffGetsNone() throws Exception {
    run(false);
    assertRefused("speculation_off", duplicate("r", 0, 1, 1), TaskType.REDUCE, 0);
    assertEquals("applied [1]", outcome(map(0)));
    assertJobSucceeds();
  }

  @Test
  public void withoutALeaseNothingIsApplied() throws Exception {
    service.leaseMs = 0;
    run();
    assertRefused("not_leased", map(0), TaskType.MAP, 0);
    service.leaseMs = 60_000;
    assertEquals("applied [1]", outcome(map(0)));
    assertJobSucceeds();
  }

  @Test
  public void aJobThatOnlyTakesAdviceIsNeverLeased() throws Exception {
    run("drover.mode", "advise");
    assertRefused("not_leased", map(0), TaskType.MAP, 0);
    assertEquals(0, service.last().path("lease_ms").asLong());
    assertJobSucceeds();
  }

  @Test
  public void anActionOfAnEarlierEpochIsRefused() throws Exception {
    run();
    Am.Action anotherEpoch =
        () -> {
          service.epoch = 2;
          service.awaitExchange();
        };
    assertEquals("not_leased", outcomeAfter(() -> {}, anotherEpoch, map(0)));
    assertEquals("applied [1]", outcome(map(0)));
    assertJobSucceeds();
  }

  @Test
  public void aLeaseThatEndsBeforeTheActionIsDispatchedEndsTheAction() throws Exception {
    run();
    Am.Action silence =
        () -> {
          service.leaseMs = 1;
          service.awaitExchange();
          service.silent = true;
          Am.await("the lease's end", () -> service.last().path("lease_ms").asLong() == 0);
          service.silent = false;
        };
    assertEquals("not_leased", outcomeAfter(() -> {}, silence, map(0)));
    assertEquals(1, attempts(0));
    assertJobSucceeds();
  }

  @Test
  public void anActionPastItsDeadlineIsRefused() throws Exception {
    run();
    String brief = map(0).replace("30000", "1");
    assertEquals("past_deadline", outcomeAfter(() -> {}, () -> Thread.sleep(2), brief));
    assertEquals(1, attempts(0));
    assertJobSucceeds();
  }

  @Test
  public void aRepeatedActionIsAppliedOnceAndAnsweredAlike() throws Exception {
    run();
    for (int i = 0; i < 3; i++) {
      service.act("same", map(0));
      assertEquals("applied [1]", service.outcome("same"));
    }
    am.drain();
    assertEquals(2, attempts(0));
    assertJobSucceeds();
  }

  @Test
  public void whatItDoesNotKnowIsNamed() throws Exception {
    run();
    assertEquals("unsupported_action", outcome("'type':'evict','deadline_ms':1000"));
    assertEquals("malformed_action", outcome("'type':'duplicate','deadline_ms':1000"));
    assertJobSucceeds();
  }

  @Test
  public void whatTheShimCanDoIsSaid() throws Exception {
    run();
    String can = service.requests.get(0).path("hello").path("can").toString();
    assertEquals("[\"duplicate\",\"restart\",\"rerun\",\"avoid\",\"prefer\"]", can);
  }
}
