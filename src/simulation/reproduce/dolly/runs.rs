//! Runs of the evaluation, and what is read off them.

use super::workload::{Assumed, BINS, Mix, SLOTS_IN_ALL, scenario};
use crate::simulation::grid::{Grid, Played, Progress, play_whole};
use crate::simulation::reproduce::rows::with_other_draws;
use crate::simulation::reproduce::{Effort, Varied};
use crate::stats::{Interval, quantile};
use drover_core::engine::EngineParams;
use drover_core::policy::PolicyName;
use drover_core::policy::dolly::{DollyParams, Reads};
use drover_core::sim::{JobRow, Outcome, PhaseRow, Scenario, Stuck};
use std::collections::BTreeMap;

/// The jobs of the first bin.
pub const TINY: Option<&str> = Some(BINS[0].0);
/// Those of the second.
pub const SMALL: Option<&str> = Some(BINS[1].0);
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

/// Runs of one mix.
pub struct Runs {
    /// By policy, one for each seed.
    outcomes: BTreeMap<&'static str, Vec<Outcome>>,
    /// As assumed.
    by_times: bool,
}

/// The main set of assumptions, and the others.
pub fn play_all(policies: Policies, effort: Effort) -> Result<Varied<Both>, Stuck> {
    effort.under(Assumed::MAIN, Assumed::OTHERS, |assumed, seeds, progress| {
        let runs = |mix| {
            let assumed = assumed.of(mix);
            Runs::of(mix, assumed, policies(assumed), seeds, progress)
        };
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
    params.dolly.exclusive = Some(1.0 - assumed.p);
    change(&mut params.dolly);
    params
}

/// LATE, and each way of reading.
pub fn readings(assumed: Assumed) -> Vec<(&'static str, EngineParams)> {
    let reading = |reads| dolly(assumed, |dolly| dolly.reads = reads);
    vec![
        ("late", paper(PolicyName::Late)),
        ("delay", reading(Reads::Delay)),
        ("cac", reading(Reads::Cac)),
        ("cc", reading(Reads::Cc)),
    ]
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
        Runs::play(|ideal| scenario(mix, assumed, ideal), assumed.by_times, policies, seeds, progress)
    }

    /// Runs of a scenario, which is another one for the ideal.
    pub fn play(
        scenario: impl Fn(bool) -> Result<Scenario, Stuck>,
        by_times: bool,
        policies: Vec<(&'static str, EngineParams)>,
        seeds: u64,
        progress: &dyn Progress,
    ) -> Result<Runs, Stuck> {
        let mut outcomes = BTreeMap::new();
        let is_ideal = |one: &&(&str, EngineParams)| one.0 == IDEAL;
        for ideal in [false, true] {
            let some: Vec<_> = policies.iter().filter(|one| is_ideal(one) == ideal).collect();
            let named = some.iter().map(|(name, params)| ((*name).to_owned(), params.clone().into())).collect();
            let grid = Grid { scenario: &scenario(ideal)?, policies: named, seeds: 1..seeds + 1 };
            for Played { policy, outcome, .. } in play_whole(&grid, progress)? {
                outcomes.entry(some[policy].0).or_insert_with(Vec::new).push(outcome);
            }
        }
        Ok(Runs { outcomes, by_times })
    }

    /// Those of a policy, one for each seed.
    pub fn outcomes(&self, name: &str) -> &[Outcome] {
        self.outcomes.get(name).map_or(&[], Vec::as_slice)
    }

    /// By how many percent a bin's mean time is shorter than another policy's, or all jobs' are on average, seed by seed.
    pub fn gain(&self, name: &str, other: &str, bin: Option<&str>) -> Option<Interval> {
        let pairs = self.outcomes(name).iter().zip(self.outcomes(other));
        let gains = pairs.filter_map(|(own, other)| self.less((own, seconds), (other, seconds), bin));
        Interval::of_seeds(&gains.collect::<Vec<_>>())
    }

    /// The same of a policy against itself with the luck of another seed: what is no difference at all.
    pub fn null(&self, name: &str, bin: Option<&str>) -> Option<Interval> {
        let pairs = with_other_draws(self.outcomes(name));
        let gains = pairs.filter_map(|(own, other)| self.less((own, seconds), (other, seconds), bin));
        Interval::of_seeds(&gains.collect::<Vec<_>>())
    }

    /// How many percent more one gains than another, in points, against the same baseline.
    pub fn ahead(&self, name: &str, other: &str, baseline: &str, bin: Option<&str>) -> Option<Interval> {
        let of = |name: &str, nth: usize| {
            self.less((self.outcomes(name).get(nth)?, seconds), (self.outcomes(baseline).get(nth)?, seconds), bin)
        };
        let ahead = (0..self.outcomes(name).len()).filter_map(|nth| Some(of(name, nth)? - of(other, nth)?));
        Interval::of_seeds(&ahead.collect::<Vec<_>>())
    }

    /// §2.1.1's crude analysis: by how many percent jobs would be shorter were no task slower than its phase's median.
    pub fn potential(&self, name: &str, bin: Option<&str>) -> Option<Interval> {
        let of = |run: &Outcome| self.less((run, without_stragglers), (run, seconds), bin);
        Interval::of_seeds(&self.outcomes(name).iter().filter_map(of).collect::<Vec<_>>())
    }

    /// A quantile, over the first bin's phases of several tasks, of the slowest task's time over the median one's.
    pub fn slowest(&self, name: &str, share: f64) -> Option<Interval> {
        let ratio = |phase: &PhaseRow| phase.slowest.as_secs_f64() / phase.median.as_secs_f64();
        let of = |run: &Outcome| {
            let phases = counted(run, TINY).flat_map(|job| &job.phases).filter(|phase| phase.tasks > 1);
            quantile(&phases.map(ratio).collect::<Vec<_>>(), share)
        };
        Interval::of_seeds(&self.outcomes(name).iter().filter_map(of).collect::<Vec<_>>())
    }

    /// By how many percent more container time a policy takes than another.
    pub fn costs(&self, name: &str, other: &str) -> Option<Interval> {
        let pairs = self.outcomes(name).iter().zip(self.outcomes(other));
        Interval::of_seeds(
            &pairs.map(|(own, other)| 100.0 * (own.held_ms as f64 / other.held_ms as f64 - 1.0)).collect::<Vec<_>>(),
        )
    }

    /// How many times the container time of another a policy takes.
    pub fn times(&self, name: &str, other: &str) -> Option<Interval> {
        let pairs = self.outcomes(name).iter().zip(self.outcomes(other));
        Interval::of_seeds(&pairs.map(|(own, other)| own.held_ms as f64 / other.held_ms as f64).collect::<Vec<_>>())
    }

    /// How many times the container time that another takes beyond a baseline's a policy does; of runs in which the other takes more.
    pub fn extra(&self, name: &str, other: &str, baseline: &str) -> Option<Interval> {
        let beyond = |run: &Outcome, base: &Outcome| run.held_ms as f64 - base.held_ms as f64;
        let runs = self.outcomes(name).iter().zip(self.outcomes(other)).zip(self.outcomes(baseline));
        let ratios = runs.filter_map(|((own, other), base)| {
            let others = beyond(other, base);
            (others > 0.0).then(|| beyond(own, base) / others)
        });
        Interval::of_seeds(&ratios.collect::<Vec<_>>())
    }

    /// How many points of all containers' time more than a baseline's a policy takes, over the time that the baseline lasted.
    pub fn utilisation(&self, name: &str, baseline: &str) -> Option<Interval> {
        let pairs = self.outcomes(name).iter().zip(self.outcomes(baseline));
        let points = pairs.map(|(own, base)| {
            let all = f64::from(SLOTS_IN_ALL) * base.lasted.0 as f64;
            100.0 * (own.held_ms as f64 - base.held_ms as f64) / all
        });
        Interval::of_seeds(&points.collect::<Vec<_>>())
    }

    /// By how many percent jobs' mean time is less in the first than in the second. Of all jobs, each counts by what its bin gains, unless that is assumed otherwise: where the small jobs, 82 % of
    /// all, are cloned alone they gain 47 and 39 %, and all jobs 40 and 33 % (HotCloud'12, "Evaluation"). Of mean times, small jobs would need 85 % of all jobs' time: they would be no shorter.
    fn less(&self, own: (&Outcome, Of), other: (&Outcome, Of), bin: Option<&str>) -> Option<f64> {
        if bin.is_some() || self.by_times {
            return Some(less([own, other], bin)?.0);
        }
        let bins: Vec<_> = BINS.iter().filter_map(|(name, ..)| less([own, other], Some(name))).collect();
        let jobs: f64 = bins.iter().map(|(_, jobs)| jobs).sum();
        (jobs > 0.0).then(|| bins.iter().map(|(gain, jobs)| gain * jobs).sum::<f64>() / jobs)
    }

    /// A quantile over a bin's jobs of how many seconds clones of their reduces were to wait for outputs of their own.
    pub fn omega(&self, name: &str, share: f64, bin: Option<&str>) -> Option<Interval> {
        let of = |run: &Outcome| {
            let waits = counted(run, bin).filter_map(|job| Some(job.omega?.as_secs_f64()));
            quantile(&waits.collect::<Vec<_>>(), share)
        };
        Interval::of_seeds(&self.outcomes(name).iter().filter_map(of).collect::<Vec<_>>())
    }

    /// Copies withdrawn for each hundred tasks.
    pub fn withdrawn(&self, name: &str) -> Option<Interval> {
        let of = |run: &Outcome| {
            let sum = |of: fn(&JobRow) -> u32| run.jobs.iter().map(|job| f64::from(of(job))).sum::<f64>();
            100.0 * sum(|job| job.withdrawn) / sum(|job| job.tasks)
        };
        Interval::of_seeds(&self.outcomes(name).iter().map(of).collect::<Vec<_>>())
    }
}

/// A job's time, or what it would be.
type Of = fn(&JobRow) -> f64;

/// All but the first tenth of the jobs, of a bin or of all.
fn counted<'a>(run: &'a Outcome, bin: Option<&'a str>) -> impl Iterator<Item = &'a JobRow> {
    let first = run.jobs.len() as u32 / 10;
    run.jobs.iter().filter(move |job| job.nth >= first && bin.is_none_or(|bin| job.name == bin))
}

fn seconds(job: &JobRow) -> f64 {
    job.took.as_secs_f64()
}

fn without_stragglers(job: &JobRow) -> f64 {
    let beyond = |phase: &PhaseRow| phase.slowest.as_secs_f64() - phase.median.as_secs_f64();
    seconds(job) - job.phases.iter().map(beyond).sum::<f64>()
}

/// By how many percent the mean of jobs is less in the first than in the second, and of how many jobs.
fn less<'a>([own, other]: [(&'a Outcome, Of); 2], bin: Option<&'a str>) -> Option<(f64, f64)> {
    let sums = |(run, of): (&'a Outcome, Of)| {
        counted(run, bin).fold((0.0, 0.0), |(sum, jobs), job| (sum + of(job), jobs + 1.0))
    };
    let [(own, jobs), (others, _)] = [own, other].map(sums);
    (others > 0.0).then(|| (100.0 * (1.0 - own / others), jobs))
}
