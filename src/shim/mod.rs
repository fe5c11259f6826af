//! The protocol with the Java shim: sessions, trust, exchange. No decisions.
//!
//! `server` (HTTP) → `desk` (one exchange) → `wire` (what was said) → `proofs`, `case` and `look` (is it believed) → `table` and `session` (what is held) → `facts`
//! (what it means), which leave as observations. `acting` answers with what the engine wants done: leases, and the actions in each session's `outbox`.

mod acting;
mod answers;
mod batch;
mod body;
mod can;
mod case;
mod complaints;
mod desk;
mod facts;
#[cfg(test)]
pub mod fixture;
mod lists;
mod look;
pub mod mac;
mod metrics;
mod outbox;
mod pace;
mod params;
mod proofs;
mod reply;
mod server;
mod session;
mod settings;
mod table;
mod ticks;
mod told;
mod trust;
mod unsent;
mod values;
mod wire;

#[cfg(test)]
mod tests;

pub use batch::{Batch, Late};
pub use metrics::Metrics;
pub use outbox::action_id;
pub use params::{ActParams, Identity, ProofParams, ShimParams};
pub use server::Shim;
pub use table::SessionView;
pub use trust::{AppLife, AppVouch, Vouch, VouchError};
pub use values::Key;

use drover_core::model::Job;

/// The class that an ApplicationMaster loads.
pub const CLASS: &str = "io.drover.shim.DroverSpeculator";

/// Does a job's ApplicationMaster load it, by its settings, be it heard or not?
pub fn is_loaded(job: &Job) -> bool {
    job.settings.as_ref().and_then(|settings| settings.speculator.as_deref()) == Some(CLASS)
}
