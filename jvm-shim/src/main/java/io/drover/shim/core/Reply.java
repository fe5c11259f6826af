package io.drover.shim.core;

import java.util.List;

/** A 200 or 202 answer, already checked against the schema's limits. */
final class Reply {
  final long seq;
  final long epoch;
  final boolean accepted;
  final long ack;
  final boolean snapshot;
  final long nextExchangeMs;

  /** So soon the next exchange may be when there is news; 0 for never sooner. */
  final long newsExchangeMs;

  /** A task that has begun to run is news, too, and not only one that has ended. */
  final boolean newsOfStarts;

  /** 0 when Hadoop's own speculator launches. */
  final long leaseMs;

  /** The service wants to know which reduces could not fetch a map's output. */
  final boolean fetchFailures;

  final List<Action> actions;

  Reply(
      long seq,
      long epoch,
      boolean accepted,
      long ack,
      boolean snapshot,
      long nextExchangeMs,
      long newsExchangeMs,
      boolean newsOfStarts,
      long leaseMs,
      boolean fetchFailures,
      List<Action> actions) {
    this.seq = seq;
    this.epoch = epoch;
    this.accepted = accepted;
    this.ack = ack;
    this.snapshot = snapshot;
    this.nextExchangeMs = nextExchangeMs;
    this.newsExchangeMs = newsExchangeMs;
    this.newsOfStarts = newsOfStarts;
    this.leaseMs = leaseMs;
    this.fetchFailures = fetchFailures;
    this.actions = actions;
  }
}
