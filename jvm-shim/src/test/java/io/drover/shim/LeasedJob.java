package io.drover.shim;

import static org.junit.Assert.assertEquals;

import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.v2.api.records.JobState;
import org.apache.hadoop.mapreduce.v2.api.records.Phase;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptEventType;
import org.apache.hadoop.yarn.util.SystemClock;
import org.junit.After;
import org.junit.Before;

/** A job in Hadoop's AM harness whose speculation a service has leased. */
public abstract class LeasedJob {
  protected FakeService service;
  protected Am am;
  private int actions;

  @Before
  public void start() throws Exception {
    service = new FakeService();
    service.leaseMs = 60_000;
    am = new Am(12, 1, "duplicate", 1, SystemClock.getInstance());
  }

  @After
  public void stop() {
    am.stop();
    service.close();
    assertEquals(List.of(), service.faults);
  }

  protected void run(String... pairs) throws Exception {
    run(true, pairs);
  }

  protected void run(boolean reduceCopies, String... pairs) throws Exception {
    run(true, reduceCopies, pairs);
  }

  protected void run(boolean mapCopies, boolean reduceCopies, String... pairs) throws Exception {
    Configuration conf = Am.conf(DroverSpeculator.class.getName(), pairs);
    conf.set("drover.service.urls", service.url());
    am.run(conf, mapCopies, reduceCopies);
    service.awaitExchange();
  }

  protected static String duplicate(String kind, long task, int copies, int live) {
    String action = "'type':'duplicate','deadline_ms':30000,'k':'%s','i':%d,'copies':%d,'live':%d";
    return action.formatted(kind, task, copies, live);
  }

  protected static String restart(int task, int attempt, String more) {
    String action =
        "'type':'restart','deadline_ms':30000,'k':'m','i':%d,'n':%d,'live':1,'below':0.5,"
            + "'restarts':0"
            + more;
    return action.formatted(task, attempt);
  }

  protected static String map(int task) {
    return duplicate("m", task, 1, 1);
  }

  protected String outcome(String action) throws Exception {
    String id = "a" + ++actions;
    service.act(id, action);
    String outcome = service.outcome(id);
    am.drain();
    return outcome;
  }

  protected TaskAttempt attempt(TaskType type, int task, int number) {
    return am.task(type, task).getAttempts().values().stream()
        .filter(attempt -> attempt.getID().getId() == number)
        .findFirst()
        .orElseThrow();
  }

  protected int attempts(int task) {
    return am.task(TaskType.MAP, task).getAttempts().size();
  }

  protected void finish(TaskAttempt attempt) {
    am.update(attempt.getID(), 1f, Phase.MAP, null);
    am.signal(attempt, TaskAttemptEventType.TA_DONE);
  }

  /** The states of a map's attempts, in order, and their hosts. */
  protected String states(int task) {
    StringBuilder states = new StringBuilder();
    for (TaskAttempt attempt : am.task(TaskType.MAP, task).getAttempts().values()) {
      String host = attempt.getNodeId() == null ? "-" : attempt.getNodeId().getHost();
      states.append(attempt.getState()).append('@').append(host).append(' ');
    }
    return states.toString().trim();
  }

  protected void awaitStates(int task, String states) throws Exception {
    try {
      Am.await(states, () -> states(task).equals(states));
    } catch (AssertionError e) {
      assertEquals(states, states(task));
    }
  }

  protected void awaitOutcome(String id, String outcome) throws Exception {
    Am.await(id + " " + outcome, () -> service.knownOutcome(id).equals(outcome));
  }

  protected void assertJobSucceeds() throws Exception {
    for (TaskType type : List.of(TaskType.MAP, TaskType.REDUCE)) {
      for (int i = 0; i < am.job().getTasks(type).size(); i++) {
        am.running(type, i).stream().findFirst().ifPresent(this::finish);
      }
    }
    Am.await("the job's success", () -> am.job().getState() == JobState.SUCCEEDED);
  }

  /** The dispatcher waits while the shim is sent an action; what was posted before comes first. */
  protected String outcomeAfter(Am.Action before, Am.Action meanwhile, String action)
      throws Exception {
    String id = "a" + ++actions;
    am.whileHeld(
        () -> {
          before.run();
          service.act(id, action);
          service.awaitExchange();
          meanwhile.run();
        });
    String outcome = service.outcome(id);
    am.drain();
    return outcome;
  }
}
