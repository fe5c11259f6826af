package io.drover.shim.core;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.List;
import org.junit.Test;

public class LedgerTest {
  private long now;
  private final Ledger ledger = new Ledger(() -> now);

  @Test
  public void anIdIsAdmittedOnce() {
    assertTrue(ledger.admit("a", 10));
    assertFalse(ledger.admit("a", 10));
    assertEquals(0, ledger.unheard(9).size());
    ledger.answer(new Ack("a", Ack.COMMITTING));
    ledger.heard(ledger.unheard(9));
    assertFalse(ledger.admit("a", 10));
    assertEquals("[a committing []]", ledger.unheard(9).toString());
  }

  @Test
  public void aLaterWordIsNotLostWhenAnEarlierOneWasHeard() {
    ledger.admit("a", 10);
    ledger.answer(new Ack("a", Ack.APPLIED, new int[] {1}));
    List<Ack> sent = ledger.unheard(9);
    ledger.answer(new Ack("a", Ack.MOVED, new int[] {2}));
    ledger.heard(sent);
    assertEquals("[a moved [2]]", ledger.unheard(9).toString());
  }

  @Test
  public void answersAreOwedFromAdmissionUntilTheyAreHeard() {
    assertFalse(ledger.owes());
    ledger.admit("a", 10);
    assertTrue(ledger.owes());
    ledger.answer(new Ack("a", Ack.FAILED));
    assertTrue(ledger.owes());
    ledger.heard(ledger.unheard(9));
    assertFalse(ledger.owes());
  }

  @Test
  public void aLaterDeadlineIsNotForgottenForASoonerOneThatCameAfterIt() {
    long end = Long.MIN_VALUE + 5; // past the point where the clock's number wraps
    now = end - 20;
    ledger.admit("a", end);
    ledger.admit("b", end - 15);
    now = end - 15;
    assertTrue("a may yet be answered", ledger.owes());
    now = end;
    assertFalse(ledger.owes());
  }

  @Test
  public void theDeadlineOfWhatWasAnsweredKeepsNoOtherActionOwed() {
    now = -1_000;
    ledger.admit("a", -100);
    ledger.answer(new Ack("a", Ack.FAILED));
    ledger.heard(ledger.unheard(9));
    ledger.admit("b", -900);
    now = -900;
    assertFalse(ledger.owes());
  }

  @Test
  public void anActionThatNobodyAnswersIsOwedOnlyUntilItsDeadline() {
    ledger.admit("a", 10);
    now = 9;
    assertTrue(ledger.owes());
    now = 10;
    assertFalse(ledger.owes());
    for (int i = 1; i < Ledger.MAX_ACTIONS; i++) {
      ledger.admit("b" + i, 20);
    }
    assertTrue(ledger.admit("c", 20));
    ledger.answer(new Ack("a", Ack.PAST_DEADLINE));
    assertFalse(ledger.unheard(1).iterator().hasNext());
  }

  @Test
  public void onlyWhatCanNoLongerBeAppliedIsForgotten() {
    for (int i = 0; i < Ledger.MAX_ACTIONS; i++) {
      assertTrue(ledger.admit("a" + i, 100 + i));
      ledger.answer(new Ack("a" + i, Ack.APPLIED));
    }
    now = 99;
    assertFalse(ledger.admit("b", 500));
    assertEquals(1, ledger.refused());
    now = 100;
    assertTrue(ledger.admit("b", 500));
    assertFalse(ledger.admit("c", 500));
    assertFalse(ledger.admit("a1", 500));
    assertEquals(2, ledger.refused());
  }
}
