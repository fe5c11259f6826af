package io.drover.shim;

import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.jobhistory.JobHistoryEvent;
import org.apache.hadoop.mapreduce.jobhistory.JobHistoryEventHandler;
import org.apache.hadoop.mapreduce.v2.api.records.Phase;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.MRApp;
import org.apache.hadoop.mapreduce.v2.app.client.ClientService;
import org.apache.hadoop.mapreduce.v2.app.commit.CommitterEvent;
import org.apache.hadoop.mapreduce.v2.app.commit.CommitterTaskAbortEvent;
import org.apache.hadoop.mapreduce.v2.app.job.Job;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptContainerAssignedEvent;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptEvent;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptEventType;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptStatusUpdateEvent;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptStatusUpdateEvent.TaskAttemptStatus;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskEvent;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskEventType;
import org.apache.hadoop.mapreduce.v2.app.rm.ContainerAllocator;
import org.apache.hadoop.mapreduce.v2.app.rm.ContainerAllocatorEvent;
import org.apache.hadoop.mapreduce.v2.app.rm.ContainerFailedEvent;
import org.apache.hadoop.mapreduce.v2.app.rm.ContainerRequestEvent;
import org.apache.hadoop.mapreduce.v2.app.speculate.Speculator;
import org.apache.hadoop.mapreduce.v2.app.speculate.SpeculatorEvent;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.Token;
import org.apache.hadoop.yarn.event.AbstractEvent;
import org.apache.hadoop.yarn.event.AsyncDispatcher;
import org.apache.hadoop.yarn.event.Dispatcher;
import org.apache.hadoop.yarn.event.Event;
import org.apache.hadoop.yarn.event.EventHandler;
import org.apache.hadoop.yarn.util.Clock;

/** Hadoop's own AM harness, which a test drives by hand and which remembers its speculation. */
public final class Am extends MRApp {
  /** A clock that only the test moves. */
  public static final class TestClock implements Clock {
    private volatile long now = 1_000_000_000L;

    @Override
    public long getTime() {
      return now;
    }

    public void advance(long ms) {
      now += ms;
    }
  }

  private enum GateType {
    GATE
  }

  /** Holds the dispatcher until it is opened. */
  private static final class Gate extends AbstractEvent<GateType> {
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch opened = new CountDownLatch(1);

    Gate() {
      super(GateType.GATE);
    }

    void pass() {
      reached.countDown();
      try {
        opened.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** An action that can throw. */
  public interface Action {
    void run() throws Exception;
  }

  private final class Recorder extends AsyncDispatcher {
    @Override
    protected void dispatch(@SuppressWarnings("rawtypes") Event event) {
      if (event instanceof Gate gate) {
        gate.pass();
        return;
      }
      if (event instanceof SpeculatorEvent told) {
        events.add(describe(told));
      } else if (event instanceof TaskEvent order
          && order.getType() == TaskEventType.T_ADD_SPEC_ATTEMPT) {
        events.add("LAUNCH " + order.getTaskID());
      }
      super.dispatch(event);
    }

    boolean idle() {
      return isDrained();
    }
  }

  private static String describe(SpeculatorEvent event) {
    TaskAttemptStatus status = event.getReportedStatus();
    String what = event.getType() + " " + event.getTimestamp() + " " + event.getTaskID();
    return status == null
        ? what + " " + event.containersNeededChange() + " " + event.getJobID()
        : what + " " + status.id + " " + status.progress + " " + status.taskState;
  }

  /** What has not come by then hangs: a loaded machine takes its time over 20,000 tasks. */
  private static final long HANG_S = 120;

  /** Each run works in a directory of its own: the one before may still be tidying up. */
  private static final AtomicInteger RUNS = new AtomicInteger();

  /** Speculator events in the order of dispatch, and orders to launch a copy. */
  public final List<String> events = new CopyOnWriteArrayList<>();

  private final boolean writesHistory;
  private Recorder recorder;
  private Speculator speculator;
  private volatile TaskType held;
  private volatile Predicate<TaskAttemptId> unplaced = attempt -> false;
  private volatile boolean killsHang;
  private final AtomicInteger containers = new AtomicInteger();
  private final Map<TaskAttemptId, ContainerRequestEvent> requests = new ConcurrentHashMap<>();
  private final Queue<TaskAttemptId> withheld = new ConcurrentLinkedQueue<>();
  private volatile Function<TaskAttemptId, String> hosts = attempt -> NM_HOST;
  private volatile AmBlacklist blacklist;
  private Allocator allocator;
  private FullQueue queue;
  private volatile long startsAfterMs;
  private volatile int nodes;
  private Job job;

  public Am(int maps, int reduces, String name, int amAttempt, Clock clock) {
    super(maps, reduces, false, name + "-" + RUNS.incrementAndGet(), true, amAttempt, clock, null);
    writesHistory = false;
  }

  /** An AM that writes the job's history, or, from its second attempt on, recovers from it. */
  public Am(int maps, String folder, int amAttempt, Clock clock) {
    super(maps, 0, false, folder, amAttempt == 1, amAttempt, clock, null);
    writesHistory = true;
  }

  @Override
  protected EventHandler<JobHistoryEvent> createJobHistoryHandler(AppContext context) {
    return writesHistory
        ? new JobHistoryEventHandler(context, getStartCount())
        : super.createJobHistoryHandler(context);
  }

  /** The job's configuration with a speculator of a class name's choice. */
  public static Configuration conf(String speculatorClass, String... pairs) {
    Configuration conf = new Configuration();
    conf.set(MRJobConfig.MR_AM_JOB_SPECULATOR, speculatorClass);
    conf.set("drover.exchange.first-backoff-ms", "100");
    conf.set("drover.exchange.max-backoff-ms", "1000");
    for (int i = 0; i < pairs.length; i += 2) {
      conf.set(pairs[i], pairs[i + 1]);
    }
    return conf;
  }

  /** Starts the job and waits until every task runs. */
  public Am run(Configuration conf, boolean mapCopies, boolean reduceCopies) throws Exception {
    job = submit(conf, mapCopies, reduceCopies);
    await("all tasks to run", this::allRunning);
    drain();
    return this;
  }

  private boolean allRunning() {
    return job.getTasks().values().stream()
        .filter(task -> task.getType() != held && task.getState() != TaskState.SUCCEEDED)
        .filter(task -> task.getAttempts().keySet().stream().noneMatch(withheld::contains))
        .allMatch(
            task ->
                task.getAttempts().values().stream()
                    .anyMatch(attempt -> attempt.getState() == TaskAttemptState.RUNNING));
  }

  @Override
  protected Dispatcher createDispatcher() {
    recorder = new Recorder();
    return recorder;
  }

  @Override
  protected Speculator createSpeculator(Configuration conf, AppContext context) {
    speculator = super.createSpeculator(conf, context);
    return speculator;
  }

  /** Requests for this type are never answered. */
  public void holdContainers(TaskType type) {
    held = type;
  }

  /** Aborts end in the order in which they were asked for: Hadoop's threads keep none. */
  @Override
  protected EventHandler<CommitterEvent> createCommitterEventHandler(
      AppContext context, OutputCommitter committer) {
    EventHandler<CommitterEvent> hadoops = super.createCommitterEventHandler(context, committer);
    addIfService(hadoops);
    return event -> {
      if (event instanceof CommitterTaskAbortEvent abort) {
        if (!killsHang) {
          endKill(abort.getAttemptID());
        }
      } else {
        hadoops.handle(event);
      }
    };
  }

  /** From now on the AM has yet to take leave of the ResourceManager, as a real one that runs. */
  public void stayRegistered() {
    successfullyUnregistered.set(false);
  }

  /** What is killed from now on does not end before {@link #endKill}. */
  public void hangKills() {
    killsHang = true;
  }

  public void endKill(TaskAttemptId attempt) {
    post(new TaskAttemptEvent(attempt, TaskAttemptEventType.TA_CLEANUP_DONE));
  }

  @Override
  protected ContainerAllocator createContainerAllocator(ClientService client, AppContext context) {
    blacklist = new AmBlacklist(context).with(getConfig());
    nodes(nodes);
    allocator = new Allocator();
    return queue == null ? allocator : queue.allocator(context);
  }

  /** Hadoop's own allocator asks there for the job's containers. */
  void in(FullQueue of) {
    queue = of;
  }

  /** The AM's services take so long to start. */
  public void startAfter(long ms) {
    startsAfterMs = ms;
  }

  @Override
  protected void startJobs() {
    try {
      Thread.sleep(startsAfterMs);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    allocator.containerAllocator = blacklist;
    super.startJobs();
  }

  /** The AM's own list of hosts to keep off. */
  public AmBlacklist blacklist() {
    return blacklist;
  }

  /** How many nodes the ResourceManager knows. */
  public void nodes(int count) {
    nodes = count;
    try {
      if (blacklist != null) {
        blacklist.nodes(count);
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Requests of these attempts are not answered until they are released. */
  public void holdContainers(Predicate<TaskAttemptId> attempts) {
    unplaced = attempts;
  }

  /** Answers an attempt's request that was held. */
  public void releaseContainer(TaskAttempt attempt) {
    if (!withheld.remove(attempt.getID())) {
      throw new AssertionError(attempt.getID() + " has asked for no container");
    }
    assign(attempt.getID());
  }

  /** Hosts that an attempt asked for. */
  public List<String> asked(TaskAttempt attempt) {
    return List.of(requests.get(attempt.getID()).getHosts());
  }

  /** Racks that an attempt asked for. */
  public List<String> racksAsked(TaskAttempt attempt) {
    return List.of(requests.get(attempt.getID()).getRacks());
  }

  private void assign(TaskAttemptId attempt) {
    post(new TaskAttemptContainerAssignedEvent(attempt, container(hosts.apply(attempt)), null));
  }

  private Container container(String host) {
    NodeId node = NodeId.newInstance(host, NM_PORT);
    ContainerId id =
        ContainerId.newContainerId(
            getContext().getApplicationAttemptId(), containers.getAndIncrement());
    Resource size = Resource.newInstance(1024, 1);
    Token token = Token.newInstance(new byte[0], "kind", new byte[0], node.toString());
    return Container.newInstance(
        id, node, host + ":" + NM_HTTP_PORT, size, Priority.newInstance(0), token);
  }

  /** Where attempts are placed from now on. */
  public void place(Function<TaskAttemptId, String> onHosts) {
    hosts = onHosts;
  }

  private final class Allocator extends MRAppContainerAllocator {
    /** Where a real AM has its allocator, too, from when that has started. */
    private volatile AmBlacklist containerAllocator;

    @Override
    public void handle(ContainerAllocatorEvent event) {
      TaskAttemptId attempt = event.getAttemptID();
      if (event instanceof ContainerFailedEvent failed) {
        containerAllocator.failed(failed);
      }
      if (event instanceof ContainerRequestEvent request) {
        requests.put(attempt, request);
        if (attempt.getTaskId().getTaskType() == held) {
          return;
        }
        if (unplaced.test(attempt)) {
          withheld.add(attempt);
          return;
        }
        assign(attempt);
      }
    }
  }

  public Speculator speculator() {
    return speculator;
  }

  public Job job() {
    return job;
  }

  public Task task(TaskType type, int index) {
    return job.getTasks(type).values().stream()
        .filter(task -> task.getID().getId() == index)
        .findFirst()
        .orElseThrow();
  }

  /** Has the split of a map lie there. */
  public void splitOn(int map, String... hosts) throws Exception {
    MoveTest.setSplitHosts(task(TaskType.MAP, map), hosts);
  }

  /** The attempts of a task that run now. */
  public List<TaskAttempt> running(TaskType type, int index) {
    return task(type, index).getAttempts().values().stream()
        .filter(attempt -> attempt.getState() == TaskAttemptState.RUNNING)
        .toList();
  }

  @SuppressWarnings("unchecked")
  public void post(Event<?> event) {
    getContext().getEventHandler().handle(event);
  }

  public void signal(TaskAttempt attempt, TaskAttemptEventType type) {
    post(new TaskAttemptEvent(attempt.getID(), type));
  }

  /** A status update as the umbilical would deliver it. */
  public void update(TaskAttemptId id, float progress, Phase phase, Counters counters) {
    post(
        new TaskAttemptStatusUpdateEvent(
            id, new AtomicReference<>(status(id, progress, phase, counters))));
  }

  static TaskAttemptStatus status(
      TaskAttemptId id, float progress, Phase phase, Counters counters) {
    TaskAttemptStatus status = new TaskAttemptStatus();
    status.id = id;
    status.progress = progress;
    status.phase = phase;
    status.taskState = TaskAttemptState.RUNNING;
    status.stateString = "running";
    status.counters = counters;
    return status;
  }

  /** Waits until the dispatcher has nothing to do. */
  public void drain() throws InterruptedException {
    await("the dispatcher", recorder::idle);
  }

  /** Does something while the dispatcher waits, so that what it posts is handled afterwards. */
  public void whileHeld(Action action) throws Exception {
    Gate gate = new Gate();
    post(gate);
    gate.reached.await();
    try {
      action.run();
    } finally {
      gate.opened.countDown();
    }
  }

  public static void await(String what, BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + HANG_S * 1_000_000_000L;
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("waited " + HANG_S + " s in vain for " + what);
      }
      Thread.sleep(2);
    }
  }
}
