//! Whether an AM's time of day has been set forward while it ran.
//!
//! Hadoop stamps what happens by the time of day: once that was set forward each attempt launched before looks as much slower as it was set. The AM's other clock, which only runs on,
//! tells. One that a test moves has no other beside it: the shim tells both of it.

use super::wire::Clock;

/// A difference that may be the reading's own, of a clock that is slewed, or of a process that stood still between its two readings.
const NOISE: u64 = 5_000;

/// An AM's two clocks, as they were told last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ticks {
    last: Option<(u64, u64)>,
    set: bool,
}

impl Ticks {
    /// They are told again.
    pub fn hear(&mut self, clock: &Clock) {
        let (of_day, running) = (clock.am_ms, clock.mono_ms);
        if let Some((day, ran)) = self.last.replace((of_day, running)) {
            self.set |= of_day.saturating_sub(day) > running.saturating_sub(ran).saturating_add(NOISE);
        }
    }

    /// The time of day was set forward since this was asked last.
    pub fn take_set(&mut self) -> bool {
        std::mem::take(&mut self.set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(clocks: &[(u64, u64)]) -> Vec<bool> {
        let mut ticks = Ticks::default();
        let told = clocks.iter().map(|&(am_ms, mono_ms)| {
            ticks.hear(&Clock { am_ms, mono_ms });
            ticks.take_set()
        });
        told.collect()
    }

    #[test]
    fn clocks_that_run_alike_however_far_apart_and_slewed_or_set_back_tell_of_no_step_forward() {
        let slewed: Vec<_> = (0..10_000).map(|n| (1_800_000_000_000 + 5_050 * n, 7 + 5_000 * n)).collect();
        assert!(!set(&slewed).contains(&true));
        let others = [(1_000_000, 0), (1_600_000, 600_000), (1_000_000, 601_000), (1_001_000, 602_000)];
        assert!(!set(&others).contains(&true), "a long silence, and an hour back");
        assert_eq!(set(&[(0, u64::MAX), (u64::MAX, 0), (0, u64::MAX)]), [false, true, false], "nothing overflows");
    }

    #[test]
    fn a_clock_set_forward_by_more_than_five_seconds_is_told_once() {
        let at = |by: u64| set(&[(1_000_000, 0), (1_001_000 + by, 1_000), (1_002_000 + by, 2_000)]);
        assert_eq!([at(5_000), at(5_001)], [[false; 3], [false, true, false]]);
    }
}
