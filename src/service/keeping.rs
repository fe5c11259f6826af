//! The ledger of a running service: begun with what an earlier process left open.

#[cfg(test)]
mod resumed;
#[cfg(test)]
mod tests;

use super::learning::Resumed;
use super::notes::Notes;
use super::{Desk, error::ServeError};
use crate::clock;
use crate::config::{Config, Loaded};
use crate::ledger::{self, Access, Bounds, Feed, Found, Ledger, LedgerError, Left, Metrics, Pace, Under};
use crate::telemetry::BUILD;
use drover_core::model::Time;
use prometheus::Registry;

/// How much is kept.
fn bounds(config: &Config) -> Bounds {
    Bounds { max_age: config.ledger.max_age, max_bytes: config.ledger.max_bytes }
}

/// Has the engine go on from what an earlier process had learned, before it is given anything. Where that cannot be read it begins with nothing.
pub fn resume(config: &Config, desk: &mut Desk, now: Time) {
    let Some(path) = &config.ledger.path else { return };
    if !config.ledger.resume_learned {
        tracing::info!("beginning with nothing learned, as ledger.resume_learned says");
        return;
    }
    let Found { learned, unread } = match ledger::learned(path, bounds(config), now) {
        Ok(found) => found,
        Err(LedgerError::Missing(_)) => return,
        Err(error) => {
            desk.learning.leave_alone();
            tracing::error!(%error, "beginning with nothing learned; what an earlier process had learned cannot be read, and is left as it is until the service starts again");
            return;
        }
    };
    for (room, why) in unread {
        tracing::warn!(room = room.label(), %why, "this part of what an earlier process had learned is not gone on from");
    }
    desk.resume(learned, now);
    match desk.resumed {
        None => tracing::info!("beginning with nothing learned: no earlier process has kept anything of it"),
        Some(Resumed { at, known }) => tracing::info!(
            tasks_behind_p = known.tasks,
            predictions = known.predictions,
            job_names = known.kinds,
            machines = known.machines,
            breakers_open = known.breakers,
            hosts_at_rest = known.rests,
            kept_s_ago = now.since(at).0 / 1_000,
            "going on from what an earlier process had learned"
        ),
    }
}

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
    notes.wait_for(&left.actions, config.act.answer_grace, clock::now());
    notes.left.take(&left);
    let ledger = Ledger::start(path, bounds(config), Pace::default(), clock::now, metrics)?;
    let access = Access::new(path, ledger.watch());
    let under = Under { version: BUILD.clone(), settings: loaded.deciding() };
    Ok((Some(Feed::new(ledger, incarnation, under, clock::now(), left)), access))
}
