//! What is measured of one run, and of the same in several.

use crate::stats::bins::{BINS, named};
use crate::stats::{Interval, quantile};
use drover_core::sim::{JobRow, KeptRow, Outcome};
use std::collections::BTreeMap;

/// The quantiles that are told.
pub const SHARES: [(&str, f64); 4] = [("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p99", 0.99)];

/// What is told of outputs kept twice or computed anew: the key in a summary's costs, and the column's name.
pub const KEPT: [(&str, &str); 6] = [
    ("replicated", "kept twice"),
    ("replicated_mb", "MiB"),
    ("replica_used", "replica read"),
    ("precomputed", "computed anew"),
    ("precompute_needed", "needed"),
    ("precomputed_in_time", "in time"),
];

/// How long a job took.
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
    ended_well(outcome).flat_map(phases_of).collect()
}

/// Times of its workflows, seconds.
pub(super) fn workflow_times(outcome: &Outcome) -> Vec<f64> {
    outcome.workflows.iter().filter(|one| !one.failed).map(|one| one.took.as_secs_f64()).collect()
}

/// Each bin's name, and how the times of its jobs, or of these jobs' phases, in seconds, are found.
pub(super) fn bin_times(of: fn(&JobRow) -> Vec<f64>) -> impl Iterator<Item = (String, impl Fn(&Outcome) -> Vec<f64>)> {
    BINS.into_iter().map(move |(low, high)| {
        let within = move |outcome: &Outcome| {
            ended_well(outcome).filter(|job| (low..=high).contains(&job.tasks)).flat_map(of).collect()
        };
        (named((low, high)), within)
    })
}

/// A job's own time, as one of a list.
pub(super) fn own_time(job: &JobRow) -> Vec<f64> {
    vec![seconds(job)]
}

/// Those of its phases.
pub(super) fn phases_of(job: &JobRow) -> Vec<f64> {
    job.phases.iter().map(|phase| phase.took.as_secs_f64()).collect()
}

/// Leaves out what [`KEPT`] names where there was none in any run.
pub(super) fn where_any(mut of: BTreeMap<String, Interval>) -> BTreeMap<String, Interval> {
    let is_told = |key: &String| KEPT.iter().any(|(known, _)| known == key);
    of.retain(|key, one| !is_told(key) || (one.low, one.high) != (0.0, 0.0));
    of
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
