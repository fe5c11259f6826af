//! What was settled about a job's clones.

use drover_core::engine::Engine;
use drover_core::model::{Assignment, ClonePlan, JobId, Reading, TaskKind, Verdict};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What was settled about the clones of a job's maps or reduces before the first of them ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClonePlanView {
    /// `map` or `reduce`.
    pub kind: String,
    /// What is run several times over: each `task`, or the whole `job`.
    pub scheme: String,
    /// Copies of each, the first attempt included; one where nothing is cloned.
    pub clones: u32,
    /// How many of the tasks have them.
    pub tasks: u32,
    /// The clones are to give way to others.
    pub gives_way: bool,
    /// Why nothing is cloned: a verdict's label; `null` where something is.
    pub refused: Option<String>,
    /// The same in words.
    pub reason: Option<String>,
    /// What clones of reduces read; `null` where they read no clones' outputs.
    pub reading: Option<ReadingView>,
}

/// Which output of each map's clones a clone of a reduce reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReadingView {
    /// What the policy would have them do: `cac` (each one of its own), `cc` (all the first), `delay` (one of its own or, after `omega_ms`, any).
    pub wanted: String,
    /// How long a clone is to wait for an output of its own, milliseconds; `null` but for `delay`.
    pub omega_ms: Option<u64>,
    /// What they do.
    pub done: String,
    /// Why that is not what was asked for: a verdict's label; `null` where it is.
    pub instead: Option<String>,
    /// The same in words.
    pub reason: Option<String>,
}

impl ClonePlanView {
    /// Those of a job, as far as they are settled.
    pub fn of_job(engine: &Engine, job: JobId) -> Vec<ClonePlanView> {
        let plans = TaskKind::ALL.into_iter().filter_map(|kind| Some((kind, engine.clone_plan(job, kind)?)));
        plans.map(|(kind, plan)| ClonePlanView::of(kind, &plan)).collect()
    }

    fn of(kind: TaskKind, plan: &ClonePlan) -> ClonePlanView {
        let (refused, reason) = said(plan.refused);
        ClonePlanView {
            kind: kind.label().into(),
            scheme: plan.scheme.label().into(),
            clones: plan.clones,
            tasks: plan.tasks,
            gives_way: plan.gives_way,
            refused,
            reason,
            reading: plan.reading.as_ref().map(ReadingView::of),
        }
    }
}

impl ReadingView {
    fn of(reading: &Reading) -> ReadingView {
        let (instead, reason) = said(reading.instead);
        let omega = |wanted| if let Assignment::Delay { omega } = wanted { Some(omega.0) } else { None };
        ReadingView {
            wanted: reading.wanted.label().into(),
            omega_ms: omega(reading.wanted),
            done: reading.done.label().into(),
            instead,
            reason,
        }
    }
}

/// A verdict's label and words.
fn said(verdict: Option<Verdict>) -> (Option<String>, Option<String>) {
    (verdict.map(|why| why.label().into()), verdict.map(|why| why.words().into()))
}
