package io.drover.shim.core;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.mapreduce.v2.api.records.Phase;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;

/**
 * One attempt. Its fields form groups that change at different times, and each group remembers the
 * version of its newest change, so that a request carries only what the service lacks.
 */
final class AttemptRow extends Row {
  /** The schema's limit. */
  static final int MAX_MISSES = 8;

  final boolean map;
  final int task;
  final int number;

  private TaskAttemptState state;
  private long launchedMs;
  private long finishedMs;
  private long stateVersion;

  private int node = -1;
  private Boolean speculative;
  private long placeVersion;

  private float progress = Float.NaN;
  private Phase phase;
  private long updatedMs;
  private long shuffledMs;
  private long sortedMs;
  private long updates;
  private long progressVersion;

  private long[] counters;
  private long[] counterVersions;

  /** Reduces that could not fetch the output, and when each told so last; null for none. */
  private int[] missedBy;

  private long[] missedMs;
  private long missVersion;

  AttemptRow(boolean map, int task, int number) {
    this.map = map;
    this.task = task;
    this.number = number;
  }

  void observeState(TaskAttemptState newest, long launched, long finished, RowLog log) {
    if (newest != state || launched != launchedMs || finished != finishedMs) {
      state = newest;
      launchedMs = launched;
      finishedMs = finished;
      stateVersion = log.touch(this);
      progressVersion = succeeded() ? stateVersion : progressVersion;
    }
  }

  void observePlace(int newestNode, Boolean newestSpeculative, RowLog log) {
    boolean labelled = newestSpeculative != null && !newestSpeculative.equals(speculative);
    if (newestNode != node || labelled) {
      node = newestNode;
      speculative = newestSpeculative;
      placeVersion = log.touch(this);
    }
  }

  /** True when the sample is news. */
  boolean observeSample(Sample sample, RowLog log) {
    if (sample.count == updates) {
      return false;
    }
    progress = sample.progress;
    phase = sample.phase;
    updatedMs = sample.updatedMs;
    shuffledMs = Math.max(shuffledMs, sample.shuffledMs);
    sortedMs = Math.max(sortedMs, sample.sortedMs);
    updates = sample.count;
    progressVersion = log.touch(this);
    return true;
  }

  /** For attempts that no status update has told of: uber jobs, and those recovered by an AM. */
  boolean observePolled(float newest, Phase newestPhase, long shuffled, long sorted, RowLog log) {
    boolean same = Float.compare(newest, progress) == 0 && newestPhase == phase;
    if (same && shuffled == shuffledMs && sorted == sortedMs) {
      return false;
    }
    progress = newest;
    phase = newestPhase;
    shuffledMs = shuffled;
    sortedMs = sorted;
    progressVersion = log.touch(this);
    return true;
  }

  /** Takes over counters; negative ones are absent. */
  void observeCounters(long[] newest, RowLog log) {
    long version = 0;
    for (int i = 0; i < newest.length; i++) {
      if (newest[i] < 0 || (counters != null && counters[i] == newest[i])) {
        continue;
      }
      if (counters == null) {
        counters = absent();
        counterVersions = new long[CounterPick.NAMES.length];
      }
      version = version == 0 ? log.touch(this) : version;
      counters[i] = newest[i];
      counterVersions[i] = version;
    }
  }

  /** A reduce could not fetch the output; of many the newest count. */
  void observeMiss(int reduce, long atMs, RowLog log) {
    int place = 0;
    int known = missedBy == null ? 0 : missedBy.length;
    while (place < known && missedBy[place] != reduce) {
      place++;
    }
    if (place == known && known < MAX_MISSES) {
      missedBy = missedBy == null ? new int[1] : Arrays.copyOf(missedBy, known + 1);
      missedMs = missedMs == null ? new long[1] : Arrays.copyOf(missedMs, known + 1);
    } else if (place == known) {
      place = 0;
      for (int i = 1; i < known; i++) {
        place = missedMs[i] < missedMs[place] ? i : place;
      }
    }
    missedBy[place] = reduce;
    missedMs[place] = atMs;
    missVersion = log.touch(this);
  }

  /** The service does not want to know of misses, and may not understand them. */
  void forgetMisses() {
    missedBy = null;
    missedMs = null;
    missVersion = 0;
  }

  static long[] absent() {
    long[] values = new long[CounterPick.NAMES.length];
    Arrays.fill(values, -1);
    return values;
  }

  boolean finished() {
    return state == TaskAttemptState.SUCCEEDED
        || state == TaskAttemptState.FAILED
        || state == TaskAttemptState.KILLED;
  }

  boolean succeeded() {
    return state == TaskAttemptState.SUCCEEDED;
  }

  /** Hadoop stamps the finish of a launched attempt some time after it calls it killed. */
  boolean settled() {
    return finished() && (launchedMs == 0 || finishedMs > 0);
  }

  long updates() {
    return updates;
  }

  @Override
  int bytes() {
    return (counters == null ? 260 : 460) + (missedBy == null ? 0 : 30 * missedBy.length);
  }

  @Override
  void write(JsonGenerator json, long base) throws IOException {
    json.writeStartObject();
    json.writeStringField("k", map ? "m" : "r");
    json.writeNumberField("i", task);
    json.writeNumberField("n", number);
    if (stateVersion > base) {
      json.writeStringField("s", state.name());
      writeTime(json, "at", launchedMs);
      writeTime(json, "fin", finishedMs);
    }
    if (placeVersion > base) {
      writePlace(json);
    }
    if (progressVersion > base) {
      writeProgress(json);
    }
    writeCounters(json, base);
    if (missVersion > base) {
      writeMisses(json);
    }
    json.writeEndObject();
  }

  private void writeMisses(JsonGenerator json) throws IOException {
    json.writeArrayFieldStart("miss");
    for (int i = 0; i < missedBy.length; i++) {
      json.writeStartArray();
      json.writeNumber(missedBy[i]);
      json.writeNumber(missedMs[i]);
      json.writeEndArray();
    }
    json.writeEndArray();
  }

  private void writePlace(JsonGenerator json) throws IOException {
    if (node >= 0) {
      json.writeNumberField("node", node);
    }
    if (speculative != null) {
      json.writeBooleanField("spec", speculative);
    }
  }

  private void writeProgress(JsonGenerator json) throws IOException {
    float shown = succeeded() ? 1f : progress;
    if (shown >= 0f && shown <= 1f) { // false for NaN
      json.writeNumberField("p", shown);
    }
    writeTime(json, "u", updatedMs);
    json.writeNumberField("c", updates);
    if (phase != null) {
      json.writeStringField("ph", phase.name());
    }
    writeTime(json, "shuf", shuffledMs);
    writeTime(json, "sort", sortedMs);
  }

  private void writeCounters(JsonGenerator json, long base) throws IOException {
    boolean open = false;
    for (int i = 0; counters != null && i < counters.length; i++) {
      if (counters[i] >= 0 && counterVersions[i] > base) {
        if (!open) {
          json.writeObjectFieldStart("ctr");
          open = true;
        }
        json.writeNumberField(CounterPick.NAMES[i], counters[i]);
      }
    }
    if (open) {
      json.writeEndObject();
    }
  }

  private static void writeTime(JsonGenerator json, String name, long atMs) throws IOException {
    if (atMs > 0) {
      json.writeNumberField(name, atMs);
    }
  }
}
