package io.drover.shim.core;

import java.util.function.IntSupplier;

/**
 * Waits between two exchanges. News may cut that short: a task that ends leaves room for a copy,
 * and one that starts may have its own.
 */
final class Pause {
  /** So often tasks are counted, which costs the job a lock that is not contended. */
  private static final long LOOK_MS = 100;

  /** {@link Thread#sleep(long)}, or a test's own. */
  interface Sleeper {
    void sleep(long ms) throws InterruptedException;
  }

  /** So often it is looked whether a lease has ended, which may be amid a long pause. */
  static final long SLICE_MS = 1_000;

  private final IntSupplier news;
  private final Sleeper sleeper;
  private final Runnable look;
  private int told;

  Pause(IntSupplier news, Sleeper sleeper, Runnable look) {
    this.news = news;
    this.sleeper = sleeper;
    this.look = look;
  }

  /** For so long; once {@code newsMs} have passed, unless that is 0, only until there is news. */
  void pause(long ms, long newsMs) throws InterruptedException {
    long certain = newsMs > 0 ? Math.min(newsMs, ms) : ms;
    long left = certain;
    do { // even for no time: an interruption is heard here
      sleep(Math.min(SLICE_MS, left));
      left -= SLICE_MS;
    } while (left > 0);
    for (left = ms - certain; left > 0 && news.getAsInt() == told; left -= LOOK_MS) {
      sleep(Math.min(LOOK_MS, left));
    }
    told = news.getAsInt();
  }

  private void sleep(long ms) throws InterruptedException {
    sleeper.sleep(ms);
    look.run();
  }
}
