package io.drover.shim.core;

import java.util.Collection;
import java.util.Map;

/** What the exchange itself puts into a request, around the job's facts. */
final class Envelope {
  final long seq;
  final long epoch;
  final boolean hello;
  final RowLog.Page page;

  /** What is left of the lease. */
  final long leaseMs;

  /** Answers to actions. */
  final Collection<Ack> acks;

  /** Facts dropped so far, by reason. */
  final Map<String, Long> dropped;

  Envelope(
      long seq,
      long epoch,
      boolean hello,
      RowLog.Page page,
      long leaseMs,
      Collection<Ack> acks,
      Map<String, Long> dropped) {
    this.seq = seq;
    this.epoch = epoch;
    this.hello = hello;
    this.page = page;
    this.leaseMs = leaseMs;
    this.acks = acks;
    this.dropped = dropped;
  }
}
