//! One session: what the service holds of a shim it believes. The rows' values go on to the engine; only what is needed to check them stays.

use super::can::able;
use super::outbox::Outbox;
use super::params::ShimParams;
use super::reply::{Refusal, Why};
use super::ticks::Ticks;
use super::wire::{Hello, Request};
use crate::shown::printable;
use drover_core::model::{AppAttemptId, Capabilities, JobId, JobPhase, JobSettings, Millis, TaskKind, Time};
use std::sync::Arc;

/// The service's clocks at one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Time of day as the service keeps it: what facts are stamped with.
    pub wall: Time,
    /// Since the room began: ages and limits follow this one.
    pub mono: Millis,
}

/// State of one believed session.
pub struct Session {
    /// Who speaks.
    pub profile: Profile,
    /// Newest request applied.
    pub seq: u64,
    /// Version up to which its rows are held.
    pub ack: u64,
    /// Newest job summary passed on.
    pub summary: Option<(Option<JobPhase>, u32, u32)>,
    /// Names of the session's hosts.
    pub hosts: Vec<Option<Arc<str>>>,
    /// Attempts that exist.
    pub seen: Seen,
    /// Its opening was passed on, its loss was not.
    pub open: bool,
    /// Its application has ended.
    pub ended: bool,
    /// Newest exchange.
    pub last: Now,
    /// Pace it was given, milliseconds.
    pub pace_ms: u32,
    /// AM clock less service clock, milliseconds.
    pub skew_ms: i64,
    /// Its AM's clocks.
    pub ticks: Ticks,
    /// Copies Hadoop's own speculator launched.
    pub native_copies: u64,
    /// Copies it wanted and was held from.
    pub native_held: u64,
    /// Rows applied.
    pub rows: u64,
    /// Highest service epoch the shim says it has verified.
    pub epoch: u64,
    /// Facts the shim says it dropped, in all.
    pub dropped: u64,
    /// What can be done through it, as it was passed on last.
    pub can: Option<Capabilities>,
    /// Until when it holds a lease, on the room's own clock.
    pub lease_until: Millis,
    /// What it is asked to do.
    pub outbox: Outbox,
    rate: Rate,
    row_rate: Rate,
}

/// Who speaks: told once, vouched for by the ResourceManager where it can.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The AM.
    pub attempt: AppAttemptId,
    /// The application's owner.
    pub user: String,
    /// Its queue.
    pub queue: String,
    /// The job's name.
    pub name: String,
    /// Version of the shim.
    pub shim: String,
    /// Version of Hadoop.
    pub hadoop: String,
    /// Runs its tasks inside the AM.
    pub uber: bool,
    /// What its shim can do.
    pub able: Capabilities,
    /// What its configuration says.
    pub settings: JobSettings,
    /// Start of the shim, the AM's clock: the nearest to the job's start that a shim can tell.
    pub started: Time,
    /// When the session was accepted, the service's clock.
    pub since: Time,
}

impl Profile {
    /// The job it may speak about.
    pub fn job(&self) -> JobId {
        JobId(self.attempt.app)
    }

    /// From a hello, with the owner and queue that the ResourceManager vouches for.
    pub fn of(
        request: &Request<'_>,
        hello: &Hello<'_>,
        user: String,
        queue: Option<String>,
        settings: JobSettings,
        now: Now,
    ) -> Profile {
        Profile {
            attempt: request.attempt,
            user,
            queue: printable(&queue.unwrap_or_else(|| hello.queue.to_string())),
            name: printable(&hello.name),
            shim: printable(&request.shim),
            hadoop: printable(&hello.hadoop),
            uber: hello.uber,
            able: able(hello.can.iter().map(|word| &**word)),
            settings,
            started: Time(request.clock.am_ms) - Millis(request.clock.mono_ms),
            since: now.wall,
        }
    }
}

/// What to do with a request's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// They continue what is held.
    Apply,
    /// There is a gap before them.
    Snapshot,
}

impl Session {
    /// A session of which nothing is held yet.
    pub fn new(profile: Profile, now: Now) -> Session {
        Session {
            profile,
            seq: 0,
            ack: 0,
            summary: None,
            hosts: Vec::new(),
            seen: Seen::default(),
            open: false,
            ended: false,
            last: now,
            pace_ms: 0,
            skew_ms: 0,
            ticks: Ticks::default(),
            native_copies: 0,
            native_held: 0,
            rows: 0,
            epoch: 0,
            dropped: 0,
            can: None,
            lease_until: Millis(0),
            outbox: Outbox::default(),
            rate: Rate::default(),
            row_rate: Rate::default(),
        }
    }

    /// May this request be applied now? Changes nothing but the counts of its rates.
    pub fn turn(&mut self, request: &Request<'_>, params: &ShimParams, now: Now) -> Result<Turn, Refusal> {
        if self.ended {
            return Err(Refusal::new(Why::FinishedApplication, "the application has ended"));
        }
        if request.attempt != self.profile.attempt || request.job != self.profile.job() {
            return Err(Refusal::new(Why::ForeignApplication, "a session speaks about its own job only"));
        }
        let too_frequent =
            |words: &str, wait: Millis, ack| Refusal::new(Why::TooFrequent, words).retry(wait.0).holding(ack);
        if let Err(wait) = self.rate.take(now.mono, 1, params.session_per_s, params.session_burst) {
            return Err(too_frequent("the session calls too often", wait, self.ack));
        }
        if request.seq <= self.seq {
            let words = format!("request {} came after request {} was applied", request.seq, self.seq);
            return Err(Refusal::new(Why::StaleSequence, words).holding(self.ack));
        }
        if request.base > self.ack {
            return Ok(Turn::Snapshot);
        }
        let rows_per_s = params.session_rows_per_s();
        let burst = rows_per_s.saturating_mul(params.session_rows_burst_s);
        if let Err(wait) = self.row_rate.take(now.mono, request.rows(), rows_per_s, burst) {
            return Err(too_frequent("the session tells more rows than one may", wait, self.ack));
        }
        Ok(Turn::Apply)
    }

    /// Can an attempt of that number exist in its AM, or have been recovered by it?
    pub fn numbers_of_its_am(&self, number: u32) -> bool {
        number < self.profile.attempt.number.saturating_mul(RUNS)
    }

    /// Does it hold a lease that lasts?
    pub fn is_leased(&self, now: Now) -> bool {
        !self.ended && self.lease_until > now.mono
    }

    /// Is it heard of often enough for its job to need no polling? For three times its pace, and 10 s at least.
    pub fn is_live(&self, now: Now) -> bool {
        let patience = (3 * u64::from(self.pace_ms)).max(10_000);
        !self.ended && (now.mono - self.last.mono).0 <= patience
    }
}

/// How many attempts each task is known to have had: two bytes a task, so that invented attempts cannot fill the engine.
#[derive(Debug, Default)]
pub struct Seen {
    runs: [Vec<u16>; 2],
    total: u64,
}

/// Attempts of each AM attempt number from a multiple of this (Hadoop's TaskImpl).
pub(super) const RUNS: u32 = 1000;

impl Seen {
    /// Takes note of an attempt of a task that exists. The label of the reason when it cannot be.
    pub fn attempt(
        &mut self,
        kind: TaskKind,
        index: u32,
        number: u32,
        of: &AppAttemptId,
        tasks: u64,
    ) -> Result<(), &'static str> {
        if number >= of.number.saturating_mul(RUNS) {
            return Err("bad_attempt_number");
        }
        let runs = &mut self.runs[kind as usize];
        let (slot, run) = (index as usize, (number % RUNS) as u16 + 1);
        let known = runs.get(slot).copied().unwrap_or(0);
        if run > known {
            let total = self.total + u64::from(run - known);
            // Four attempts a task is Hadoop's own limit of failures; a small job may have many more copies and kills.
            if total > 4 * tasks + u64::from(RUNS) {
                return Err("too_many_attempts");
            }
            if slot >= runs.len() {
                runs.resize(slot + 1, 0);
            }
            runs[slot] = run;
            self.total = total;
        }
        Ok(())
    }
}

/// A token bucket in one number (the generic cell rate algorithm): the instant up to which the session has drawn in advance, microseconds.
#[derive(Debug, Default)]
struct Rate(u64);

impl Rate {
    /// Takes some tokens once there is one, or says how long to wait for it: more than there are may be drawn, so that no request is too large for ever.
    fn take(&mut self, now: Millis, tokens: u64, per_s: u32, burst: u32) -> Result<(), Millis> {
        let time_of = |tokens: u64| tokens * 1_000_000 / u64::from(per_s.max(1));
        let now = now.0.saturating_mul(1000);
        let allowed = now + time_of(u64::from(burst.max(1) - 1));
        let drawn = self.0.max(now);
        if drawn > allowed {
            return Err(Millis((drawn - allowed).div_ceil(1000)));
        }
        self.0 = drawn + time_of(tokens);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_may_call_in_bursts_but_not_for_long() {
        let mut rate = Rate::default();
        let mut at = |ms| rate.take(Millis(ms), 1, 10, 3);
        assert!((0..3).all(|_| at(5_000).is_ok()));
        assert_eq!(at(5_000), Err(Millis(100)));
        assert_eq!(at(5_099), Err(Millis(1)));
        assert_eq!(at(5_100), Ok(()));
        assert!(at(5_100).is_err());
        assert!((0..3).all(|_| at(9_000).is_ok()) && at(9_000).is_err(), "idle time earns one burst, not more");
    }

    #[test]
    fn more_rows_at_once_than_are_left_are_taken_and_waited_for_afterwards() {
        let mut rate = Rate::default();
        let mut at = |ms, rows| rate.take(Millis(ms), rows, 10_000_000, 1_000);
        assert_eq!(at(5_000, 20_000_000), Ok(()));
        assert_eq!(at(5_000, 1), Err(Millis(2_000)));
        assert_eq!(at(7_000, 0), Ok(()));
    }

    #[test]
    fn invented_attempts_cannot_fill_the_engine() {
        let am: AppAttemptId = "appattempt_1_0001_000002".parse().unwrap();
        let mut seen = Seen::default();
        let mut note = |index, number| seen.attempt(TaskKind::Map, index, number, &am, 10);
        assert_eq!(note(9, 0), Ok(()));
        assert_eq!(note(9, 1_003), Ok(()), "the second AM numbers from 1000");
        assert_eq!(note(9, 2_000), Err("bad_attempt_number"), "there is no third AM yet");
        assert_eq!(note(3, 999), Ok(()));
        assert_eq!(note(4, 999), Err("too_many_attempts"));
        assert_eq!(note(3, 998), Ok(()), "what is known stays known");
    }
}
