package io.drover.shim;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.mapreduce.v2.api.records.TaskState;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.job.Task;
import org.apache.hadoop.mapreduce.v2.app.job.TaskAttempt;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskAttemptEventType;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskEvent;
import org.apache.hadoop.mapreduce.v2.app.job.event.TaskEventType;
import org.apache.hadoop.mapreduce.v2.app.speculate.DefaultSpeculator;
import org.apache.hadoop.mapreduce.v2.app.speculate.SpeculatorEvent;
import org.apache.hadoop.yarn.event.EventHandler;
import org.junit.BeforeClass;
import org.junit.Test;

/**
 * Hadoop's own speculator, held and handed back at arbitrary moments of a scripted job: it never
 * launches while it is held, learns all the while, and never launches more than it does alone.
 */
public class HandOverTest {
  private static final int LIVES = 8;

  private static ScriptedJob alone;

  @BeforeClass
  public static void runAlone() throws Exception {
    alone = ScriptedJob.run(DefaultSpeculator.class, "", (step, am, hadoop) -> {});
    assertTrue("the script must make Hadoop speculate", alone.launches() >= 5);
  }

  /** Holds the native speculator as its plan says, and checks it at every step. */
  private static final class Holder implements ScriptedJob.Hook {
    private final boolean[] plan;
    private final AtomicBoolean held = new AtomicBoolean();
    private long launchesBefore;
    private long heldCount;
    private long launchedCount;

    Holder(boolean[] plan) {
      this.plan = plan;
    }

    @Override
    public void at(int step, Am am, DefaultSpeculator hadoop) {
      long launches = am.events.stream().filter(event -> event.startsWith("LAUNCH")).count();
      if (held.get()) {
        assertEquals("launches while held, before step " + step, launchesBefore, launches);
      }
      launchesBefore = launches;
      NativeSpeculator speculator = (NativeSpeculator) hadoop;
      heldCount = speculator.applyAsLong("held");
      launchedCount = speculator.applyAsLong("launched");
      assertEquals(launches, launchedCount);
      held.set(step < plan.length && plan[step]);
      speculator.accept(held::get);
    }
  }

  private static ScriptedJob run(Holder holder) throws Exception {
    ScriptedJob run = ScriptedJob.run(NativeSpeculator.class, "", holder);
    assertTrue(
        run.launches() + " launches, alone " + alone.launches(),
        run.launches() <= alone.launches());
    return run;
  }

  @Test
  public void neverHeldItLaunchesAsAlone() throws Exception {
    Holder never = new Holder(new boolean[0]);
    assertEquals(alone.events(), run(never).events());
    assertEquals(0, never.heldCount);
  }

  @Test
  public void heldThroughoutItLaunchesNothingAndIsToldEverything() throws Exception {
    boolean[] plan = new boolean[ScriptedJob.STEPS + 2];
    java.util.Arrays.fill(plan, true);
    Holder always = new Holder(plan);
    ScriptedJob run = run(always);
    assertEquals(0, run.launches());
    assertTrue("wanted " + always.heldCount, always.heldCount >= alone.launches());
    long enrolled = run.told().stream().filter(line -> line.startsWith("enroll")).count();
    assertEquals(26, enrolled);
  }

  @Test
  public void handedOverAndBackAtAnyMomentsItLaunchesNoMoreThanAlone() throws Exception {
    Random random = new Random(20_260_101);
    long held = 0;
    long launched = 0;
    for (int life = 0; life < LIVES; life++) {
      boolean[] plan = new boolean[ScriptedJob.STEPS + 2];
      boolean now = random.nextBoolean();
      for (int step = 0; step < plan.length; step++) {
        now ^= random.nextInt(5) == 0;
        plan[step] = now;
      }
      Holder holder = new Holder(plan);
      run(holder);
      held += holder.heldCount;
      launched += holder.launchedCount;
    }
    assertTrue("the plans must hold some launches and let some pass", held > 0 && launched > 0);
  }

  @Test
  public void anOwnerThatCannotAnswerHoldsNothing() throws Exception {
    BooleanSupplier broken =
        () -> {
          throw new NoClassDefFoundError("gone");
        };
    ScriptedJob run =
        ScriptedJob.run(
            NativeSpeculator.class,
            "",
            (step, am, hadoop) -> ((NativeSpeculator) hadoop).accept(broken));
    assertEquals(alone.events(), run.events());
  }

  @Test
  public void aTaskThatItsOwnerCopiedWhileItWasJudgedGetsNoThirdAttempt() throws Exception {
    int[] copied = new int[1];
    ScriptedJob run =
        ScriptedJob.run(
            NativeSpeculator.class,
            "",
            (step, am, hadoop) ->
                ((NativeSpeculator) hadoop)
                    .accept(
                        () -> {
                          copied[0] += copyEveryMap(am);
                          return false;
                        }));
    assertTrue("the owner must have copied something", copied[0] > 0);
    assertTrue(run.attempts().toString(), run.attempts().stream().allMatch(n -> n <= 2));
  }

  @Test
  public void besideACopyThatCommitsForLongItLaunchesAsAlone() throws Exception {
    ScriptedJob.Hook alone = (step, am, hadoop) -> haveCopiesCommit(am, hadoop);
    ScriptedJob.Hook unowned =
        (step, am, hadoop) -> {
          ((NativeSpeculator) hadoop).accept(() -> false);
          haveCopiesCommit(am, hadoop);
        };
    ScriptedJob hadoops = ScriptedJob.run(DefaultSpeculator.class, "", alone);
    assertTrue(
        "Hadoop must launch beside one that commits",
        hadoops.attempts().stream().anyMatch(n -> n > 2));
    assertEquals(hadoops.events(), ScriptedJob.run(NativeSpeculator.class, "", unowned).events());
  }

  /** As soon as they run: with the script's next step they would be done. */
  private static void haveCopiesCommit(Am am, DefaultSpeculator hadoop) throws Exception {
    ScriptedJob.scan(am, hadoop);
    for (Task task : am.job().getTasks(TaskType.MAP).values()) {
      for (TaskAttempt attempt : am.running(TaskType.MAP, task.getID().getId())) {
        if (attempt.getID().getId() > 0) {
          am.signal(attempt, TaskAttemptEventType.TA_COMMIT_PENDING);
          am.drain();
        }
      }
    }
  }

  /** A copy for each running map without one; how many. A Task does not say. */
  @SuppressWarnings("unchecked")
  private static int copyEveryMap(Am am) {
    int copied = 0;
    for (Task task : am.job().getTasks(TaskType.MAP).values()) {
      if (task.getState() == TaskState.RUNNING && task.getAttempts().size() == 1) {
        ((EventHandler<TaskEvent>) task)
            .handle(new TaskEvent(task.getID(), TaskEventType.T_ADD_SPEC_ATTEMPT));
        copied++;
      }
    }
    return copied;
  }

  @Test
  public void aServiceHoldsItByItsLeaseAndLosesItBySilence() throws Exception {
    try (FakeService service = new FakeService()) {
      service.leaseMs = 60_000;
      int silence = 30;
      ScriptedJob run =
          ScriptedJob.run(
              DroverSpeculator.class,
              service.url(),
              (step, am, hadoop) -> {
                if (step == 1) {
                  service.awaitLease(true);
                } else if (step == silence) {
                  assertEquals(0, ((NativeSpeculator) hadoop).applyAsLong("launched"));
                  assertTrue(((NativeSpeculator) hadoop).applyAsLong("held") > 0);
                  service.leaseMs = 1_000;
                  service.awaitExchange();
                  service.silent = true;
                  service.awaitLease(false);
                }
              });
      assertTrue(run.launches() > 0 && run.launches() <= alone.launches());
      assertEquals(java.util.List.of(), service.faults);
      long held = service.last().path("native").path("held").asLong();
      assertTrue("said " + held, held > 0);
    }
  }

  @Test
  public void droversOwnEventsNeverReachHadoopsSpeculator() throws Exception {
    java.util.List<Thread> ran = new java.util.concurrent.CopyOnWriteArrayList<>();
    ScriptedJob run =
        ScriptedJob.run(
            DroverSpeculator.class,
            "",
            (step, am, hadoop) -> am.post(new Hop(am, () -> ran.add(Thread.currentThread()))));
    assertEquals(alone.told(), run.told());
    assertEquals("nobody listens without a service", 0, ran.size());
  }

  /** As the core makes them: of the type JOB_CREATE, which would make Hadoop forget everything. */
  private static final class Hop extends SpeculatorEvent implements Runnable {
    private final Runnable what;

    Hop(Am am, Runnable what) {
      super(am.job().getID(), 0);
      this.what = what;
    }

    @Override
    public void run() {
      what.run();
    }
  }
}
