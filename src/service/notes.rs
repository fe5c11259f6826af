//! What the engine's thread hands to the rest of the service: facts to whoever asks for them, and after each pass leases and orders to shims or, for jobs without one, to REST.

use super::hints::Hints;
use super::holds::Holds;
use super::left::LeftJobs;
use super::listed::Listed;
use super::orders::Orders;
use super::reread::Rereads;
use super::restarts::Restarts;
use crate::ledger::Unanswered;
use crate::shim::{self, Shim};
use crate::yarn::facts::cluster::AppSeen;
use crate::yarn::schedule::Wants;
use drover_core::engine::{Engine, Pass};
use drover_core::model::{AttemptId, Fact, JobId, Millis, Observation, TaskId, Time};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// When each part of the cluster was seen last, Unix milliseconds; 0: not yet.
#[derive(Default)]
pub struct Readiness([AtomicU64; COMPLETE.len()]);

/// The facts of one complete poll of the cluster, and the settings' words for them.
const COMPLETE: [&str; 4] = ["running applications", "cluster totals", "nodes", "queues"];

impl Readiness {
    /// Notes what a fact shows, and when it came.
    pub fn note(&self, fact: &Fact, at: Time) {
        let part = match fact {
            Fact::Apps(_) => 0,
            Fact::Cluster(_) => 1,
            Fact::Nodes(_) => 2,
            Fact::Queues(_) => 3,
            _ => return,
        };
        self.0[part].store(at.0, Ordering::Relaxed);
    }

    /// When the ResourceManager last told any of them.
    pub fn newest(&self) -> Option<Time> {
        self.0.iter().map(|at| at.load(Ordering::Relaxed)).max().filter(|at| *at > 0).map(Time)
    }

    /// Why the service is not ready; `None` when it is.
    pub fn missing(&self) -> Option<String> {
        let unseen = self.0.iter().zip(COMPLETE).filter(|(at, _)| at.load(Ordering::Relaxed) == 0);
        let missing: Vec<&str> = unseen.map(|(_, what)| what).collect();
        (!missing.is_empty()).then(|| format!("the ResourceManager has not told its {} yet", missing.join(", ")))
    }
}

/// Who is told of facts, and who carries out what a pass decided.
#[derive(Default)]
pub struct Notes {
    /// The poller's hints.
    pub hints: Hints,
    /// What came of reading the configuration again.
    pub rereads: Rereads,
    /// What runs, as last listed.
    pub listed: Listed,
    /// What an earlier process left without an end.
    pub left: LeftJobs,
    /// Readiness of the service.
    pub ready: Readiness,
    /// The shims' sessions: an application that has ended ends its session.
    pub shim: OnceLock<Shim>,
    /// Who restarts attempts over REST, where that is allowed.
    pub restarts: OnceLock<Arc<Restarts>>,
    /// Operators' holds: that of a job ends with it.
    pub holds: OnceLock<Arc<Holds>>,
    orders: Mutex<Orders>,
}

impl Notes {
    /// Tells everyone of a fact.
    pub fn note(&self, seen: &Observation) {
        self.hints.touch(seen);
        self.ready.note(&seen.fact, seen.received);
        let Fact::Ended(end) = &seen.fact else { return };
        self.listed.forget(end.job.0);
        self.left.forget(end.job);
        if let Some(shim) = self.shim.get() {
            shim.application_ended(end.job.0);
        }
        if let Some(restarts) = self.restarts.get() {
            restarts.forget(end.job);
        }
        // One whose end nobody can tell may run on, held as it is.
        if let Some(holds) = self.holds.get().filter(|_| end.state.is_some()) {
            holds.job_ended(end.job);
        }
    }

    /// Has shims, or REST for jobs without one, carry out what a pass decided, and no more of what does not stand any more. Who owns what goes first: an action without a lease is refused.
    pub fn act(&self, engine: &Engine, pass: &Pass) {
        let Some(shim) = self.shim.get() else { return };
        let owned: HashMap<_, _> = engine.owned().into_iter().map(|id| (id, engine.clones_at_start(id))).collect();
        shim.own(owned);
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        let over = orders.review(engine);
        let (stand, off) = orders.take(engine, pass);
        for (order, why) in over.iter().chain(&off) {
            shim.call_off(order, *why);
            self.restarts.get().iter().for_each(|restarts| restarts.call_off(order.id));
        }
        for order in stand {
            let has_shim = engine.cluster().job(order.job).is_none_or(|job| job.shim || shim::is_loaded(job));
            match self.restarts.get().filter(|_| !has_shim) {
                Some(restarts) => restarts.take(order),
                None => shim.carry_out(order),
            }
        }
        pass.measures.iter().for_each(|measure| shim.take(measure));
    }

    /// The engine's thread still runs: what it last told of whose jobs are stays true.
    pub fn lives(&self) {
        if let Some(shim) = self.shim.get() {
            shim.own_still();
        }
    }

    /// Sends no order for a task while an earlier process's may still be on its way: until its deadline and the answer's grace have passed its attempts do not show it.
    pub fn wait_for(&self, left: &[Unanswered], grace: Millis, now: Time) {
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        left.iter().for_each(|one| orders.wait_for(one.task, unseen_until(one.deadline, now) + grace));
    }

    /// Has the shims of these jobs tell all of them again.
    pub fn ask_again(&self, jobs: Vec<JobId>) {
        if let Some(shim) = self.shim.get() {
            jobs.into_iter().for_each(|job| shim.ask_snapshot(job));
        }
    }
}

/// Until when what an earlier process asked for may be begun. Its clock may have been ahead, and no order lives longer than a minute (`act.deadline`).
fn unseen_until(deadline: Time, now: Time) -> Time {
    const LIVES: Millis = Millis(60_000);
    deadline.min(now + LIVES)
}

/// What the poller asks.
pub struct Asks(pub Arc<Notes>);

impl Wants for Asks {
    fn suspects(&self, job: JobId, limit: usize) -> Vec<TaskId> {
        self.0.hints.suspects(job, limit)
    }

    fn counters(&self, job: JobId, limit: usize) -> Vec<AttemptId> {
        self.0.hints.readings(job, limit)
    }

    fn known(&self) -> Vec<JobId> {
        self.0.hints.jobs()
    }

    fn has_shim(&self, job: JobId) -> bool {
        self.0.shim.get().is_some_and(|shim| shim.has_live_session(job))
    }

    fn may_kill(&self, job: JobId) -> Option<bool> {
        self.0.restarts.get().map(|restarts| restarts.may(job) && !self.0.hints.has_shim(job))
    }

    fn settings_known(&self, job: JobId) -> bool {
        self.0.hints.settings_known(job)
    }

    fn left(&self) -> Vec<JobId> {
        self.0.left.jobs()
    }

    fn left_tasks(&self, job: JobId) -> Vec<TaskId> {
        self.0.left.tasks(job)
    }

    fn listed(&self, apps: &[AppSeen]) {
        self.0.listed.take(apps);
    }
}

#[cfg(test)]
mod over_rest;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::fixture;
    use drover_core::model::{ClusterFact, JobSettings};

    #[test]
    fn an_order_of_a_process_whose_clock_was_ahead_is_waited_for_no_longer_than_any_lives() {
        let until = |deadline| unseen_until(Time(deadline), Time(100_000)).0;
        assert_eq!([90_000, 108_000, 7_300_000].map(until), [90_000, 108_000, 160_000]);
    }

    #[test]
    fn a_job_that_loads_the_shim_is_known_to_though_it_is_not_heard() {
        let mut desk = fixture::watched();
        let hints = Hints::default();
        let mut loads = |speculator: Option<&str>, seq| {
            let settings = JobSettings { speculator: speculator.map(str::to_owned), ..JobSettings::default() };
            let seen = fixture::seen(fixture::job(1), seq, 130_000, Fact::Settings(fixture::job(1), settings));
            hints.touch(&seen);
            desk.observe(seen);
            hints.publish(&desk.engine);
            hints.has_shim(fixture::job(1))
        };
        assert_eq!(
            [(None, 900), (Some("a.Other"), 901), (Some(shim::CLASS), 902)].map(|(class, seq)| loads(class, seq)),
            [false, false, true]
        );
    }

    #[test]
    fn the_service_is_ready_once_each_part_of_the_cluster_was_seen_and_says_what_is_missing_and_when_it_last_heard() {
        let ready = Readiness::default();
        assert_eq!(ready.newest(), None);
        for (at, fact) in [Fact::Apps(Vec::new()), Fact::Nodes(Vec::new()), Fact::Cluster(ClusterFact::default())]
            .into_iter()
            .enumerate()
        {
            ready.note(&fact, Time(30 - at as u64));
        }
        assert_eq!(ready.newest(), Some(Time(30)));
        assert_eq!(ready.missing().unwrap(), "the ResourceManager has not told its queues yet");
        ready.note(&Fact::Queues(Vec::new()), Time(40));
        assert_eq!((ready.missing(), ready.newest()), (None, Some(Time(40))));
    }
}
