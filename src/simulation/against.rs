//! How policies compare with a baseline: seed by seed, since both meet the same luck in each.

use super::grid::Played;
use super::measures::{
    bin_times, ended_well, job_times, over_seeds, own_time, phase_times, phases_of, points, seconds, sums, where_any,
    workflow_times,
};
use crate::stats::Interval;
use drover_core::sim::{JobRow, Outcome};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A policy beside the baseline. Reductions are how much less something is than under that, in percent of what it is there; each is the mean over seeds that both
/// were run with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Against {
    /// The baseline.
    pub baseline: String,
    /// How many seeds both were run with.
    pub pairs: usize,
    /// Reduction of jobs' mean and quantiles, percent.
    pub jobs: BTreeMap<String, Interval>,
    /// Reduction of each job's time, its mean and quantiles over jobs, percent.
    pub each_job: BTreeMap<String, Interval>,
    /// Reduction of phases' mean and quantiles, percent.
    pub phases: BTreeMap<String, Interval>,
    /// Reduction of workflows' mean and quantiles, percent; empty where no jobs come after one another.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub workflows: BTreeMap<String, Interval>,
    /// By number of tasks: reduction of jobs' mean and quantiles, percent.
    pub bins: Vec<(String, BTreeMap<String, Interval>)>,
    /// By number of their jobs' tasks: reduction of phases' mean and quantiles, percent.
    #[serde(default)]
    pub phase_bins: Vec<(String, BTreeMap<String, Interval>)>,
    /// Reduction of container-seconds, percent.
    pub container_seconds: Option<Interval>,
    /// How much more of each cost there is in a run.
    pub more: BTreeMap<String, Interval>,
}

/// One seed under both: the policy's outcome, and the baseline's.
type Pair<'a> = (&'a Outcome, &'a Outcome);

impl Against {
    /// Compares runs with those of the baseline that have the same seeds.
    pub(super) fn of(baseline: &str, runs: &[&Played], others: &[&Played]) -> Against {
        let others: BTreeMap<u64, &Outcome> = others.iter().map(|other| (other.seed, &other.outcome)).collect();
        let pairs: Vec<Pair<'_>> =
            runs.iter().filter_map(|one| Some((&one.outcome, *others.get(&one.seed)?))).collect();
        let binned = |of: fn(&JobRow) -> Vec<f64>| {
            let bins = bin_times(of).map(|(name, times)| (name, reductions(&pairs, &times)));
            bins.filter(|(_, of)| !of.is_empty()).collect()
        };
        let more = |(own, other): &Pair<'_>| both(sums(own), &sums(other), |own, other| Some(own - other));
        let held = |outcome: &Outcome| sums(outcome)["container_seconds"];
        let less_held: Vec<f64> = pairs.iter().filter_map(|(own, other)| less(held(own), held(other))).collect();
        Against {
            baseline: baseline.to_owned(),
            pairs: pairs.len(),
            jobs: reductions(&pairs, &job_times),
            each_job: over_seeds(pairs.iter().map(each_job)),
            phases: reductions(&pairs, &phase_times),
            workflows: reductions(&pairs, &workflow_times),
            bins: binned(own_time),
            phase_bins: binned(phases_of),
            container_seconds: Interval::of(&less_held),
            more: where_any(over_seeds(pairs.iter().map(more))),
        }
    }
}

/// How much less a number is than the baseline's, percent of that; `None` where that is zero.
fn less(own: f64, other: f64) -> Option<f64> {
    (other > 0.0).then(|| 100.0 * (1.0 - own / other))
}

/// What two maps have of the same name, made one.
fn both(
    own: BTreeMap<String, f64>,
    other: &BTreeMap<String, f64>,
    of: fn(f64, f64) -> Option<f64>,
) -> BTreeMap<String, f64> {
    own.into_iter().filter_map(|(name, own)| Some((name.clone(), of(own, *other.get(&name)?)?))).collect()
}

fn reductions(pairs: &[Pair<'_>], times: &dyn Fn(&Outcome) -> Vec<f64>) -> BTreeMap<String, Interval> {
    over_seeds(pairs.iter().map(|(own, other)| both(points(&times(own)), &points(&times(other)), less)))
}

fn each_job((own, other): &Pair<'_>) -> BTreeMap<String, f64> {
    let of = |job: &JobRow| ((job.name.clone(), job.nth), seconds(job));
    let known: BTreeMap<_, f64> = ended_well(other).map(of).collect();
    let paired = ended_well(own).map(of).filter_map(|(id, own)| less(own, *known.get(&id)?));
    points(&paired.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::super::measures::KEPT;
    use super::*;
    use drover_core::model::{Millis, TaskKind};
    use drover_core::sim::{KeptRow, PhaseRow, WorkflowRow};

    fn job(nth: u32, tasks: u32, seconds: u64, wasted_ms: u64) -> JobRow {
        let took = Millis(seconds * 1_000);
        let phase = PhaseRow { kind: TaskKind::Map, tasks, took: Millis(took.0 / 2), median: took, slowest: took };
        JobRow {
            name: "a".into(),
            nth,
            held_out: false,
            failed: false,
            arrived: Millis(0),
            took,
            tasks,
            phases: vec![phase],
            useful_ms: 50_000,
            wasted_ms,
            copies: 0,
            copies_won: 0,
            restarts: 0,
            withdrawn: 0,
            recomputed: 0,
            kept: Default::default(),
            omega: None,
        }
    }

    fn run(policy: usize, seed: u64, jobs: Vec<JobRow>) -> Played {
        Played { policy, seed, outcome: Outcome { jobs, ..Outcome::default() } }
    }

    #[test]
    fn seeds_are_compared_with_themselves_and_those_that_only_one_was_run_with_are_left_out() {
        // Half of the time in each seed: without pairs, the seeds' own difference would hide it.
        let base = [run(0, 1, vec![job(0, 4, 10, 0)]), run(0, 2, vec![job(0, 4, 1_000, 0)]), run(0, 3, vec![])];
        let own = [run(1, 2, vec![job(0, 4, 500, 25_000)]), run(1, 1, vec![job(0, 4, 5, 75_000)])];
        let against = Against::of("none", &own.each_ref(), &base.each_ref());
        assert_eq!(against.pairs, 2);
        let half = Interval { mean: 50.0, low: 50.0, high: 50.0 };
        for of in [&against.jobs, &against.each_job, &against.phases, &against.bins[0].1] {
            assert_eq!((of["mean"], of["p75"]), (half, half));
        }
        assert_eq!((against.bins.len(), against.bins[0].0.as_str()), (1, "1-10"));
        assert_eq!((against.more["wasted_seconds"].mean, against.more["copies"].mean), (50.0, 0.0));
        assert_eq!(against.container_seconds.unwrap().mean, -100.0);
    }

    #[test]
    fn each_job_is_set_beside_itself_though_jobs_end_in_another_order() {
        let base = [run(0, 1, vec![job(0, 4, 10, 0), job(1, 40, 40, 0)])];
        let own = [run(1, 1, vec![job(1, 40, 10, 0), job(0, 4, 10, 0)])];
        let against = Against::of("none", &own.each_ref(), &base.each_ref());
        assert_eq!((against.each_job["mean"].mean, against.jobs["mean"].mean), (37.5, 60.0));
        let bins: Vec<(&str, f64)> = against.bins.iter().map(|(bin, of)| (bin.as_str(), of["p50"].mean)).collect();
        assert_eq!(bins, [("1-10", 0.0), ("11-50", 75.0)]);
        let phases: Vec<(&str, f64)> =
            against.phase_bins.iter().map(|(bin, of)| (bin.as_str(), of["p50"].mean)).collect();
        assert_eq!(phases, [("1-10", 0.0), ("11-50", 75.0)]);
    }

    #[test]
    fn jobs_that_failed_are_in_no_comparison_of_times() {
        let failed = JobRow { failed: true, ..job(0, 4, 1, 0) };
        let base = [run(0, 1, vec![job(0, 4, 10, 0), job(1, 4, 10, 0)])];
        let own = [run(1, 1, vec![failed, job(1, 4, 5, 0)])];
        let against = Against::of("none", &own.each_ref(), &base.each_ref());
        for of in [&against.jobs, &against.each_job, &against.phases, &against.bins[0].1] {
            assert_eq!(of["mean"].mean, 50.0);
        }
    }

    #[test]
    fn workflows_are_set_beside_those_of_the_same_seed() {
        let flow = |seconds: u64| {
            let (name, took) = ("q".into(), Millis(seconds * 1_000));
            WorkflowRow { name, nth: 0, jobs: 2, phases: 4, arrived: Millis(0), took, failed: false }
        };
        let run = |policy, seed, seconds| {
            let outcome = Outcome { workflows: vec![flow(seconds)], ..Outcome::default() };
            Played { policy, seed, outcome }
        };
        let (base, own) = ([run(0, 1, 100), run(0, 2, 10)], [run(1, 2, 9), run(1, 1, 70)]);
        let against = Against::of("none", &own.each_ref(), &base.each_ref());
        assert_eq!((against.workflows["mean"].mean, against.jobs.len()), (20.0, 0));
    }

    #[test]
    fn outputs_kept_twice_are_told_where_any_run_has_some_and_where_none_has_they_are_not() {
        let kept = KeptRow { replicated: 2, ..KeptRow::default() };
        let base = [run(0, 1, vec![job(0, 4, 10, 0)]), run(0, 2, vec![job(0, 4, 10, 0)])];
        let own = [run(1, 1, vec![JobRow { kept, ..job(0, 4, 10, 0) }]), run(1, 2, vec![job(0, 4, 10, 0)])];
        let more = |own: &[Played; 2]| Against::of("none", &own.each_ref(), &base.each_ref()).more;
        assert_eq!(more(&own).get("replicated").map(|one| one.mean), Some(1.0));
        let told = |more: BTreeMap<String, Interval>| {
            more.into_keys().filter(|key| KEPT.iter().any(|(known, _)| known == key)).collect::<Vec<_>>()
        };
        assert_eq!((told(more(&own)), told(more(&base))), (vec!["replicated".to_owned()], vec![]));
    }

    #[test]
    fn nothing_is_said_of_a_share_of_nothing() {
        let runs = [run(0, 1, vec![job(0, 1, 0, 0)])];
        let against = Against::of("none", &runs.each_ref(), &runs.each_ref());
        assert!(against.jobs.is_empty() && against.each_job.is_empty(), "{against:?}");
    }
}
