package io.drover.shim;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.Before;
import org.junit.Test;

/** Hosts that a service has a job's new containers kept off, on the AM's own blacklist. */
public class AvoidTest extends LeasedJob {
  @Before
  public void tenNodes() {
    am.nodes(10);
  }

  private static String avoid(String hosts, long forMs) {
    return "'type':'avoid','deadline_ms':30000,'avoid':[" + hosts + "],'for_ms':" + forMs;
  }

  private void awaitListed(String host, boolean listed) throws InterruptedException {
    Am.await(host + " listed " + listed, () -> am.blacklist().keepsOff(host) == listed);
  }

  @Test
  public void aHostIsListedAsHadoopListsOneAndLiftedByTheNextWord() throws Exception {
    run();
    assertEquals("applied", outcome(avoid("'slow','lame'", 60_000)));
    awaitListed("slow", true);
    awaitListed("lame", true);
    assertEquals("applied", outcome(avoid("'lame'", 60_000)));
    assertFalse(am.blacklist().keepsOff("slow"));
    assertTrue("the ResourceManager is told", am.blacklist().tellsRemoved("slow"));
    assertTrue(am.blacklist().keepsOff("lame"));
    assertEquals("applied", outcome(avoid("", 60_000)));
    assertFalse(am.blacklist().keepsOff("lame"));
    assertJobSucceeds();
  }

  @Test
  public void aHostIsLiftedWhenItsTimeIsOver() throws Exception {
    run();
    assertEquals("applied", outcome(avoid("'slow'", 10_000)));
    awaitListed("slow", true);
    awaitListed("slow", false);
    assertJobSucceeds();
  }

  @Test
  public void aHostIsLiftedWhenTheJobIsHadoopsAgain() throws Exception {
    run();
    service.act("long", avoid("'slow'", 60_000));
    assertEquals("applied", service.outcome("long"));
    awaitListed("slow", true);
    service.leaseMs = 0;
    awaitListed("slow", false);
    Am.await("the word", () -> service.knownOutcome("long").equals("not_leased"));
    assertJobSucceeds();
  }

  @Test
  public void aHostThatIsListedAgainSoonIsNotToldToBeTakenOffAsWell() throws Exception {
    run();
    assertEquals("applied", outcome(avoid("'slow'", 60_000)));
    awaitListed("slow", true);
    assertEquals("applied", outcome(avoid("", 60_000)));
    assertTrue(am.blacklist().tellsRemoved("slow"));
    assertEquals("applied", outcome(avoid("'slow'", 60_000)));
    awaitListed("slow", true);
    assertFalse("the ResourceManager would forget it", am.blacklist().tellsRemoved("slow"));
    am.blacklist().beat();
    assertTrue(am.blacklist().keepsOff("slow"));
    assertFalse(am.blacklist().tellsRemoved("slow"));
    assertJobSucceeds();
  }

  @Test
  public void aRemovalThatAHeartbeatForgetsIsToldAgain() throws Exception {
    run();
    assertEquals("applied", outcome(avoid("'slow'", 60_000)));
    awaitListed("slow", true);
    assertEquals("applied", outcome(avoid("", 1)));
    am.blacklist().beat();
    assertTrue("the removal again", am.blacklist().tellsRemoved("slow"));
    am.blacklist().beat();
    assertFalse("it was told", am.blacklist().tellsRemoved("slow"));
    assertJobSucceeds();
  }

  private static List<StackTraceElement[]> exchangeThreads() {
    return Thread.getAllStackTraces().entrySet().stream()
        .filter(thread -> thread.getKey().getName().equals("drover-exchange"))
        .map(Map.Entry::getValue)
        .toList();
  }

  private static boolean waitsToLiftAgain(StackTraceElement[] thread) {
    List<String> calls = Arrays.stream(thread).map(StackTraceElement::getMethodName).toList();
    return calls.contains("liftAgain") && calls.contains("sleep");
  }

  private void beat() {
    try {
      am.blacklist().beat();
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  private void assertToldAgain() throws Exception {
    Am.await("the removal", () -> am.blacklist().tellsRemoved("slow"));
    // The exchange's thread may be about to ask for a heartbeat's end: then the next one counts.
    Am.await(
        "the removal again",
        () -> {
          beat();
          return am.blacklist().tellsRemoved("slow");
        });
    assertFalse(am.blacklist().keepsOff("slow"));
  }

  @Test
  public void aRemovalAtTheShimsEndIsToldAgainThoughTheJobIsQuiet() throws Exception {
    run();
    assertEquals("applied", outcome(avoid("'slow'", 60_000)));
    awaitListed("slow", true);
    service.over = true;
    assertToldAgain();
    Am.await("the exchange thread's end", () -> exchangeThreads().isEmpty());
    assertJobSucceeds();
  }

  @Test
  public void aRemovalAfterTheListenersFailureIsToldAgainThoughTheThreadIsInterrupted()
      throws Exception {
    run();
    assertEquals("applied", outcome(avoid("'slow'", 60_000)));
    awaitListed("slow", true);
    Method stop = DroverSpeculator.class.getDeclaredMethod("stopListening", Throwable.class);
    stop.setAccessible(true);
    stop.invoke(am.speculator(), new IllegalStateException("test"));
    assertToldAgain();
    assertJobSucceeds();
  }

  @Test
  public void anAmThatEndsIsNotOutlivedByTheLifting() throws Exception {
    run();
    assertEquals("applied", outcome(avoid("'slow'", 60_000)));
    awaitListed("slow", true);
    am.stop();
    Am.await(
        "the exchange thread's end",
        () -> {
          List<StackTraceElement[]> threads = exchangeThreads();
          assertFalse(threads.stream().anyMatch(AvoidTest::waitsToLiftAgain));
          return threads.isEmpty();
        });
  }

  @Test
  public void noListIsMadeSoLongThatHadoopWouldDropIt() throws Exception {
    run();
    assertEquals("too_many_nodes", outcome(avoid("'a','b','c','d'", 60_000)));
    assertEquals("applied", outcome(avoid("'a','b','c'", 60_000)));
    awaitListed("c", true);
    assertEquals("too_many_nodes", outcome(avoid("'a','b','c','d'", 60_000)));
    assertEquals("applied", outcome(avoid("'b','c','d'", 60_000)));
    awaitListed("d", true);
    am.nodes(3);
    assertEquals("too_many_nodes", outcome(avoid("'b'", 60_000)));
    assertJobSucceeds();
  }

  @Test
  public void aListThatHadoopHasDroppedIsToldAndLifted() throws Exception {
    run();
    service.act("long", avoid("'a','b'", 60_000));
    assertEquals("applied", service.outcome("long"));
    awaitListed("b", true);
    am.nodes(6);
    Am.await("the word", () -> service.knownOutcome("long").equals("too_many_nodes"));
    assertTrue(am.blacklist().tellsRemoved("a"));
    assertJobSucceeds();
  }

  @Test
  public void whatHadoopItselfHasListedStaysListed() throws Exception {
    run();
    am.blacklist().fail("bad", 3);
    assertEquals("applied", outcome(avoid("'bad'", 60_000)));
    assertEquals("applied", outcome(avoid("", 60_000)));
    assertTrue(am.blacklist().keepsOff("bad"));
    assertJobSucceeds();
  }

  @Test
  public void whatHadoopHadCountedOnAHostCountsOnAfterItsLift() throws Exception {
    run();
    am.blacklist().fail("bad", 2);
    assertEquals("applied", outcome(avoid("'bad','slow'", 60_000)));
    awaitListed("bad", true);
    awaitListed("slow", true);
    assertEquals("applied", outcome(avoid("", 60_000)));
    am.blacklist().beat();
    am.blacklist().fail("bad", 1);
    assertTrue("its third failure", am.blacklist().keepsOff("bad"));
    am.blacklist().fail("slow", 2);
    assertFalse("none of Drover's counts", am.blacklist().keepsOff("slow"));
    assertJobSucceeds();
  }

  @Test
  public void withoutALeaseNothingIsListed() throws Exception {
    service.leaseMs = 0;
    run();
    assertEquals("not_leased", outcome(avoid("'slow'", 60_000)));
    assertFalse(am.blacklist().keepsOff("slow"));
    assertJobSucceeds();
  }

  @Test
  public void anAmThatIsSlowToStartCanAvoidAllTheSame() throws Exception {
    am.startAfter(2_000);
    run();
    assertEquals("applied", outcome(avoid("'slow'", 60_000)));
    assertJobSucceeds();
  }

  @Test
  public void aJobThatHasItsBlacklistSwitchedOffCannotAvoid() throws Exception {
    assertCannotAvoid("yarn.app.mapreduce.am.job.node-blacklisting.enable", "false");
  }

  @Test
  public void aJobThatBearsManyFailuresIsNotFloodedWithThem() throws Exception {
    assertCannotAvoid("mapreduce.job.maxtaskfailures.per.tracker", "21");
  }

  private void assertCannotAvoid(String property, String value) throws Exception {
    run(property, value);
    String can = service.requests.get(0).path("hello").path("can").toString();
    assertEquals("[\"duplicate\",\"restart\",\"rerun\",\"prefer\"]", can);
    assertEquals("unsupported_action", outcome(avoid("'slow'", 60_000)));
    assertJobSucceeds();
  }
}
