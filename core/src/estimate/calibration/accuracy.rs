//! How good an estimator's predictions were.

use super::note::Point;
use super::watch::{Pairs, SAMPLED};
use crate::estimate::{Estimator, Left};
use crate::model::{Millis, TaskKind, pairs};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// A prediction's interval: so many spreads to both sides of its mean, which four of five lie in under a normal law.
pub const INTERVAL_SPREADS: f64 = 1.2816;

/// What a predicted interval is to cover.
pub const INTERVAL: f64 = 0.8;

/// Upper ends of the buckets of relative errors, in thousandths: ten a decade where it matters. What is larger than the last counts as the last.
const BUCKETS: [u16; 25] = [
    10, 20, 30, 40, 50, 63, 79, 100, 126, 158, 200, 251, 316, 398, 501, 631, 794, 1000, 1259, 1585, 1995, 2512, 3981,
    6310, 10_000,
];

/// So much evidence is kept at most; then all of it counts half.
const EVIDENCE_MAX: u32 = 1024;

/// The same for pairs.
const PAIRS_MAX: u32 = 1 << 15;

/// A prediction set against what happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// (predicted − actual) / actual in thousandths, at most 10,000.
    pub error: i32,
    /// |actual − predicted| / predicted in thousandths, rounded up, at most 10,000.
    pub miss: u32,
    /// The actual time lay within the predicted interval.
    pub covered: bool,
}

impl Outcome {
    /// Of a time left that was predicted, and as it was; `None` where nothing was left.
    pub fn of(predicted: Left, actual: Millis) -> Option<Outcome> {
        let worst = i64::from(BUCKETS[BUCKETS.len() - 1]);
        // A thousand times as many milliseconds still are a number.
        let whole = |time: Millis| time.0.min(1 << 52) as i64;
        let (mean, truth) = (whole(predicted.mean), whole(actual));
        let error = ((mean - truth) * 1000).checked_div(truth)?.min(worst) as i32;
        let off = mean.abs_diff(truth);
        let miss = (off as i64 * 1000 + mean - 1).checked_div(mean).unwrap_or(worst).min(worst) as u32;
        let within = predicted.spread.0 as f64 * INTERVAL_SPREADS;
        Some(Outcome { error, miss, covered: off as f64 <= within })
    }
}

/// How good one estimator was, at one point of progress, for one kind of task. The sums are whole numbers: the order they are added in changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Accuracy {
    evidence: u32,
    /// Sum of absolute errors, thousandths.
    absolute: u32,
    /// Sum of errors, thousandths.
    signed: i32,
    covered: u32,
    /// Absolute errors by bucket.
    errors: [u16; BUCKETS.len()],
    /// Misses by bucket.
    #[serde(default)]
    misses: [u16; BUCKETS.len()],
    pairs: u32,
    misordered: u32,
}

impl Accuracy {
    /// Adds a prediction. Older ones count half each time there are 1024: jobs change, and counts stay small.
    pub fn add(&mut self, outcome: Outcome) {
        let absolute = outcome.error.unsigned_abs();
        self.evidence += 1;
        self.absolute += absolute;
        self.signed += outcome.error;
        self.covered += u32::from(outcome.covered);
        self.errors[bucket(absolute)] += 1;
        self.misses[bucket(outcome.miss)] += 1;
        if self.evidence >= EVIDENCE_MAX {
            self.evidence /= 2;
            self.absolute /= 2;
            self.signed /= 2;
            self.covered /= 2;
            self.errors.iter_mut().chain(&mut self.misses).for_each(|count| *count /= 2);
        }
    }

    /// Adds pairs of tasks whose order of ending was predicted.
    pub(super) fn add_pairs(&mut self, more: Pairs) {
        self.pairs += more.all;
        self.misordered += more.wrong;
        if self.pairs >= PAIRS_MAX {
            self.pairs /= 2;
            self.misordered /= 2;
        }
    }

    /// How many predictions it rests on, older ones at less than one.
    pub fn evidence(&self) -> u32 {
        self.evidence
    }

    /// Mean absolute error relative to the actual time left, each at most 10; `None` without evidence.
    pub fn mean_error(&self) -> Option<f64> {
        self.share(f64::from(self.absolute) / 1000.0)
    }

    /// Mean relative error, above zero where too much was predicted; `None` without evidence.
    pub fn bias(&self) -> Option<f64> {
        self.share(f64::from(self.signed) / 1000.0)
    }

    /// Share of predictions whose interval held the truth, to be 0.8; `None` without evidence.
    pub fn coverage(&self) -> Option<f64> {
        self.share(f64::from(self.covered))
    }

    fn share(&self, of: f64) -> Option<f64> {
        (self.evidence > 0).then(|| of / f64::from(self.evidence))
    }

    /// Median absolute relative error, on a line within its bucket, which is a quarter wide above 0.05; `None` without evidence.
    pub fn median_error(&self) -> Option<f64> {
        let Reached { from, end, part } = Reached::by(&self.errors, 0.5)?;
        Some(from + (end - from) * part)
    }

    /// One standard deviation of a prediction, as a share of it, with which its interval would have held the truth as often as it is to; `None` before 20
    /// predictions. By what was missed on either side: an estimator that always predicts too little is trusted no more than one that is off by chance. The upper
    /// end of its bucket, as errors may all be the same.
    pub fn spread(&self) -> Option<f64> {
        let reached = Reached::by(&self.misses, INTERVAL).filter(|_| self.evidence >= ENOUGH)?;
        Some(reached.end / INTERVAL_SPREADS)
    }

    /// Pairs of tasks whose order of ending was predicted, older ones at less than one.
    pub fn pairs(&self) -> u32 {
        self.pairs
    }

    /// Share of those whose order was another, 0–1; `None` without a pair.
    pub fn wrong_orderings(&self) -> Option<f64> {
        (self.pairs > 0).then(|| f64::from(self.misordered) / f64::from(self.pairs))
    }
}

/// The bucket that so many thousandths lie in.
fn bucket(thousandths: u32) -> usize {
    BUCKETS.partition_point(|end| u32::from(*end) < thousandths).min(BUCKETS.len() - 1)
}

/// Where a share of all that was counted is reached: the bucket, and how far into it.
struct Reached {
    from: f64,
    end: f64,
    /// 0–1.
    part: f64,
}

impl Reached {
    /// By that share, 0–1; `None` where nothing was counted.
    fn by(counts: &[u16; BUCKETS.len()], share: f64) -> Option<Reached> {
        let wanted = counts.iter().map(|count| f64::from(*count)).sum::<f64>() * share;
        let (mut below, mut from) = (0.0, 0.0);
        for (count, end) in counts.iter().zip(BUCKETS) {
            let (count, end) = (f64::from(*count), f64::from(end) / 1000.0);
            if count > 0.0 && below + count >= wanted {
                return Some(Reached { from, end, part: (wanted - below) / count });
            }
            (below, from) = (below + count, end);
        }
        None
    }
}

/// What an accuracy is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// Maps or reduces.
    pub tasks: TaskKind,
    /// The progress at which it was predicted.
    pub point: Point,
    /// By what.
    pub estimator: Estimator,
}

impl Cell {
    /// Its place in the order of its parts: one number to compare, as every prediction looks for its cell.
    fn place(self) -> usize {
        (self.tasks as usize * Point::ALL.len() + self.point as usize) * Estimator::ALL.len() + self.estimator as usize
    }
}

impl Ord for Cell {
    fn cmp(&self, other: &Cell) -> Ordering {
        self.place().cmp(&other.place())
    }
}

impl PartialOrd for Cell {
    fn partial_cmp(&self, other: &Cell) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Accuracies of all estimators, at each point, for maps and reduces.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Record {
    #[serde(with = "pairs")]
    cells: BTreeMap<Cell, Accuracy>,
    /// Attempts whose predictions were never put to the test, as they did not run to success: of maps and reduces.
    pub censored: [u64; 2],
}

/// The configured estimator gives way from so much evidence on, of both; so much measures a spread.
const ENOUGH: u32 = 20;

/// So much of one estimator at half of the progress tells as much of a kind of jobs as is wanted: eight jobs' whole samples.
const PLENTY: u32 = 8 * SAMPLED;

/// So much of its median error another's may be at most.
const BETTER: f64 = 0.9;

/// So often another is to answer, to the configured one's once.
const ANSWERS: f64 = 0.9;

impl Record {
    /// The accuracy to add to.
    pub(super) fn cell(&mut self, cell: Cell) -> &mut Accuracy {
        self.cells.entry(cell).or_default()
    }

    /// Each accuracy there is evidence for: maps first, then by point, then by estimator.
    pub fn cells(&self) -> impl Iterator<Item = (Cell, &Accuracy)> {
        self.cells.iter().map(|(cell, accuracy)| (*cell, accuracy))
    }

    /// The accuracy of one estimator; `None` where it predicted nothing.
    pub fn of(&self, tasks: TaskKind, point: Point, estimator: Estimator) -> Option<&Accuracy> {
        self.cells.get(&Cell { tasks, point, estimator })
    }

    /// Is so much known of maps or reduces that few of a job's tasks need be sampled?
    pub(super) fn is_well_known(&self, tasks: TaskKind) -> bool {
        let known = |estimator| self.of(tasks, Point::Half, estimator).is_some_and(|known| known.evidence >= PLENTY);
        Estimator::ALL.into_iter().any(known)
    }

    /// The estimator to take instead of the configured one: of the least median error at half of the progress, where that is less than nine tenths of the configured
    /// one's, both rest on 20 predictions, and it answers nine times in ten as often. `None`: the configured one stays. Of equals the one of the lesser mean error, else
    /// the first: on maps LATE's and Hadoop's Legacy say the same.
    pub fn best(&self, tasks: TaskKind, configured: Estimator) -> Option<Estimator> {
        let known = |estimator| {
            let accuracy = self.of(tasks, Point::Half, estimator).filter(|known| known.evidence >= ENOUGH)?;
            Some((accuracy.median_error()?, accuracy.mean_error()?, accuracy.evidence, estimator))
        };
        let (error, _, evidence, _) = known(configured)?;
        let answers = |other: u32| f64::from(other) >= ANSWERS * f64::from(evidence);
        let others = Estimator::ALL.into_iter().filter_map(known);
        let better = others.filter(|(other, _, answered, _)| *other < BETTER * error && answers(*answered));
        better.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))).map(|(.., estimator)| estimator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_median_lies_within_its_bucket() {
        let mut accuracy = Accuracy::default();
        assert_eq!((accuracy.median_error(), accuracy.wrong_orderings()), (None, None));
        for error in [-900, 20, 300, 320, 5_000_000] {
            accuracy.add(Outcome { error: error.min(10_000), miss: 0, covered: false });
        }
        let median = accuracy.median_error().unwrap();
        assert!((0.316..=0.398).contains(&median), "{median}");
        assert_eq!(accuracy.mean_error(), Some((0.9 + 0.02 + 0.3 + 0.32 + 10.0) / 5.0));
    }

    #[test]
    fn old_evidence_gives_way_to_new() {
        let mut accuracy = Accuracy::default();
        (0..2_000).for_each(|_| accuracy.add(Outcome { error: 1_000, miss: 0, covered: false }));
        (0..3_000).for_each(|_| accuracy.add(Outcome { error: 0, miss: 0, covered: true }));
        (0..100_000).for_each(|n| accuracy.add_pairs(Pairs { all: 1, wrong: u32::from(n < 50_000) }));
        assert!(accuracy.evidence() < 1024 && accuracy.pairs() < 1 << 15);
        assert!(accuracy.median_error().unwrap() < 0.01 && accuracy.coverage().unwrap() > 0.9, "{accuracy:?}");
        assert!(accuracy.wrong_orderings().unwrap() < 0.2);
    }

    #[test]
    fn a_spread_is_measured_from_twenty_predictions_on_and_by_what_was_missed_of_the_prediction() {
        let spread = |times: u32, predicted: u64| {
            let left = Left { mean: Millis(predicted), spread: Millis(predicted / 4) };
            let mut accuracy = Accuracy::default();
            (0..times).for_each(|_| accuracy.add(Outcome::of(left, Millis(10_000)).unwrap()));
            accuracy.spread().map(|spread| spread * INTERVAL_SPREADS)
        };
        assert_eq!(spread(19, 5_000), None);
        assert!((spread(20, 5_000).unwrap() - 1.0).abs() < 1e-9, "it took twice as long");
        assert!((spread(20, 20_000).unwrap() - 0.501).abs() < 1e-9, "it took half as long");
        assert!((spread(20, 0).unwrap() - 10.0).abs() < 1e-9, "none was predicted");
    }

    proptest! {
        #[test]
        fn the_measured_interval_holds_four_of_five_and_one_a_bucket_narrower_does_not(
            left in prop::collection::vec((1_000u64..1_000_000, 1u64..3_000_000), ENOUGH as usize..300)
        ) {
            let outcomes = left.iter().filter_map(|(predicted, actual)| {
                Outcome::of(Left { mean: Millis(*predicted), spread: Millis(0) }, Millis(*actual))
            });
            let outcomes: Vec<Outcome> = outcomes.collect();
            let mut accuracy = Accuracy::default();
            outcomes.iter().for_each(|outcome| accuracy.add(*outcome));
            let half_width = accuracy.spread().unwrap() * INTERVAL_SPREADS * 1000.0;
            let held = |within: f64| {
                let held = outcomes.iter().filter(|outcome| f64::from(outcome.miss) <= within + 1e-6).count();
                held as f64 / outcomes.len() as f64
            };
            prop_assert!(held(half_width) >= INTERVAL - 1e-9);
            let narrower = BUCKETS.into_iter().rev().map(f64::from).find(|end| *end < half_width - 1e-6).unwrap_or(0.0);
            prop_assert!(narrower == 0.0 || held(narrower) < INTERVAL);
        }
    }

    #[test]
    fn an_error_at_a_buckets_upper_end_lies_in_it_and_what_is_beyond_the_last_lies_in_the_last() {
        let median = |error| {
            let mut accuracy = Accuracy::default();
            accuracy.add(Outcome { error, miss: 0, covered: false });
            accuracy.median_error().unwrap()
        };
        let middle = |from: f64, end: f64| (from + end) / 2.0;
        for (error, from, end) in [(100, 0.079, 0.1), (101, 0.1, 0.126), (10_000, 6.31, 10.0), (20_000, 6.31, 10.0)] {
            assert!((median(error) - middle(from, end)).abs() < 1e-9, "{error}: {}", median(error));
        }
    }

    #[test]
    fn once_the_bound_is_reached_all_that_is_known_counts_half_and_says_the_same() {
        let mut accuracy = Accuracy::default();
        assert_eq!((accuracy.mean_error(), accuracy.bias(), accuracy.coverage()), (None, None, None));
        let mut add = |times: u32| {
            (0..times).for_each(|n| accuracy.add(Outcome { error: 500, miss: 0, covered: n % 4 == 0 }));
            (accuracy.evidence(), accuracy.mean_error(), accuracy.bias(), accuracy.coverage(), accuracy.median_error())
        };
        assert_eq!(add(EVIDENCE_MAX - 4).0, EVIDENCE_MAX - 4);
        let (evidence, mean, bias, coverage, median) = add(4);
        assert_eq!((evidence, mean, bias, coverage), (EVIDENCE_MAX / 2, Some(0.5), Some(0.5), Some(0.25)));
        assert!((median.unwrap() - (0.398 + 0.501) / 2.0).abs() < 1e-9);
        (0..PAIRS_MAX).for_each(|n| accuracy.add_pairs(Pairs { all: 1, wrong: u32::from(n % 4 == 0) }));
        assert_eq!((accuracy.pairs(), accuracy.wrong_orderings()), (PAIRS_MAX / 2, Some(0.25)));
    }
}
