//! The service's one clock. It is read off the wall once and then runs on its own, so that the wall clock, which may be set, never takes
//! it back or makes it leap.

use drover_core::model::{Millis, Time};
use std::sync::LazyLock;
use std::time::{Instant, SystemTime};

/// A clock that started at a time of day and only runs forward.
#[derive(Debug)]
pub struct Clock {
    started: Time,
    since: Instant,
}

impl Clock {
    /// Starts at what the wall clock shows; it is read this once.
    pub fn start(wall: impl FnOnce() -> SystemTime) -> Clock {
        let since_epoch = wall().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Clock { started: Time(u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)), since: Instant::now() }
    }

    /// The time now.
    pub fn now(&self) -> Time {
        self.started + Millis(u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}

/// The time of this process.
pub fn now() -> Time {
    #[allow(clippy::disallowed_methods, reason = "the one place that reads it")]
    static CLOCK: LazyLock<Clock> = LazyLock::new(|| Clock::start(SystemTime::now));
    CLOCK.now()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::time::Duration;

    #[test]
    fn a_wall_clock_that_is_set_back_or_forward_does_not_move_the_services_clock() {
        let wall = Cell::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000));
        let clock = Clock::start(|| wall.get());
        let first = clock.now();
        for seconds in [0, 500_000, 2_000_000] {
            wall.set(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
            let now = clock.now();
            assert!(now >= first && now < Time(1_500_000_000), "{now:?}");
        }
    }
}
