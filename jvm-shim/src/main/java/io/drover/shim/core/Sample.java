package io.drover.shim.core;

import org.apache.hadoop.mapreduce.v2.api.records.Phase;

/** What one status update said. Hadoop goes on writing to its status object; this is a copy. */
final class Sample {
  final float progress;
  final Phase phase;
  final long updatedMs;
  final long shuffledMs;
  final long sortedMs;
  final long count;

  Sample(float progress, Phase phase, long updatedMs, long shuffledMs, long sortedMs, long count) {
    this.progress = progress;
    this.phase = phase;
    this.updatedMs = updatedMs;
    this.shuffledMs = shuffledMs;
    this.sortedMs = sortedMs;
    this.count = count;
  }
}
