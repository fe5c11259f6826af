//! What the engine has learned over jobs: one row for each of its rooms, which the next start goes on from.

mod read;
#[cfg(test)]
mod tests;

use super::error::LedgerError;
use super::learned_row::LearnedRow;
use super::retain::Bounds;
use super::store::Store;
use crate::telemetry::VERSION;
use drover_core::engine::{LEARNED_FORMAT, Learned, Room};
use drover_core::model::{Millis, Time};
pub use read::{Found, learned};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// A room takes no more, however large the ledger may be: up to two thousand bytes for each of 20,000 machines, or fifteen thousand for each of 2,048 kinds of jobs.
const ROOM_MAX: u64 = 64 << 20;
/// All rooms together leave most of what the ledger may take to its rows.
const PART: u64 = 16;
/// What has not changed is dated anew after that.
const STANDS: Millis = Millis(3_600_000);

/// Space that the state of one room may take, bytes.
fn most(bounds: Bounds) -> u64 {
    ROOM_MAX.min(bounds.max_bytes.0 / PART)
}

/// SHA-256 as it is kept.
fn digest(state: &str) -> String {
    hex::encode(Sha256::digest(state.as_bytes()))
}

/// What waits for the writer: of each room the newest, so that a disk that hangs costs no more memory than one of each.
#[derive(Default)]
pub struct Slot(Mutex<BTreeMap<Room, (Time, Learned)>>);

impl Slot {
    /// In the place of what waits of that room.
    pub fn put(&self, at: Time, learned: Learned) {
        let before = self.lock().insert(learned.room(), (at, learned));
        // Let go without the lock: it may be large.
        drop(before);
    }

    /// Back again, unless there is a newer one by now.
    fn put_back(&self, at: Time, learned: Learned) {
        self.lock().entry(learned.room()).or_insert((at, learned));
    }

    fn take(&self) -> BTreeMap<Room, (Time, Learned)> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Room, (Time, Learned)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The writer's part: it makes text of what waits, and writes what is news.
pub struct Shelf {
    most: u64,
    /// What the file has of each room by this process, as a digest, and when that was.
    written: BTreeMap<Room, (String, Time)>,
    /// Rooms that are known to be too large.
    large: BTreeSet<Room>,
}

impl Shelf {
    /// Nothing is written yet.
    pub fn new(bounds: Bounds) -> Shelf {
        Shelf { most: most(bounds), written: BTreeMap::new(), large: BTreeSet::new() }
    }

    /// The file is another, or may be.
    pub fn forget(&mut self) {
        self.written.clear();
    }

    /// Writes what waits. What cannot be written now waits on, where nothing newer does.
    ///
    /// # Errors
    /// The file's, which then has what it had.
    pub fn keep(&mut self, slot: &Slot, store: &mut Store) -> Result<(), LedgerError> {
        let mut waits = slot.take().into_iter();
        for (room, (at, learned)) in waits.by_ref() {
            let done = match self.row(room, at, &learned) {
                Kept::Row(row) => store.replace(&row).map(|()| _ = self.written.insert(room, (row.digest, at))),
                Kept::TooLarge => store.let_go(room.label(), LEARNED_FORMAT, self.most),
                Kept::Already => Ok(()),
            };
            if let Err(error) = done {
                slot.put_back(at, learned);
                waits.for_each(|(_, (at, learned))| slot.put_back(at, learned));
                return Err(error);
            }
        }
        Ok(())
    }

    /// What is to be done about a room.
    fn row(&mut self, room: Room, at: Time, learned: &Learned) -> Kept {
        let state = match serde_json::to_string(learned) {
            Ok(state) => state,
            Err(error) => {
                tracing::error!(room = room.label(), %error, "what was learned cannot be kept");
                return Kept::Already;
            }
        };
        let bytes = state.len() as u64;
        if bytes > self.most {
            if self.large.insert(room) {
                let (room, most) = (room.label(), self.most);
                tracing::warn!(
                    room,
                    bytes,
                    most,
                    "what was learned is too large to be kept; what was kept before stays, where it is not"
                );
            }
            return Kept::TooLarge;
        }
        self.large.remove(&room);
        let digest = digest(&state);
        let stands = |(before, since): &(String, Time)| *before == digest && at.since(*since) < STANDS;
        if self.written.get(&room).is_some_and(stands) {
            return Kept::Already;
        }
        let (format, drover) = (LEARNED_FORMAT, VERSION.to_owned());
        Kept::Row(LearnedRow { at_ms: at, room: room.label().to_owned(), format, drover, digest, state })
    }
}

/// What is to be done about a room.
enum Kept {
    /// This is to be written.
    Row(LearnedRow),
    /// It may not be written, nor read where it has been.
    TooLarge,
    /// The file has it, or nobody can.
    Already,
}
