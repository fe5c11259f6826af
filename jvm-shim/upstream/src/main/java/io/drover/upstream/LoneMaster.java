package io.drover.upstream;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.job.Job;
import org.apache.hadoop.mapreduce.v2.app.webapp.AMWebApp;
import org.apache.hadoop.util.VersionInfo;
import org.apache.hadoop.yarn.webapp.WebApp;
import org.apache.hadoop.yarn.webapp.WebApps;

/**
 * A cluster of one node for an ApplicationMaster that runs without one, as {@code MRApp} does: the
 * little that a ResourceManager would say, and the master's own, real pages behind its proxy.
 */
final class LoneMaster {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String HOST = "localhost";
  private static final int CONTAINERS = 16;
  private static final int CONTAINER_MB = 1024;
  private static final String CLUSTER = "/ws/v1/cluster/";

  private final long started = System.currentTimeMillis();
  private final WebApp pages;
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

  /** The pages of whichever master is shown, up before there is one: it must not wait for them. */
  LoneMaster() {
    Object current =
        Proxy.newProxyInstance(
            AppContext.class.getClassLoader(), new Class<?>[] {AppContext.class}, this::ask);
    pages =
        WebApps.$for("mapreduce", AppContext.class, (AppContext) current, "ws")
            .at(HOST, 0, true)
            .start(new AMWebApp());
  }

  private Object ask(Object proxy, Method what, Object[] arguments) throws Throwable {
    Shown now = shown;
    if (now == null) {
      return what.getReturnType() == Map.class ? Map.of() : null;
    }
    try {
      return what.invoke(now.master, arguments);
    } catch (InvocationTargetException thrown) {
      throw thrown.getCause();
    }
  }

  /** Shows a master from now on; null when it has gone. */
  void show(AppContext master) {
    shown = master == null ? null : new Shown(master, System.currentTimeMillis());
  }

  /** Where a page of the master is; its path begins with {@code /ws/}. */
  URI pageOfMaster(String path) {
    return URI.create("http://" + HOST + ":" + pages.port() + path);
  }

  /** Where a page behind the proxy really is; null if it is no page of the running master. */
  URI behindProxy(URI asked) {
    Shown now = shown;
    if (now == null || now.job().isEmpty()) {
      return null;
    }
    String proxy = "/proxy/" + now.app();
    return asked.getPath().startsWith(proxy + "/")
        ? pageOfMaster(asked.toString().substring(proxy.length()))
        : null;
  }

  /** A page of the ResourceManager; null if it has no such page. */
  byte[] cluster(String path) throws JsonProcessingException {
    if (!path.startsWith(CLUSTER)) {
      return null;
    }
    Shown now = shown;
    int used = now == null ? 0 : now.containers();
    String of = now == null ? "apps/none" : "apps/" + now.app();
    String page = path.substring(CLUSTER.length());
    Object told =
        switch (page) {
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
    return told == null ? null : JSON.writeValueAsBytes(told);
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
