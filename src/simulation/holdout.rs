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
    /// Runs in which enough jobs of both kinds could be compared.
    pub runs: usize,
    /// Runs in which too few could: these tell nothing, as a report of a service would not.
    pub too_few: usize,
    /// What the policy changes jobs' times by, by these: below 0 where jobs are sooner, a share of the time of those left alone.
    pub change: Option<Interval>,
    /// Share of those runs, 0–1, whose 95 % interval covers no change at all; `None` where there is none.
    pub covers_none: Option<f64>,
    /// Share of them, 0–1, whose whole interval is on the side of the gain.
    pub shows_gain: Option<f64>,
}

impl HoldOut {
    /// That of one policy's runs; `None` of none.
    pub fn of<'a>(share: f64, outcomes: impl Iterator<Item = &'a Outcome>) -> Option<HoldOut> {
        let told: Vec<Option<Interval>> = outcomes.map(|outcome| effect(&outcome.jobs)).collect();
        let effects: Vec<Interval> = told.iter().flatten().copied().collect();
        let of_runs = |which: &dyn Fn(&Interval) -> bool| {
            let such = effects.iter().filter(|one| which(one)).count();
            (!effects.is_empty()).then(|| such as f64 / effects.len() as f64)
        };
        (!told.is_empty()).then(|| HoldOut {
            share,
            runs: effects.len(),
            too_few: told.len() - effects.len(),
            change: Interval::of(&effects.iter().map(|one| one.mean).collect::<Vec<_>>()).map(as_shares),
            covers_none: of_runs(&|one| one.low <= 0.0 && one.high >= 0.0),
            shows_gain: of_runs(&|one| one.high < 0.0),
        })
    }
}

fn trial_of(job: &JobRow) -> Trial<'_> {
    Trial { name: &job.name, draw: "", tasks: job.tasks, took: job.took, held_out: job.held_out }
}

/// What a run's jobs show, where there are enough. Those that failed say nothing: how soon a job fails is no time that it takes.
fn effect(jobs: &[JobRow]) -> Option<Interval> {
    let shown = trial::effect(jobs.iter().filter(|job| !job.failed).map(trial_of));
    shown.log.filter(|_| shown.is_enough())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::{Grid, grid};
    use drover_core::engine::EngineParams;
    use drover_core::policy::PolicyName;

    fn runs(policy: PolicyName, seeds: u64, count: u32, share: f64, nodes: u32) -> HoldOut {
        let text = format!(
            "[cluster]\nnodes = {nodes}\n[slowness]\nattempt = {{ mixture = [[9, 1], [1, 6]] }}\n[[jobs]]\nname = \"a\"\ncount = {count}\n\
             arrive = {{ every = {{ exponential = {{ mean = 20 }} }} }}\nmaps = {{ tasks = 4, work = {{ lognormal = {{ median = 20, sigma = 0.4 }} }} }}\n"
        );
        let mut params = EngineParams { policy, ..EngineParams::default() };
        params.govern.holdout = share;
        let scenario = toml::from_str(&text).unwrap();
        let grid = Grid { scenario: &scenario, policies: vec![("a".into(), params.into())], seeds: 1..seeds + 1 };
        let played = grid::play_whole(&grid, &grid::Silent).unwrap();
        HoldOut::of(share, played.iter().map(|one| &one.outcome)).unwrap()
    }

    /// On eight nodes jobs have the cluster to themselves; on one they stand in line for each other.
    #[test]
    fn where_nothing_is_done_95_in_100_intervals_cover_no_change_however_few_are_held_out() {
        for (share, count, nodes) in [(0.5, 30, 8), (0.2, 60, 8), (0.1, 120, 1)] {
            let same = runs(PolicyName::None, 1_000, count, share, nodes);
            assert_eq!(same.runs + same.too_few, 1_000);
            assert!(same.runs > 500, "{same:?}");
            assert!((0.93..=0.97).contains(&same.covers_none.unwrap()), "{same:?}");
            assert!(same.change.unwrap().mean.abs() < 0.02, "{same:?}");
        }
    }

    #[test]
    fn a_run_in_which_fewer_than_ten_jobs_were_held_out_tells_nothing_as_a_report_would_not() {
        let few = runs(PolicyName::None, 20, 20, 0.1, 8);
        assert_eq!((few.runs, few.covers_none, few.change), (0, None, None));
        assert_eq!(few.too_few, 20);
    }

    #[test]
    fn a_gain_is_shown_by_jobs_left_alone_beside_those_that_got_copies() {
        let gained = runs(PolicyName::Drover, 4, 200, 0.5, 8);
        assert!(gained.shows_gain == Some(1.0) && gained.change.unwrap().mean < -0.1, "{gained:?}");
    }
}
