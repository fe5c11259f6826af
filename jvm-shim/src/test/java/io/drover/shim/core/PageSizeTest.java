package io.drover.shim.core;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import org.junit.Test;

public class PageSizeTest {
  @Test
  public void whatIsTooSlowIsHalvedDownToFiftyAndGrowsWithFullPagesThatAreQuick() {
    PageSize size = new PageSize(2_000);
    for (int rows : new int[] {1_000, 500, 250, 125, 62, 50, 50}) {
      size.tooSlow(size.rows());
      assertEquals(rows, size.rows());
    }
    size.quick(49);
    assertEquals("no full page", 50, size.rows());
    for (int rows : new int[] {100, 200, 400, 800, 1_600, 2_000, 2_000}) {
      size.quick(size.rows());
      assertEquals(rows, size.rows());
    }
  }

  @Test
  public void aSmallRequestThatHangsSaysNothingOfTheSize() {
    PageSize size = new PageSize(2_000);
    size.tooSlow(50);
    assertEquals(2_000, size.rows());
    PageSize small = new PageSize(10);
    small.tooSlow(10);
    assertEquals(10, small.rows());
  }

  @Test
  public void aPageThatItsBytesHadCutIsHalvedByTheRowsThatItHad() {
    PageSize size = new PageSize(20_000);
    size.tooSlow(3_000);
    assertEquals(1_500, size.rows());
  }

  @Test
  public void whatTheServiceDoesNotTakeIsNeverAskedOfItAgain() {
    PageSize size = new PageSize(10);
    for (int rows : new int[] {5, 2, 1}) {
      assertTrue(size.tooLarge());
      assertEquals(rows, size.rows());
    }
    assertFalse(size.tooLarge());
    size.quick(1);
    assertEquals(1, size.rows());
  }
}
