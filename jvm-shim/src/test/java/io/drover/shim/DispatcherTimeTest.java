package io.drover.shim;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.v2.api.records.Phase;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.speculate.DefaultSpeculator;
import org.apache.hadoop.mapreduce.v2.app.speculate.SpeculatorEvent;
import org.apache.hadoop.yarn.event.EventHandler;
import org.apache.hadoop.yarn.util.SystemClock;
import org.junit.Test;

/**
 * Prints what 1,000 status updates cost the AM's dispatcher thread: Drover's own share, and that of
 * Hadoop's speculator in the same run. Updates travel the AM's own path. Time decides nothing here,
 * but what Drover's share allocates does.
 */
public class DispatcherTimeTest {
  private static final int MAPS = 1_000;
  private static final int ROUNDS = 60;

  /** One sample, which has 56, and little else. */
  private static final long MOST_BYTES = 100;

  /** Sums what one listener costs. */
  private static final class Timed implements EventHandler<SpeculatorEvent> {
    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final EventHandler<SpeculatorEvent> timed;
    private volatile long nanos;
    private volatile long bytes;
    private volatile long events;

    Timed(EventHandler<SpeculatorEvent> timed) {
      this.timed = timed;
    }

    @Override
    public void handle(SpeculatorEvent event) {
      long had = threads.getCurrentThreadAllocatedBytes();
      long before = System.nanoTime();
      timed.handle(event);
      nanos += System.nanoTime() - before;
      bytes += threads.getCurrentThreadAllocatedBytes() - had;
      events++;
    }

    double takeMs() {
      double ms = nanos / 1e6;
      nanos = 0;
      return ms;
    }
  }

  @Test
  public void statusUpdatesAreCopiedAndLeft() throws Exception {
    try (FakeService service = new FakeService();
        Am am = new Am(MAPS, 0, "dispatcher-time", 1, SystemClock.getInstance())) {
      Configuration conf =
          Am.conf(DroverSpeculator.class.getName(), "drover.service.urls", service.url());
      am.run(conf, true, true);
      service.awaitExchange();
      Timed drover = timeDrover(am);
      List<TaskAttemptId> attempts = new ArrayList<>();
      for (int i = 0; i < MAPS; i++) {
        attempts.add(am.running(TaskType.MAP, i).get(0).getID());
      }
      List<Double> shares = new ArrayList<>();
      for (int round = 1; round <= ROUNDS; round++) {
        updateAll(am, attempts, round / (float) (ROUNDS + 1));
        shares.add(drover.takeMs());
      }
      print(shares);
      assertEquals((long) MAPS * ROUNDS, drover.events);
      long each = drover.bytes / drover.events;
      assertTrue("an update takes " + each + " bytes", each > 0 && each <= MOST_BYTES);
      String all = Integer.toString(ROUNDS);
      Am.await("the newest facts", () -> all.equals(service.field("m999/0", "c")));
      assertEquals(List.of(), service.faults);
    }
  }

  /** The same updates, with Hadoop's speculator alone: the price that is paid anyway. */
  @Test
  public void hadoopsOwnShareForComparison() throws Exception {
    try (Am am = new Am(MAPS, 0, "dispatcher-time", 1, SystemClock.getInstance())) {
      am.run(Am.conf(DefaultSpeculator.class.getName()), true, true);
      DefaultSpeculator hadoop = (DefaultSpeculator) am.speculator();
      Map<?, ?> seen =
          (Map<?, ?>) ScriptedJob.field(DefaultSpeculator.class, "runningTasks").get(hadoop);
      seen.clear();
      double[] ms = new double[ROUNDS];
      for (int round = 0; round < ROUNDS; round++) {
        List<SpeculatorEvent> events = new ArrayList<>();
        for (int i = 0; i < MAPS; i++) {
          TaskAttemptId id = am.running(TaskType.MAP, i).get(0).getID();
          events.add(new SpeculatorEvent(Am.status(id, 0.5f, Phase.MAP, null), 1_000 + round));
        }
        long before = System.nanoTime();
        events.forEach(hadoop::handle);
        ms[round] = (System.nanoTime() - before) / 1e6;
      }
      Arrays.sort(ms);
      System.out.printf(Locale.ROOT, "native_ms_per_1000_updates=%.3f (median)%n", ms[ROUNDS / 2]);
      assertEquals("not put off: each was looked at", MAPS, seen.size());
    }
  }

  private static void updateAll(Am am, List<TaskAttemptId> attempts, float progress)
      throws Exception {
    Counters counters = new Counters();
    counters.findCounter(TaskCounter.MAP_INPUT_RECORDS).setValue((long) (progress * 1e6));
    for (TaskAttemptId attempt : attempts) {
      am.update(attempt, progress, Phase.MAP, counters);
    }
    am.drain();
  }

  @SuppressWarnings("unchecked")
  private static Timed timeDrover(Am am) throws Exception {
    Field listener = ScriptedJob.field(DroverSpeculator.class, "listener");
    Timed timed = new Timed((EventHandler<SpeculatorEvent>) listener.get(am.speculator()));
    listener.set(am.speculator(), timed);
    return timed;
  }

  private static void print(List<Double> shares) {
    double cold = shares.get(0);
    double[] sorted = shares.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    System.out.printf(
        Locale.ROOT,
        "dispatcher_ms_per_1000_updates=%.3f (median of %d; first %.3f, worst %.3f)%n",
        sorted[sorted.length / 2],
        sorted.length,
        cold,
        sorted[sorted.length - 1]);
  }
}
