package io.drover.shim.core;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.StringWriter;
import java.net.ConnectException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.v2.api.records.JobId;
import org.apache.hadoop.mapreduce.v2.util.MRBuilderUtils;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.event.AsyncDispatcher;
import org.apache.hadoop.yarn.event.EventHandler;
import org.apache.log4j.Logger;
import org.apache.log4j.SimpleLayout;
import org.apache.log4j.WriterAppender;
import org.junit.Test;

/** The exchange against a scripted service, without time and without a network. */
public class ExchangeTest {
  private static final class Plain extends Row {
    @Override
    int bytes() {
      return 10;
    }

    @Override
    void write(JsonGenerator json, long base) {
      throw new UnsupportedOperationException();
    }
  }

  /** Rows without a job; remembers what was asked to be sent. */
  private static final class Rows implements Facts {
    final RowLog log = new RowLog();
    final List<Envelope> sent = new ArrayList<>();
    int sweeps;
    int sweepsOfNeeds;
    long spent;
    boolean misses;
    boolean starts;
    int askedAnew;

    @Override
    public long sweep() {
      sweeps++;
      return spent;
    }

    @Override
    public long sweepNeeds() {
      sweepsOfNeeds++;
      return spent;
    }

    @Override
    public RowLog log() {
      return log;
    }

    @Override
    public void wantMisses(boolean wanted) {
      misses = wanted;
    }

    @Override
    public void wantStarts(boolean wanted) {
      askedAnew += wanted && !starts ? 1 : 0;
      starts = wanted;
    }

    @Override
    public Map<String, Long> dropped() {
      return new TreeMap<>();
    }

    @Override
    public byte[] encode(Envelope envelope) {
      sent.add(envelope);
      return new byte[] {1};
    }

    void change(int rows) {
      for (int i = 0; i < rows; i++) {
        log.touch(new Plain());
      }
    }

    Envelope last() {
      return sent.get(sent.size() - 1);
    }
  }

  private interface Script {
    Transport.Answer answer(Envelope request) throws IOException;
  }

  private final Rows rows = new Rows();
  private final Identity identity = new Identity(new SecureRandom());
  private final List<String> asked = new ArrayList<>();
  private final List<Runnable> posted = new ArrayList<>();
  private final List<String> resolved = new ArrayList<>();
  private final List<Action> applied = new ArrayList<>();
  private Consumer<Runnable> dispatcher = posted::add;
  private long nowMs = 1_000;
  private long looksAtTheClock;
  private Lease lease;
  private Script script;
  private Exchange exchange = exchange("http://a:1");

  private Exchange exchange(String urls, String... pairs) {
    Configuration conf = new Configuration(false);
    conf.set("drover.service.urls", urls);
    conf.set("drover.exchange.max-rows", "10");
    for (int i = 0; i < pairs.length; i += 2) {
      conf.set(pairs[i], pairs[i + 1]);
    }
    Transport transport =
        (URL url, byte[] body, String mac) -> {
          asked.add(url.getHost());
          return script.answer(rows.last());
        };
    LongSupplier nanos = () -> nowMs * 1_000_000;
    lease = new Lease(nanos, true);
    Actions actions =
        new Actions(
            new Ledger(nanos),
            (action, epoch, deadline) -> {
              applied.add(action);
              return new Ack(action.id, Ack.APPLIED, new int[] {(int) epoch, (int) action.task});
            },
            what -> dispatcher.accept(what),
            new Racks(
                host -> {
                  resolved.add(host + " with " + posted.size() + " posted");
                  return "/rack-" + host;
                },
                () -> -TimeUnit.SECONDS.toNanos(60) * looksAtTheClock++)); // it never runs out
    Settings settings = new Settings(conf);
    return new Exchange(settings, identity, rows, transport, nanos, new Random(3), lease, actions);
  }

  private long step(Script next) throws Exception {
    script = next;
    return exchange.step();
  }

  private static String reply(long seq, long ack, String rest) {
    String json =
        "{'protocol':1,'seq':"
            + seq
            + ",'epoch':3,'incarnation':'x','accepted':true,'ack':"
            + ack
            + ",'snapshot':false,'next_exchange_ms':1000,'launcher':'native','lease_ms':0,"
            + "'actions':[]}";
    for (String change : rest.isEmpty() ? new String[0] : rest.split(";")) {
      String[] fromTo = change.split("=>");
      json = json.replace(fromTo[0], fromTo[1]);
    }
    return json.replace('\'', '"');
  }

  private Transport.Answer signed(int status, String json) {
    byte[] body = json.getBytes(StandardCharsets.UTF_8);
    try {
      return new Transport.Answer(status, identity.mac(body), body);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private Script ok(String rest) {
    return request -> signed(200, reply(request.seq, request.page.upto, rest));
  }

  private static Script refusal(int status, String error, String more) {
    String json = "{'error':'" + error + "','message':'m','retry_ms':3000" + more + "}";
    byte[] body = json.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
    return request -> new Transport.Answer(status, null, body);
  }

  private void establish() throws Exception {
    rows.change(5);
    step(ok(""));
  }

  @Test
  public void startsAreNewsOnlyWithALeaseAndWhileTheNewestAnswerSaysSo() throws Exception {
    String pace = "'next_exchange_ms':1000=>'next_exchange_ms':1000";
    String lease = ";native=>drover;'lease_ms':0=>'lease_ms':9000";
    String starts = ",'news_of_starts':true";
    step(ok(pace + ",'news_exchange_ms':250" + starts));
    assertEquals("no lease", false, rows.starts);
    step(ok(pace + starts + lease));
    assertEquals("never sooner", false, rows.starts);
    step(ok(pace + ",'news_exchange_ms':250" + starts + lease));
    step(ok(pace + ",'news_exchange_ms':250" + starts + lease));
    assertTrue(rows.starts);
    assertEquals("each time anew brings an exchange more", 1, rows.askedAnew);
    step(ok(pace + ",'news_exchange_ms':250" + lease));
    assertEquals(false, rows.starts);
  }

  @Test
  public void startsAreNoNewsOnceTheServiceRefusesOrDoesNotAnswer() throws Exception {
    Script pending =
        request -> signed(202, reply(request.seq, 0, "'accepted':true=>'accepted':false"));
    Script garbled = request -> new Transport.Answer(200, null, new byte[] {1});
    Script silent =
        request -> {
          throw new IOException("silent");
        };
    assertStartsAreNoNewsAfter("pending", pending);
    assertStartsAreNoNewsAfter("not accepted", ok("'accepted':true=>'accepted':false"));
    assertStartsAreNoNewsAfter("garbled", garbled);
    assertStartsAreNoNewsAfter("silent", silent);
    for (int status : new int[] {400, 401, 403, 404, 409, 410, 426, 500}) {
      assertStartsAreNoNewsAfter("status " + status, refusal(status, "gone", ""));
    }
    assertStartsAreNoNewsAfter(
        "status 502", request -> new Transport.Answer(502, null, new byte[] {1}));
    exchange = exchange("http://a:1,http://b:1");
    assertStartsAreNoNewsAfter("it went on to b", refusal(503, "overloaded", ""));
  }

  private void assertStartsAreNoNewsAfter(String what, Script answer) throws Exception {
    String news = ",'news_exchange_ms':250,'news_of_starts':true";
    step(ok(LEASED + news));
    assertTrue("before " + what, rows.starts);
    step(answer);
    assertEquals(what, false, rows.starts);
  }

  @Test
  public void onlyALeaseLetsTheEndOfATaskCutTheWaitShort() throws Exception {
    String news = "'next_exchange_ms':1000=>'next_exchange_ms':1000,'news_exchange_ms':250";
    step(ok(news));
    assertEquals(0, exchange.newsMs());
    step(ok(news + ";native=>drover;'lease_ms':0=>'lease_ms':9000"));
    assertEquals(250, exchange.newsMs());
    step(
        request -> {
          throw new IOException("gone");
        });
    assertEquals(0, exchange.newsMs());
  }

  @Test
  public void anAcceptedSessionSendsOnlyWhatChanged() throws Exception {
    rows.change(5);
    assertEquals(1000, step(ok("")));
    assertTrue(rows.last().hello);
    assertEquals(5, rows.last().page.rows.size());
    rows.change(2);
    step(ok(""));
    assertEquals(2, rows.last().seq);
    assertEquals(3, rows.last().epoch);
    assertEquals(5, rows.last().page.base);
    assertEquals(2, rows.last().page.rows.size());
    assertEquals(false, rows.last().hello);
  }

  @Test
  public void fetchFailuresAreToldOnlyWhileTheNewestAnswerAsksForThem() throws Exception {
    String asks = "'actions':[]=>'actions':[],'fetch_failures':true";
    step(ok(""));
    assertEquals(false, rows.misses);
    step(ok(asks));
    assertTrue(rows.misses);
    step(refusal(400, "malformed", ""));
    assertEquals(false, rows.misses);
    step(ok(asks));
    assertTrue(rows.misses);
    step(ok(""));
    assertEquals(false, rows.misses);
  }

  @Test
  public void helloIsRepeatedWhileTheProofIsChecked() throws Exception {
    rows.change(5);
    Script pending =
        request -> signed(202, reply(request.seq, 0, "'accepted':true=>'accepted':false"));
    assertEquals(1000, step(pending));
    step(ok(""));
    assertTrue(rows.last().hello);
    assertEquals(0, rows.last().page.base);
    step(ok(""));
    assertEquals(false, rows.last().hello);
  }

  @Test
  public void pagesFollowAtOnceWithoutLookingAtTheJobAgain() throws Exception {
    rows.change(25);
    assertEquals(0, step(ok("")));
    assertTrue(rows.last().page.more);
    assertEquals(0, step(ok("")));
    assertEquals(1000, step(ok("")));
    assertEquals(5, rows.last().page.rows.size());
    assertEquals(1, rows.sweeps);
    assertEquals("but for what it waits for", 2, rows.sweepsOfNeeds);
  }

  @Test
  public void aLargeSnapshotKeepsToWhatTheServiceTakesOfOneSession() throws Exception {
    rows.change(1_005);
    long tokens = 50 * 100; // as src/shim/session.rs counts, in ms: 50 at once, 10 a second
    for (int page = 0; page < 100; page++) {
      tokens -= 100;
      assertTrue("page " + page, tokens >= 0);
      long wait = step(ok(""));
      assertEquals("page " + page, page < 39 ? 0 : 100, wait);
      tokens += wait;
      nowMs += wait;
    }
    assertEquals(1000, step(ok("")));
    nowMs += 1000;
    rows.change(205);
    for (int page = 0; page < 20; page++) {
      assertEquals("what a second has given back: " + page, page < 9 ? 0 : 100, step(ok("")));
    }
    nowMs += 60_000;
    rows.change(25);
    assertEquals("the next begin anew", 0, step(ok("")));
  }

  @Test
  public void laterPagesTellAllThatChangedSinceTheReaderLastHadTheWhole() throws Exception {
    establish();
    rows.change(25);
    for (int page = 0; page < 3; page++) {
      assertEquals(5 + 10 * page, rows.last().page.upto);
      step(ok(""));
      assertEquals(5 + 10 * page, rows.last().page.base);
      assertEquals(5, rows.last().page.whole);
    }
    rows.change(25);
    step(ok(""));
    assertEquals(30, rows.last().page.whole);
    step(
        request -> {
          throw new IOException("gone");
        });
    step(ok(""));
    assertEquals("its first page was heard, and no more", 40, rows.last().page.base);
    assertEquals(30, rows.last().page.whole);
    step(ok("'snapshot':false=>'snapshot':true"));
    step(ok(""));
    assertEquals(0, rows.last().page.base);
    assertEquals(0, rows.last().page.whole);
  }

  @Test
  public void aSessionThatCallsTooOftenStaysAndAServiceThatIsFullIsLeft() throws Exception {
    exchange = exchange("http://a:1,http://b:1");
    establish();
    assertTrue(step(refusal(429, "too_frequent", "")) >= 3_000);
    assertTrue(step(refusal(429, "too_many_sessions", "")) >= 3_000);
    step(ok(""));
    assertEquals("[a, a, a, b]", asked.toString());
    assertEquals("the session goes on", false, rows.last().hello);
  }

  @Test
  public void lookingAtTheJobTakesAtMostATwentiethOfAProcessorHoweverLongItLasted()
      throws Exception {
    rows.spent = TimeUnit.MILLISECONDS.toNanos(50);
    step(ok(""));
    nowMs += 999;
    step(ok(""));
    assertEquals(1, rows.sweeps);
    nowMs += 1;
    step(ok(""));
    assertEquals(2, rows.sweeps);
    rows.change(35);
    nowMs += 999;
    step(ok(""));
    nowMs += 1;
    step(ok(""));
    step(ok(""));
    assertEquals("nor while pages follow each other", 1, rows.sweepsOfNeeds);
  }

  @Test
  public void aServiceThatNeverAdvancesIsNotCalledInAHotLoop() throws Exception {
    rows.change(25);
    Script stuck = request -> signed(200, reply(request.seq, 0, ""));
    assertEquals(1000, step(stuck));
    assertEquals(1000, step(stuck));
    Script snapshot = ok("'snapshot':false=>'snapshot':true");
    assertEquals(1000, step(snapshot));
    assertEquals(1000, step(snapshot));
  }

  @Test
  public void aSnapshotStartsFromTheFirstVersion() throws Exception {
    establish();
    step(ok("'snapshot':false=>'snapshot':true"));
    step(ok(""));
    assertEquals(0, rows.last().page.base);
    assertEquals(5, rows.last().page.rows.size());
  }

  @Test
  public void thePaceStaysWithinBounds() throws Exception {
    assertEquals(100, step(ok("'next_exchange_ms':1000=>'next_exchange_ms':0")));
    assertEquals(60_000, step(ok("'next_exchange_ms':1000=>'next_exchange_ms':99999999")));
  }

  private void assertIgnored(Script answer) throws Exception {
    establish();
    long base = rows.log.version();
    rows.change(1);
    assertTrue(step(answer) >= 500);
    step(ok(""));
    assertEquals(base, rows.last().page.base);
    assertEquals(Long.valueOf(1), rows.last().dropped.get("bad_reply"));
  }

  @Test
  public void anAnswerToAnotherRequestIsIgnored() throws Exception {
    assertIgnored(request -> signed(200, reply(request.seq - 1, 6, "")));
  }

  @Test
  public void anAnswerWithAWrongMacIsIgnored() throws Exception {
    assertIgnored(
        request -> {
          byte[] body = reply(request.seq, 6, "").getBytes(StandardCharsets.UTF_8);
          return new Transport.Answer(200, "00".repeat(32), body);
        });
  }

  @Test
  public void anAnswerWithoutAMacIsIgnored() throws Exception {
    assertIgnored(
        request -> {
          byte[] body = reply(request.seq, 6, "").getBytes(StandardCharsets.UTF_8);
          return new Transport.Answer(200, null, body);
        });
  }

  @Test
  public void anOlderEpochIsNotObeyed() throws Exception {
    assertIgnored(ok("'epoch':3=>'epoch':2"));
  }

  @Test
  public void anAcknowledgementOfWhatWasNeverSentIsIgnored() throws Exception {
    assertIgnored(request -> signed(200, reply(request.seq, 999, "")));
  }

  @Test
  public void aWebPageIsNotAnAnswer() throws Exception {
    assertIgnored(request -> signed(200, "<html>log in</html>"));
  }

  @Test
  public void unreachableServicesAreTriedInTurnAndThenAtGrowingIntervals() throws Exception {
    exchange = exchange("http://a:1,http://b:1");
    Script down =
        request -> {
          throw new IOException("refused");
        };
    long last = 0;
    for (int round = 0; round < 8; round++) {
      assertEquals(0, step(down));
      long wait = step(down);
      assertTrue(wait >= 500 && wait <= 60_000);
      assertTrue(wait >= last / 2);
      last = wait;
    }
    assertTrue(last >= 30_000);
    assertEquals("[a, b, a, b]", asked.subList(0, 4).toString());
  }

  @Test
  public void anotherServiceTakesOver() throws Exception {
    exchange = exchange("http://a:1,http://b:1");
    establish();
    step(
        request -> {
          throw new IOException("reset");
        });
    assertTrue(step(refusal(404, "unknown_session", "")) > 0);
    assertEquals(1000, step(ok("'epoch':3=>'epoch':4")));
    assertTrue(rows.last().hello);
    assertEquals(0, rows.last().page.base);
    assertEquals("b", asked.get(asked.size() - 1));
  }

  private void assertStartsOver(int status, String error, long leastWait) throws Exception {
    establish();
    long wait = step(refusal(status, error, ""));
    assertTrue(error + " waits " + wait, wait >= leastWait);
    step(ok(""));
    assertTrue(rows.last().hello);
    assertEquals(0, rows.last().page.base);
    assertEquals(5, rows.last().page.rows.size());
  }

  @Test
  public void wrongProofStartsOver() throws Exception {
    assertStartsOver(401, "wrong_proof", 3_000);
  }

  @Test
  public void wrongMacStartsOverAtGrowingIntervals() throws Exception {
    assertStartsOver(401, "wrong_mac", 3_000);
    long wait = 0;
    for (int i = 0; i < 10; i++) {
      wait = step(refusal(401, "wrong_mac", ""));
    }
    assertTrue(wait >= 30_000);
  }

  @Test
  public void aRefusalWhoseWordsTheTransportDoesNotHaveStartsOverAtTheNextService()
      throws Exception {
    exchange = exchange("http://a:1,http://b:1");
    rows.change(5);
    step(ok("native=>drover;'lease_ms':0=>'lease_ms':9000"));
    assertTrue(lease.leftMs() > 0);
    assertTrue(step(request -> new Transport.Answer(401, null, new byte[0])) >= 5_000);
    assertEquals(0, lease.leftMs());
    step(ok(""));
    assertTrue(rows.last().hello);
    assertEquals(0, rows.last().page.base);
    assertEquals("[a, a, b]", asked.toString());
  }

  @Test
  public void aRequestWithoutAnAnswerIsFollowedByOneWithTheNextNumber() throws Exception {
    step(ok("native=>drover;'lease_ms':0=>'lease_ms':9000"));
    step(
        request -> {
          throw new IOException("Unexpected end of file from server");
        });
    assertEquals(2, rows.last().seq);
    assertTrue("it ends by its time alone", lease.leftMs() > 0);
    step(ok(""));
    assertEquals(3, rows.last().seq);
  }

  @Test
  public void notVouchedStartsOver() throws Exception {
    assertStartsOver(403, "not_vouched", 3_000);
  }

  @Test
  public void aServiceThatDoesNotTakeTheKeyInTheClearIsLeftForOneThatIsReachedThroughTls()
      throws Exception {
    exchange = exchange("http://a:1,https://b:1");
    rows.change(5);
    assertEquals(100, step(refusal(403, "secret_over_plain_http", "")));
    assertEquals(1000, step(ok("")));
    assertTrue(rows.last().hello);
    step(refusal(503, "overloaded", ""));
    step(request -> new Transport.Answer(502, null, new byte[0]));
    step(ok(""));
    assertEquals("not back to the one in the clear", "[a, b, b, b, b]", asked.toString());
    Script down =
        request -> {
          throw new IOException("down");
        };
    step(down);
    step(down);
    assertEquals("but where no other answers", "[a, b, b, b, b, b, a]", asked.toString());
  }

  @Test
  public void servicesThatAllWantTlsAreAskedInTurnAndNeverInAHotLoop() throws Exception {
    exchange = exchange("http://a:1,http://b:1");
    assertEquals(100, step(refusal(403, "secret_over_plain_http", "")));
    for (int i = 0; i < 3; i++) {
      assertTrue(step(refusal(403, "secret_over_plain_http", "")) >= 3_000);
    }
    assertEquals("[a, b, b, b]", asked.toString());
  }

  @Test
  public void servicesThatAllDoNotVouchAreAskedInTurnAndNeverInAHotLoop() throws Exception {
    exchange = exchange("http://a:1,http://b:1");
    for (int i = 0; i < 2; i++) {
      assertEquals("the other may", 100, step(refusal(403, "not_vouched", "")));
      assertTrue(step(refusal(403, "not_vouched", "")) >= 3_000);
    }
    assertEquals("[a, b, a, b]", asked.toString());
  }

  @Test
  public void anUnknownSessionStartsOverAtOnceButNotInAHotLoop() throws Exception {
    assertStartsOver(404, "unknown_session", 100);
    step(refusal(404, "unknown_session", ""));
    assertTrue(step(refusal(404, "unknown_session", "")) >= 3_000);
  }

  @Test
  public void twoMastersStartsOver() throws Exception {
    assertStartsOver(409, "two_masters", 3_000);
  }

  @Test
  public void aStaleSequenceCarriesOnFromWhatTheServiceHolds() throws Exception {
    establish();
    rows.change(3);
    step(refusal(409, "stale_sequence", ",'ack':2"));
    step(ok(""));
    assertEquals(2, rows.last().page.base);
    assertEquals(false, rows.last().hello);
  }

  @Test
  public void aStaleSequenceOfAServiceThatHoldsMoreThanThereIsStartsOver() throws Exception {
    establish();
    step(refusal(409, "stale_sequence", ",'ack':6"));
    step(ok(""));
    assertTrue(rows.last().hello);
    assertEquals(0, rows.last().page.base);
  }

  @Test
  public void aMalformedRequestIsFollowedByASnapshot() throws Exception {
    establish();
    assertTrue(step(refusal(400, "malformed", "")) >= 3_000);
    step(ok(""));
    assertEquals(0, rows.last().page.base);
  }

  @Test
  public void aFinishedApplicationEndsTheSession() throws Exception {
    assertEquals(Exchange.STOP, step(refusal(410, "finished_application", "")));
  }

  @Test
  public void tooLargeHalvesTheRowsDownToOne() throws Exception {
    rows.change(50);
    int[] sizes = {10, 5, 2, 1, 1};
    for (int size : sizes) {
      step(refusal(413, "too_large", ""));
      assertEquals(size, rows.last().page.rows.size());
    }
    assertTrue(step(refusal(413, "too_large", "")) >= 500);
  }

  @Test
  public void whatDoesNotComeThroughInItsTimeIsToldInSmallerPagesThatGrowAgain() throws Exception {
    exchange = exchange("http://a:1", "drover.exchange.max-rows", "400");
    rows.change(2_000);
    Script late =
        request -> {
          throw new Transport.TimedOut("Read timed out");
        };
    Script gone =
        request -> {
          throw new IOException("Connection refused");
        };
    Script slow =
        request -> {
          nowMs += 1_000;
          return ok("").answer(request);
        };
    assertTrue("its pause is kept", step(refusal(408, "slow_body", "")) >= 3_000);
    int[] sizes = {200, 100, 100, 50, 50, 50, 100, 200, 400, 400, 400};
    Script[] next = {late, gone, late, late, late, slow, ok(""), ok(""), ok(""), ok(""), ok("")};
    for (int i = 0; i < sizes.length; i++) {
      step(next[i]);
      assertEquals("request " + i, sizes[i], rows.last().page.rows.size());
    }
  }

  @Test
  public void anotherProtocolPausesForTenMinutes() throws Exception {
    assertEquals(600_000, step(refusal(426, "protocol_version", "")));
  }

  private interface Steps {
    void run() throws Exception;
  }

  /** What the log warns of meanwhile. */
  private static List<String> warnings(Steps steps) throws Exception {
    Logger logger = Logger.getLogger("io.drover.shim");
    StringWriter log = new StringWriter();
    WriterAppender appender = new WriterAppender(new SimpleLayout(), log);
    logger.addAppender(appender);
    try {
      steps.run();
    } finally {
      logger.removeAppender(appender);
    }
    List<String> told = new ArrayList<>();
    for (String line : log.toString().split("\\R")) {
      if (line.startsWith("WARN")) {
        told.add(line);
      }
    }
    return told;
  }

  @Test
  public void theLogTellsOfEachAddressOnceWhyItWasNotReached() throws Exception {
    exchange = exchange("http://a:1/x,http://b:1,http://c:1");
    Script refused =
        request -> {
          throw new ConnectException("Connection refused\nforged");
        };
    Script[] round = {
      refused,
      request -> new Transport.Answer(502, null, new byte[] {1}),
      request -> new Transport.Answer(200, null, new byte[] {1})
    };
    List<String> told =
        warnings(
            () -> {
              for (int i = 0; i < 9; i++) {
                step(round[i % 3]);
              }
            });
    assertEquals(told.toString(), 1, told.size());
    String line =
        "WARN - Drover: no service answers:"
            + " http://a:1/x/shim/v1/exchange (java.net.ConnectException: Connection refused),"
            + " http://b:1/shim/v1/exchange (status 502 without a Drover answer),"
            + " http://c:1/shim/v1/exchange (answer 200 without a valid X-Drover-Mac); waiting ";
    assertTrue(told.get(0), told.get(0).startsWith(line));
  }

  @Test
  public void anAddressThatIsSilentIsToldOfWithTheRefusalOfAnother() throws Exception {
    exchange = exchange("http://a:1,http://b:1");
    List<String> told =
        warnings(
            () -> {
              for (int i = 0; i < 3; i++) {
                step(
                    request -> {
                      throw new ConnectException("Connection refused");
                    });
                step(refusal(503, "overloaded", ""));
              }
            });
    assertEquals(told.toString(), 1, told.size());
    String by = "refused by http://b:1/shim/v1/exchange: overloaded";
    String silent =
        "; no answer from http://a:1/shim/v1/exchange"
            + " (java.net.ConnectException: Connection refused)";
    assertTrue(told.get(0), told.get(0).contains(by) && told.get(0).contains(silent));
  }

  @Test
  public void howeverManyAddressesThereAreTheLogTellsOfAFew() throws Exception {
    exchange = exchange("http://a:1" + ",http://b:1".repeat(99));
    List<String> told =
        warnings(
            () -> {
              for (int i = 0; i < 100; i++) {
                step(
                    request -> {
                      throw new IOException("x".repeat(1_000_000));
                    });
              }
            });
    assertEquals(1, told.size());
    assertTrue(told.get(0), told.get(0).contains(" and 92 more; waiting "));
    assertTrue(told.get(0).length() < 3_500);
  }

  @Test
  public void theLogTellsWhatRefusesOnceTheServiceIsBackAndNoRepetition() throws Exception {
    List<String> told =
        warnings(
            () -> {
              establish();
              for (int i = 0; i < 2; i++) {
                step(
                    request -> {
                      throw new IOException("down");
                    });
                step(refusal(426, "protocol_version", ""));
                step(refusal(400, "malformed", ""));
              }
              for (int i = 0; i < 99; i++) {
                step(refusal(500, "made_up_" + i, ""));
              }
            });
    assertEquals(8, told.size());
    assertTrue(told.get(0), told.get(0).contains("down"));
    assertTrue(told.get(1), told.get(1).contains("protocol_version (m)"));
    assertTrue(told.get(2), told.get(2).contains("malformed (m)"));
    assertTrue(told.get(3), told.get(3).contains("made_up_0"));
  }

  @Test
  public void aServiceOfAnotherProtocolIsLeftForOneThatSpeaksThisOne() throws Exception {
    exchange = exchange("http://a:1,http://b:1");
    assertEquals(100, step(refusal(426, "protocol_version", "")));
    assertEquals(1000, step(ok("")));
    assertEquals("[a, b]", asked.toString());
    assertEquals(100, step(refusal(426, "protocol_version", "")));
    assertEquals("all have refused", 600_000, step(refusal(426, "protocol_version", "")));
    assertEquals("[a, b, b, a]", asked.toString());
  }

  @Test
  public void anOverloadedServiceIsGivenTheTimeItAsksFor() throws Exception {
    for (int status : new int[] {429, 503}) {
      long wait = step(refusal(status, "overloaded", ""));
      assertTrue(wait >= 3_000 && wait <= 3_600);
    }
  }

  @Test
  public void refusalsCannotAskForAbsurdWaits() throws Exception {
    String json = "{'error':'overloaded','message':'m','retry_ms':9007199254740991}";
    byte[] body = json.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
    assertTrue(step(request -> new Transport.Answer(503, null, body)) <= 720_000);
  }

  @Test
  public void everyOddStatusOnlyPauses() throws Exception {
    byte[] page = "<html>".getBytes(StandardCharsets.UTF_8);
    for (int status : new int[] {-1, 204, 301, 302, 307, 401, 403, 404, 410, 500, 502}) {
      long wait = step(request -> new Transport.Answer(status, null, page));
      assertTrue("status " + status + " waits " + wait, wait >= 500);
    }
  }

  private static final String DUPLICATE =
      "'type':'duplicate','deadline_ms':5000,'k':'m','i':7,'copies':1,'live':1}";

  private static String action(String... ids) {
    StringBuilder actions = new StringBuilder("'actions':[]=>'actions':[");
    for (String id : ids) {
      actions.append(actions.toString().endsWith("[") ? "" : ",");
      actions.append("{'id':'").append(id).append("',").append(DUPLICATE);
    }
    return actions.append(']').toString();
  }

  private void dispatch() {
    List<Runnable> now = new ArrayList<>(posted);
    posted.clear();
    now.forEach(Runnable::run);
  }

  @Test
  public void answersToActionsAreSentUntilTheServiceHasHeard() throws Exception {
    establish();
    assertEquals(250, step(ok(action("a-1"))));
    assertEquals("[]", rows.last().acks.toString());
    dispatch();
    step(
        request -> {
          throw new IOException("lost");
        });
    assertEquals("[a-1 applied [3, 7]]", rows.last().acks.toString());
    step(refusal(503, "overloaded", ""));
    assertEquals("[a-1 applied [3, 7]]", rows.last().acks.toString());
    assertEquals(1_000, step(ok("")));
    assertEquals("[a-1 applied [3, 7]]", rows.last().acks.toString());
    step(ok(""));
    assertEquals("[]", rows.last().acks.toString());
  }

  @Test
  public void aRepeatedActionIsAnsweredAgainAndNotAppliedAgain() throws Exception {
    establish();
    step(ok(action("a-1")));
    step(ok(action("a-1", "a-1")));
    dispatch();
    step(ok(action("a-1")));
    assertEquals(0, posted.size());
    step(ok(""));
    assertEquals("[a-1 applied [3, 7]]", rows.last().acks.toString());
  }

  /** As Hadoop has it, which takes no event from a thread that is interrupted, and its flag. */
  @SuppressWarnings({"unchecked", "rawtypes"})
  private static Consumer<Runnable> hadoopsDispatcher() {
    EventHandler handler = new AsyncDispatcher().getEventHandler();
    JobId job = MRBuilderUtils.newJobId(ApplicationId.newInstance(1_000, 1), 1);
    return what -> handler.handle(new OnDispatcher(job, 0, what));
  }

  @Test
  public void anInterruptionDuringACallWhoseAnswerHasActionsStillEndsTheExchange()
      throws Exception {
    establish();
    dispatcher = hadoopsDispatcher();
    step(
        request -> {
          Thread.currentThread().interrupt();
          return ok(action("a-1", "a-2")).answer(request);
        });
    assertTrue("the next pause is to hear it", Thread.interrupted());
    step(ok(""));
    assertEquals("[a-1 failed [], a-2 failed []]", rows.last().acks.toString());
  }

  @Test
  public void theRackOfAHostToPreferIsAskedForBeforeTheDispatcherThreadHasTheCopy()
      throws Exception {
    establish();
    step(ok(action("a-1").replace("'live':1", "'live':1,'prefer':['nm1','nm2']")));
    assertEquals(List.of("nm1 with 0 posted"), resolved);
    dispatch();
    assertEquals("{nm1=/rack-nm1}", applied.get(0).racks.toString());
  }

  @Test
  public void anUnknownOrMalformedActionIsAnsweredByNameAndReachesNobody() throws Exception {
    establish();
    String odd = "{'id':'a','type':'evict','deadline_ms':1},{'id':'b','type':'duplicate'}";
    step(ok("'actions':[]=>'actions':[" + odd + "]"));
    assertEquals(0, posted.size());
    step(ok(""));
    assertEquals("[a unsupported_action [], b malformed_action []]", rows.last().acks.toString());
  }

  @Test
  public void anActionOfAnAnswerThatDoesNotVerifyIsNotSeen() throws Exception {
    establish();
    step(
        request -> {
          byte[] body = reply(request.seq, 5, action("a-1")).getBytes(StandardCharsets.UTF_8);
          return new Transport.Answer(200, "00".repeat(32), body);
        });
    step(ok("'epoch':3=>'epoch':2;" + action("a-2")));
    Script pending =
        request ->
            signed(
                202, reply(request.seq, 0, "'accepted':true=>'accepted':false;" + action("a-3")));
    step(pending);
    assertEquals(0, posted.size());
  }

  private static final String LEASED = "'native','lease_ms':0=>'drover','lease_ms':10000";

  @Test
  public void aLeaseBeginsWhenTheRequestWasSent() throws Exception {
    establish();
    step(
        request -> {
          nowMs += 4_000;
          return ok(LEASED).answer(request);
        });
    assertEquals(6_000, lease.leftMs());
    nowMs += 5_999;
    assertTrue(lease.heldUnder(3));
    step(
        request -> {
          throw new IOException("silent");
        });
    assertEquals(1, rows.last().leaseMs);
    nowMs += 1;
    assertEquals(false, lease.getAsBoolean());
  }

  @Test
  public void aLeaseShorterThanFourOfTheJobsPacesIsRenewedWhileItLasts() throws Exception {
    exchange = exchange("http://a:1", "drover.exchange.min-interval-ms", "2500");
    String leased = "'native','lease_ms':0=>'drover','lease_ms':";
    assertEquals(2_500, step(ok("")));
    assertEquals(500, step(ok(leased + 2_000)));
    assertEquals(100, step(ok(leased + 300)));
    assertEquals(2_500, step(ok(leased + 10_000)));
    assertEquals(2_500, step(ok("")));
  }

  private void assertHandsBack(Script answer) throws Exception {
    establish();
    step(ok(LEASED));
    assertTrue(lease.getAsBoolean());
    step(answer);
    assertEquals(false, lease.getAsBoolean());
  }

  @Test
  public void theLauncherNativeHandsBack() throws Exception {
    assertHandsBack(ok(""));
  }

  @Test
  public void aRefusalHandsBack() throws Exception {
    for (int status : new int[] {400, 401, 403, 404, 409, 410, 426, 500}) {
      assertHandsBack(refusal(status, "overloaded", ""));
    }
  }

  @Test
  public void aRefusalOfTheMomentTakesNothingBackAndRenewsNothing() throws Exception {
    for (int status : new int[] {408, 413, 429, 503}) {
      establish();
      step(ok(LEASED + ",'fetch_failures':true"));
      nowMs += 9_999;
      step(refusal(status, "overloaded", ""));
      assertEquals("status " + status, 1, lease.leftMs());
      assertTrue("its missed outputs are not forgotten", rows.misses);
      nowMs += 1;
      step(refusal(status, "overloaded", ""));
      assertEquals("status " + status, false, lease.getAsBoolean());
    }
  }

  @Test
  public void anotherServiceTakesTheLeaseThatAnOverloadedOneLeft() throws Exception {
    exchange = exchange("http://a:1,http://b:1");
    establish();
    step(ok(LEASED));
    step(refusal(503, "overloaded", ""));
    assertTrue(lease.heldUnder(3));
    step(refusal(404, "unknown_session", ""));
    assertEquals("[a, a, a, b]", asked.toString());
    assertEquals(false, lease.getAsBoolean());
  }

  @Test
  public void anUnprovenSessionHandsBack() throws Exception {
    assertHandsBack(
        request ->
            signed(202, reply(request.seq, 0, "'accepted':true=>'accepted':false;" + LEASED)));
  }

  @Test
  public void aSilentServiceKeepsItsLeaseAndAnotherEpochTakesIt() throws Exception {
    exchange = exchange("http://a:1,http://b:1");
    establish();
    step(ok(LEASED));
    step(
        request -> {
          throw new IOException("gone");
        });
    assertTrue(lease.heldUnder(3));
    step(ok(LEASED + ";'epoch':3=>'epoch':4"));
    assertTrue(lease.heldUnder(4));
    assertEquals(false, lease.heldUnder(3));
  }

  @Test
  public void acknowledgementsAreBounded() throws Exception {
    establish();
    for (int round = 0; round < 3; round++) {
      StringBuilder many = new StringBuilder();
      for (int i = 0; i < 999; i++) {
        many.append(i == 0 ? "" : ",").append("{'id':'").append(round).append('-').append(i);
        many.append("',").append(DUPLICATE);
      }
      step(ok("'actions':[]=>'actions':[" + many + "]"));
    }
    dispatch();
    for (int left : new int[] {1_000, 1_000, 997, 0}) {
      step(ok(""));
      assertEquals(left, rows.last().acks.size());
    }
  }

  @Test
  public void sequenceNumbersNeverRepeat() throws Exception {
    Script[] scripts = {
      ok(""),
      refusal(503, "overloaded", ""),
      request -> {
        throw new IOException("lost");
      },
      refusal(401, "wrong_mac", "")
    };
    for (int i = 0; i < 40; i++) {
      step(scripts[i % scripts.length]);
    }
    for (int i = 0; i < rows.sent.size(); i++) {
      assertEquals(i + 1, rows.sent.get(i).seq);
    }
  }
}
