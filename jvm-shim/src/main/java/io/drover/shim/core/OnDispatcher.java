package io.drover.shim.core;

import org.apache.hadoop.mapreduce.v2.api.records.JobId;
import org.apache.hadoop.mapreduce.v2.app.speculate.SpeculatorEvent;

/**
 * Something to do on the AM's dispatcher thread, where no task changes meanwhile. It travels as an
 * event to the speculator that names no task, which the AM passes whatever kind may speculate; it
 * is a {@link Runnable}, by which the bootstrap knows not to show it to Hadoop's speculator.
 */
final class OnDispatcher extends SpeculatorEvent implements Runnable {
  private final Runnable what;

  OnDispatcher(JobId job, long timestamp, Runnable what) {
    super(job, timestamp);
    this.what = what;
  }

  @Override
  public void run() {
    what.run();
  }
}
