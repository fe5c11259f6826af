package io.drover.shim.core;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** One action, as the service sent it; checked against the schema's limits. */
final class Action {
  static final String DUPLICATE = "duplicate";
  static final String RESTART = "restart";
  static final String AVOID = "avoid";
  static final String RERUN = "rerun";

  /** No type of its own: whether copies may be asked for on named hosts. */
  static final String PREFER = "prefer";

  /** What has been read of one; a number is -1 where it is missing or out of range. */
  static final class Draft {
    String id;
    String type;
    String kind;
    long deadlineMs = -1;
    long task = -1;
    long copies = -1;
    long live = -1;
    long attempt = -1;
    long restarts = -1;
    double below = -1;
    long forMs = -1;
    long moves;

    /** Null for anything but a list of usable names. */
    Set<String> avoid = Collections.emptySet();

    /** Null for anything but a list of usable names. */
    List<String> prefer = Collections.emptyList();

    /** Null for anything but a list of indices of maps and numbers of attempts. */
    List<long[]> outputs;

    private String fault() {
      if (type == null) {
        return Ack.MALFORMED;
      }
      boolean whole;
      switch (type) {
        case DUPLICATE:
          whole = copies > 0 && prefer != null;
          break;
        case RESTART:
          whole = attempt >= 0 && restarts >= 0 && below >= 0;
          break;
        case AVOID:
          return forMs > 0 && deadlineMs >= 0 && avoid != null ? null : Ack.MALFORMED;
        case RERUN:
          return outputs != null && deadlineMs >= 0 ? null : Ack.MALFORMED;
        default:
          return Ack.UNSUPPORTED;
      }
      boolean named = ("m".equals(kind) || "r".equals(kind)) && task >= 0;
      boolean counted = live > 0 && moves >= 0 && deadlineMs >= 0;
      return whole && named && counted && avoid != null ? null : Ack.MALFORMED;
    }
  }

  final String id;
  final String type;

  /** Why it cannot be looked at further, an outcome of {@link Ack}; null when it can. */
  final String fault;

  final long deadlineMs;
  final boolean map;
  final long task;

  /** How many copies to add. */
  final int copies;

  /** Attempts not ended that the decision assumed. */
  final int live;

  /** The attempt to kill. */
  final long attempt;

  /** Restarts of the task that the decision knew of. */
  final int restarts;

  /** Progress score from which on a new attempt would end no sooner. */
  final double below;

  /** How long no container is to be asked for on the hosts to avoid. */
  final long forMs;

  /** Hosts on which no copy, or nothing of the job, is to start. */
  final Set<String> avoid;

  /** Hosts on which its copies are asked for, one each, beside those that hold the task's input. */
  final List<String> prefer;

  /** The racks of those hosts, where known; set before the dispatcher thread sees it. */
  Map<String, String> racks = Collections.emptyMap();

  /** How often a copy may be moved away from such a host. */
  final int moves;

  /** Outputs that are out of reach: index of the map, number of the attempt. */
  final List<long[]> outputs;

  Action(Draft draft) {
    id = draft.id;
    type = draft.type;
    fault = draft.fault();
    deadlineMs = draft.deadlineMs;
    map = "m".equals(draft.kind);
    task = draft.task;
    copies = (int) draft.copies;
    live = (int) draft.live;
    attempt = draft.attempt;
    restarts = (int) draft.restarts;
    below = draft.below;
    forMs = draft.forMs;
    avoid = draft.avoid;
    prefer = draft.prefer;
    moves = (int) draft.moves;
    outputs = draft.outputs;
  }

  boolean isRestart() {
    return RESTART.equals(type);
  }
}
