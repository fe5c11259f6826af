package io.drover.shim.core;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.Random;
import org.junit.Test;

public class BackoffTest {
  @Test
  public void waitsGrowToTheLimitAndStayThere() {
    Backoff backoff = new Backoff(1_000, 60_000, new Random(7));
    long range = 1_000;
    for (int i = 0; i < 50; i++) {
      long wait = backoff.next();
      assertTrue("wait " + wait + " of " + range, wait >= range / 2 && wait <= range);
      range = Math.min(60_000, 2 * range);
    }
  }

  @Test
  public void successStartsFromTheBeginning() {
    Backoff backoff = new Backoff(1_000, 60_000, new Random(7));
    backoff.next();
    backoff.next();
    backoff.reset();
    assertTrue(backoff.next() <= 1_000);
  }

  @Test
  public void manyShimsDoNotReturnTogether() {
    long distinct =
        new Random(1)
            .longs(100)
            .map(seed -> new Backoff(60_000, 60_000, new Random(seed)).next())
            .distinct()
            .count();
    assertTrue(distinct > 90);
  }

  @Test
  public void aFirstWaitBeyondTheLimitIsTheLimit() {
    Backoff backoff = new Backoff(5_000, 1_000, new Random(7));
    assertEquals(true, backoff.next() <= 1_000);
  }
}
