//! What the ledger lets go: rows that are too old, and the oldest where it grows too large.

use super::metrics::Metrics;
use super::schema::Table;
use super::tables::TABLES;
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

/// Rows of a table that go at once: what waits for the writer is not to wait for long.
const AT_ONCE: u32 = 2_000;
/// Pages given back at once: 4 MB, which the log takes first.
const PAGES_AT_ONCE: u32 = 1_000;
/// Of the time that rows are from, the part whose rows go where there are too many.
const PART: u64 = 20;
/// As long as nothing was kept for no longer, the time has passed for the rows, too.
const PAUSE: Millis = Millis(86_400_000);

/// What SQLite says of the file.
fn number(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))
}

/// Space that rows take.
fn taken(connection: &Connection) -> rusqlite::Result<u64> {
    let used = number(connection, "page_count")? - number(connection, "freelist_count")?;
    Ok(u64::try_from(used * number(connection, "page_size")?).unwrap_or(0))
}

/// When the first row of each table is from, in that order of time.
fn firsts(connection: &Connection, order: &str) -> rusqlite::Result<Vec<Time>> {
    let of = |table: &Table| {
        let ask = format!("SELECT at_ms FROM {} ORDER BY at_ms {order} LIMIT 1", table.name);
        let at: Option<i64> = connection.query_row(&ask, [], |row| row.get(0)).optional()?;
        Ok(at.and_then(|at| u64::try_from(at).ok()).map(Time))
    };
    TABLES.iter().filter_map(|table| of(table).transpose()).collect()
}

/// Time that makes no row older: since the newest one, where that is so long ago that the clock may as well have been set wrong.
pub fn pause(connection: &Connection, now: Time) -> rusqlite::Result<Millis> {
    let newest = firsts(connection, "DESC")?.into_iter().max();
    Ok(newest.map(|newest| now.since(newest)).filter(|pause| *pause > PAUSE).unwrap_or_default())
}

/// Lets go of some of what is too much, in one group, and gives back some of the space that nothing takes.
pub fn step(connection: &Connection, bounds: Bounds, now: Time, metrics: &Metrics) -> rusqlite::Result<()> {
    forget(connection, bounds, now, metrics)?;
    if number(connection, "freelist_count")? == 0 {
        return Ok(());
    }
    // It gives back a page a row, up to so many, and only as the rows are asked for.
    let mut give_back = connection.prepare_cached(&format!("PRAGMA incremental_vacuum({PAGES_AT_ONCE})"))?;
    let mut pages = give_back.query([])?;
    while pages.next()?.is_some() {}
    Ok(())
}

fn forget(connection: &Connection, bounds: Bounds, now: Time, metrics: &Metrics) -> rusqlite::Result<()> {
    let Some(first) = firsts(connection, "ASC")?.into_iter().min() else { return Ok(()) };
    let crowded = taken(connection)? > bounds.max_bytes.0;
    // By the rows' own times: the clock may be far from all of them.
    let newest = if crowded { firsts(connection, "DESC")?.into_iter().max() } else { None };
    let part = newest.map_or(Time(0), |newest| first + Millis(newest.since(first).0 / PART + 1));
    let before = part.max(now - bounds.max_age);
    if first >= before {
        return Ok(());
    }
    let before = i64::try_from(before.0).unwrap_or(i64::MAX);
    let group = connection.unchecked_transaction()?;
    for table in TABLES {
        let name = table.name;
        let some = format!("SELECT rowid FROM {name} WHERE at_ms < ? ORDER BY at_ms LIMIT {AT_ONCE}");
        let gone = group.execute(&format!("DELETE FROM {name} WHERE rowid IN ({some})"), [before])?;
        metrics.forgotten.with_label_values(&[name]).inc_by(gone as u64);
    }
    group.commit()
}
