package io.drover.shim.core;

/**
 * A 4xx or 5xx answer of the service. It is not authenticated, so it can only leave the job to
 * Hadoop: it ends the lease or lets it run out, and has us pause, start over, or, a 410, stop for
 * good.
 */
final class Refusal {
  /** A 401, of which the transport has no words. */
  static final Refusal NOT_BELIEVED =
      new Refusal("the session is not believed (401)", "", 5_000, -1);

  final String error;

  /** What to do about it, in words; empty where the answer has none. */
  final String message;

  final long retryMs;

  /** Version the service holds; -1 when not said. */
  final long ack;

  Refusal(String error, String message, long retryMs, long ack) {
    this.error = error;
    this.message = message;
    this.retryMs = retryMs;
    this.ack = ack;
  }
}
