//! Copies decided on within the last minute, whatever has become of them.

use crate::model::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const SECOND: u64 = 1_000;
const SECONDS: u64 = 60;

/// Copies by the second of the service's clock, of the last 60 whole seconds and the one that runs: none is forgotten before its minute is over, and one a second later at most.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Minute {
    by_second: BTreeMap<u64, u32>,
}

impl Minute {
    /// Forgets what is more than a minute ago. What a clock that was set back has yet to reach counts from now on.
    pub fn roll(&mut self, now: Time) {
        let second = now.0 / SECOND;
        let ahead: u32 = self.by_second.split_off(&second).into_values().sum();
        self.by_second = self.by_second.split_off(&second.saturating_sub(SECONDS));
        self.add(now, ahead);
    }

    /// Takes note of so many copies.
    pub fn add(&mut self, now: Time, copies: u32) {
        if copies > 0 {
            *self.by_second.entry(now.0 / SECOND).or_default() += copies;
        }
    }

    /// Copies of the last minute.
    pub fn count(&self) -> u32 {
        self.by_second.values().sum()
    }

    /// When the oldest of them counts no more.
    pub fn frees(&self) -> Option<Time> {
        self.by_second.keys().next().map(|second| Time((second + SECONDS + 1) * SECOND))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_copy_counts_for_a_minute_and_no_more_than_a_second_longer() {
        let mut minute = Minute::default();
        minute.add(Time(1_999), 2);
        minute.add(Time(2_000), 1);
        let counts = [61_999, 62_000, 62_999, 63_000].map(|now| {
            let mut then = minute.clone();
            then.roll(Time(now));
            then.count()
        });
        assert_eq!((counts, minute.frees()), ([3, 1, 1, 0], Some(Time(62_000))));
    }

    #[test]
    fn a_clock_that_is_set_back_neither_forgets_copies_nor_counts_them_for_longer_than_a_minute() {
        let mut minute = Minute::default();
        minute.add(Time(7_200_000), 3);
        minute.roll(Time(3_600_000));
        assert_eq!((minute.count(), minute.frees()), (3, Some(Time(3_661_000))));
    }

    proptest! {
        #[test]
        fn within_no_sixty_seconds_are_there_more_than_may_be(
            asks in prop::collection::vec((0u64..5_000, 1u32..5), 1..300),
            cap in 1u32..20,
        ) {
            let (mut minute, mut now, mut taken) = (Minute::default(), 0, Vec::new());
            for (after, copies) in asks {
                now += after;
                minute.roll(Time(now));
                if minute.count() + copies <= cap {
                    minute.add(Time(now), copies);
                    taken.push((now, copies));
                }
                let within = taken.iter().filter(|(at, _)| at + 60_000 >= now);
                prop_assert!(within.map(|(_, copies)| copies).sum::<u32>() <= cap);
                prop_assert!(minute.by_second.len() <= 61);
            }
        }
    }
}
