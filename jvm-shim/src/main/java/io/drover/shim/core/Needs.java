package io.drover.shim.core;

/** Containers that the job waits for, as of one look at it. */
final class Needs {
  /** Before the first look. */
  static final Needs NONE = new Needs(0, 0, false, false);

  final int maps;
  final int reduces;

  /** Whether reduces hold containers: Hadoop may preempt one for a map that waits. */
  final boolean reducesRun;

  /** Whether any attempt holds a container. */
  private final boolean anyRuns;

  Needs(int maps, int reduces, boolean reducesRun, boolean anyRuns) {
    this.maps = maps;
    this.reduces = reduces;
    this.reducesRun = reducesRun;
    this.anyRuns = anyRuns;
  }

  /** Whether all that the job does is wait. */
  boolean starved() {
    return maps + reduces > 0 && !anyRuns;
  }
}
