package io.drover.shim.core;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import io.drover.shim.Am;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptEventType;
import org.apache.hadoop.mapreduce.v2.app.speculate.DefaultSpeculator;
import org.apache.hadoop.yarn.util.SystemClock;
import org.junit.Test;

/** What a look at a job in Hadoop's AM harness tells of its containers. */
public class JobWatchTest {
  private static Needs look(JobWatch watch) {
    watch.sweep();
    return watch.needs();
  }

  @Test
  public void aJobStarvesWhileAllThatIsLeftOfItWaits() throws Exception {
    Configuration conf = Am.conf(DefaultSpeculator.class.getName());
    try (Am am = new Am(2, 0, "watch", 1, SystemClock.getInstance())) {
      am.run(conf, true, true);
      JobWatch watch = new JobWatch(am.job(), conf, new Samples(2, 0));
      assertFalse(watch.needs().starved());
      assertFalse(look(watch).starved());
      assertEquals(2, watch.needs().mapsRun.size());
      am.holdContainers(attempt -> attempt.getId() == 1);
      for (int task = 0; task < 2; task++) {
        assertFalse("one still runs", look(watch).starved());
        int map = task;
        am.signal(am.running(TaskType.MAP, map).get(0), TaskAttemptEventType.TA_KILL);
        Am.await("request", () -> am.task(TaskType.MAP, map).getAttempts().size() == 2);
        am.drain();
      }
      assertTrue(look(watch).starved());
      assertEquals(0, watch.needs().mapsRun.size());
    }
  }
}
