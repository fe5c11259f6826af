package io.drover.shim.core;

import java.util.HashMap;
import java.util.Map;

/** Host names as small indices. A host is always versioned before the row that names it. */
final class Hosts {
  private final Map<String, HostRow> byName = new HashMap<>();
  private final RowLog log;

  Hosts(RowLog log) {
    this.log = log;
  }

  /** Index of a host; {@code rack} is null when not known. */
  int index(String name, String rack) {
    HostRow row = byName.get(name);
    boolean changed = false;
    if (row == null) {
      row = new HostRow(byName.size(), name);
      byName.put(name, row);
      changed = true;
    }
    if (rack != null && !rack.equals(row.rack)) {
      row.rack = Text.bounded(rack);
      changed = true;
    }
    if (changed) {
      log.touch(row);
    }
    return row.index;
  }
}
