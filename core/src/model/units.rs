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

impl Time {
    /// The time that has passed since `earlier`; zero when `earlier` lies ahead.
    pub fn since(self, earlier: Time) -> Millis {
        Millis(self.0.saturating_sub(earlier.0))
    }

    /// This instant moved by a signed number of milliseconds, as a clock's offset is.
    pub fn shifted(self, offset_ms: i64) -> Time {
        Time(self.0.saturating_add_signed(offset_ms))
    }
}

impl Millis {
    /// From seconds; negative and NaN give zero, larger than the type holds gives its maximum.
    pub fn from_secs_f64(seconds: f64) -> Millis {
        Millis((seconds * 1000.0).round() as u64)
    }

    /// In seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1000.0
    }

    /// This length times a factor; a negative or NaN factor gives zero.
    pub fn scaled(self, factor: f64) -> Millis {
        Millis((self.0 as f64 * factor).round() as u64)
    }
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
