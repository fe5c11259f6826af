//! The service's own metrics. Rooms that talk to the world register theirs in the same registry.

use super::{REVISION, VERSION};
use crate::config::{ESTIMATORS, POLICIES};
use crate::history::LogEnd;
use drover_core::estimate::calibration::Point;
use drover_core::model::{
    Action, Channel, CopyEnd, Decision, Dropped, Landed, MeasureKind, Mode, TaskKind, Verdict, VirtualOutcome,
};
use prometheus::core::Collector;
use prometheus::{
    CounterVec, Gauge, GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge,
    IntGaugeVec, Opts, Registry, TextEncoder,
};

/// Predicted over actual time left: 1 is exact.
const RATIOS: [f64; 14] = [0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 10.0];
/// What is asked of ApplicationMasters, of [`Action::TOLD`]; that copies be withdrawn is asked of no Hadoop.
const ASKED: [&str; 3] = ["duplicate", "clone", "restart"];
/// Where copies ran that had hosts to prefer: on one of these, on its rack, on neither.
const PREFERRED: [&str; 3] = ["node", "rack", "elsewhere"];
/// Where those ran that had hosts to keep off: on one of these, on none.
const AVOIDED: [&str; 2] = ["avoided", "elsewhere"];
/// A restart by how many it makes of its task; a task has three at most by default (Mantri's gamma).
const NTH: [&str; 4] = ["first", "second", "third", "later"];
/// By what, of which tasks and at which progress time left was predicted.
const PREDICTED: [&str; 3] = ["estimator", "kind", "point"];
/// A tick is to stay below 50 ms.
const TICKS: [f64; 11] = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0];

/// Every metric of the engine loop, the recording and the API.
pub struct Metrics {
    /// Decisions by policy, action, mode and what became of them when they were taken.
    pub decisions: IntCounterVec,
    /// Measures beside copies by kind, mode and verdict.
    pub measures: IntCounterVec,
    /// Ends of advised copies.
    pub ends: IntCounterVec,
    /// Seconds that advised copies would have gained.
    pub gained: CounterVec,
    /// Ends of copies that were asked for.
    pub copies: IntCounterVec,
    /// Container time of those, seconds.
    pub copy_seconds: CounterVec,
    /// What those that won made of the predicted ends of the slow attempts, seconds.
    pub copy_gained: CounterVec,
    /// Launched copies with hosts to prefer, by where they ran.
    pub preferring: IntCounterVec,
    /// Launched copies with hosts to keep off, likewise.
    pub avoiding: IntCounterVec,
    /// Ends of restarts, by how many each made of its task.
    pub restarts: IntCounterVec,
    /// Copies that count against budgets of the whole cluster.
    pub budget_used: GaugeVec,
    /// How many may.
    pub budget_limit: GaugeVec,
    /// What cloned phases hold or are promised, bytes.
    pub clone_budget_used: Gauge,
    /// How much they may, bytes.
    pub clone_budget_limit: Gauge,
    /// Jobs whose speculation is Drover's.
    pub owned: IntGauge,
    /// Jobs that would be, did nobody hold them.
    pub withheld: IntGauge,
    /// Holds in force.
    pub holds: IntGauge,
    /// 1 while another service outranks this one.
    pub rival: IntGauge,
    /// 1 while a policy is left to advice because its copies keep losing.
    pub breaker: IntGaugeVec,
    /// Running attempts by verdict.
    pub verdicts: IntGaugeVec,
    /// Predicted over actual time left.
    pub error: HistogramVec,
    /// Share of predicted intervals that held the actual time left.
    pub coverage: GaugeVec,
    /// Share of pairs of tasks that ended in another order than predicted.
    pub wrong_orderings: GaugeVec,
    /// Probability that a task straggles anywhere.
    pub straggling: Gauge,
    /// Tasks that this rests on.
    pub straggling_tasks: Gauge,
    /// Jobs known and not ended.
    pub jobs: IntGauge,
    /// Tasks of those.
    pub tasks: IntGauge,
    /// Attempts running.
    pub attempts: IntGauge,
    /// One pass of the engine.
    pub tick: Histogram,
    /// Observations applied.
    pub applied: IntCounterVec,
    /// Observations refused.
    pub dropped: IntCounterVec,
    /// Space the recording takes.
    pub recording_bytes: IntGauge,
    /// 1 while the recording runs.
    pub recording: IntGauge,
    /// Entries that the recording could not keep up with.
    pub recording_lost: IntCounter,
    /// Why the recording stopped.
    pub recording_stopped: IntCounterVec,
    /// Requests to our own listeners.
    pub requests: IntCounterVec,
    /// Connections to a listener that were refused as their address had too many.
    pub connections_refused: IntCounterVec,
    reloads: IntCounterVec,
    refused: IntGauge,
    /// Queues that modes or holds name and the cluster has not.
    pub queues_unknown: IntGauge,
}

const CHANNELS: [Channel; 5] = [Channel::Rm, Channel::Am, Channel::Shim, Channel::History, Channel::Own];

/// A channel's label.
pub fn channel_label(channel: Channel) -> &'static str {
    match channel {
        Channel::Rm => "rm",
        Channel::Am => "am",
        Channel::Shim => "shim",
        Channel::History => "history",
        Channel::Own => "own",
    }
}

const DECISIONS: &str =
    "Decisions taken, by policy, action, mode, and outcome when taken: advised (said, not done), decided (to be done).";
const MEASURES: &str = "Measures beside copies that were weighed where they can be taken, by kind (order, place, replicate, precompute; avoid, rerun), mode and verdict: decided, or why not.";
const ENDS: &str = "Advised copies whose task has ended, by policy, action and end: would_have_won, would_have_lost (by the probability), natively_copied (Hadoop's own speculator copied it too, so it says nothing).";
const GAINED: &str =
    "Task time that advised copies of average luck would have gained, tasks that Hadoop copied itself left out.";
const COPIES: &str = "Copies and restarts that were asked for, by the policy that decided, action (clone: of a task that had not shown to be slow) and what became of them: won, lost, died (failed or killed while the task went on), refused (by the shim), unsent, unanswered, unknown.";
const COPY_SECONDS: &str = "Container time of the attempts that copies and restarts came to, launch to end, by policy, action and what became of them; beside a clone that won the others are lost.";
const COPY_GAINED: &str = "Estimate of what copies and restarts that won have saved, by policy and action: from the task's end to when the slow attempt would have ended as predicted; of a clone, the original as predicted when the clone won. By side: sooner, the task ended before that; later, after it, so that nothing was saved and the prediction was off.";
const PREFERRING: &str = "Copies that were launched and whose decision preferred hosts, by action and where they ran: node (on one of these), rack (on another host of such a one's rack), elsewhere. Counted when what was asked for has ended.";
const AVOIDING: &str = "Copies, and new attempts of restarts, that were launched and whose decision named hosts to keep off, by action and where they ran: avoided (on one of these), elsewhere; nothing keeps the new attempt of a restart over REST off them. Counted when what was asked for has ended.";
const RESTARTS: &str = "Restarts that were asked for, by how many each made of its task (nth: first, second, third, later) and what became of them, as in drover_copies_ended_total; one whose attempt was killed for the next has died.";
const BUDGET_USED: &str = "Copies that count against a budget of the whole cluster: in flight, those only advised and Hadoop's own included (cluster); decided on within the last minute (minute).";
const BUDGET_LIMIT: &str = "Copies that may count against a budget of the whole cluster, where a slot is as large as containers of jobs are on average; +Inf where there is no limit.";
const CLONE_BUDGET_USED: &str = "Memory that phases which are cloned hold or are promised, first attempts included; 0 under policies that do not clone.";
const CLONE_BUDGET_LIMIT: &str = "Memory that phases which are cloned may hold or be promised, Dolly's beta of the cluster's; 0 under policies that do not clone.";
const WITHHELD: &str = "Jobs whose speculation would be Drover's to own, did no operator's hold cover them.";
const BREAKER: &str = "Users on whose jobs a policy only advises because its copies keep losing there, by policy.";
const VERDICTS: &str = "Running tasks by the verdict of the newest pass over their job.";
const ERROR: &str = "Time left of sampled tasks as each estimator predicted it, divided by the time it then took, by estimator, kind of task and the progress score it was predicted at: quarter, half, three_quarters. 1 is exact.";
const COVERAGE: &str = "Share of each estimator's predicted intervals that held the time left as it was, to be 0.8, over sampled tasks, older ones counting less; labels as of drover_estimate_error_ratio. NaN while there was none.";
const ORDERINGS: &str = "Share of pairs of sampled tasks that ran at once and ended in another order than each estimator predicted; labels as of drover_estimate_error_ratio. NaN while there was none.";
const STRAGGLING: &str = "Probability that a task straggles anywhere in the cluster (Dolly's p), by the hour. NaN while no task has shown it.";
const STRAGGLING_TASKS: &str = "Tasks that drover_straggler_probability rests on, older hours counting less; nothing is cloned by it before these are dolly.min_evidence.";
const DROPPED: &str = "Observations the engine refused, by channel and reason.";
const LOST: &str = "Entries the recording lost because the disk was slower than the facts, or they did not fit into record.max_bytes; a new segment follows each gap.";
const REFUSED: &str =
    "1 where the configuration that was read last, while the service ran, was refused, so that an older one holds.";
const UNKNOWN: &str =
    "Queues that modes or holds name and the newest listing has not, so that they keep nothing from being done.";
const STOPPED: &str =
    "Times the recording stopped for good, by reason: full, unwritable, panicked (a fault of Drover).";
const CONNECTIONS: &str =
    "Connections to the listeners for the API and metrics that were refused as their address had half of all open.";
const REQUESTS: &str = "Requests to the listeners for the API and metrics, by listener and class of status.";

/// Registers metrics of each type.
struct To<'r>(&'r Registry);

impl To<'_> {
    fn counters(&self, name: &str, help: &str, labels: &[&str]) -> prometheus::Result<IntCounterVec> {
        self.add(IntCounterVec::new(Opts::new(name, help), labels)?)
    }

    fn gauges(&self, name: &str, help: &str, labels: &[&str]) -> prometheus::Result<IntGaugeVec> {
        self.add(IntGaugeVec::new(Opts::new(name, help), labels)?)
    }

    fn numbers(&self, name: &str, help: &str, labels: &[&str]) -> prometheus::Result<GaugeVec> {
        self.add(GaugeVec::new(Opts::new(name, help), labels)?)
    }

    fn gauge(&self, name: &str, help: &str) -> prometheus::Result<IntGauge> {
        self.add(IntGauge::new(name, help)?)
    }

    fn add<M: Collector + Clone + 'static>(&self, metric: M) -> prometheus::Result<M> {
        self.0.register(Box::new(metric.clone()))?;
        Ok(metric)
    }
}

impl Metrics {
    /// Registers everything, with label sets that start at zero.
    pub fn new(registry: &Registry) -> prometheus::Result<Metrics> {
        let to = To(registry);
        let gained = Opts::new("drover_decision_gain_seconds_total", GAINED);
        let copy_seconds = Opts::new("drover_copy_container_seconds_total", COPY_SECONDS);
        let copy_gained = Opts::new("drover_copy_gain_seconds_total", COPY_GAINED);
        let error = HistogramOpts::new("drover_estimate_error_ratio", ERROR).buckets(RATIOS.to_vec());
        let tick = HistogramOpts::new("drover_tick_duration_seconds", "Duration of one pass of the engine.");
        let metrics = Metrics {
            decisions: to.counters("drover_decisions_total", DECISIONS, &["policy", "action", "mode", "outcome"])?,
            measures: to.counters("drover_measures_total", MEASURES, &["kind", "mode", "verdict"])?,
            ends: to.counters("drover_decision_ends_total", ENDS, &["policy", "action", "end"])?,
            gained: to.add(CounterVec::new(gained, &["policy", "action"])?)?,
            copies: to.counters("drover_copies_ended_total", COPIES, &["policy", "action", "end"])?,
            copy_seconds: to.add(CounterVec::new(copy_seconds, &["policy", "action", "end"])?)?,
            copy_gained: to.add(CounterVec::new(copy_gained, &["policy", "action", "side"])?)?,
            preferring: to.counters("drover_copies_preferring_total", PREFERRING, &["action", "place"])?,
            avoiding: to.counters("drover_copies_avoiding_total", AVOIDING, &["action", "place"])?,
            restarts: to.counters("drover_restarts_ended_total", RESTARTS, &["nth", "end"])?,
            budget_used: to.numbers("drover_copy_budget_used_copies", BUDGET_USED, &["budget"])?,
            budget_limit: to.numbers("drover_copy_budget_limit_copies", BUDGET_LIMIT, &["budget"])?,
            clone_budget_used: to.add(Gauge::new("drover_clone_budget_used_bytes", CLONE_BUDGET_USED)?)?,
            clone_budget_limit: to.add(Gauge::new("drover_clone_budget_limit_bytes", CLONE_BUDGET_LIMIT)?)?,
            owned: to.gauge("drover_jobs_owned", "Jobs whose speculation is Drover's to own.")?,
            withheld: to.gauge("drover_jobs_withheld", WITHHELD)?,
            holds: to.gauge("drover_holds", "Holds of operators.")?,
            rival: to
                .gauge("drover_rival", "1 while another service with a higher epoch keeps this one from acting.")?,
            breaker: to.gauges("drover_breaker", BREAKER, &["policy"])?,
            verdicts: to.gauges("drover_verdicts", VERDICTS, &["reason"])?,
            error: to.add(HistogramVec::new(error, &PREDICTED)?)?,
            coverage: to.numbers("drover_estimate_coverage_ratio", COVERAGE, &PREDICTED)?,
            wrong_orderings: to.numbers("drover_estimate_wrong_orderings_ratio", ORDERINGS, &PREDICTED)?,
            straggling: to.add(Gauge::new("drover_straggler_probability", STRAGGLING)?)?,
            straggling_tasks: to.add(Gauge::new("drover_straggler_evidence_tasks", STRAGGLING_TASKS)?)?,
            jobs: to.gauge("drover_jobs", "Jobs known and not ended.")?,
            tasks: to.gauge("drover_tasks", "Tasks of those jobs.")?,
            attempts: to.gauge("drover_attempts", "Attempts that run.")?,
            tick: to.add(Histogram::with_opts(tick.buckets(TICKS.to_vec()))?)?,
            applied: to.counters("drover_observations_total", "Observations applied, by channel.", &["channel"])?,
            dropped: to.counters("drover_observations_dropped_total", DROPPED, &["channel", "reason"])?,
            recording_bytes: to.gauge("drover_recording_bytes", "Space the recording takes, bytes.")?,
            recording: to.gauge("drover_recording_active", "1 while the recording runs.")?,
            recording_lost: to.add(IntCounter::new("drover_recording_lost_total", LOST)?)?,
            recording_stopped: to.counters("drover_recording_stopped_total", STOPPED, &["reason"])?,
            requests: to.counters("drover_http_requests_total", REQUESTS, &["listener", "status"])?,
            connections_refused: to.counters("drover_http_connections_refused_total", CONNECTIONS, &["listener"])?,
            reloads: to.counters(
                "drover_config_reloads_total",
                "Reloads of the configuration, by result.",
                &["result"],
            )?,
            refused: to.gauge("drover_config_refused", REFUSED)?,
            queues_unknown: to.gauge("drover_queue_names_unknown", UNKNOWN)?,
        };
        metrics.start_at_zero();
        let build = to.gauges(
            "drover_build_info",
            "Always 1; version and revision of this build, empty where it was not told any.",
            &["version", "revision"],
        )?;
        build.with_label_values(&[VERSION, REVISION.unwrap_or_default()]).set(1);
        Ok(metrics)
    }

    fn start_at_zero(&self) {
        self.straggling.set(f64::NAN);
        for verdict in Verdict::ALL {
            self.verdicts.with_label_values(&[verdict.label()]).set(0);
        }
        for policy in POLICIES {
            self.breaker.with_label_values(&[*policy]).set(0);
        }
        for (kind, mode) in MeasureKind::ALL.iter().flat_map(|kind| [Mode::Advise, Mode::Act].map(|mode| (kind, mode)))
        {
            self.measures.with_label_values(&[kind.label(), mode.label(), Verdict::Decided.label()]).inc_by(0);
        }
        for budget in ["cluster", "minute"] {
            self.budget_used.with_label_values(&[budget]).set(0.0);
            self.budget_limit.with_label_values(&[budget]).set(f64::NAN);
        }
        for (policy, action) in POLICIES.iter().flat_map(|policy| ASKED.map(|action| (policy, action))) {
            for end in CopyEnd::ALL.map(CopyEnd::label) {
                self.copies.with_label_values(&[policy, action, end]).inc_by(0);
                self.copy_seconds.with_label_values(&[policy, action, end]).inc_by(0.0);
            }
            for side in ["sooner", "later"] {
                self.copy_gained.with_label_values(&[policy, action, side]).inc_by(0.0);
            }
        }
        for action in ASKED {
            self.landed(action, Landed::default());
        }
        for (nth, end) in NTH.iter().flat_map(|nth| CopyEnd::ALL.map(|end| (nth, end.label()))) {
            self.restarts.with_label_values(&[*nth, end]).inc_by(0);
        }
        for (policy, action) in POLICIES.iter().flat_map(|policy| Action::TOLD.map(|action| (policy, action))) {
            for (mode, outcome) in [(Mode::Advise, "advised"), (Mode::Act, "decided")] {
                self.decisions.with_label_values(&[policy, action, mode.label(), outcome]).inc_by(0);
            }
        }
        for (policy, action) in POLICIES.iter().flat_map(|policy| Action::ALL.map(|action| (policy, action.label()))) {
            for end in VirtualOutcome::LABELS {
                self.ends.with_label_values(&[policy, action, end]).inc_by(0);
            }
            self.gained.with_label_values(&[policy, action]).inc_by(0.0);
        }
        for estimator in ESTIMATORS {
            for (kind, point) in TaskKind::ALL.iter().flat_map(|kind| Point::ALL.map(|point| (kind, point))) {
                let labels = [*estimator, kind.label(), point.label()];
                self.error.with_label_values(&labels);
                self.coverage.with_label_values(&labels).set(f64::NAN);
                self.wrong_orderings.with_label_values(&labels).set(f64::NAN);
            }
        }
        for channel in CHANNELS.map(channel_label) {
            self.applied.with_label_values(&[channel]).inc_by(0);
            for why in Dropped::ALL {
                self.dropped.with_label_values(&[channel, why.label()]).inc_by(0);
            }
        }
        for reason in LogEnd::LABELS {
            self.recording_stopped.with_label_values(&[reason]).inc_by(0);
        }
        for listener in ["api", "metrics"] {
            self.connections_refused.with_label_values(&[listener]).inc_by(0);
            for status in ["2xx", "4xx", "5xx"] {
                self.requests.with_label_values(&[listener, status]).inc_by(0);
            }
        }
        for result in ["applied", "refused"] {
            self.reloads.with_label_values(&[result]).inc_by(0);
        }
    }

    /// Counts a reload of the configuration.
    pub fn reloaded(&self, is_applied: bool) {
        self.reloads.with_label_values(&[if is_applied { "applied" } else { "refused" }]).inc();
        self.refused.set((!is_applied).into());
    }

    /// Counts a decision that was just taken.
    pub fn decided(&self, decision: &Decision, outcome: &str) {
        let labels = [decision.policy.as_str(), decision.action.told(decision.clones), decision.mode.label(), outcome];
        self.decisions.with_label_values(&labels).inc();
    }

    /// Copies have ended that ran there.
    pub fn landed(&self, action: &str, landed: Landed) {
        let preferring = PREFERRED.into_iter().zip([landed.preferred, landed.near, landed.elsewhere]);
        preferring.for_each(|(place, count)| self.preferring.with_label_values(&[action, place]).inc_by(count.into()));
        let avoiding = AVOIDED.into_iter().zip([landed.avoided, landed.kept_off]);
        avoiding.for_each(|(place, count)| self.avoiding.with_label_values(&[action, place]).inc_by(count.into()));
    }

    /// A restart has ended so, that made so many of its task.
    pub fn restarted(&self, number: u32, end: CopyEnd) {
        let [first, second, third, later] = NTH;
        let nth = match number {
            0 | 1 => first,
            2 => second,
            3 => third,
            _ => later,
        };
        self.restarts.with_label_values(&[nth, end.label()]).inc();
    }

    /// A copy won, so many milliseconds before the slow attempt's predicted end, or after it.
    pub fn saved(&self, policy: &str, action: &str, ahead_ms: i64) {
        let side = if ahead_ms < 0 { "later" } else { "sooner" };
        self.copy_gained.with_label_values(&[policy, action, side]).inc_by(ahead_ms.unsigned_abs() as f64 / 1000.0);
    }
}

/// The registry in Prometheus' text format.
pub fn encode(registry: &Registry) -> Result<String, prometheus::Error> {
    TextEncoder::new().encode_to_string(&registry.gather())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_metric_carries_an_id_and_every_label_set_starts_at_zero() {
        let registry = Registry::new();
        Metrics::new(&registry).unwrap();
        let text = encode(&registry).unwrap();
        for verdict in Verdict::ALL {
            assert!(text.contains(&format!("drover_verdicts{{reason=\"{}\"}} 0", verdict.label())));
        }
        for action in ASKED {
            let of = |name: &str, place: &str| format!("{name}{{action=\"{action}\",place=\"{place}\"}} 0");
            let series = PREFERRED.map(|place| of("drover_copies_preferring_total", place)).into_iter();
            let mut series = series.chain(AVOIDED.map(|place| of("drover_copies_avoiding_total", place)));
            assert!(series.all(|one| text.contains(&one)), "{action}");
        }
        for end in CopyEnd::ALL.map(CopyEnd::label) {
            assert!(NTH.iter().all(|nth| text.contains(&format!("{{end=\"{end}\",nth=\"{nth}\"}} 0"))), "{end}");
        }
        for label in ["job=", "task=", "attempt=", "node=", "host="] {
            assert!(!text.contains(label), "{label}");
        }
        assert!(text.contains("drover_build_info{revision="));
    }
}
