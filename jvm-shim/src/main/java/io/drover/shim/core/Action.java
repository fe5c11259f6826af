package io.drover.shim.core;

import java.util.Set;

/** One action, as the service sent it; checked against the schema's limits. */
final class Action {
  final String id;

  /** Why it cannot be looked at further, an outcome of {@link Ack}; null when it can. */
  final String fault;

  final long deadlineMs;
  final boolean map;
  final long task;
  final int copies;

  /** Attempts not ended that the decision assumed. */
  final int live;

  /** Hosts on which no copy is to start. */
  final Set<String> avoid;

  /** How often a copy may be moved away from such a host. */
  final int moves;

  Action(
      String id,
      String fault,
      long deadlineMs,
      boolean map,
      long task,
      int copies,
      int live,
      Set<String> avoid,
      int moves) {
    this.id = id;
    this.fault = fault;
    this.deadlineMs = deadlineMs;
    this.map = map;
    this.task = task;
    this.copies = copies;
    this.live = live;
    this.avoid = avoid;
    this.moves = moves;
  }
}
