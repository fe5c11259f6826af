//! What the service does through shims: leases for the jobs that are Drover's, and actions.

use super::metrics::Metrics;
use super::outbox::{Order, action_id};
use super::params::{ActParams, Identity};
use super::reply::{Action, What};
use super::session::{Now, Session};
use super::told::Told;
use super::unsent::Unsent;
use drover_core::model::{Capabilities, Fact, JobId, Millis};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// How long a service that outranked this one is given way to after the last shim told of it.
pub const RIVAL_REMEMBERED: Millis = Millis(600_000);

/// Leases and actions of all sessions.
pub struct Acting {
    params: ActParams,
    pub(super) identity: Identity,
    /// Jobs whose speculation Drover is to own, as the engine said last, of each whether its tasks have clones once they run, and when the engine was last known to stand by it.
    owned: Mutex<(HashMap<JobId, bool>, Millis)>,
    /// Actions of earlier processes whose end is not known, by their jobs.
    pub(super) earlier: OnceLock<HashSet<(JobId, String)>>,
    /// The highest epoch of another service that outranks this one, and when a shim last told of it.
    rival: Mutex<Option<(u64, Millis)>>,
    /// Somebody was told that plain HTTP keeps Drover from acting.
    warned: AtomicBool,
    pub(super) metrics: Metrics,
}

/// What an answer grants.
#[derive(Debug, Default)]
pub struct Grant {
    /// Length of the lease, milliseconds; 0 without one.
    pub lease_ms: u64,
    /// What the shim is asked to do.
    pub actions: Vec<Action>,
}

impl Acting {
    /// Nothing is owned yet.
    pub fn new(params: ActParams, identity: Identity, metrics: Metrics) -> Acting {
        let (warned, owned, earlier, rival) =
            (AtomicBool::new(false), Mutex::default(), OnceLock::new(), Mutex::default());
        Acting { params, identity, owned, earlier, rival, warned, metrics }
    }

    /// Answers to these actions of earlier processes, each with its job, are passed on, too. Said once.
    pub fn expect<'a>(&self, actions: impl Iterator<Item = (JobId, &'a str, u64)>) {
        let named = actions.map(|(job, incarnation, decision)| (job, action_id(incarnation, decision)));
        let _ = self.earlier.set(named.collect());
    }

    /// From now on exactly these jobs are Drover's, for as long as the engine goes on to say so.
    pub fn own(&self, jobs: HashMap<JobId, bool>, now: Millis) {
        *self.owned() = (jobs, now);
    }

    /// The engine stands by what it said last.
    pub fn own_still(&self, now: Millis) {
        self.owned().1 = now;
    }

    fn owned(&self) -> MutexGuard<'_, (HashMap<JobId, bool>, Millis)> {
        self.owned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Is the job Drover's? One whose engine hangs would be copied by nobody, so it is left to Hadoop's own speculator.
    fn is_owned(&self, job: JobId, now: Millis) -> bool {
        let (jobs, said) = &*self.owned();
        now <= *said + Millis(self.params.lease_ms) && jobs.contains_key(&job)
    }

    /// Is the start of a task of the job to be told at once, as its clones may then be asked for?
    pub fn awaits_starts(&self, job: JobId) -> bool {
        self.owned().0.get(&job).is_some_and(|clones| *clones)
    }

    /// What shims tell of epochs above this one, now; answers the epoch that this service gives way to. It is remembered for a while after the last shim told of
    /// it: shims come and go with their jobs, and the other service may still act on some that never meet this one.
    pub fn rival(&self, told: Option<u64>, now: Millis) -> Option<u64> {
        let mut known = self.rival.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = known.filter(|(_, at)| now - *at <= RIVAL_REMEMBERED);
        *known = told.map(|epoch| (epoch, now)).or(fresh);
        known.map(|(epoch, _)| epoch)
    }

    fn is_outranked(&self) -> bool {
        self.rival.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Is a session that came this way to act? One that came over the network in the clear only where the operator insists.
    pub fn may(&self, session: &Session, local: bool) -> Capabilities {
        let able = session.profile.able;
        let trusted = local || self.params.plain_http;
        if able.act_on_tasks() && !trusted && !self.warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                job = %session.profile.job(),
                "shims come over plain HTTP from the network, where whoever reads the traffic could act in Drover's name: their jobs are only advised on; lead them \
                 through TLS on this machine, or set act.plain_http = true, and drover.act.plain-http=true for the jobs"
            );
        }
        if !trusted {
            return Capabilities::NONE;
        }
        let ActParams { restart, avoid, rerun, .. } = self.params;
        Capabilities {
            restart: able.restart && restart,
            avoid: able.avoid && avoid,
            rerun: able.rerun && rerun,
            ..able
        }
    }

    /// Is the job's speculation Drover's to own by this session?
    pub fn owns(&self, session: &Session, now: Now) -> bool {
        let allowed = session.can.is_some_and(|can| can.duplicate) && !session.ended;
        let first = session.epoch <= self.identity.epoch && !self.is_outranked();
        allowed && first && self.is_owned(session.profile.job(), now.mono)
    }

    /// What an answer at this pace grants. The lease outlasts three exchanges, so that one lost answer does not hand the job back.
    pub fn grant(&self, session: &mut Session, pace_ms: u32, now: Now, told: &mut Told) -> Grant {
        if !self.owns(session, now) {
            session.lease_until = Millis(0);
            return Grant::default();
        }
        let lease = Millis(self.params.lease_ms.max(4 * u64::from(pace_ms)));
        session.lease_until = now.mono + lease;
        let (actions, first) = session.outbox.due(&self.identity.incarnation, lease, now.wall);
        self.metrics.actions_sent.inc_by(first.len() as u64);
        let job = session.profile.job();
        told.own.extend(first.into_iter().map(|decision| Fact::Sent { job, decision }));
        Grant { lease_ms: lease.0, actions }
    }

    /// Puts an order into its session's outbox.
    pub fn order(&self, session: &mut Session, order: Order, now: Now) -> Result<(), Unsent> {
        let can = session.can.unwrap_or_default();
        let able = match order.what {
            What::Duplicate { .. } => can.duplicate,
            What::Restart { .. } => can.restart,
            What::Avoid { .. } => can.avoid,
            What::Rerun { .. } => can.rerun,
        };
        if !able || session.ended {
            return Err(Unsent::Unable);
        }
        let room = session.outbox.put(order, self.params.actions, now.wall);
        if room { Ok(()) } else { Err(Unsent::Full) }
    }
}
