//! Listings beside requests that others make of the same server.

use super::*;
use crate::yarn::endpoint::Endpoint;
use crate::yarn::limit::{Ceiling, Ceilings, Limits, Wait};
use crate::yarn::metrics::Metrics;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

/// Sends off listings as the poller does, each answered after that time, for so many seconds; when each was sent.
async fn listings(limits: Arc<Limits>, answer: Duration, seconds: u64) -> Vec<(Time, Call)> {
    let mut schedule = Schedule::new(ScheduleParams { busy_share: 1.0, ..ScheduleParams::default() }, Time(0));
    let (wants, began, mut log) = (Knows::default(), Instant::now(), Vec::new());
    let now = || Time(began.elapsed().as_millis() as u64);
    let mut under_way = JoinSet::new();
    while now() < Time(seconds * 1_000) {
        let mut pause = Duration::from_secs(1);
        while let Some(call) = schedule.pick(Class::Rm, now(), &wants) {
            match limits.try_acquire(Class::Rm) {
                Ok(permit) => {
                    schedule.start(call, now());
                    log.push((now(), call));
                    under_way.spawn(async move {
                        let _held = permit;
                        sleep(answer).await;
                        call
                    });
                }
                Err(Wait::For(wait)) => {
                    pause = wait.max(Duration::from_millis(1));
                    break;
                }
                Err(Wait::ForSlot) => break,
            }
        }
        let due = schedule.wake(Class::Rm).map(|due| Duration::from_millis(due.since(now()).0.max(1)));
        tokio::select! {
            () = sleep(pause.min(due.unwrap_or(pause))) => {}
            Some(call) = under_way.join_next() => schedule.done(call.unwrap(), Outcome::Done, Millis(1), now()),
        }
    }
    log
}

/// The longest time between two of these, from the first second on.
fn longest(log: &[(Time, Call)], call: Call) -> u64 {
    let at: Vec<u64> = log.iter().filter(|(_, sent)| *sent == call).map(|(at, _)| at.0).collect();
    at.windows(2).map(|two| two[1] - two[0]).max().unwrap_or(u64::MAX)
}

#[tokio::test(start_paused = true)]
async fn while_a_thousand_sessions_are_proved_every_listing_is_still_read_within_its_interval() {
    for answer in [50, 1_200].map(Duration::from_millis) {
        let limits = Arc::new(Limits::new(&Ceilings::default(), Metrics::unregistered().unwrap()));
        let mut proofs = JoinSet::new();
        for _ in 0..8 {
            let limits = limits.clone();
            proofs.spawn(async move {
                loop {
                    let permit = limits.acquire(Endpoint::RmApp).await;
                    sleep(answer).await;
                    drop(permit);
                }
            });
        }
        let log = listings(limits, answer, 300).await;
        let params = ScheduleParams::default();
        let intervals = [params.apps, params.totals, params.queues, params.nodes];
        for (call, interval) in RM_CALLS.into_iter().zip(intervals) {
            // Jitter, the answer that the next one waits for, and one turn of each other listing.
            let most = interval.0 * 11 / 10 + 2 * answer.as_millis() as u64 + 800;
            assert!(longest(&log, call) <= most, "{call:?}: {} ms with answers of {answer:?}", longest(&log, call));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn with_too_little_leave_for_all_listings_none_waits_for_ever_behind_the_others() {
    let rm = Ceiling { per_second: 0.5, burst: 1, ..Ceilings::default().rm };
    let limits = Limits::new(&Ceilings { rm, ..Ceilings::default() }, Metrics::unregistered().unwrap());
    let log = listings(Arc::new(limits), Duration::from_millis(50), 300).await;
    for call in RM_CALLS {
        assert!(longest(&log, call) <= 12_000, "{call:?}: {} ms", longest(&log, call));
    }
}
