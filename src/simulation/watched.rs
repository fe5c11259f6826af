//! One job of one run, attempt by attempt. The run is played once more for it: the same seed gives the same run.

use super::grid::named;
use super::{Grid, Played, Progress};
use drover_core::model::Millis;
use drover_core::sim::{AttemptRow, Scenario, Stuck, Watch, run_watching};
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};

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
    /// How many of these are missing, as the user would not wait for them.
    pub missing: usize,
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

/// Watches a job under the baseline, and under the others, with the grid's first seed. Once `stop` is set no other run begins, and the one under way ends.
///
/// # Errors
/// Of a run that cannot be ended.
pub fn watch(
    grid: &Grid<'_>,
    baseline: usize,
    job: &JobName,
    stop: &AtomicBool,
    progress: &dyn Progress,
) -> Result<Watched, Stuck> {
    let seed = grid.seeds.start;
    let others = (0..grid.policies.len()).filter(|policy| *policy != baseline);
    let policies: Vec<usize> = [baseline].into_iter().chain(others).take(PANELS).collect();
    progress.expect(policies.len() as u64);
    let (mut panels, mut missing) = (Vec::new(), policies.len());
    for nth in policies.into_iter().take_while(|_| !stop.load(Ordering::Relaxed)) {
        panels.extend(panel(grid, nth, job)?);
        missing -= 1;
        progress.done();
    }
    Ok(Watched { job: job.to_string(), seed, panels, missing })
}

fn panel(grid: &Grid<'_>, policy: usize, job: &JobName) -> Result<Option<Panel>, Stuck> {
    let (seed, name) = (grid.seeds.start, &grid.policies[policy].0);
    let mut watch = Watch::new(&job.name, job.nth, MOST);
    let outcome = run_watching(grid.scenario, grid.actor(policy, seed), seed, &mut watch)
        .map_err(|stuck| named(stuck, name, grid.scenario, seed))?;
    let row = outcome.jobs.iter().find(|row| row.name == job.name && row.nth == job.nth);
    Ok(row.map(|row| Panel {
        policy: name.clone(),
        arrived: row.arrived,
        took: row.took,
        rows: watch.rows().copied().collect(),
        dropped: watch.dropped(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use drover_core::engine::EngineParams;
    use drover_core::policy::PolicyName;
    use std::sync::atomic::AtomicU64;

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

    /// Counts what is expected and done, and stops after so many.
    struct Enough<'a> {
        most: u64,
        expected: AtomicU64,
        done: AtomicU64,
        stop: &'a AtomicBool,
    }

    impl Progress for Enough<'_> {
        fn expect(&self, runs: u64) {
            self.expected.fetch_add(runs, Ordering::Relaxed);
        }

        fn done(&self) {
            if self.done.fetch_add(1, Ordering::Relaxed) + 1 >= self.most {
                self.stop.store(true, Ordering::Relaxed);
            }
        }
    }

    #[test]
    fn once_stopped_the_lanes_that_are_there_are_kept_no_other_begins_and_those_missing_are_counted() {
        let scenario: Scenario =
            toml::from_str("[cluster]\nnodes = 2\n[[jobs]]\nname = \"a\"\nmaps = { tasks = 2, work = 5 }\n").unwrap();
        let policies = [PolicyName::None, PolicyName::Late, PolicyName::Mantri]
            .map(|policy| (policy.label().to_owned(), EngineParams { policy, ..EngineParams::default() }.into()));
        let grid = Grid { scenario: &scenario, policies: policies.into(), seeds: 1..2 };
        let lanes = |most, begins_stopped| {
            let stop = AtomicBool::new(begins_stopped);
            let enough = Enough { most, expected: AtomicU64::new(0), done: AtomicU64::new(0), stop: &stop };
            let watched = watch(&grid, 1, &"a/0".parse().unwrap(), &stop, &enough).unwrap();
            let names: Vec<String> = watched.panels.into_iter().map(|panel| panel.policy).collect();
            (names.join(" "), watched.missing, enough.expected.into_inner(), enough.done.into_inner())
        };
        assert_eq!(lanes(9, false), ("late none mantri".into(), 0, 3, 3));
        assert_eq!(lanes(2, false), ("late none".into(), 1, 3, 2));
        assert_eq!(lanes(9, true), (String::new(), 3, 3, 0));
    }
}
