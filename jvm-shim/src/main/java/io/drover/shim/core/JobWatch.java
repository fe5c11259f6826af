package io.drover.shim.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.split.JobSplit.TaskSplitMetaInfo;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.Job;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.yarn.api.records.NodeId;

/**
 * Turns the job, as the AM holds it, into rows. Hadoop sends no event for attempts that fail or are
 * killed, none for tasks, and none at all for recovered tasks and uber jobs; so all states are
 * polled, on the exchange thread, and only progress comes from events.
 */
final class JobWatch {
  /**
   * Finished tasks looked at again in one sweep, for a map whose output is lost runs anew; in so
   * many sweeps all of them are.
   */
  private static final int RECHECKED = 1000;

  private static final int RECHECKING_SWEEPS = 10;

  /** What Hadoop's allocator takes where the job does not say, whatever its default files do. */
  private static final float SLOW_START = 0.05f;

  private final Job job;
  private final float slowStart;
  private final Samples samples;
  private final RowLog log = new RowLog();
  private final Hosts hosts = new Hosts(log);
  private final HadoopInside inside = new HadoopInside();
  private final List<TaskRow> live = new ArrayList<>();
  private final List<TaskRow> settled = new ArrayList<>();
  private final TaskRow[] maps;
  private int nextSettled;
  private int mapNeeds;
  private int reduceNeeds;
  private boolean reducesRun;
  private boolean reducesAsk;
  private boolean anyRuns;
  private volatile Needs needs = Needs.NONE;

  /** The job must be initialised: its tasks are read here, once. */
  JobWatch(Job job, Configuration conf, Samples samples) {
    this.job = job;
    slowStart = conf.getFloat(MRJobConfig.COMPLETED_MAPS_FOR_REDUCE_SLOWSTART, SLOW_START);
    this.samples = samples;
    maps = new TaskRow[job.getTotalMaps()];
    for (Map.Entry<TaskId, Task> entry : job.getTasks().entrySet()) {
      boolean map = entry.getKey().getTaskType() == TaskType.MAP;
      TaskRow row = row(entry.getValue(), map, entry.getKey().getId());
      live.add(row);
      if (map && row.index < maps.length) {
        maps[row.index] = row;
      }
    }
  }

  private TaskRow row(Task task, boolean map, int index) {
    TaskSplitMetaInfo split = map ? inside.split(task) : null;
    if (split == null) {
      return new TaskRow(task, map, index, -1, null);
    }
    String[] names = HadoopInside.hosts(split);
    int[] where = new int[names.length];
    for (int i = 0; i < names.length; i++) {
      where[i] = hosts.index(names[i], null);
    }
    return new TaskRow(task, map, index, split.getInputDataLength(), where);
  }

  /** Brings every row up to date; costs what is not finished, and a bounded share of the rest. */
  void sweep() {
    forgetNeeds();
    for (int i = 0; i < live.size(); ) {
      TaskRow row = live.get(i);
      observe(row);
      if (row.settled()) {
        settled.add(row);
        remove(live, i);
      } else {
        i++;
      }
    }
    int most = Math.max(RECHECKED, settled.size() / RECHECKING_SWEEPS);
    for (int checked = 0; checked < most && checked < settled.size(); checked++) {
      nextSettled = nextSettled < settled.size() ? nextSettled : 0;
      TaskRow row = settled.get(nextSettled);
      observe(row);
      if (row.settled()) {
        nextSettled++;
      } else {
        live.add(row);
        remove(settled, nextSettled);
      }
    }
    tellNeeds();
    takeMisses();
  }

  /** Brings what the job waits for up to date, and no row. */
  void sweepNeeds() {
    forgetNeeds();
    for (TaskRow row : live) {
      for (TaskAttempt attempt : row.task.getAttempts().values()) {
        countNeeds(row, attempt, attempt.getState());
      }
    }
    tellNeeds();
  }

  private void forgetNeeds() {
    mapNeeds = 0;
    reduceNeeds = 0;
    reducesRun = false;
    anyRuns = false;
  }

  private void countNeeds(TaskRow task, TaskAttempt attempt, TaskAttemptState state) {
    boolean placed = attempt.getAssignedContainerID() != null;
    if (state == TaskAttemptState.STARTING && !placed) {
      mapNeeds += task.map ? 1 : 0;
      reduceNeeds += task.map ? 0 : 1;
    }
    boolean runs = placed && !attempt.isFinished();
    anyRuns |= runs;
    reducesRun |= runs && !task.map;
  }

  private void tellNeeds() {
    // Attempts of reduces look as if they asked from the job's start on. Hadoop keeps their
    // requests to itself until so many maps have ended.
    reducesAsk |= job.getCompletedMaps() >= Math.ceil(slowStart * job.getTotalMaps());
    needs = new Needs(mapNeeds, reducesAsk ? reduceNeeds : 0, reducesRun, anyRuns);
  }

  private void takeMisses() {
    Misses misses = samples.misses();
    for (Misses.Miss miss = misses.take(); miss != null; miss = misses.take()) {
      boolean known = misses.wanted() && miss.map < maps.length && maps[miss.map] != null;
      AttemptRow row = known ? find(maps[miss.map], miss.attempt) : null;
      if (row != null) {
        row.observeMiss(miss.reduce, miss.atMs, log);
      }
    }
  }

  /** Whether rows are to tell which reduces could not fetch a map's output. */
  void wantMisses(boolean wanted) {
    if (wanted == samples.misses().wanted()) {
      return;
    }
    samples.misses().want(wanted);
    for (TaskRow task : maps) {
      if (task != null) {
        task.attempts.forEach(AttemptRow::forgetMisses);
      }
    }
  }

  private static void remove(List<TaskRow> rows, int i) {
    TaskRow last = rows.remove(rows.size() - 1);
    if (i < rows.size()) {
      rows.set(i, last);
    }
  }

  private void observe(TaskRow row) {
    row.observe(row.task.getState(), log);
    for (TaskAttempt attempt : row.task.getAttempts().values()) {
      observe(row, attempt);
    }
  }

  private void observe(TaskRow task, TaskAttempt attempt) {
    AttemptRow row = attemptRow(task, attempt.getID().getId());
    boolean wasSettled = row.settled();
    // Killing an attempt sets its progress to 1, so progress is read before the state.
    float polled = attempt.getProgress();
    TaskAttemptState state = attempt.getState();
    row.observeState(state, attempt.getLaunchTime(), attempt.getFinishTime(), log);
    if (wasSettled && row.settled()) {
      return;
    }
    observePlace(row, attempt);
    countNeeds(task, attempt, state);
    if (observeProgress(row, attempt, polled) || row.finished()) {
      row.observeCounters(CounterPick.of(attempt.getCounters()), log);
    }
  }

  private void observePlace(AttemptRow row, TaskAttempt attempt) {
    NodeId node = attempt.getNodeId();
    String name = node == null ? null : node.getHost();
    int index = name == null ? -1 : hosts.index(name, attempt.getNodeRackName());
    row.observePlace(index, inside.speculative(attempt), log);
  }

  private boolean observeProgress(AttemptRow row, TaskAttempt attempt, float polled) {
    Sample sample = samples.newest(row.map, row.task, row.number);
    if (sample != null) {
      return row.observeSample(sample, log);
    }
    if (row.finished() && !row.succeeded()) {
      return false; // Hadoop shows a progress of 1 for these
    }
    if (attempt.getLaunchTime() == 0) {
      return false;
    }
    long shuffled = row.map ? 0 : attempt.getShuffleFinishTime();
    long sorted = row.map ? 0 : attempt.getSortFinishTime();
    return row.observePolled(polled, attempt.getPhase(), shuffled, sorted, log);
  }

  private static AttemptRow attemptRow(TaskRow task, int number) {
    AttemptRow known = find(task, number);
    if (known != null) {
      return known;
    }
    AttemptRow row = new AttemptRow(task.map, task.index, number);
    task.attempts.add(row);
    return row;
  }

  private static AttemptRow find(TaskRow task, int number) {
    for (AttemptRow row : task.attempts) {
      if (row.number == number) {
        return row;
      }
    }
    return null;
  }

  RowLog log() {
    return log;
  }

  Job job() {
    return job;
  }

  /** As of the newest look; for any thread. */
  Needs needs() {
    return needs;
  }
}
