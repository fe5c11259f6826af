package io.drover.shim;

import static org.junit.Assert.assertEquals;

import java.util.List;
import java.util.stream.IntStream;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptEventType;
import org.apache.hadoop.yarn.util.SystemClock;
import org.junit.Before;
import org.junit.Test;

/**
 * Hadoop's own allocator in a full queue: where no map of a job has a container and one waits, it
 * kills a reduce for it.
 */
public class PreemptTest extends LeasedJob {
  private static final int REDUCES = 2;

  /** More than it takes to end an attempt, to ask for another container and to preempt for it. */
  private static final int WHILE = 30;

  private final FullQueue queue = new FullQueue(2 + REDUCES);

  /** The job's reduces and its maps have the whole queue; what falls free goes to another job. */
  @Before
  public void fill() throws Exception {
    am.stop();
    am = new Am(2, REDUCES, "preempt", 1, SystemClock.getInstance());
    am.in(queue);
    String beats = MRJobConfig.MR_AM_TO_RM_HEARTBEAT_INTERVAL_MS;
    run(MRJobConfig.COMPLETED_MAPS_FOR_REDUCE_SLOWSTART, "0", beats, "20");
    queue.crowd();
    Am.await("a look at a reduce", () -> "RUNNING".equals(service.field("r0/0", "s")));
  }

  private void endFirstMap() throws Exception {
    int held = queue.held();
    finish(attempt(TaskType.MAP, 0, 0));
    Am.await("the map's container to go", () -> queue.held() < held);
  }

  private List<TaskAttemptState> reduces() {
    return IntStream.range(0, REDUCES)
        .mapToObj(index -> attempt(TaskType.REDUCE, index, 0).getState())
        .toList();
  }

  private static final List<TaskAttemptState> ALL_RUN =
      List.of(TaskAttemptState.RUNNING, TaskAttemptState.RUNNING);

  @Test
  public void forTheOnlyMapThatIsKilledHadoopPreemptsAReduce() throws Exception {
    endFirstMap();
    am.signal(attempt(TaskType.MAP, 1, 0), TaskAttemptEventType.TA_KILL);
    Am.await("a reduce to go", () -> reduces().contains(TaskAttemptState.KILLED));
  }

  @Test
  public void forAKilledMapHadoopPreemptsAReduceOnceTheOtherMapHasEnded() throws Exception {
    am.signal(attempt(TaskType.MAP, 1, 0), TaskAttemptEventType.TA_KILL);
    Am.await("the replacement's request", () -> attempts(1) == 2);
    queue.beat(WHILE);
    assertEquals("while that one has a container", ALL_RUN, reduces());
    endFirstMap();
    Am.await("a reduce to go", () -> reduces().contains(TaskAttemptState.KILLED));
  }

  @Test
  public void noMapIsRestartedThoughAnotherRunsAndWhenThatEndsNoReduceIsPreempted()
      throws Exception {
    String said = outcome(restart(1, 0, ""));
    queue.beat(WHILE);
    endFirstMap();
    queue.beat(WHILE);
    assertEquals(ALL_RUN, reduces());
    assertEquals("no_headroom", said);
  }

  @Test
  public void noReduceIsPreemptedForACopyThatWaitsBesideTheOnlyMap() throws Exception {
    endFirstMap();
    assertEquals("applied [1]", outcome(map(1)));
    queue.beat(WHILE);
    assertEquals(ALL_RUN, reduces());
    assertEquals("RUNNING@localhost STARTING@-", states(1));
  }
}
