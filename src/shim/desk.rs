//! One exchange from its body to its answer. Nothing here waits: what needs the cluster's word is answered `202` and looked into beside.

mod answer;
mod keeping;

use super::acting::{Acting, Grant};
use super::batch::{Batch, Waits};
use super::case::Standing;
use super::facts;
use super::mac;
use super::metrics::Metrics;
use super::outbox::Order;
use super::pace::RowRate;
use super::params::{Identity, ShimParams};
use super::proofs::Proofs;
use super::reply::{Refusal, Reply, Why};
use super::session::{Now, Profile, Session, Turn};
use super::settings;
use super::table::{Seat, Table, superseded};
use super::told::Told;
use super::trust::{Claim, Vouch, Vouched};
use super::unsent::Unsent;
use super::values::Key;
use super::wire::{self, Hello, Request};
use crate::yarn::facts::Reason;
use drover_core::model::{JobId, Mode, Time};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use subtle::ConstantTimeEq;
use tokio::sync::mpsc::{Permit, Sender};
use tokio::sync::oneshot;

/// Takes exchanges, keeps sessions, passes facts on.
pub struct Desk {
    /// Limits and pace.
    pub params: ShimParams,
    identity: Identity,
    /// All sessions.
    pub table: Table,
    proofs: Arc<Proofs>,
    out: Sender<Batch>,
    /// Rows in what was sent there and is not taken yet.
    pub(super) waiting: Arc<AtomicUsize>,
    /// Sequence of the next observation: one count for all sessions, so that it grows within each source whoever speaks for it.
    next: AtomicU64,
    rows: RowRate,
    /// Leases and actions.
    pub acting: Acting,
    /// What is counted.
    pub metrics: Metrics,
}

/// An answer that is not a refusal, and the key that authenticates it.
pub struct Answer {
    /// What to say.
    pub reply: Reply,
    /// With which key to sign it.
    pub key: Key,
    /// Orders that may still be added to it.
    pub awaits: Option<Awaits>,
}

/// What an answer may wait for.
pub struct Awaits {
    /// The session's.
    pub seat: Arc<Seat>,
    /// Told once the engine has decided on what the request told.
    pub decided: oneshot::Receiver<()>,
}

/// Where a request came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// This machine.
    Loopback,
    /// The network.
    Network,
}

impl Desk {
    /// A desk without sessions.
    pub fn new(
        params: ShimParams,
        identity: Identity,
        vouch: Arc<dyn Vouch>,
        out: Sender<Batch>,
        metrics: Metrics,
    ) -> Desk {
        let proofs = Proofs::new(vouch, params.proofs.clone(), metrics.clone());
        let next = AtomicU64::new(1);
        let (table, rows, waiting) = (Table::default(), RowRate::default(), Arc::default());
        let acting = Acting::new(params.act.clone(), identity.clone(), metrics.clone());
        Desk { params, identity, table, proofs, out, waiting, next, rows, acting, metrics }
    }

    /// One exchange. Must be called within a tokio runtime.
    pub fn exchange(&self, now: Now, from: Origin, code: &str, body: &[u8]) -> Result<Answer, Refusal> {
        let request = wire::parse(body)?;
        if request.job.0 != request.attempt.app {
            return Err(Refusal::new(Why::ForeignApplication, "the job is not the application's"));
        }
        // A session that came through TLS is not to stay where its jobs could only be advised on.
        if self.params.require_tls && from == Origin::Network {
            let words = "it came over plain HTTP: reach the service through TLS, or set shim.require_tls to false";
            return Err(Refusal::new(Why::SecretOverPlainHttp, words));
        }
        let own = self.table.holder(request.job).filter(|seat| seat.id == request.session);
        match (own, &request.hello) {
            (Some(seat), None) => self.known(&seat, &request, from, code, body, now),
            (Some(seat), Some(hello)) if bool::from(mac::hash(&hello.key).ct_eq(&seat.hash)) => {
                self.known(&seat, &request, from, code, body, now)
            }
            (_, Some(hello)) => self.newcomer(hello, &request, from, code, body, now),
            (None, None) if self.table.was_replaced(request.job, request.session) => {
                Err(Refusal::new(Why::Superseded, "another session holds the job"))
            }
            (None, None) => Err(Refusal::new(Why::UnknownSession, "say hello: the service does not know this session")),
        }
    }

    fn known(
        &self,
        seat: &Arc<Seat>,
        request: &Request<'_>,
        from: Origin,
        code: &str,
        body: &[u8],
        now: Now,
    ) -> Result<Answer, Refusal> {
        authentic(&seat.key, body, code)?;
        self.apply(seat, request, from, now)
    }

    /// A session that is not believed yet.
    fn newcomer(
        &self,
        hello: &Hello<'_>,
        request: &Request<'_>,
        from: Origin,
        code: &str,
        body: &[u8],
        now: Now,
    ) -> Result<Answer, Refusal> {
        authentic(&hello.key, body, code)?;
        if self.table.was_replaced(request.job, request.session) {
            return Err(Refusal::new(Why::Superseded, "another session holds the job"));
        }
        let holder = self.table.holder(request.job);
        if let Some(newer) = holder.as_ref().filter(|holder| holder.attempt > request.attempt) {
            return Err(superseded(newer.attempt));
        }
        if holder.is_none() && self.table.count() >= self.params.sessions {
            return Err(Refusal::new(Why::TooManySessions, "the service has as many sessions as it may"));
        }
        let (hash, user) = (mac::hash(&hello.key), hello.user.to_string());
        let claim = Claim { session: request.session, hash, attempt: request.attempt, user };
        match self.proofs.standing(&claim)? {
            Standing::Checking => Ok(Answer { reply: self.pending(request), key: hello.key.clone(), awaits: None }),
            Standing::Fails(why)
                if why.why == Why::WrongProof && holder.is_some_and(|h| h.attempt == request.attempt) =>
            {
                let words =
                    "another session of this attempt is believed, and the job's diagnostics do not bear this one out";
                Err(Refusal::new(Why::TwoMasters, words))
            }
            Standing::Fails(why) => Err(why),
            Standing::Holds(vouched) => {
                let seat = self.table.seat(self.new_seat(hello, request, &claim, vouched, now), &self.params, now)?;
                self.proofs.settle(&claim);
                self.apply(&seat, request, from, now)
            }
        }
    }

    fn new_seat(&self, hello: &Hello<'_>, request: &Request<'_>, claim: &Claim, vouched: Vouched, now: Now) -> Seat {
        let (settings, refused) = settings::read(&hello.settings, hello.mode.0.unwrap_or(Mode::Advise), &hello.hadoop);
        let bad = Reason::BadProperty;
        self.metrics.refused(bad.label(), refused.count(bad));
        let Vouched { user, queue } = vouched;
        let profile = Profile::of(request, hello, user, queue, settings, now);
        tracing::info!(job = %request.job, attempt = %request.attempt, user = %profile.user, shim = profile.shim, hadoop = profile.hadoop, "a shim's session is accepted");
        Seat::new(request.session, hello.key.clone(), claim.hash, profile, now)
    }

    /// Applies an authentic request of a believed session.
    fn apply(&self, seat: &Arc<Seat>, request: &Request<'_>, from: Origin, now: Now) -> Result<Answer, Refusal> {
        let mut session = seat.lock();
        let turn = session.turn(request, &self.params, now)?;
        // Room for the facts comes first: what is acknowledged is never dropped.
        let room = self.room().map_err(|refusal| refusal.holding(session.ack))?;
        session.epoch = session.epoch.max(request.epoch);
        session.ticks.hear(&request.clock);
        let (mut told, opens) = (Told::default(), !session.open);
        if turn == Turn::Apply {
            let can = self.acting.may(&session, from == Origin::Loopback);
            told = facts::tell(&mut session, request, can, &self.params, &self.table.names);
            session.ack = session.ack.max(request.upto);
        } else {
            session.ack = 0;
        }
        self.acting.take(&mut session, request, &mut told);
        session.seq = request.seq;
        session.last = now;
        session.skew_ms = request.clock.am_ms as i64 - now.wall.0 as i64;
        session.pace_ms = self.pace_of(&session, now);
        let pace_ms = session.pace_ms;
        let grant = match turn {
            Turn::Apply => self.acting.grant(&mut session, pace_ms, now, &mut told),
            Turn::Snapshot => Grant::default(),
        };
        self.count(&mut session, &told);
        // The further pages of a snapshot are not held up. A session that is heard for the first time has its lease a whole exchange sooner, where the job is to be Drover's.
        let able = session.can.is_some_and(|can| can.duplicate);
        let hopes = grant.lease_ms > 0 || (opens && able && turn == Turn::Apply);
        let waits = hopes && grant.actions.is_empty() && !request.more;
        let (tell, decided) = waits.then(oneshot::channel).unzip();
        self.send(room, &session, told, Time(request.clock.am_ms), now, tell);
        let reply = self.believed(request, &session, grant, turn);
        let awaits = decided.map(|decided| Awaits { seat: Arc::clone(seat), decided });
        Ok(Answer { reply, key: seat.key.clone(), awaits })
    }

    /// Adds to an answer the lease and the orders that were given since it was made, unless the session has called again meanwhile.
    pub fn add_orders(&self, reply: &mut Reply, seat: &Seat, now: Now) {
        let Ok(room) = self.room() else { return };
        let mut session = seat.lock();
        let gains = session.outbox.is_waiting(now.wall) || (reply.lease_ms == 0 && self.acting.owns(&session, now));
        if session.seq != reply.seq || !gains {
            return;
        }
        session.pace_ms = self.pace_of(&session, now);
        let (pace_ms, mut told) = (session.pace_ms, Told::default());
        let grant = self.acting.grant(&mut session, pace_ms, now, &mut told);
        self.send(room, &session, told, now.wall, now, None);
        reply.next_exchange_ms = pace_ms;
        self.write(grant, &session, reply);
    }

    fn room(&self) -> Result<Permit<'_, Batch>, Refusal> {
        let room = self.out.try_reserve().ok().filter(|_| self.waiting.load(Ordering::Relaxed) < Waits::MAX);
        room.ok_or_else(|| {
            Refusal::new(Why::Overloaded, "the service has more facts than it can take now")
                .retry(u64::from(self.pace_ms()))
        })
    }

    fn send(
        &self,
        room: Permit<'_, Batch>,
        session: &Session,
        mut told: Told,
        at: Time,
        now: Now,
        decided: Option<oneshot::Sender<()>>,
    ) {
        let count = told.facts.len() + told.own.len();
        let late = std::mem::take(&mut told.late);
        if count > 0 || !late.is_empty() {
            let first = self.next.fetch_add(count as u64, Ordering::Relaxed);
            let facts = facts::stamp(session, told, at, now, first, self.identity.epoch);
            let rows = facts.iter().map(|seen| seen.fact.rows()).sum();
            room.send(Batch { facts, late, decided, waits: Some(Waits::among(&self.waiting, rows)) });
        }
    }

    fn count(&self, session: &mut Session, told: &Told) {
        for (reason, n) in &told.refused {
            self.metrics.refused(reason, *n);
        }
        self.metrics.rows.inc_by(told.rows);
        session.rows += told.rows;
    }

    /// Has an order of the job's shim sent no more.
    pub fn call_off(&self, job: JobId, decision: u64) {
        if let Some(seat) = self.table.holder(job) {
            seat.lock().outbox.call_off(decision);
        }
    }

    /// Has the job's shim carry out an order.
    ///
    /// # Errors
    /// Why no shim will.
    pub fn order(&self, order: Order, now: Now) -> Result<(), Unsent> {
        let seat = self.table.holder(order.job).ok_or(Unsent::NoSession)?;
        let mut session = seat.lock();
        self.acting.order(&mut session, order, now)
    }
}

fn authentic(key: &Key, body: &[u8], code: &str) -> Result<(), Refusal> {
    let words = "X-Drover-Mac is not the HMAC-SHA256 of the body under the session's key";
    mac::verify(key, body, code).then_some(()).ok_or_else(|| Refusal::new(Why::WrongMac, words))
}
