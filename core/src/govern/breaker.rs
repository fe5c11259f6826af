//! A policy whose copies keep losing for a user is left to advice for that user's jobs, and these to Hadoop, until it has rested.

use super::GovernParams;
use crate::model::{BreakerTurn, CopyOutcome, JobId, OpenBreaker, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Copies of a policy that are remembered: the newest.
const WINDOW: usize = 200;
/// Users that are told apart: with one more whoever was counted longest ago, and whose breaker is closed, is forgotten.
const USERS_MAX: usize = 4_096;
/// Of the standard normal distribution 95 % lies below.
const Z: f64 = 1.644_853_626_951_472_2;

/// Every policy's breaker for every user: what one user's jobs do decides about that user alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Breakers {
    by_policy: BTreeMap<String, BTreeMap<String, Breaker>>,
    /// Openings and closings that nobody has been told of.
    turns: Vec<BreakerTurn>,
}

/// One policy's for one user: how its newest copies fared, oldest first, and since when it is open, the service's clock.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Breaker {
    recent: VecDeque<(JobId, bool)>,
    opened: Option<Time>,
    /// When a copy was counted last, the service's clock.
    #[serde(default)]
    counted: Time,
}

impl Breaker {
    fn won(&self) -> usize {
        self.recent.iter().filter(|(_, won)| *won).count()
    }

    /// Copies of one job share their causes: the newest `of_job` of them count.
    fn push(&mut self, job: JobId, won: bool, of_job: usize) {
        let of_it = self.recent.iter().filter(|(other, _)| *other == job).count();
        if of_it >= of_job
            && let Some(oldest) = self.recent.iter().position(|(other, _)| *other == job)
        {
            self.recent.remove(oldest);
        }
        self.recent.push_back((job, won));
        if self.recent.len() > WINDOW {
            self.recent.pop_front();
        }
    }

    fn turn(&self, policy: &str, user: &str, open: bool) -> BreakerTurn {
        let (won, copies) = (self.won() as u32, self.recent.len() as u32);
        BreakerTurn { policy: policy.to_owned(), user: user.to_owned(), open, won, copies }
    }
}

/// Makes room for one more user, where any breaker is closed.
fn forget_one(of_policy: &mut BTreeMap<String, Breaker>) -> bool {
    let closed = of_policy.iter().filter(|(_, breaker)| breaker.opened.is_none());
    let oldest = closed.min_by_key(|(_, breaker)| breaker.counted).map(|(user, _)| user.clone());
    oldest.is_some_and(|user| of_policy.remove(&user).is_some())
}

impl Breakers {
    /// Counts a copy that was asked for and came to be, in a job of that user's. What ends while its breaker is open was begun before, and says nothing new.
    pub fn count(&mut self, end: &CopyOutcome, user: &str, params: &GovernParams, now: Time) {
        let Some(won) = end.end.won() else { return };
        if !end.telling || end.policy.is_empty() {
            return;
        }
        let of_policy = self.by_policy.entry(end.policy.clone()).or_default();
        if of_policy.len() >= USERS_MAX && !of_policy.contains_key(user) && !forget_one(of_policy) {
            return;
        }
        let breaker = of_policy.entry(user.to_owned()).or_default();
        if breaker.opened.is_some() {
            return;
        }
        breaker.counted = now;
        let least = (params.breaker_least as usize).clamp(1, WINDOW);
        breaker.push(end.task.job, won, least.div_ceil(2));
        let copies = breaker.recent.len();
        if copies >= least && upper_bound(breaker.won(), copies) < params.breaker_below {
            breaker.opened = Some(now);
            self.turns.push(breaker.turn(&end.policy, user, true));
        }
    }

    /// Closes those that have rested, or that are switched off; they count anew.
    pub fn rest(&mut self, params: &GovernParams, now: Time) {
        let off = params.breaker_below <= 0.0;
        for breaker in self.by_policy.values_mut().flat_map(BTreeMap::values_mut) {
            // A clock that was set back does not make it longer.
            breaker.opened = breaker.opened.map(|opened| opened.min(now));
        }
        self.close(|opened| off || now >= opened + params.breaker_rest);
    }

    /// An operator says that all is well again.
    pub fn reset(&mut self) {
        self.close(|_| true);
    }

    fn close(&mut self, may: impl Fn(Time) -> bool) {
        let turns = &mut self.turns;
        for (policy, of_policy) in &mut self.by_policy {
            of_policy.retain(|user, breaker| {
                let closes = breaker.opened.is_some_and(&may);
                turns.extend(closes.then(|| breaker.turn(policy, user, false)));
                !closes
            });
        }
    }

    /// Is that policy left to advice for that user's jobs?
    pub fn is_open(&self, policy: &str, user: &str) -> bool {
        let breaker = self.by_policy.get(policy).and_then(|of_policy| of_policy.get(user));
        breaker.is_some_and(|breaker| breaker.opened.is_some())
    }

    /// When the next of them closes.
    pub fn next(&self, params: &GovernParams) -> Option<Time> {
        let all = self.by_policy.values().flat_map(BTreeMap::values);
        all.filter_map(|breaker| Some(breaker.opened? + params.breaker_rest)).min()
    }

    /// As an earlier process left them. What opened and closed then has been told then.
    pub fn resume(&mut self, told: Breakers) {
        *self = Breakers { turns: Vec::new(), ..told };
    }

    /// Those that are open.
    pub fn open(&self) -> Vec<OpenBreaker> {
        let open = |policy: &str, user: &str, breaker: &Breaker| {
            Some(OpenBreaker { since: breaker.opened?, told: breaker.turn(policy, user, true) })
        };
        let each =
            self.by_policy.iter().flat_map(|(policy, users)| users.iter().map(move |(user, one)| (policy, user, one)));
        each.filter_map(|(policy, user, breaker)| open(policy, user, breaker)).collect()
    }

    /// What has opened and closed since it was last asked.
    pub fn take_turns(&mut self) -> Vec<BreakerTurn> {
        std::mem::take(&mut self.turns)
    }
}

/// The upper end of Wilson's interval for a share of which `won` of `of` were seen: with 95 % confidence the share is no higher, 0–1.
pub fn upper_bound(won: usize, of: usize) -> f64 {
    // Where all have, rounding must not take it below.
    if won == of {
        return 1.0;
    }
    let (n, share, z2) = (of as f64, won as f64 / of as f64, Z * Z);
    let spread = (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    ((share + z2 / (2.0 * n) + Z * spread) / (1.0 + z2 / n)).min(1.0)
}

#[cfg(test)]
pub(crate) mod tests;
