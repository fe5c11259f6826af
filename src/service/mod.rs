//! The loop that ties the rooms together: facts in, passes of the engine, decisions out.

mod desk;
mod engine_loop;
#[cfg(test)]
pub mod fixture;
mod hints;
mod reading;

pub use desk::{Desk, Kept, end, outcome};
pub use engine_loop::{Asker, Inbox, Outside, channels, run};
pub use hints::Hints;
pub use reading::{DecisionFilter, Process, TaskFilter};

use crate::telemetry::Metrics;
use prometheus::Registry;

/// A registry with every metric of the service, for its documentation.
pub fn all_metrics() -> Registry {
    let registry = Registry::new();
    if let Err(error) = Metrics::new(&registry) {
        tracing::error!(%error, "metrics");
    }
    registry
}
