package io.drover.shim.core;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskState;
import org.apache.hadoop.mapreduce.v2.app.job.Job;
import org.apache.hadoop.mapreduce.v2.app.job.Task;

/**
 * Tasks that have begun to run, counted while the service wants to hear of each at once. Hadoop
 * tells of a launch before its task is RUNNING, and a copy asked for until then would end the job;
 * so it is counted one event later.
 */
final class Starts {
  private final Job job;
  private final Consumer<Runnable> dispatcher;
  private final AtomicInteger count = new AtomicInteger();
  private volatile boolean wanted;

  /** {@code dispatcher} runs what it is given on the dispatcher thread, behind what waits there. */
  Starts(Job job, Consumer<Runnable> dispatcher) {
    this.job = job;
    this.dispatcher = dispatcher;
  }

  /** On the dispatcher thread; the launch of a copy is none of a task. */
  void launched(TaskAttemptId attempt) {
    Task task = wanted ? job.getTask(attempt.getTaskId()) : null;
    if (task != null && task.getState() == TaskState.SCHEDULED) {
      dispatcher.accept(count::incrementAndGet);
    }
  }

  /** Tasks may have begun while nobody wanted to know, which counts as one now. */
  void want(boolean asked) {
    boolean asksAnew = asked && !wanted;
    wanted = asked;
    if (asksAnew) {
      count.incrementAndGet();
    }
  }

  int count() {
    return count.get();
  }
}
