//! Jobs that are left alone beside those that may be acted on, by intention to treat: each counts on the side it was drawn to, whatever was done to it.

use super::Interval;
use super::bins::bin;
use drover_core::model::Millis;
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::collections::BTreeMap;

/// A job of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial<'a> {
    /// Its name: it is set against jobs of the same.
    pub name: &'a str,
    /// What its side was drawn under: it is set against jobs of the same draw, as with another share both sides have jobs of other times.
    pub draw: &'a str,
    /// Its tasks: it is set against jobs of the same bin.
    pub tasks: u32,
    /// How long it took.
    pub took: Millis,
    /// It was left alone.
    pub held_out: bool,
}

/// What a trial shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// Mean difference of the logarithms of job times between the sides, with Student's 95 % interval: below 0 where jobs that may be acted on are sooner.
    pub log: Interval,
    /// Jobs that may be acted on and have a counterpart.
    pub acted: usize,
    /// Jobs left alone that have one.
    pub left: usize,
    /// Strata, of one name, one bin and one draw each, with jobs on both sides.
    pub strata: usize,
}

/// Draw, name and bin of jobs that are set against each other.
type Stratum<'a> = (&'a str, &'a str, Option<String>);

/// Mean difference of the logarithms of job times, seconds, between jobs that a policy may act on and those held out, of one name, one bin of sizes and one draw each, with Student's 95 % interval.
/// Jobs without a counterpart say nothing. `None` where none has one, or none of them has a fellow.
pub fn effect<'a>(jobs: impl IntoIterator<Item = Trial<'a>>) -> Option<Effect> {
    let mut strata: BTreeMap<Stratum<'_>, [Vec<f64>; 2]> = BTreeMap::new();
    for job in jobs.into_iter().filter(|job| job.took.0 > 0) {
        let sides = strata.entry((job.draw, job.name, bin(job.tasks))).or_default();
        sides[usize::from(job.held_out)].push(job.took.as_secs_f64().ln());
    }
    let (mut weights, mut sum, mut squares) = (0.0, 0.0, 0.0);
    let mut counts = Effect { log: Interval::sure(0.0), acted: 0, left: 0, strata: 0 };
    for [acted, left] in strata.values().filter(|sides| sides.iter().all(|side| !side.is_empty())) {
        let [(mean, off), (mean_left, off_left)] = [acted, left].map(|side| mean_and_squares(side));
        let (a, b) = (acted.len() as f64, left.len() as f64);
        let weight = a * b / (a + b);
        weights += weight;
        sum += weight * (mean - mean_left);
        squares += off + off_left;
        (counts.acted, counts.left) = (counts.acted + acted.len(), counts.left + left.len());
        counts.strata += 1;
    }
    let freedom = (counts.acted + counts.left).checked_sub(2 * counts.strata)? as f64;
    let quantile = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(0.975);
    let (mean, half) = (sum / weights, quantile * (squares / freedom / weights).sqrt());
    Some(Effect { log: Interval { mean, low: mean - half, high: mean + half }, ..counts })
}

/// Of logarithms of ratios: by what share, above -1, something is changed.
pub fn as_shares(logs: Interval) -> Interval {
    Interval { mean: logs.mean.exp_m1(), low: logs.low.exp_m1(), high: logs.high.exp_m1() }
}

fn mean_and_squares(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (mean, values.iter().map(|value| (value - mean).powi(2)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jobs of one group with those times, seconds, of one map each.
    fn jobs<'a>(name: &'a str, acted: &[f64], left: &[f64]) -> Vec<Trial<'a>> {
        let trial = |held_out| {
            move |seconds: &f64| {
                let took = Millis::from_secs_f64(*seconds);
                Trial { name, draw: "", tasks: 1, took, held_out }
            }
        };
        acted.iter().map(trial(false)).chain(left.iter().map(trial(true))).collect()
    }

    #[test]
    fn the_interval_is_that_of_students_test_of_two_samples() {
        // Logarithms 1, 2, 3 and 2, 4: means 2 and 3, squares 2 and 2, variance 4 / 3 with three degrees of freedom, t = 3.182446.
        let exp = |logs: &[f64]| logs.iter().map(|log| log.exp()).collect::<Vec<_>>();
        let effect = effect(jobs("a", &exp(&[1.0, 2.0, 3.0]), &exp(&[2.0, 4.0]))).unwrap();
        let (found, half) = (effect.log, 3.182_446 * (4.0 / 3.0 / 1.2_f64).sqrt());
        assert!((found.mean + 1.0).abs() < 1e-3 && (found.high - found.mean - half).abs() < 1e-3, "{found:?}");
        assert_eq!((effect.acted, effect.left, effect.strata), (3, 2, 1));
    }

    #[test]
    fn long_jobs_beside_short_ones_are_no_difference_where_each_is_set_against_its_own_kind() {
        let both = [jobs("short", &[10.0, 10.1], &[10.0]), jobs("long", &[900.0], &[905.0, 890.0])].concat();
        let found = effect(both).unwrap().log;
        assert!(found.mean.abs() < 0.01 && found.high - found.low < 0.1, "{found:?}");
        assert_eq!(effect([jobs("a", &[1.0, 2.0], &[]), jobs("b", &[], &[3.0])].concat()), None);
        assert_eq!(effect(jobs("a", &[1.0], &[2.0])), None, "two jobs show no scatter");
    }

    #[test]
    fn jobs_drawn_at_one_share_are_not_set_against_those_drawn_at_another() {
        // All are twice as long once a half is held out, on both sides.
        let at = |draw, times: [&'static [f64]; 2]| {
            jobs("a", times[0], times[1]).into_iter().map(move |job| Trial { draw, ..job }).collect::<Vec<_>>()
        };
        let (tenth, half) = (at("0.1", [&[10.0, 10.0, 10.0], &[10.0]]), at("0.5", [&[20.0, 20.0], &[20.0, 20.0]]));
        let found = effect([tenth, half].concat()).unwrap();
        assert!(found.strata == 2 && found.log.mean.abs() < 1e-9, "{found:?}");
    }
}
