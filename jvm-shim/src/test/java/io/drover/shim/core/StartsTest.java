package io.drover.shim.core;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

/** What is counted of tasks that began before anybody wanted to know. */
public class StartsTest {
  @Test
  public void whatBeganBeforeItWasWantedCountsAsOneEachTimeItIsWantedAnew() {
    Starts starts = new Starts(null, what -> {});
    starts.launched(null);
    assertEquals(0, starts.count());
    for (boolean asked : new boolean[] {true, true, false, true}) {
      starts.want(asked);
    }
    assertEquals(2, starts.count());
  }
}
