//! Outputs that were lost: attempts that had succeeded, and later had not.

use super::id::AttemptId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Attempts of one job that were told to have succeeded and to have failed or been killed, in either order. Hadoop's AM takes a map's success back when
/// its node is lost, or its output cannot be fetched (TaskAttemptImpl, TA_TOO_MANY_FETCH_FAILURE).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Lost(BTreeSet<AttemptId>);

impl Lost {
    /// Beyond it those of the first tasks are kept, in whatever order they are told.
    const MAX: usize = 1_000;

    /// Takes note of one.
    pub(super) fn add(&mut self, id: AttemptId) {
        self.0.insert(id);
        if self.0.len() > Self::MAX {
            self.0.pop_last();
        }
    }

    /// Was its output lost?
    pub fn contains(&self, id: AttemptId) -> bool {
        self.0.contains(&id)
    }

    /// Those that were.
    pub fn iter(&self) -> impl Iterator<Item = AttemptId> {
        self.0.iter().copied()
    }

    /// None was.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AttemptFact, AttemptState, Job, JobId, TaskKind, Time};

    fn job(told: &[AttemptState]) -> Job {
        let id: JobId = "job_1_0001".parse().unwrap();
        let attempt = id.task(TaskKind::Map, 3).attempt(0);
        let mut job = Job::new(id);
        for state in told {
            let fact = AttemptFact { state: Some(*state), ..AttemptFact::of(attempt) };
            assert!(job.learn_attempt(&fact, None, Time(1), 10));
        }
        job
    }

    #[test]
    fn an_output_is_lost_whose_attempt_had_succeeded_in_whatever_order_that_is_told() {
        use AttemptState::*;
        let (failed, late) = (job(&[Running, Succeeded, Failed]), job(&[Failed, Succeeded, Failed]));
        let attempt = failed.id.task(TaskKind::Map, 3).attempt(0);
        assert!(failed.lost.contains(attempt));
        assert_eq!(failed.lost, late.lost);
        for other in
            [vec![Running, Failed], vec![Running, Killed, Failed], vec![Running, Succeeded, Succeeded, Running]]
        {
            assert!(job(&other).lost.is_empty(), "{other:?}");
        }
        assert!(!failed.lost.is_empty() && !failed.lost.contains(failed.id.task(TaskKind::Map, 3).attempt(1)));
    }

    #[test]
    fn of_many_lost_outputs_those_of_the_first_thousand_are_kept_in_whatever_order_they_are_told() {
        let id: JobId = "job_1_0001".parse().unwrap();
        let attempt = |index| id.task(TaskKind::Map, index).attempt(0);
        let mut lost = Lost::default();
        (0..=1_000).rev().for_each(|index| lost.add(attempt(index)));
        assert_eq!([0, 999, 1_000].map(|index| lost.contains(attempt(index))), [true, true, false]);
    }
}
