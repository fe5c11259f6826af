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
      size.tooSlow(size.rows(), true);
      assertEquals(rows, size.rows());
    }
    size.answered(49, true);
    assertEquals("no full page", 50, size.rows());
    for (int rows : new int[] {100, 200, 400, 800, 1_600, 2_000, 2_000}) {
      size.answered(size.rows(), true);
      assertEquals(rows, size.rows());
    }
  }

  @Test
  public void aSmallRequestThatHangsSaysNothingOfTheSize() {
    PageSize size = new PageSize(2_000);
    size.tooSlow(50, true);
    assertEquals(2_000, size.rows());
    PageSize small = new PageSize(10);
    small.tooSlow(10, true);
    assertEquals(10, small.rows());
  }

  @Test
  public void aFewRowsThatHangTakeNothingFromThePagesThatGoThrough() {
    PageSize size = new PageSize(2_000);
    size.tooSlow(60, false);
    assertEquals(2_000, size.rows());
    size.tooSlow(1_000, false);
    assertEquals("half of what it may be", 500, size.rows());
  }

  @Test
  public void pagesThatAreAnsweredLateGrowAllTheSame() {
    PageSize size = new PageSize(170);
    size.tooSlow(100, true);
    for (int rows : new int[] {100, 150, 170, 170}) {
      size.answered(size.rows(), false);
      assertEquals(rows, size.rows());
    }
  }

  @Test
  public void aPageThatItsBytesHadCutIsHalvedByTheRowsThatItHad() {
    PageSize size = new PageSize(20_000);
    size.tooSlow(3_000, true);
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
    size.answered(1, true);
    assertEquals(1, size.rows());
  }
}
