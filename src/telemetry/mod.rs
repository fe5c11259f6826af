//! Prometheus metrics and logs.

pub mod docs;
mod logs;
mod metrics;

pub use logs::{LEVELS, LogError, Logs, level_fault};
pub use metrics::{Metrics, channel_label, encode};

/// Version of this build.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Source revision of this build, where the build was told it.
pub const REVISION: &str = match option_env!("DROVER_REVISION") {
    Some(revision) => revision,
    None => "unknown",
};
