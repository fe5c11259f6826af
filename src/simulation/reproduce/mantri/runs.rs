//! Phases under every scheme, and what is read off them.

use super::workload::{Assumed, Phase, over};
use crate::simulation::grid::Progress;
use crate::simulation::stats::Interval;
use drover_core::engine::EngineParams;
use drover_core::estimate::Estimator;
use drover_core::estimate::calibration::Point;
use drover_core::model::TaskKind;
use drover_core::policy::PolicyName;
use drover_core::sim::{Actor, Ideal, Outcome, Stuck, run};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The schemes that act.
pub const SCHEMES: [(&str, PolicyName); 6] = [
    ("mantri", PolicyName::Mantri),
    ("hadoop", PolicyName::Hadoop020),
    ("late", PolicyName::Late),
    ("late-early", PolicyName::LateEarly),
    ("dryad", PolicyName::Dryad),
    ("mapreduce", PolicyName::MapReduce),
];
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
            restarts: f64::from(job.copies + job.restarts) / f64::from(job.tasks()),
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

/// Phases of one seed by scheme, in the same order under each.
pub struct Sample {
    phases: Vec<Phase>,
    taken: BTreeMap<&'static str, Vec<Taken>>,
}

/// A sample for each seed.
pub struct Runs(Vec<Sample>);

/// A phase under every scheme, once.
fn play(phase: &Phase, assumed: Assumed, seed: u64) -> Result<Vec<(&'static str, Taken)>, Stuck> {
    let scenario = phase.scenario(assumed)?;
    let under = |scenario: &_, name, actor: Actor| {
        let outcome = run(scenario, actor, seed)?;
        let taken = Taken::of(&outcome).ok_or_else(|| Stuck::Miscounted("a phase did not end".into()))?;
        Ok::<_, Stuck>((name, taken))
    };
    let paper = |policy| EngineParams::paper(policy).into();
    let mut all = vec![
        under(&scenario, NONE, paper(PolicyName::None))?,
        under(&phase.with_other_luck().scenario(assumed)?, NULL, paper(PolicyName::None))?,
        under(&scenario, DROVER, EngineParams::default().into())?,
    ];
    for (name, policy) in SCHEMES {
        all.push(under(&scenario, name, paper(policy))?);
    }
    for ideal in IDEALS {
        all.push(under(&scenario, ideal.label(), Actor::Ideal(ideal))?);
    }
    Ok(all)
}

impl Runs {
    /// Plays so many seeds' phases under each scheme.
    pub fn of(assumed: Assumed, seeds: u64, progress: &dyn Progress) -> Result<Runs, Stuck> {
        progress.expect(seeds * PHASES);
        (1..=seeds).map(|seed| Sample::of(assumed, seed, progress)).collect::<Result<_, _>>().map(Runs)
    }

    /// A number of each seed's sample.
    pub fn each(&self, of: impl Fn(&Sample) -> Option<f64>) -> Option<Interval> {
        Interval::of(&self.0.iter().filter_map(of).collect::<Vec<_>>())
    }
}

impl Sample {
    fn of(assumed: Assumed, seed: u64, progress: &dyn Progress) -> Result<Sample, Stuck> {
        let phases: Vec<Phase> = (0..PHASES).map(|nth| Phase::drawn(assumed, seed, nth)).collect();
        let one = |nth: u64| {
            let played = play(&phases[nth as usize], assumed, seed * PHASES + nth);
            progress.done();
            played
        };
        let played = (0..PHASES).into_par_iter().map(one).collect::<Result<Vec<_>, _>>()?;
        let mut taken: BTreeMap<&'static str, Vec<Taken>> = BTreeMap::new();
        for (name, one) in played.into_iter().flatten() {
            taken.entry(name).or_default().push(one);
        }
        Ok(Sample { phases, taken })
    }

    fn pairs(&self, name: &str) -> impl Iterator<Item = (&Taken, &Taken)> {
        let of = |name: &str| self.taken.get(name).map_or(&[][..], Vec::as_slice);
        of(name).iter().zip(of(NONE))
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
        weighed(self.pairs(name).map(|(own, none)| (100.0 * (1.0 - of(own) / of(none)), none.seconds)).collect(), share)
    }

    /// Copies and kills for another, for each task of the average phase.
    pub fn restarts(&self, name: &str) -> Option<f64> {
        let all = self.taken.get(name)?;
        Some(all.iter().map(|one| one.restarts).sum::<f64>() / all.len() as f64)
    }

    /// Percentage of its copies that ended first.
    pub fn success(&self, name: &str) -> Option<f64> {
        let all = self.taken.get(name)?;
        let sum = |of: fn(&Taken) -> u32| all.iter().map(|one| f64::from(of(one))).sum::<f64>();
        let copies = sum(|one| one.copies);
        (copies > 0.0).then(|| 100.0 * sum(|one| one.won) / copies)
    }

    /// Mean error of Mantri's t_rem at half of a task's progress, percent of the time that was left.
    pub fn t_rem_error(&self) -> Option<f64> {
        let all = self.taken.get("mantri")?.iter().filter_map(|one| one.t_rem);
        let (sum, count) = all.fold((0.0, 0), |(sum, count), (error, of)| (sum + error * f64::from(of), count + of));
        (count > 0).then(|| 100.0 * sum / f64::from(count))
    }

    /// The largest reduction of time at a quantile among the schemes that the paper compares Mantri with.
    pub fn next_best(&self, share: f64) -> Option<f64> {
        let others = SCHEMES.iter().map(|(name, _)| *name).filter(|name| !["mantri", "late-early"].contains(name));
        others.filter_map(|name| self.faster(name, share)).max_by(f64::total_cmp)
    }

    /// A quantile over its phases.
    pub fn over(&self, share: f64, of: impl Fn(&Phase) -> f64) -> Option<f64> {
        over(&self.phases, share, of)
    }

    /// All outliers of all its phases, in multiples of their medians.
    pub fn outliers(&self) -> Vec<f64> {
        self.phases.iter().flat_map(|phase| phase.outliers().0).collect()
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
        let all = play(&phase, Assumed::MAIN, 1).unwrap();
        assert_eq!(all.len(), SCHEMES.len() + 3 + IDEALS.len());
        let of = |name: &str| all.iter().find(|(known, _)| *known == name).unwrap().1;
        assert_eq!((of(NONE).restarts, of(NULL).copies), (0.0, 0));
        assert!(all.iter().all(|(_, taken)| taken.seconds > 0.0 && taken.seconds < 2.0 * of(NONE).seconds), "{all:?}");
        assert!(of(Ideal::ChopTail.label()).seconds <= of(Ideal::NoSkew.label()).seconds);
    }
}
