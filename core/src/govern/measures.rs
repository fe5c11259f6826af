//! What jobs were told beside copies of their running tasks, so that nothing is said twice.

use crate::model::{JobId, Measure, MeasureKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Of all jobs to which anything of the kind can be done.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Measures {
    by_job: BTreeMap<JobId, Taken>,
}

/// Of one job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Taken {
    /// Of how many maps and reduces the data was known when they were last ordered.
    pub ordered: [u32; 2],
    /// Its reduces have their racks, or need none.
    pub placed: bool,
    newest: BTreeMap<MeasureKind, Measure>,
}

impl Measures {
    /// Of a job.
    pub fn of(&self, job: JobId) -> Option<&Taken> {
        self.by_job.get(&job)
    }

    /// Of a job, to be put back.
    pub fn take(&mut self, job: JobId) -> Taken {
        self.by_job.remove(&job).unwrap_or_default()
    }

    /// Puts it back.
    pub fn put(&mut self, job: JobId, taken: Taken) {
        self.by_job.insert(job, taken);
    }

    /// Forgets a job.
    pub fn forget(&mut self, job: JobId) {
        self.by_job.remove(&job);
    }

    /// Forgets all: another policy is in force.
    pub fn clear(&mut self) {
        *self = Measures::default();
    }
}

impl Taken {
    /// Takes note of what was decided, or why not: of each kind the newest.
    pub fn note(&mut self, measure: Measure) {
        self.newest.insert(measure.kind, measure);
    }

    /// The newest of a kind.
    pub fn newest(&self, kind: MeasureKind) -> Option<&Measure> {
        self.newest.get(&kind)
    }
}
