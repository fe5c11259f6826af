//! What the engine has learned, from an earlier process and for the next.

use super::super::learning::Resumed;
use super::Desk;
use drover_core::engine::{Learned, Room};
use drover_core::model::Time;

impl Desk {
    /// Hands over what one room has learned, where it is its turn.
    pub fn keep_learned(&mut self, now: Time) {
        if let Some(ledger) = &self.ledger
            && let Some(room) = self.learning.next(now)
        {
            ledger.learned(now, self.engine.learned(room));
        }
    }

    /// Hands over what all rooms have learned, at the end.
    pub(super) fn keep_all_learned(&mut self, now: Time) {
        let Some(ledger) = self.ledger.as_ref().filter(|_| !self.learning.is_off()) else { return };
        Room::ALL.into_iter().for_each(|room| ledger.learned(now, self.engine.learned(room)));
    }

    /// Goes on from that, before the engine is given anything else: a recording's first segment is to begin with it.
    pub fn resume(&mut self, learned: Vec<(Time, Learned)>, now: Time) {
        let newest = learned.iter().map(|(at, _)| *at).max();
        learned.into_iter().for_each(|(_, learned)| self.engine.resume(learned, now));
        self.resumed = newest.map(|at| Resumed { at, known: self.engine.known() });
    }
}
