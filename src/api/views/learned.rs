//! What is known over jobs, as a view.

use crate::service::Resumed;
use drover_core::engine::Known;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What the engine knows over jobs, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct KnownView {
    /// Tasks that p, the probability that a task straggles, rests on.
    pub tasks: u64,
    /// Machines of which anything is known.
    pub machines: u64,
    /// Predictions of all estimators that have been set against what happened, older ones counting less.
    pub predictions: u64,
    /// Kinds of jobs, by user and name, whose tasks' times are known.
    pub kinds: u64,
    /// Policies that only advise for a user.
    pub breakers: u64,
    /// Hosts that users' copies are kept off, as copies there came to nothing.
    pub rests: u64,
}

/// What is known now, and what of it an earlier process had learned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LearnedView {
    /// Now.
    pub now: KnownView,
    /// At the start, as an earlier process left it in the ledger; `null` where this one began with nothing.
    pub resumed: Option<KnownView>,
    /// When that was kept, the service's clock.
    pub resumed_at_ms: Option<u64>,
    /// What an earlier process had learned could not be read at the start: it is left as it is, and nothing is kept until the service starts again.
    #[serde(default)]
    pub left_alone: bool,
}

impl KnownView {
    fn of(known: Known) -> KnownView {
        let Known { tasks, machines, predictions, kinds, breakers, rests } = known;
        KnownView { tasks, machines, predictions, kinds, breakers, rests }
    }
}

impl LearnedView {
    /// Of an engine that knows that now, and what it went on from.
    pub fn of(now: Known, resumed: Option<Resumed>, left_alone: bool) -> LearnedView {
        LearnedView {
            now: KnownView::of(now),
            resumed: resumed.map(|resumed| KnownView::of(resumed.known)),
            resumed_at_ms: resumed.map(|resumed| resumed.at.0),
            left_alone,
        }
    }
}
