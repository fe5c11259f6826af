//! What an AM refuses is asked for ever more rarely, for as long as nothing becomes of the task's attempts.

use super::GovernParams;
use crate::model::{AttemptState, Millis, Task, Time};
use serde::{Deserialize, Serialize};

/// Refusals of what one task was to be given, one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusals {
    /// So many in a row, while its attempts stood so.
    times: u32,
    /// When the newest was taken in, the AM's clock.
    at: Time,
    /// The task's attempts then, as far as they were known.
    attempts: Vec<(u32, AttemptState)>,
}

impl Refusals {
    /// One more, after those before.
    pub(super) fn another(before: Option<&Refusals>, task: Option<&Task>, at: Time) -> Refusals {
        let row = before.filter(|before| !before.is_moot(task)).map_or(0, |before| before.times);
        Refusals { times: row.saturating_add(1), at, attempts: standing(task) }
    }

    /// Is the task another by now than the one that they were about: with more attempts, or others in another state?
    pub(super) fn is_moot(&self, task: Option<&Task>) -> bool {
        self.attempts != standing(task)
    }

    /// When the same may be asked for again, the AM's clock.
    pub(super) fn again(&self, params: &GovernParams) -> Time {
        self.at + params.after_refusals(self.times)
    }

    /// When something may be asked for of a task that is another by now, the AM's clock.
    pub(super) fn afresh(&self, params: &GovernParams) -> Time {
        self.at + params.after_refusals(1)
    }
}

fn standing(task: Option<&Task>) -> Vec<(u32, AttemptState)> {
    let attempts = task.into_iter().flat_map(|task| &task.attempts);
    attempts.map(|attempt| (attempt.number, attempt.state)).collect()
}

impl GovernParams {
    /// How long after so many refusals in a row: `try_again`, doubled each time, up to `cool_down`. So what was in the way is noticed to be gone after as much time again as it
    /// took to go, at most.
    fn after_refusals(&self, times: u32) -> Millis {
        let doubled = self.try_again.0.saturating_mul(1 << times.saturating_sub(1).min(32));
        Millis(doubled.min(self.cool_down.0).max(self.try_again.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::govern::flight::tests::{attempt, job, map};
    use crate::model::Job;
    use AttemptState::{Killed, Running, Starting};
    use proptest::prelude::*;

    fn params(try_again: u64, cool_down: u64) -> GovernParams {
        GovernParams { try_again: Millis(try_again), cool_down: Millis(cool_down), ..GovernParams::default() }
    }

    /// A task's first attempt runs; its second, if any, is in that state.
    fn with(second: Option<AttemptState>) -> Job {
        let mut job = job();
        attempt(&mut job, map(0).attempt(0), Running, 1_000, 0);
        second.into_iter().for_each(|state| attempt(&mut job, map(0).attempt(1), state, 0, 0));
        job
    }

    #[test]
    fn each_refusal_doubles_the_wait_up_to_the_longest() {
        let of = |params: GovernParams| [1, 2, 3, 4, 5, 6, u32::MAX].map(|times| params.after_refusals(times).0);
        let default = of(GovernParams::default());
        assert_eq!(default, [3_000, 6_000, 12_000, 24_000, 48_000, 60_000, 60_000]);
        assert_eq!(of(params(9_000, 1_000)), [9_000; 7], "nothing is asked for sooner than what never ran");
        assert_eq!(of(params(0, 60_000)), [0; 7]);
    }

    #[test]
    fn a_row_of_refusals_ends_with_any_other_attempt_or_state_and_with_nothing_else() {
        let before = with(Some(Starting));
        let task = |job: &Job| job.task(map(0)).cloned();
        let first = Refusals::another(None, task(&before).as_ref(), Time(10_000));
        for (after, row) in
            [(with(Some(Starting)), 2), (with(Some(Running)), 1), (with(Some(Killed)), 1), (with(None), 1)]
        {
            let second = Refusals::another(Some(&first), task(&after).as_ref(), Time(13_000));
            assert_eq!((second.times, first.is_moot(task(&after).as_ref())), (row, row == 1), "{second:?}");
        }
        let mut third = before;
        attempt(&mut third, map(0).attempt(2), Starting, 0, 0);
        assert!(first.is_moot(task(&third).as_ref()), "one more");
    }

    proptest! {
        #[test]
        fn what_is_refused_for_long_is_asked_for_few_times_and_what_was_in_the_way_is_soon_seen_to_be_gone(
            try_again in 1_u64..60_000,
            cool_down in 1_u64..600_000,
            gone in 0_u64..3_600_000,
        ) {
            let (params, job) = (params(try_again, cool_down), with(None));
            let (mut now, mut row, mut waited) = (Time(0), None, Millis(0));
            let mut asked = 0;
            while now < Time(gone) {
                let next = Refusals::another(row.as_ref(), job.task(map(0)), now);
                let wait = next.again(&params).since(now);
                prop_assert!(wait >= waited, "{wait:?} after {waited:?}");
                prop_assert!(wait.0 >= try_again && wait.0 <= cool_down.max(try_again));
                (now, waited, row, asked) = (now + wait, wait, Some(next), asked + 1);
            }
            let late = now.since(Time(gone));
            prop_assert!(late.0 <= gone + try_again, "{late:?} after {gone}");
            let longest = cool_down.max(try_again);
            let doublings = f64::from(u32::try_from(longest.div_ceil(try_again)).unwrap()).log2().ceil();
            prop_assert!(f64::from(asked) <= 2.0 + doublings + gone as f64 / longest as f64, "{asked} times");
        }
    }
}
