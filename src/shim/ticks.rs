//! Whether an AM's time of day has been set while it ran.
//!
//! Hadoop stamps what happens by the time of day. Once that was set forward, each attempt launched before looks as much slower as it was set, and healthy ones would be copied
//! or killed; set back, what ended seems not to have begun. The AM's other clock, which only runs on, tells.

use super::wire::Clock;
use drover_core::model::Millis;

/// A difference that may be the reading's own, or a clock that is slewed.
const NOISE: Millis = Millis(1_000);
/// By so much in all attempts' times are wrong.
const FALSE: Millis = Millis(5_000);

/// An AM's two clocks, as they were told last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ticks {
    last: Option<(u64, u64)>,
    /// By how much its time of day was set, this way and that.
    set: Millis,
}

impl Ticks {
    /// They are told again; whether it shows with this that the time of day was set too far.
    pub fn hear(&mut self, clock: &Clock) -> bool {
        let (of_day, running) = (clock.am_ms, clock.mono_ms);
        let before = self.is_false();
        if let Some((day, ran)) = self.last.replace((of_day, running)) {
            let gone = |now: u64, then: u64| i128::from(now) - i128::from(then);
            let by = (gone(of_day, day) - gone(running, ran)).unsigned_abs();
            let by = Millis(u64::try_from(by).unwrap_or(u64::MAX));
            if by > NOISE {
                self.set = Millis(self.set.0.saturating_add(by.0));
            }
        }
        self.is_false() && !before
    }

    /// It was set by so much while the AM ran that what it stamps tells no attempt's time.
    pub fn is_false(&self) -> bool {
        self.set >= FALSE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(clocks: &[(u64, u64)]) -> (Vec<bool>, bool) {
        let mut ticks = Ticks::default();
        let shown = clocks.iter().map(|&(am_ms, mono_ms)| ticks.hear(&Clock { am_ms, mono_ms })).collect();
        (shown, ticks.is_false())
    }

    #[test]
    fn clocks_that_run_alike_however_far_apart_and_slewed_are_believed() {
        let slewed: Vec<_> = (0..10_000).map(|n| (1_800_000_000_000 + 5_050 * n, 7 + 5_000 * n)).collect();
        assert_eq!(told(&slewed).0.iter().filter(|shown| **shown).count(), 0);
        assert_eq!(told(&[(1_000, 0), (601_000, 600_000)]), (vec![false, false], false), "a long silence");
    }

    #[test]
    fn a_clock_set_forward_or_back_is_not_believed_again() {
        for set in [1_060_000, 941_000] {
            assert_eq!(told(&[(1_000_000, 0), (set, 1_000), (set + 1_000, 2_000)]), (vec![false, true, false], true));
        }
        let little_by_little = [(0, 0), (3_000, 1_000), (6_000, 2_000), (9_000, 3_000)];
        assert_eq!(told(&little_by_little), (vec![false, false, false, true], true));
    }

    #[test]
    fn no_number_that_a_shim_may_tell_overflows() {
        assert!(told(&[(0, u64::MAX), (u64::MAX, 0), (0, u64::MAX)]).1);
    }
}
