//! What many runs come to: each policy's times and costs, and how they compare with a baseline's under the same luck.

use super::grid::Played;
use super::stats::{Interval, quantile};
use drover_core::sim::{JobRow, Outcome};
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
    /// By number of tasks: jobs' times, seconds.
    pub bins: Vec<(String, Spread)>,
    /// Sums of a run.
    pub costs: BTreeMap<String, Interval>,
    /// Against the baseline, run by run; `None` for the baseline itself.
    pub against: Option<Against>,
}

/// Mean and quantiles of a run, over seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// How many there were, in all seeds.
    pub count: usize,
    /// Mean and quantiles, each over seeds.
    pub of: BTreeMap<String, Interval>,
}

/// How a policy compares with another under the same luck: what is said of each is how much less it is, in percent of the other's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Against {
    /// The other.
    pub baseline: String,
    /// Reduction of jobs' mean and quantiles, percent.
    pub jobs: BTreeMap<String, Interval>,
    /// Reduction of each job's time, at quantiles over jobs, percent.
    pub each_job: BTreeMap<String, Interval>,
    /// Reduction of container-seconds, percent.
    pub container_seconds: Option<Interval>,
}

/// Sums all up: in the policies' order, compared with the one named `baseline`.
pub fn summarise(policies: &[String], baseline: &str, played: &[Played]) -> Vec<PolicySummary> {
    let base = policies.iter().position(|policy| policy == baseline);
    let of = |policy: usize| played.iter().filter(move |one| one.policy == policy).collect::<Vec<_>>();
    let based = base.map(of);
    let each = policies.iter().enumerate().map(|(number, policy)| {
        let runs = of(number);
        let other = based.as_ref().filter(|_| base != Some(number));
        let job_times = |outcome: &Outcome| outcome.jobs.iter().map(seconds).collect::<Vec<_>>();
        let phase_times = |outcome: &Outcome| {
            outcome.jobs.iter().flat_map(|job| &job.phases).map(|phase| phase.took.as_secs_f64()).collect()
        };
        PolicySummary {
            policy: policy.clone(),
            seeds: runs.len(),
            jobs: Spread::of(&runs, &job_times),
            phases: Spread::of(&runs, &phase_times),
            bins: bins(&runs),
            costs: costs(&runs),
            against: other.map(|other| Against::of(baseline, &runs, other)),
        }
    });
    each.collect()
}

fn seconds(job: &JobRow) -> f64 {
    job.took.as_secs_f64()
}

/// Mean and quantiles of one run.
fn points(values: &[f64]) -> BTreeMap<String, f64> {
    let mean = (!values.is_empty()).then(|| ("mean".to_owned(), values.iter().sum::<f64>() / values.len() as f64));
    let quantiles = SHARES.iter().filter_map(|(name, share)| Some(((*name).to_owned(), quantile(values, *share)?)));
    mean.into_iter().chain(quantiles).collect()
}

/// The same points of several runs, each over them.
fn over_seeds(runs: impl Iterator<Item = BTreeMap<String, f64>>) -> BTreeMap<String, Interval> {
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

/// Dolly's bins of jobs by their number of tasks (NSDI'13, Table 1), those without jobs left out.
fn bins(runs: &[&Played]) -> Vec<(String, Spread)> {
    const BINS: [(u32, u32); 5] = [(1, 10), (11, 50), (51, 150), (151, 500), (501, u32::MAX)];
    let spread = |(low, high): (u32, u32)| {
        let within = move |outcome: &Outcome| {
            let jobs = outcome.jobs.iter().filter(|job| (low..=high).contains(&job.tasks()));
            jobs.map(seconds).collect::<Vec<_>>()
        };
        let name = if high == u32::MAX { format!(">{}", low - 1) } else { format!("{low}-{high}") };
        (name, Spread::of(runs, &within))
    };
    BINS.into_iter().map(spread).filter(|(_, spread)| spread.count > 0).collect()
}

fn costs(runs: &[&Played]) -> BTreeMap<String, Interval> {
    let of_run = |one: &&Played| {
        let sum = |of: &dyn Fn(&JobRow) -> f64| one.outcome.jobs.iter().map(of).sum::<f64>();
        let all = [
            ("container_seconds", sum(&|job| (job.useful_ms + job.wasted_ms) as f64 / 1e3)),
            ("wasted_seconds", sum(&|job| job.wasted_ms as f64 / 1e3)),
            ("copies", sum(&|job| job.copies.into())),
            ("copies_won", sum(&|job| job.copies_won.into())),
            ("restarts", sum(&|job| job.restarts.into())),
            ("withdrawn", sum(&|job| job.withdrawn.into())),
            ("recomputed", sum(&|job| job.recomputed.into())),
        ];
        all.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
    };
    over_seeds(runs.iter().map(of_run))
}

impl Against {
    fn of(baseline: &str, runs: &[&Played], others: &[&Played]) -> Against {
        let pairs: Vec<(&Outcome, &Outcome)> = runs
            .iter()
            .filter_map(|one| Some((&one.outcome, &others.iter().find(|other| other.seed == one.seed)?.outcome)))
            .collect();
        let times = |outcome: &Outcome| outcome.jobs.iter().map(seconds).collect::<Vec<_>>();
        let less = |own: f64, other: f64| 100.0 * (1.0 - own / other);
        let jobs = pairs.iter().map(|(own, other)| {
            let other = points(&times(other));
            points(&times(own))
                .into_iter()
                .filter_map(|(name, own)| Some((name.clone(), less(own, *other.get(&name)?))))
                .collect()
        });
        let each = pairs.iter().map(|(own, other)| {
            let of = |job: &JobRow| ((job.name.clone(), job.nth), seconds(job));
            let known: BTreeMap<_, f64> = other.jobs.iter().map(of).collect();
            let paired = own.jobs.iter().map(of).filter_map(|(id, own)| Some(less(own, *known.get(&id)?)));
            points(&paired.collect::<Vec<_>>())
        });
        let held =
            |outcome: &Outcome| outcome.jobs.iter().map(|job| (job.useful_ms + job.wasted_ms) as f64).sum::<f64>();
        let held: Vec<f64> = pairs.iter().map(|(own, other)| less(held(own), held(other))).collect();
        Against {
            baseline: baseline.to_owned(),
            jobs: over_seeds(jobs),
            each_job: over_seeds(each),
            container_seconds: Interval::of(&held),
        }
    }
}
