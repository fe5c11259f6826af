//! What the papers leave of the budgets.

use super::GovernParams;
use crate::model::Millis;

impl GovernParams {
    /// Limits that no paper knows are lifted; LATE's own is set by [`crate::engine::EngineParams::paper`]. What keeps a job and a cluster from harm stays.
    pub fn paper() -> GovernParams {
        GovernParams {
            cluster_cap: 1.0,
            cluster_floor: 0,
            job_cap: 1.0,
            job_floor: 0,
            node_copies: 0,
            copies_per_minute: Some(0),
            copies_per_task: 0,
            futile_copies: 0,
            node_cool_down: Millis(0),
            breaker_below: 0.0,
            ..GovernParams::default()
        }
    }
}
