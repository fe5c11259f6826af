package io.drover.shim.core;

/** How many rows a request carries: as the service takes them, and as they come through in time. */
final class PageSize {
  /** With no more than these it is not the size that takes the time. */
  private static final int LEAST_BY_TIME = 50;

  private int most;
  private int rows;

  PageSize(int most) {
    this.most = most;
    rows = most;
  }

  int rows() {
    return rows;
  }

  /** The service takes no request of this size, now or later. False when there is no smaller. */
  boolean tooLarge() {
    if (rows == 1) {
      return false;
    }
    most = rows / 2;
    rows = most;
    return true;
  }

  /** A request with so many rows had not come through, or not been answered, in its time. */
  void tooSlow(int sent, boolean more) {
    boolean isLarge = more || sent >= rows / 2;
    if (isLarge && sent > LEAST_BY_TIME) {
      rows = Math.max(LEAST_BY_TIME, sent / 2);
    }
  }

  /** One with so many was; where it was quick, with time to spare for twice as many. */
  void answered(int sent, boolean quick) {
    if (sent >= rows) {
      rows = Math.min(most, quick ? 2 * rows : rows + LEAST_BY_TIME);
    }
  }
}
