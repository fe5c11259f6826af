package io.drover.shim.core;

import java.lang.reflect.Method;
import java.util.Arrays;
import org.apache.hadoop.mapreduce.split.JobSplit.TaskSplitMetaInfo;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;

/** Facts that Hadoop's interfaces do not give. Each is absent where a version has it not. */
final class HadoopInside {
  private static final String[] NOWHERE = {};

  private Method splitOfMap;
  private Method avataarOfAttempt;
  private boolean splitMissing;
  private boolean avataarMissing;

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

  static String[] hosts(TaskSplitMetaInfo split) {
    String[] hosts = split.getLocations();
    if (hosts == null) {
      return NOWHERE;
    }
    return hosts.length <= TaskRow.MAX_HOSTS ? hosts : Arrays.copyOf(hosts, TaskRow.MAX_HOSTS);
  }

  private static Method method(Class<?> type, String name) throws NoSuchMethodException {
    for (Class<?> c = type; c != null; c = c.getSuperclass()) {
      try {
        Method method = c.getDeclaredMethod(name);
        method.setAccessible(true);
        return method;
      } catch (NoSuchMethodException e) {
        // perhaps a superclass has it
      }
    }
    throw new NoSuchMethodException(type.getName() + "." + name);
  }
}
