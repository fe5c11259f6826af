//! What a hold-out would have shown: jobs that a policy leaves alone beside all others, by intention to treat.

use crate::stats::Interval;
use crate::stats::trial::{self, Trial, as_shares};
use drover_core::sim::{JobRow, Outcome};
use serde::{Deserialize, Serialize};

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

fn trial_of(job: &JobRow) -> Trial<'_> {
    Trial { name: &job.name, draw: "", tasks: job.tasks, took: job.took, held_out: job.held_out }
}

/// What a run's jobs show. Those that failed say nothing: how soon a job fails is no time that it takes.
fn effect(jobs: &[JobRow]) -> Option<Interval> {
    trial::effect(jobs.iter().filter(|job| !job.failed).map(trial_of)).log
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::{Grid, grid};
    use drover_core::engine::EngineParams;
    use drover_core::policy::PolicyName;

    fn runs(policy: PolicyName, seeds: u64, count: u32) -> HoldOut {
        let text = format!(
            "[cluster]\nnodes = 8\n[slowness]\nattempt = {{ mixture = [[9, 1], [1, 6]] }}\n[[jobs]]\nname = \"a\"\ncount = {count}\n\
             arrive = {{ every = {{ exponential = {{ mean = 20 }} }} }}\nmaps = {{ tasks = 4, work = {{ lognormal = {{ median = 20, sigma = 0.4 }} }} }}\n"
        );
        let mut params = EngineParams { policy, ..EngineParams::default() };
        params.govern.holdout = 0.5;
        let scenario = toml::from_str(&text).unwrap();
        let grid = Grid { scenario: &scenario, policies: vec![("a".into(), params.into())], seeds: 1..seeds + 1 };
        let played = grid::play_whole(&grid, &grid::Silent).unwrap();
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
