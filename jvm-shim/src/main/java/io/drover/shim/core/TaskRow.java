package io.drover.shim.core;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.mapreduce.v2.api.records.TaskState;
import org.apache.hadoop.mapreduce.v2.app.job.Task;

/** One task: where its split lies, and its state. */
final class TaskRow extends Row {
  /** The schema's limit; the hosts that hold most of the split come first. */
  static final int MAX_HOSTS = 16;

  final Task task;
  final boolean map;
  final int index;

  /** Length of the split; -1 when unknown or a reduce. */
  final long splitBytes;

  /** Indices of the split's hosts; null when unknown or a reduce. */
  final int[] splitHosts;

  final List<AttemptRow> attempts = new ArrayList<>(1);
  private TaskState state;
  private long born;

  TaskRow(Task task, boolean map, int index, long splitBytes, int[] splitHosts) {
    this.task = task;
    this.map = map;
    this.index = index;
    this.splitBytes = splitBytes;
    this.splitHosts = splitHosts;
  }

  /** Takes over the newest state; a change gets a version. */
  void observe(TaskState newest, RowLog log) {
    if (newest != state) {
      state = newest;
      long version = log.touch(this);
      born = born == 0 ? version : born;
    }
  }

  /** Nothing more is to be expected unless Hadoop runs the task anew. */
  boolean settled() {
    if (state != TaskState.SUCCEEDED && state != TaskState.FAILED && state != TaskState.KILLED) {
      return false;
    }
    for (AttemptRow attempt : attempts) {
      if (!attempt.settled()) {
        return false;
      }
    }
    return true;
  }

  @Override
  int bytes() {
    return 80 + (splitHosts == null ? 0 : 8 * splitHosts.length);
  }

  @Override
  void write(JsonGenerator json, long base) throws IOException {
    json.writeStartObject();
    json.writeStringField("k", map ? "m" : "r");
    json.writeNumberField("i", index);
    json.writeStringField("s", state.name());
    if (born > base && splitBytes >= 0) {
      json.writeNumberField("bytes", splitBytes);
    }
    if (born > base && splitHosts != null) {
      json.writeArrayFieldStart("hosts");
      for (int host : splitHosts) {
        json.writeNumber(host);
      }
      json.writeEndArray();
    }
    json.writeEndObject();
  }
}
