//! The loop that ties the rooms together: facts in, passes of the engine, decisions out.

mod checks;
mod claims;
mod descriptors;
mod desk;
mod engine_loop;
mod epoch;
mod error;
#[cfg(test)]
pub mod fixture;
mod hints;
pub mod holds;
mod keeping;
mod kept;
mod learning;
mod left;
mod listed;
mod notes;
mod orders;
mod own;
mod reading;
mod reread;
mod restarts;
mod rival;
mod serve;
mod shims;
#[cfg(test)]
mod tests;
mod vouch;
pub mod world;

pub use checks::{avoids_nothing, checked, checked_again, forgets};
pub use desk::Desk;
pub use engine_loop::{Asker, Busy, Inbox, Outside, channels, run};
pub use error::ServeError;
pub use kept::{Asked, Kept, outcome};
pub use learning::Resumed;
pub use notes::Notes;
pub use own::Own;
pub use reading::{DecisionFilter, Process, RECENT, TaskFilter};
pub use reread::Reread;
pub use serve::{Reload, serve};
pub use shims::Shims;

use crate::telemetry::{self, Metrics};
use crate::{ledger, shim, yarn};
use prometheus::Registry;

/// A registry with every metric of the service, for its documentation.
pub fn all_metrics() -> prometheus::Result<Registry> {
    let registry = Registry::new();
    Metrics::new(&registry)?;
    registry.register(Box::new(telemetry::lost_lines()?))?;
    let rest = yarn::metrics::Metrics::new(&registry)?;
    shim::Metrics::new(&registry, rest.facts_refused())?;
    ledger::Metrics::new(&registry)?;
    Ok(registry)
}
