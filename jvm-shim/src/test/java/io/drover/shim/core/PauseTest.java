package io.drover.shim.core;

import static org.junit.Assert.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongUnaryOperator;
import org.junit.Test;

/** How long the shim waits between two exchanges, without time. */
public class PauseTest {
  private long slept;
  private final List<Long> looks = new ArrayList<>();
  private LongUnaryOperator endedAfter = ms -> 0;
  private final Pause pause =
      new Pause(
          () -> (int) endedAfter.applyAsLong(slept), ms -> slept += ms, () -> looks.add(slept));

  private long waited(long ms, long newsMs) throws InterruptedException {
    long before = slept;
    pause.pause(ms, newsMs);
    return slept - before;
  }

  @Test
  public void aTaskThatEndsCutsTheWaitShortButNotBelowWhatTheServiceAllows() throws Exception {
    endedAfter = ms -> ms >= 500 ? 1 : 0;
    assertEquals(550, waited(1_000, 250));
    assertEquals("one end cuts one wait short", 1_000, waited(1_000, 250));
    endedAfter = ms -> ms;
    assertEquals(250, waited(1_000, 250));
  }

  @Test
  public void withoutTheServicesLeaveTheWholeWaitIsWaited() throws Exception {
    endedAfter = ms -> ms;
    assertEquals(1_000, waited(1_000, 0));
    assertEquals(100, waited(100, 250));
    assertEquals(0, waited(0, 250));
  }

  @Test
  public void withNothingEndingTheWaitIsNoLongerThanAsked() throws Exception {
    assertEquals(1_030, waited(1_030, 250));
  }

  @Test
  public void aLeaseThatEndsAmidALongPauseIsNoticedWithinASecond() throws Exception {
    assertEquals(3_500, waited(3_500, 0));
    assertEquals(List.of(1_000L, 2_000L, 3_000L, 3_500L), looks);
  }
}
