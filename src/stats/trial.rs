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
    /// Mean difference of the logarithms of job times between the sides, with Welch's 95 % interval: below 0 where jobs that may be acted on are sooner.
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

/// Mean difference of the logarithms of job times, seconds, between jobs that a policy may act on and those held out, of one name, one bin of sizes and one draw each, with Welch's 95 % interval:
/// each side scatters as it does, over all strata. Copies are to cut the tail, so jobs left alone scatter more, and where they are few a common scatter would be that of the others.
/// Jobs without a counterpart say nothing. `None` where none has one, or on either side none of them has a fellow.
pub fn effect<'a>(jobs: impl IntoIterator<Item = Trial<'a>>) -> Option<Effect> {
    let mut strata: BTreeMap<Stratum<'_>, [Vec<f64>; 2]> = BTreeMap::new();
    for job in jobs.into_iter().filter(|job| job.took.0 > 0) {
        let sides = strata.entry((job.draw, job.name, bin(job.tasks))).or_default();
        sides[usize::from(job.held_out)].push(job.took.as_secs_f64().ln());
    }
    let (mut weights, mut sum, mut sides) = (0.0, 0.0, [Side::default(); 2]);
    let mut counts = Effect { log: Interval::sure(0.0), acted: 0, left: 0, strata: 0 };
    for [acted, left] in strata.values().filter(|sides| sides.iter().all(|side| !side.is_empty())) {
        let (a, b) = (acted.len() as f64, left.len() as f64);
        let weight = a * b / (a + b);
        let [mean, mean_left] = [0, 1].map(|at| sides[at].take([acted, left][at], weight));
        weights += weight;
        sum += weight * (mean - mean_left);
        (counts.acted, counts.left) = (counts.acted + acted.len(), counts.left + left.len());
        counts.strata += 1;
    }
    let (mean, half) = (sum / weights, half_width(sides)? / weights);
    Some(Effect { log: Interval { mean, low: mean - half, high: mean + half }, ..counts })
}

/// What one side adds up to over all strata.
#[derive(Clone, Copy, Default)]
struct Side {
    /// Squares of the distances from the means of the strata.
    squares: f64,
    /// Degrees of freedom.
    freedom: f64,
    /// Squared weights of the strata, each by the number of jobs: what the scatter counts in the variance of the sum.
    counts: f64,
}

impl Side {
    /// Takes in the jobs of a stratum of that weight; their mean.
    fn take(&mut self, values: &[f64], weight: f64) -> f64 {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        self.squares += values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        self.freedom += count - 1.0;
        self.counts += weight * weight / count;
        mean
    }
}

/// Half of the 95 % interval of the weighted sum of the differences, with the degrees of freedom of Welch and Satterthwaite. `None` where a side shows no scatter.
fn half_width(sides: [Side; 2]) -> Option<f64> {
    if sides.iter().any(|side| side.freedom < 1.0) {
        return None;
    }
    let parts = sides.map(|side| side.squares / side.freedom * side.counts);
    let variance: f64 = parts.iter().sum();
    if variance <= 0.0 {
        return Some(0.0);
    }
    let of_freedom: f64 = parts.iter().zip(sides).map(|(part, side)| part * part / side.freedom).sum();
    let quantile = StudentsT::new(0.0, 1.0, variance * variance / of_freedom).ok()?.inverse_cdf(0.975);
    Some(quantile * variance.sqrt())
}

/// Of logarithms of ratios: by what share, above -1, something is changed.
pub fn as_shares(logs: Interval) -> Interval {
    Interval { mean: logs.mean.exp_m1(), low: logs.low.exp_m1(), high: logs.high.exp_m1() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};
    use statrs::distribution::Normal;

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
    fn the_interval_is_that_of_welchs_test_of_two_samples() {
        // Logarithms 1, 2, 3 and 2, 4: means 2 and 3, variances 1 and 2, of the means 1 / 3 and 1, in all 4 / 3 with 32 / 19 degrees of freedom, t = 5.176232.
        let exp = |logs: &[f64]| logs.iter().map(|log| log.exp()).collect::<Vec<_>>();
        let effect = effect(jobs("a", &exp(&[1.0, 2.0, 3.0]), &exp(&[2.0, 4.0]))).unwrap();
        let (found, half) = (effect.log, 5.176_232 * (4.0 / 3.0_f64).sqrt());
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
        assert_eq!(
            effect(jobs("a", &[1.0, 2.0, 3.0], &[2.0])),
            None,
            "nor does one alone, how many stand on the other side"
        );
    }

    #[test]
    fn where_few_are_left_alone_and_scatter_more_95_in_100_intervals_hold_the_truth_all_the_same() {
        let mut rng = StdRng::seed_from_u64(7);
        let mut drawn = |count: usize, sigma| {
            let logs = Normal::new(4.0, sigma).unwrap();
            (0..count).map(|_| logs.inverse_cdf(rng.random()).exp()).collect::<Vec<f64>>()
        };
        let runs = 2_000;
        let covers = |_: &usize| {
            let found = effect(jobs("a", &drawn(90, 0.2), &drawn(10, 0.5))).unwrap().log;
            found.low <= 0.0 && found.high >= 0.0
        };
        let held = (0..runs).filter(covers).count();
        assert!((1_860..=1_940).contains(&held), "{held} of {runs}; with one scatter for both sides about 1,400");
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
