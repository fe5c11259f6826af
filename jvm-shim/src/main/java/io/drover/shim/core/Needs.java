package io.drover.shim.core;

import java.util.Collections;
import java.util.List;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;

/** Containers that the job waits for, as of one look at it. */
final class Needs {
  /** Before the first look. */
  static final Needs NONE = new Needs(0, 0, false, Collections.emptyList(), false);

  final int maps;
  final int reduces;

  /** Whether reduces hold containers: Hadoop may preempt one for a map that waits. */
  final boolean reducesRun;

  /** Some of the maps' attempts that run. */
  final List<TaskAttempt> mapsRun;

  /** Whether any attempt holds a container. */
  private final boolean anyRuns;

  Needs(int maps, int reduces, boolean reducesRun, List<TaskAttempt> mapsRun, boolean anyRuns) {
    this.maps = maps;
    this.reduces = reduces;
    this.reducesRun = reducesRun;
    this.mapsRun = mapsRun;
    this.anyRuns = anyRuns;
  }

  /** Whether all that the job does is wait. */
  boolean starved() {
    return maps + reduces > 0 && !anyRuns;
  }
}
