//! Jobs that have ended.

use super::{Asked, MS, condition};
use drover_core::model::JobPhase;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Jobs that have ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobsView {
    /// All.
    pub ended: u64,
    /// Of these, the ones that succeeded.
    pub succeeded: u64,
    /// The ones of whose tasks some had a copy or restart asked for.
    pub acted_on: u64,
    /// The ones in which one of these won.
    pub with_wins: u64,
    /// Time of those that succeeded, start to end, summed.
    pub job_seconds: f64,
    /// By how much the critical paths of those that succeeded were shorter for the copies that won, summed: at most, as for each job its two phases' gains are added.
    pub gained_seconds: f64,
}

/// Those of a filter.
pub fn read(connection: &Connection, asked: &Asked<'_>) -> rusqlite::Result<JobsView> {
    let succeeded = JobPhase::Succeeded.label();
    let ask = format!(
        "SELECT count(*), count(*) FILTER (WHERE j.state = '{succeeded}'), count(*) FILTER (WHERE j.decided > 0), count(*) FILTER (WHERE j.won > 0),
         total(j.took_ms) FILTER (WHERE j.state = '{succeeded}'), total(j.map_gain_ms) + total(j.reduce_gain_ms) FROM jobs j WHERE {}",
        condition("j")
    );
    connection.query_row(&ask, asked.parameters(), |row| {
        let count = |at| row.get::<_, u32>(at).map(u64::from);
        Ok(JobsView {
            ended: count(0)?,
            succeeded: count(1)?,
            acted_on: count(2)?,
            with_wins: count(3)?,
            // Reals, as sum() fails where whole numbers grow too large.
            job_seconds: row.get::<_, f64>(4)? / MS,
            gained_seconds: row.get::<_, f64>(5)? / MS,
        })
    })
}
