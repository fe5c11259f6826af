//! One job of one run, attempt by attempt. The run is played once more for it: the same seed gives the same run.

use super::grid::named;
use super::{Grid, Played};
use drover_core::model::Millis;
use drover_core::sim::{AttemptRow, Scenario, Stuck, Watch, run_watching};
use std::fmt;
use std::str::FromStr;

/// Attempts that are kept at most, of each policy.
const MOST: usize = 20_000;
/// Policies that it is watched under at most.
pub const PANELS: usize = 4;

/// One job of one seed, attempt by attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Watched {
    /// Its name.
    pub job: String,
    /// The seed.
    pub seed: u64,
    /// Under the baseline, and under others.
    pub panels: Vec<Panel>,
}

/// The job under one policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// The policy.
    pub policy: String,
    /// When the job arrived, from the start of the run.
    pub arrived: Millis,
    /// How long it took.
    pub took: Millis,
    /// Its attempts, in order of their ends.
    pub rows: Vec<AttemptRow>,
    /// How many earlier ones were too many to be kept.
    pub dropped: u64,
}

/// A job by its name and its number, as in `sessions/3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobName {
    /// Its group's name, or its own in a trace.
    pub name: String,
    /// Its number within its group, or within the trace, from 0.
    pub nth: u32,
}

impl fmt::Display for JobName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.name, self.nth)
    }
}

impl FromStr for JobName {
    type Err = String;

    fn from_str(text: &str) -> Result<JobName, String> {
        let parts = text.rsplit_once('/').and_then(|(name, nth)| Some((name, nth.parse().ok()?)));
        let (name, nth) =
            parts.ok_or("a job is a name and a number, as in sessions/3: columns job and nth of jobs.csv")?;
        Ok(JobName { name: name.to_owned(), nth })
    }
}

impl JobName {
    /// Is there such a job?
    pub fn is_in(&self, scenario: &Scenario) -> bool {
        let traced = || scenario.traced.get(self.nth as usize).is_some_and(|job| job.name == self.name);
        scenario.jobs.iter().any(|group| group.name == self.name && self.nth < group.count) || traced()
    }

    /// The job that took longest in the first run under a policy.
    pub fn slowest(played: &[Played], policy: usize) -> Option<JobName> {
        let first = played.iter().filter(|one| one.policy == policy).min_by_key(|one| one.seed)?;
        let longest =
            first.outcome.jobs.iter().max_by_key(|job| (job.took, std::cmp::Reverse((&job.name, job.nth))))?;
        Some(JobName { name: longest.name.clone(), nth: longest.nth })
    }
}

/// Watches a job under the baseline, and under the others, with the grid's first seed.
///
/// # Errors
/// Of a run that cannot be ended.
pub fn watch(grid: &Grid<'_>, baseline: usize, job: &JobName) -> Result<Watched, Stuck> {
    let seed = grid.seeds.start;
    let others = (0..grid.policies.len()).filter(|policy| *policy != baseline);
    let mut panels = Vec::new();
    for nth in [baseline].into_iter().chain(others).take(PANELS) {
        let mut watch = Watch::new(&job.name, job.nth, MOST);
        let name = &grid.policies[nth].0;
        let outcome = run_watching(grid.scenario, grid.actor(nth, seed), seed, &mut watch)
            .map_err(|stuck| named(stuck, name, grid.scenario, seed))?;
        let row = outcome.jobs.iter().find(|row| row.name == job.name && row.nth == job.nth);
        panels.extend(row.map(|row| Panel {
            policy: name.clone(),
            arrived: row.arrived,
            took: row.took,
            rows: watch.rows().copied().collect(),
            dropped: watch.dropped(),
        }));
    }
    Ok(Watched { job: job.to_string(), seed, panels })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jobs_name_is_read_as_it_is_told_though_it_has_slashes() {
        let job: JobName = "a/b/12".parse().unwrap();
        assert_eq!((job.name.as_str(), job.nth, job.to_string().as_str()), ("a/b", 12, "a/b/12"));
        assert!("sessions".parse::<JobName>().is_err() && "sessions/x".parse::<JobName>().is_err());
    }

    #[test]
    fn only_jobs_of_the_scenario_are_in_it() {
        let scenario: Scenario = toml::from_str("[[jobs]]\nname = \"a\"\ncount = 2\nmaps.tasks = 1\n").unwrap();
        let is_in = |name: &str| name.parse::<JobName>().unwrap().is_in(&scenario);
        assert_eq!(["a/0", "a/1", "a/2", "b/0"].map(is_in), [true, true, false, false]);
    }
}
