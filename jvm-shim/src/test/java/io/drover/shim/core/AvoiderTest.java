package io.drover.shim.core;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.v2.api.records.JobId;
import org.apache.hadoop.mapreduce.v2.util.MRBuilderUtils;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.event.Event;
import org.junit.Test;

/** What keeps a job's containers off hosts, beside a list that only looks like Hadoop's. */
public class AvoiderTest {
  /** The fields of Hadoop's that are looked at. */
  static final class Requestor {
    final Set<String> blacklistedNodes = new HashSet<>();
    final Set<String> blacklistRemovals = new HashSet<>();
    final AtomicBoolean ignoreBlacklisting = new AtomicBoolean();
    final int clusterNmCount = 10;
  }

  private final JobId job = MRBuilderUtils.newJobId(ApplicationId.newInstance(1_000, 1), 1);
  private final Requestor requestor = new Requestor();
  private final List<Event<?>> posted = new ArrayList<>();
  private final List<String> answers = new ArrayList<>();
  private long nanos;
  private boolean locked;
  private int asked;
  private Avoider avoider;

  private Avoider avoider() throws ReflectiveOperationException {
    avoider =
        new Avoider(
            new Blacklist(requestor, 33),
            () -> {
              asked++;
              locked |= Thread.holdsLock(avoider);
              return true;
            },
            () -> nanos,
            posted::add,
            ack -> answers.add(ack.toString()),
            job,
            new Configuration(false));
    return avoider;
  }

  private static Action avoid(String... hosts) {
    Action.Draft draft = new Action.Draft();
    draft.id = "a";
    draft.type = Action.AVOID;
    draft.deadlineMs = 500;
    draft.forMs = 1_000;
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

  @Test
  public void aHostThatIsListedLateIsLiftedAllTheSame() throws Exception {
    Avoider avoids = avoider();
    avoids.carryOut(avoid("slow"), null);
    assertEquals(3, posted.size());
    nanos = 1_000_000_000L;
    avoids.look();
    // What was posted is carried out only now.
    requestor.blacklistedNodes.add("slow");
    avoids.look();
    assertTrue(requestor.blacklistedNodes.isEmpty());
    assertTrue(requestor.blacklistRemovals.contains("slow"));
    nanos += 10_000_000_000L;
    avoids.look();
    requestor.blacklistedNodes.add("slow");
    avoids.look();
    assertEquals("Hadoop's own by then", Set.of("slow"), requestor.blacklistedNodes);
    assertEquals(List.of(), answers);
  }
}
