//! Who is due when.

use drover_core::model::{JobId, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Jobs by the time at which something is due; a job is in it at most once.
#[derive(Debug, Clone, Default)]
pub struct Agenda {
    by_time: BTreeSet<(Time, JobId)>,
    of: BTreeMap<JobId, Time>,
}

impl Agenda {
    /// Puts a job down for that time, in place of any earlier entry.
    pub fn set(&mut self, job: JobId, due: Time) {
        self.remove(job);
        self.of.insert(job, due);
        self.by_time.insert((due, job));
    }

    /// Takes a job off.
    pub fn remove(&mut self, job: JobId) {
        if let Some(due) = self.of.remove(&job) {
            self.by_time.remove(&(due, job));
        }
    }

    /// The job that has been due longest, if any is due.
    pub fn first_due(&self, now: Time) -> Option<JobId> {
        self.by_time.first().filter(|(due, _)| *due <= now).map(|(_, job)| *job)
    }

    /// When this one is due, if it is on the agenda.
    pub fn next_of(&self, job: JobId) -> Option<Time> {
        self.of.get(&job).copied()
    }

    /// How many are on it.
    pub fn len(&self) -> usize {
        self.of.len()
    }

    /// When the next one is due.
    pub fn next(&self) -> Option<Time> {
        self.by_time.first().map(|(due, _)| *due)
    }
}
