package io.drover.shim.core;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.Test;

public class AnswerParserTest {
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
  }

  @Test
  public void fieldsOfALaterVersionAreSkipped() throws IOException {
    String later = GOOD.replace("'seq':9", "'seq':9,'new':{'a':[1,{'b':null}]},'n':null,'f':1.5");
    assertEquals(9, parser.reply(bytes(later)).seq);
  }

  @Test
  public void actionsAreKnownByTheirIdsWhateverTheyAre() throws IOException {
    String actions =
        "'actions':[{'id':'a-1','type':'duplicate','task':{'k':'m','i':[3]}},{'id':'b'}]";
    Reply reply = parser.reply(bytes(GOOD.replace("'actions':[]", actions)));
    assertEquals(List.of("a-1", "b"), reply.actions);
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
    String many = "{'id':'a'},".repeat(AnswerParser.MAX_ACTIONS) + "{'id':'a'}";
    assertRefused(GOOD.replace("'actions':[]", "'actions':[" + many + "]"));
  }

  @Test
  public void aRefusalSaysWhyAndWhen() throws IOException {
    Refusal refusal =
        parser.refusal(bytes("{'error':'wrong_proof','message':'no','retry_ms':5000,'ack':7}"));
    assertEquals("wrong_proof", refusal.error);
    assertEquals(5000, refusal.retryMs);
    assertEquals(7, refusal.ack);
    assertThrows(IOException.class, () -> parser.refusal(bytes("{'status':404}")));
  }
}
