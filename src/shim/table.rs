//! All sessions: who holds a job, who held it, and how many there may be.

use super::mac::KeyHash;
use super::params::ShimParams;
use super::reply::{Refusal, Why};
use super::session::{Now, Profile, Session};
use super::trust::Claim;
use super::values::{Key, SessionId};
use drover_core::model::{AppAttemptId, JobId, Millis, Time};
use serde::Serialize;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A believed session and its key.
pub struct Seat {
    /// Its name.
    pub id: SessionId,
    /// Its key.
    pub key: Key,
    /// Hash of the key.
    pub hash: KeyHash,
    /// The AM.
    pub attempt: AppAttemptId,
    state: Mutex<Session>,
}

impl Seat {
    /// A seat for a session that has proved itself.
    pub fn new(id: SessionId, key: Key, hash: KeyHash, profile: Profile, now: Now) -> Seat {
        Seat { id, key, hash, attempt: profile.attempt, state: Mutex::new(Session::new(profile, now)) }
    }

    /// The session's state, for one exchange at a time.
    pub fn lock(&self) -> MutexGuard<'_, Session> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Host names, each held once however many sessions name it.
#[derive(Default)]
pub struct Names(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// Each with the user whose session told it first.
    names: HashMap<Arc<str>, Arc<str>>,
    /// How many each user has.
    of_users: HashMap<Arc<str>, usize>,
}

impl Names {
    /// Names that one user's sessions may be the first to tell: of YARN's largest clusters five times the hosts.
    const OF_USER_MAX: usize = 50_000;

    /// The one copy of this name, told by a user's session; `None` where that user has told too many that nobody else has.
    pub fn intern(&self, name: &str, user: &str) -> Option<Arc<str>> {
        let Known { names, of_users } = &mut *self.lock();
        if let Some((known, _)) = names.get_key_value(name) {
            return Some(Arc::clone(known));
        }
        let user = of_users.get_key_value(user).map_or_else(|| user.into(), |(known, _)| Arc::clone(known));
        let told = of_users.entry(Arc::clone(&user)).or_default();
        if *told >= Self::OF_USER_MAX {
            return None;
        }
        *told += 1;
        let new: Arc<str> = name.into();
        names.insert(Arc::clone(&new), user);
        Some(new)
    }

    fn sweep(&self) {
        let Known { names, of_users } = &mut *self.lock();
        names.retain(|name, user| {
            let held = Arc::strong_count(name) > 1;
            if let Some(told) = of_users.get_mut(user).filter(|_| !held) {
                *told -= 1;
            }
            held
        });
        of_users.retain(|_, told| *told > 0);
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session as people and the doctor see it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionView {
    /// The job.
    pub job: JobId,
    /// The AM.
    pub attempt: AppAttemptId,
    /// The application's owner.
    pub user: String,
    /// Version of the shim; empty while the session is not accepted.
    pub shim: String,
    /// Version of Hadoop; empty likewise.
    pub hadoop: String,
    /// When it was accepted, the service's clock.
    pub since: Option<Time>,
    /// Newest exchange, the service's clock.
    pub last_exchange: Option<Time>,
    /// Its proof stands.
    pub accepted: bool,
    /// It is heard of as often as it should be.
    pub live: bool,
    /// AM clock less service clock, milliseconds.
    pub skew_ms: i64,
    /// Copies launched by Hadoop's own speculator.
    pub native_copies: u64,
    /// Rows applied.
    pub rows: u64,
    /// It can start further attempts.
    pub able: bool,
    /// It can, and Drover may act by it.
    pub allowed: bool,
    /// It holds a lease.
    pub leased: bool,
}

/// All sessions.
#[derive(Default)]
pub struct Table {
    /// Names of hosts.
    pub names: Names,
    seats: Mutex<Seats>,
}

#[derive(Default)]
struct Seats {
    by_job: HashMap<JobId, Arc<Seat>>,
    /// Sessions that lost their job to another, until when they are remembered.
    replaced: HashMap<(JobId, SessionId), Millis>,
}

impl Table {
    fn seats(&self) -> MutexGuard<'_, Seats> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session that holds a job.
    pub fn holder(&self, job: JobId) -> Option<Arc<Seat>> {
        self.seats().by_job.get(&job).cloned()
    }

    /// Has another session taken the job from this one?
    pub fn was_replaced(&self, job: JobId, id: SessionId) -> bool {
        self.seats().replaced.contains_key(&(job, id))
    }

    /// How many sessions there are.
    pub fn count(&self) -> usize {
        self.seats().by_job.len()
    }

    /// Seats a session in the place of whoever holds its job, unless that one runs in a newer AM. One that is seated already, by a request that came at
    /// the same time, keeps what it holds.
    pub fn seat(&self, seat: Seat, params: &ShimParams, now: Now) -> Result<Arc<Seat>, Refusal> {
        let mut seats = self.seats();
        let job = JobId(seat.attempt.app);
        match seats.by_job.get(&job).cloned() {
            Some(newer) if newer.attempt > seat.attempt => return Err(superseded(newer.attempt)),
            Some(same) if (same.id, same.hash, same.attempt) == (seat.id, seat.hash, seat.attempt) => return Ok(same),
            Some(old) if old.id != seat.id => {
                seats.replaced.insert((job, old.id), now.mono + Millis(params.expiry_ms));
            }
            None if seats.by_job.len() >= params.sessions => {
                return Err(Refusal::new(Why::TooManySessions, "the service has as many sessions as it may"));
            }
            _ => {}
        }
        let seat = Arc::new(seat);
        seats.by_job.insert(job, Arc::clone(&seat));
        Ok(seat)
    }

    /// All seats.
    pub fn all(&self) -> Vec<Arc<Seat>> {
        self.seats().by_job.values().cloned().collect()
    }

    /// Forgets sessions that are long silent; those whose loss was not passed on yet stay until it was.
    pub fn sweep(&self, params: &ShimParams, now: Now) {
        let gone = |seat: &Arc<Seat>| {
            let session = seat.lock();
            !session.open && (now.mono - session.last.mono).0 > params.expiry_ms
        };
        let gone: Vec<_> = self.all().into_iter().filter(gone).collect();
        let mut seats = self.seats();
        for seat in gone {
            let job = JobId(seat.attempt.app);
            if seats.by_job.get(&job).is_some_and(|holder| Arc::ptr_eq(holder, &seat)) {
                seats.by_job.remove(&job);
            }
        }
        seats.replaced.retain(|_, until| *until > now.mono);
        drop(seats);
        self.names.sweep();
    }
}

/// The refusal of a session whose job a newer AM holds.
pub fn superseded(by: AppAttemptId) -> Refusal {
    Refusal::new(Why::Superseded, format!("{by} holds the job"))
}

impl SessionView {
    /// A claim whose proof does not stand yet: it holds only what the shim says of itself.
    pub fn claimed(claim: Claim) -> SessionView {
        SessionView {
            job: JobId(claim.attempt.app),
            attempt: claim.attempt,
            user: claim.user,
            shim: String::new(),
            hadoop: String::new(),
            since: None,
            last_exchange: None,
            accepted: false,
            live: false,
            skew_ms: 0,
            native_copies: 0,
            rows: 0,
            able: false,
            allowed: false,
            leased: false,
        }
    }

    /// A believed session.
    pub fn of(session: &Session, now: Now) -> SessionView {
        let profile = &session.profile;
        SessionView {
            job: profile.job(),
            attempt: profile.attempt,
            user: profile.user.clone(),
            shim: profile.shim.clone(),
            hadoop: profile.hadoop.clone(),
            since: Some(profile.since),
            last_exchange: Some(session.last.wall),
            accepted: true,
            live: session.is_live(now),
            skew_ms: session.skew_ms,
            native_copies: session.native_copies,
            rows: session.rows,
            able: profile.able.act_on_tasks(),
            allowed: session.can.is_some_and(|can| can.act_on_tasks()),
            leased: session.is_leased(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_users_sessions_fill_no_memory_with_names_and_keep_nobody_else_from_telling_theirs() {
        let names = Names::default();
        let held: Vec<_> = (0..Names::OF_USER_MAX).map(|n| names.intern(&format!("a{n}"), "ann").unwrap()).collect();
        assert_eq!((names.intern("one more", "ann"), names.intern("a7", "ann").as_deref()), (None, Some("a7")));
        let other = names.intern("one more", "bob").unwrap();
        assert_eq!(names.intern("one more", "ann").as_deref(), Some("one more"), "what another has told");
        drop((held, other));
        names.sweep();
        assert!(
            names.lock().of_users.is_empty() && names.intern("b", "ann").is_some(),
            "what no session holds is free"
        );
    }
}
