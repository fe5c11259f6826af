package io.drover.shim.core;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Every action seen, with its answer: what makes an action happen at most once. The dispatcher
 * thread answers, the exchange thread sends the answers until the service has heard them.
 */
final class Ledger {
  static final int MAX_ACTIONS = 10_000;

  private static final class Entry {
    final long deadlineNanos;
    Ack answer;

    Entry(long deadlineNanos) {
      this.deadlineNanos = deadlineNanos;
    }
  }

  private final LongSupplier nanos;
  private final Map<String, Entry> seen = new LinkedHashMap<>();
  private final Map<String, Ack> unheard = new LinkedHashMap<>();
  private int unanswered;

  /** The latest of those that may be unanswered. */
  private long lastDeadlineNanos;

  private long refused;

  Ledger(LongSupplier nanos) {
    this.nanos = nanos;
  }

  /** Whether the action is new and there is room for it; one answered before is answered again. */
  synchronized boolean admit(String id, long deadlineNanos) {
    Entry known = seen.get(id);
    if (known != null) {
      if (known.answer != null) {
        unheard.put(id, known.answer);
      }
      return false;
    }
    if (seen.size() >= MAX_ACTIONS && !forgetOldest()) {
      refused++;
      return false;
    }
    seen.put(id, new Entry(deadlineNanos));
    if (unanswered == 0 || deadlineNanos - lastDeadlineNanos > 0) {
      lastDeadlineNanos = deadlineNanos;
    }
    unanswered++;
    return true;
  }

  /** Only one that may not be applied any more: else it could come again and count as new. */
  private boolean forgetOldest() {
    Iterator<Entry> oldest = seen.values().iterator();
    Entry entry = oldest.next();
    if (entry.deadlineNanos - nanos.getAsLong() > 0) {
      return false;
    }
    oldest.remove();
    unanswered -= entry.answer == null ? 1 : 0;
    return true;
  }

  /** The answer to an admitted action, or a later word on it. */
  synchronized void answer(Ack ack) {
    Entry entry = seen.get(ack.id);
    if (entry != null) {
      unanswered -= entry.answer == null ? 1 : 0;
      entry.answer = ack;
      unheard.put(ack.id, ack);
    }
  }

  /** Answers that the service has not heard yet, oldest first. */
  synchronized List<Ack> unheard(int most) {
    List<Ack> acks = new ArrayList<>(Math.min(most, unheard.size()));
    for (Ack ack : unheard.values()) {
      if (acks.size() == most) {
        break;
      }
      acks.add(ack);
    }
    return acks;
  }

  /** The service has these; a newer word on the same action stays. */
  synchronized void heard(List<Ack> acks) {
    for (Ack ack : acks) {
      unheard.remove(ack.id, ack);
    }
  }

  /** Whether an answer waits to be sent, or may yet be given. */
  synchronized boolean owes() {
    boolean soon = unanswered > 0 && lastDeadlineNanos - nanos.getAsLong() > 0;
    return soon || !unheard.isEmpty();
  }

  /** Actions for which there was no room. */
  synchronized long refused() {
    return refused;
  }
}
