//! What is counted over the whole cluster once for all proposals of a pass.

mod queues;

use super::flight::{Flight, Flights};
use super::free::Change;
use super::in_flight::InFlight;
use super::partitions::Partitions;
use super::sizes::{Held, container};
use crate::model::{
    Attempt, ClusterFact, ClusterState, Job, JobId, Millis, NameId, QueueFact, Resources, Task, TaskId, TaskKind, Time,
};
use queues::{Since, containers_left, given_of, left_by_label, left_in_queue, more_of, unused};
use std::collections::BTreeMap;

/// The counts.
#[derive(Debug, Default)]
pub struct Tally {
    /// Copies in flight, those of Hadoop's own speculator included.
    pub copies: InFlight,
    /// All that the cluster has, where that was told.
    pub all: Option<ClusterFact>,
    /// Where there is room.
    pub partitions: Partitions,
    /// What jobs hold.
    pub(super) held: Held,
    /// Containers given since the ResourceManager told how many are waited for to the maps of jobs that ran then: those had been asked for. Copies, and reduces, may have
    /// been asked for since. Where the scheduler goes by labels, of those that ask for none, which are all that it tells of.
    pub given: u32,
    /// Copies that Hadoop's own speculator launched and that no flight counts, where there are any.
    native: BTreeMap<(JobId, TaskKind), u32>,
    /// What queues' attempts have taken or given back since it told of them.
    in_queue: BTreeMap<String, Since>,
    /// What jobs may still take of their queues for one kind of tasks, MiB, as far as it was asked for.
    left: BTreeMap<(JobId, TaskKind), u64>,
    /// Containers that are waited for and may be given, by the label that is asked for and their size in MiB, as far as it was asked for.
    awaited: BTreeMap<(String, u64), u32>,
}

impl Tally {
    /// Counts it. One pass over all attempts.
    pub fn count(cluster: &ClusterState, flights: &Flights) -> Tally {
        let (copies, held) = (InFlight::count(flights, cluster), Held::count(cluster));
        let mut tally = Tally { copies, held, all: cluster.all(), ..Tally::default() };
        let mut on_nodes = BTreeMap::new();
        let by_label = cluster.has_partitions();
        for job in cluster.jobs() {
            tally.add(job, cluster, flights, by_label, &mut on_nodes);
        }
        tally.partitions = Partitions::new(cluster, &on_nodes);
        tally
    }

    /// The label that a job's containers of a kind ask for; empty where the scheduler does not go by labels.
    pub fn asked<'a>(&self, cluster: &'a ClusterState, job: &'a Job, kind: TaskKind) -> &'a str {
        if self.partitions.by_label() { cluster.label_of(job, kind) } else { "" }
    }

    /// Counts a job's; adds to `on_nodes` what its attempts have taken (positive) or given back by host since the ResourceManager told of its nodes.
    fn add(
        &mut self,
        job: &Job,
        cluster: &ClusterState,
        flights: &Flights,
        by_label: bool,
        on_nodes: &mut BTreeMap<NameId, Change>,
    ) {
        let [nodes, queues, totals] =
            [cluster.nodes_told, cluster.queues_told, cluster.totals_told].map(|told| Span::since(told, job));
        let asked_before = |span: Span| job.started.get().is_some_and(|started| started < span.from);
        let given = |kind, first: Option<Time>, span: Span| {
            u32::from(kind == TaskKind::Map && span.holds(first) && asked_before(span))
        };
        let [mut by_nodes, mut by_queues] = Holding::of(job, cluster);
        // Where the scheduler does not go by labels all is of none, and no name need be sought for each attempt.
        let (mut unlabelled, mut of_label) = (None::<i64>, BTreeMap::<&str, i64>::new());
        let (mut of_queue, mut held) = (0, held(job, cluster));
        for kind in TaskKind::ALL {
            let of_kind = container(cluster, job, kind);
            let asked = if by_label { cluster.label_of(job, kind) } else { "" };
            let mut native = 0_usize;
            for (id, task) in job.tasks(kind) {
                let first = task.attempts.first().and_then(|first| first.started.get());
                self.given += if asked.is_empty() { given(kind, first, totals) } else { 0 };
                of_queue += given(kind, first, queues);
                native += usize::from(has_uncounted_copy(id, task, flights));
                for attempt in &task.attempts {
                    let (size, change) = by_nodes.change(attempt, nodes, of_kind);
                    if let Some(host) = attempt.host.filter(|_| change != 0) {
                        on_nodes.entry(host).or_default().add(size, change);
                    }
                    let (size, change) = by_queues.change(attempt, queues, of_kind);
                    if change != 0 {
                        let more = size.memory_mb as i64 * change;
                        match by_label {
                            true => *of_label.entry(cluster.label_there(attempt).unwrap_or(asked)).or_default() += more,
                            false => *unlabelled.get_or_insert(0) += more,
                        }
                    }
                }
            }
            let native = u32::try_from(native).unwrap_or(u32::MAX).min(held);
            held -= native;
            if native > 0 {
                self.native.insert((job.id, kind), native);
                self.copies.add_native(native, cluster, job);
            }
        }
        of_label.extend(unlabelled.map(|more| ("", more)));
        if !of_label.is_empty() || of_queue != 0 {
            let queue = self.in_queue.entry(cluster.queue_name(job).to_owned()).or_default();
            let asked = if by_label { cluster.label_of(job, TaskKind::Map) } else { "" };
            *queue.given.entry(asked.to_owned()).or_default() += of_queue;
            *queue.of_user.entry(job.user.clone()).or_default() += of_label.values().sum::<i64>();
            for (label, more) in of_label {
                *queue.of_label.entry(label.to_owned()).or_default() += more;
            }
        }
    }

    /// Copies in a job that Hadoop's own speculator launched and that no flight counted when the pass began.
    pub fn native_in(&self, job: JobId, kind: TaskKind) -> u32 {
        self.native.get(&(job, kind)).copied().unwrap_or(0)
    }

    /// Containers that are waited for with that label and that YARN may give, each taken to be of that size: of what a queue is told to wait for no more than it, its parents and its users have room for, as
    /// the rest takes no other's place, nor do masters of applications that are not let in; and all that no queue tells of.
    pub fn awaited(&mut self, cluster: &ClusterState, label: &str, size_mb: u64) -> u32 {
        let size_mb = size_mb.max(1);
        if let Some(known) = self.awaited.get(&(label.to_owned(), size_mb)) {
            return *known;
        }
        let awaited = if label.is_empty() {
            self.without_label(cluster, size_mb)
        } else {
            self.with_label(cluster, label, size_mb)
        };
        self.awaited.insert((label.to_owned(), size_mb), awaited);
        awaited
    }

    /// Containers of a size that fit on what is lent to jobs that ask for no label, on others than the hosts in `avoid`, and how many of these are left when those who wait with the nodes' labels have theirs.
    pub fn lent(&mut self, cluster: &ClusterState, size: Resources, avoid: &[NameId]) -> [u32; 2] {
        let lent = self.partitions.lent(size, avoid);
        let left =
            |(label, fit): (String, u32)| [fit, fit.saturating_sub(self.awaited(cluster, &label, size.memory_mb))];
        lent.into_iter().map(left).fold([0; 2], |sums, parts| [0, 1].map(|n| u32::saturating_add(sums[n], parts[n])))
    }

    /// Those that are asked for without a label, which are all that the totals and a queue's own number tell of. They may be given what is lent, too, beside what their queue may have.
    fn without_label(&mut self, cluster: &ClusterState, size_mb: u64) -> u32 {
        let [_, lent] = self.lent(cluster, Resources { memory_mb: size_mb, vcores: 1 }, &[]);
        self.pending(cluster, size_mb, lent)
    }

    /// The same where so many are lent to all queues together.
    fn pending(&self, cluster: &ClusterState, size_mb: u64, lent: u32) -> u32 {
        let (totals, by_label) = (cluster.totals.unwrap_or_default(), self.partitions.by_label());
        let (mut told, mut may, mut beyond) = (0_u32, 0_u32, 0_u32);
        for queue in cluster.queues.values() {
            let since = self.in_queue.get(&queue.name);
            let waits = queue.containers_pending.saturating_sub(given_of("", since));
            told = told.saturating_add(waits);
            let waits = waits.saturating_sub(queue.masters_pending);
            let of_queue = waits.min(containers_left(queue, size_mb, totals.total.memory_mb, by_label, since));
            may = may.saturating_add(of_queue);
            beyond = beyond.saturating_add(waits - of_queue);
        }
        let untold = totals.containers_pending.saturating_sub(self.given).saturating_sub(told);
        may.saturating_add(beyond.min(lent)).saturating_add(untold)
    }

    /// Those that are asked for with one: of them queues alone tell, by their memory; where none does, as of Hadoop 2.7, those of all nodes are told together.
    fn with_label(&self, cluster: &ClusterState, label: &str, size_mb: u64) -> u32 {
        if cluster.queues.values().all(|queue| queue.by_label.is_empty()) {
            return self.pending(cluster, size_mb, 0);
        }
        let total_mb = self.partitions.total_mb(label);
        let of_queue = |queue: &QueueFact| {
            let (share, since) = (queue.by_label.get(label)?, self.in_queue.get(&queue.name));
            let waits = share.pending_mb.div_ceil(size_mb).saturating_sub(given_of(label, since).into());
            Some(waits.min(unused(share, total_mb, more_of(label, since)).div_ceil(size_mb)))
        };
        let all = cluster.queues.values().filter_map(of_queue).fold(0, u64::saturating_add);
        all.min(u32::MAX.into()) as u32
    }

    /// What a job's user may still take of its queue for tasks of that kind, MiB. Where the scheduler goes by labels a user's use is told of all nodes together, and the limit of those
    /// without one alone: then what the queue may, and of nodes with a label what any user may beside what this one uses there.
    pub fn left_in_queue(&mut self, cluster: &ClusterState, job: &Job, kind: TaskKind) -> u64 {
        let Tally { in_queue, left, partitions, .. } = self;
        *left.entry((job.id, kind)).or_insert_with(|| {
            let since = in_queue.get(cluster.queue_name(job));
            let size = container(cluster, job, kind).memory_mb;
            let Some(queue) = cluster.queue_of(job) else { return u64::MAX };
            let shared_mb = cluster.totals.map_or(0, |totals| totals.total.memory_mb);
            match (partitions.by_label(), cluster.label_of(job, kind)) {
                (false, _) => left_in_queue(queue, &job.user, size, shared_mb, since),
                (true, "") if shared_mb > 0 => unused(&queue.share(), shared_mb, more_of("", since)),
                // Its containers go to nodes with a label, or all nodes have one: shares of those without say nothing of it.
                (true, label) => left_by_label(queue, &job.user, label, partitions.total_mb(label), since),
            }
        })
    }
}

/// From an instant at which the ResourceManager told of something until a job was last heard, the job's clock.
#[derive(Debug, Clone, Copy)]
struct Span {
    from: Time,
    until: Time,
}

impl Span {
    /// Clocks are known to a few seconds, and what a job says of a time beyond these says nothing of room that all jobs share.
    fn since(told: Time, job: &Job) -> Span {
        const APART: Millis = Millis(10_000);
        Span { from: job.am_time(told), until: job.am_time(job.heard) + APART }
    }

    fn holds(self, at: Option<Time>) -> bool {
        at.is_some_and(|at| at > self.from && at <= self.until)
    }
}

/// The most that a job held by the ResourceManager's word, where that is told, and so what it may be believed to give back.
#[derive(Debug, Clone, Copy)]
struct Holding(Option<Resources>);

impl Holding {
    /// Since nodes were told, and since queues were.
    fn of(job: &Job, cluster: &ClusterState) -> [Holding; 2] {
        let held = cluster.held_most.get(&job.id.0).copied().unwrap_or_default();
        held.map(|held| Holding(Some(held).filter(|held| held.memory_mb > 0)))
    }

    /// What an attempt whose container takes so much has taken since, 1, or given back, -1; or 0.
    fn change(&mut self, attempt: &Attempt, since: Span, size: Resources) -> (Resources, i64) {
        let newer = |at: Option<Time>| i64::from(since.holds(at));
        match (newer(attempt.started.get()) - newer(attempt.finished.get()), &mut self.0) {
            (-1, Some(left)) => {
                let back =
                    Resources { memory_mb: size.memory_mb.min(left.memory_mb), vcores: size.vcores.min(left.vcores) };
                *left = left.less(back);
                (back, -i64::from(back.memory_mb > 0))
            }
            (change, _) => (size, change),
        }
    }
}

/// Copies in flight in the whole cluster, those of Hadoop's own speculator included. One pass over all tasks.
pub(super) fn copies_in_flight(cluster: &ClusterState, flights: &Flights) -> u32 {
    let of_job = |job: &Job| {
        let tasks = TaskKind::ALL.into_iter().flat_map(|kind| job.tasks(kind));
        let claimed = tasks.filter(|(id, task)| has_uncounted_copy(*id, task, flights)).count();
        u32::try_from(claimed).unwrap_or(u32::MAX).min(held(job, cluster))
    };
    cluster.jobs().map(of_job).fold(flights.in_cluster(), u32::saturating_add)
}

/// Has a task more than one attempt that has not ended, and no copy of ours is counted for it?
fn has_uncounted_copy(id: TaskId, task: &Task, flights: &Flights) -> bool {
    task.attempts.len() > 1 && task.unended().count() > 1 && !flights.of(id).any(Flight::is_in_flight)
}

/// Containers that a job holds, where the ResourceManager has told: of the copies that it claims, which count against everybody's, no more are believed. None are told of one that Drover's
/// user may not look at: whatever runs has its master's.
fn held(job: &Job, cluster: &ClusterState) -> u32 {
    cluster.apps.get(&job.id.0).map(|app| app.containers).filter(|held| *held > 0).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
