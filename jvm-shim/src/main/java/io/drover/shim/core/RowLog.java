package io.drover.shim.core;

import java.util.ArrayList;
import java.util.List;

/**
 * All rows in the order of their newest change: a list through the rows themselves. A change moves
 * its row to the end under the next version, so memory is bounded by the number of rows, and what
 * changed after any version is the tail of the list.
 */
final class RowLog {
  private Row oldest;
  private Row newest;
  private long version;

  /** Gives the row the next version and returns it. */
  long touch(Row row) {
    version++;
    row.version = version;
    if (row == newest) {
      return version;
    }
    unlink(row);
    row.older = newest;
    if (newest == null) {
      oldest = row;
    } else {
      newest.newer = row;
    }
    newest = row;
    return version;
  }

  long version() {
    return version;
  }

  /**
   * The oldest changes after {@code base}, within both limits but at least one row. A row that has
   * changed since the first page moves behind the next one's base with all that it has to tell, so
   * what a row tells goes by {@code whole}: where the last page without more had come to.
   */
  Page after(long base, long whole, int maxRows, int maxBytes) {
    Row first = null;
    for (Row row = newest; row != null && row.version > base; row = row.older) {
      first = row;
    }
    List<Row> rows = new ArrayList<>();
    int bytes = 0;
    Row row = first;
    while (row != null && rows.size() < maxRows && (rows.isEmpty() || bytes < maxBytes)) {
      rows.add(row);
      bytes += row.bytes();
      row = row.newer;
    }
    // Versions of rows that changed again are gaps that a later version covers.
    long upto = row == null ? version : rows.get(rows.size() - 1).version;
    return new Page(rows, base, whole, upto, row != null);
  }

  private void unlink(Row row) {
    if (row.newer != null) {
      row.newer.older = row.older;
    }
    if (row.older != null) {
      row.older.newer = row.newer;
    } else if (oldest == row) {
      oldest = row.newer;
    }
    row.newer = null;
    row.older = null;
  }

  /** Rows for one request. */
  static final class Page {
    final List<Row> rows;
    final long base;

    /** All that had changed up to this version the reader has, of every row. */
    final long whole;

    final long upto;
    final boolean more;

    Page(List<Row> rows, long base, long whole, long upto, boolean more) {
      this.rows = rows;
      this.base = base;
      this.whole = whole;
      this.upto = upto;
      this.more = more;
    }
  }
}
