package io.drover.shim;

import static org.junit.Assert.assertEquals;

import java.lang.reflect.Field;
import java.util.List;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.v2.api.records.JobState;
import org.apache.hadoop.mapreduce.v2.api.records.Phase;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.JobStateInternal;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.app.job.event.JobEvent;
import org.apache.hadoop.mapreduce.v2.app.job.event.JobEventType;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptEventType;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptKillEvent;
import org.apache.hadoop.mapreduce.v2.app.job.impl.JobImpl;
import org.apache.hadoop.mapreduce.v2.app.job.impl.TaskAttemptImpl;
import org.apache.hadoop.yarn.util.SystemClock;
import org.junit.Test;

/** Maps that a service has run again because their outputs are out of reach: outcomes and races. */
public class RerunTest extends LeasedJob {
  private static String rerun(String outputs) {
    return "'type':'rerun','deadline_ms':30000,'outputs':[" + outputs + "]";
  }

  private void succeed(int map) throws Exception {
    finish(am.running(TaskType.MAP, map).get(0));
    Am.await("success", () -> am.task(TaskType.MAP, map).getState() == TaskState.SUCCEEDED);
    am.drain();
  }

  private void assertRefused(String outcome, String outputs) throws Exception {
    List<String> before = List.of(states(0), states(1));
    assertEquals(outputs, outcome, outcome(rerun(outputs)));
    assertEquals(outputs, before, List.of(states(0), states(1)));
  }

  private TaskAttempt reduce() {
    return attempt(TaskType.REDUCE, 0, 0);
  }

  @Test
  public void allOutputsNamedAreMadeAgainAtOnceAndNoOther() throws Exception {
    am.place(attempt -> attempt.getId() == 0 ? "gone" : "good");
    run("mapreduce.map.maxattempts", "1");
    MoveTest.setSplitHosts(am.task(TaskType.MAP, 0), "gone", "near");
    for (int map = 0; map < 3; map++) {
      succeed(map);
    }
    assertEquals("applied", outcome(rerun("[0,0],[1,0]")));
    awaitStates(0, "KILLED@gone RUNNING@good");
    awaitStates(1, "KILLED@gone RUNNING@good");
    assertEquals("SUCCEEDED@gone", states(2));
    assertEquals("no host is asked for", List.of(), am.asked(attempt(TaskType.MAP, 0, 1)));
    assertJobSucceeds();
    assertEquals(List.of(2, 2, 1), List.of(attempts(0), attempts(1), attempts(2)));
  }

  @Test
  public void anOutputThatIsNotItsTasksOwnOrNotThereIsLeftAndTheOthersAreMadeAgain()
      throws Exception {
    run();
    succeed(1);
    assertEquals("applied", outcome(rerun("[0,0],[1,0],[7,3],[4000000000,0]")));
    awaitStates(1, "KILLED@localhost RUNNING@localhost");
    assertEquals("it runs", "RUNNING@localhost", states(0));
    assertJobSucceeds();
  }

  @Test
  public void noOutputIsTakenAwayTwiceAndNoTaskRunsAgainTwice() throws Exception {
    run();
    succeed(0);
    assertEquals("applied", outcome(rerun("[0,0]")));
    awaitStates(0, "KILLED@localhost RUNNING@localhost");
    assertRefused("no_output", "[0,0]");
    succeed(0);
    assertRefused("no_output", "[0,0]");
    assertRefused("no_output", "[0,1]");
    assertJobSucceeds();
  }

  @Test
  public void anAttemptThatRunsOrWhoseSuccessWaitsInTheQueueIsLeft() throws Exception {
    run();
    assertRefused("no_output", "[0,0]");
    TaskAttempt attempt = attempt(TaskType.MAP, 0, 0);
    assertEquals("no_output", outcomeAfter(() -> finish(attempt), () -> {}, rerun("[0,0]")));
    awaitStates(0, "SUCCEEDED@localhost");
    assertRefused("no_output", "[0,1]");
    assertEquals("applied", outcome(rerun("[0,0]")));
    assertJobSucceeds();
  }

  @Test
  public void nothingIsMadeAgainThatNoReduceFetchesAnyMore() throws Exception {
    run();
    succeed(0);
    am.update(reduce().getID(), 0.5f, Phase.SORT, null);
    am.drain();
    assertRefused("not_read", "[0,0]");
    am.update(reduce().getID(), 0.9f, Phase.REDUCE, null);
    am.drain();
    assertRefused("not_read", "[0,0]");
    assertJobSucceeds();
    assertEquals(1, attempts(0));
  }

  @Test
  public void nothingIsMadeAgainOnceTheLastReduceHasSaidThatItIsDone() throws Exception {
    run("mapreduce.job.finish-when-all-reducers-done", "false"); // for the test to go on
    succeed(0);
    // What is asked for comes between the reduce's word and its task's.
    assertEquals("not_read", outcomeAfter(() -> finish(reduce()), () -> {}, rerun("[0,0]")));
    assertJobSucceeds();
    assertEquals(1, attempts(0));
  }

  @Test
  public void theOutputsAreReadAgainByAReduceThatStartsAnew() throws Exception {
    run();
    succeed(0);
    am.update(reduce().getID(), 0.5f, Phase.SORT, null);
    am.post(new TaskAttemptKillEvent(reduce().getID(), "test"));
    Am.await("another reduce", () -> am.task(TaskType.REDUCE, 0).getAttempts().size() == 2);
    am.drain();
    assertEquals("applied", outcome(rerun("[0,0]")));
    assertJobSucceeds();
  }

  @Test
  public void whatHadoopIgnoresIsToldAndMayBeAskedForAgain() throws Exception {
    run();
    succeed(0);
    Field field = TaskAttemptImpl.class.getDeclaredField("conf");
    field.setAccessible(true);
    JobConf conf = (JobConf) field.get(attempt(TaskType.MAP, 0, 0));
    conf.setNumReduceTasks(0); // outputs that nobody reads Hadoop does not take back
    assertRefused("failed", "[0,0]");
    conf.setNumReduceTasks(1);
    assertEquals("applied", outcome(rerun("[0,0]")));
    awaitStates(0, "KILLED@localhost RUNNING@localhost");
    assertJobSucceeds();
  }

  @Test
  public void aJobThatIsBeingKilledIsNotTakenToErrorByAnOutput() throws Exception {
    run();
    am.stayRegistered();
    succeed(0);
    am.hangKills();
    am.post(new JobEvent(am.job().getID(), JobEventType.JOB_KILL));
    JobImpl job = (JobImpl) am.job();
    Am.await("the kill", () -> job.getInternalState() == JobStateInternal.KILL_WAIT);
    am.drain();
    assertEquals("what Hadoop shows", JobState.RUNNING, job.getState());
    assertRefused("not_read", "[0,0]");
    assertEquals(JobStateInternal.KILL_WAIT, job.getInternalState());
  }

  @Test
  public void reducesThatHaveFailedReadNothing() throws Exception {
    am.stop();
    am = new Am(2, 2, "failed-reduce", 1, SystemClock.getInstance());
    run("mapreduce.reduce.failures.maxpercent", "50", "mapreduce.reduce.maxattempts", "1");
    succeed(0);
    am.signal(reduce(), TaskAttemptEventType.TA_FAILMSG_BY_CLIENT);
    Am.await("failure", () -> am.task(TaskType.REDUCE, 0).getState() == TaskState.FAILED);
    am.update(attempt(TaskType.REDUCE, 1, 0).getID(), 0.5f, Phase.SORT, null);
    am.drain();
    assertRefused("not_read", "[0,0]");
  }

  @Test
  public void aJobWithoutReducesOffersNothingOfTheKind() throws Exception {
    am = new Am(2, 0, "maps", 1, SystemClock.getInstance());
    run();
    String can = service.requests.get(0).path("hello").path("can").toString();
    assertEquals("[\"duplicate\",\"restart\",\"avoid\",\"prefer\"]", can);
    succeed(0);
    assertRefused("unsupported_action", "[0,0]");
    assertJobSucceeds();
  }

  @Test
  public void whatHadoopItselfTakesBackMeanwhileIsNotTakenBackAgain() throws Exception {
    run();
    succeed(0);
    TaskAttempt there = attempt(TaskType.MAP, 0, 0);
    Am.Action lost = () -> am.post(new TaskAttemptKillEvent(there.getID(), "its node", true));
    assertEquals("no_output", outcomeAfter(lost, () -> {}, rerun("[0,0]")));
    awaitStates(0, "KILLED@localhost RUNNING@localhost");
    succeed(1);
    TaskAttempt other = attempt(TaskType.MAP, 1, 0);
    Am.Action after = () -> am.post(new TaskAttemptKillEvent(other.getID(), "its node", true));
    assertEquals("applied", outcomeAfter(() -> {}, after, rerun("[1,0]")));
    awaitStates(1, "KILLED@localhost RUNNING@localhost");
    assertJobSucceeds();
    assertEquals(List.of(2, 2), List.of(attempts(0), attempts(1)));
  }

  @Test
  public void withoutALeaseNothingIsMadeAgain() throws Exception {
    service.leaseMs = 0;
    run();
    succeed(0);
    assertRefused("not_leased", "[0,0]");
    assertEquals(TaskAttemptState.SUCCEEDED, attempt(TaskType.MAP, 0, 0).getState());
    assertJobSucceeds();
  }
}
