package io.drover.shim;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.v2.api.records.Phase;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptEventType;
import org.apache.hadoop.mapreduce.v2.app.speculate.DefaultSpeculator;
import org.apache.hadoop.mapreduce.v2.app.speculate.Speculator;

/**
 * One job under a clock that only its script moves, and what happened in it: speculator events and
 * launches, what Hadoop's estimator was told, attempts of each map.
 */
record ScriptedJob(List<String> events, List<String> told, List<Integer> attempts) {
  static final int STEPS = 40;
  private static final int MAPS = 20;
  private static final int REDUCES = 6;

  /** What a test does at a step of the script, before Hadoop's speculator looks at the job. */
  interface Hook {
    void at(int step, Am am, DefaultSpeculator hadoop) throws Exception;
  }

  /** Launches of Hadoop's own speculator. */
  long launches() {
    return events.stream().filter(event -> event.startsWith("LAUNCH")).count();
  }

  /** Runs it from start to end; {@code atStep} is asked before each scan and after the last. */
  static ScriptedJob run(Class<? extends Speculator> speculator, String urls, Hook hook)
      throws Exception {
    Am.TestClock clock = new Am.TestClock();
    Configuration conf = Am.conf(speculator.getName(), "drover.service.urls", urls);
    conf.setClass(
        MRJobConfig.MR_AM_TASK_ESTIMATOR,
        RecordingEstimator.class,
        org.apache.hadoop.mapreduce.v2.app.speculate.TaskRuntimeEstimator.class);
    // Hadoop's background thread sleeps in real time: it is made to scan only when told.
    conf.setLong(MRJobConfig.SPECULATIVE_RETRY_AFTER_NO_SPECULATE, 3_600_000);
    conf.setLong(MRJobConfig.SPECULATIVE_RETRY_AFTER_SPECULATE, 3_600_000);
    try (Am am = new Am(MAPS, REDUCES, "scripted-job", 1, clock)) {
      am.run(conf, true, true);
      DefaultSpeculator hadoop = hadoop(am.speculator());
      for (int step = 1; step <= STEPS; step++) {
        clock.advance(1_000);
        play(am, TaskType.MAP, MAPS, step);
        play(am, TaskType.REDUCE, REDUCES, step);
        hook.at(step, am, hadoop);
        scan(am, hadoop);
      }
      hook.at(STEPS + 1, am, hadoop);
      List<Integer> attempts = new ArrayList<>();
      for (int i = 0; i < MAPS; i++) {
        attempts.add(am.task(TaskType.MAP, i).getAttempts().size());
      }
      return new ScriptedJob(
          List.copyOf(am.events), List.copyOf(RecordingEstimator.told), List.copyOf(attempts));
    }
  }

  /** Every fourth task is slow and silent at times; copies run at full speed. */
  private static void play(Am am, TaskType type, int tasks, int step) throws Exception {
    for (int task = 0; task < tasks; task++) {
      for (TaskAttempt attempt : am.running(type, task)) {
        boolean slow = task % 4 == 3 && attempt.getID().getId() == 0;
        float progress = step * (slow ? 0.012f : 0.08f + 0.002f * task);
        if (type == TaskType.REDUCE && task == 0) {
          progress = Math.min(progress, 0.9f); // the job must not end before the script
        }
        Phase phase = type == TaskType.MAP ? Phase.MAP : Phase.REDUCE;
        if (!slow || step % 7 != 0) {
          am.update(attempt.getID(), Math.min(progress, 1f), phase, null);
          am.drain();
        }
        if (progress >= 1f) {
          am.signal(attempt, TaskAttemptEventType.TA_DONE);
        }
        am.drain();
      }
    }
  }

  /** Has Hadoop's speculator look at the job once, and waits until it has. */
  static void scan(Am am, DefaultSpeculator hadoop) throws Exception {
    Thread background =
        (Thread) field(DefaultSpeculator.class, "speculationBackgroundThread").get(hadoop);
    am.whileHeld(
        () -> {
          hadoop.scanForSpeculations();
          Am.await(
              "the scan",
              () ->
                  hadoop.eventQueueEmpty() && background.getState() == Thread.State.TIMED_WAITING);
        });
    am.drain();
  }

  private static DefaultSpeculator hadoop(Speculator speculator) throws Exception {
    return speculator instanceof DefaultSpeculator plain
        ? plain
        : (DefaultSpeculator) field(DroverSpeculator.class, "hadoop").get(speculator);
  }

  static Field field(Class<?> type, String name) throws Exception {
    Field field = type.getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }
}
