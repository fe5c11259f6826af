//! What the ledger lets go: rows that are too old, and the oldest where it grows too large.

use super::metrics::Metrics;
use super::schema::{Record, Table};
use super::tables::{SettingsRow, TABLES};
use drover_core::model::{Bytes, Millis, Time};
use rusqlite::{Connection, OptionalExtension};

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Rows older than this go.
    pub max_age: Millis,
    /// Space that rows may take; the oldest go first.
    pub max_bytes: Bytes,
}

/// Rows of a table that go at once: what waits for the writer is not to wait for long. Of those of one instant all do.
const AT_ONCE: u32 = 2_000;
/// Pages given back at once: 4 MB, which the log takes first.
const PAGES_AT_ONCE: u32 = 1_000;
/// Of the time that rows are from, the part whose rows go where there are too many.
const PART: u64 = 20;
/// As long as nothing was kept for no longer, the time has passed for the rows, too.
const PAUSE: Millis = Millis(86_400_000);
/// Rows that are further ahead of the service's clock are of one that was set wrong, then or now.
pub const AHEAD: Millis = Millis(86_400_000);

/// What SQLite says of the file.
fn number(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))
}

/// Space that rows take.
fn taken(connection: &Connection) -> rusqlite::Result<u64> {
    let used = number(connection, "page_count")? - number(connection, "freelist_count")?;
    Ok(u64::try_from(used * number(connection, "page_size")?).unwrap_or(0))
}

/// When a row of a table is from: the one at that place among those of a time, in an order of time.
fn time_in(table: &Table, connection: &Connection, place: &str, until: Time) -> rusqlite::Result<Option<Time>> {
    let until = i64::try_from(until.0).unwrap_or(i64::MAX);
    let ask = format!("SELECT at_ms FROM {} WHERE at_ms <= ? ORDER BY at_ms {place}", table.name);
    let at: Option<i64> = connection.query_row(&ask, [until], |row| row.get(0)).optional()?;
    Ok(at.and_then(|at| u64::try_from(at).ok()).map(Time))
}

/// The same of each table.
fn times(connection: &Connection, place: &str, until: Time) -> rusqlite::Result<Vec<Time>> {
    TABLES.iter().filter_map(|table| time_in(table, connection, place, until).transpose()).collect()
}

/// When the oldest row of any table is from.
pub fn oldest(connection: &Connection) -> rusqlite::Result<Option<Time>> {
    Ok(times(connection, "LIMIT 1", Time(u64::MAX))?.into_iter().min())
}

/// The same of the newest, but of those that only a clock set wrong can have dated.
fn newest(connection: &Connection, now: Time) -> rusqlite::Result<Option<Time>> {
    // A start writes down what it runs under: by that the next one is not to take the clock for right.
    let told = TABLES.iter().filter(|table| table.name != SettingsRow::TABLE.name);
    told.map(|table| time_in(table, connection, "DESC LIMIT 1", now + AHEAD))
        .try_fold(None, |newest, at| Ok(newest.max(at?)))
}

/// Time that makes no row older: since the newest one, where that is so long ago that the clock may as well have been set wrong.
pub fn pause(connection: &Connection, now: Time) -> rusqlite::Result<Millis> {
    let newest = newest(connection, now)?;
    Ok(newest.map(|newest| now.since(newest)).filter(|pause| *pause > PAUSE).unwrap_or_default())
}

/// Lets go of some of what is too much, in one group, and gives back some of the space that nothing takes.
pub fn step(
    connection: &Connection,
    bounds: Bounds,
    clock: Time,
    pause: Millis,
    metrics: &Metrics,
) -> rusqlite::Result<()> {
    if let Some(before) = bound(connection, bounds, clock, pause)? {
        forget(connection, before, metrics)?;
    }
    if number(connection, "freelist_count")? == 0 {
        return Ok(());
    }
    // It gives back a page a row, up to so many, and only as the rows are asked for.
    let mut give_back = connection.prepare_cached(&format!("PRAGMA incremental_vacuum({PAGES_AT_ONCE})"))?;
    let mut pages = give_back.query([])?;
    while pages.next()?.is_some() {}
    Ok(())
}

/// Rows from before it are to go now; `None` where none are.
fn bound(connection: &Connection, bounds: Bounds, clock: Time, pause: Millis) -> rusqlite::Result<Option<Time>> {
    let Some(first) = oldest(connection)? else { return Ok(None) };
    let crowded = taken(connection)? > bounds.max_bytes.0;
    let part = if crowded { first + Millis(span(connection, first, clock)?.0 / PART + 1) } else { Time(0) };
    let before = part.max(clock - pause - bounds.max_age);
    if first >= before {
        return Ok(None);
    }
    let enough = times(connection, &format!("LIMIT 1 OFFSET {}", AT_ONCE - 1), before)?.into_iter().min();
    Ok(Some(enough.map_or(before, |enough| before.min(enough + Millis(1)))))
}

/// Time that rows are from, by their own times and the clock that dates them now. Where all are ahead of that it is set back, and they are all that there is to go by.
fn span(connection: &Connection, first: Time, clock: Time) -> rusqlite::Result<Millis> {
    let newest = match newest(connection, clock)? {
        None => times(connection, "DESC LIMIT 1", Time(u64::MAX))?.into_iter().max(),
        newest => newest,
    };
    Ok(newest.map(|newest| newest.since(first)).unwrap_or_default())
}

/// Rows go by one instant for all tables: what became of a decision outlasts it, and a job's end its enrolment.
fn forget(connection: &Connection, before: Time, metrics: &Metrics) -> rusqlite::Result<()> {
    let before = i64::try_from(before.0).unwrap_or(i64::MAX);
    let group = connection.unchecked_transaction()?;
    for Table { name, .. } in TABLES {
        let gone = group.execute(&format!("DELETE FROM {name} WHERE at_ms < ?"), [before])?;
        metrics.forgotten.with_label_values(&[name]).inc_by(gone as u64);
    }
    group.commit()
}

#[cfg(test)]
mod tests;
