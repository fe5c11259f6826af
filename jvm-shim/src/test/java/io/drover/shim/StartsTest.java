package io.drover.shim;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.concurrent.TimeUnit;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.junit.Test;

/** Whether a task that begins to run is told before the next exchange is due. */
public class StartsTest extends LeasedJob {
  private static final long PACE_MS = 60_000;
  private static final long QUIET_MS = 700;

  /** The reduce waits for its container, and so does a map's copy; the next exchange is far off. */
  private void runAndGoSlow() throws Exception {
    am.holdContainers(id -> id.getId() > 0 || id.getTaskId().getTaskType() == TaskType.REDUCE);
    service.newsMs = 100;
    run();
    assertEquals("applied [1]", outcome(map(0)));
    service.awaitExchange();
    service.nextMs = PACE_MS;
    Am.await("the slow pace", () -> service.toldMs == PACE_MS);
  }

  private void begin(TaskAttempt attempt) throws Exception {
    am.releaseContainer(attempt);
    Am.await("it runs", () -> attempt.getState() == TaskAttemptState.RUNNING);
  }

  @Test
  public void aTaskThatBeginsIsToldAtOnceWhereThatIsNewsAndACopyThatDoesIsNot() throws Exception {
    service.newsOfStarts = true;
    runAndGoSlow();
    int before = service.calls();
    begin(attempt(TaskType.MAP, 0, 1));
    Thread.sleep(QUIET_MS);
    assertEquals(before, service.calls());
    assertEquals("SCHEDULED", service.field("r0/", "s"));
    long began = System.nanoTime();
    begin(attempt(TaskType.REDUCE, 0, 0));
    Am.await("it is told", () -> "RUNNING".equals(service.field("r0/", "s")));
    assertTrue(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began) < PACE_MS / 2);
    Thread.sleep(QUIET_MS);
    assertEquals("one exchange for one start", before + 1, service.calls());
    assertJobSucceeds();
  }

  @Test
  public void whereItIsNoNewsNothingIsToldSooner() throws Exception {
    runAndGoSlow();
    int before = service.calls();
    begin(attempt(TaskType.REDUCE, 0, 0));
    Thread.sleep(QUIET_MS);
    assertEquals(before, service.calls());
    assertJobSucceeds();
  }
}
