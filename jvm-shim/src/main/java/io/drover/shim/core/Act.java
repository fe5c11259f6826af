package io.drover.shim.core;

import org.apache.hadoop.mapreduce.v2.app.job.Task;

/** How actions of one type are carried out, on the dispatcher thread. */
interface Act {
  /** Whether it is done to one task, which must then be able to bear it. */
  default boolean isAboutATask() {
    return true;
  }

  /**
   * What speaks against it beside {@link Grounds}, an outcome of {@link Ack}; null for nothing.
   * {@code task} is null where it is about none.
   */
  String refusal(Action action, Task task);

  Ack carryOut(Action action, Task task);
}
