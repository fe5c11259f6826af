package io.drover.shim.core;

import static org.junit.Assert.assertEquals;

import java.util.Collections;
import org.apache.hadoop.mapreduce.v2.api.records.JobId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptStatusUpdateEvent.TaskAttemptStatus;
import org.apache.hadoop.mapreduce.v2.util.MRBuilderUtils;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.junit.Test;

public class MissesTest {
  private final JobId job = MRBuilderUtils.newJobId(ApplicationId.newInstance(1_000, 1), 1);
  private final Misses misses = new Misses();

  private TaskAttemptId first(TaskType type) {
    return MRBuilderUtils.newTaskAttemptId(MRBuilderUtils.newTaskId(job, 0, type), 0);
  }

  private void miss(int outputs) {
    TaskAttemptStatus status = new TaskAttemptStatus();
    status.id = first(TaskType.REDUCE);
    status.fetchFailedMaps = Collections.nCopies(outputs, first(TaskType.MAP));
    misses.add(status, 1);
  }

  private int takeAll() {
    int taken = 0;
    while (misses.take() != null) {
      taken++;
    }
    return taken;
  }

  @Test
  public void noMoreThanTwentyThousandWordsWaitAndWhatIsDroppedIsCounted() {
    misses.want(true);
    miss(20_001);
    assertEquals(1, misses.dropped());
    misses.take();
    miss(2);
    assertEquals("one has made room for one", 2, misses.dropped());
    assertEquals(20_000, takeAll());
    miss(1);
    assertEquals(2, misses.dropped());
  }
}
