//! What the shim's side tells Prometheus.

use super::reply::Why;
use super::unsent::Unsent;
use drover_core::govern::revalidate::REASONS;
use drover_core::model::{Answer, Verdict};
use prometheus::{
    Gauge, GaugeVec, Histogram, HistogramOpts, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
    core::Collector,
};

/// The shim's side of `/metrics`. Clones share the same counters.
#[derive(Clone)]
pub struct Metrics {
    /// Sessions: `accepted`, `live` (heard of lately) and `pending` (their proof is being checked).
    pub sessions: IntGaugeVec,
    /// Exchanges by outcome.
    pub exchanges: IntCounterVec,
    /// Bytes of bodies received.
    pub bytes: IntCounter,
    /// Rows of tasks and attempts that were applied.
    pub rows: IntCounter,
    /// Seconds spent on one exchange once its body was there.
    pub exchange_seconds: Histogram,
    /// Seconds of one look at the cluster for a proof.
    pub proof_seconds: Histogram,
    /// The pace that sessions are given, seconds.
    pub pace_seconds: Gauge,
    /// AM clock less service clock over live sessions, absolute: `median` and `max`.
    pub skew_seconds: GaugeVec,
    /// Leases that last.
    pub leases: IntGauge,
    /// Actions put into an answer for the first time.
    pub actions_sent: IntCounter,
    /// Copies that Hadoop's own speculator wanted and was held from.
    pub native_held: IntCounter,
    /// Connections that were refused as their address had too many.
    pub connections_refused: IntCounter,
    unsent: IntCounterVec,
    called_off: IntCounterVec,
    answers: IntCounterVec,
    proofs: IntCounterVec,
    refused: IntCounterVec,
}

/// The label under which this room counts in the counter that all sources of facts share.
const CHANNEL: &str = "shim";

impl Metrics {
    /// Registers the metrics; `facts_refused` is `drover_facts_refused_total{channel, reason}`, shared with the other sources of facts and registered by
    /// its owner.
    pub fn new(registry: &Registry, facts_refused: IntCounterVec) -> prometheus::Result<Metrics> {
        let sessions = Opts::new("drover_shim_sessions", "Sessions of shims by state");
        let exchanges = Opts::new("drover_shim_exchanges_total", "Exchanges with shims by outcome");
        let proofs = Opts::new("drover_shim_proofs_total", "Session proofs by outcome of their examination");
        let unsent = Opts::new(
            "drover_shim_actions_unsent_total",
            "Actions that no shim could be asked to carry out: no_session, unable (it cannot or may not act), full (too many open)",
        );
        let called_off = Opts::new(
            "drover_shim_actions_called_off_total",
            "Actions without an answer that are sent no more, by the verdict that speaks against them",
        );
        let answers = Opts::new("drover_shim_answers_total", "Answers of shims to actions by outcome");
        let skew =
            Opts::new("drover_shim_clock_skew_seconds", "AM clock less service clock over live sessions, absolute");
        let fast = vec![1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3];
        let slow = vec![0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0];
        let histogram = |name: &str, help: &str, buckets| {
            register(registry, Histogram::with_opts(HistogramOpts::new(name, help).buckets(buckets))?)
        };
        let counter = |name: &str, help: &str| register(registry, IntCounter::new(name, help)?);
        let metrics = Metrics {
            sessions: register(registry, IntGaugeVec::new(sessions, &["state"])?)?,
            exchanges: register(registry, IntCounterVec::new(exchanges, &["outcome"])?)?,
            bytes: counter("drover_shim_exchange_bytes_total", "Bytes received from shims")?,
            rows: counter("drover_shim_rows_total", "Changed rows of tasks and attempts applied")?,
            exchange_seconds: histogram("drover_shim_exchange_seconds", "Time spent on an exchange", fast)?,
            proof_seconds: histogram("drover_shim_proof_seconds", "Time of one look for a proof", slow)?,
            pace_seconds: register(
                registry,
                Gauge::new("drover_shim_pace_seconds", "Time between exchanges asked for")?,
            )?,
            skew_seconds: register(registry, GaugeVec::new(skew, &["stat"])?)?,
            leases: register(
                registry,
                IntGauge::new("drover_shim_leases", "Jobs whose speculation Drover owns by a lease")?,
            )?,
            actions_sent: counter("drover_shim_actions_sent_total", "Actions put into an answer for the first time")?,
            native_held: counter(
                "drover_native_copies_held_total",
                "Copies that Hadoop's own speculator wanted while Drover owned the job",
            )?,
            connections_refused: counter(
                "drover_shim_connections_refused_total",
                "Connections of shims refused as their address had half of all open",
            )?,
            unsent: register(registry, IntCounterVec::new(unsent, &["reason"])?)?,
            called_off: register(registry, IntCounterVec::new(called_off, &["reason"])?)?,
            answers: register(registry, IntCounterVec::new(answers, &["outcome"])?)?,
            proofs: register(registry, IntCounterVec::new(proofs, &["outcome"])?)?,
            refused: facts_refused,
        };
        metrics.start_at_zero();
        Ok(metrics)
    }

    /// Every label set that is known beforehand.
    fn start_at_zero(&self) {
        for outcome in ["accepted", "pending"].into_iter().chain(Why::ALL.into_iter().map(Why::label)) {
            self.exchanges.with_label_values(&[outcome]);
        }
        for outcome in ["held"].into_iter().chain(Why::ALL.into_iter().map(Why::label)) {
            self.proofs.with_label_values(&[outcome]);
        }
        for why in Unsent::ALL {
            self.unsent.with_label_values(&[why.label()]);
        }
        for why in REASONS {
            self.called_off.with_label_values(&[why.label()]);
        }
        for answer in Answer::ALL {
            self.answers.with_label_values(&[answer.label()]);
        }
        for state in ["accepted", "live", "pending"] {
            self.sessions.with_label_values(&[state]);
        }
        for stat in ["median", "max"] {
            self.skew_seconds.with_label_values(&[stat]);
        }
    }

    /// Counts facts that were refused by reason.
    pub fn refused(&self, reason: &str, n: u64) {
        self.refused.with_label_values(&[CHANNEL, reason]).inc_by(n);
    }

    /// Counts an exchange.
    pub fn exchange(&self, outcome: &str) {
        self.exchanges.with_label_values(&[outcome]).inc();
    }

    /// Counts an order that no shim will carry out.
    pub fn unsent(&self, why: Unsent) {
        self.unsent.with_label_values(&[why.label()]).inc();
    }

    /// Counts an order that is called off.
    pub fn called_off(&self, why: Verdict) {
        self.called_off.with_label_values(&[why.label()]).inc();
    }

    /// Counts an answer to an action.
    pub fn answered(&self, answer: Answer) {
        self.answers.with_label_values(&[answer.label()]).inc();
    }

    /// Counts an examination that came to its end.
    pub fn proof(&self, outcome: &str) {
        self.proofs.with_label_values(&[outcome]).inc();
    }
}

fn register<C: Collector + Clone + 'static>(registry: &Registry, collector: C) -> prometheus::Result<C> {
    registry.register(Box::new(collector.clone()))?;
    Ok(collector)
}
