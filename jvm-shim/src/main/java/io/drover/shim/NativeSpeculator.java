package io.drover.shim;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.v2.api.records.TaskId;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.speculate.DefaultSpeculator;

/** Hadoop's own speculator, unchanged, which also says how many copies it has launched. */
public final class NativeSpeculator extends DefaultSpeculator implements LongSupplier {
  private final AtomicLong launched = new AtomicLong();

  public NativeSpeculator(Configuration conf, AppContext context) {
    super(conf, context);
  }

  @Override
  protected void addSpeculativeAttempt(TaskId taskId) {
    super.addSpeculativeAttempt(taskId);
    launched.incrementAndGet();
  }

  /** Copies launched so far. */
  @Override
  public long getAsLong() {
    return launched.get();
  }
}
