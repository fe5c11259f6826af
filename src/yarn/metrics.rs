//! What observing costs and what is refused, as Prometheus metrics.

use super::endpoint::{Class, Endpoint};
use super::facts::{Reason, Refused};
use drover_core::model::Channel;
use prometheus::{Histogram, HistogramOpts, HistogramVec, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry};
use std::time::Duration;

/// Metrics of the REST clients; clones share the same counters.
#[derive(Debug, Clone)]
pub struct Metrics {
    requests: IntCounterVec,
    bytes: IntCounterVec,
    seconds: HistogramVec,
    in_flight: IntGaugeVec,
    pauses: IntCounterVec,
    limits: IntCounterVec,
    refused: IntCounterVec,
    jobs: IntGaugeVec,
    lag: Histogram,
    rm_up: IntGauge,
}

const SECONDS: [f64; 12] = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
const LIMITS: &str = "Times a limit held something back: in_flight and rate (requests), outrun (a call to a master that hangs, given up as others wait for its place), body (an answer that is too large), ends (of jobs, that are not read as more wait than jobs may be watched), observations (the engine is behind).";
const AGES: [f64; 10] = [1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 60.0];

impl Metrics {
    /// Makes the metrics and registers them.
    ///
    /// # Errors
    /// A name that is taken in this registry.
    pub fn new(registry: &Registry) -> Result<Metrics, prometheus::Error> {
        let counter = |name: &str, help: &str, labels: &[&str]| -> Result<IntCounterVec, prometheus::Error> {
            let made = IntCounterVec::new(Opts::new(name, help), labels)?;
            registry.register(Box::new(made.clone()))?;
            Ok(made)
        };
        let gauge = |name: &str, help: &str, labels: &[&str]| -> Result<IntGaugeVec, prometheus::Error> {
            let made = IntGaugeVec::new(Opts::new(name, help), labels)?;
            registry.register(Box::new(made.clone()))?;
            Ok(made)
        };
        let seconds = HistogramVec::new(
            HistogramOpts::new("drover_rest_request_duration_seconds", "Time from request to end of answer.")
                .buckets(SECONDS.to_vec()),
            &["endpoint"],
        )?;
        registry.register(Box::new(seconds.clone()))?;
        let lag = Histogram::with_opts(
            HistogramOpts::new("drover_rest_tasks_interval_seconds", "Time between two readings of one job's tasks.")
                .buckets(AGES.to_vec()),
        )?;
        registry.register(Box::new(lag.clone()))?;
        let rm_up =
            IntGauge::new("drover_rest_rm_up", "1 while a ResourceManager tells its applications, 0 while none does.")?;
        registry.register(Box::new(rm_up.clone()))?;
        let metrics = Metrics {
            rm_up,
            requests: counter("drover_rest_requests_total", "REST requests by outcome.", &["endpoint", "outcome"])?,
            bytes: counter("drover_rest_response_bytes_total", "Bytes of answers, unpacked.", &["endpoint"])?,
            seconds,
            in_flight: gauge("drover_rest_in_flight", "REST requests under way.", &["class"])?,
            pauses: counter("drover_rest_pauses_total", "Pauses a server asked for.", &["class"])?,
            limits: counter("drover_rest_limits_total", LIMITS, &["limit"])?,
            refused: counter("drover_facts_refused_total", "Facts refused, by reason.", &["channel", "reason"])?,
            jobs: gauge("drover_rest_jobs", "Jobs watched over REST, by stage.", &["stage"])?,
            lag,
        };
        metrics.start_at_zero();
        Ok(metrics)
    }

    /// Label sets that are known beforehand are there from the start, so that rates over them are.
    fn start_at_zero(&self) {
        for endpoint in Endpoint::ALL.iter().map(|endpoint| endpoint.label()) {
            self.requests.with_label_values(&[endpoint, "ok"]);
            self.bytes.with_label_values(&[endpoint]);
            self.seconds.with_label_values(&[endpoint]);
        }
        for class in Class::ALL.map(Class::label) {
            self.in_flight.with_label_values(&[class]);
            self.pauses.with_label_values(&[class]);
        }
        for limit in ["in_flight", "outrun", "rate", "body", "ends", "observations"] {
            self.limits.with_label_values(&[limit]);
        }
        for stage in ["running", "ending", "left_out"] {
            self.jobs.with_label_values(&[stage]);
        }
        for (channel, reason) in ["rm", "am", "history"].into_iter().flat_map(|c| Reason::ALL.map(|r| (c, r.label()))) {
            self.refused.with_label_values(&[channel, reason]);
        }
    }

    /// Metrics in a registry of their own, for one-off use.
    ///
    /// # Errors
    /// As [`Metrics::new`].
    pub fn unregistered() -> Result<Metrics, prometheus::Error> {
        Metrics::new(&Registry::new())
    }

    pub(super) fn began(&self, class: Class) {
        self.in_flight.with_label_values(&[class.label()]).inc();
    }

    pub(super) fn ended(&self, class: Class) {
        self.in_flight.with_label_values(&[class.label()]).dec();
    }

    pub(super) fn request(&self, endpoint: Endpoint, outcome: &str, bytes: u64, took: Duration) {
        self.requests.with_label_values(&[endpoint.label(), outcome]).inc();
        self.bytes.with_label_values(&[endpoint.label()]).inc_by(bytes);
        self.seconds.with_label_values(&[endpoint.label()]).observe(took.as_secs_f64());
    }

    pub(super) fn paused(&self, class: Class) {
        self.pauses.with_label_values(&[class.label()]).inc();
    }

    pub(super) fn limited(&self, limit: &str) {
        self.limits.with_label_values(&[limit]).inc();
    }

    /// Ends that make way unread.
    pub(super) fn ends_unread(&self, count: usize) {
        self.limits.with_label_values(&["ends"]).inc_by(count as u64);
    }

    pub(super) fn refused(&self, channel: Channel, refused: &Refused) {
        let channel = match channel {
            Channel::Rm => "rm",
            Channel::Am => "am",
            Channel::Shim => "shim",
            Channel::History => "history",
            Channel::Own => "own",
        };
        for (reason, count) in refused.counts() {
            self.refused.with_label_values(&[channel, reason.label()]).inc_by(count);
        }
    }

    pub(super) fn jobs(&self, stage: &str, count: usize) {
        self.jobs.with_label_values(&[stage]).set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    pub(super) fn rm_up(&self, is_up: bool) {
        self.rm_up.set(i64::from(is_up));
    }

    /// Does a ResourceManager answer?
    pub fn rm_answers(&self) -> bool {
        self.rm_up.get() == 1
    }

    pub(super) fn tasks_interval(&self, since_last: Duration) {
        self.lag.observe(since_last.as_secs_f64());
    }

    /// The counter of refused facts, which all sources of facts share.
    pub fn facts_refused(&self) -> IntCounterVec {
        self.refused.clone()
    }

    /// Requests so far, over all endpoints and outcomes, and bytes of their answers.
    pub fn totals(&self) -> (u64, u64) {
        let sum = |vec: &IntCounterVec| {
            let families = prometheus::core::Collector::collect(vec);
            let values = families.iter().flat_map(|f| f.get_metric()).map(|m| m.get_counter().get_value() as u64);
            values.sum()
        };
        (sum(&self.requests), sum(&self.bytes))
    }
}
