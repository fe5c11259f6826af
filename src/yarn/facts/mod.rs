//! Hadoop's answers as facts: checked value by value. What is wrong is counted by name, and dropped or left out.

pub mod cluster;
mod container;
pub mod history;
pub mod job;
pub mod properties;
pub mod queues;
pub mod settings;

#[cfg(test)]
mod tests;

use super::wire::lenient::{Float, Int, Text};
use crate::shown::printable;
use drover_core::model::Time;
use std::collections::BTreeMap;

/// Why a value or a whole item was refused. One stable label each, the value of `reason` in metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// A member of a list that is no object.
    NoObject,
    /// An identifier that is none, or missing.
    BadId,
    /// It belongs to another job or task than the one asked about.
    Foreign,
    /// Named twice in one listing.
    Repeated,
    /// A state Hadoop 3.5 does not know.
    UnknownState,
    /// Progress that is no number.
    ProgressNan,
    /// Progress below 0 or above 100.
    ProgressRange,
    /// An end before the start.
    FinishBeforeStart,
    /// A time that is negative.
    TimeRange,
    /// A number that cannot be: a negative amount, a share that is no number.
    NumberRange,
    /// A required value is missing.
    Missing,
    /// More than is kept.
    TooMany,
    /// A property of the job whose value cannot be understood.
    BadProperty,
}

/// A name, shortened where an AM says more than anyone needs; empty where there is none.
fn name(text: &Text) -> String {
    printable(text.as_deref().unwrap_or_default())
}

impl Reason {
    /// Every reason, for metrics that start at zero.
    pub const ALL: [Reason; 13] = [
        Reason::NoObject,
        Reason::BadId,
        Reason::Foreign,
        Reason::Repeated,
        Reason::UnknownState,
        Reason::ProgressNan,
        Reason::ProgressRange,
        Reason::FinishBeforeStart,
        Reason::TimeRange,
        Reason::NumberRange,
        Reason::Missing,
        Reason::TooMany,
        Reason::BadProperty,
    ];

    /// Stable label.
    pub fn label(self) -> &'static str {
        match self {
            Reason::NoObject => "no_object",
            Reason::BadId => "bad_id",
            Reason::Foreign => "foreign",
            Reason::Repeated => "repeated",
            Reason::UnknownState => "unknown_state",
            Reason::ProgressNan => "progress_nan",
            Reason::ProgressRange => "progress_range",
            Reason::FinishBeforeStart => "finish_before_start",
            Reason::TimeRange => "time_range",
            Reason::NumberRange => "number_range",
            Reason::Missing => "missing",
            Reason::TooMany => "too_many",
            Reason::BadProperty => "bad_property",
        }
    }
}

/// Refusals of one answer.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Refused(BTreeMap<Reason, u64>);

impl Refused {
    /// One more.
    pub fn add(&mut self, reason: Reason) {
        self.many(reason, 1);
    }

    /// That many more.
    pub fn many(&mut self, reason: Reason, count: u64) {
        if count > 0 {
            *self.0.entry(reason).or_default() += count;
        }
    }

    /// How many for this reason.
    pub fn count(&self, reason: Reason) -> u64 {
        self.0.get(&reason).copied().unwrap_or(0)
    }

    /// Nothing was refused.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many for each reason.
    pub fn counts(&self) -> impl Iterator<Item = (Reason, u64)> {
        self.0.iter().map(|(reason, count)| (*reason, *count))
    }

    /// `None` for a word that is missing; counts one that is there and unknown.
    fn word<T>(&mut self, word: Option<&str>, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let parsed = parse(word?);
        if parsed.is_none() {
            self.add(Reason::UnknownState);
        }
        parsed
    }

    /// An instant; 0 and -1 are Hadoop's words for "not yet".
    fn instant(&mut self, at: Int) -> Option<Time> {
        match at.0? {
            -1 | 0 => None,
            at if at > 0 => Some(Time(at.unsigned_abs())),
            _ => {
                self.add(Reason::TimeRange);
                None
            }
        }
    }

    /// The end of something, which cannot lie before its start.
    fn end(&mut self, started: Option<Time>, at: Int) -> Option<Time> {
        let finished = self.instant(at)?;
        if started.is_some_and(|started| finished < started) {
            self.add(Reason::FinishBeforeStart);
            return None;
        }
        Some(finished)
    }

    /// A percentage as a share of 1; a hair above 100 is what rounding makes of 100.
    fn percent(&mut self, percent: Float) -> Option<f32> {
        let percent = percent.0?;
        if percent.is_nan() {
            self.add(Reason::ProgressNan);
            return None;
        }
        if !(-0.001..=100.001).contains(&percent) {
            self.add(Reason::ProgressRange);
            return None;
        }
        Some((percent / 100.0).clamp(0.0, 1.0) as f32)
    }

    /// An amount; Hadoop writes -1 where it does not know.
    fn amount(&mut self, number: Int) -> u64 {
        match number.0 {
            Some(n) if n < -1 => {
                self.add(Reason::NumberRange);
                0
            }
            Some(n) => u64::try_from(n).unwrap_or(0),
            None => 0,
        }
    }

    fn small(&mut self, number: Int) -> u32 {
        u32::try_from(self.amount(number)).unwrap_or_else(|_| {
            self.add(Reason::NumberRange);
            u32::MAX
        })
    }

    /// A share of 1 as it should be.
    fn share(&mut self, share: Option<f64>) -> Option<f32> {
        let share = share?;
        if !share.is_finite() || share < -0.001 {
            self.add(Reason::NumberRange);
            return None;
        }
        Some(share.clamp(0.0, 1.0) as f32)
    }
}
