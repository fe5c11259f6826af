//! The attempts of one job, kept for a picture of it. Of all others only sums are kept, so that a run of a million attempts stays small.

use super::attempt::{Attempt, Stage};
use super::job::{Job, START};
use crate::model::{Millis, TaskKind, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// First of its task's.
    Succeeded,
    /// It ended well after another had, and left an output of its own for clones to read.
    Spare,
    /// Killed, as another was first.
    Overtaken,
    /// A copy that the policy took back.
    Withdrawn,
    /// The policy had it killed for another in its place.
    Restarted,
    /// A reduce that made way for a map of its job.
    MadeWay,
    /// Its queue gave its container back to one that had less than its share.
    Preempted,
    /// Its node was lost.
    Lost,
    /// It failed by itself.
    Failed,
    /// Killed with its job, of which a task had failed.
    JobFailed,
}

impl End {
    /// Does its task ask for another in its place?
    pub fn is_replaced(self) -> bool {
        matches!(self, End::Restarted | End::MadeWay | End::Preempted | End::Lost)
    }

    /// Does the attempt in its place hurry on Hadoop? What Drover's shim kills, and maps on nodes that are lost, are killed with `reschedule` (TaskAttemptKillEvent).
    pub fn hurries(self, kind: TaskKind) -> bool {
        self == End::Restarted || (self == End::Lost && kind == TaskKind::Map)
    }

    /// Does the ApplicationMaster kill it? What a queue gives back the ResourceManager takes at once.
    pub fn is_killed(self) -> bool {
        matches!(self, End::Overtaken | End::Withdrawn | End::Restarted | End::MadeWay | End::JobFailed)
    }
}

/// An attempt that was launched, and has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptRow {
    /// A map's or a reduce's.
    pub kind: TaskKind,
    /// Index of its task within its kind.
    pub task: u32,
    /// Its number within its task.
    pub number: u32,
    /// It was asked for beside another.
    pub is_copy: bool,
    /// Number of its node.
    pub node: u32,
    /// From the start of the run.
    pub launched: Millis,
    /// The same.
    pub ended: Millis,
    /// How it ended.
    pub end: End,
}

/// A job to be watched, by its name and its number within its group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watch {
    name: String,
    nth: u32,
    most: usize,
    rows: VecDeque<AttemptRow>,
    dropped: u64,
}

impl Watch {
    /// One that keeps at most so many attempts, those that ended last: they are what the job waited for.
    pub fn new(name: &str, nth: u32, most: usize) -> Watch {
        Watch { name: name.to_owned(), nth, most, rows: VecDeque::new(), dropped: 0 }
    }

    /// What was kept, in order of the ends.
    pub fn rows(&self) -> impl Iterator<Item = &AttemptRow> {
        self.rows.iter()
    }

    /// How many attempts were too many to be kept.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// An attempt has ended. One that was never launched is none.
    pub(super) fn ended(&mut self, job: &Job, attempt: &Attempt, end: End, now: Time) {
        if job.of.nth() != self.nth || job.name != self.name || attempt.stage == Stage::Waiting {
            return;
        }
        self.rows.push_back(AttemptRow {
            kind: attempt.kind,
            task: attempt.index,
            number: attempt.number,
            is_copy: attempt.is_copy,
            node: attempt.node,
            launched: attempt.launched.since(START),
            ended: now.since(START),
            end,
        });
        if self.rows.len() > self.most {
            self.rows.pop_front();
            self.dropped += 1;
        }
    }
}
