//! Decisions, and what became of them.

use super::NumbersView;
use crate::api::cause::CauseView;
use crate::api::copy::CopyView;
use crate::service::{Kept, outcome};
use crate::words;
use drover_core::model::{Action, Mode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DecisionView {
    /// Its number within this process, from 1.
    pub id: u64,
    /// When it was taken, the service's clock, Unix milliseconds.
    pub at_ms: u64,
    /// The same instant on the ApplicationMaster's clock.
    pub am_at_ms: u64,
    /// The job.
    pub job: String,
    /// The task.
    pub task: String,
    /// The attempt that is slow.
    pub attempt: String,
    /// Its host, where known.
    pub node: Option<String>,
    /// What to do: `duplicate`, `restart` or `withdraw`.
    pub action: String,
    /// What is to run beside the task are clones: copies of one that has not shown to be slow.
    #[serde(default)]
    pub clones: bool,
    /// Mode it was taken in.
    pub mode: String,
    /// What was done about it: `advised`, said and not done; `decided`, to be done.
    pub outcome: String,
    /// The policy that proposed it.
    pub policy: String,
    /// Its rule, by the paper's name.
    pub rule: String,
    /// Hadoop's own speculator had copied the task before.
    pub natively_copied: bool,
    /// The numbers it rests on.
    pub numbers: NumbersView,
    /// Why the task was slow; absent before any of its kind had finished.
    #[serde(default)]
    pub cause: Option<CauseView>,
    /// In words.
    pub reason: String,
    /// What became of it where it was only advised, once its task has ended.
    pub end: Option<EndView>,
    /// How far it has come where it was to be done.
    pub copy: Option<CopyView>,
}

/// What became of an advised copy. It never ran, so its end is told with a probability.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EndView {
    /// `would_have_won`, `would_have_lost`, or `natively_copied`, which says nothing about Drover.
    pub end: String,
    /// When the task ended, the ApplicationMaster's clock, Unix milliseconds.
    pub task_ended_ms: u64,
    /// Probability that the copy would have been first, 0–1.
    pub would_have_won: f64,
    /// What a copy of average luck would have gained, milliseconds.
    pub gain_ms: u64,
}

impl DecisionView {
    /// The word for what to do where clones are told from other copies.
    pub fn told(&self) -> &str {
        if self.clones { Action::Duplicate.told(true) } else { &self.action }
    }

    /// A decision of that process with what became of it.
    pub fn of(kept: &Kept, incarnation: &str) -> DecisionView {
        let d = &kept.decision;
        let ended = kept.end.as_ref().map(|ended| EndView {
            end: ended.label().into(),
            task_ended_ms: ended.ended.0,
            would_have_won: ended.would_have_won,
            gain_ms: ended.gain.0,
        });
        DecisionView {
            id: d.id,
            at_ms: d.at.0,
            am_at_ms: d.am_at.0,
            job: d.job.to_string(),
            task: d.task.to_string(),
            attempt: d.attempt.to_string(),
            node: d.host.clone(),
            action: d.action.label().into(),
            clones: d.clones,
            mode: d.mode.label().into(),
            outcome: outcome(d.mode).into(),
            policy: d.policy.clone(),
            rule: d.rule.clone(),
            natively_copied: d.natively_copied,
            numbers: NumbersView::of(&d.numbers),
            cause: d.cause.as_deref().map(CauseView::of),
            reason: words::reason(d.action.words(), &d.numbers, d.cause.as_deref()),
            end: ended,
            copy: (d.mode == Mode::Act).then(|| CopyView::of(kept, incarnation)),
        }
    }
}
