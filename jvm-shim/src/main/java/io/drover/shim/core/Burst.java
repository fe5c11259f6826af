package io.drover.shim.core;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Requests in a row: of one session the service takes 50 at once, and 10 a second. */
final class Burst {
  private static final int MOST = 40;
  private static final long EACH_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final LongSupplier nanos;

  /** When all that was taken will have been given back. */
  private long backNanos;

  Burst(LongSupplier nanos) {
    this.nanos = nanos;
    backNanos = nanos.getAsLong();
  }

  /** Another goes out. */
  void take() {
    long now = nanos.getAsLong();
    backNanos = (backNanos - now > 0 ? backNanos : now) + EACH_NANOS;
  }

  /** Whether the next is to wait for its turn. */
  boolean isSpent() {
    return backNanos - nanos.getAsLong() >= MOST * EACH_NANOS;
  }
}
