package io.drover.shim;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptStatusUpdateEvent.TaskAttemptStatus;
import org.apache.hadoop.mapreduce.v2.app.speculate.LegacyTaskRuntimeEstimator;

/** Hadoop's estimator, which writes down everything that DefaultSpeculator tells it. */
public final class RecordingEstimator extends LegacyTaskRuntimeEstimator {
  /** Of the newest instance: DefaultSpeculator makes it, and gives no way to reach it. */
  static volatile List<String> told = List.of();

  public RecordingEstimator() {
    // Events keep coming while a test reads.
    told = new CopyOnWriteArrayList<>();
  }

  @Override
  public void contextualize(Configuration conf, AppContext context) {
    told.add("contextualize " + context.getAllJobs().keySet());
    super.contextualize(conf, context);
  }

  @Override
  public void enrollAttempt(TaskAttemptStatus status, long timestamp) {
    told.add("enroll " + status.id + " " + timestamp);
    super.enrollAttempt(status, timestamp);
  }

  @Override
  public void updateAttempt(TaskAttemptStatus status, long timestamp) {
    told.add(
        "update " + status.id + " " + timestamp + " " + status.progress + " " + status.taskState);
    super.updateAttempt(status, timestamp);
  }
}
