//! Who is due when. Users take turns, and of a user's jobs the one goes first that has been due longest: however many jobs somebody has, others' are not read later for it than
//! they would be beside one.

use drover_core::model::{JobId, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Jobs by the time at which something is due; a job is in it at most once.
#[derive(Debug, Clone, Default)]
pub struct Agenda {
    of: BTreeMap<JobId, Time>,
    owners: BTreeMap<JobId, Arc<str>>,
    users: BTreeMap<Arc<str>, Queue>,
    /// Turns so far.
    turns: u64,
}

/// What is due of one user's jobs.
#[derive(Debug, Clone, Default)]
struct Queue {
    by_time: BTreeSet<(Time, JobId)>,
    /// Jobs of the user, due or not.
    jobs: usize,
    /// Which turn was the last.
    turn: u64,
}

impl Agenda {
    /// A job is that user's. Those of which it is not said are nobody's in particular, all together.
    pub fn belongs(&mut self, job: JobId, user: &Arc<str>) {
        let due = self.of.get(&job).copied();
        self.forget(job);
        self.owners.insert(job, user.clone());
        self.users.entry(user.clone()).or_default().jobs += 1;
        due.into_iter().for_each(|due| self.set(job, due));
    }

    /// Whose a job is, where that was said.
    pub fn user(&self, job: JobId) -> Option<Arc<str>> {
        self.owners.get(&job).filter(|user| !user.is_empty()).cloned()
    }

    /// Puts a job down for that time, in place of any earlier entry.
    pub fn set(&mut self, job: JobId, due: Time) {
        self.remove(job);
        self.of.insert(job, due);
        self.users.entry(self.owner(job)).or_default().by_time.insert((due, job));
    }

    /// Takes a job off.
    pub fn remove(&mut self, job: JobId) {
        if let Some(due) = self.of.remove(&job)
            && let Some(queue) = self.users.get_mut(&self.owner(job))
        {
            queue.by_time.remove(&(due, job));
        }
    }

    /// Takes it off for good.
    pub fn forget(&mut self, job: JobId) {
        self.remove(job);
        let Some(user) = self.owners.remove(&job) else { return };
        if let Some(queue) = self.users.get_mut(&user) {
            queue.jobs -= 1;
            if queue.jobs == 0 && queue.by_time.is_empty() {
                self.users.remove(&user);
            }
        }
    }

    /// Its user has had a turn.
    pub fn takes_turn(&mut self, job: JobId) {
        self.turns += 1;
        let turn = self.turns;
        if let Some(queue) = self.users.get_mut(&self.owner(job)) {
            queue.turn = turn;
        }
    }

    /// The job whose turn it is, if any is due.
    pub fn first_due(&self, now: Time) -> Option<JobId> {
        let first = |queue: &Queue| queue.by_time.first().filter(|(due, _)| *due <= now).map(|one| (queue.turn, *one));
        self.users.values().filter_map(first).min().map(|(_, (_, job))| job)
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
        self.users.values().filter_map(|queue| queue.by_time.first()).map(|(due, _)| *due).min()
    }

    fn owner(&self, job: JobId) -> Arc<str> {
        self.owners.get(&job).cloned().unwrap_or_default()
    }
}
