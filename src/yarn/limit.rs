//! Ceilings on requests: a token bucket and a number in flight for each class of servers, and pauses they ask for.

use super::endpoint::{Class, Endpoint};
use super::metrics::Metrics;
use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
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
            history: Ceiling { per_second: 20.0, burst: 4, in_flight: 8, body_bytes: 32 << 20 },
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
    /// What asks about single applications goes through its class's of these first.
    singles: [Gate; 3],
    metrics: Metrics,
}

/// The clock that tasks sleep by, so that a wait is over when they wake.
#[derive(Debug, Clone)]
struct Ticks(Instant);

type Bucket = RateLimiter<NotKeyed, InMemoryState, Ticks, NoOpMiddleware<Nanos>>;

#[derive(Debug)]
struct Gate {
    bucket: Bucket,
    slots: Arc<Semaphore>,
    paused_until: Mutex<Option<Instant>>,
}

/// Leave for one request; the place in flight is held until it is dropped.
#[derive(Debug)]
pub struct Permit {
    class: Class,
    metrics: Metrics,
    _slot: OwnedSemaphorePermit,
    _single: Option<OwnedSemaphorePermit>,
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
        // After a restart every shim's session has its application and its job's proof asked about: half of what may be asked is left for listings and for polling.
        let half = |ceiling: &Ceiling| Ceiling {
            per_second: ceiling.per_second / 2.0,
            burst: ceiling.burst / 2,
            in_flight: ceiling.in_flight / 2,
            ..*ceiling
        };
        let gates = Class::ALL.map(|class| Gate::new(ceilings.of(class)));
        let singles = Class::ALL.map(|class| Gate::new(&half(ceilings.of(class))));
        Limits { gates, singles, metrics }
    }

    /// Leave for one request now, or how long to wait.
    pub fn try_acquire(&self, class: Class) -> Result<Permit, Wait> {
        let gate = &self.gates[class as usize];
        let slot = gate.slots.clone().try_acquire_owned().map_err(|_| {
            self.metrics.limited("in_flight");
            Wait::ForSlot
        })?;
        gate.token().map_err(Wait::For)?;
        Ok(self.permit(class, slot))
    }

    /// Leave for one request, as soon as there is any.
    pub async fn acquire(&self, endpoint: Endpoint) -> Permit {
        let class = endpoint.class() as usize;
        let single = if endpoint.is_single() { Some(self.singles[class].pass(&self.metrics).await) } else { None };
        let slot = self.gates[class].pass(&self.metrics).await;
        let mut permit = self.permit(endpoint.class(), slot);
        permit._single = single;
        permit
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
        Permit { class, metrics: self.metrics.clone(), _slot: slot, _single: None }
    }
}

impl Gate {
    fn new(ceiling: &Ceiling) -> Gate {
        let rate = if ceiling.per_second.is_finite() { ceiling.per_second.clamp(0.01, 10_000.0) } else { 1.0 };
        let burst = NonZeroU32::new(ceiling.burst).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::with_period(Duration::from_secs_f64(1.0 / rate));
        let quota = quota.unwrap_or(Quota::per_second(NonZeroU32::MIN)).allow_burst(burst);
        Gate {
            bucket: RateLimiter::direct_with_clock(quota, Ticks(Instant::now())),
            slots: Arc::new(Semaphore::new(ceiling.in_flight.clamp(1, 1024) as usize)),
            paused_until: Mutex::new(None),
        }
    }

    /// A place in flight and a token, as soon as there are both.
    async fn pass(&self, metrics: &Metrics) -> OwnedSemaphorePermit {
        loop {
            let slot = match self.slots.clone().try_acquire_owned() {
                Ok(slot) => slot,
                Err(_) => {
                    metrics.limited("in_flight");
                    // The semaphore is never closed; were it, waiting forever would be the safe answer.
                    let Ok(slot) = self.slots.clone().acquire_owned().await else { std::future::pending().await };
                    slot
                }
            };
            let Err(wait) = self.token() else { return slot };
            // It is others' meanwhile. Given back and at once asked for again it would go round among those that wait, and none would get on.
            drop(slot);
            metrics.limited("rate");
            tokio::time::sleep(wait.max(Duration::from_millis(1))).await;
        }
    }

    /// A token, or how long until there may be one.
    fn token(&self) -> Result<(), Duration> {
        if let Some(left) = self.pause_left() {
            return Err(left);
        }
        self.bucket.check().map_err(|until| until.wait_time_from(self.bucket.clock().now()))
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

impl Clock for Ticks {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        self.0.elapsed().into()
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

    #[tokio::test(start_paused = true)]
    async fn places_that_are_given_back_one_by_one_get_on_those_that_wait_for_them() {
        let limits = Arc::new(limits(10_000.0, 100, 1));
        let held = limits.try_acquire(Class::Proxy).unwrap();
        let mut waiting = tokio::task::JoinSet::new();
        for _ in 0..3 {
            let limits = limits.clone();
            waiting.spawn(async move { drop(limits.acquire(Endpoint::AmTasks).await) });
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        drop(held);
        assert_eq!(waiting.join_all().await.len(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn looks_for_proofs_leave_half_of_what_goes_through_the_proxy_to_polling() {
        for (rate, burst, in_flight) in [(0.01, 4, 16), (10_000.0, 100, 4)] {
            let limits = Arc::new(limits(rate, burst, in_flight));
            let mut claims = tokio::task::JoinSet::new();
            for _ in 0..20 {
                let limits = limits.clone();
                claims.spawn(async move {
                    let _held = limits.acquire(Endpoint::AmProof).await;
                    std::future::pending::<()>().await
                });
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
            let polled = [(); 2].map(|()| limits.try_acquire(Class::Proxy));
            assert!(polled.iter().all(Result::is_ok), "{polled:?}");
        }
    }

    #[test]
    fn no_master_can_stop_what_goes_to_the_others_through_the_proxy() {
        let limits = limits(10_000.0, 100, 9);
        limits.pause(Class::Proxy, LONGEST_PAUSE);
        assert!(limits.try_acquire(Class::Proxy).is_ok());
    }
}
