//! The loop that ties the rooms together: facts in, passes of the engine, decisions out.

mod desk;
mod engine_loop;
#[cfg(test)]
pub mod fixture;
mod hints;
mod notes;
mod reading;
mod serve;
mod vouch;
pub mod world;

pub use desk::{Desk, Kept, end, outcome};
pub use engine_loop::{Asker, Inbox, Outside, channels, run};
pub use notes::Notes;
pub use reading::{DecisionFilter, Process, TaskFilter};
pub use serve::{Reload, ServeError, serve};

use crate::telemetry::Metrics;
use crate::{shim, yarn};
use prometheus::Registry;

/// A registry with every metric of the service, for its documentation.
pub fn all_metrics() -> prometheus::Result<Registry> {
    let registry = Registry::new();
    Metrics::new(&registry)?;
    let rest = yarn::metrics::Metrics::new(&registry)?;
    shim::Metrics::new(&registry, rest.facts_refused())?;
    Ok(registry)
}
