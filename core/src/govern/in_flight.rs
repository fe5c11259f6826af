//! Copies in flight, counted once for all proposals of a pass.

use super::flight::{Flight, Flights};
use crate::model::{Action, ClusterState, Job, NameId, TaskId};
use std::collections::BTreeMap;

/// Copies that hold budget.
#[derive(Debug, Default)]
pub struct InFlight {
    /// In the whole cluster, those that Hadoop launched itself included.
    pub cluster: u32,
    /// Of those the ones that will take a container and that the ResourceManager's numbers cannot show: those only advised, and those that wait for theirs. A restart takes the
    /// one that it gives back.
    pub unseen: u32,
    by_user: BTreeMap<String, u32>,
    by_queue: BTreeMap<String, u32>,
    from_host: BTreeMap<NameId, u32>,
}

impl InFlight {
    /// Counts them. One pass over all flights.
    pub fn count(flights: &Flights, cluster: &ClusterState) -> InFlight {
        let mut counted = InFlight::default();
        for (task, flight) in flights.all() {
            counted.change(task, flight, cluster.job(task.job), |sum, copies| sum + copies);
        }
        counted
    }

    /// Counts a job's copies that Hadoop's own speculator launched and that no flight counts.
    pub fn add_native(&mut self, copies: u32, job: &Job) {
        if copies > 0 {
            self.cluster += copies;
            *self.by_user.entry(job.user.clone()).or_default() += copies;
            *self.by_queue.entry(job.queue.clone()).or_default() += copies;
        }
    }

    /// One more.
    pub fn add(&mut self, task: TaskId, flight: &Flight, job: &Job) {
        self.change(task, flight, Some(job), |sum, copies| sum + copies);
    }

    /// One less: another takes its place.
    pub fn remove(&mut self, task: TaskId, flight: &Flight, job: &Job) {
        self.change(task, flight, Some(job), u32::saturating_sub);
    }

    fn change(&mut self, task: TaskId, flight: &Flight, job: Option<&Job>, by: fn(u32, u32) -> u32) {
        if !flight.counted {
            return;
        }
        let change = |sum: &mut u32| *sum = by(*sum, flight.copies);
        change(&mut self.cluster);
        let of_task = || job.and_then(|job| job.task(task));
        let unseen = flight.asked.as_ref().is_none_or(|asked| asked.is_unplaced(of_task()));
        if flight.action == Action::Duplicate && unseen {
            change(&mut self.unseen);
        }
        if let Some(job) = job {
            change(self.by_user.entry(job.user.clone()).or_default());
            change(self.by_queue.entry(job.queue.clone()).or_default());
        }
        if let Some(host) = flight.from.filter(|_| !flight.clones) {
            change(self.from_host.entry(host).or_default());
        }
    }

    /// Those of a user's jobs.
    pub fn of_user(&self, user: &str) -> u32 {
        self.by_user.get(user).copied().unwrap_or(0)
    }

    /// Those of a queue's jobs.
    pub fn of_queue(&self, queue: &str) -> u32 {
        self.by_queue.get(queue).copied().unwrap_or(0)
    }

    /// Those for attempts that ran on a host, clones apart.
    pub fn from_host(&self, host: NameId) -> u32 {
        self.from_host.get(&host).copied().unwrap_or(0)
    }
}
