//! How far what happens lies from a predicted time left, as past predictions have shown it.

use super::note::Point;
use crate::estimate::Left;
use crate::model::Millis;

/// One standard deviation around a predicted time left, as a share of it, at each [`Point`] of progress.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spreads([f64; Point::ALL.len()]);

impl Spreads {
    /// A guess, while too little is known of an estimator: a quarter.
    pub const UNMEASURED: Spreads = Spreads([0.25; Point::ALL.len()]);

    /// The same at every point.
    pub fn even(relative: f64) -> Spreads {
        Spreads([relative; Point::ALL.len()])
    }

    /// As far as it has been measured at each point.
    pub(super) fn of(measured: impl Fn(Point) -> Option<f64>) -> Spreads {
        let Spreads(guess) = Spreads::UNMEASURED;
        Spreads(Point::ALL.map(|point| measured(point).unwrap_or(guess[point as usize])))
    }

    /// So many seconds left at that progress score, 0–1, with the spread of the point nearest to it.
    pub fn around(self, seconds: f64, score: f64) -> Left {
        let relative = self.0[Point::nearest(score) as usize];
        Left { mean: Millis::from_secs_f64(seconds), spread: Millis::from_secs_f64(seconds * relative) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_that_of_the_nearest_point_and_a_quarter_where_none_was_measured() {
        let spreads = Spreads::of(|point| [Some(1.0), None, Some(0.1)][point as usize]);
        let of = |score| spreads.around(10.0, score).spread.0;
        assert_eq!([0.0, 0.37, 0.38, 0.62, 0.63, 1.0].map(of), [10_000, 10_000, 2_500, 2_500, 1_000, 1_000]);
        assert_eq!(spreads.around(10.0, 0.5).mean, Millis(10_000));
        assert_eq!(Spreads::of(|_| None), Spreads::UNMEASURED);
    }
}
