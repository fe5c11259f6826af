//! What a hold-out would have shown: jobs that a policy leaves alone beside all others, by intention to treat.

use super::stats::Interval;
use super::summary::bin;
use drover_core::sim::{JobRow, Outcome};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::collections::BTreeMap;

/// What hold-outs of that share show, run by run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HoldOut {
    /// Share of the jobs that are left alone, 0–1.
    pub share: f64,
    /// Runs in which jobs of both kinds could be compared.
    pub runs: usize,
    /// What the policy changes jobs' times by, by these: below 0 where jobs are sooner, a share of the time of those left alone.
    pub change: Option<Interval>,
    /// Share of the runs, 0–1, whose 95 % interval covers no change at all.
    pub covers_none: f64,
    /// Share of the runs, 0–1, whose whole interval is on the side of the gain.
    pub shows_gain: f64,
}

impl HoldOut {
    /// That of one policy's runs; `None` where none can be compared.
    pub fn of<'a>(share: f64, outcomes: impl Iterator<Item = &'a Outcome>) -> Option<HoldOut> {
        let effects: Vec<Interval> = outcomes.filter_map(|outcome| effect(&outcome.jobs)).collect();
        let of_runs = |which: &dyn Fn(&Interval) -> bool| {
            effects.iter().filter(|one| which(one)).count() as f64 / effects.len() as f64
        };
        (!effects.is_empty()).then(|| HoldOut {
            share,
            runs: effects.len(),
            change: Interval::of(&effects.iter().map(|one| one.mean).collect::<Vec<_>>()).map(as_shares),
            covers_none: of_runs(&|one| one.low <= 0.0 && one.high >= 0.0),
            shows_gain: of_runs(&|one| one.high < 0.0),
        })
    }
}

/// Mean difference of the logarithms of job times, seconds, between jobs that a policy may act on and those held out, of one name and one bin of sizes each, with Student's 95 % interval.
/// Jobs without a counterpart say nothing. `None` where none has one, or none of them has a fellow.
pub fn effect(jobs: &[JobRow]) -> Option<Interval> {
    let mut strata: BTreeMap<(&str, Option<String>), [Vec<f64>; 2]> = BTreeMap::new();
    for job in jobs.iter().filter(|job| job.took.0 > 0 && !job.failed) {
        let sides = strata.entry((&job.name, bin(job.tasks()))).or_default();
        sides[usize::from(job.held_out)].push(job.took.as_secs_f64().ln());
    }
    let (mut weights, mut sum, mut squares, mut freedom) = (0.0, 0.0, 0.0, 0);
    for [acted, left] in strata.values().filter(|sides| sides.iter().all(|side| !side.is_empty())) {
        let [(mean, off), (mean_left, off_left)] = [acted, left].map(|side| mean_and_squares(side));
        let (a, b) = (acted.len() as f64, left.len() as f64);
        let weight = a * b / (a + b);
        weights += weight;
        sum += weight * (mean - mean_left);
        squares += off + off_left;
        freedom += acted.len() + left.len() - 2;
    }
    let quantile = StudentsT::new(0.0, 1.0, freedom as f64).ok()?.inverse_cdf(0.975);
    let (mean, half) = (sum / weights, quantile * (squares / freedom as f64 / weights).sqrt());
    Some(Interval { mean, low: mean - half, high: mean + half })
}

/// Of logarithms of ratios: by what share, above -1, something is changed.
fn as_shares(logs: Interval) -> Interval {
    Interval { mean: logs.mean.exp_m1(), low: logs.low.exp_m1(), high: logs.high.exp_m1() }
}

fn mean_and_squares(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (mean, values.iter().map(|value| (value - mean).powi(2)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::{Grid, grid, play};
    use drover_core::engine::EngineParams;
    use drover_core::policy::PolicyName;
    use std::sync::atomic::AtomicBool;

    /// Jobs of one group with those times, seconds, of one map each.
    fn jobs(name: &str, acted: &[f64], left: &[f64]) -> Vec<JobRow> {
        let scenario: drover_core::sim::Scenario =
            toml::from_str("[[jobs]]\nname = \"a\"\nmaps = { tasks = 1 }").unwrap();
        let ran = drover_core::sim::run(&scenario, EngineParams::default(), 1).unwrap();
        let row = |held_out| {
            let (name, of) = (name.to_owned(), ran.jobs[0].clone());
            move |seconds: &f64| JobRow {
                name: name.clone(),
                took: drover_core::model::Millis::from_secs_f64(*seconds),
                held_out,
                ..of.clone()
            }
        };
        acted.iter().map(row(false)).chain(left.iter().map(row(true))).collect()
    }

    #[test]
    fn the_interval_is_that_of_students_test_of_two_samples() {
        // Logarithms 1, 2, 3 and 2, 4: means 2 and 3, squares 2 and 2, variance 4 / 3 with three degrees of freedom, t = 3.182446.
        let exp = |logs: &[f64]| logs.iter().map(|log| log.exp()).collect::<Vec<_>>();
        let found = effect(&jobs("a", &exp(&[1.0, 2.0, 3.0]), &exp(&[2.0, 4.0]))).unwrap();
        let half = 3.182_446 * (4.0 / 3.0 / 1.2_f64).sqrt();
        assert!((found.mean + 1.0).abs() < 1e-3 && (found.high - found.mean - half).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn long_jobs_beside_short_ones_are_no_difference_where_each_is_set_against_its_own_kind() {
        let both = [jobs("short", &[10.0, 10.1], &[10.0]), jobs("long", &[900.0], &[905.0, 890.0])].concat();
        let found = effect(&both).unwrap();
        assert!(found.mean.abs() < 0.01 && found.high - found.low < 0.1, "{found:?}");
        assert_eq!(effect(&[jobs("a", &[1.0, 2.0], &[]), jobs("b", &[], &[3.0])].concat()), None);
        assert_eq!(effect(&jobs("a", &[1.0], &[2.0])), None, "two jobs show no scatter");
    }

    fn runs(policy: PolicyName, seeds: u64, count: u32) -> HoldOut {
        let text = format!(
            "[cluster]\nnodes = 8\n[slowness]\nattempt = {{ mixture = [[9, 1], [1, 6]] }}\n[[jobs]]\nname = \"a\"\ncount = {count}\n\
             arrive = {{ every = {{ exponential = {{ mean = 20 }} }} }}\nmaps = {{ tasks = 4, work = {{ lognormal = {{ median = 20, sigma = 0.4 }} }} }}\n"
        );
        let mut params = EngineParams { policy, ..EngineParams::default() };
        params.govern.holdout = 0.5;
        let scenario = toml::from_str(&text).unwrap();
        let grid = Grid { scenario: &scenario, policies: vec![("a".into(), params.into())], seeds: 1..seeds + 1 };
        let played = play(&grid, &AtomicBool::new(false), &grid::Silent).unwrap();
        HoldOut::of(0.5, played.iter().map(|one| &one.outcome)).unwrap()
    }

    #[test]
    fn where_nothing_is_done_95_in_100_intervals_cover_no_change() {
        let same = runs(PolicyName::None, 2_000, 30);
        assert_eq!(same.runs, 2_000);
        assert!((0.93..=0.97).contains(&same.covers_none), "{same:?}");
        assert!(same.change.unwrap().mean.abs() < 0.02, "{same:?}");
    }

    #[test]
    fn a_gain_is_shown_by_jobs_left_alone_beside_those_that_got_copies() {
        let gained = runs(PolicyName::Drover, 4, 200);
        assert!(gained.shows_gain == 1.0 && gained.change.unwrap().mean < -0.1, "{gained:?}");
    }
}
