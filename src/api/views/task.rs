//! Tasks and their attempts.

use super::{NumbersView, word};
use crate::api::cause::CauseView;
use crate::words;
use drover_core::engine::Candidate;
use drover_core::model::{Attempt, Cause, ClusterState, Task, TaskId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A task with its attempts and, while it runs, its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskView {
    /// The task's id.
    pub task: String,
    /// `map` or `reduce`.
    pub kind: String,
    /// Its state.
    pub state: String,
    /// Progress score of its best attempt, 0–1.
    pub score: f64,
    /// Launch, the ApplicationMaster's clock, Unix milliseconds.
    pub started_ms: Option<u64>,
    /// End, likewise.
    pub finished_ms: Option<u64>,
    /// Length of its input split, bytes; 0 where unknown.
    pub input_bytes: u64,
    /// Attempts known.
    pub attempts: Vec<AttemptView>,
    /// What was decided about it, or why not; absent when it does not run.
    pub verdict: Option<String>,
    /// The same in words, with its numbers.
    pub reason: Option<String>,
    /// The numbers it rests on.
    pub numbers: Option<NumbersView>,
    /// Why it takes as long as it does: of a running task once any of its kind has finished, of a finished one where it was slow.
    #[serde(default)]
    pub cause: Option<CauseView>,
}

/// An attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AttemptView {
    /// The attempt's id.
    pub attempt: String,
    /// Its state.
    pub state: String,
    /// Its host, where known.
    pub node: Option<String>,
    /// Phase of its work, where known.
    pub phase: Option<String>,
    /// Progress score, 0–1.
    pub score: f64,
    /// Launch, the ApplicationMaster's clock, Unix milliseconds.
    pub started_ms: Option<u64>,
    /// End, likewise.
    pub finished_ms: Option<u64>,
    /// Hadoop calls it a speculative attempt.
    pub speculative: bool,
}

impl TaskView {
    /// A task, with what the last pass said of it, and of a finished one why it was slow.
    pub fn of(
        cluster: &ClusterState,
        id: TaskId,
        task: &Task,
        candidate: Option<&Candidate>,
        cause: Option<&Cause>,
    ) -> TaskView {
        let cause = candidate.map_or(cause, |candidate| candidate.cause.as_ref());
        TaskView {
            task: id.to_string(),
            kind: id.kind.label().into(),
            state: word(&task.state),
            score: task.progress().score(),
            started_ms: task.started.get().map(|at| at.0),
            finished_ms: task.ended().map(|at| at.0),
            input_bytes: task.input.0,
            attempts: task.attempts.iter().map(|attempt| AttemptView::of(cluster, id, attempt)).collect(),
            verdict: candidate.map(|c| c.verdict.label().into()),
            reason: candidate.map(|c| words::reason(c.verdict.words(), &c.numbers, c.cause.as_ref())),
            numbers: candidate.map(|c| NumbersView::of(&c.numbers)),
            cause: cause.map(CauseView::of),
        }
    }
}

impl AttemptView {
    fn of(cluster: &ClusterState, task: TaskId, attempt: &Attempt) -> AttemptView {
        AttemptView {
            attempt: task.attempt(attempt.number).to_string(),
            state: word(&attempt.state),
            node: attempt.host.map(|host| cluster.hosts.name(host).to_owned()),
            phase: attempt.phase.as_ref().map(word),
            score: attempt.track.score(),
            started_ms: attempt.started.get().map(|at| at.0),
            finished_ms: attempt.finished.get().map(|at| at.0),
            speculative: attempt.speculative,
        }
    }
}
