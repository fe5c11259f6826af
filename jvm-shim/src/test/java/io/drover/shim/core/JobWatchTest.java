package io.drover.shim.core;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import io.drover.shim.Am;
import java.util.HashSet;
import java.util.Set;
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
      am.holdContainers(attempt -> attempt.getId() == 1);
      for (int task = 0; task < 2; task++) {
        assertFalse("one still runs", look(watch).starved());
        int map = task;
        am.signal(am.running(TaskType.MAP, map).get(0), TaskAttemptEventType.TA_KILL);
        Am.await("request", () -> am.task(TaskType.MAP, map).getAttempts().size() == 2);
        am.drain();
      }
      assertTrue(look(watch).starved());
    }
  }

  @Test
  public void whileRowsAreTakenWhatTheJobWaitsForIsLookedAtAndNoRowChanges() throws Exception {
    Configuration conf = Am.conf(DefaultSpeculator.class.getName());
    try (Am am = new Am(2, 0, "watch", 1, SystemClock.getInstance())) {
      am.run(conf, true, true);
      JobWatch watch = new JobWatch(am.job(), conf, new Samples(2, 0));
      assertEquals(0, look(watch).maps);
      long version = watch.log().version();
      am.holdContainers(attempt -> attempt.getId() == 1);
      am.signal(am.running(TaskType.MAP, 0).get(0), TaskAttemptEventType.TA_KILL);
      Am.await("request", () -> am.task(TaskType.MAP, 0).getAttempts().size() == 2);
      am.drain();
      watch.sweepNeeds();
      assertEquals(1, watch.needs().maps);
      assertEquals(version, watch.log().version());
      assertEquals(1, look(watch).maps);
    }
  }

  /** Pages of a snapshot: the hosts that rows name, and in which order. */
  private static void assertNamesHostsBeforeUse(RowLog log) {
    Set<Integer> named = new HashSet<>();
    RowLog.Page page = log.after(0, 0, 1, 1_000);
    for (; !page.rows.isEmpty(); page = log.after(page.upto, 0, 1, 1_000)) {
      Row row = page.rows.get(0);
      if (row instanceof HostRow) {
        named.add(((HostRow) row).index);
      } else if (row instanceof TaskRow) {
        for (int host : ((TaskRow) row).splitHosts) {
          assertTrue("host " + host + " of a split", named.contains(host));
        }
      }
    }
    assertEquals(3, named.size());
  }

  @Test
  public void aSnapshotInPagesNamesHostsBeforeTheTasksWhoseSplitsLieThereThoughRacksCameLater()
      throws Exception {
    Configuration conf = Am.conf(DefaultSpeculator.class.getName());
    try (Am am = new Am(2, 0, "watch", 1, SystemClock.getInstance())) {
      am.place(attempt -> "near");
      am.run(conf, true, true);
      for (int task = 0; task < 2; task++) {
        am.splitOn(task, "far" + task, "near");
      }
      JobWatch watch = new JobWatch(am.job(), conf, new Samples(2, 0));
      watch.sweep();
      assertNamesHostsBeforeUse(watch.log());
      watch.sweep();
      assertNamesHostsBeforeUse(watch.log());
    }
  }
}
