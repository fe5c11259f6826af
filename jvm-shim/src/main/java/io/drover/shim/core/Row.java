package io.drover.shim.core;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;

/** A thing whose newest state the service is told. Rows hold state, never events. */
abstract class Row {
  /** Version of the newest change, unique over all rows of a session. */
  long version;

  /** Neighbours in the order of versions; see {@link RowLog}. */
  Row older;

  Row newer;

  /** An upper estimate of the bytes this row takes in a request. */
  abstract int bytes();

  /** Writes what changed after version {@code base}, as one JSON value. */
  abstract void write(JsonGenerator json, long base) throws IOException;
}
