package io.drover.shim.core;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.Test;

/** Racks of hosts, where asking for one takes its time. */
public class RacksTest {
  private final List<String> asked = new CopyOnWriteArrayList<>();
  private CountDownLatch answers = new CountDownLatch(0);

  private String resolve(String host) {
    asked.add(host);
    try {
      answers.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    if (host.startsWith("bad")) {
      throw new IllegalStateException("no such host");
    }
    return "/" + host;
  }

  private long nanos;

  private final Racks racks = new Racks(this::resolve, () -> nanos);

  private final Racks hasty = new Racks(this::resolve, System::nanoTime);

  @Test
  public void eachHostIsAskedForOnceAndOnlyAsManyAsThereAreCopies() {
    racks.begin();
    nanos = -TimeUnit.SECONDS.toNanos(60); // time enough, however busy the machine is
    assertEquals(Map.of("a", "/a"), racks.of(List.of("a", "bad", "c"), 2));
    assertEquals(Map.of("a", "/a"), racks.of(List.of("a", "bad"), 8));
    assertEquals(Map.of(), racks.of(List.of(), 8));
    assertEquals(List.of("a", "bad"), asked);
  }

  private static List<String> hosts(int count) {
    return IntStream.range(0, count).mapToObj(i -> "h" + i).toList();
  }

  @Test(timeout = 60_000)
  public void onceItsHalfSecondIsSpentAnAnswerWaitsForNoneOfItsHosts() {
    answers = new CountDownLatch(1);
    racks.begin();
    nanos = TimeUnit.MILLISECONDS.toNanos(500);
    for (int i = 0; i < 3; i++) { // half a second for each host would take minutes
      assertEquals(Map.of(), racks.of(hosts(150), 150));
    }
    answers.countDown();
  }

  @Test
  public void noMoreThanTenThousandHostsAreRememberedAndThoseStayKnown() {
    racks.begin();
    nanos = -TimeUnit.SECONDS.toNanos(60);
    hosts(10_001).forEach(host -> racks.of(List.of(host), 1));
    assertEquals(10_000, asked.size());
    assertEquals(Map.of("h0", "/h0"), racks.of(List.of("h0", "h10000"), 2));
  }

  @Test(timeout = 60_000)
  public void aNameServerThatHangsHoldsAnAnswerUpForHalfASecondInAllAndServesTheNext()
      throws Exception {
    answers = new CountDownLatch(1);
    long began = System.nanoTime();
    hasty.begin();
    assertEquals(Map.of(), hasty.of(List.of("a", "b", "c"), 3));
    assertEquals(Map.of(), hasty.of(List.of("d", "a"), 2));
    long took = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
    assertTrue("took " + took + " ms", took >= 500);
    assertEquals("by one thread", List.of("a"), asked);
    answers.countDown();
    Map<String, String> known = Map.of();
    while (known.size() < 4) { // known at once, without any patience, once they have come
      known = hasty.of(List.of("a", "b", "c", "d"), 4);
    }
    assertEquals(Map.of("a", "/a", "b", "/b", "c", "/c", "d", "/d"), known);
    assertEquals(List.of("a", "b", "c", "d"), asked);
  }

  @Test(timeout = 60_000)
  public void hostsThatAreAskedForInVainAreBoundedAndWhatFoundNoPlaceIsAskedForLater()
      throws Exception {
    answers = new CountDownLatch(1);
    List<String> hosts = hosts(150);
    assertEquals(Map.of(), hasty.of(hosts, 150));
    answers.countDown();
    while (hasty.of(hosts, 101).size() < 101) {
      Thread.sleep(10);
    }
    assertFalse("beyond the bound", asked.contains("h101"));
    while (hasty.of(hosts, 150).size() < 150) {
      Thread.sleep(10);
    }
    assertEquals("each once", 150, asked.size());
  }
}
