package io.drover.shim.core;

import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Set;
import org.apache.hadoop.mapreduce.split.JobSplit.TaskSplitMetaInfo;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.app.job.Job;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.yarn.util.RackResolver;

/** Facts that Hadoop's interfaces do not give. Each is absent where a version has it not. */
final class HadoopInside {
  private static final String[] NOWHERE = {};

  private final Hidden<TaskSplitMetaInfo> splitOfMap =
      Hidden.method(
          TaskSplitMetaInfo.class, "getTaskSplitMetaInfo", "does not tell where splits lie");
  private final Hidden<Object> avataarOfAttempt =
      Hidden.method(Object.class, "getAvataar", "does not tell which attempts are copies");
  private final Hidden<Object> stateOfAttempt =
      Hidden.method(Object.class, "getInternalState", "does not tell an attempt's own state");
  private final Hidden<Object> stateOfJob =
      Hidden.method(Object.class, "getInternalState", "does not tell the job's own state");
  private final Hidden<Object> successOfTask =
      Hidden.field(
          Object.class, "successfulAttempt", "does not tell which attempt's output counts");
  private final Hidden<Set<Object>> inProgressOfTask =
      Hidden.set("inProgressAttempts", "does not tell which attempts are in progress");
  private final Hidden<Set<Object>> localHostsOfAttempt =
      Hidden.set("dataLocalHosts", "asks for the hosts that hold a split");
  private final Hidden<Set<Object>> localRacksOfAttempt =
      Hidden.set("dataLocalRacks", "takes no word on where a copy is to run");

  /** Length and hosts of a map's input, or null. */
  TaskSplitMetaInfo split(Task map) {
    return splitOfMap.of(map);
  }

  /** Whether Hadoop labels the attempt speculative, or null. */
  Boolean speculative(TaskAttempt attempt) {
    Object avataar = avataarOfAttempt.of(attempt);
    return avataar == null ? null : "SPECULATIVE".equals(avataar.toString());
  }

  /**
   * Whether the attempt does nothing but run. Hadoop 2 shows one as RUNNING that has said it is
   * done, or that is being killed, until its container is gone. False where that cannot be told.
   */
  boolean onlyRuns(TaskAttempt attempt) {
    return "RUNNING".equals(internalState(attempt));
  }

  /** Whether the attempt does nothing but run, or, where that cannot be told, is shown so. */
  boolean runs(TaskAttempt attempt) {
    String own = internalState(attempt);
    return own.isEmpty() ? attempt.getState() == TaskAttemptState.RUNNING : "RUNNING".equals(own);
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

  /**
   * Whether the job does nothing but run. Hadoop shows one as RUNNING until its AM has taken leave,
   * even one that is being killed, which an attempt's second end would take to ERROR. False where
   * that cannot be told.
   */
  boolean onlyRuns(Job job) {
    Object state = stateOfJob.of(job);
    return state != null && "RUNNING".equals(state.toString());
  }

  /** The attempt whose success is the task's, or null. */
  Object successfulAttempt(Task task) {
    return successOfTask.of(task);
  }

  /** As Hadoop's state machine has it; empty where that cannot be told. */
  private String internalState(TaskAttempt attempt) {
    Object state = stateOfAttempt.of(attempt);
    return state == null ? "" : state.toString();
  }

  /** Attempts whose end the task has not heard of; on the dispatcher thread only. */
  Set<?> inProgress(Task task) {
    Set<?> attempts = inProgressOfTask.of(task);
    return attempts == null ? Collections.emptySet() : attempts;
  }

  /** Has an attempt that has not asked for a container yet not ask for these hosts. */
  void askElsewhere(TaskAttempt attempt, Collection<String> hosts) {
    if (hosts.isEmpty()) {
      return;
    }
    Set<Object> local = localHostsOfAttempt.of(attempt);
    if (local == null) {
      return;
    }
    try {
      local.removeAll(hosts);
    } catch (RuntimeException e) {
      localHostsOfAttempt.giveUp(e);
    }
  }

  /**
   * Has an attempt that has not asked for a container yet ask for a host beside those that hold its
   * split, unless it is to be avoided. A request that names a host and not its rack is served as if
   * it named none, and so without its rack none is named.
   */
  void askFor(TaskAttempt attempt, String host, String rack, Collection<String> avoid) {
    if (rack == null || avoid.contains(host) || !asksForRacks(attempt.getClass())) {
      return;
    }
    Set<Object> racks = localRacksOfAttempt.of(attempt);
    Set<Object> hosts = localHostsOfAttempt.of(attempt);
    if (racks == null || hosts == null) {
      return;
    }
    try {
      racks.add(rack);
      hosts.add(host);
    } catch (Throwable e) {
      localRacksOfAttempt.giveUp(e);
    }
  }

  /** The rack of a host, as Hadoop's own requests name it; may take its time. */
  static String rack(String host) {
    return RackResolver.resolve(host).getNetworkLocation();
  }

  /** Whether copies may be asked for on named hosts. */
  boolean asksForRacks(Class<?> attempt) {
    return localRacksOfAttempt.isIn(attempt) && localHostsOfAttempt.isIn(attempt);
  }

  static String[] hosts(TaskSplitMetaInfo split) {
    String[] hosts = split.getLocations();
    if (hosts == null) {
      return NOWHERE;
    }
    return hosts.length <= TaskRow.MAX_HOSTS ? hosts : Arrays.copyOf(hosts, TaskRow.MAX_HOSTS);
  }
}
