package io.drover.shim.core;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;

/** The answer to one action. */
final class Ack {
  static final String APPLIED = "applied";
  static final String MOVED = "moved";
  static final String NOT_LEASED = "not_leased";
  static final String PAST_DEADLINE = "past_deadline";
  static final String UNKNOWN_TASK = "unknown_task";
  static final String NOT_RUNNING = "not_running";
  static final String TASK_ENDED = "task_ended";
  static final String COMMITTING = "committing";
  static final String TOO_MANY_ATTEMPTS = "too_many_attempts";
  static final String FAILURES_SPENT = "failures_spent";
  static final String ATTEMPT_ENDED = "attempt_ended";
  static final String TOO_FAR = "too_far";
  static final String ANOTHER_AHEAD = "another_ahead";
  static final String RESTARTS_SPENT = "restarts_spent";
  static final String TOO_MANY_NODES = "too_many_nodes";
  static final String NOT_READ = "not_read";
  static final String NO_OUTPUT = "no_output";
  static final String NO_HEADROOM = "no_headroom";
  static final String SPECULATION_OFF = "speculation_off";
  static final String MALFORMED = "malformed_action";
  static final String UNSUPPORTED = "unsupported_action";
  static final String FAILED = "failed";

  private static final int[] NONE = {};

  final String id;
  final String outcome;
  private final int[] attempts;

  /** A refusal, or a failure that added nothing. */
  Ack(String id, String outcome) {
    this(id, outcome, NONE);
  }

  /** {@code attempts} are the numbers of those that stand for the action. */
  Ack(String id, String outcome, int[] attempts) {
    this.id = id;
    this.outcome = outcome;
    this.attempts = attempts.clone();
  }

  void write(JsonGenerator json) throws IOException {
    json.writeStartObject();
    json.writeStringField("id", Text.bounded(id));
    json.writeStringField("outcome", outcome);
    if (attempts.length > 0) {
      json.writeArrayFieldStart("attempts");
      for (int number : attempts) {
        json.writeNumber(number);
      }
      json.writeEndArray();
    }
    json.writeEndObject();
  }

  @Override
  public String toString() {
    return id + " " + outcome + " " + java.util.Arrays.toString(attempts);
  }
}
