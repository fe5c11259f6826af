package io.drover.shim.core;

/** Containers that the job waits for, as of one look at it. */
final class Needs {
  final int maps;
  final int reduces;

  /** Whether reduces hold containers: Hadoop may preempt one for a map that waits. */
  final boolean reducesRun;

  Needs(int maps, int reduces, boolean reducesRun) {
    this.maps = maps;
    this.reduces = reduces;
    this.reducesRun = reducesRun;
  }
}
