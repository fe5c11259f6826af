//! Phases under every scheme, and what is read off them.

use super::workload::{Assumed, Phase, Shape};
use crate::simulation::grid::{Progress, run_as};
use crate::simulation::reproduce::assumed::{sets, workload};
use crate::stats::{Interval, quantile};
use drover_core::engine::EngineParams;
use drover_core::estimate::Estimator;
use drover_core::estimate::calibration::Point;
use drover_core::model::TaskKind;
use drover_core::policy::PolicyName;
use drover_core::policy::hadoop_0_20::Hadoop020Params;
use drover_core::sim::{Actor, Ideal, Outcome, Stuck};
use rayon::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;

/// The schemes that act.
pub const SCHEMES: [(&str, PolicyName); 6] = [
    ("mantri", PolicyName::Mantri),
    ("hadoop", PolicyName::Hadoop020),
    ("late", PolicyName::Late),
    (LATE_EARLY, PolicyName::LateEarly),
    ("dryad", PolicyName::Dryad),
    ("mapreduce", PolicyName::MapReduce),
];
/// LATE as Fig. 17 has it.
const LATE_EARLY: &str = "late-early";
/// Drover's own policy, as it ships.
pub const DROVER: &str = "drover";
/// Nobody acts: what all are compared with.
pub const NONE: &str = "none";
/// Nobody acts, and tasks meet what others met.
pub const NULL: &str = "null";
/// What Fig. 18 has beside Mantri, and one that knows how long every attempt would take.
pub const IDEALS: [Ideal; 3] = [Ideal::NoSkew, Ideal::ChopTail, Ideal::Oracle];

/// Phases of one seed.
const PHASES: u64 = 60;

/// What one phase took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Taken {
    /// From its start to its end.
    seconds: f64,
    /// Containers times milliseconds.
    held: f64,
    /// Copies and kills for another, for each task.
    restarts: f64,
    /// Copies.
    copies: u32,
    /// Of these those that ended first.
    won: u32,
    /// How far Mantri's t_rem was off at half of the progress, mean share of the time left, and over so many predictions.
    t_rem: Option<(f64, u32)>,
}

impl Taken {
    fn of(outcome: &Outcome) -> Option<Taken> {
        let job = outcome.jobs.first()?;
        Some(Taken {
            seconds: job.took.as_secs_f64(),
            held: outcome.held_ms as f64,
            restarts: f64::from(job.copies + job.restarts) / f64::from(job.tasks),
            copies: job.copies,
            won: job.copies_won,
            t_rem: t_rem_error(outcome),
        })
    }
}

fn t_rem_error(outcome: &Outcome) -> Option<(f64, u32)> {
    let accuracy = outcome.estimates.of(TaskKind::Map, Point::Half, Estimator::Mantri)?;
    Some((accuracy.mean_error()?, accuracy.evidence()))
}

/// A phase, and what it took under each scheme.
struct Played {
    shape: Shape,
    taken: BTreeMap<&'static str, Taken>,
}

/// Phases of all seeds.
pub struct Runs(Vec<Played>);

/// Some of them.
pub struct Sample<'a>(Vec<&'a Played>);

/// A policy with its paper's constants.
fn scheme(policy: PolicyName, assumed: Assumed) -> EngineParams {
    let hadoop_0_20 = if assumed.waits { Hadoop020Params::LATE } else { Hadoop020Params::MANTRI };
    EngineParams { hadoop_0_20, ..EngineParams::paper(policy) }
}

/// A phase under every scheme, once.
fn play(phase: &Phase, assumed: Assumed, seed: u64) -> Result<Played, Stuck> {
    let scenario = phase.scenario(assumed)?;
    let under = |scenario: &_, name, actor: Actor| {
        let outcome = run_as(name, scenario, actor, seed)?;
        let taken = Taken::of(&outcome).ok_or_else(|| Stuck::Miscounted("a phase did not end".into()))?;
        Ok::<_, Stuck>((name, taken))
    };
    let mut taken = BTreeMap::from([
        under(&scenario, NONE, scheme(PolicyName::None, assumed).into())?,
        under(&phase.with_other_luck().scenario(assumed)?, NULL, scheme(PolicyName::None, assumed).into())?,
        under(&scenario, DROVER, EngineParams::default().into())?,
    ]);
    for (name, policy) in SCHEMES {
        taken.extend([under(&scenario, name, scheme(policy, assumed).into())?]);
    }
    for ideal in IDEALS {
        taken.extend([under(&scenario, ideal.label(), Actor::Ideal(ideal))?]);
    }
    Ok(Played { shape: phase.shape(), taken })
}

/// Plays one phase of the first seed under the five schemes of Fig. 16, and nothing else; answers its tasks.
///
/// # Errors
/// Where a simulation cannot be ended.
pub fn phase(nth: u64) -> Result<usize, Stuck> {
    let phase = Phase::drawn(Assumed::MAIN, 1, nth);
    let scenario = phase.scenario(Assumed::MAIN)?;
    for (name, policy) in SCHEMES.into_iter().filter(|(name, _)| *name != LATE_EARLY) {
        run_as(name, &scenario, scheme(policy, Assumed::MAIN), nth)?;
    }
    Ok(phase.tasks())
}

/// What the first seed's first phases are.
pub fn assumed() -> Result<Value, Stuck> {
    let of = |nth| Ok(workload(&Phase::drawn(Assumed::MAIN, 1, nth).scenario(Assumed::MAIN)?));
    Ok(sets(Assumed::MAIN, Assumed::OTHERS, (0..5).map(of).collect::<Result<_, Stuck>>()?))
}

impl Runs {
    /// Plays so many seeds' phases under each scheme.
    pub fn of(assumed: Assumed, seeds: u64, progress: &dyn Progress) -> Result<Runs, Stuck> {
        progress.expect(seeds * PHASES);
        let one = |nth: u64| {
            let seed = nth / PHASES + 1;
            let played = play(&Phase::drawn(assumed, seed, nth % PHASES), assumed, seed * PHASES + nth % PHASES);
            progress.done();
            played
        };
        (0..seeds * PHASES).into_par_iter().map(one).collect::<Result<_, _>>().map(Runs)
    }

    /// What is read off all of them.
    pub fn all(&self, read: impl Fn(&Sample) -> Option<f64>) -> Option<Interval> {
        let sample = |chosen: &[usize]| Sample(chosen.iter().map(|nth| &self.0[*nth]).collect());
        Interval::of_sample(self.0.len(), |chosen| read(&sample(chosen)))
    }
}

impl Sample<'_> {
    fn of(&self, name: &str) -> impl Iterator<Item = &Taken> {
        self.0.iter().filter_map(|played| played.taken.get(name))
    }

    /// Of phases, weighed by their lifetimes when nobody acts, the `share` quantile of by how many percent less time one takes (eq. (4)).
    pub fn faster(&self, name: &str, share: f64) -> Option<f64> {
        self.reduction(name, share, |taken| taken.seconds)
    }

    /// The same of containers' time.
    pub fn cheaper(&self, name: &str, share: f64) -> Option<f64> {
        self.reduction(name, share, |taken| taken.held)
    }

    fn reduction(&self, name: &str, share: f64, of: fn(&Taken) -> f64) -> Option<f64> {
        let pairs = self.of(name).zip(self.of(NONE));
        weighed(pairs.map(|(own, none)| (100.0 * (1.0 - of(own) / of(none)), none.seconds)).collect(), share)
    }

    /// Copies and kills for another, for each task of the average phase.
    pub fn restarts(&self, name: &str) -> Option<f64> {
        Some(self.of(name).map(|one| one.restarts).sum::<f64>() / self.of(name).count() as f64)
    }

    /// Percentage of its copies that ended first.
    pub fn success(&self, name: &str) -> Option<f64> {
        let sum = |of: fn(&Taken) -> u32| self.of(name).map(|one| f64::from(of(one))).sum::<f64>();
        let copies = sum(|one| one.copies);
        (copies > 0.0).then(|| 100.0 * sum(|one| one.won) / copies)
    }

    /// Mean error of Mantri's t_rem at half of a task's progress, percent of the time that was left.
    pub fn t_rem_error(&self) -> Option<f64> {
        let all = self.of("mantri").filter_map(|one| one.t_rem);
        let (sum, count) = all.fold((0.0, 0), |(sum, count), (error, of)| (sum + error * f64::from(of), count + of));
        (count > 0).then(|| 100.0 * sum / f64::from(count))
    }

    /// The largest reduction of time at a quantile among the schemes that the paper compares Mantri with.
    pub fn next_best(&self, share: f64) -> Option<f64> {
        let others = SCHEMES.iter().map(|(name, _)| *name).filter(|name| !["mantri", LATE_EARLY].contains(name));
        others.filter_map(|name| self.faster(name, share)).max_by(f64::total_cmp)
    }

    /// A quantile over its phases.
    pub fn over(&self, share: f64, of: impl Fn(&Shape) -> f64) -> Option<f64> {
        quantile(&self.0.iter().map(|played| of(&played.shape)).collect::<Vec<_>>(), share)
    }

    /// Percentage of all outliers of all its phases that are so many times their medians.
    pub fn outliers(&self, are: impl Fn(f64) -> bool) -> Option<f64> {
        let all = || self.0.iter().flat_map(|played| &played.shape.outliers);
        let meant = all().filter(|ratio| are(**ratio)).count();
        (all().count() > 0).then(|| 100.0 * meant as f64 / all().count() as f64)
    }
}

/// The value below which values of `share` of all weight are.
pub fn weighed(mut values: Vec<(f64, f64)>, share: f64) -> Option<f64> {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: f64 = values.iter().map(|(_, weight)| weight).sum();
    let mut below = 0.0;
    let reaches = |(_, weight): &&(f64, f64)| {
        below += weight;
        below >= share * all
    };
    values.iter().find(reaches).map(|(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weighed_quantile_is_that_of_the_weights_not_of_the_number() {
        let values = vec![(3.0, 1.0), (1.0, 8.0), (2.0, 1.0)];
        assert_eq!(
            [0.1, 0.8, 0.85, 0.9, 1.0].map(|share| weighed(values.clone(), share)),
            [1.0, 1.0, 2.0, 2.0, 3.0].map(Some)
        );
        assert_eq!(weighed(vec![], 0.5), None);
    }

    #[test]
    fn every_scheme_plays_the_same_phase_and_nobody_is_slower_than_with_twice_its_work() {
        let phase = Phase::drawn(Assumed::MAIN, 1, 3);
        let all = play(&phase, Assumed::MAIN, 1).unwrap().taken;
        assert_eq!(all.len(), SCHEMES.len() + 3 + IDEALS.len());
        let of = |name: &str| all[name];
        assert_eq!((of(NONE).restarts, of(NULL).copies), (0.0, 0));
        assert!(all.values().all(|taken| taken.seconds > 0.0 && taken.seconds < 2.0 * of(NONE).seconds), "{all:?}");
        assert!(of(Ideal::ChopTail.label()).seconds <= of(Ideal::NoSkew.label()).seconds);
    }
}
