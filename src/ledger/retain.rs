//! What the ledger lets go: rows that are too old, and the oldest where it grows too large.

use super::metrics::Metrics;
use super::schema::{Record, Table};
use super::tables::{SettingsRow, TABLES};
use drover_core::model::{Bytes, Millis, Time};
use rusqlite::{Connection, OptionalExtension};
use std::ops::RangeInclusive;

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
/// Where rows take too much space, the oldest go: those of the first of so many equal parts of the time that all of them span.
const PART: u64 = 20;
/// A newest row that is older than this may be one because the clock was set wrong; the service need not have been stopped for so long. See [`pause`].
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

/// Of whatever time.
const EVER: RangeInclusive<Time> = Time(0)..=Time(u64::MAX);

/// Those of its times that only a clock set wrong can have dated, and the others.
fn ahead_of(clock: Time) -> [RangeInclusive<Time>; 2] {
    let until = clock + AHEAD;
    [until + Millis(1)..=Time(u64::MAX), Time(0)..=until]
}

fn kept(at: Time) -> i64 {
    i64::try_from(at.0).unwrap_or(i64::MAX)
}

/// When a row of a table is from: the one at that place among those of a time, in an order of time.
fn time_in(
    table: &Table,
    connection: &Connection,
    place: &str,
    of: &RangeInclusive<Time>,
) -> rusqlite::Result<Option<Time>> {
    let ask = format!("SELECT at_ms FROM {} WHERE at_ms BETWEEN ? AND ? ORDER BY at_ms {place}", table.name);
    let bounds = [kept(*of.start()), kept(*of.end())];
    let at: Option<i64> = connection.query_row(&ask, bounds, |row| row.get(0)).optional()?;
    Ok(at.and_then(|at| u64::try_from(at).ok()).map(Time))
}

/// The same of each table.
fn times(connection: &Connection, place: &str, of: &RangeInclusive<Time>) -> rusqlite::Result<Vec<Time>> {
    TABLES.iter().filter_map(|table| time_in(table, connection, place, of).transpose()).collect()
}

/// When the oldest row of any table is from.
pub fn oldest(connection: &Connection) -> rusqlite::Result<Option<Time>> {
    first(connection, &EVER)
}

/// The same of those of a time.
fn first(connection: &Connection, of: &RangeInclusive<Time>) -> rusqlite::Result<Option<Time>> {
    Ok(times(connection, "LIMIT 1", of)?.into_iter().min())
}

/// The same of the newest, but of those that only a clock set wrong can have dated.
fn newest(connection: &Connection, now: Time) -> rusqlite::Result<Option<Time>> {
    // A start writes down what it runs under: by that the next one is not to take the clock for right.
    let told = TABLES.iter().filter(|table| table.name != SettingsRow::TABLE.name);
    let [_, rightly] = ahead_of(now);
    told.map(|table| time_in(table, connection, "DESC LIMIT 1", &rightly))
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
    let ahead = bound_ahead(connection, bounds, clock)?;
    if let Some(before) = bound(connection, bounds, clock, pause)? {
        forget(connection, Time(0)..=before - Millis(1), metrics)?;
    }
    if let Some(gone) = ahead {
        forget(connection, gone, metrics)?;
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
    let part = if is_crowded(connection, bounds)? { part(first, span(connection, first, clock)?) } else { Time(0) };
    let before = part.max(clock - pause - bounds.max_age);
    if first >= before {
        return Ok(None);
    }
    Ok(Some(at_once(connection, &(Time(0)..=before))?.map_or(before, |enough| before.min(enough + Millis(1)))))
}

/// Where there are too many rows, those from the future go part by part, too: nobody knows whether the clock is wrong or was, and neither they nor the others are to be all that stays.
fn bound_ahead(connection: &Connection, bounds: Bounds, clock: Time) -> rusqlite::Result<Option<RangeInclusive<Time>>> {
    let [ahead, others] = ahead_of(clock);
    if !is_crowded(connection, bounds)? || first(connection, &others)?.is_none() {
        return Ok(None);
    }
    let newest = times(connection, "DESC LIMIT 1", &ahead)?.into_iter().max();
    let Some((first, newest)) = first(connection, &ahead)?.zip(newest) else { return Ok(None) };
    let before = part(first, newest.since(first)) - Millis(1);
    Ok(Some(first..=at_once(connection, &(first..=before))?.unwrap_or(before)))
}

fn is_crowded(connection: &Connection, bounds: Bounds) -> rusqlite::Result<bool> {
    Ok(taken(connection)? > bounds.max_bytes.0)
}

/// Where the first part of that time ends.
fn part(first: Time, span: Millis) -> Time {
    first + Millis(span.0 / PART + 1)
}

/// As many of a time as go at once are from then or before; `None` where there are fewer in all.
fn at_once(connection: &Connection, of: &RangeInclusive<Time>) -> rusqlite::Result<Option<Time>> {
    Ok(times(connection, &format!("LIMIT 1 OFFSET {}", AT_ONCE - 1), of)?.into_iter().min())
}

/// Time that rows are from, by their own times and the clock that dates them now. Where all are ahead of that it is set back, and they are all that there is to go by.
fn span(connection: &Connection, first: Time, clock: Time) -> rusqlite::Result<Millis> {
    let newest = match newest(connection, clock)? {
        None => times(connection, "DESC LIMIT 1", &EVER)?.into_iter().max(),
        newest => newest,
    };
    Ok(newest.map(|newest| newest.since(first)).unwrap_or_default())
}

/// Rows go by one instant for all tables: what became of a decision outlasts it, and a job's end its enrolment.
fn forget(connection: &Connection, of: RangeInclusive<Time>, metrics: &Metrics) -> rusqlite::Result<()> {
    let bounds = [kept(*of.start()), kept(*of.end())];
    let group = connection.unchecked_transaction()?;
    for Table { name, .. } in TABLES {
        let gone = group.execute(&format!("DELETE FROM {name} WHERE at_ms BETWEEN ? AND ?"), bounds)?;
        metrics.forgotten.with_label_values(&[name]).inc_by(gone as u64);
    }
    group.commit()
}

#[cfg(test)]
mod tests;
