//! The service's one clock. It is read off the wall once and then runs on its own, so that the wall clock, which may be set, never takes
//! it back or makes it leap.

use drover_core::model::{Millis, Time};
use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

/// A clock that started at a time of day and only runs forward.
#[derive(Debug)]
pub struct Clock {
    started: Time,
    since: Duration,
    running: fn() -> Duration,
}

impl Clock {
    /// Starts at what the wall clock shows, which is read this once, and goes on by what `running` counts.
    pub fn start(wall: impl FnOnce() -> SystemTime, running: fn() -> Duration) -> Clock {
        let since_epoch = wall().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Clock { started: Time(millis(since_epoch)), since: running(), running }
    }

    /// The time now.
    pub fn now(&self) -> Time {
        self.started + Millis(millis((self.running)().saturating_sub(self.since)))
    }
}

fn millis(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}

/// How long the machine has been up, also asleep: the cluster goes on then, and what it told before is as old as that.
#[cfg(target_os = "linux")]
fn running() -> Duration {
    let up = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::new(u64::try_from(up.tv_sec).unwrap_or(0), u32::try_from(up.tv_nsec).unwrap_or(0))
}

/// How long this process has run.
#[cfg(not(target_os = "linux"))]
fn running() -> Duration {
    static START: LazyLock<std::time::Instant> = LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

/// The time of this process.
pub fn now() -> Time {
    #[allow(clippy::disallowed_methods, reason = "the one place that reads it")]
    static CLOCK: LazyLock<Clock> = LazyLock::new(|| Clock::start(SystemTime::now, running));
    CLOCK.now()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn a_wall_clock_that_is_set_back_or_forward_does_not_move_the_services_clock() {
        let wall = Cell::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000));
        let clock = Clock::start(|| wall.get(), running);
        let first = clock.now();
        for seconds in [0, 500_000, 2_000_000] {
            wall.set(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
            let now = clock.now();
            assert!(now >= first && now < Time(1_500_000_000), "{now:?}");
        }
    }

    #[test]
    fn what_the_machine_slept_has_passed_on_the_services_clock_and_nothing_takes_it_back() {
        static UP: AtomicU64 = AtomicU64::new(7_000);
        let clock = Clock::start(
            || SystemTime::UNIX_EPOCH + Duration::from_secs(100),
            || Duration::from_secs(UP.load(Ordering::Relaxed)),
        );
        let at = |up| {
            UP.store(up, Ordering::Relaxed);
            clock.now()
        };
        assert_eq!([7_000, 10_600, 6_000].map(at), [Time(100_000), Time(3_700_000), Time(100_000)]);
        assert!(running() <= running());
    }
}
