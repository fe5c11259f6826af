//! What the engine has learned, from an earlier process and for the next.

use super::super::learning::Resumed;
use super::Desk;
use drover_core::engine::Learned;
use drover_core::model::{BreakerTurn, OpenBreaker, Time};

impl Desk {
    /// Hands over what one room has learned, where it is its turn.
    pub fn keep_learned(&mut self, now: Time) {
        if let Some(ledger) = &self.ledger
            && let Some(room) = self.learning.next(now)
        {
            ledger.learned(now, self.engine.learned(room));
        }
    }

    /// Hands over what rooms have learned, at the end. One that has begun with nothing and learned nothing takes no other's place: a clock that was wrong, say, may be mended by the next start.
    pub(super) fn keep_all_learned(&mut self, now: Time) {
        let Some(ledger) = self.ledger.as_ref().filter(|_| !self.learning.is_off()) else { return };
        self.learning.known().for_each(|room| ledger.learned(now, self.engine.learned(room)));
    }

    /// A breaker was open when an earlier process ended: that is told again, and taken back when it closes.
    fn still_open(&self, open: &OpenBreaker) {
        let BreakerTurn { policy, user, won, copies, .. } = &open.told;
        self.metrics.breaker.with_label_values(&[policy.as_str()]).inc();
        tracing::warn!(
            policy,
            user,
            won,
            copies,
            "copies kept losing before this start, so this policy goes on only advising on the user's jobs for a while, and Hadoop's own speculator has them"
        );
    }

    /// How many breakers of a policy the metrics show to be open.
    #[cfg(test)]
    pub fn breakers_shown(&self, policy: &str) -> i64 {
        self.metrics.breaker.with_label_values(&[policy]).get()
    }

    /// Goes on from that, before the engine is given anything else: a recording's first segment is to begin with it.
    pub fn resume(&mut self, learned: Vec<(Time, Learned)>, now: Time) {
        let newest = learned.iter().map(|(at, _)| *at).max();
        for (_, learned) in learned {
            if let Learned::Breakers(breakers) = &learned {
                breakers.open().iter().for_each(|open| self.still_open(open));
            }
            self.learning.resumed(learned.room());
            self.engine.resume(learned, now);
        }
        self.resumed = newest.map(|at| Resumed { at, known: self.engine.known() });
    }
}
