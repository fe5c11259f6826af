//! What is noted of an attempt while it runs.

use super::Spreads;
use crate::estimate::phase::{PhaseTimes, Shape};
use crate::estimate::{Estimator, Left, Sample};
use crate::model::{Millis, Time};
use serde::{Deserialize, Serialize};

/// A progress at which predictions are noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Point {
    /// A score of 0.25.
    Quarter,
    /// A score of 0.5.
    Half,
    /// A score of 0.75.
    ThreeQuarters,
}

impl Point {
    /// Every point.
    pub const ALL: [Point; 3] = [Point::Quarter, Point::Half, Point::ThreeQuarters];

    /// The highest point that a score has reached: one that was leapt over shows nothing.
    pub fn of(score: f64) -> Option<Point> {
        Point::ALL.into_iter().rfind(|point| score < 1.0 && score >= point.score())
    }

    /// The one nearest to a score, of two as near the higher.
    pub fn nearest(score: f64) -> Point {
        match score {
            low if low < 0.375 => Point::Quarter,
            middle if middle < 0.625 => Point::Half,
            _ => Point::ThreeQuarters,
        }
    }

    /// The score, 0–1.
    pub fn score(self) -> f64 {
        match self {
            Point::Quarter => 0.25,
            Point::Half => 0.5,
            Point::ThreeQuarters => 0.75,
        }
    }

    /// Stable label.
    pub fn label(self) -> &'static str {
        match self {
            Point::Quarter => "quarter",
            Point::Half => "half",
            Point::ThreeQuarters => "three_quarters",
        }
    }
}

/// What every estimator said of an attempt's time left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    point: Point,
    /// When, the AM's clock.
    at: Time,
    /// In the order of [`Estimator::ALL`]; `None` of one that had no answer.
    left: [Option<Guess>; Estimator::ALL.len()],
}

/// Mean and spread of a time left, milliseconds, at most 49 days: small, as many are kept.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Guess(u32, u32);

impl Guess {
    fn of(left: Left) -> Guess {
        let small = |length: Millis| u32::try_from(length.0).unwrap_or(u32::MAX);
        Guess(small(left.mean), small(left.spread))
    }

    fn left(self) -> Left {
        Left { mean: Millis(self.0.into()), spread: Millis(self.1.into()) }
    }
}

impl Note {
    /// Asks them all, each with the spread that it is known by, in the order of [`Estimator::ALL`].
    pub fn new(
        point: Point,
        sample: &Sample,
        shape: Shape,
        times: &PhaseTimes,
        spreads: &[Spreads; Estimator::ALL.len()],
        now: Time,
    ) -> Note {
        let left = |estimator: Estimator| estimator.time_left(sample, shape, times, spreads[estimator as usize], now);
        Note::of(point, now, Estimator::ALL.map(left))
    }

    /// What they said, in the order of [`Estimator::ALL`].
    pub fn of(point: Point, at: Time, left: [Option<Left>; Estimator::ALL.len()]) -> Note {
        Note { point, at, left: left.map(|left| left.map(Guess::of)) }
    }

    /// The progress that had been reached.
    pub fn point(&self) -> Point {
        self.point
    }

    /// When, the AM's clock.
    pub fn at(&self) -> Time {
        self.at
    }

    /// The end that one of them predicted, the AM's clock; `None` where it had no answer.
    pub(super) fn end(&self, estimator: Estimator) -> Option<Time> {
        Some(self.at + self.left[estimator as usize]?.left().mean)
    }

    /// Those that answered.
    pub(super) fn answers(&self) -> impl Iterator<Item = (Estimator, Left)> {
        Estimator::ALL.into_iter().zip(self.left).filter_map(|(estimator, left)| Some((estimator, left?.left())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimators_are_numbered_in_the_order_in_which_their_answers_are_kept() {
        assert_eq!(Estimator::ALL.map(|estimator| estimator as usize), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_point_that_was_leapt_over_is_not_noted_late() {
        assert_eq!(
            [0.2, 0.25, 0.6, 0.99, 1.0].map(Point::of),
            [None, Some(Point::Quarter), Some(Point::Half), Some(Point::ThreeQuarters), None]
        );
    }

    #[test]
    fn points_are_called_what_answers_call_them() {
        assert_eq!(Point::ALL.map(Point::label), ["quarter", "half", "three_quarters"]);
    }

    #[test]
    fn of_two_points_as_near_the_higher_is_the_nearest() {
        use Point::*;
        let scores = [0.0, 0.374, 0.375, 0.624, 0.625, 1.0];
        assert_eq!(scores.map(Point::nearest), [Quarter, Quarter, Half, Half, ThreeQuarters, ThreeQuarters]);
    }
}
