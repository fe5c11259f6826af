//! What is held of a trace: its jobs, their tasks, of each the attempt that succeeded first, and beside which others it ran.

use super::done::Winner;
use drover_core::model::Resources;
use std::collections::BTreeMap;

/// Jobs of a trace: some 3 GiB of memory.
pub(super) const JOBS_MAX: usize = 5_000_000;

/// What a container has that nothing is told of.
pub(super) const SIZE: Resources = Resources { memory_mb: 1024, vcores: 1 };

/// How much of a trace is held, at most.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) jobs: usize,
    pub(super) tasks: usize,
    pub(super) attempts: usize,
}

impl Default for Limits {
    /// Some 13 GiB of memory.
    fn default() -> Limits {
        Limits { jobs: JOBS_MAX, tasks: 20_000_000, attempts: 20_000_000 }
    }
}

/// Is there room for one more of what there are so many of by now?
pub(super) fn room(count: usize, most: usize, id: &str, what: &str) -> Result<(), String> {
    if count > most { Err(format!("{id} is one too many: a trace has {most} {what} at most")) } else { Ok(()) }
}

/// What has no id would be one with all others that have none.
pub(super) fn named(what: &str, id: &str) -> Result<(), String> {
    if id.trim().is_empty() { Err(format!("{what} has an empty id")) } else { Ok(()) }
}

/// An attempt, milliseconds by the cluster's clock.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Attempt {
    pub(super) job: String,
    pub(super) is_reduce: bool,
    pub(super) task: String,
    pub(super) id: String,
    /// Where it ran.
    pub(super) host: Option<String>,
    pub(super) started: Option<u64>,
    /// `None`: the trace ends before it.
    pub(super) finished: Option<u64>,
    /// End of a reduce's shuffle, and of its sort.
    pub(super) stages: [Option<u64>; 2],
    pub(super) input: Option<u64>,
    pub(super) succeeded: bool,
}

/// What is told of a job beside its attempts.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct About {
    pub(super) name: Option<String>,
    pub(super) user: Option<String>,
    pub(super) queue: Option<String>,
    pub(super) submitted: Option<u64>,
    /// What a container of its maps and of its reduces has.
    pub(super) sizes: [Option<Resources>; 2],
}

/// What is told of a task's attempts.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Told {
    /// That which succeeded first.
    pub(super) winner: Option<Winner>,
    pub(super) others: Vec<Ran>,
}

/// An attempt that was not the first to succeed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ran {
    pub(super) master: u32,
    pub(super) started: u64,
    pub(super) finished: Option<u64>,
}

impl Told {
    /// One more has succeeded. Was it not the only one?
    pub(super) fn succeeds(&mut self, new: Winner) -> bool {
        let order = |winner: &Winner| (winner.finished, winner.started);
        let known = self.winner.replace(new);
        if let Some(known) = known {
            let (first, second) = if order(&known) <= order(&new) { (known, new) } else { (new, known) };
            self.winner = Some(first);
            self.others.push(Ran { master: second.master, started: second.started, finished: Some(second.finished) });
        }
        known.is_some()
    }

    /// Did the first to succeed begin beside an older one? A label that tells copies (Hadoop's `avataar`) is lost where a copy was killed and asked for anew,
    /// and most traces have none.
    pub(super) fn is_won_by_copy(&self) -> bool {
        self.winner.is_some_and(|winner| {
            let is_older = |other: &&Ran| other.started < winner.started && other.master == winner.master;
            let mut older = self.others.iter().filter(is_older);
            older.any(|other| other.finished.is_none_or(|end| end >= winner.started))
        })
    }
}

/// Which of its job's masters began an attempt: what an earlier one began ended with it, and the next counts on from another thousand.
pub(super) fn master(id: &str) -> u32 {
    let number = id.strip_prefix("attempt_").and_then(|rest| rest.rsplit('_').next()?.parse::<u32>().ok());
    number.map_or(0, |number| number / 1000)
}

/// A job's tasks: reduces by `true`, each by its id.
pub(super) type Tasks = BTreeMap<(bool, String), Told>;

/// What is told of a job.
#[derive(Debug, Default)]
pub(super) struct Job {
    /// `None`: nothing beside its attempts.
    pub(super) about: Option<About>,
    pub(super) tasks: Tasks,
    /// When the first of its attempts began, whatever came of it.
    pub(super) first: Option<u64>,
    /// When the last that succeeded ended.
    pub(super) last: Option<u64>,
}

impl Job {
    pub(super) fn submitted(&self) -> Option<u64> {
        self.about.as_ref().and_then(|about| about.submitted)
    }

    /// When it was there.
    pub(super) fn arrived(&self) -> Option<u64> {
        self.submitted().into_iter().chain(self.first).min()
    }
}
