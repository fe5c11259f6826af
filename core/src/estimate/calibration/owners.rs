//! Whose places of the sample are taken: one user's jobs leave others theirs.

use super::WATCHED_MAX;
use crate::model::{Job, JobId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Sampled tasks of one user's live jobs: of a user who is alone on a cluster the jobs that run tell enough.
pub const WATCHED_OF_USER: usize = WATCHED_MAX / 4;

/// Places by user, as jobs had them when their samples were drawn.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Owners {
    jobs: BTreeMap<JobId, String>,
    places: BTreeMap<String, usize>,
}

impl Owners {
    /// Has the job's user room for so many more?
    pub fn have_room(&self, job: &Job, more: usize) -> bool {
        self.places.get(&job.user).copied().unwrap_or(0) + more <= WATCHED_OF_USER
    }

    /// The job takes so many.
    pub fn take(&mut self, job: &Job, places: usize) {
        self.jobs.insert(job.id, job.user.clone());
        *self.places.entry(job.user.clone()).or_default() += places;
    }

    /// It gives so many back.
    pub fn give_back(&mut self, job: JobId, places: usize) {
        let Some(user) = self.jobs.get(&job) else { return };
        if let Some(taken) = self.places.get_mut(user) {
            *taken = taken.saturating_sub(places);
            if *taken == 0 {
                self.places.remove(user);
            }
        }
    }

    /// It has none any more.
    pub fn forget(&mut self, job: JobId, places: usize) {
        self.give_back(job, places);
        self.jobs.remove(&job);
    }
}
