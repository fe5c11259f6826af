//! When what the engine has learned is handed to the ledger, room by room: to copy a large one costs the engine's thread milliseconds.

use drover_core::engine::{Known, Pass, Room};
use drover_core::model::{Millis, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Of one room no more often than that: the first of those that hold copies back, which are small, the other of those that may take megabytes.
const EVERY: Millis = Millis(120_000);
const LARGE_EVERY: Millis = Millis(900_000);
/// Two rooms are so far apart.
const APART: Millis = Millis(5_000);

/// What there is to hand over.
#[derive(Debug, Default)]
pub struct Learning {
    /// Rooms that may have learned since they were handed over.
    news: BTreeSet<Room>,
    kept: BTreeMap<Room, Time>,
    /// Rooms that were gone on from, or have learned since.
    known: BTreeSet<Room>,
    last: Time,
    /// A job has ended since the last pass.
    ended: bool,
    /// Nothing is handed over: what is there could not be read, and is not to be lost for that.
    off: bool,
}

/// What was gone on from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resumed {
    /// When the newest of it was kept, the service's clock.
    pub at: Time,
    /// What it came to.
    pub known: Known,
}

fn every(room: Room) -> Millis {
    match room {
        Room::Breakers | Room::NodeRests => EVERY,
        Room::Odds | Room::Calibration | Room::Priors | Room::Shuffles => LARGE_EVERY,
    }
}

impl Learning {
    /// A job has ended: the next pass learns from it.
    pub fn ended(&mut self) {
        self.ended = true;
    }

    /// A room was gone on from.
    pub fn resumed(&mut self, room: Room) {
        self.known.insert(room);
    }

    /// Rooms of which anything is to be kept at the end.
    pub fn known(&self) -> impl Iterator<Item = Room> {
        Room::ALL.into_iter().filter(|room| self.known.contains(room))
    }

    /// What is kept of an earlier process stays as it is.
    pub fn leave_alone(&mut self) {
        self.off = true;
    }

    /// Is anything to be handed over at all?
    pub fn is_off(&self) -> bool {
        self.off
    }

    /// What may that pass have taught?
    pub fn passed(&mut self, pass: &Pass) {
        if std::mem::take(&mut self.ended) {
            self.news.extend(Room::ALL);
        }
        if !pass.errors.is_empty() {
            self.news.insert(Room::Calibration);
        }
        if !pass.copies.is_empty() {
            self.news.extend([Room::Breakers, Room::NodeRests]);
        }
        if !pass.breakers.is_empty() {
            self.news.insert(Room::Breakers);
            // A policy that only advises is not to act again because the process ends before its turn.
            self.kept.remove(&Room::Breakers);
        }
        self.known.extend(&self.news);
    }

    /// The room whose turn it is.
    pub fn next(&mut self, now: Time) -> Option<Room> {
        // A clock that was set back puts nothing off.
        let passed = |since: Time, time: Millis| now < since || now >= since + time;
        if self.off || !passed(self.last, APART) {
            return None;
        }
        let rested = |room: &Room| self.kept.get(room).is_none_or(|kept| passed(*kept, every(*room)));
        let room = Room::ALL.into_iter().find(|room| self.news.contains(room) && rested(room))?;
        self.news.remove(&room);
        self.kept.insert(room, now);
        self.last = now;
        Some(room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_room_has_its_turn_and_none_too_often_and_nothing_is_handed_over_while_nothing_is_learned() {
        let mut learning = Learning::default();
        assert_eq!(learning.next(Time(1_000_000)), None);
        let mut taken = Vec::new();
        for second in 0..1_800 {
            learning.ended();
            learning.passed(&Pass::default());
            taken.extend(learning.next(Time(1_000_000 + second * 1_000)));
        }
        let times = Room::ALL.map(|room| taken.iter().filter(|one| **one == room).count());
        assert_eq!(times, [15, 15, 2, 2, 2, 2]);
        assert_eq!(taken[..6], Room::ALL);
        (0..1_800).for_each(|second| _ = learning.next(Time(3_000_000 + second * 1_000)));
        learning.passed(&Pass::default());
        assert_eq!(learning.next(Time(9_000_000)), None);
    }

    #[test]
    fn a_breaker_is_kept_at_once_and_a_clock_set_back_puts_nothing_off() {
        let mut learning = Learning::default();
        learning.ended();
        learning.passed(&Pass::default());
        assert_eq!(learning.next(Time(1_000_000)), Some(Room::Breakers));
        let turn = drover_core::model::BreakerTurn {
            policy: "late".into(),
            user: "ann".into(),
            open: true,
            won: 0,
            copies: 25,
        };
        learning.passed(&Pass { breakers: vec![turn], ..Pass::default() });
        assert_eq!(learning.next(Time(1_004_000)), None);
        assert_eq!(learning.next(Time(1_005_000)), Some(Room::Breakers));
        learning.ended();
        learning.passed(&Pass::default());
        assert_eq!(learning.next(Time(5_000)), Some(Room::Breakers));
    }

    #[test]
    fn what_could_not_be_read_is_not_written_over() {
        let mut learning = Learning::default();
        learning.leave_alone();
        learning.ended();
        learning.passed(&Pass::default());
        assert_eq!(learning.next(Time(1_000_000)), None);
    }
}
