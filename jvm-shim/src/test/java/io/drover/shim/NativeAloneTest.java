package io.drover.shim;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import org.apache.hadoop.mapreduce.v2.app.speculate.DefaultSpeculator;
import org.apache.hadoop.mapreduce.v2.app.speculate.Speculator;
import org.junit.BeforeClass;
import org.junit.Test;

/**
 * One scripted job under a clock that only the script moves, once with Hadoop's own speculator and
 * once with the shim around it: the same events, the same launches, in the same order.
 */
public class NativeAloneTest {
  private static ScriptedJob alone;

  @BeforeClass
  public static void runAlone() throws Exception {
    alone = run(DefaultSpeculator.class, "");
    System.out.printf(
        "native alone: %d events, %d launches%n", alone.events().size(), alone.launches());
    assertTrue("the script must make Hadoop speculate", alone.launches() >= 5);
  }

  @Test
  public void hadoopAloneRepeatsItself() throws Exception {
    assertSame(run(DefaultSpeculator.class, ""));
  }

  @Test
  public void withoutAServiceNothingDiffers() throws Exception {
    assertSame(run(DroverSpeculator.class, ""));
  }

  @Test
  public void withAServiceListeningNothingDiffers() throws Exception {
    try (FakeService service = new FakeService()) {
      ScriptedJob.Hook atEnd =
          (step, am, hadoop) -> {
            if (step > ScriptedJob.STEPS) {
              service.awaitExchange();
            }
          };
      assertSame(ScriptedJob.run(DroverSpeculator.class, service.url(), atEnd));
      assertEquals(List.of(), service.faults);
      long launched = service.last().path("native").path("launched").asLong();
      assertEquals(alone.launches(), launched);
    }
  }

  @Test
  public void withAServiceThatNeverAnswersNothingDiffers() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      assertSame(run(DroverSpeculator.class, "http://localhost:" + silent.getLocalPort()));
    }
  }

  private static void assertSame(ScriptedJob run) {
    assertEquals(String.join("\n", alone.events()), String.join("\n", run.events()));
    assertEquals(String.join("\n", alone.told()), String.join("\n", run.told()));
    assertEquals(alone.attempts(), run.attempts());
  }

  private static ScriptedJob run(Class<? extends Speculator> speculator, String urls)
      throws Exception {
    return ScriptedJob.run(speculator, urls, (step, am, hadoop) -> {});
  }
}
