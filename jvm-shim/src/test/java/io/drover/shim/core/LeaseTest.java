package io.drover.shim.core;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import org.junit.Test;

public class LeaseTest {
  private long nowMs = 50_000;

  private Lease lease(boolean possible) {
    return new Lease(() -> nowMs * 1_000_000, possible);
  }

  @Test
  public void hadoopOwnsTheJobBeforeAndAfterALease() {
    Lease lease = lease(true);
    assertFalse(lease.getAsBoolean());
    lease.take(7, 49_000 * 1_000_000L, 3_000);
    assertTrue(lease.getAsBoolean());
    assertEquals(2_000, lease.leftMs());
    nowMs = 51_999;
    assertTrue(lease.heldUnder(7));
    nowMs = 52_000;
    assertFalse(lease.heldUnder(7));
    assertFalse(lease.getAsBoolean());
    assertEquals(0, lease.leftMs());
  }

  @Test
  public void anAnswerThatTookLongerThanItsLeaseGivesNone() {
    Lease lease = lease(true);
    lease.take(7, 40_000 * 1_000_000L, 3_000);
    assertFalse(lease.getAsBoolean());
    assertEquals(0, lease.leftMs());
  }

  @Test
  public void noLeaseLastsForEver() {
    Lease lease = lease(true);
    lease.take(7, nowMs * 1_000_000, Long.MAX_VALUE / 2);
    assertEquals(Lease.MAX_MS, lease.leftMs());
    nowMs += Lease.MAX_MS;
    assertFalse(lease.getAsBoolean());
  }

  @Test
  public void anotherEpochIsAnotherLease() {
    Lease lease = lease(true);
    lease.take(7, nowMs * 1_000_000, 3_000);
    lease.take(8, nowMs * 1_000_000, 3_000);
    assertFalse(lease.heldUnder(7));
    assertTrue(lease.heldUnder(8));
    lease.end();
    assertFalse(lease.heldUnder(8));
  }

  @Test
  public void aJobThatDoesNotLetDroverActKeepsHadoopsSpeculator() {
    Lease lease = lease(false);
    lease.take(7, nowMs * 1_000_000, 3_000);
    assertFalse(lease.getAsBoolean());
    assertFalse(lease.heldUnder(7));
    assertEquals(0, lease.leftMs());
  }

  @Test
  public void aMonotonicClockMayWrap() {
    long[] nanos = {Long.MAX_VALUE - 1_000_000};
    Lease lease = new Lease(() -> nanos[0], true);
    lease.take(1, nanos[0], 1_000);
    nanos[0] += 2_000_000;
    assertTrue(lease.getAsBoolean());
    nanos[0] += 1_000_000_000L;
    assertFalse(lease.getAsBoolean());
  }
}
