//! Prometheus metrics and logs.

pub mod docs;
mod lines;
mod logs;
mod metrics;

pub use logs::{LEVELS, LogError, Logs, level_fault, lost_lines};
pub use metrics::{Metrics, channel_label, encode};

use std::sync::LazyLock;

/// Version of this build.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Source revision of this build, where the build was told it.
pub const REVISION: Option<&str> = match option_env!("DROVER_REVISION") {
    Some(revision) if !revision.is_empty() => Some(revision),
    _ => None,
};

/// Version of this build, with its revision where that is known.
pub static BUILD: LazyLock<String> = LazyLock::new(|| build(VERSION, REVISION));

/// A build's version, with its revision where that is known.
pub fn build(version: &str, revision: Option<&str>) -> String {
    revision.map_or_else(|| version.to_owned(), |revision| format!("{version} ({revision})"))
}

/// What is logged meanwhile on this thread, from `info` on.
#[cfg(test)]
pub fn logged(of: impl FnOnce()) -> String {
    let lines = tempfile::NamedTempFile::new().unwrap();
    let subscriber = tracing_subscriber::fmt().with_writer(lines.reopen().unwrap()).with_ansi(false).finish();
    tracing::subscriber::with_default(subscriber, of);
    std::fs::read_to_string(lines.path()).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_that_was_told_its_revision_shows_it_and_another_nothing_in_its_place() {
        assert_eq!(build("0.1.0", Some("8d5a342b5e66")), "0.1.0 (8d5a342b5e66)");
        assert_eq!(build("0.1.0", None), "0.1.0");
    }
}
