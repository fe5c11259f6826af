//! Masters that do not answer in time. Each call to one holds a place through the proxy until its timeout, so that they are asked a few at a time, and for nothing beside
//! their tasks: forty of them would keep every place, and no other job's tasks would be listed.

use super::agenda::Agenda;
use super::{ASK_AFTER, Call, Schedule};
use drover_core::model::{JobId, Time};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Which of them are due when, and which are being asked.
#[derive(Debug, Default)]
pub(super) struct Hung {
    agenda: Agenda,
    asked: BTreeSet<JobId>,
}

impl Hung {
    /// Is it asked as one that hangs?
    pub(super) fn is_asked(&self, id: JobId) -> bool {
        self.asked.contains(&id)
    }
}

impl Schedule {
    fn may_ask_hung(&self) -> bool {
        self.hung.asked.len() < self.params.hung_at_once.max(1)
    }

    /// When the next is due, if one may be asked.
    pub(super) fn next_hung(&self) -> Option<Time> {
        self.hung.agenda.next().filter(|_| self.may_ask_hung())
    }

    /// The one that has been due longest, if one is and may be asked.
    pub(super) fn first_hung(&self, now: Time) -> Option<JobId> {
        self.hung.agenda.first_due(now).filter(|_| self.may_ask_hung())
    }

    /// Puts a job's tasks down for that time.
    pub(super) fn set_tasks(&mut self, id: JobId, due: Time) {
        self.unset_tasks(id);
        let is_hung = self.jobs.get(&id).is_some_and(|job| job.is_hung);
        if is_hung { &mut self.hung.agenda } else { &mut self.tasks }.set(id, due);
    }

    /// Takes a job's tasks off.
    pub(super) fn unset_tasks(&mut self, id: JobId) {
        self.tasks.remove(id);
        self.hung.agenda.remove(id);
    }

    /// A job is asked for its tasks, or for the run of its AM.
    pub(super) fn ask_tasks(&mut self, id: JobId) {
        self.unset_tasks(id);
        if self.jobs.get(&id).is_some_and(|job| job.is_hung) {
            self.hung.asked.insert(id);
            self.hung.agenda.takes_turn(id);
        } else {
            self.tasks.takes_turn(id);
        }
    }

    /// A job that is listed for the first time is that user's.
    pub(super) fn belongs(&mut self, id: JobId, user: &str) {
        let user = user.into();
        for agenda in [&mut self.tasks, &mut self.hung.agenda, &mut self.side] {
            agenda.belongs(id, &user);
        }
    }

    /// The job's user, by the listing that first showed it.
    pub fn user(&self, id: JobId) -> Option<Arc<str>> {
        self.tasks.user(id)
    }

    /// It is over.
    pub(super) fn leaves(&mut self, id: JobId) {
        for agenda in [&mut self.tasks, &mut self.hung.agenda, &mut self.side, &mut self.ends] {
            agenda.forget(id);
        }
    }

    /// That call has come back.
    pub(super) fn asked(&mut self, call: Call, id: JobId) {
        match (call, self.jobs.get_mut(&id)) {
            (Call::Tasks(_) | Call::Master(_), _) => _ = self.hung.asked.remove(&id),
            (_, Some(job)) => job.is_side_asked = false,
            (_, None) => {}
        }
    }

    /// A job's AM did not answer in time.
    pub(super) fn hangs(&mut self, id: JobId) {
        if let Some(job) = self.jobs.get_mut(&id) {
            job.is_hung = true;
            self.side.remove(id);
        }
    }

    /// It tells its tasks, or others tell of it.
    pub(super) fn answers(&mut self, id: JobId, now: Time) {
        if let Some(job) = self.jobs.get_mut(&id).filter(|job| job.is_hung) {
            job.is_hung = false;
            if !job.is_side_asked {
                self.side.set(id, now + ASK_AFTER);
            }
        }
    }
}
