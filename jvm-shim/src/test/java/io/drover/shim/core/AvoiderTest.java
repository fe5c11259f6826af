package io.drover.shim.core;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.v2.api.records.JobId;
import org.apache.hadoop.mapreduce.v2.app.rm.ContainerFailedEvent;
import org.apache.hadoop.mapreduce.v2.app.rm.RMHeartbeatHandler;
import org.apache.hadoop.mapreduce.v2.util.MRBuilderUtils;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.event.Event;
import org.junit.Test;

/** What keeps a job's containers off hosts, beside a list that only looks like Hadoop's. */
public class AvoiderTest {
  /** What of Hadoop's is looked at. */
  static final class Requestor implements RMHeartbeatHandler {
    final Set<String> blacklistedNodes = new HashSet<>();
    final Set<String> blacklistRemovals = new HashSet<>();
    final AtomicBoolean ignoreBlacklisting = new AtomicBoolean();
    final Map<String, Integer> nodeFailures = new HashMap<>();
    final int clusterNmCount = 10;
    private final Queue<Runnable> callbacks = new ArrayDeque<>();

    @Override
    public long getLastHeartbeatTime() {
      return 0;
    }

    @Override
    public void runOnNextHeartbeat(Runnable callback) {
      callbacks.add(callback);
    }

    /** A heartbeat ends: Hadoop forgets what it was to tell, whenever that was said. */
    void endHeartbeat() {
      blacklistRemovals.clear();
      for (Runnable next = callbacks.poll(); next != null; next = callbacks.poll()) {
        next.run();
      }
    }

    /** Hadoop counts what was posted. */
    void count(List<Event<?>> posted) {
      for (Event<?> event : posted) {
        blacklistedNodes.add(((ContainerFailedEvent) event).getContMgrAddress().split(":")[0]);
      }
      posted.clear();
    }
  }

  private final JobId job = MRBuilderUtils.newJobId(ApplicationId.newInstance(1_000, 1), 1);
  private final Requestor requestor = new Requestor();
  private final List<Event<?>> posted = new ArrayList<>();
  private final List<String> answers = new ArrayList<>();
  private long nanos;
  private boolean locked;
  private boolean starves;
  private long forMs = 1_000;
  private int limitPercent = 33;
  private int asked;
  private int most = 100;
  private Avoider avoider;

  private Avoider avoider() throws ReflectiveOperationException {
    avoider =
        new Avoider(
            new Blacklist(requestor, limitPercent),
            () -> {
              asked++;
              locked |= Thread.holdsLock(avoider);
              return true;
            },
            () -> starves,
            () -> nanos,
            event -> {
              if (posted.size() == most) {
                throw new IllegalStateException("test");
              }
              posted.add(event);
            },
            ack -> answers.add(ack.toString()),
            job,
            new Configuration(false));
    return avoider;
  }

  private Action avoid(String... hosts) {
    Action.Draft draft = new Action.Draft();
    draft.id = "a";
    draft.type = Action.AVOID;
    draft.deadlineMs = 500;
    draft.forMs = forMs;
    draft.avoid = Set.of(hosts);
    return new Action(draft);
  }

  @Test
  public void theLeaseIsNeverAskedWithTheMonitorThatAnActionWaitsFor() throws Exception {
    Avoider avoids = avoider();
    avoids.look();
    assertEquals("not while nothing is avoided", 0, asked);
    assertEquals("a applied []", avoids.carryOut(avoid("slow"), null).toString());
    avoids.look();
    assertEquals(1, asked);
    assertFalse("whoever acts holds the lease and waits for this monitor", locked);
  }

  private void lookAfter(Avoider avoids, long seconds) {
    nanos += seconds * 1_000_000_000L;
    avoids.look();
  }

  @Test
  public void aJobThatOnlyWaitsForAMinuteIsLetInAgain() throws Exception {
    forMs = 3_600_000;
    Avoider avoids = avoider();
    avoids.carryOut(avoid("slow"), null);
    requestor.count(posted);
    starves = true;
    lookAfter(avoids, 1);
    starves = false;
    lookAfter(avoids, 60);
    starves = true;
    lookAfter(avoids, 1);
    lookAfter(avoids, 59);
    assertEquals("not yet a whole minute", Set.of("slow"), requestor.blacklistedNodes);
    lookAfter(avoids, 1);
    assertEquals(Set.of(), requestor.blacklistedNodes);
    lookAfter(avoids, 60);
    assertEquals("once", List.of("a too_many_nodes []"), answers);
  }

  @Test
  public void aJobThatHadWaitedBeforeTheOrderIsGivenItsMinute() throws Exception {
    forMs = 3_600_000;
    Avoider avoids = avoider();
    starves = true;
    avoids.carryOut(avoid("slow"), null);
    avoids.look();
    lookAfter(avoids, 59);
    avoids.carryOut(avoid("slow", "lame"), null);
    lookAfter(avoids, 59);
    assertEquals(List.of(), answers);
  }

  @Test
  public void aJobThatSetsNoLimitHasAThirdOfTheNodesAvoidedAtMost() throws Exception {
    for (int limit : new int[] {-1, 100}) {
      limitPercent = limit;
      Avoider avoids = avoider();
      assertNull(avoids.refusal(avoid("a", "b", "c"), null));
      assertEquals(Ack.TOO_MANY_NODES, avoids.refusal(avoid("a", "b", "c", "d"), null));
    }
  }

  @Test
  public void aHostThatIsListedLateIsLiftedAllTheSame() throws Exception {
    Avoider avoids = avoider();
    avoids.carryOut(avoid("slow"), null);
    assertEquals(3, posted.size());
    lookAfter(avoids, 1);
    // A heartbeat that lasts long keeps Hadoop from counting.
    lookAfter(avoids, 60);
    requestor.endHeartbeat();
    requestor.count(posted);
    assertEquals(Set.of("slow"), requestor.blacklistedNodes);
    avoids.look();
    requestor.endHeartbeat();
    assertEquals(Set.of(), requestor.blacklistedNodes);
    assertEquals(Set.of("slow"), requestor.blacklistRemovals);
    avoids.look();
    assertFalse(avoids.busy());
    requestor.blacklistedNodes.add("slow");
    requestor.endHeartbeat();
    assertEquals("Hadoop's own by then", Set.of("slow"), requestor.blacklistedNodes);
    assertEquals(List.of(), answers);
  }

  @Test
  public void aLiftIsToldAfterTheHeartbeatThatForgetsItHoweverLongThatLasts() throws Exception {
    Avoider avoids = avoider();
    avoids.carryOut(avoid("slow"), null);
    requestor.count(posted);
    lookAfter(avoids, 1);
    assertEquals("at once", Set.of("slow"), requestor.blacklistRemovals);
    lookAfter(avoids, 3_600);
    requestor.endHeartbeat();
    assertEquals("and again", Set.of("slow"), requestor.blacklistRemovals);
    requestor.endHeartbeat();
    avoids.look();
    assertEquals("not for ever", Set.of(), requestor.blacklistRemovals);
    assertFalse(avoids.busy());
  }

  @Test
  public void hostsThatHadoopHasYetToListAreOfTheThirdAsWell() throws Exception {
    Avoider avoids = avoider();
    avoids.carryOut(avoid("a", "b", "c"), null);
    assertNull("the same", avoids.refusal(avoid("a", "b", "c"), null));
    String refused = avoids.refusal(avoid("c", "d"), null);
    assertEquals("a and b are still to be listed", Ack.TOO_MANY_NODES, refused);
    requestor.count(posted);
    assertNull("they are off at once", avoids.refusal(avoid("c", "d"), null));
  }

  @Test
  public void whatWaitsToBeCountedIsNotPostedOnceMore() throws Exception {
    Avoider avoids = avoider();
    for (int i = 0; i < 10; i++) {
      avoids.carryOut(avoid("slow"), null);
      avoids.carryOut(avoid(), null);
    }
    assertEquals(3, posted.size());
    avoids.carryOut(avoid("slow"), null);
    requestor.count(posted);
    assertEquals(Set.of("slow"), requestor.blacklistedNodes);
  }

  @Test
  public void whatHadoopItselfCountsAfterALiftStaysAndWhatItListsHasOneFailureLeft()
      throws Exception {
    Avoider avoids = avoider();
    avoids.carryOut(avoid("slow", "lame"), null);
    requestor.count(posted);
    avoids.carryOut(avoid(), null);
    requestor.blacklistedNodes.add("slow");
    requestor.nodeFailures.put("lame", 2);
    requestor.endHeartbeat();
    assertEquals("the ResourceManager lets it in", Set.of(), requestor.blacklistedNodes);
    assertEquals(Map.of("lame", 2, "slow", 2), requestor.nodeFailures);
    avoids.look();
    assertFalse(avoids.busy());
  }

  @Test
  public void aHostThatIsLiftedWhileHadoopCountsTheLastOfDroversFailuresIsLiftedAllTheSame()
      throws Exception {
    Avoider avoids = avoider();
    avoids.carryOut(avoid("slow"), null);
    posted.forEach(event -> ((ContainerFailedEvent) event).getContMgrAddress());
    avoids.carryOut(avoid(), null);
    requestor.blacklistedNodes.add("slow"); // by the last of them, which it was asked for before
    requestor.endHeartbeat();
    assertEquals(Set.of(), requestor.blacklistedNodes);
    assertEquals("none of Drover's counts", Map.of(), requestor.nodeFailures);
  }

  @Test
  public void allHostsCanBeLetInWhateverTheListBears() throws Exception {
    Avoider avoids = avoider();
    avoids.carryOut(avoid("a", "b", "c"), null);
    requestor.ignoreBlacklisting.set(true);
    assertNull(avoids.refusal(avoid(), null));
  }

  @Test
  public void noFurtherHostIsListedOnceHadoopHasDroppedTheList() throws Exception {
    Avoider avoids = avoider();
    requestor.blacklistedNodes.add("a");
    requestor.ignoreBlacklisting.set(true);
    assertEquals(Ack.TOO_MANY_NODES, avoids.refusal(avoid("a", "b"), null));
    assertNull("none that is not on it", avoids.refusal(avoid("a"), null));
  }

  @Test
  public void aHostThatCouldNotBeListedIsNotForgotten() throws Exception {
    most = 1;
    Avoider avoids = avoider();
    assertThrows(IllegalStateException.class, () -> avoids.carryOut(avoid("slow"), null));
    requestor.count(posted);
    lookAfter(avoids, 1);
    requestor.endHeartbeat();
    assertEquals(Set.of(), requestor.blacklistedNodes);
    avoids.look();
    assertFalse(avoids.busy());
  }

  @Test
  public void aHostThatHadoopListsBeforeTheOrderIsCountedStaysHadoops() throws Exception {
    Avoider avoids = avoider();
    avoids.carryOut(avoid("slow"), null);
    requestor.blacklistedNodes.add("slow");
    requestor.count(posted);
    lookAfter(avoids, 60);
    requestor.endHeartbeat();
    assertEquals(Set.of("slow"), requestor.blacklistedNodes);
    assertEquals(Set.of(), requestor.blacklistRemovals);
    assertFalse(avoids.busy());
  }
}
