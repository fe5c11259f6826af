//! How much work each node has done.

use super::stats::quantile;
use crate::model::{Job, NameId, TaskKind, TaskState};
use std::collections::BTreeMap;

/// LATE §4: total work of each node, the sum of the progress scores of all succeeded and in-progress tasks on it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeWork {
    work: BTreeMap<NameId, Done>,
}

/// What one node has done.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Done {
    /// Sum of progress scores.
    pub work: f64,
    /// Attempts that it is the sum over.
    pub attempts: u32,
    /// Users whose attempts these are.
    pub users: u32,
}

impl NodeWork {
    /// Adds attempts of a job of the same user as the others. Over REST only some attempts' hosts are known; the others count nowhere.
    pub fn add(&mut self, job: &Job) {
        for kind in TaskKind::ALL {
            for (_, task) in job.tasks(kind) {
                for attempt in &task.attempts {
                    let Some(host) = attempt.host else { continue };
                    let won = task.state == TaskState::Succeeded
                        && task.won().is_some_and(|won| won.number == attempt.number);
                    let score = match attempt.state.is_final() {
                        true if won => 1.0,
                        true => continue,
                        false => attempt.track.score(),
                    };
                    let done = self.work.entry(host).or_default();
                    (done.work, done.attempts, done.users) = (done.work + score, done.attempts + 1, 1);
                }
            }
        }
    }

    /// Adds the work of another user's attempts.
    pub fn join(&mut self, other: &NodeWork) {
        for (host, theirs) in &other.work {
            let done = self.work.entry(*host).or_default();
            done.work += theirs.work;
            (done.attempts, done.users) = (done.attempts + theirs.attempts, done.users + theirs.users);
        }
    }

    /// LATE's SlowNodeThreshold: the work that stands at that percentile (0–1) of all nodes' work; `None` while nothing is known.
    pub fn threshold(&self, percentile: f64) -> Option<f64> {
        let mut all: Vec<f64> = self.work.values().map(|done| done.work).collect();
        quantile(&mut all, percentile)
    }

    /// The work of a node; `None` for one without a record, which is then not called slow.
    pub fn of(&self, host: NameId) -> Option<f64> {
        self.record(host).map(|done| done.work)
    }

    /// All that is counted of a node.
    pub fn record(&self, host: NameId) -> Option<Done> {
        self.work.get(&host).copied()
    }

    /// Nodes with a record, in order.
    pub fn hosts(&self) -> impl Iterator<Item = NameId> {
        self.work.keys().copied()
    }

    /// Nodes with a record.
    pub fn len(&self) -> usize {
        self.work.len()
    }

    /// Nothing is known.
    pub fn is_empty(&self) -> bool {
        self.work.is_empty()
    }
}
