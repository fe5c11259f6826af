//! Runs of the evaluation, and what is read off them.

use super::workload::{Assumed, BINS, Mix, SLOTS_IN_ALL, scenario};
use crate::simulation::grid::{Grid, Played, Progress, play};
use crate::simulation::reproduce::{Effort, Varied};
use crate::simulation::stats::{Interval, quantile};
use drover_core::engine::EngineParams;
use drover_core::policy::PolicyName;
use drover_core::policy::dolly::DollyParams;
use drover_core::sim::{JobRow, Outcome, PhaseRow, Scenario, Stuck};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// The jobs of the first bin.
pub const TINY: Option<&str> = Some(BINS[0].0);
/// All jobs.
pub const ALL: Option<&str> = None;

/// Policies by name, under some assumptions.
pub type Policies = fn(Assumed) -> Vec<(&'static str, EngineParams)>;

/// Runs of both mixes under one set of assumptions.
pub struct Both {
    /// Facebook's.
    pub facebook: Runs,
    /// Bing's.
    pub bing: Runs,
}

/// Runs of one mix: outcomes by policy, one for each seed.
pub struct Runs(BTreeMap<&'static str, Vec<Outcome>>);

/// The main set of assumptions, and the others.
pub fn play_all(policies: Policies, effort: Effort) -> Result<Varied<Both>, Stuck> {
    effort.under(Assumed::MAIN, Assumed::OTHERS, |assumed, seeds, progress| {
        let runs = |mix| Runs::of(mix, assumed, policies(assumed), seeds, progress);
        Ok(Both { facebook: runs(Mix::Facebook)?, bing: runs(Mix::Bing)? })
    })
}

/// A policy with its paper's constants.
pub fn paper(policy: PolicyName) -> EngineParams {
    let mut params = EngineParams::paper(policy);
    params.govern.waiting_copies = u32::MAX;
    params
}

/// Dolly with its paper's constants, but for what `change` varies.
pub fn dolly(assumed: Assumed, change: impl FnOnce(&mut DollyParams)) -> EngineParams {
    let mut params = paper(if assumed.beside { PolicyName::Drover } else { PolicyName::Dolly });
    params.dolly.exclusive = Some(1.0 - Mix::P);
    change(&mut params.dolly);
    params
}

/// Name of the runs in which every attempt has the median luck and nobody acts.
pub const IDEAL: &str = "ideal";

impl Runs {
    fn of(
        mix: Mix,
        assumed: Assumed,
        policies: Vec<(&'static str, EngineParams)>,
        seeds: u64,
        progress: &dyn Progress,
    ) -> Result<Runs, Stuck> {
        Runs::play(|ideal| scenario(mix, assumed, ideal), policies, seeds, progress)
    }

    /// Runs of a scenario, which is another one for the ideal.
    pub fn play(
        scenario: impl Fn(bool) -> Result<Scenario, Stuck>,
        policies: Vec<(&'static str, EngineParams)>,
        seeds: u64,
        progress: &dyn Progress,
    ) -> Result<Runs, Stuck> {
        let mut runs = BTreeMap::new();
        let is_ideal = |one: &&(&str, EngineParams)| one.0 == IDEAL;
        for ideal in [false, true] {
            let some: Vec<_> = policies.iter().filter(|one| is_ideal(one) == ideal).collect();
            let named = some.iter().map(|(name, params)| ((*name).to_owned(), params.clone().into())).collect();
            let grid = Grid { scenario: &scenario(ideal)?, policies: named, seeds: 1..seeds + 1 };
            for Played { policy, outcome, .. } in play(&grid, &AtomicBool::new(false), progress)? {
                runs.entry(some[policy].0).or_insert_with(Vec::new).push(outcome);
            }
        }
        Ok(Runs(runs))
    }

    fn outcomes(&self, name: &str) -> &[Outcome] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// By how many percent a bin's mean time is shorter than another policy's, seed by seed.
    pub fn gain(&self, name: &str, other: &str, bin: Option<&str>) -> Option<Interval> {
        let pairs = self.outcomes(name).iter().zip(self.outcomes(other));
        let gains = pairs.filter_map(|(own, other)| less(mean(own, bin, seconds)?, mean(other, bin, seconds)?));
        Interval::of(&gains.collect::<Vec<_>>())
    }

    /// The same of a policy against itself with the luck of the next seed: what is no difference at all.
    pub fn null(&self, name: &str, bin: Option<&str>) -> Option<Interval> {
        let all = self.outcomes(name);
        let pairs = all.iter().zip(all.iter().cycle().skip(1));
        let gains = pairs.filter_map(|(own, other)| less(mean(own, bin, seconds)?, mean(other, bin, seconds)?));
        Interval::of(&gains.collect::<Vec<_>>())
    }

    /// How many percent more one gains than another, in points, against the same baseline.
    pub fn ahead(&self, name: &str, other: &str, baseline: &str, bin: Option<&str>) -> Option<Interval> {
        let of = |name: &str, nth: usize| {
            less(
                mean(self.outcomes(name).get(nth)?, bin, seconds)?,
                mean(self.outcomes(baseline).get(nth)?, bin, seconds)?,
            )
        };
        let ahead = (0..self.outcomes(name).len()).filter_map(|nth| Some(of(name, nth)? - of(other, nth)?));
        Interval::of(&ahead.collect::<Vec<_>>())
    }

    /// §2.1.1's crude analysis: by how many percent the first bin's mean time would be shorter were no task slower than its phase's median.
    pub fn potential(&self, name: &str) -> Option<Interval> {
        let of = |run: &Outcome| less(mean(run, TINY, without_stragglers)?, mean(run, TINY, seconds)?);
        Interval::of(&self.outcomes(name).iter().filter_map(of).collect::<Vec<_>>())
    }

    /// A quantile, over the first bin's phases of several tasks, of the slowest task's time over the median one's.
    pub fn slowest(&self, name: &str, share: f64) -> Option<Interval> {
        let ratio = |phase: &PhaseRow| phase.slowest.as_secs_f64() / phase.median.as_secs_f64();
        let of = |run: &Outcome| {
            let phases = counted(run, TINY).flat_map(|job| &job.phases).filter(|phase| phase.tasks > 1);
            quantile(&phases.map(ratio).collect::<Vec<_>>(), share)
        };
        Interval::of(&self.outcomes(name).iter().filter_map(of).collect::<Vec<_>>())
    }

    /// By how many percent more container time a policy takes than another.
    pub fn costs(&self, name: &str, other: &str) -> Option<Interval> {
        let pairs = self.outcomes(name).iter().zip(self.outcomes(other));
        Interval::of(
            &pairs.map(|(own, other)| 100.0 * (own.held_ms as f64 / other.held_ms as f64 - 1.0)).collect::<Vec<_>>(),
        )
    }

    /// How many times the container time of another a policy takes.
    pub fn times(&self, name: &str, other: &str) -> Option<Interval> {
        let pairs = self.outcomes(name).iter().zip(self.outcomes(other));
        Interval::of(&pairs.map(|(own, other)| own.held_ms as f64 / other.held_ms as f64).collect::<Vec<_>>())
    }

    /// How many times the container time that another takes beyond a baseline's a policy does; of runs in which the other takes more.
    pub fn extra(&self, name: &str, other: &str, baseline: &str) -> Option<Interval> {
        let beyond = |run: &Outcome, base: &Outcome| run.held_ms as f64 - base.held_ms as f64;
        let runs = self.outcomes(name).iter().zip(self.outcomes(other)).zip(self.outcomes(baseline));
        let ratios = runs.filter_map(|((own, other), base)| {
            let others = beyond(other, base);
            (others > 0.0).then(|| beyond(own, base) / others)
        });
        Interval::of(&ratios.collect::<Vec<_>>())
    }

    /// How many points of all containers' time more than a baseline's a policy takes, over the time that the baseline lasted.
    pub fn utilisation(&self, name: &str, baseline: &str) -> Option<Interval> {
        let pairs = self.outcomes(name).iter().zip(self.outcomes(baseline));
        let points = pairs.map(|(own, base)| {
            let all = f64::from(SLOTS_IN_ALL) * base.lasted.0 as f64;
            100.0 * (own.held_ms as f64 - base.held_ms as f64) / all
        });
        Interval::of(&points.collect::<Vec<_>>())
    }

    /// Copies withdrawn for each hundred tasks.
    pub fn withdrawn(&self, name: &str) -> Option<Interval> {
        let of = |run: &Outcome| {
            let sum = |of: fn(&JobRow) -> u32| run.jobs.iter().map(|job| f64::from(of(job))).sum::<f64>();
            100.0 * sum(|job| job.withdrawn) / sum(JobRow::tasks)
        };
        Interval::of(&self.outcomes(name).iter().map(of).collect::<Vec<_>>())
    }
}

/// All but the first tenth of the jobs, of a bin or of all.
fn counted<'a>(run: &'a Outcome, bin: Option<&'a str>) -> impl Iterator<Item = &'a JobRow> {
    let first = run.jobs.len() as u32 / 10;
    run.jobs.iter().filter(move |job| job.nth >= first && bin.is_none_or(|bin| job.name == bin))
}

fn mean(run: &Outcome, bin: Option<&str>, of: fn(&JobRow) -> f64) -> Option<f64> {
    let values: Vec<f64> = counted(run, bin).map(of).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn seconds(job: &JobRow) -> f64 {
    job.took.as_secs_f64()
}

fn without_stragglers(job: &JobRow) -> f64 {
    let beyond = |phase: &PhaseRow| phase.slowest.as_secs_f64() - phase.median.as_secs_f64();
    seconds(job) - job.phases.iter().map(beyond).sum::<f64>()
}

/// By how many percent the first is less than the second.
fn less(own: f64, other: f64) -> Option<f64> {
    (other > 0.0).then(|| 100.0 * (1.0 - own / other))
}
