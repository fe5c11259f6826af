//! Whether an AM's time of day has been set while it ran.
//!
//! Hadoop stamps what happens by the time of day: once that was set forward each attempt launched before looks as much slower as it was set, and what runs meanwhile looks
//! faster once it was set back. The AM's other clock, which only runs on,
//! tells. One that a test moves has no other beside it: the shim tells both of it.

use super::wire::Clock;
use drover_core::model::Time;

/// A difference that may be the reading's own, of a clock that is slewed, or of a process that stood still between its two readings.
const NOISE: u64 = 5_000;

/// An AM's two clocks, as they were told last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ticks {
    last: Option<(u64, u64)>,
    set: bool,
    /// That it was set is known, so that attempts from before it seem older than the AM.
    known: bool,
}

impl Ticks {
    /// They are told again.
    pub fn hear(&mut self, clock: &Clock) {
        let (of_day, running) = (clock.am_ms, clock.mono_ms);
        if let Some((day, ran)) = self.last.replace((of_day, running)) {
            let (passed, ran) = (i128::from(of_day) - i128::from(day), i128::from(running) - i128::from(ran));
            self.found((passed - ran).unsigned_abs() > u128::from(NOISE));
        }
    }

    /// Such an attempt of this AM runs: could it be launched before the AM began, as its clock has it now? Then that was set forward before these were first told.
    pub fn has_running(&mut self, launched: Time) {
        let begun = self.last.map_or(0, |(of_day, running)| of_day.saturating_sub(running));
        self.found(!self.known && launched.0.saturating_add(NOISE) < begun);
    }

    fn found(&mut self, set: bool) {
        self.set |= set;
        self.known |= set;
    }

    /// The time of day was set since this was asked last.
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
    fn clocks_that_run_alike_however_far_apart_and_slewed_tell_of_no_step() {
        let slewed: Vec<_> = (0..10_000).map(|n| (1_800_000_000_000 + 5_050 * n, 7 + 5_000 * n)).collect();
        assert!(!set(&slewed).contains(&true));
        assert_eq!(set(&[(1_000_000, 0), (1_600_000, 600_000)]), [false; 2], "a long silence");
        assert_eq!(set(&[(0, u64::MAX), (u64::MAX, 0), (0, u64::MAX)]), [false, true, true], "nothing overflows");
    }

    #[test]
    fn a_clock_set_by_more_than_five_seconds_is_told_once() {
        let at = |by: i64| {
            let moved = |at: u64| at.saturating_add_signed(by);
            set(&[(1_000_000, 0), (moved(1_001_000), 1_000), (moved(1_002_000), 2_000)])
        };
        assert_eq!([5_000, -5_000].map(at), [[false; 3], [false; 3]]);
        assert_eq!([5_001, -5_001].map(at), [[false, true, false], [false, true, false]]);
    }

    #[test]
    fn an_attempt_that_runs_since_before_its_am_began_tells_once_of_a_clock_that_was_set_before_it_was_first_heard() {
        let told = |clocks: &[(u64, u64)], launched: &[u64]| {
            let mut ticks = Ticks::default();
            clocks.iter().for_each(|&(am_ms, mono_ms)| ticks.hear(&Clock { am_ms, mono_ms }));
            let set = launched.iter().map(|at| {
                ticks.has_running(Time(*at));
                ticks.take_set()
            });
            set.collect::<Vec<_>>()
        };
        // It has run for 100 s, so it began at 900 s.
        assert_eq!(told(&[(1_000_000, 100_000)], &[950_000, 895_000]), [false; 2]);
        assert_eq!(told(&[(1_000_000, 100_000)], &[950_000, 894_999, 894_999]), [false, true, false]);
        let both = [(1_000_000, 100_000), (4_600_000, 101_000)];
        assert_eq!(told(&both, &[950_000, 950_000]), [true, false], "what was heard itself is not told again for it");
    }
}
