package io.drover.shim.core;

import java.util.HashMap;
import java.util.Map;

/**
 * Host names as small indices. A host is versioned once, before any row that names it: were it to
 * move behind them with news, a snapshot's first page would name hosts of a later one.
 */
final class Hosts {
  private final Map<String, HostRow> byName = new HashMap<>();
  private final RowLog log;

  Hosts(RowLog log) {
    this.log = log;
  }

  /** Index of a host; {@code rack} is null when not known. */
  int index(String name, String rack) {
    HostRow row = byName.get(name);
    if (row == null) {
      row = new HostRow(byName.size(), name);
      byName.put(name, row);
      log.touch(row);
    }
    if (rack != null && !rack.equals(row.rack)) {
      row.rack = Text.bounded(rack);
    }
    return row.index;
  }
}
