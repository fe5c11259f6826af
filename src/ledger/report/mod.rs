//! What the ledger says: whether copies paid, reckoned from its rows alone, and so the same for whoever reads the file.

mod changes;
mod copies;
mod jobs;
#[cfg(test)]
mod tests;
mod trial;

pub use changes::{ChangeOfSettingsView, SettingView};
pub use copies::{AdviceView, CopiesView, PredictionView, RestartsView};
pub use jobs::JobsView;
pub use trial::{ChangeView, HoldOutView, PolicyView, SideView};

use super::error::LedgerError;
use super::{look, open, retain};
use drover_core::model::{Time, queue_name};
use rusqlite::{Connection, Params};
use serde::{Deserialize, Serialize};
use std::path::Path;
use utoipa::ToSchema;

/// What is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Not what is older, the service's clock.
    pub since: Time,
    /// Jobs of this queue only, by its path or the last part of it.
    pub queue: Option<String>,
    /// Jobs of this user only.
    pub user: Option<String>,
    /// What this policy did only.
    pub policy: Option<String>,
}

/// Whether copies paid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Report {
    /// From when on, Unix milliseconds.
    pub since_ms: u64,
    /// Until when, likewise.
    pub until_ms: u64,
    /// When the oldest row is from that is kept, of whatever it is: where that is later, from when on all is known. Null where nothing is kept.
    #[serde(default)]
    pub kept_since_ms: Option<u64>,
    /// Of this queue only.
    pub queue: Option<String>,
    /// Of this user only.
    pub user: Option<String>,
    /// Of this policy only.
    pub policy: Option<String>,
    /// Changes of Drover's version or its settings in that time, oldest first: numbers are of before and after together.
    #[serde(default)]
    pub changes: Vec<ChangeOfSettingsView>,
    /// How many older ones are left off.
    #[serde(default)]
    pub changes_left_off: u64,
    /// Copies and restarts that were asked for, by policy and action.
    pub copies: Vec<CopiesView>,
    /// Of these, the restarts, by policy and by how many each made of its task.
    #[serde(default)]
    pub restarts: Vec<RestartsView>,
    /// Copies and restarts that were only advised, by policy and action.
    pub advice: Vec<AdviceView>,
    /// Jobs that have ended.
    pub jobs: JobsView,
    /// Jobs held out beside those that could be acted on.
    pub holdout: HoldOutView,
    /// The same of each policy by itself, where jobs of more than one were drawn in that time; else nothing.
    #[serde(default)]
    pub holdout_by_policy: Vec<PolicyView>,
}

impl Report {
    /// What that file says, as of `now`.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn of(path: &Path, filter: &Filter, now: Time) -> Result<Report, LedgerError> {
        let connection = open::read(path)?;
        Report::read(&connection, filter, now).map_err(|error| look::blame(path, LedgerError::of(path, &error)))
    }

    fn read(connection: &Connection, filter: &Filter, now: Time) -> rusqlite::Result<Report> {
        // One moment of the file for all of it.
        let moment = connection.unchecked_transaction()?;
        let asked = &Asked { filter, until: now + retain::AHEAD };
        let (changes, changes_left_off) = changes::read(&moment, asked)?;
        let copies::Read { copies, restarts, advice } = copies::read(&moment, asked)?;
        let (holdout, holdout_by_policy) = trial::read(&moment, asked)?;
        Ok(Report {
            since_ms: filter.since.0,
            until_ms: now.0,
            kept_since_ms: retain::oldest(&moment)?.map(|oldest| oldest.0),
            queue: filter.queue.clone(),
            user: filter.user.clone(),
            policy: filter.policy.clone(),
            changes,
            changes_left_off,
            copies,
            restarts,
            advice,
            jobs: jobs::read(&moment, asked)?,
            holdout,
            holdout_by_policy,
        })
    }
}

/// The condition on a table's rows that a filter sets, with its parameters from the first on.
fn condition(table: &str) -> String {
    format!(
        "{table}.at_ms >= ?1 AND {table}.at_ms <= ?2 AND (?3 IS NULL OR {table}.user = ?3) AND (?4 IS NULL OR {table}.policy = ?4)
         AND (?5 IS NULL OR {table}.queue IN (?5, ?6) OR substr({table}.queue, -length(?5) - 1) = '.' || ?5)"
    )
}

/// What is asked for, and until when a row can have been kept: what is dated later is of a clock that was set wrong.
struct Asked<'a> {
    filter: &'a Filter,
    until: Time,
}

impl Asked<'_> {
    /// The parameters of [`condition`]. A queue is meant as [`queue_name::means`] has it.
    fn parameters(&self) -> impl Params + '_ {
        let Filter { queue, user, policy, .. } = self.filter;
        let [since, until] = self.between();
        (since, until, user, policy, queue, queue.as_deref().map(queue_name::leaf))
    }

    /// The first and the last instant that is asked for.
    fn between(&self) -> [i64; 2] {
        [self.filter.since, self.until].map(|at| i64::try_from(at.0).unwrap_or(i64::MAX))
    }
}

/// Of a second.
const MS: f64 = 1_000.0;

/// Milliseconds as seconds.
fn seconds(ms: i64) -> f64 {
    ms as f64 / MS
}
