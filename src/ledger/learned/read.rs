//! What an earlier process had learned, read once, at the start.

use super::{digest, most};
use crate::ledger::error::LedgerError;
use crate::ledger::learned_row::LearnedRow;
use crate::ledger::open;
use crate::ledger::retain::Bounds;
use crate::ledger::schema::Record;
use crate::ledger::steps::LEARNED_SINCE;
use drover_core::engine::{LEARNED_FORMAT, Learned, Room};
use drover_core::model::{Millis, Time};
use rusqlite::{Connection, params};
use std::path::Path;

/// A clock may have been set back by so much, as by one that keeps it right: windows are an hour long.
const AHEAD: Millis = Millis(3_600_000);

/// What is there.
#[derive(Debug, Default)]
pub struct Found {
    /// What can be gone on from, with when it was kept.
    pub learned: Vec<(Time, Learned)>,
    /// Rooms of which nothing can, and why.
    pub unread: Vec<(Room, Unread)>,
}

/// Why what is kept of a room is not gone on from.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// Another build's.
    #[error("it has format {0}, kept by version {1}, and this Drover reads {LEARNED_FORMAT}")]
    Format(u32, String),
    /// Not what was written.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// More than is ever written.
    #[error("it takes {0} bytes, and ledger.max_bytes leaves {1} for it")]
    TooLarge(u64, u64),
    /// Of a time to come.
    #[error("it was kept at a time that is still to come, so the clock is wrong or was")]
    Ahead,
    /// Of long ago.
    #[error("it was kept longer than ledger.max_age ago")]
    TooOld,
}

/// A row without its state.
struct Label {
    room: String,
    format: u32,
    drover: String,
    at: Time,
    bytes: u64,
}

/// All that is kept of what was learned, as far as it can be gone on from at that time.
///
/// # Errors
/// Where the file cannot be read at all.
pub fn learned(path: &Path, bounds: Bounds, now: Time) -> Result<Found, LedgerError> {
    let (connection, version) = open::read_any(path)?;
    if version < LEARNED_SINCE {
        return Ok(Found::default());
    }
    of(&connection, bounds, now).map_err(|error| LedgerError::of(path, &error))
}

fn of(connection: &Connection, bounds: Bounds, now: Time) -> rusqlite::Result<Found> {
    // Another service may still write: all of one moment.
    let moment = connection.unchecked_transaction()?;
    let labels = labels(&moment)?;
    let mut found = Found::default();
    for room in Room::ALL {
        let mut of_room = labels.iter().filter(|label| label.room == room.label());
        let own = of_room.clone().find(|label| label.format == LEARNED_FORMAT);
        let Some(label) = own.or(of_room.next()) else { continue };
        match read(&moment, label, bounds, now) {
            Ok(learned) if learned.room() == room => found.learned.push((label.at, learned)),
            Ok(_) => found.unread.push((room, Unread::Damaged("it is another room's".into()))),
            Err(why) => found.unread.push((room, why)),
        }
    }
    Ok(found)
}

fn labels(moment: &Connection) -> rusqlite::Result<Vec<Label>> {
    let whole = |number: i64| u64::try_from(number).unwrap_or(0);
    let label = |row: &rusqlite::Row<'_>| {
        let (at, bytes, format): (i64, i64, i64) = (row.get(3)?, row.get(4)?, row.get(1)?);
        let format = u32::try_from(format).unwrap_or(u32::MAX);
        Ok(Label { room: row.get(0)?, format, drover: row.get(2)?, at: Time(whole(at)), bytes: whole(bytes) })
    };
    let ask = "SELECT room, format, drover, at_ms, octet_length(state) FROM learned ORDER BY room, format DESC";
    moment.prepare(ask)?.query_map([], label)?.collect()
}

fn read(moment: &Connection, label: &Label, bounds: Bounds, now: Time) -> Result<Learned, Unread> {
    let Label { room, format, drover, at, bytes } = label;
    if *format != LEARNED_FORMAT {
        return Err(Unread::Format(*format, drover.clone()));
    }
    // What the others know goes by no clock, or by none that is ahead.
    if *at > now + AHEAD && room == Room::Odds.label() {
        return Err(Unread::Ahead);
    }
    if now.since(*at) > bounds.max_age {
        return Err(Unread::TooOld);
    }
    if *bytes > most(bounds) {
        return Err(Unread::TooLarge(*bytes, most(bounds)));
    }
    let ask = "SELECT * FROM learned WHERE room = ? AND format = ?";
    let row = moment.query_row(ask, params![room, format], LearnedRow::read);
    let row = row.map_err(|error| Unread::Damaged(error.to_string()))?;
    if digest(&row.state) != row.digest {
        return Err(Unread::Damaged("its digest is another".into()));
    }
    serde_json::from_str(&row.state).map_err(|error| Unread::Damaged(error.to_string()))
}
