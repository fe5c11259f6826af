//! Copies that were asked for, as the API tells of them.

use crate::service::Kept;
use crate::shim::action_id;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Copies that were asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CopyView {
    /// Id of the action, unique over all processes of the service.
    pub action: String,
    /// `decided`, `sent`, `applied`, `moved`, `refused`; and in the end `won`, `lost`, `died`, `refused`, `unsent`, `unanswered` or `unknown`.
    pub state: String,
    /// The shim's newest answer.
    pub answer: Option<String>,
    /// How many copies.
    pub copies: u32,
    /// Attempts of the task that had not ended when it was decided.
    pub live: u32,
    /// Hosts that a copy was to keep off.
    pub avoid: Vec<String>,
    /// Hosts on which a copy was to be asked for, the best first.
    #[serde(default)]
    pub prefer: Vec<String>,
    /// When it was too late to start them, the service's clock, Unix milliseconds.
    pub deadline_ms: u64,
    /// When it was first sent, likewise.
    pub sent_ms: Option<u64>,
    /// The attempts that are the copies.
    pub attempts: Vec<String>,
    /// The attempt that finished first.
    pub winner: Option<String>,
    /// Host it ran on.
    pub winner_node: Option<String>,
    /// When what became of them was settled, the ApplicationMaster's clock, Unix milliseconds.
    pub ended_ms: Option<u64>,
    /// What the copies held, launch to end.
    pub container_seconds: Option<f64>,
}

impl CopyView {
    /// The copies of a decision of that process.
    pub fn of(kept: &Kept, incarnation: &str) -> CopyView {
        let (d, asked) = (&kept.decision, &kept.asked);
        let end = asked.end.as_ref();
        let answer = asked.ack.as_ref().map(|ack| ack.answer).or(end.and_then(|end| end.answer));
        let numbers = end.map(|end| &end.attempts).or(asked.ack.as_ref().map(|ack| &ack.attempts));
        let id = |number: u32| d.task.attempt(number).to_string();
        CopyView {
            action: action_id(incarnation, d.id),
            state: asked.state().into(),
            answer: answer.map(|answer| answer.label().into()),
            copies: d.copies,
            live: d.live,
            avoid: d.avoid.clone(),
            prefer: d.prefer.clone(),
            deadline_ms: d.deadline.0,
            sent_ms: asked.sent.map(|at| at.0),
            attempts: numbers.into_iter().flatten().map(|number| id(*number)).collect(),
            winner: end.and_then(|end| end.winner).map(id),
            winner_node: end.and_then(|end| end.host.clone()),
            ended_ms: end.map(|end| end.at.0),
            container_seconds: end.map(|end| end.cost.as_secs_f64()),
        }
    }
}
