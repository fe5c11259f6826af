package io.drover.shim.core;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Who launches the job's copies: Drover while a lease lasts, Hadoop's own speculator otherwise. Its
 * monitor is held by whoever launches, so that no launch of one owner overlaps the other's time.
 */
final class Lease implements BooleanSupplier {
  /** Longer leases are cut: so long at most does a job wait for a service that went silent. */
  static final long MAX_MS = 300_000;

  private final LongSupplier nanos;
  private final boolean possible;
  private boolean taken;
  private long epoch;
  private long endNanos;

  /** {@code nanos} is a monotonic clock; where a lease is not possible none is ever taken. */
  Lease(LongSupplier nanos, boolean possible) {
    this.nanos = nanos;
    this.possible = possible;
  }

  /** Drover owns the job for a time that began when the request was sent. */
  synchronized void take(long newEpoch, long sentNanos, long leaseMs) {
    taken = possible;
    epoch = newEpoch;
    endNanos = sentNanos + TimeUnit.MILLISECONDS.toNanos(Math.min(leaseMs, MAX_MS));
  }

  /** Hands the job back at once. */
  synchronized void end() {
    taken = false;
  }

  /** Whether Drover owns the job now, under this epoch. */
  synchronized boolean heldUnder(long someEpoch) {
    return epoch == someEpoch && leftNanos() > 0;
  }

  /** Whether Hadoop's own speculator must not launch now. */
  @Override
  public synchronized boolean getAsBoolean() {
    return leftNanos() > 0;
  }

  /** What is left of it, in ms. */
  synchronized long leftMs() {
    return TimeUnit.NANOSECONDS.toMillis(leftNanos());
  }

  private long leftNanos() {
    return taken ? Math.max(0, endNanos - nanos.getAsLong()) : 0;
  }
}
