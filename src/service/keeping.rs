//! The ledger of a running service: begun with what an earlier process left open.

#[cfg(test)]
mod tests;

use super::error::ServeError;
use super::notes::Notes;
use crate::clock;
use crate::config::Loaded;
use crate::ledger::{self, Access, Bounds, Feed, Ledger, LedgerError, Left, Metrics, Pace, Under};
use crate::telemetry::BUILD;
use prometheus::Registry;

/// Begins it where one is to be kept. What cannot be written or read is told of, and the service goes on without it.
pub fn begin(
    loaded: &Loaded,
    incarnation: &str,
    notes: &Notes,
    registry: &Registry,
) -> Result<(Option<Feed>, Access), ServeError> {
    let config = &loaded.config;
    let Some(path) = &config.ledger.path else { return Ok((None, Access::default())) };
    // Not without one: that it keeps nothing would be an alert.
    let metrics = Metrics::new(registry)?;
    let bounds = Bounds { max_age: config.ledger.max_age, max_bytes: config.ledger.max_bytes };
    // A ledger that cannot be written, its disk being full, may well be read, and before it has been looked through.
    let left = ledger::left(path, clock::now()).unwrap_or_else(|error| {
        if !matches!(error, LedgerError::Missing(_)) {
            tracing::error!(%error, "what an earlier process asked for is not known");
        }
        Left::default()
    });
    if !left.is_settled() {
        tracing::info!(
            actions = left.actions.len(),
            jobs = left.jobs.len(),
            "an earlier process left actions without an end, or jobs; what runs will tell, and history of what does not"
        );
    }
    notes.wait_for(&left.actions, config.act.answer_grace);
    notes.left.take(&left);
    let ledger = Ledger::start(path, bounds, Pace::default(), clock::now, metrics)?;
    let access = Access::new(path, ledger.watch());
    let under = Under { version: BUILD.clone(), settings: loaded.deciding() };
    Ok((Some(Feed::new(ledger, incarnation, under, clock::now(), left)), access))
}
