package io.drover.shim.core;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.v2.api.records.JobId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.Job;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.util.MRBuilderUtils;
import org.apache.hadoop.yarn.event.EventHandler;
import org.junit.Test;

/** Copies where Hadoop's own code does what it never should. */
public class DuplicatorTest {
  private final JobId jobId =
      MRBuilderUtils.newJobId(
          org.apache.hadoop.yarn.api.records.ApplicationId.newInstance(1_000, 1), 1);
  private final TaskId taskId = MRBuilderUtils.newTaskId(jobId, 0, TaskType.MAP);
  private final Map<TaskAttemptId, TaskAttempt> attempts = new LinkedHashMap<>();
  private final Lease lease = new Lease(() -> 0, true);
  private int orders;
  private boolean ordersUnderLease = true;

  /** A task that takes one order and throws at the next. */
  private Object task(String method) {
    switch (method) {
      case "getID":
        return taskId;
      case "getType":
        return TaskType.MAP;
      case "getState":
        return TaskState.RUNNING;
      case "getAttempts":
        return attempts;
      case "handle":
        ordersUnderLease &= Thread.holdsLock(lease);
        if (++orders > 1) {
          throw new IllegalStateException("Hadoop's own");
        }
        addAttempt();
        return null;
      default:
        throw new AssertionError(method);
    }
  }

  private void addAttempt() {
    TaskAttemptId id = MRBuilderUtils.newTaskAttemptId(taskId, attempts.size());
    InvocationHandler answers =
        (proxy, method, arguments) -> {
          switch (method.getName()) {
            case "getID":
              return id;
            case "getState":
              return TaskAttemptState.STARTING;
            case "isFinished":
              return false;
            default:
              return null;
          }
        };
    attempts.put(id, proxy(TaskAttempt.class, answers));
  }

  private static <T> T proxy(Class<T> type, InvocationHandler answers, Class<?>... others) {
    Class<?>[] types = new Class<?>[others.length + 1];
    types[0] = type;
    System.arraycopy(others, 0, types, 1, others.length);
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), types, answers));
  }

  private Job job(boolean uber, Class<?>... taskIs) {
    Task task = proxy(Task.class, (proxy, method, arguments) -> task(method.getName()), taskIs);
    return proxy(
        Job.class,
        (proxy, method, arguments) -> {
          switch (method.getName()) {
            case "getID":
              return jobId;
            case "isUber":
              return uber;
            case "getTasks":
              return Collections.singletonMap(taskId, task);
            default:
              return task;
          }
        });
  }

  private Ack apply(Job job, int copies) {
    Configuration conf = new Configuration(false);
    conf.setBoolean("mapreduce.map.speculative", true);
    Copies held = new Copies();
    Headroom headroom = new Headroom(conf, name -> 0, () -> Needs.NONE, held);
    Means means =
        new Means(conf, null, job, lease, new Ledger(() -> 0), headroom, held, event -> {});
    Executor executor = new Executor(lease, new Grounds(job, lease, () -> 0), headroom, means);
    lease.take(1, 0, 1_000);
    Action.Draft draft = new Action.Draft();
    draft.id = "a";
    draft.type = Action.DUPLICATE;
    draft.kind = "m";
    draft.deadlineMs = 500;
    draft.task = 0;
    draft.copies = copies;
    draft.live = 1;
    return executor.apply(new Action(draft), 1, 500_000_000);
  }

  @Test
  public void anOrderThatThrowsIsNotTriedAgainAndWhatWasAddedIsNamed() {
    addAttempt();
    assertEquals("a failed [1]", apply(job(false, EventHandler.class), 3).toString());
    assertEquals(2, orders);
  }

  @Test
  public void nothingOfHadoopsOwnIsLaunchedBetweenTheCheckAndTheCopy() {
    addAttempt();
    assertEquals("a applied [1]", apply(job(false, EventHandler.class), 1).toString());
    assertTrue("the lease's monitor is held", ordersUnderLease);
  }

  @Test
  public void aJobThatCannotBeLookedAtIsAFailure() {
    Job broken =
        proxy(
            Job.class,
            (proxy, method, arguments) -> {
              throw new NoSuchMethodError(method.getName());
            });
    assertEquals("a failed []", apply(broken, 1).toString());
  }

  @Test
  public void aTaskThatTakesNoOrdersAndAnUberJobCannotBeGivenCopies() {
    assertTrue(Executor.canAct(job(false, EventHandler.class)));
    assertFalse(Executor.canAct(job(false)));
    assertFalse(Executor.canAct(job(true, EventHandler.class)));
  }
}
