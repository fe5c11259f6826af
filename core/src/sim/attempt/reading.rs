//! How far a reduce has come with what it reads of maps.

use super::{Attempt, Stage};
use crate::model::Time;

/// What a clone of a reduce reads of one map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Read {
    /// How many others were given to it before.
    pub nth: u32,
    /// Which of the map's clones' outputs, in the order in which they ended.
    pub output: u32,
    /// How long that takes on a healthy node, contention included, milliseconds.
    pub millis: f64,
}

impl Attempt {
    /// Of a reduce: how much of its reading can be done by now, share (0–1).
    pub fn may_read(&mut self, limit: f64, now: Time) {
        self.settle(now);
        self.limit = limit;
        self.version += 1;
    }

    /// Share (0–1) of its reading that is done.
    pub fn copied(&self, now: Time) -> f64 {
        if self.whole > 0.0 { 1.0 - self.left_at(now) / self.whole } else { 1.0 }
    }

    /// Of a clone of a reduce: it is to read a map's output.
    pub fn give(&mut self, map: usize, output: u32, millis: f64) {
        let nth = self.reads.iter().flatten().count() as u32;
        self.reads[map] = Some(Read { nth, output, millis });
    }

    /// Of a clone of a reduce that was given what it reads: the rest of its reading, where each map not given yet takes `each`.
    pub fn read_on(&mut self, each: f64, now: Time) {
        self.settle(now);
        let given = self.reads.iter().flatten();
        let (open, missing) = (given.clone().map(|read| read.millis).sum::<f64>(), self.reads.len() - given.count());
        let whole = open + missing as f64 * each;
        let more = whole - self.whole;
        (self.whole, self.left, self.extra) = (whole, (self.left + more).max(0.0), self.extra + more);
        let limit = if missing == 0 { 1.0 } else { (open / whole).min(1.0 - f64::EPSILON) };
        self.may_read(if limit.is_finite() { limit } else { 0.0 }, now);
    }

    /// How much of what it reads of a map is still to be read, 0–1; it reads in the order in which outputs were given to it.
    pub fn unread(&self, map: usize, now: Time) -> f64 {
        let Some(read) = self.reads.get(map).copied().flatten() else { return 1.0 };
        if self.stage != Stage::Copy || read.millis <= 0.0 {
            return f64::from(u8::from(self.stage < Stage::Copy));
        }
        let before = self.reads.iter().flatten().filter(|other| other.nth < read.nth).map(|other| other.millis);
        let done = self.whole - self.left_at(now) - before.sum::<f64>();
        (1.0 - done / read.millis).clamp(0.0, 1.0)
    }
}
