//! What the poller may know of the engine: which tasks are worth a request, which configurations are known. Kept outside the engine's
//! thread, so that asking never waits for a pass.

use crate::shim;
use drover_core::engine::Engine;
use drover_core::model::{AttemptId, JobId, Observation, TaskId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Suspects kept for each job.
const SUSPECTS: usize = 16;

/// Hints for the poller.
#[derive(Default)]
pub struct Hints(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    /// Jobs of which something was heard since the last publication.
    touched: BTreeSet<JobId>,
    jobs: BTreeMap<JobId, Hint>,
}

#[derive(Default)]
struct Hint {
    suspects: Vec<TaskId>,
    readings: Vec<AttemptId>,
    settings_known: bool,
    hidden: bool,
    has_shim: bool,
}

impl Hints {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes which job a fact is about.
    pub fn touch(&self, seen: &Observation) {
        if let Some(job) = seen.fact.job() {
            self.lock().touched.insert(job);
        }
    }

    /// Brings the hints about touched jobs up to date.
    pub fn publish(&self, engine: &Engine) {
        let touched = std::mem::take(&mut self.lock().touched);
        for id in touched {
            let hint = engine.cluster().job(id).map(|job| Hint {
                suspects: engine.suspects(id, SUSPECTS),
                // Of a job with a shim nothing is read over REST, and looking through its tasks would be for nothing.
                readings: if job.shim { Vec::new() } else { engine.readings(id, SUSPECTS) },
                settings_known: job.settings.is_some(),
                hidden: job.hidden,
                has_shim: shim::is_loaded(job),
            });
            let mut inner = self.lock();
            match hint {
                Some(hint) => inner.jobs.insert(id, hint),
                None => inner.jobs.remove(&id),
            };
        }
        // Jobs can also be forgotten without a last fact about them.
        let mut inner = self.lock();
        if inner.jobs.len() > engine.cluster().job_count() {
            inner.jobs.retain(|id, _| engine.cluster().job(*id).is_some());
        }
    }

    /// Tasks of a job that are worth a request each.
    pub fn suspects(&self, job: JobId, limit: usize) -> Vec<TaskId> {
        self.lock().jobs.get(&job).map_or_else(Vec::new, |hint| hint.suspects.iter().take(limit).copied().collect())
    }

    /// Attempts of a job whose counters are worth a request each.
    pub fn readings(&self, job: JobId, limit: usize) -> Vec<AttemptId> {
        self.lock().jobs.get(&job).map_or_else(Vec::new, |hint| hint.readings.iter().take(limit).copied().collect())
    }

    /// Jobs of which anything is known.
    pub fn jobs(&self) -> Vec<JobId> {
        self.lock().jobs.keys().copied().collect()
    }

    /// Does the job's AM refuse to let Drover view its tasks?
    pub fn hidden(&self, job: JobId) -> bool {
        self.lock().jobs.get(&job).is_some_and(|hint| hint.hidden)
    }

    /// Does the job's ApplicationMaster load the shim, heard or not?
    pub fn has_shim(&self, job: JobId) -> bool {
        self.lock().jobs.get(&job).is_some_and(|hint| hint.has_shim)
    }

    /// Is the job's configuration known?
    pub fn settings_known(&self, job: JobId) -> bool {
        self.lock().jobs.get(&job).is_some_and(|hint| hint.settings_known)
    }
}
