//! Logs: set up once, level changed while running.

use super::lines::Lines;
use prometheus::IntCounter;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use tracing_subscriber::{EnvFilter, Registry, fmt, layer::SubscriberExt, reload, util::SubscriberInitExt};

/// What may be logged.
pub const LEVELS: &str = "error, warn, info, debug, trace, or a filter such as info,drover::yarn=debug";

/// The running logs. Their end waits until they are written, for a second at most.
pub struct Logs {
    filter: reload::Handle<EnvFilter, Registry>,
    lines: Lines,
    lost: IntCounter,
}

impl Drop for Logs {
    fn drop(&mut self) {
        self.lines.flush();
    }
}

/// The metric of what is lost of the log.
pub fn lost_lines() -> prometheus::Result<IntCounter> {
    IntCounter::new(
        "drover_log_lines_lost_total",
        "Lines of the log that are lost, as whoever reads standard error did not take them in time.",
    )
}

/// Logs that cannot be set up as asked.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The level is no filter.
    #[error("log.level: {0}; allowed: {allowed}", allowed = LEVELS)]
    Level(String),
    /// Something else in this process set up logs before.
    #[error("logs are set up already")]
    Twice,
    /// The system has no thread for them.
    #[error("logs cannot be written: {0}")]
    System(#[from] io::Error),
    /// What is lost of them cannot be counted.
    #[error("metrics: {0}")]
    Metrics(#[from] prometheus::Error),
}

impl Logs {
    /// Starts logging to standard error.
    pub fn start(level: &str, format: &str) -> Result<Logs, LogError> {
        let (filter, handle) = reload::Layer::new(parse(level)?);
        let registry = tracing_subscriber::registry().with(filter);
        let colours = io::stderr().is_terminal();
        let lost = lost_lines()?;
        // Of its own: what waits in a write to the shared one keeps all others from it.
        let out = File::from(io::stderr().as_fd().try_clone_to_owned()?);
        let lines = Lines::start(out, lost.clone())?;
        let started = if format == "json" {
            registry.with(fmt::layer().json().flatten_event(true).with_writer(lines.clone())).try_init()
        } else {
            registry.with(fmt::layer().with_ansi(colours).with_writer(lines.clone())).try_init()
        };
        started.map(|()| Logs { filter: handle, lines, lost }).map_err(|_| LogError::Twice)
    }

    /// Counts what is lost of them.
    pub fn lost(&self) -> IntCounter {
        self.lost.clone()
    }

    /// Changes what is logged.
    pub fn set_level(&self, level: &str) -> Result<(), LogError> {
        let filter = parse(level)?;
        self.filter.reload(filter).map_err(|_| LogError::Twice)
    }
}

fn parse(level: &str) -> Result<EnvFilter, LogError> {
    // The library takes a word that is no level for the name of a module, and is silent about all others.
    let is_level = |word: &str| word.eq_ignore_ascii_case("off") || word.parse::<tracing::Level>().is_ok();
    let mut parts = level.split(',').map(str::trim).filter(|part| !part.is_empty()).peekable();
    if parts.peek().is_none() {
        return Err(LogError::Level("it is empty, which is no log level".into()));
    }
    let odd = parts.find(|part| !part.contains(['=', '[']) && !is_level(part));
    if let Some(odd) = odd {
        return Err(LogError::Level(format!("\"{odd}\" is no log level")));
    }
    EnvFilter::try_new(level).map_err(|error| LogError::Level(format!("\"{level}\" is no log level ({error})")))
}

/// What is wrong with a level, if anything is.
pub fn level_fault(level: &str) -> Option<String> {
    match parse(level) {
        Err(LogError::Level(what)) => Some(what),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_that_is_no_filter_is_refused_by_its_key() {
        for level in ["info,drover::yarn=debug", "WARN", "off", "error,drover=info", "info,"] {
            assert!(parse(level).is_ok(), "{level}");
        }
        for typo in ["warnign", "", "info,drover", "warn, infoo"] {
            assert!(parse(typo).unwrap_err().to_string().contains("is no log level"), "{typo}");
        }
        let text = parse("drover=loud").unwrap_err().to_string();
        assert!(text.starts_with("log.level: \"drover=loud\"") && text.contains("allowed"), "{text}");
    }
}
