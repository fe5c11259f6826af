//! What an exchange tells, value by value: one that cannot be is left out and counted under its reason.

use super::batch::Late;
use super::values::{Num, Word};
use drover_core::model::{Fact, Time};
use std::collections::BTreeMap;

/// What one exchange tells.
#[derive(Debug, Default)]
pub struct Told {
    /// The facts, in the order in which they are to be observed.
    pub facts: Vec<Fact>,
    /// Values and rows left out, by reason.
    pub refused: BTreeMap<&'static str, u64>,
    /// Rows that count.
    pub rows: u64,
    /// Facts about Drover's own actions.
    pub own: Vec<Fact>,
    /// Answers to earlier processes' actions.
    pub late: Vec<Late>,
}

impl Told {
    /// Counts something left out.
    pub fn refuse(&mut self, reason: &'static str) {
        *self.refused.entry(reason).or_default() += 1;
    }

    /// The value, unless it is told and cannot be.
    pub(super) fn ok<T>(&mut self, value: Option<Option<T>>, reason: &'static str) -> Option<T> {
        if let Some(None) = value {
            self.refuse(reason);
        }
        value.flatten()
    }

    pub(super) fn num(&mut self, n: Option<Num>) -> Option<u64> {
        self.ok(n.map(Num::get), "number_range")
    }

    /// A time; Hadoop writes 0 for one that has not come.
    pub(super) fn time(&mut self, n: Option<Num>) -> Option<Time> {
        self.num(n).filter(|ms| *ms > 0).map(Time)
    }

    pub(super) fn word<T>(&mut self, word: Option<Word<T>>, reason: &'static str) -> Option<T> {
        self.ok(word.map(|word| word.0), reason)
    }
}
