//! The loop that ties the rooms together: facts in, passes of the engine, decisions out.

mod desk;

pub use desk::{Desk, Kept};

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
