package io.drover.shim.core;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.junit.Test;

public class AnswerParserTest {
  /**
   * What a service of the first release says at least. It stays as it is: jars outlive services.
   */
  private static final String GOOD =
      "{'protocol':1,'seq':9,'epoch':3,'incarnation':'x','accepted':true,'ack':23,'snapshot':false,"
          + "'next_exchange_ms':1000,'launcher':'native','lease_ms':0,'actions':[]}";

  private final AnswerParser parser = new AnswerParser();

  private static byte[] bytes(String json) {
    return json.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
  }

  private void assertRefused(String json) {
    assertThrows(json, IOException.class, () -> parser.reply(bytes(json)));
  }

  @Test
  public void everyFieldOfAReplyArrives() throws IOException {
    Reply reply = parser.reply(bytes(GOOD));
    assertEquals(9, reply.seq);
    assertEquals(3, reply.epoch);
    assertTrue(reply.accepted);
    assertEquals(23, reply.ack);
    assertFalse(reply.snapshot);
    assertEquals(1000, reply.nextExchangeMs);
    assertEquals("an older service names none", 0, reply.newsExchangeMs);
    String news = GOOD.replace("'launcher'", "'news_exchange_ms':250,'launcher'");
    assertEquals(250, parser.reply(bytes(news)).newsExchangeMs);
    assertFalse(reply.newsOfStarts);
    String starts = GOOD.replace("'launcher'", "'news_of_starts':true,'launcher'");
    assertTrue(parser.reply(bytes(starts)).newsOfStarts);
    assertFalse("nor asks for these", reply.fetchFailures);
    String asks = GOOD.replace("'launcher'", "'fetch_failures':true,'launcher'");
    assertTrue(parser.reply(bytes(asks)).fetchFailures);
  }

  @Test
  public void fieldsOfALaterVersionAreSkipped() throws IOException {
    String later = GOOD.replace("'seq':9", "'seq':9,'new':{'a':[1,{'b':null}]},'n':null,'f':1.5");
    assertEquals(9, parser.reply(bytes(later)).seq);
    String large = GOOD.replace("'seq':9", "'seq':9,'n':99999999999999999999,'s':'word'");
    assertEquals(9, parser.reply(bytes(large)).seq);
  }

  @Test
  public void aLeaseCountsOnlyWhereDroverLaunches() throws IOException {
    String leased = GOOD.replace("'lease_ms':0", "'lease_ms':9000");
    assertEquals(0, parser.reply(bytes(leased)).leaseMs);
    assertEquals(9_000, parser.reply(bytes(leased.replace("native", "drover"))).leaseMs);
  }

  private static final String ACTION =
      "{'id':'a-1','type':'duplicate','deadline_ms':8000,'k':'r','i':3,'copies':2,'live':1,"
          + "'avoid':['nm1','nm2'],'moves':2,'later':{'x':[1]}}";

  private Action action(String json) throws IOException {
    Reply reply = parser.reply(bytes(GOOD.replace("'actions':[]", "'actions':[" + json + "]")));
    assertEquals(1, reply.actions.size());
    return reply.actions.get(0);
  }

  @Test
  public void everyFieldOfAnActionArrives() throws IOException {
    Action action = action(ACTION);
    assertEquals("a-1", action.id);
    assertNull(action.fault);
    assertEquals(8_000, action.deadlineMs);
    assertFalse(action.map);
    assertEquals(3, action.task);
    assertEquals(2, action.copies);
    assertEquals(1, action.live);
    assertEquals(Set.of("nm1", "nm2"), action.avoid);
    assertEquals(2, action.moves);
  }

  @Test
  public void hostsToAvoidAndMovesMayBeMissing() throws IOException {
    Action action = action(ACTION.replace("'avoid'", "'x'").replace("'moves'", "'y'"));
    assertNull(action.fault);
    assertEquals(Set.of(), action.avoid);
    assertEquals(0, action.moves);
  }

  @Test
  public void outputsOutOfReachArriveInPairsOrNotAtAll() throws IOException {
    String rerun = "{'id':'a-1','type':'rerun','deadline_ms':8000,'outputs':[[3,0],[7,1001]]}";
    Action action = action(rerun);
    assertNull(action.fault);
    assertArrayEquals(new long[] {7, 1001}, action.outputs.get(1));
    assertEquals(2, action.outputs.size());
    String[] changes = {
      "'outputs'=>'o'",
      "8000=>-1",
      "[[3,0],[7,1001]]=>[]",
      "[[3,0],[7,1001]]=>7",
      "[3,0]=>3",
      "[3,0]=>[3]",
      "[3,0]=>[3,0,0]",
      "[3,0]=>[-3,0]",
      "[3,0]=>['3',0]",
      "[3,0]=>" + "[3,0],".repeat(999) + "[3,0]",
    };
    for (String change : changes) {
      String[] fromTo = change.split("=>");
      assertEquals(change, Ack.MALFORMED, action(rerun.replace(fromTo[0], fromTo[1])).fault);
    }
  }

  @Test
  public void anActionOutOfRangeIsMalformedButHasItsId() throws IOException {
    String[] changes = {
      "'type'=>'typo'",
      "'duplicate'=>7",
      "8000=>-1",
      "8000=>'8000'",
      "8000=>99999999999999999999",
      "8000=>9007199254740992",
      "'deadline_ms'=>'d'",
      "'r'=>'x'",
      "'r'=>null",
      "'k'=>'q'",
      "'i':3=>'i':-3",
      "'i':3=>'i':4294967296",
      "'i':3=>'i':[3]",
      "'i':3=>'j':3",
      "'i':3=>'i':3.5",
      "'copies':2=>'copies':0",
      "'copies':2=>'copies':9",
      "'copies':2=>'c':2",
      "'live':1=>'live':0",
      "'live':1=>'live':17",
      "'live':1=>'l':1",
      "'moves':2=>'moves':9",
      "'moves':2=>'moves':-1",
      "['nm1','nm2']=>'nm1'",
      "['nm1','nm2']=>[1]",
      "['nm1','nm2']=>[['nm1']]",
      "'nm1'=>'" + "n".repeat(1025) + "'",
      "'nm1'=>" + "'nm1',".repeat(63) + "'nm1'",
    };
    for (String change : changes) {
      String[] fromTo = change.split("=>");
      Action action = action(ACTION.replace(fromTo[0], fromTo[1]));
      assertEquals(change, Ack.MALFORMED, action.fault);
      assertEquals(change, "a-1", action.id);
    }
  }

  private static final String RESTART =
      "{'id':'a-2','type':'restart','deadline_ms':8000,'k':'m','i':3,'n':1004,'live':2,"
          + "'below':0.25,'restarts':2,'avoid':['nm1'],'moves':6}";

  @Test
  public void everyFieldOfARestartArrives() throws IOException {
    Action action = action(RESTART);
    assertNull(action.fault);
    assertTrue(action.isRestart() && action.map);
    assertEquals(1_004, action.attempt);
    assertEquals(2, action.live);
    assertEquals(2, action.restarts);
    assertEquals(0.25, action.below, 0);
    assertEquals(1, action(RESTART.replace("0.25", "1")).below, 0);
  }

  @Test
  public void aRestartOutOfRangeIsMalformed() throws IOException {
    String[] changes = {
      "'n':1004=>'n':-1",
      "'n':1004=>'n':4294967296",
      "'n':1004=>'m':4",
      "'below':0.25=>'below':1.5",
      "'below':0.25=>'below':-0.5",
      "'below':0.25=>'below':'0.25'",
      "'below':0.25=>'b':0.25",
      "'restarts':2=>'restarts':-1",
      "'restarts':2=>'restarts':17",
      "'restarts':2=>'r':2",
    };
    for (String change : changes) {
      String[] fromTo = change.split("=>");
      assertEquals(change, Ack.MALFORMED, action(RESTART.replace(fromTo[0], fromTo[1])).fault);
    }
  }

  private static final String AVOID =
      "{'id':'a-3','type':'avoid','deadline_ms':8000,'avoid':['nm1'],'for_ms':300000}";

  @Test
  public void hostsToAvoidAndForHowLongArrive() throws IOException {
    Action action = action(AVOID);
    assertNull(action.fault);
    assertEquals(300_000, action.forMs);
    assertEquals(Set.of("nm1"), action.avoid);
    assertNull("none any more", action(AVOID.replace("['nm1']", "[]")).fault);
    for (String time : new String[] {"0", "3600001", "-1", "'300000'", "null"}) {
      assertEquals(time, Ack.MALFORMED, action(AVOID.replace("300000", time)).fault);
    }
    assertEquals(Ack.MALFORMED, action(AVOID.replace("['nm1']", "7")).fault);
    for (String noHost : new String[] {"*", "/rack", "nm1:8041"}) {
      assertEquals(noHost, Ack.MALFORMED, action(AVOID.replace("nm1", noHost)).fault);
    }
  }

  @Test
  public void anUnknownTypeIsUnsupportedWhateverElseItHolds() throws IOException {
    assertEquals(Ack.UNSUPPORTED, action("{'id':'b','type':'evict','i':{'j':[1]}}").fault);
  }

  @Test
  public void everyTruncatedReplyIsRefused() {
    byte[] whole = bytes(GOOD);
    for (int length = 0; length < whole.length; length++) {
      byte[] cut = java.util.Arrays.copyOf(whole, length);
      assertThrows("cut at " + length, IOException.class, () -> parser.reply(cut));
    }
  }

  @Test
  public void aLoginPageIsRefused() {
    assertRefused("<!DOCTYPE html><html><body>Log in</body></html>");
    assertRefused("There is no active RM right now.");
    assertRefused("null");
    assertRefused("[]");
  }

  @Test
  public void wrongTypesAndRangesAreRefused() {
    assertRefused(GOOD.replace("'protocol':1", "'protocol':2"));
    assertRefused(GOOD.replace("'seq':9", "'seq':-1"));
    assertRefused(GOOD.replace("'seq':9", "'seq':'9'"));
    assertRefused(GOOD.replace("'seq':9", "'seq':9007199254740992"));
    assertRefused(GOOD.replace("'seq':9", "'seq':99999999999999999999999999"));
    assertRefused(GOOD.replace("'ack':23", "'ack':2.5"));
    assertRefused(GOOD.replace("'ack':23", "'ack':null"));
    assertRefused(GOOD.replace("'accepted':true", "'accepted':1"));
    assertRefused(GOOD.replace("'native'", "'someone'"));
    assertRefused(GOOD.replace("'actions':[]", "'actions':null"));
    assertRefused(GOOD.replace("'actions':[]", "'actions':[7]"));
    assertRefused(GOOD.replace("'actions':[]", "'actions':[{'type':'duplicate'}]"));
    String tooLong = "x".repeat(1025);
    assertRefused(GOOD.replace("'actions':[]", "'actions':[{'id':'" + tooLong + "'}]"));
  }

  @Test
  public void eachRequiredFieldIsRequired() {
    String[] names = {
      "protocol",
      "seq",
      "epoch",
      "incarnation",
      "accepted",
      "ack",
      "snapshot",
      "next_exchange_ms",
      "launcher",
      "lease_ms",
      "actions"
    };
    for (String name : names) {
      assertRefused(GOOD.replace("'" + name + "'", "'other'"));
    }
  }

  @Test
  public void doubledFieldsAndTrailingTextAreRefused() {
    assertRefused(GOOD.replace("'seq':9", "'seq':9,'seq':10"));
    assertRefused(GOOD + GOOD);
  }

  @Test
  public void depthAndNumberOfActionsAreBounded() {
    assertRefused(GOOD.replace("'seq':9", "'seq':9,'deep':" + "[".repeat(40) + "]".repeat(40)));
    String many = "{'id':'a'},".repeat(ActionReader.MAX_ACTIONS) + "{'id':'a'}";
    assertRefused(GOOD.replace("'actions':[]", "'actions':[" + many + "]"));
  }

  @Test
  public void aRefusalSaysWhyAndWhen() throws IOException {
    Refusal refusal =
        parser.refusal(bytes("{'error':'wrong_proof','message':'no','retry_ms':5000,'ack':7}"));
    assertEquals("wrong_proof", refusal.error);
    assertEquals(5000, refusal.retryMs);
    assertEquals(7, refusal.ack);
    assertEquals("no", refusal.message);
    String wordless = "{'error':'e','retry_ms':1,'message':[1],'since':{'a':99999999999999999999}}";
    assertEquals("", parser.refusal(bytes(wordless)).message);
    String words = "a\\nb\\u001b[2J\\u202ec" + "x".repeat(400);
    String line =
        parser.refusal(bytes("{'error':'e','retry_ms':1,'message':'" + words + "'}")).message;
    assertEquals("a\uFFFDb\uFFFD[2J\uFFFDc" + "x".repeat(291), line);
    assertThrows(IOException.class, () -> parser.refusal(bytes("{'status':404}")));
  }
}
