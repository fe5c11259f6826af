//! Quantities with their units in the type.

use serde::{Deserialize, Serialize};
use std::ops::{Add, Sub};

/// An instant: milliseconds since the Unix epoch, on whichever clock its context names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(pub u64);

/// A length of time in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub u64);

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// A share of a whole, to be rounded as the caller means it: whole where the share that a person wrote, and not its nearest floating-point number, makes it whole. 0.29 of
/// 100 is 29, where plain arithmetic has 28.999999999999996.
///
/// The share as written is off by half of ε at most, the product by as much again. What is truly that near to a whole number has more
/// than fifteen digits, those of share and whole together.
pub fn share_of(share: f64, whole: u64) -> f64 {
    let part = share * whole as f64;
    let nearest = part.round();
    if (part - nearest).abs() <= 2.0 * f64::EPSILON * nearest.abs() { nearest } else { part }
}

/// How many of so many maps end before a job's reduces are asked for: the share that a person wrote of them (`mapreduce.job.reduce.slowstart.completedmaps`), and not one more for its nearest
/// floating-point number.
pub fn maps_before_reduces(slow_start: f32, maps: u32) -> u32 {
    share_of(as_written(slow_start), maps.into()).ceil() as u32
}

/// A share as a person wrote it before it became the `f32` nearest to it: 0.05, not 0.05000000074505806.
fn as_written(share: f32) -> f64 {
    share.to_string().parse().unwrap_or_else(|_| share.into())
}

impl Time {
    /// The time that has passed since `earlier`; zero when `earlier` lies ahead.
    pub fn since(self, earlier: Time) -> Millis {
        Millis(self.0.saturating_sub(earlier.0))
    }

    /// How much later this is than another, milliseconds: negative when it is earlier.
    pub fn ms_after(self, other: Time) -> i64 {
        let wide = |time: Time| i64::try_from(time.0).unwrap_or(i64::MAX);
        wide(self).saturating_sub(wide(other))
    }

    /// This instant moved by a signed number of milliseconds, as a clock's offset is.
    pub fn shifted(self, offset_ms: i64) -> Time {
        Time(self.0.saturating_add_signed(offset_ms))
    }
}

impl Millis {
    /// From seconds; negative and NaN give zero, larger than the type holds gives its maximum.
    pub fn from_secs_f64(seconds: f64) -> Millis {
        Millis(rounded(seconds * 1000.0))
    }

    /// In seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1000.0
    }

    /// This length times a factor; a negative or NaN factor gives zero.
    pub fn scaled(self, factor: f64) -> Millis {
        Millis(rounded(self.0 as f64 * factor))
    }
}

/// The nearest whole number, of two as near the larger; negative and NaN give zero, what is too large the largest. As `f64::round` has it, which is a call of the maths
/// library where any processor is built for.
fn rounded(value: f64) -> u64 {
    let below = value as u64;
    below.saturating_add(u64::from(value - below as f64 >= 0.5))
}

impl Add<Millis> for Time {
    type Output = Time;
    fn add(self, length: Millis) -> Time {
        Time(self.0.saturating_add(length.0))
    }
}

impl Sub<Millis> for Time {
    type Output = Time;
    fn sub(self, length: Millis) -> Time {
        Time(self.0.saturating_sub(length.0))
    }
}

impl Add for Millis {
    type Output = Millis;
    fn add(self, other: Millis) -> Millis {
        Millis(self.0.saturating_add(other.0))
    }
}

impl Sub for Millis {
    type Output = Millis;
    fn sub(self, other: Millis) -> Millis {
        Millis(self.0.saturating_sub(other.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_later_by_so_much_is_earlier_the_other_way_round() {
        let (one, other) = (Time(1_000), Time(4_000));
        assert_eq!((other.ms_after(one), one.ms_after(other), one.ms_after(one)), (3_000, -3_000, 0));
        assert_eq!(Time(u64::MAX).ms_after(Time(0)), i64::MAX);
    }
    use proptest::prelude::*;

    #[test]
    fn so_many_hundredths_of_a_hundred_are_so_many() {
        assert!((0..=100).any(|k| f64::from(k) / 100.0 * 100.0 != f64::from(k)), "plain arithmetic does not do");
        for k in 0..=100_u32 {
            assert_eq!(share_of(f64::from(k) / 100.0, 100), f64::from(k));
        }
    }

    #[test]
    fn what_is_no_whole_number_is_left_as_it_is() {
        for (share, whole, part) in [(0.25, 10, 2.5), (0.333_333, 3, 0.999_999), (0.0, 7, 0.0), (1e-9, 1, 1e-9)] {
            assert_eq!(share_of(share, whole), part);
        }
        assert_eq!(share_of(0.999_999_999_999_9, 1_000), 999.999_999_999_9);
    }

    #[test]
    fn lengths_are_rounded_as_numbers_are_whatever_their_size_or_sign() {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.5, 0.499_999_999_999_999_94, 0.5, 1.5, 2.5, 1e300];
        let large = [52, 53, 63, 64].map(|power| 2.0_f64.powi(power) + 0.5);
        for value in odd.into_iter().chain(large).chain((0..1_000).map(|n| f64::from(n) / 64.0)) {
            assert_eq!(rounded(value), value.round() as u64, "{value}");
        }
    }

    proptest! {
        #[test]
        fn a_decimal_share_of_a_whole_is_rounded_as_whole_numbers_have_it(
            digits in 0..=6_u32, numerator in 0..=1_000_000_u64, whole in 0..=1_000_000_000_u64,
        ) {
            let below = 10_u64.pow(digits);
            let numerator = numerator % (below + 1);
            let part = share_of(numerator as f64 / below as f64, whole);
            let exact = u128::from(numerator) * u128::from(whole);
            prop_assert_eq!(part.floor() as u128, exact / u128::from(below));
            prop_assert_eq!(part.ceil() as u128, exact.div_ceil(u128::from(below)));
        }
    }
}
