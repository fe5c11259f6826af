package io.drover.shim.core;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import com.fasterxml.jackson.core.JsonGenerator;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.Test;

public class RowLogTest {
  private static final class Plain extends Row {
    @Override
    int bytes() {
      return 100;
    }

    @Override
    void write(JsonGenerator json, long base) {
      throw new UnsupportedOperationException();
    }
  }

  @Test
  public void nothingChangedIsAnEmptyPage() {
    RowLog log = new RowLog();
    RowLog.Page page = log.after(0, 0, 10, 1000);
    assertEquals(0, page.rows.size());
    assertEquals(0, page.upto);
    assertFalse(page.more);
  }

  @Test
  public void pagesAreBoundedInRowsAndBytesButNeverEmpty() {
    RowLog log = new RowLog();
    for (int i = 0; i < 5; i++) {
      log.touch(new Plain());
    }
    assertEquals(3, log.after(0, 0, 3, 10_000).rows.size());
    assertEquals(2, log.after(0, 0, 10, 150).rows.size());
    assertEquals(1, log.after(0, 0, 10, 1).rows.size());
    assertTrue(log.after(0, 0, 3, 10_000).more);
  }

  /** Whatever changes while pages are under way, a reader that follows ends with every row. */
  @Test
  public void aReaderThatFollowsMissesNoChange() {
    Random random = new Random(42);
    RowLog log = new RowLog();
    List<Row> rows = new ArrayList<>();
    Map<Row, Long> read = new HashMap<>();
    long base = 0;
    for (int round = 0; round < 5_000; round++) {
      if (rows.size() < 50 || random.nextInt(3) > 0) {
        Row row = rows.size() < 50 ? new Plain() : rows.get(random.nextInt(50));
        if (rows.size() < 50) {
          rows.add(row);
        }
        log.touch(row);
      }
      if (random.nextInt(4) == 0) {
        RowLog.Page page = log.after(base, 0, 7, 10_000);
        page.rows.forEach(row -> read.put(row, row.version));
        base = random.nextInt(20) == 0 ? 0 : page.upto; // at times, a snapshot is asked for
      }
    }
    while (base < log.version()) {
      RowLog.Page page = log.after(base, 0, 7, 10_000);
      page.rows.forEach(row -> read.put(row, row.version));
      base = page.upto;
    }
    for (Row row : rows) {
      assertEquals(Long.valueOf(row.version), read.get(row));
    }
  }
}
