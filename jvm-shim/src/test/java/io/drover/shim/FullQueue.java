package io.drover.shim;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.job.Job;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.app.rm.ContainerAllocator;
import org.apache.hadoop.mapreduce.v2.app.rm.RMContainerAllocator;
import org.apache.hadoop.mapreduce.v2.app.rm.preemption.NoopAMPreemptionPolicy;
import org.apache.hadoop.yarn.api.ApplicationMasterProtocol;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateRequest;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.protocolrecords.FinishApplicationMasterRequest;
import org.apache.hadoop.yarn.api.protocolrecords.FinishApplicationMasterResponse;
import org.apache.hadoop.yarn.api.protocolrecords.RegisterApplicationMasterRequest;
import org.apache.hadoop.yarn.api.protocolrecords.RegisterApplicationMasterResponse;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.api.records.Token;

/**
 * A ResourceManager of so many containers for Hadoop's own allocator, in whose place the harness
 * else has one that never preempts. From some moment on another job has all that falls free.
 */
final class FullQueue implements ApplicationMasterProtocol {
  private static final Resource SIZE = Resource.newInstance(1024, 1);
  private static final NodeId NODE = NodeId.newInstance("localhost", 1);

  private final Map<Priority, Integer> asked = new TreeMap<>();
  private final Map<ContainerId, Container> held = new HashMap<>();
  private final AtomicInteger heartbeats = new AtomicInteger();
  private AppContext context;
  private int free;
  private int given;
  private boolean crowded;

  FullQueue(int places) {
    free = places;
  }

  /** Hadoop's own, which asks this one. */
  ContainerAllocator allocator(AppContext am) {
    context = am;
    return new RMContainerAllocator(null, am, new NoopAMPreemptionPolicy()) {
      @Override
      protected ApplicationMasterProtocol createSchedulerProxy() {
        return FullQueue.this;
      }
    };
  }

  /** Another job waits, and has whatever falls free from now on. */
  synchronized void crowd() {
    crowded = true;
  }

  /** How many containers the job has. */
  synchronized int held() {
    return held.size();
  }

  /** So many heartbeats pass. */
  void beat(int times) throws InterruptedException {
    int goal = heartbeats.get() + times;
    Am.await("heartbeats", () -> heartbeats.get() >= goal);
  }

  @Override
  public RegisterApplicationMasterResponse registerApplicationMaster(
      RegisterApplicationMasterRequest request) {
    return RegisterApplicationMasterResponse.newInstance(
        SIZE, SIZE, Map.of(), null, List.of(), "default", List.of());
  }

  @Override
  public FinishApplicationMasterResponse finishApplicationMaster(
      FinishApplicationMasterRequest request) {
    return FinishApplicationMasterResponse.newInstance(true);
  }

  @Override
  public synchronized AllocateResponse allocate(AllocateRequest request) {
    heartbeats.incrementAndGet();
    for (ResourceRequest ask : request.getAskList()) {
      if (ask.getResourceName().equals(ResourceRequest.ANY)) {
        asked.put(ask.getPriority(), ask.getNumContainers());
      }
    }
    request.getReleaseList().forEach(this::end);
    List<ContainerStatus> ended = new ArrayList<>();
    Set<ContainerId> used = used();
    for (ContainerId container : List.copyOf(held.keySet())) {
      if (!used.contains(container)) {
        end(container);
        ended.add(ContainerStatus.newInstance(container, ContainerState.COMPLETE, "", 0));
      }
    }
    List<Container> fresh = give();
    Resource left = Resource.newInstance(free * SIZE.getMemorySize(), free);
    return AllocateResponse.newInstance(
        request.getResponseId() + 1, ended, fresh, List.of(), left, null, 1, null, List.of());
  }

  /** All but those whose attempts have ended. */
  private Set<ContainerId> used() {
    Set<ContainerId> used = held.keySet().stream().collect(Collectors.toSet());
    Job job = context.getAllJobs().values().iterator().next();
    job.getTasks().values().stream()
        .flatMap(task -> task.getAttempts().values().stream())
        .filter(TaskAttempt::isFinished)
        .forEach(attempt -> used.remove(attempt.getAssignedContainerID()));
    return used;
  }

  private void end(ContainerId container) {
    if (held.remove(container) != null && !crowded) {
      free++;
    }
  }

  /** Of lower numbers first, as YARN has priorities. */
  private List<Container> give() {
    List<Container> fresh = new ArrayList<>();
    List<Priority> urgent = new ArrayList<>(asked.keySet());
    urgent.sort((a, b) -> Integer.compare(a.getPriority(), b.getPriority()));
    for (Priority priority : urgent) {
      for (int wanted = asked.get(priority); wanted > 0 && free > 0; wanted--) {
        free--;
        asked.merge(priority, -1, Integer::sum);
        fresh.add(container(priority));
      }
    }
    fresh.forEach(container -> held.put(container.getId(), container));
    return fresh;
  }

  private Container container(Priority priority) {
    ContainerId id = ContainerId.newContainerId(context.getApplicationAttemptId(), ++given);
    Token token = Token.newInstance(new byte[0], "kind", new byte[0], NODE.toString());
    return Container.newInstance(id, NODE, NODE.toString(), SIZE, priority, token);
  }
}
