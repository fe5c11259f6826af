package io.drover.shim.core;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.lang.reflect.Method;
import java.util.Collection;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.Job;
import org.apache.hadoop.util.VersionInfo;

/** Who is speaking: sent until the service believes it. */
final class Hello {
  private static final String COMMITTER_FACTORY = "mapreduce.outputcommitter.factory.class";

  /** Only these leave the job's configuration; it may hold secrets. */
  private static final String[] KEYS = {
    "mapreduce.map.speculative",
    "mapreduce.reduce.speculative",
    "mapreduce.job.speculative.slowtaskthreshold",
    "mapreduce.job.speculative.speculative-cap-running-tasks",
    "mapreduce.job.speculative.speculative-cap-total-tasks",
    "mapreduce.job.speculative.minimum-allowed-tasks",
    "mapreduce.job.speculative.retry-after-no-speculate",
    "mapreduce.job.speculative.retry-after-speculate",
    "yarn.app.mapreduce.am.job.task.estimator.class",
    "mapreduce.task.progress-report.interval",
    "mapreduce.task.timeout",
    "mapreduce.job.reduce.slowstart.completedmaps",
    "mapreduce.job.running.map.limit",
    "mapreduce.job.running.reduce.limit",
    "mapreduce.map.maxattempts",
    "mapreduce.reduce.maxattempts",
    "mapreduce.map.memory.mb",
    "mapreduce.reduce.memory.mb",
    "mapreduce.map.cpu.vcores",
    "mapreduce.reduce.cpu.vcores",
    "mapreduce.map.resource.memory-mb",
    "mapreduce.map.resource.memory",
    "mapreduce.map.resource.vcores",
    "mapreduce.reduce.resource.memory-mb",
    "mapreduce.reduce.resource.memory",
    "mapreduce.reduce.resource.vcores",
    "mapreduce.job.node-label-expression",
    "mapreduce.map.node-label-expression",
    "mapreduce.reduce.node-label-expression",
    "mapreduce.job.num-opportunistic-maps-percent",
    "mapred.mapper.new-api",
    "mapred.reducer.new-api",
    "mapreduce.job.inputformat.class",
    "mapreduce.job.outputformat.class",
    "mapred.input.format.class",
    "mapred.output.format.class",
    "mapred.output.committer.class",
    COMMITTER_FACTORY,
    "mapreduce.fileoutputcommitter.algorithm.version",
    "mapreduce.job.classloader",
    "mapreduce.job.user.classpath.first",
    "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms",
  };

  private final Configuration conf;
  private final Job job;
  private final String key;
  private final String mode;
  private final Collection<String> can;

  Hello(Configuration conf, Job job, String key, String mode, Collection<String> can) {
    this.conf = conf;
    this.job = job;
    this.key = key;
    this.mode = mode;
    this.can = can;
  }

  void write(JsonGenerator json) throws IOException {
    json.writeObjectFieldStart("hello");
    json.writeStringField("key", key);
    json.writeStringField("user", Text.bounded(job.getUserName()));
    json.writeStringField("queue", Text.bounded(job.getQueueName()));
    json.writeStringField("name", Text.bounded(job.getName()));
    json.writeStringField("hadoop", Text.bounded(VersionInfo.getVersion()));
    json.writeStringField("java", Text.bounded(System.getProperty("java.version")));
    json.writeStringField("mode", mode);
    json.writeBooleanField("uber", job.isUber());
    json.writeArrayFieldStart("can");
    for (String type : can) {
      json.writeString(type);
    }
    json.writeEndArray();
    json.writeObjectFieldStart("settings");
    for (String name : KEYS) {
      String value = value(name);
      if (value != null) {
        json.writeStringField(name, Text.bounded(value));
      }
    }
    json.writeEndObject();
    json.writeEndObject();
  }

  private String value(String name) {
    try {
      String value = conf.get(name);
      switch (name) {
        case "mapreduce.map.memory.mb":
          return size(value, TaskType.MAP);
        case "mapreduce.reduce.memory.mb":
          return size(value, TaskType.REDUCE);
        case COMMITTER_FACTORY:
          return committerFactory(value);
        default:
          return value;
      }
    } catch (RuntimeException e) {
      return null; // an expansion that never ends
    }
  }

  /** Where none is set for all outputs, that of the scheme of the job's own. */
  private String committerFactory(String set) {
    String output = conf.get("mapreduce.output.fileoutputformat.outputdir");
    if ((set != null && !set.trim().isEmpty()) || output == null || !output.contains("://")) {
      return set;
    }
    String scheme = output.substring(0, output.indexOf("://"));
    String ofScheme = conf.get("mapreduce.outputcommitter.factory.scheme." + scheme);
    return ofScheme == null ? set : ofScheme;
  }

  /**
   * A container's size: Hadoop 3 goes by the heap asked for where none is set. A job's Java options
   * may hold secrets, so Hadoop's own answer is told and not what it comes from.
   */
  private String size(String set, TaskType kind) {
    if (set == null || !set.trim().matches("-.*|0+")) {
      return set;
    }
    try {
      Method rule = JobConf.class.getMethod("getMemoryRequired", TaskType.class);
      return rule.invoke(new JobConf(conf), kind).toString();
    } catch (ReflectiveOperationException e) {
      return set; // Hadoop 2 has no such rule
    }
  }
}
