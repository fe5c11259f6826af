//! Copies in flight, counted once for all proposals of a pass.

use super::flight::{Flight, Flights};
use crate::model::{Action, ClusterState, Job, JobId, Mode, NameId, TaskId, TaskKind};
use std::collections::BTreeMap;

/// Copies that hold budget.
#[derive(Debug, Default)]
pub struct InFlight {
    /// In the whole cluster, those that Hadoop launched itself included.
    pub cluster: u32,
    /// Of those the ones that will take a container and that the ResourceManager's numbers cannot show. A restart takes the one that it gives back.
    waiting: u32,
    /// And those that would take one, were they not only advised.
    advised: u32,
    by_user: BTreeMap<String, u32>,
    /// Of those the clones.
    clones_by_user: BTreeMap<String, u32>,
    by_queue: BTreeMap<String, u32>,
    from_host: BTreeMap<NameId, u32>,
    by_job: BTreeMap<(JobId, TaskKind), OfJob>,
}

/// Copies of a job's tasks of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OfJob {
    /// Those that hold budget.
    pub all: u32,
    /// Of those the ones that were asked for and wait for a container, as far as is known.
    pub unplaced: u32,
}

impl InFlight {
    /// Counts them. One pass over all flights.
    pub fn count(flights: &Flights, cluster: &ClusterState) -> InFlight {
        let mut counted = InFlight::default();
        for (task, flight) in flights.all() {
            counted.change(task, flight, cluster, cluster.job(task.job), |sum, copies| sum + copies);
        }
        counted
    }

    /// Counts a job's copies that Hadoop's own speculator launched and that no flight counts.
    pub fn add_native(&mut self, copies: u32, cluster: &ClusterState, job: &Job) {
        self.cluster += copies;
        *self.by_user.entry(job.user.clone()).or_default() += copies;
        *self.by_queue.entry(cluster.queue_name(job).to_owned()).or_default() += copies;
    }

    /// One more.
    pub fn add(&mut self, task: TaskId, flight: &Flight, cluster: &ClusterState, job: &Job) {
        self.change(task, flight, cluster, Some(job), |sum, copies| sum + copies);
    }

    /// One less: another takes its place.
    pub fn remove(&mut self, task: TaskId, flight: &Flight, cluster: &ClusterState, job: &Job) {
        self.change(task, flight, cluster, Some(job), u32::saturating_sub);
    }

    fn change(
        &mut self,
        task: TaskId,
        flight: &Flight,
        cluster: &ClusterState,
        job: Option<&Job>,
        by: fn(u32, u32) -> u32,
    ) {
        if !flight.is_in_flight() {
            return;
        }
        let change = |sum: &mut u32| *sum = by(*sum, flight.copies);
        change(&mut self.cluster);
        let known = job.and_then(|job| job.task(task));
        let unplaced = flight.asked.as_ref().map(|asked| asked.is_unplaced(known));
        match (flight.action, unplaced) {
            (Action::Duplicate, Some(true)) => change(&mut self.waiting),
            (Action::Duplicate, None) => change(&mut self.advised),
            _ => {}
        }
        let of_job = self.by_job.entry((task.job, task.kind)).or_default();
        change(&mut of_job.all);
        if unplaced == Some(true) {
            change(&mut of_job.unplaced);
        }
        if let Some(job) = job {
            change(self.by_user.entry(job.user.clone()).or_default());
            if flight.clones {
                change(self.clones_by_user.entry(job.user.clone()).or_default());
            }
            change(self.by_queue.entry(cluster.queue_name(job).to_owned()).or_default());
        }
        if let Some(host) = flight.from.filter(|_| !flight.clones) {
            change(self.from_host.entry(host).or_default());
        }
    }

    /// Containers that copies will take and that the ResourceManager's numbers cannot show, to one that is sought in that mode: what is only advised takes none from one that is
    /// started, and advice is as if all were.
    pub fn to_come(&self, mode: Mode) -> u32 {
        if mode == Mode::Act { self.waiting } else { self.waiting + self.advised }
    }

    /// Those of a user's jobs.
    pub fn of_user(&self, user: &str) -> u32 {
        self.by_user.get(user).copied().unwrap_or(0)
    }

    /// The same without clones, which have a budget of their own.
    pub fn beside_clones_of_user(&self, user: &str) -> u32 {
        self.of_user(user).saturating_sub(self.clones_by_user.get(user).copied().unwrap_or(0))
    }

    /// Those of a queue's jobs, by the one name that it has for all of them.
    pub fn of_queue(&self, queue: &str) -> u32 {
        self.by_queue.get(queue).copied().unwrap_or(0)
    }

    /// Those of a job's tasks of that kind.
    pub fn of_job(&self, job: JobId, kind: TaskKind) -> OfJob {
        self.by_job.get(&(job, kind)).copied().unwrap_or_default()
    }

    /// Those for attempts that ran on a host, clones apart.
    pub fn from_host(&self, host: NameId) -> u32 {
        self.from_host.get(&host).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::govern::flight::tests::{attempt, decision, job, map};
    use crate::model::{AttemptState, Decision, QueueFact};
    use crate::policy::Budget;

    /// Alice's jobs' copies and those of her queue, of all, and those that the ResourceManager cannot show, to advice.
    fn counts(counted: &InFlight) -> [u32; 4] {
        [counted.of_user("alice"), counted.of_queue("etl"), counted.cluster, counted.to_come(Mode::Advise)]
    }

    /// Counts one copy after the other, each beside those before.
    fn count(decisions: &[Decision], job: &Job) -> (Flights, InFlight) {
        let (mut flights, mut counted) = (Flights::default(), InFlight::default());
        for decision in decisions {
            flights.add(decision, Budget::Copies, job, 0);
            counted.add(decision.task, flights.newest(decision.task).unwrap(), &ClusterState::default(), job);
        }
        (flights, counted)
    }

    #[test]
    fn a_container_is_still_to_be_taken_by_copies_advised_and_by_those_that_wait_but_by_no_restart() {
        let mut job = job();
        let asked = |id, index| decision(id, map(index), Mode::Act);
        let restarts = [Mode::Act, Mode::Advise].map(|mode| decision(4, map(3), mode));
        let restarts = restarts.map(|decision| Decision { action: Action::Restart, ..decision });
        for restart in restarts {
            let (_, counted) = count(&[restart], &job);
            assert_eq!(counts(&counted), [1, 1, 1, 0]);
        }
        assert_eq!(counts(&count(&[decision(1, map(0), Mode::Advise)], &job).1), [1; 4]);
        assert_eq!(counts(&count(&[asked(2, 1)], &job).1), [1; 4]);
        let (mut flights, both) = count(&[asked(2, 1), decision(3, map(2), Mode::Advise)], &job);
        let to_come = [Mode::Act, Mode::Advise].map(|mode| both.to_come(mode));
        assert_eq!(to_come, [1, 2], "advice takes none from what is started");
        flights.sent(job.id, 2);
        attempt(&mut job, map(1).attempt(1), AttemptState::Running, 12_000, 0);
        let mut placed = InFlight::default();
        placed.add(map(1), flights.newest(map(1)).unwrap(), &ClusterState::default(), &job);
        assert_eq!(counts(&placed), [1, 1, 1, 0]);
    }

    #[test]
    fn copies_of_jobs_that_name_one_queue_by_its_path_and_by_its_last_part_are_counted_together() {
        let mut cluster = ClusterState::default();
        cluster.queues.insert("root.etl".into(), QueueFact::open("root.etl"));
        let (mut flights, mut counted) = (Flights::default(), InFlight::default());
        for (id, queue) in [(1, "etl"), (2, "root.etl"), (3, "root.dev")] {
            let mut job = job();
            job.queue = queue.into();
            let (task, decision) = (map(id), decision(id.into(), map(id), Mode::Act));
            flights.add(&decision, Budget::Copies, &job, 0);
            counted.add(task, flights.newest(task).unwrap(), &cluster, &job);
            counted.add_native(10, &cluster, &job);
        }
        assert_eq!((counted.of_queue("root.etl"), counted.of_queue("etl")), (22, 0));
        assert_eq!(counted.of_queue("root.dev"), 11, "one that is not listed goes by its own name");
    }

    #[test]
    fn a_copy_in_anothers_place_is_counted_once_and_hadoops_own_beside_it() {
        let job = job();
        let two = Decision { copies: 2, ..decision(2, map(1), Mode::Advise) };
        let (flights, mut counted) = count(&[decision(1, map(0), Mode::Advise), two], &job);
        assert_eq!(counts(&counted), [3; 4]);
        counted.remove(map(0), flights.newest(map(0)).unwrap(), &ClusterState::default(), &job);
        assert_eq!(counts(&counted), [2; 4]);
        counted.add_native(5, &ClusterState::default(), &job);
        assert_eq!(counts(&counted), [7, 7, 7, 2], "those hold their containers");
        assert_eq!((counted.of_user("bob"), counted.of_queue("dev")), (0, 0));
    }
}
