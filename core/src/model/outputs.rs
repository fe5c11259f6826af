//! How much tasks have written. Kept beside them, for it is told of few: a shim tells counters of a job's first attempts only.

use super::id::TaskId;
use super::units::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the tasks of one job have written, as their attempts have told. These may be told in any order, and repeated.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Outputs([BTreeMap<u32, Bytes>; 2]);

impl Outputs {
    /// An attempt of it has told so much. Attempts at one task write the same, and while one works it has written less.
    pub(super) fn learn(&mut self, id: TaskId, written: Bytes) {
        if written.0 > 0 {
            let known = self.0[id.kind as usize].entry(id.index).or_default();
            *known = written.max(*known);
        }
    }

    /// What a task has written; zero where that is not known.
    pub fn of(&self, id: TaskId) -> Bytes {
        self.0[id.kind as usize].get(&id.index).copied().unwrap_or_default()
    }

    /// Nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(BTreeMap::is_empty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AttemptFact, Counters, Job, JobId, TaskKind, Time};

    #[test]
    fn a_task_has_written_the_most_that_any_of_its_attempts_has_told_in_whatever_order() {
        let id: JobId = "job_1_0001".parse().unwrap();
        let told = |order: [(u32, u64); 3]| {
            let mut job = Job::new(id);
            for (number, bytes) in order {
                let counters = Counters { written: Some(Bytes(bytes)), ..Counters::default() };
                let fact = AttemptFact { counters, ..AttemptFact::of(id.task(TaskKind::Map, 3).attempt(number)) };
                assert!(job.learn_attempt(&fact, None, Time(1), 10));
            }
            job.outputs
        };
        let outputs = told([(0, 5), (1, 9), (0, 7)]);
        assert_eq!(outputs, told([(1, 9), (0, 7), (0, 5)]));
        assert_eq!(outputs.of(id.task(TaskKind::Map, 3)), Bytes(9));
        assert_eq!([TaskKind::Map, TaskKind::Reduce].map(|kind| outputs.of(id.task(kind, 4))), [Bytes(0); 2]);
        assert!(told([(0, 0); 3]).is_empty() && !outputs.is_empty());
        let json = serde_json::to_string(&outputs).unwrap();
        assert_eq!(serde_json::from_str::<Outputs>(&json).unwrap(), outputs);
    }
}
