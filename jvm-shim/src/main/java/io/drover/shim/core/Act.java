package io.drover.shim.core;

import org.apache.hadoop.mapreduce.v2.app.job.Task;

/** How actions of one type are carried out, on the dispatcher thread. */
interface Act {
  /** What speaks against it beside {@link Grounds}, an outcome of {@link Ack}; null for nothing. */
  String refusal(Action action, Task task);

  Ack carryOut(Action action, Task task);
}
