//! What many runs come to: each policy's times and costs, and how they compare with a baseline's under the same luck.

use super::against::Against;
use super::grid::Played;
use super::holdout::HoldOut;
use crate::stats::bins::{BINS, named};
use crate::stats::{Interval, quantile};
use drover_core::estimate::Estimator;
use drover_core::estimate::calibration::{Accuracy, Point};
use drover_core::model::TaskKind;
use drover_core::sim::{JobRow, KeptRow, Outcome};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The quantiles that are told.
pub const SHARES: [(&str, f64); 4] = [("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p99", 0.99)];

/// One policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicySummary {
    /// Its name.
    pub policy: String,
    /// How many seeds it was run with.
    pub seeds: usize,
    /// Jobs' times, from arrival to end, seconds.
    pub jobs: Spread,
    /// Phases' times, from the first launch to the last success, seconds.
    pub phases: Spread,
    /// Workflows' times, from the arrival of the first job to the end of the last, seconds; `None` where no jobs come after one another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflows: Option<Spread>,
    /// By number of tasks: jobs' times, seconds.
    pub bins: Vec<(String, Spread)>,
    /// Sums of a run.
    pub costs: BTreeMap<String, Interval>,
    /// How far estimates of the time left were off at half of the progress, by kind of task and estimator: mean of the absolute errors, percent of what was left, each at most 1000.
    #[serde(default)]
    pub estimates: Errors,
    /// The same, the median in the place of the mean: where next to nothing is left, a second is many times that, and a few such tasks can make most of a mean.
    #[serde(default)]
    pub estimate_medians: Errors,
    /// What jobs left alone show beside the others, where some were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holdout: Option<HoldOut>,
    /// Against the baseline, run by run; `None` for the baseline itself.
    pub against: Option<Against>,
}

/// Errors of estimates, by kind of task and estimator.
pub type Errors = BTreeMap<String, BTreeMap<String, Interval>>;

/// Mean and quantiles of a run, over seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// How many there were, in all seeds.
    pub count: usize,
    /// Mean and quantiles, each over seeds.
    pub of: BTreeMap<String, Interval>,
}

/// Sums all up: in the policies' order, compared with the one named `baseline`; `holdout` is the share of jobs that each left alone, 0–1.
pub fn summarise(policies: &[String], baseline: &str, holdout: f64, played: &[Played]) -> Vec<PolicySummary> {
    let base = policies.iter().position(|policy| policy == baseline);
    let of = |policy: usize| played.iter().filter(move |one| one.policy == policy).collect::<Vec<_>>();
    let based = base.map(of);
    let each = policies.iter().enumerate().map(|(number, policy)| {
        let runs = of(number);
        let other = based.as_ref().filter(|_| base != Some(number));
        PolicySummary {
            policy: policy.clone(),
            seeds: runs.len(),
            jobs: Spread::of(&runs, &job_times),
            phases: Spread::of(&runs, &phase_times),
            workflows: Some(Spread::of(&runs, &workflow_times)).filter(|all| all.count > 0),
            bins: bins(&runs),
            costs: costs(&runs),
            estimates: estimates(&runs, Accuracy::mean_error),
            estimate_medians: estimates(&runs, Accuracy::median_error),
            holdout: HoldOut::of(holdout, runs.iter().map(|one| &one.outcome)).filter(|_| holdout > 0.0),
            against: other.map(|other| Against::of(baseline, &runs, other)),
        }
    });
    each.collect()
}

pub(super) fn seconds(job: &JobRow) -> f64 {
    job.took.as_secs_f64()
}

/// Mean and quantiles of one run.
pub(super) fn points(values: &[f64]) -> BTreeMap<String, f64> {
    let mean = (!values.is_empty()).then(|| ("mean".to_owned(), values.iter().sum::<f64>() / values.len() as f64));
    let quantiles = SHARES.iter().filter_map(|(name, share)| Some(((*name).to_owned(), quantile(values, *share)?)));
    mean.into_iter().chain(quantiles).collect()
}

/// The same points of several runs, each over them.
pub(super) fn over_seeds(runs: impl Iterator<Item = BTreeMap<String, f64>>) -> BTreeMap<String, Interval> {
    let mut all: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (name, value) in runs.flatten() {
        all.entry(name).or_default().push(value);
    }
    all.into_iter().filter_map(|(name, values)| Some((name, Interval::of(&values)?))).collect()
}

impl Spread {
    fn of(runs: &[&Played], values: &dyn Fn(&Outcome) -> Vec<f64>) -> Spread {
        let all: Vec<Vec<f64>> = runs.iter().map(|one| values(&one.outcome)).collect();
        Spread { count: all.iter().map(Vec::len).sum(), of: over_seeds(all.iter().map(|values| points(values))) }
    }
}

/// Those of a run's jobs that did not fail: how soon a job fails is no time that it takes.
pub(super) fn ended_well(outcome: &Outcome) -> impl Iterator<Item = &JobRow> {
    outcome.jobs.iter().filter(|job| !job.failed)
}

/// Times of a run's jobs, seconds.
pub(super) fn job_times(outcome: &Outcome) -> Vec<f64> {
    ended_well(outcome).map(seconds).collect()
}

/// Times of its phases, seconds.
pub(super) fn phase_times(outcome: &Outcome) -> Vec<f64> {
    ended_well(outcome).flat_map(|job| &job.phases).map(|phase| phase.took.as_secs_f64()).collect()
}

/// Times of its workflows, seconds.
pub(super) fn workflow_times(outcome: &Outcome) -> Vec<f64> {
    outcome.workflows.iter().filter(|one| !one.failed).map(|one| one.took.as_secs_f64()).collect()
}

/// Each bin's name, and how the times of its jobs, in seconds, are found.
pub(super) fn bin_times() -> impl Iterator<Item = (String, impl Fn(&Outcome) -> Vec<f64>)> {
    BINS.into_iter().map(|(low, high)| {
        let within = move |outcome: &Outcome| {
            ended_well(outcome).filter(|job| (low..=high).contains(&job.tasks)).map(seconds).collect()
        };
        (named((low, high)), within)
    })
}

/// Those without jobs are left out.
fn bins(runs: &[&Played]) -> Vec<(String, Spread)> {
    let spreads = bin_times().map(|(name, times)| (name, Spread::of(runs, &times)));
    spreads.filter(|(_, spread)| spread.count > 0).collect()
}

fn costs(runs: &[&Played]) -> BTreeMap<String, Interval> {
    where_any(over_seeds(runs.iter().map(|one| sums(&one.outcome))))
}

/// What is told of outputs kept twice or computed anew: the key in [`PolicySummary::costs`], and the column's name.
pub const KEPT: [(&str, &str); 6] = [
    ("replicated", "kept twice"),
    ("replicated_mb", "MiB"),
    ("replica_used", "replica read"),
    ("precomputed", "computed anew"),
    ("precompute_needed", "needed"),
    ("precomputed_in_time", "in time"),
];

/// Leaves those out where there were none in any run.
pub(super) fn where_any(mut of: BTreeMap<String, Interval>) -> BTreeMap<String, Interval> {
    let is_told = |key: &String| KEPT.iter().any(|(known, _)| known == key);
    of.retain(|key, one| !is_told(key) || (one.low, one.high) != (0.0, 0.0));
    of
}

/// By kind of task; a kind of which nothing was predicted is left out.
fn estimates(runs: &[&Played], error: fn(&Accuracy) -> Option<f64>) -> Errors {
    let of = |kind| over_seeds(runs.iter().map(|one| errors(&one.outcome, kind, error)));
    let kinds = TaskKind::ALL.into_iter().map(|kind| (kind.label().to_owned(), of(kind)));
    kinds.filter(|(_, errors)| !errors.is_empty()).collect()
}

/// A run's errors by estimator, percent.
fn errors(outcome: &Outcome, kind: TaskKind, error: fn(&Accuracy) -> Option<f64>) -> BTreeMap<String, f64> {
    let of = |estimator: Estimator| {
        let error = error(outcome.estimates.of(kind, Point::Half, estimator)?)?;
        Some((estimator.label().to_owned(), 100.0 * error))
    };
    Estimator::ALL.into_iter().filter_map(of).collect()
}

/// What a run cost, and what was done in it. Shares of budgets are there only where decisions drew on some, and failures where anything can fail.
pub(super) fn sums(outcome: &Outcome) -> BTreeMap<String, f64> {
    let sum = |of: &dyn Fn(&JobRow) -> f64| outcome.jobs.iter().map(of).sum::<f64>();
    let budget = outcome.budget;
    let kept = |of: fn(&KeptRow) -> u32| sum(&|job| of(&job.kept).into());
    let all = [
        ("container_seconds", sum(&|job| (job.useful_ms + job.wasted_ms) as f64 / 1e3)),
        ("wasted_seconds", sum(&|job| job.wasted_ms as f64 / 1e3)),
        ("copies", sum(&|job| job.copies.into())),
        ("copies_won", sum(&|job| job.copies_won.into())),
        ("restarts", sum(&|job| job.restarts.into())),
        ("withdrawn", sum(&|job| job.withdrawn.into())),
        ("recomputed", sum(&|job| job.recomputed.into())),
        ("decided_in_vain", outcome.decided.in_vain as f64),
        ("budget_decisions", budget.decisions as f64),
        ("replicated", kept(|row| row.replicated)),
        ("replicated_mb", sum(&|job| job.kept.replicated_bytes.0 as f64 / f64::from(1 << 20))),
        ("replica_used", kept(|row| row.replica_used)),
        ("precomputed", kept(|row| row.precomputed)),
        ("precompute_needed", kept(|row| row.precompute_needed)),
        ("precomputed_in_time", kept(|row| row.precomputed_in_time)),
    ];
    let shares = [("budget_mean_percent", budget.sum / budget.decisions as f64), ("budget_peak_percent", budget.peak)];
    let shares = shares.map(|(name, share)| (name, 100.0 * share)).into_iter().filter(|_| budget.decisions > 0);
    let failures = outcome.failures.into_iter().flat_map(|failures| {
        [
            ("failed_attempts", failures.attempts),
            ("failed_jobs", failures.jobs),
            ("jobs_never_came", failures.never_came),
        ]
    });
    let failures = failures.map(|(name, count)| (name, count as f64));
    all.into_iter().chain(shares).chain(failures).map(|(name, value)| (name.to_owned(), value)).collect()
}
