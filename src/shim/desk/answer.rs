//! What an exchange is answered, and when the next is to come.

use super::Desk;
use crate::shim::acting::Grant;
use crate::shim::pace::{self, Haste, Load};
use crate::shim::reply::{Launcher, Reply};
use crate::shim::session::{Now, Session, Turn};
use crate::shim::wire::{PROTOCOL, Request};

impl Desk {
    /// The answer to a session that is not believed yet.
    pub(super) fn pending(&self, request: &Request<'_>) -> Reply {
        Reply {
            protocol: PROTOCOL,
            seq: request.seq,
            epoch: self.identity.epoch,
            incarnation: self.identity.incarnation.clone(),
            accepted: false,
            reason: Some("proof_pending"),
            ack: 0,
            snapshot: false,
            next_exchange_ms: pace::next_look_ms(self.proofs.count()),
            news_exchange_ms: None,
            news_of_starts: false,
            launcher: Launcher::Native,
            fetch_failures: false,
            lease_ms: 0,
            actions: Vec::new(),
        }
    }

    /// The answer to one that is.
    pub(super) fn believed(&self, request: &Request<'_>, session: &Session, grant: Grant, turn: Turn) -> Reply {
        let mut reply = Reply {
            accepted: true,
            reason: None,
            ack: session.ack,
            snapshot: turn == Turn::Snapshot,
            next_exchange_ms: session.pace_ms,
            fetch_failures: self.params.act.rerun,
            ..self.pending(request)
        };
        self.write(grant, session, &mut reply);
        reply
    }

    /// A lease with actions, or neither.
    pub(super) fn write(&self, grant: Grant, session: &Session, reply: &mut Reply) {
        let leased = grant.lease_ms > 0;
        reply.launcher = if leased { Launcher::Drover } else { Launcher::Native };
        reply.news_exchange_ms = leased.then(|| self.pace(Haste::Waiting));
        reply.news_of_starts = leased && self.acting.awaits_starts(session.profile.job());
        reply.lease_ms = grant.lease_ms;
        reply.actions = grant.actions;
    }

    /// The pace of the moment, milliseconds.
    pub fn pace_ms(&self) -> u32 {
        self.pace(Haste::Usual)
    }

    pub(super) fn pace_of(&self, session: &Session, now: Now) -> u32 {
        self.pace(match self.acting.owns(session, now) {
            true if session.outbox.is_waiting(now.wall) => Haste::Waiting,
            true => Haste::Owned,
            false => Haste::Usual,
        })
    }

    fn pace(&self, haste: Haste) -> u32 {
        let backlog = 1.0 - self.out.capacity() as f64 / self.out.max_capacity().max(1) as f64;
        let load = Load { sessions: self.table.count(), rows_per_s: self.rows.per_s(), backlog };
        pace::next_exchange_ms(&self.params, load, haste)
    }
}
