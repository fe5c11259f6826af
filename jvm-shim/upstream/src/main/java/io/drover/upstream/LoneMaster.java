package io.drover.upstream;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.job.Job;
import org.apache.hadoop.util.VersionInfo;

/**
 * A cluster of one node for an ApplicationMaster that runs without one, as {@code MRApp} does: the
 * little that a ResourceManager would say, and its proxy with the job's own diagnostics.
 */
final class LoneMaster {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String HOST = "localhost";
  private static final int CONTAINERS = 16;
  private static final int CONTAINER_MB = 1024;
  private static final String CLUSTER = "/ws/v1/cluster/";
  private static final String JOBS = "/ws/v1/mapreduce/jobs/";

  private final long started = System.currentTimeMillis();
  private volatile Shown shown;

  /** A master, and since when there is one. */
  private record Shown(AppContext master, long since) {
    String app() {
      return master.getApplicationID().toString();
    }

    Optional<Job> job() {
      return master.getAllJobs().values().stream().findAny();
    }

    /** Containers that the master holds, its own included. */
    int containers() {
      return 1
          + (int)
              job().stream()
                  .flatMap(job -> job.getTasks().values().stream())
                  .flatMap(task -> task.getAttempts().values().stream())
                  .filter(attempt -> attempt.getState() == TaskAttemptState.RUNNING)
                  .count();
    }
  }

  /** Shows a master from now on; null when it has gone. */
  void show(AppContext master) {
    shown = master == null ? null : new Shown(master, System.currentTimeMillis());
  }

  /** A page of the cluster; null if it has no such page. */
  byte[] page(String path) throws JsonProcessingException {
    Shown now = shown;
    Object told =
        path.startsWith(CLUSTER)
            ? cluster(path.substring(CLUSTER.length()), now)
            : now == null ? null : behindProxy(path, now);
    return told == null ? null : JSON.writeValueAsBytes(told);
  }

  /**
   * The job's own page, but no times and no tasks: Hadoop's pages tell those by the machine's
   * clock, and here the master's is another.
   */
  private static Object behindProxy(String path, Shown now) {
    Job job = now.job().orElse(null);
    if (job == null || !path.equals("/proxy/" + now.app() + JOBS + job.getID())) {
      return null;
    }
    Map<String, Object> told = new LinkedHashMap<>();
    told.put("id", job.getID().toString());
    told.put("name", job.getName());
    told.put("user", job.getUserName());
    told.put("queue", job.getQueueName());
    told.put("state", job.getState().toString());
    told.put("mapsTotal", job.getTotalMaps());
    told.put("reducesTotal", job.getTotalReduces());
    told.put("uberized", job.isUber());
    told.put("diagnostics", String.join("", job.getDiagnostics()));
    return Map.of("job", told);
  }

  private Object cluster(String page, Shown now) {
    int used = now == null ? 0 : now.containers();
    String of = now == null ? "apps/none" : "apps/" + now.app();
    return switch (page) {
      case "info" -> Map.of("clusterInfo", info());
      case "metrics" -> Map.of("clusterMetrics", metrics(used));
      case "nodes" -> Map.of("nodes", Map.of("node", List.of(node(used))));
      case "scheduler" -> Map.of("scheduler", Map.of("schedulerInfo", queue(used)));
      case "apps" ->
          Map.of("apps", now == null ? Map.of() : Map.of("app", List.of(app(now, used))));
      default ->
          page.equals(of)
              ? Map.of("app", app(now, used))
              : page.equals(of + "/appattempts") ? attempts(now) : null;
    };
  }

  private Map<String, Object> info() {
    return Map.of(
        "startedOn", started, "haState", "ACTIVE", "hadoopVersion", VersionInfo.getVersion());
  }

  private static Map<String, Object> metrics(int used) {
    Map<String, Object> told = new LinkedHashMap<>();
    told.put("totalMB", CONTAINERS * CONTAINER_MB);
    told.put("totalVirtualCores", CONTAINERS);
    told.put("allocatedMB", used * CONTAINER_MB);
    told.put("allocatedVirtualCores", used);
    told.put("availableMB", (CONTAINERS - used) * CONTAINER_MB);
    told.put("availableVirtualCores", CONTAINERS - used);
    told.put("pendingMB", 0);
    told.put("pendingVirtualCores", 0);
    told.put("containersAllocated", used);
    told.put("containersPending", 0);
    told.put("activeNodes", 1);
    return told;
  }

  private static Map<String, Object> node(int used) {
    Map<String, Object> told = new LinkedHashMap<>();
    told.put("id", HOST + ":1234");
    told.put("rack", "/default-rack");
    told.put("state", "RUNNING");
    told.put("nodeHostName", HOST);
    told.put("lastHealthUpdate", System.currentTimeMillis());
    told.put("numContainers", used);
    told.put("usedMemoryMB", used * CONTAINER_MB);
    told.put("availMemoryMB", (CONTAINERS - used) * CONTAINER_MB);
    told.put("usedVirtualCores", used);
    told.put("availableVirtualCores", CONTAINERS - used);
    return told;
  }

  private static Map<String, Object> queue(int used) {
    return Map.of("type", "fifoScheduler", "usedCapacity", (double) used / CONTAINERS);
  }

  private static Map<String, Object> app(Shown now, int used) {
    Map<String, Object> told = new LinkedHashMap<>();
    told.put("id", now.app());
    told.put("user", now.master.getUser().toString());
    told.put("queue", "default");
    told.put("name", now.master.getApplicationName());
    told.put("state", now.job().isPresent() ? "RUNNING" : "ACCEPTED");
    told.put("finalStatus", "UNDEFINED");
    told.put("applicationType", "MAPREDUCE");
    told.put("startedTime", now.since);
    told.put("finishedTime", 0);
    told.put("elapsedTime", System.currentTimeMillis() - now.since);
    told.put("runningContainers", used);
    told.put("allocatedMB", used * CONTAINER_MB);
    told.put("allocatedVCores", used);
    return told;
  }

  private static Map<String, Object> attempts(Shown now) {
    int number = now.master.getApplicationAttemptId().getAttemptId();
    return Map.of("appAttempts", Map.of("appAttempt", List.of(Map.of("id", number))));
  }
}
