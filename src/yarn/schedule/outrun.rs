//! Calls to masters that hang before that is known of them, as when a rack dies: each would hold its place until its timeout, and all others would wait. One that others have
//! outrun is given up where its place is wanted; its master is asked again among those that hang, and there for as long as any.

use super::{Call, Outcome, Schedule};
use drover_core::model::{Millis, Time};

/// An answer that comes within this time shows that the proxy is well, and that whatever went out no later should have come back.
const QUICK: Millis = Millis(500);
/// No call is given up sooner.
const AT_LEAST: Millis = Millis(2_000);
/// Nor before so many times as long as its master has lately taken to answer.
const TIMES: f64 = 10.0;

/// Calls that may be given up.
#[derive(Debug, Default)]
pub(super) struct UnderWay {
    calls: Vec<(Call, Time)>,
    /// When the newest of those went out that were answered quickly.
    quick: Option<Time>,
}

impl Schedule {
    /// A call goes out. One to a master that is known to hang has a place of those that are kept for such.
    pub(super) fn goes_out(&mut self, call: Call, now: Time) {
        if call.job().is_some_and(|job| !self.hung.is_asked(job)) && !matches!(call, Call::End { .. }) {
            self.under_way.calls.push((call, now));
        }
    }

    /// It is back.
    pub(super) fn comes_back(&mut self, call: Call, outcome: Outcome, took: Millis, now: Time) {
        let Some(at) = self.under_way.calls.iter().position(|(other, _)| *other == call) else { return };
        let (_, since) = self.under_way.calls.swap_remove(at);
        if !matches!(outcome, Outcome::Done | Outcome::Told(_)) {
            return;
        }
        if now.since(since) <= QUICK {
            self.under_way.quick = self.under_way.quick.max(Some(since));
        }
        if let Some(job) = call.job().and_then(|job| self.jobs.get_mut(&job)) {
            job.took = took.max(job.took.scaled(0.5));
        }
    }

    /// The call that has been under way longest of those to be given up where another waits for a place.
    pub fn outrun(&self, now: Time) -> Option<Call> {
        let quick = self.under_way.quick?;
        let calls =
            self.under_way.calls.iter().filter(|(call, since)| *since <= quick && self.patience(call, *since) <= now);
        calls.min_by_key(|(_, since)| *since).map(|(call, _)| *call)
    }

    /// When the next may be.
    pub fn next_outrun(&self, now: Time) -> Option<Time> {
        let ends = self.under_way.calls.iter().map(|(call, since)| self.patience(call, *since));
        ends.filter(|end| *end > now).min()
    }

    fn patience(&self, call: &Call, since: Time) -> Time {
        let took = call.job().and_then(|job| self.jobs.get(&job)).map_or(Millis(0), |job| job.took);
        since + AT_LEAST.max(took.scaled(TIMES))
    }
}
