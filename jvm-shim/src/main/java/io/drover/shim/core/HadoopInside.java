package io.drover.shim.core;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Set;
import org.apache.hadoop.mapreduce.split.JobSplit.TaskSplitMetaInfo;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.yarn.util.RackResolver;

/** Facts that Hadoop's interfaces do not give. Each is absent where a version has it not. */
final class HadoopInside {
  private static final String[] NOWHERE = {};

  private Method splitOfMap;
  private Method avataarOfAttempt;
  private Method stateOfAttempt;
  private Field inProgressOfTask;
  private Field localHostsOfAttempt;
  private Field localRacksOfAttempt;
  private Field successOfTask;
  private boolean splitMissing;
  private boolean avataarMissing;
  private boolean stateMissing;
  private boolean inProgressMissing;
  private boolean localHostsMissing;
  private boolean localRacksMissing;
  private boolean successMissing;

  /** Length and hosts of a map's input, or null. */
  TaskSplitMetaInfo split(Task map) {
    if (splitMissing) {
      return null;
    }
    try {
      if (splitOfMap == null) {
        splitOfMap = method(map.getClass(), "getTaskSplitMetaInfo");
      }
      return (TaskSplitMetaInfo) splitOfMap.invoke(map);
    } catch (Throwable e) {
      splitMissing = true;
      Log.info("this Hadoop does not tell where splits lie: {}", e.toString());
      return null;
    }
  }

  /** Whether Hadoop labels the attempt speculative, or null. */
  Boolean speculative(TaskAttempt attempt) {
    if (avataarMissing) {
      return null;
    }
    try {
      if (avataarOfAttempt == null) {
        avataarOfAttempt = method(attempt.getClass(), "getAvataar");
      }
      Object avataar = avataarOfAttempt.invoke(attempt);
      return avataar == null ? null : "SPECULATIVE".equals(avataar.toString());
    } catch (Throwable e) {
      avataarMissing = true;
      Log.info("this Hadoop does not tell which attempts are copies: {}", e.toString());
      return null;
    }
  }

  /**
   * Whether the attempt does nothing but run. Hadoop 2 shows one as RUNNING that has said it is
   * done, or that is being killed, until its container is gone. False where that cannot be told.
   */
  boolean onlyRuns(TaskAttempt attempt) {
    return "RUNNING".equals(internalState(attempt));
  }

  /** Whether the attempt has said that it is done, or has succeeded, as far as can be told. */
  boolean saidDone(TaskAttempt attempt) {
    return attempt.getState() == TaskAttemptState.SUCCEEDED
        || internalState(attempt).startsWith("SUCCESS_");
  }

  /**
   * Whether the attempt has succeeded and nothing of its container is awaited that a kill would
   * have to wait for as well: where its node does not answer that takes minutes.
   */
  boolean hasSucceeded(TaskAttempt attempt) {
    return attempt.getState() == TaskAttemptState.SUCCEEDED
        && !internalState(attempt).startsWith("SUCCESS_FINISHING");
  }

  /** The attempt whose success is the task's, or null. */
  Object successfulAttempt(Task task) {
    if (successMissing) {
      return null;
    }
    try {
      if (successOfTask == null) {
        successOfTask = field(task.getClass(), "successfulAttempt");
      }
      return successOfTask.get(task);
    } catch (Throwable e) {
      successMissing = true;
      Log.info("this Hadoop does not tell which attempt's output counts: {}", e.toString());
      return null;
    }
  }

  private String internalState(TaskAttempt attempt) {
    if (stateMissing) {
      return "";
    }
    try {
      if (stateOfAttempt == null) {
        stateOfAttempt = method(attempt.getClass(), "getInternalState");
      }
      return String.valueOf(stateOfAttempt.invoke(attempt));
    } catch (Throwable e) {
      stateMissing = true;
      Log.info("this Hadoop does not tell an attempt's own state: {}", e.toString());
      return "";
    }
  }

  /** Attempts whose end the task has not heard of; on the dispatcher thread only. */
  Set<?> inProgress(Task task) {
    if (inProgressMissing) {
      return Collections.emptySet();
    }
    try {
      if (inProgressOfTask == null) {
        inProgressOfTask = field(task.getClass(), "inProgressAttempts");
      }
      return (Set<?>) inProgressOfTask.get(task);
    } catch (Throwable e) {
      inProgressMissing = true;
      Log.info("this Hadoop does not tell which attempts are in progress: {}", e.toString());
      return Collections.emptySet();
    }
  }

  /** Has an attempt that has not asked for a container yet not ask for these hosts. */
  void askElsewhere(TaskAttempt attempt, Collection<String> hosts) {
    if (!hosts.isEmpty() && asksForHosts(attempt.getClass())) {
      try {
        ((Set<?>) localHostsOfAttempt.get(attempt)).removeAll(hosts);
      } catch (Throwable e) {
        localHostsMissing = true;
        Log.info("this Hadoop asks for the hosts that hold a split: {}", e.toString());
      }
    }
  }

  /**
   * Has an attempt that has not asked for a container yet ask for a host beside those that hold its
   * split, unless it is to be avoided. A request that names a host and not its rack is served as if
   * it named none. Reflection does not say that both sets are of names.
   */
  @SuppressWarnings("unchecked")
  void askFor(TaskAttempt attempt, String host, Collection<String> avoid) {
    if (avoid.contains(host) || !asksForRacks(attempt.getClass())) {
      return;
    }
    try {
      // As Hadoop does for each host of a split, on this thread.
      String rack = RackResolver.resolve(host).getNetworkLocation();
      ((Set<String>) localRacksOfAttempt.get(attempt)).add(rack);
      ((Set<String>) localHostsOfAttempt.get(attempt)).add(host);
    } catch (Throwable e) {
      localRacksMissing = true;
      Log.info("no copy asks for a host by name any more: {}", e.toString());
    }
  }

  /** Whether copies may be asked for on named hosts. */
  boolean asksForRacks(Class<?> attempt) {
    if (localRacksOfAttempt == null && !localRacksMissing) {
      try {
        localRacksOfAttempt = field(attempt, "dataLocalRacks");
      } catch (Throwable e) {
        localRacksMissing = true;
        Log.info("this Hadoop takes no word on where a copy is to run: {}", e.toString());
      }
    }
    return !localRacksMissing && asksForHosts(attempt);
  }

  private boolean asksForHosts(Class<?> attempt) {
    if (localHostsOfAttempt == null && !localHostsMissing) {
      try {
        localHostsOfAttempt = field(attempt, "dataLocalHosts");
      } catch (Throwable e) {
        localHostsMissing = true;
        Log.info("this Hadoop asks for the hosts that hold a split: {}", e.toString());
      }
    }
    return !localHostsMissing;
  }

  static String[] hosts(TaskSplitMetaInfo split) {
    String[] hosts = split.getLocations();
    if (hosts == null) {
      return NOWHERE;
    }
    return hosts.length <= TaskRow.MAX_HOSTS ? hosts : Arrays.copyOf(hosts, TaskRow.MAX_HOSTS);
  }

  private static Method method(Class<?> type, String name) throws ReflectiveOperationException {
    return inherited(type, name, c -> c.getDeclaredMethod(name));
  }

  static Field field(Class<?> type, String name) throws ReflectiveOperationException {
    return inherited(type, name, c -> c.getDeclaredField(name));
  }

  private interface Lookup<T> {
    T in(Class<?> type) throws ReflectiveOperationException;
  }

  private static <T extends AccessibleObject> T inherited(
      Class<?> type, String name, Lookup<T> lookup) throws ReflectiveOperationException {
    for (Class<?> c = type; c != null; c = c.getSuperclass()) {
      try {
        T found = lookup.in(c);
        found.setAccessible(true);
        return found;
      } catch (NoSuchMethodException | NoSuchFieldException e) {
        // perhaps a superclass has it
      }
    }
    throw new NoSuchMethodException(type.getName() + "." + name);
  }
}
