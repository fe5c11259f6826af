//! Outputs of maps that reduces could not fetch.

use super::id::AttemptId;
use super::units::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One reduce's word that it could not fetch a map's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Miss {
    /// Index of the reduce.
    pub reduce: u32,
    /// When it told so last, the AM's clock.
    pub at: Time,
}

/// Of one job: by the attempt that wrote the output the reduces that could not fetch it, each with its newest word.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Missed(#[serde(with = "crate::model::pairs")] BTreeMap<AttemptId, BTreeMap<u32, Time>>);

impl Missed {
    /// Beyond it those of the first tasks are kept, in whatever order they are told.
    const OUTPUTS_MAX: usize = 1_000;
    /// Beyond it the newest words are kept. A decision needs two.
    const REDUCES_MAX: usize = 8;

    /// Takes note of what is told of one output. Is any of it new?
    pub(super) fn learn(&mut self, output: AttemptId, told: &[Miss]) -> bool {
        if told.is_empty() {
            return false;
        }
        let known = self.0.entry(output).or_default();
        let before = known.clone();
        for miss in told {
            let at = known.entry(miss.reduce).or_insert(miss.at);
            *at = miss.at.max(*at);
        }
        while known.len() > Self::REDUCES_MAX {
            let oldest = known.iter().map(|(reduce, at)| (*at, *reduce)).min();
            oldest.map(|(_, reduce)| known.remove(&reduce));
        }
        let is_new = *known != before;
        let dropped = if self.0.len() > Self::OUTPUTS_MAX { self.0.pop_last() } else { None };
        is_new && dropped.is_none_or(|(last, _)| last != output)
    }

    /// The output is gone: what was told of it is over.
    pub(super) fn forget(&mut self, output: AttemptId) {
        self.0.remove(&output);
    }

    /// Each word: the output, and who told when.
    pub fn iter(&self) -> impl Iterator<Item = (AttemptId, Miss)> {
        let words = |(output, by): (&AttemptId, &BTreeMap<u32, Time>)| {
            let output = *output;
            by.iter().map(|(reduce, at)| (output, Miss { reduce: *reduce, at: *at })).collect::<Vec<_>>()
        };
        self.0.iter().flat_map(words)
    }

    /// None was missed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AttemptFact, AttemptState, Job, JobId, TaskKind};
    use proptest::prelude::*;

    fn output(index: u32) -> AttemptId {
        "job_1_0001".parse::<JobId>().unwrap().task(TaskKind::Map, index).attempt(0)
    }

    fn miss(reduce: u32, at: u64) -> Miss {
        Miss { reduce, at: Time(at) }
    }

    #[test]
    fn a_job_learns_who_missed_an_output_and_looks_again_when_that_is_news() {
        let mut job = Job::new("job_1_0001".parse().unwrap());
        let told = |reduce, at| AttemptFact { missed: vec![miss(reduce, at)], ..AttemptFact::of(output(3)) };
        let mut learns = |reduce, at| {
            job.stirred = false;
            assert!(job.learn_attempt(&told(reduce, at), None, Time(at), 10));
            job.stirred
        };
        assert!(learns(1, 5) && learns(1, 9) && learns(2, 3));
        assert!(!learns(1, 9) && !learns(1, 7) && !learns(2, 3), "older, or known");
        assert_eq!(job.missed.iter().collect::<Vec<_>>(), [(output(3), miss(1, 9)), (output(3), miss(2, 3))]);
        let kept: Missed = serde_json::from_str(&serde_json::to_string(&job.missed).unwrap()).unwrap();
        assert_eq!(kept, job.missed);
        let killed = AttemptFact { state: Some(AttemptState::Killed), ..told(3, 10) };
        assert!(job.learn_attempt(&killed, None, Time(10), 10));
        assert!(job.missed.is_empty(), "none misses what is gone");
    }

    #[test]
    fn of_many_outputs_those_of_the_first_thousand_are_kept() {
        let mut missed = Missed::default();
        for index in (0..=1_000).rev() {
            missed.learn(output(index), &[miss(0, 1)]);
        }
        assert_eq!(missed.iter().count(), 1_000);
        assert!(!missed.learn(output(1_000), &[miss(0, 9)]), "it is not kept, so it is no news");
        assert!(missed.learn(output(999), &[miss(0, 9)]) && !missed.is_empty());
    }

    proptest! {
        #[test]
        fn words_may_come_in_any_order_and_again(
            told in prop::collection::vec((0u32..3, 0u32..12, 0u64..50), 1..60).prop_flat_map(|told| (Just(told.clone()), Just(told).prop_shuffle())),
        ) {
            let fold = |words: &[(u32, u32, u64)]| {
                let mut missed = Missed::default();
                for (index, reduce, at) in words {
                    missed.learn(output(*index), &[miss(*reduce, *at)]);
                }
                missed
            };
            let once = fold(&told.0);
            prop_assert_eq!(&once, &fold(&told.1));
            prop_assert_eq!(&once, &fold(&[&told.0[..], &told.1[..]].concat()));
            prop_assert!(once.0.values().all(|by| by.len() <= Missed::REDUCES_MAX));
        }
    }
}
