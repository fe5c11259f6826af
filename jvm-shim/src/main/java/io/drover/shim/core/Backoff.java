package io.drover.shim.core;

import java.util.Random;

/** Waiting times that double up to a limit, each drawn from the upper half of its range. */
final class Backoff {
  private final long firstMs;
  private final long mostMs;
  private final Random random;
  private long nextMs;

  Backoff(long firstMs, long mostMs, Random random) {
    this.firstMs = Math.min(firstMs, mostMs);
    this.mostMs = mostMs;
    this.random = random;
    this.nextMs = this.firstMs;
  }

  /** Between half of the current range and all of it. */
  long next() {
    long range = nextMs;
    nextMs = Math.min(mostMs, 2 * nextMs);
    return range / 2 + (long) (random.nextDouble() * (range - range / 2));
  }

  void reset() {
    nextMs = firstMs;
  }
}
