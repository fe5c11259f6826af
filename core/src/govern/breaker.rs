//! A policy whose copies keep losing for a user is left to advice for that user's jobs, and these to Hadoop, until it has rested.

use super::GovernParams;
use crate::model::{BreakerTurn, CopyEnd, CopyOutcome, JobId, OpenBreaker, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Copies of a policy that are remembered: the newest.
const WINDOW: usize = 200;
/// Users that are told apart; more are not counted.
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

impl Breakers {
    /// Counts a copy that was asked for and came to be, in a job of that user's. What ends while its breaker is open was begun before, and says nothing new.
    pub fn count(&mut self, end: &CopyOutcome, user: &str, params: &GovernParams, now: Time) {
        let won = match end.end {
            CopyEnd::Won => true,
            CopyEnd::Lost | CopyEnd::Died => false,
            CopyEnd::Refused | CopyEnd::Unsent | CopyEnd::Unanswered | CopyEnd::Unknown => return,
        };
        if !end.telling || end.policy.is_empty() {
            return;
        }
        let of_policy = self.by_policy.entry(end.policy.clone()).or_default();
        if of_policy.len() >= USERS_MAX && !of_policy.contains_key(user) {
            return;
        }
        let breaker = of_policy.entry(user.to_owned()).or_default();
        if breaker.opened.is_some() {
            return;
        }
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
    if of == 0 {
        return 1.0;
    }
    let (n, share, z2) = (of as f64, won as f64 / of as f64, Z * Z);
    let spread = (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    ((share + z2 / (2.0 * n) + Z * spread) / (1.0 + z2 / n)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AppId, Millis, TaskKind};
    use proptest::prelude::*;

    fn outcome(job: u32, end: CopyEnd) -> CopyOutcome {
        let job = JobId(AppId { cluster: 1, seq: job });
        CopyOutcome {
            decision: 1,
            policy: "late".into(),
            telling: true,
            task: job.task(TaskKind::Map, 0),
            end,
            answer: None,
            attempts: vec![],
            winner: None,
            host: None,
            at: Time(0),
            cost: Millis(0),
        }
    }

    fn after(ends: impl IntoIterator<Item = (u32, CopyEnd)>, params: &GovernParams) -> Breakers {
        let mut breakers = Breakers::default();
        for (second, (job, end)) in (1..).zip(ends) {
            breakers.count(&outcome(job, end), "ada", params, Time(second * 1_000));
        }
        breakers
    }

    #[test]
    fn wilsons_bound_is_that_of_the_tables() {
        for (won, of, bound) in [(0, 20, 0.119_1), (0, 24, 0.101_3), (0, 25, 0.097_7), (5, 100, 0.099_2), (20, 20, 1.0)]
        {
            assert!((upper_bound(won, of) - bound).abs() < 0.000_1, "{won} of {of}: {}", upper_bound(won, of));
        }
    }

    #[test]
    fn it_opens_with_the_first_copy_that_makes_the_bound_certain_and_rests_as_long_as_it_should() {
        let params = GovernParams::default();
        let lost = |n| (0..n).map(|copy| (copy, CopyEnd::Lost));
        assert!(!after(lost(24), &params).is_open("late", "ada"));
        let mut breakers = after(lost(25), &params);
        assert!(breakers.is_open("late", "ada") && !breakers.is_open("late", "bob"));
        let told = BreakerTurn { policy: "late".into(), user: "ada".into(), open: true, won: 0, copies: 25 };
        assert_eq!(breakers.open(), [OpenBreaker { since: Time(25_000), told: told.clone() }]);
        breakers.rest(&params, Time(25_000 + params.breaker_rest.0 - 1));
        assert!(breakers.is_open("late", "ada"));
        breakers.rest(&params, Time(25_000 + params.breaker_rest.0));
        assert!(!breakers.is_open("late", "ada") && breakers.open().is_empty());
        assert_eq!(breakers.take_turns(), [told.clone(), BreakerTurn { open: false, ..told }]);
        breakers.count(&outcome(99, CopyEnd::Lost), "ada", &params, Time(1_000_000));
        assert!(!breakers.is_open("late", "ada"), "it counts anew");
    }

    #[test]
    fn what_never_ran_and_what_is_not_telling_says_nothing() {
        let params = GovernParams::default();
        for end in [CopyEnd::Refused, CopyEnd::Unsent, CopyEnd::Unanswered, CopyEnd::Unknown] {
            assert_eq!(after((0..100).map(|copy| (copy, end)), &params), Breakers::default());
        }
        let mut breakers = Breakers::default();
        for job in 0..100 {
            let untold = CopyOutcome { telling: false, ..outcome(job, CopyEnd::Lost) };
            breakers.count(&untold, "ada", &params, Time(0));
        }
        assert_eq!(breakers, Breakers::default());
    }

    #[test]
    fn what_ends_while_it_is_open_says_nothing_and_a_clock_set_back_does_not_make_it_longer() {
        let params = GovernParams::default();
        let mut breakers = after((0..25).map(|copy| (copy, CopyEnd::Lost)), &params);
        let open = breakers.clone();
        for job in 0..200 {
            breakers.count(&outcome(job, CopyEnd::Won), "ada", &params, Time(26_000));
            breakers.count(&outcome(job, CopyEnd::Lost), "ada", &params, Time(26_000));
        }
        assert_eq!(breakers, open);
        breakers.rest(&params, Time(5_000));
        breakers.rest(&params, Time(5_000) + params.breaker_rest);
        assert!(!breakers.is_open("late", "ada"));
    }

    #[test]
    fn no_one_job_opens_it_nor_does_another_users() {
        let params = GovernParams::default();
        assert!(!after((0..1_000).map(|_| (1, CopyEnd::Lost)), &params).is_open("late", "ada"));
        assert!(after((0..1_000).map(|copy| (copy % 3, CopyEnd::Lost)), &params).is_open("late", "ada"));
    }

    #[test]
    fn an_operators_word_and_a_bound_of_nothing_close_it() {
        let params = GovernParams::default();
        let open = after((0..50).map(|copy| (copy, CopyEnd::Died)), &params);
        let mut reset = open.clone();
        reset.reset();
        let mut off = open.clone();
        off.rest(&GovernParams { breaker_below: 0.0, ..params }, Time(50_000));
        assert!(open.is_open("late", "ada") && !reset.is_open("late", "ada") && !off.is_open("late", "ada"));
    }

    fn fates() -> impl Strategy<Value = Vec<(u32, bool)>> {
        prop::collection::vec((0u32..6, prop::bool::weighted(0.1)), 0..300)
    }

    /// With how many copies it opens.
    fn opens(fates: &[(u32, bool)], params: &GovernParams) -> Option<usize> {
        let ends =
            |n: usize| fates[..n].iter().map(|(job, won)| (*job, if *won { CopyEnd::Won } else { CopyEnd::Lost }));
        (1..=fates.len()).find(|n| after(ends(*n), params).is_open("late", "ada"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

        #[test]
        fn with_fewer_copies_than_the_least_it_never_opens(fates in fates(), least in 1u32..60, below in 0.0f64..1.0) {
            let params = GovernParams { breaker_least: least, breaker_below: below, ..GovernParams::default() };
            prop_assert!(opens(&fates, &params).is_none_or(|copies| copies >= least as usize));
        }

        #[test]
        fn where_a_win_is_a_loss_it_opens_no_later(
            fates in fates(),
            worse in prop::collection::vec(any::<bool>(), 300),
            below in 0.0f64..0.5,
        ) {
            let params = GovernParams { breaker_below: below, ..GovernParams::default() };
            let lower: Vec<_> = fates.iter().zip(worse).map(|((job, won), worse)| (*job, *won && !worse)).collect();
            if let Some(copies) = opens(&fates, &params) {
                prop_assert!(opens(&lower, &params).is_some_and(|earlier| earlier <= copies));
            }
        }

        #[test]
        fn its_memory_has_a_bound(fates in fates()) {
            let ends = fates.iter().map(|(job, won)| (*job, if *won { CopyEnd::Won } else { CopyEnd::Lost }));
            let breakers = after(ends, &GovernParams { breaker_least: 400, breaker_below: 0.0, ..GovernParams::default() });
            prop_assert!(breakers.by_policy.values().flat_map(BTreeMap::values).all(|breaker| breaker.recent.len() <= WINDOW));
        }
    }
}
