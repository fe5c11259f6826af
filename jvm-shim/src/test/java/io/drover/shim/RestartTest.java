package io.drover.shim;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.v2.api.records.Phase;
import org.apache.hadoop.mapreduce.v2.api.records.TaskState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptEventType;
import org.apache.hadoop.mapreduce.v2.app.speculate.DefaultSpeculator;
import org.apache.hadoop.mapreduce.v2.app.speculate.Speculator;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** An AM that dies when some of a job's maps are done, and the one that recovers the job. */
public class RestartTest {
  /** One of those left is under 5 % of them; two are over, and would be under 5 % of all. */
  private static final int MAPS = 42;

  private static final int DONE = 21;

  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  private final Am.TestClock clock = new Am.TestClock();

  private Am start(Class<? extends Speculator> speculator, int amAttempt) throws Exception {
    Configuration conf = Am.conf(speculator.getName());
    conf.setLong(MRJobConfig.SPECULATIVE_RETRY_AFTER_NO_SPECULATE, 3_600_000);
    conf.setLong(MRJobConfig.SPECULATIVE_RETRY_AFTER_SPECULATE, 3_600_000);
    conf.setBoolean(MRJobConfig.MR_AM_JOB_RECOVERY_ENABLE, true);
    conf.setBoolean(MRJobConfig.JOB_UBERTASK_ENABLE, false);
    conf.setBoolean("mapred.mapper.new-api", true);
    conf.set(FileOutputFormat.OUTDIR, folder.getRoot().getPath());
    return new Am(MAPS, "restart-" + speculator.getSimpleName(), amAttempt, clock)
        .run(conf, true, true);
  }

  private static void finish(Am am, int task) throws Exception {
    TaskAttempt attempt = am.running(TaskType.MAP, task).get(0);
    am.update(attempt.getID(), 1f, Phase.MAP, null);
    am.signal(attempt, TaskAttemptEventType.TA_DONE);
    Am.await("success", () -> am.task(TaskType.MAP, task).getState() == TaskState.SUCCEEDED);
    am.drain();
  }

  private interface Script {
    void play(Am am, DefaultSpeculator hadoop) throws Exception;
  }

  private void afterRestart(Class<? extends DefaultSpeculator> speculator, Script script)
      throws Exception {
    try (Am first = start(speculator, 1)) {
      clock.advance(10_000);
      for (int task = 0; task < DONE; task++) {
        finish(first, task);
      }
    }
    try (Am second = start(speculator, 2)) {
      assertEquals("recovered", DONE, second.job().getCompletedMaps());
      script.play(second, (DefaultSpeculator) second.speculator());
    }
  }

  /** All tasks that are left run equally fast, but for one. */
  private void progress(Am am, float share, int slowTask) throws Exception {
    clock.advance(2_000);
    for (int task = DONE; task < MAPS; task++) {
      for (TaskAttempt attempt : am.running(TaskType.MAP, task)) {
        am.update(attempt.getID(), task == slowTask ? share / 20 : share, Phase.MAP, null);
      }
    }
    am.drain();
  }

  private static long launches(Am am) {
    return am.events.stream().filter(event -> event.startsWith("LAUNCH")).count();
  }

  @Test
  public void hadoopAloneWouldCopyTasksThatAreNotSlow() throws Exception {
    afterRestart(
        DefaultSpeculator.class,
        (am, hadoop) -> {
          for (int step = 1; step <= 4; step++) {
            progress(am, step * 0.2f, -1);
            ScriptedJob.scan(am, hadoop);
          }
          assertTrue("launches " + launches(am), launches(am) >= 3);
        });
  }

  @Test
  public void itIsHeldUntilEnoughTasksHaveFinishedUnderThisAm() throws Exception {
    afterRestart(
        NativeSpeculator.class,
        (am, hadoop) -> {
          NativeSpeculator speculator = (NativeSpeculator) hadoop;
          int slow = MAPS - 1;
          for (int step = 1; step <= 4; step++) {
            progress(am, step * 0.2f, slow);
            ScriptedJob.scan(am, hadoop);
          }
          assertTrue(speculator.applyAsLong("held") >= 3);
          finish(am, DONE);
          ScriptedJob.scan(am, hadoop);
          ScriptedJob.scan(am, hadoop);
          assertEquals(0, launches(am));
          finish(am, DONE + 1);
          ScriptedJob.scan(am, hadoop);
          assertEquals("the pass that finds it informed is the last held one", 0, launches(am));
          ScriptedJob.scan(am, hadoop);
          assertEquals(1, launches(am));
          assertEquals("LAUNCH " + am.task(TaskType.MAP, slow).getID(), lastLaunch(am));
        });
  }

  private static String lastLaunch(Am am) {
    return am.events.stream()
        .filter(event -> event.startsWith("LAUNCH"))
        .reduce((earlier, later) -> later)
        .orElseThrow();
  }
}
