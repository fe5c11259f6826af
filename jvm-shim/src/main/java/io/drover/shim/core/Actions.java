package io.drover.shim.core;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Takes actions from answers to the one thread on which they may be applied. */
final class Actions {
  /** Applies an action, on the dispatcher thread. */
  interface Hand {
    Ack apply(Action action, long epoch, long deadlineNanos);
  }

  private final Ledger ledger;
  private final Hand hand;
  private final Consumer<Runnable> dispatcher;
  private final Racks racks;

  /** {@code dispatcher} has something run on the AM's dispatcher thread, some time later. */
  Actions(Ledger ledger, Hand hand, Consumer<Runnable> dispatcher, Racks racks) {
    this.ledger = ledger;
    this.hand = hand;
    this.dispatcher = dispatcher;
    this.racks = racks;
  }

  /** Actions of an answer to a request that was sent then. */
  void receive(List<Action> actions, long epoch, long sentNanos) {
    racks.begin();
    for (Action action : actions) {
      long ms = Math.min(Math.max(0, action.deadlineMs), Lease.MAX_MS);
      long deadlineNanos = sentNanos + TimeUnit.MILLISECONDS.toNanos(ms);
      if (ledger.admit(action.id, deadlineNanos)) {
        start(action, epoch, deadlineNanos);
      }
    }
  }

  private void start(Action action, long epoch, long deadlineNanos) {
    if (action.fault != null) {
      ledger.answer(new Ack(action.id, action.fault));
      return;
    }
    if (Action.DUPLICATE.equals(action.type)) {
      action.racks = racks.of(action.prefer, action.copies);
    }
    try {
      dispatcher.accept(() -> ledger.answer(hand.apply(action, epoch, deadlineNanos)));
    } catch (RuntimeException e) {
      if (e.getCause() instanceof InterruptedException) {
        // What ends the exchange is heard in the next pause, and not here.
        Thread.currentThread().interrupt();
      }
      ledger.answer(new Ack(action.id, Ack.FAILED));
      Log.warn("cannot reach the AM's dispatcher: {}", e.toString());
    }
  }

  Ledger ledger() {
    return ledger;
  }
}
