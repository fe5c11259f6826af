//! Jobs that an earlier process left without an end: what the poller is to read of them, until it has been told.

use crate::ledger::Left;
use drover_core::model::{JobId, TaskId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Those whose end has not been told yet.
#[derive(Default)]
pub struct LeftJobs(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    /// The newest first.
    jobs: Vec<JobId>,
    /// Tasks with an action whose end is not known.
    tasks: BTreeMap<JobId, BTreeSet<TaskId>>,
}

impl LeftJobs {
    /// What the ledger says is left.
    pub fn take(&self, left: &Left) {
        let mut inner = self.lock();
        inner.jobs = left.jobs.iter().map(|job| job.id).collect();
        for one in &left.actions {
            inner.tasks.entry(one.task.job).or_default().insert(one.task);
        }
    }

    /// All of them, the newest first.
    pub fn jobs(&self) -> Vec<JobId> {
        self.lock().jobs.clone()
    }

    /// Tasks of a job whose attempts tell what became of an action.
    pub fn tasks(&self, job: JobId) -> Vec<TaskId> {
        self.lock().tasks.get(&job).into_iter().flatten().copied().collect()
    }

    /// The job's end has been told.
    pub fn forget(&self, job: JobId) {
        let mut inner = self.lock();
        inner.jobs.retain(|one| *one != job);
        inner.tasks.remove(&job);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
