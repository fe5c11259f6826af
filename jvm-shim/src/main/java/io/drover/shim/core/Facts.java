package io.drover.shim.core;

import java.io.IOException;
import java.util.Map;

/** The job as the exchange sees it: rows that change, and their encoding. */
interface Facts {
  /** Brings the rows up to date; returns the processor time that took, in nanoseconds. */
  long sweep();

  /** Looks at nothing but what the job waits for, so that no row changes; returns the same. */
  long sweepNeeds();

  RowLog log();

  /** Whether rows are to tell which reduces could not fetch a map's output; not at first. */
  void wantMisses(boolean wanted);

  /** Whether a task that begins to run is news as one that ends is; not at first. */
  void wantStarts(boolean wanted);

  /** Facts dropped so far, by reason. */
  Map<String, Long> dropped();

  /** One request as JSON. */
  byte[] encode(Envelope envelope) throws IOException;
}
