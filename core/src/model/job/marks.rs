//! What is kept in mind of a task beside its numbers.

use serde::{Deserialize, Serialize};

/// Four marks in one byte, for they are kept of a million tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Marks(u8);

const LAGS: u8 = 1;
const TOLD: u8 = 2;
const EMPTY: u8 = 4;
const SKEWED: u8 = 8;

impl Marks {
    /// By the last pass it may come to want a copy: its counters are worth following.
    pub fn lags(self) -> bool {
        self.0 & LAGS != 0
    }

    /// How far it is was told since the engine last looked at it.
    pub fn told(self) -> bool {
        self.0 & TOLD != 0
    }

    /// It was told to have no input.
    pub fn empty(self) -> bool {
        self.0 & EMPTY != 0
    }

    /// Its AM's clock was set while it ran: how long it took does not follow from when it began and ended.
    pub fn skewed(self) -> bool {
        self.0 & SKEWED != 0
    }

    /// The same, lagging or not.
    pub fn lagging(self, lags: bool) -> Marks {
        self.with(LAGS, lags)
    }

    /// The same, with something told or nothing.
    pub fn heard(self, told: bool) -> Marks {
        self.with(TOLD, told)
    }

    /// The same, told to have no input or not.
    pub fn emptied(self, empty: bool) -> Marks {
        self.with(EMPTY, empty)
    }

    /// The same, its AM's clock having been set while it runs or not.
    pub fn skewing(self, skewed: bool) -> Marks {
        self.with(SKEWED, skewed)
    }

    fn with(self, mark: u8, set: bool) -> Marks {
        Marks(self.0 & !mark | if set { mark } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mark_is_set_and_taken_back_without_the_others() {
        let of = |marks: Marks| (marks.lags(), marks.told());
        let none = Marks::default();
        assert_eq!(of(none), (false, false));
        assert_eq!(of(none.lagging(true)), (true, false));
        assert_eq!(of(none.heard(true)), (false, true));
        let both = none.heard(true).lagging(true);
        assert_eq!(
            (of(both), of(both.lagging(false)), of(both.heard(false))),
            ((true, true), (false, true), (true, false))
        );
        assert_eq!((both.empty(), both.emptied(true).empty(), of(both.emptied(true))), (false, true, (true, true)));
        assert_eq!((of(none.emptied(true)), both.emptied(true).emptied(false)), ((false, false), both));
        assert!(none.emptied(true).lagging(false).heard(false).empty());
        let skewed = none.emptied(true).skewing(true).emptied(false).heard(false);
        assert_eq!([none, both, skewed, skewed.skewing(false)].map(Marks::skewed), [false, false, true, false]);
        assert!(!skewed.empty());
    }
}
