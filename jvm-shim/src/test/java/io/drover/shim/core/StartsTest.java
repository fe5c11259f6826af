package io.drover.shim.core;

import static org.junit.Assert.assertEquals;

import java.lang.reflect.Proxy;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.Job;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.util.MRBuilderUtils;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.junit.Test;

/** What is counted of tasks that begin, and when it costs anything. */
public class StartsTest {
  private final TaskAttemptId attempt =
      MRBuilderUtils.newTaskAttemptId(
          MRBuilderUtils.newTaskId(
              MRBuilderUtils.newJobId(ApplicationId.newInstance(1_000, 1), 1), 0, TaskType.MAP),
          0);
  private TaskState state = TaskState.SCHEDULED;
  private int questions;
  private int posted;
  private final Starts starts =
      new Starts(
          job(),
          what -> {
            posted++;
            what.run();
          });

  /** A job whose only task is in that state. */
  private Job job() {
    ClassLoader loader = Job.class.getClassLoader();
    Object task =
        Proxy.newProxyInstance(
            loader,
            new Class<?>[] {Task.class},
            (proxy, method, arguments) -> {
              questions++;
              return state;
            });
    return (Job)
        Proxy.newProxyInstance(
            loader,
            new Class<?>[] {Job.class},
            (proxy, method, arguments) -> {
              questions++;
              return task;
            });
  }

  @Test
  public void whatBeganBeforeItWasWantedCountsAsOneEachTimeItIsWantedAnew() {
    for (boolean asked : new boolean[] {true, true, false, true}) {
      starts.want(asked);
    }
    assertEquals(2, starts.count());
  }

  @Test
  public void aLaunchCountsOnlyWhileThatIsWantedAndElseCostsNothing() {
    starts.launched(attempt);
    assertEquals("not at first", "0 of 0 asked 0", told());
    starts.want(true);
    starts.launched(attempt);
    assertEquals("one for being wanted anew, one for it", "2 of 1 asked 2", told());
    starts.want(false);
    starts.launched(attempt);
    assertEquals("not any more", "2 of 1 asked 2", told());
  }

  @Test
  public void theLaunchOfACopyIsNone() {
    starts.want(true);
    state = TaskState.RUNNING;
    starts.launched(attempt);
    assertEquals("1 of 0 asked 2", told());
  }

  /** The count, what was posted, and what the job was asked. */
  private String told() {
    return starts.count() + " of " + posted + " asked " + questions;
  }
}
