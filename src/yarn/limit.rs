//! Ceilings on requests: a token bucket and a number in flight for each class of servers, and pauses they ask for.

use super::endpoint::Class;
use super::metrics::Metrics;
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Longest pause a server can impose.
pub const LONGEST_PAUSE: Duration = Duration::from_secs(120);
/// Pause where the server does not say how long.
pub const UNTOLD_PAUSE: Duration = Duration::from_secs(5);

/// Ceiling of one class of servers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ceiling {
    /// Requests a second, above 0.
    pub per_second: f64,
    /// Requests that may follow one another at once after a lull, at least 1.
    pub burst: u32,
    /// Requests under way at once, at least 1.
    pub in_flight: u32,
    /// Longest answer read, bytes.
    pub body_bytes: u64,
}

/// Ceilings of all classes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ceilings {
    /// The ResourceManager.
    pub rm: Ceiling,
    /// ApplicationMasters through the proxy.
    pub proxy: Ceiling,
    /// The JobHistoryServer.
    pub history: Ceiling,
}

impl Default for Ceilings {
    /// 20 a second to the proxy; 16 places there, so that a few AMs that hang do not hold up the others; 8 at the history server, which may take seconds to read a large job's
    /// file. A listing of 10,000 nodes has some 20 MB, one of 70,000 tasks 16 MB.
    fn default() -> Self {
        Ceilings {
            rm: Ceiling { per_second: 5.0, burst: 4, in_flight: 4, body_bytes: 64 << 20 },
            proxy: Ceiling { per_second: 20.0, burst: 4, in_flight: 16, body_bytes: 16 << 20 },
            history: Ceiling { per_second: 5.0, burst: 4, in_flight: 8, body_bytes: 32 << 20 },
        }
    }
}

impl Ceilings {
    /// The ceiling of a class.
    pub fn of(&self, class: Class) -> &Ceiling {
        match class {
            Class::Rm => &self.rm,
            Class::Proxy => &self.proxy,
            Class::History => &self.history,
        }
    }
}

/// The gates all requests go through.
#[derive(Debug)]
pub struct Limits {
    gates: [Gate; 3],
    metrics: Metrics,
}

#[derive(Debug)]
struct Gate {
    bucket: DefaultDirectRateLimiter,
    slots: Arc<Semaphore>,
    paused_until: Mutex<Option<Instant>>,
}

/// Leave for one request; the place in flight is held until it is dropped.
#[derive(Debug)]
pub struct Permit {
    class: Class,
    metrics: Metrics,
    _slot: OwnedSemaphorePermit,
}

/// Why there is no leave now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// The rate, or a pause; over in this time.
    For(Duration),
    /// As many as may be are under way.
    ForSlot,
}

impl Permit {
    /// The class it is for.
    pub fn class(&self) -> Class {
        self.class
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.metrics.ended(self.class);
    }
}

impl Limits {
    /// Gates with these ceilings. Out-of-range numbers are brought into range.
    pub fn new(ceilings: &Ceilings, metrics: Metrics) -> Limits {
        Limits { gates: Class::ALL.map(|class| Gate::new(ceilings.of(class))), metrics }
    }

    /// Leave for one request now, or how long to wait.
    pub fn try_acquire(&self, class: Class) -> Result<Permit, Wait> {
        let gate = &self.gates[class as usize];
        if let Some(left) = gate.pause_left() {
            return Err(Wait::For(left));
        }
        let slot = gate.slots.clone().try_acquire_owned().map_err(|_| {
            self.metrics.limited("in_flight");
            Wait::ForSlot
        })?;
        match gate.bucket.check() {
            Ok(()) => Ok(self.permit(class, slot)),
            Err(not_until) => Err(Wait::For(not_until.wait_time_from(DefaultClock::default().now()))),
        }
    }

    /// Leave for one request, as soon as there is any.
    pub async fn acquire(&self, class: Class) -> Permit {
        let gate = &self.gates[class as usize];
        loop {
            match self.try_acquire(class) {
                Ok(permit) => return permit,
                Err(Wait::For(wait)) => {
                    self.metrics.limited("rate");
                    tokio::time::sleep(wait.max(Duration::from_millis(1))).await;
                }
                // Waits for a place, gives it back, and tries again: a token may be missing then.
                Err(Wait::ForSlot) => drop(gate.slots.acquire().await),
            }
        }
    }

    /// Nothing goes to this class for that long: the server said so. What comes through the proxy one job's AM said, and for its own job alone, which its schedule leaves alone.
    pub fn pause(&self, class: Class, length: Duration) {
        self.metrics.paused(class);
        if class == Class::Proxy {
            return;
        }
        let until = Instant::now() + length.min(LONGEST_PAUSE);
        let mut paused = self.gates[class as usize].paused_until.lock().unwrap_or_else(PoisonError::into_inner);
        *paused = Some(paused.map_or(until, |before| before.max(until)));
    }

    fn permit(&self, class: Class, slot: OwnedSemaphorePermit) -> Permit {
        self.metrics.began(class);
        Permit { class, metrics: self.metrics.clone(), _slot: slot }
    }
}

impl Gate {
    fn new(ceiling: &Ceiling) -> Gate {
        let rate = if ceiling.per_second.is_finite() { ceiling.per_second.clamp(0.01, 10_000.0) } else { 1.0 };
        let burst = NonZeroU32::new(ceiling.burst).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::with_period(Duration::from_secs_f64(1.0 / rate));
        let quota = quota.unwrap_or(Quota::per_second(NonZeroU32::MIN)).allow_burst(burst);
        Gate {
            bucket: DefaultDirectRateLimiter::direct(quota),
            slots: Arc::new(Semaphore::new(ceiling.in_flight.clamp(1, 1024) as usize)),
            paused_until: Mutex::new(None),
        }
    }

    fn pause_left(&self) -> Option<Duration> {
        let mut paused = self.paused_until.lock().unwrap_or_else(PoisonError::into_inner);
        let left = paused.map(|until| until.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            *paused = None;
        }
        left.filter(|left| !left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(per_second: f64, burst: u32, in_flight: u32) -> Limits {
        let ceiling = Ceiling { per_second, burst, in_flight, body_bytes: 1 };
        let ceilings = Ceilings { proxy: ceiling, history: ceiling, ..Ceilings::default() };
        Limits::new(&ceilings, Metrics::unregistered().unwrap())
    }

    #[test]
    fn no_more_than_the_burst_goes_at_once_and_classes_do_not_share_it() {
        let limits = limits(0.01, 2, 9);
        let held: Vec<_> = (0..2).map(|_| limits.try_acquire(Class::Proxy).unwrap()).collect();
        assert!(matches!(limits.try_acquire(Class::Proxy), Err(Wait::For(d)) if d > Duration::from_secs(1)));
        assert!(limits.try_acquire(Class::Rm).is_ok());
        assert_eq!(held[0].class(), Class::Proxy);
    }

    #[test]
    fn no_more_than_the_ceiling_is_in_flight_and_a_dropped_permit_frees_its_place() {
        let limits = limits(10_000.0, 100, 1);
        let held = limits.try_acquire(Class::Proxy).unwrap();
        assert_eq!(limits.try_acquire(Class::Proxy).unwrap_err(), Wait::ForSlot);
        drop(held);
        assert!(limits.try_acquire(Class::Proxy).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_holds_its_class_for_its_time_and_at_most_two_minutes() {
        let limits = limits(10_000.0, 100, 9);
        limits.pause(Class::History, Duration::from_secs(9_999));
        assert_eq!(limits.try_acquire(Class::History).unwrap_err(), Wait::For(LONGEST_PAUSE));
        assert!(limits.try_acquire(Class::Rm).is_ok());
        tokio::time::advance(LONGEST_PAUSE).await;
        assert!(limits.try_acquire(Class::History).is_ok());
    }

    #[test]
    fn no_master_can_stop_what_goes_to_the_others_through_the_proxy() {
        let limits = limits(10_000.0, 100, 9);
        limits.pause(Class::Proxy, LONGEST_PAUSE);
        assert!(limits.try_acquire(Class::Proxy).is_ok());
    }
}
