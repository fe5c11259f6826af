package io.drover.lab;

import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskType;

/** Does work at the speed that this attempt is to have on this node. */
final class Pace {
  /** Sleeps are owed until they are this long, so that many small records cost what they should. */
  private static final double LEAST_SLEEP_MS = 5;

  private final Settings settings;
  private final String node;
  private final String attempt;
  private final double wholeMs;
  private double doneMs;
  private double owedMs;
  private long state = 88172645463325252L;

  /** For an attempt whose work takes {@code wholeMs} on a healthy node. */
  Pace(Settings settings, TaskAttemptID id, double wholeMs) {
    this.settings = settings;
    this.wholeMs = wholeMs;
    this.node = System.getenv("NM_HOST");
    this.attempt =
        (id.getTaskType() == TaskType.MAP ? "m_" : "r_")
            + id.getTaskID().getId()
            + "_"
            + id.getId();
    System.out.println(
        attempt + " on " + node + ": slowness " + slowness() + " of " + settings.slowNodes);
  }

  private double slowness() {
    double doneShare = wholeMs > 0 ? doneMs / wholeMs : 1;
    return settings.slowness(node, attempt, System.currentTimeMillis(), doneShare);
  }

  /** Works for so many milliseconds of a healthy node's time. */
  void work(double healthyMs) throws InterruptedException {
    owedMs += healthyMs * slowness();
    doneMs += healthyMs;
    if (owedMs < LEAST_SLEEP_MS) {
      return;
    }
    if (settings.burnsCpu) {
      burn((long) (owedMs * settings.loopsPerMs));
      owedMs = 0;
    } else {
      long from = System.nanoTime();
      Thread.sleep((long) owedMs);
      owedMs -= (System.nanoTime() - from) / 1e6; // what was overslept is taken off the next
    }
  }

  private void burn(long loops) {
    long x = state;
    for (long i = 0; i < loops; i++) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
    }
    state = x;
  }
}
