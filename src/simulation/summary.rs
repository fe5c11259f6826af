//! What many runs come to: each policy's times and costs, and how they compare with a baseline's under the same luck.

use super::against::Against;
use super::grid::Played;
use super::holdout::HoldOut;
use super::measures::{
    bin_times, job_times, over_seeds, own_time, phase_times, phases_of, points, sums, where_any, workflow_times,
};
use crate::stats::Interval;
use drover_core::estimate::Estimator;
use drover_core::estimate::calibration::{Accuracy, Point};
use drover_core::model::TaskKind;
use drover_core::sim::{JobRow, Outcome};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// By number of their jobs' tasks: phases' times, seconds.
    #[serde(default)]
    pub phase_bins: Vec<(String, Spread)>,
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
            bins: bins(&runs, own_time),
            phase_bins: bins(&runs, phases_of),
            costs: costs(&runs),
            estimates: estimates(&runs, Accuracy::mean_error),
            estimate_medians: estimates(&runs, Accuracy::median_error),
            holdout: HoldOut::of(holdout, runs.iter().map(|one| &one.outcome)).filter(|_| holdout > 0.0),
            against: other.map(|other| Against::of(baseline, &runs, other)),
        }
    });
    each.collect()
}

impl Spread {
    fn of(runs: &[&Played], values: &dyn Fn(&Outcome) -> Vec<f64>) -> Spread {
        let all: Vec<Vec<f64>> = runs.iter().map(|one| values(&one.outcome)).collect();
        Spread { count: all.iter().map(Vec::len).sum(), of: over_seeds(all.iter().map(|values| points(values))) }
    }
}

/// Those without jobs are left out.
fn bins(runs: &[&Played], of: fn(&JobRow) -> Vec<f64>) -> Vec<(String, Spread)> {
    let spreads = bin_times(of).map(|(name, times)| (name, Spread::of(runs, &times)));
    spreads.filter(|(_, spread)| spread.count > 0).collect()
}

fn costs(runs: &[&Played]) -> BTreeMap<String, Interval> {
    where_any(over_seeds(runs.iter().map(|one| sums(&one.outcome))))
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
