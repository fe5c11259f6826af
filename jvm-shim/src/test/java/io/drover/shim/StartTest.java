package io.drover.shim;

import static org.junit.Assert.assertTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.v2.app.speculate.DefaultSpeculator;
import org.apache.hadoop.mapreduce.v2.app.speculate.Speculator;
import org.apache.hadoop.service.Service;
import org.apache.hadoop.yarn.util.SystemClock;
import org.junit.Test;

/**
 * Prints how long the AM waits for the speculator to start and to stop. What a test can fail on is
 * of another order: the shim's time-outs are set to a minute, so any exchange on the AM's own
 * thread would show.
 */
public class StartTest {
  private static final long NO_WAITING_MS = 20_000;

  private static void measure(String label, Class<? extends Speculator> type, String urls)
      throws Exception {
    Configuration conf =
        Am.conf(
            type.getName(),
            "drover.service.urls",
            urls,
            "drover.exchange.connect-timeout-ms",
            "30000",
            "drover.exchange.read-timeout-ms",
            "60000");
    try (Am am = new Am(2, 0, "start", 1, SystemClock.getInstance())) {
      am.run(conf, true, true);
      Speculator fresh =
          type.getConstructor(Configuration.class, contextType())
              .newInstance(am.getConfig(), am.getContext());
      long before = System.nanoTime();
      ((Service) fresh).init(am.getConfig());
      ((Service) fresh).start();
      long started = System.nanoTime();
      Thread.sleep(200); // so that the exchange thread is in the middle of its first exchange
      long stopping = System.nanoTime();
      ((Service) fresh).stop();
      long stopped = System.nanoTime();
      System.out.printf(
          Locale.ROOT,
          "speculator_start_ms=%.2f speculator_stop_ms=%.2f (%s)%n",
          (started - before) / 1e6,
          (stopped - stopping) / 1e6,
          label);
      assertTrue(label, (started - before) / 1e6 < NO_WAITING_MS);
      assertTrue(label, (stopped - stopping) / 1e6 < NO_WAITING_MS);
    }
  }

  private static Class<?> contextType() {
    return org.apache.hadoop.mapreduce.v2.app.AppContext.class;
  }

  @Test
  public void theAmWaitsForNobody() throws Exception {
    measure("hadoop alone", DefaultSpeculator.class, "");
    measure("shim, no service configured", DroverSpeculator.class, "");
    int closed;
    try (ServerSocket gone = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      closed = gone.getLocalPort();
    }
    measure("shim, service down", DroverSpeculator.class, "http://localhost:" + closed);
    try (FakeService service = new FakeService()) {
      measure("shim, service up", DroverSpeculator.class, service.url());
    }
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      String url = "http://localhost:" + silent.getLocalPort();
      measure("shim, service accepts and never answers", DroverSpeculator.class, url);
    }
    // A full accept queue: connecting itself hangs.
    try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      try (java.net.Socket one = connect(full);
          java.net.Socket two = connect(full)) {
        assertTrue(one.isConnected() && two.isConnected());
        String url = "http://localhost:" + full.getLocalPort();
        measure("shim, service does not accept", DroverSpeculator.class, url);
      }
    }
  }

  private static java.net.Socket connect(ServerSocket to) throws Exception {
    return new java.net.Socket(to.getInetAddress(), to.getLocalPort());
  }
}
