//! Why a service does not start or ends, and why it does not do what it is asked.

use super::holds::HoldsError;
use super::world::WorldError;
use crate::api::listen::ListenError;
use crate::history::LogEnd;
use std::path::PathBuf;

/// Why the service does not start, or ended by itself.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The cluster cannot be looked for.
    #[error(transparent)]
    World(#[from] WorldError),
    /// A port.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The recording.
    #[error("record.dir: cannot record: {0}; choose another directory, or leave record.dir out")]
    Record(#[from] LogEnd),
    /// Another service has what this one would write to.
    #[error("{0}: {1} is locked by another Drover that runs; end that one, or give this one a place of its own")]
    Taken(&'static str, PathBuf),
    /// The operators' holds.
    #[error(transparent)]
    Holds(#[from] HoldsError),
    /// They could not be kept.
    #[error(
        "state.dir: {0}: {1}; Drover does not act where it could not keep what operators hold. Name a directory that it may write to"
    )]
    HoldsUnkept(PathBuf, std::io::Error),
    /// A metric twice.
    #[error("metrics: {0}")]
    Metrics(#[from] prometheus::Error),
    /// The system.
    #[error("{0}")]
    System(#[from] std::io::Error),
    /// A part ended that should not have.
    #[error("{0} ended by itself; see the log above")]
    Ended(&'static str),
}
