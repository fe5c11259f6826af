//! How many copies there is room for.

use super::GovernParams;
use super::flight::Flights;
use super::in_flight::InFlight;
use crate::model::{
    Action, Attempt, AttemptId, ClusterState, Job, NameId, NodeFact, QueueFact, QueueUser, Resources, TaskKind, Time,
    Verdict,
};
use crate::policy::{Budget, Judged};
use std::collections::BTreeMap;

/// Room for copies of one job's tasks of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Copies in flight in the cluster, and how many may be.
    pub cluster: (u32, u32),
    /// Copies in flight in the job, and how many may be.
    pub job: (u32, u32),
    /// Copies in flight for attempts on the slow attempt's host, and how many may be.
    pub node: (u32, u32),
    /// Copies decided on within the last minute, and how many may be.
    pub minute: (u32, u32),
    /// Copies in flight of the user's jobs, and how many may be.
    pub user: (u32, u32),
    /// Copies in flight of the queue's jobs, and how many may be.
    pub queue: (u32, u32),
    /// More of the cluster is in use than copies may find.
    pub busy: bool,
    /// Containers that are free for it and not promised to a copy; `None` where the RM has not told.
    pub free: Option<u32>,
    /// The job waits for containers of this kind itself.
    pub waiting: bool,
    /// Copies of the job that wait for a container, and how many may.
    pub unplaced: (u32, u32),
}

/// What is counted over the whole cluster once for all proposals of a pass.
#[derive(Debug, Default)]
pub struct Tally {
    /// Copies in flight, those of Hadoop's own speculator included.
    pub copies: InFlight,
    /// Memory that attempts have taken (positive) or given back (negative) by host since the ResourceManager told of its nodes, MiB.
    pub since: BTreeMap<NameId, i64>,
    /// The same by queue and user since it told of its queues, MiB.
    pub in_queue: BTreeMap<(String, String), i64>,
    /// Containers given since it told how many are waited for to the maps of jobs that ran then: those had been asked for. Copies, and reduces, may have been asked for since.
    pub given: u32,
}

impl Tally {
    /// Counts it. One pass over all attempts.
    pub fn count(cluster: &ClusterState, flights: &Flights) -> Tally {
        let mut tally = Tally { copies: InFlight::count(flights, cluster), ..Tally::default() };
        for job in cluster.jobs() {
            let [nodes, queues, totals] =
                [cluster.nodes_told, cluster.queues_told, cluster.totals_told].map(|told| job.am_time(told));
            let mut of_job = 0;
            for kind in TaskKind::ALL {
                let size = container(job, kind).memory_mb as i64;
                tally.copies.add_native(uncounted_copies(job, kind, flights), job);
                let asked_before = kind == TaskKind::Map && job.started.get().is_some_and(|started| started < totals);
                let firsts = job.tasks(kind).filter_map(|(_, task)| task.attempts.first()?.started.get());
                tally.given += firsts.filter(|at| asked_before && *at > totals).count() as u32;
                for attempt in job.tasks(kind).flat_map(|(_, task)| &task.attempts) {
                    if let Some(host) = attempt.host {
                        *tally.since.entry(host).or_default() += size * change(attempt, nodes);
                    }
                    of_job += size * change(attempt, queues);
                }
            }
            if of_job != 0 {
                *tally.in_queue.entry((job.queue.clone(), job.user.clone())).or_default() += of_job;
            }
        }
        tally
    }
}

/// Containers that an attempt has taken since, 1, 0 or -1.
fn change(attempt: &Attempt, since: Time) -> i64 {
    let newer = |at: Option<Time>| i64::from(at.is_some_and(|at| at > since));
    newer(attempt.started.get()) - newer(attempt.finished.get())
}

impl Room {
    /// Counts it, for a copy beside, or instead of, that attempt which is to run on none of the hosts in `avoid`.
    pub fn count(
        params: &GovernParams,
        cluster: &ClusterState,
        flights: &Flights,
        job: &Job,
        slow: AttemptId,
        tally: &Tally,
        avoid: &[NameId],
    ) -> Room {
        let kind = slow.task.kind;
        let size = container(job, kind);
        let slots = cluster.totals.map_or(0, |totals| fits(totals.total, size));
        let tasks = job.totals.map_or_else(|| job.known(kind), |totals| totals[kind as usize]);
        let copies = &tally.copies;
        let in_job = flights.in_job(job.id, kind) + uncounted_copies(job, kind, flights);
        let unplaced = flights.unplaced(job, kind);
        let most = share(params.cluster_cap, slots, f64::floor).max(params.cluster_floor);
        Room {
            cluster: (copies.cluster, most),
            node: (job.host_of(slow).map_or(0, |host| copies.from_host(host)), params.node_copies.max(1)),
            minute: (flights.minute.count(), params.copies_per_minute.unwrap_or(most.saturating_mul(10)).max(1)),
            user: (copies.of_user(&job.user), share(params.user_cap, most, f64::floor)),
            queue: (copies.of_queue(&job.queue), share(params.queue_cap, most, f64::floor)),
            busy: cluster.totals.is_some_and(|totals| is_above(params.busy_above, totals.allocated, totals.total)),
            job: (in_job, share(params.job_cap, tasks, f64::ceil).max(params.job_floor.min(tasks / 2))),
            free: free(cluster, job, size, tally, avoid).map(|free| free.saturating_sub(copies.unseen)),
            // The job's own copies wait like its tasks, and are not what it lacks room for.
            waiting: job.needs[kind as usize] > unplaced,
            unplaced: (unplaced, params.waiting_copies.max(1)),
        }
    }

    /// Why there is none for that action, by the name of the budget that says so. What gives its container back asks for no more room; what starts nothing for none.
    /// A copy that may go `early` competes with the job's own tasks for the next container: while they wait there is no free one, and none is needed.
    /// The clones of an admitted phase are no matter of the job's cap, nor of one node's; all of a task's are given at once.
    pub fn refusal(&self, judged: &Judged) -> Option<Verdict> {
        let takes = judged.action == Action::Duplicate;
        let clones = judged.budget == Budget::Clones;
        let wanted = if clones { judged.copies } else { 1 };
        if judged.action == Action::Withdraw {
            None
        } else if takes && self.waiting && !judged.early {
            Some(Verdict::ContainersWaiting)
        } else if takes && (!self.waiting || clones) && self.free.is_some_and(|free| free < wanted) {
            Some(Verdict::NoHeadroom)
        } else if takes && self.unplaced.0 >= self.unplaced.1 {
            Some(Verdict::CopiesWaiting)
        } else if !clones && lacks(self.job, wanted) {
            Some(Verdict::JobCap)
        } else if !clones && lacks(self.node, wanted) {
            Some(Verdict::NodeCap)
        } else if lacks(self.cluster, wanted) {
            Some(Verdict::ClusterCap)
        } else if lacks(self.user, wanted) {
            Some(Verdict::UserCap)
        } else if lacks(self.queue, wanted) {
            Some(Verdict::QueueCap)
        } else if lacks(self.minute, wanted) {
            Some(Verdict::MinuteCap)
        } else if takes && self.busy {
            Some(Verdict::ClusterBusy)
        } else {
            None
        }
    }

    /// The budget that is nearest its end: copies that it counts and how many may be.
    pub fn tightest(&self, budget: Budget) -> (u32, u32) {
        let left = |(used, cap): &(u32, u32)| cap.saturating_sub(*used);
        let own = [self.job, self.node].into_iter().filter(|_| budget == Budget::Copies);
        let all = own.chain([self.user, self.queue, self.cluster, self.minute]);
        all.min_by_key(left).unwrap_or(self.cluster)
    }
}

fn lacks((used, cap): (u32, u32), wanted: u32) -> bool {
    used + wanted > cap
}

/// Tasks of a job that have more than one attempt that has not ended without a copy of ours being counted for them.
pub fn uncounted_copies(job: &Job, kind: TaskKind, flights: &Flights) -> u32 {
    let counted = |task| flights.of(task).is_some_and(|flight| flight.counted);
    job.tasks(kind).filter(|(id, task)| task.unended().count() > 1 && !counted(*id)).count() as u32
}

/// What a container of that kind asks for.
pub fn container(job: &Job, kind: TaskKind) -> Resources {
    let settings = job.settings.as_ref();
    settings.map_or(Resources { memory_mb: 1024, vcores: 1 }, |settings| match kind {
        TaskKind::Map => settings.map_container,
        TaskKind::Reduce => settings.reduce_container,
    })
}

/// Containers of that size that fit, by memory: YARN's default calculator looks at nothing else.
fn fits(room: Resources, size: Resources) -> u32 {
    (room.memory_mb / size.memory_mb.max(1)).min(u32::MAX.into()) as u32
}

fn is_above(share: f64, used: Resources, total: Resources) -> bool {
    used.memory_mb as f64 > share * total.memory_mb as f64
}

fn share(share: f64, of: u32, round: fn(f64) -> f64) -> u32 {
    (round(share * f64::from(of)) as u32).max(1)
}

/// Free containers for a job: what usable nodes have room for, within what its queue and its user may still use, less what others already wait for.
fn free(cluster: &ClusterState, job: &Job, size: Resources, tally: &Tally, avoid: &[NameId]) -> Option<u32> {
    let totals = cluster.totals?;
    let on_nodes: u32 = if cluster.nodes.is_empty() {
        fits(less(totals.total, totals.allocated), size)
    } else {
        usable_rooms(cluster, tally)
            .filter(|(host, _)| host.is_none_or(|h| !avoid.contains(&h)))
            .map(|(_, mb)| mb / size.memory_mb.max(1))
            .sum::<u64>()
            .min(u32::MAX.into()) as u32
    };
    let in_queue = cluster.queue_of(job).map_or(u64::MAX, |queue| {
        let of_cluster = |share: f32| (totals.total.memory_mb as f64 * f64::from(share.max(0.0))) as u64;
        let of_user = queue.user_capacity.map_or(u64::MAX, of_cluster);
        let since = |user: Option<&str>| -> i64 {
            let of =
                tally.in_queue.iter().filter(|((name, who), _)| *name == job.queue && user.is_none_or(|u| u == who));
            of.map(|(_, mb)| *mb).sum()
        };
        let used = of_cluster(queue.used_capacity).saturating_add_signed(since(None));
        let left = of_cluster(queue.max_capacity).saturating_sub(used);
        match queue.users.iter().find(|user| user.user == job.user) {
            Some(user) => {
                // A limit that moves along with what is used has moved, too, where more is.
                let used_mb = user.used_mb.saturating_add_signed(since(Some(&job.user)).min(0));
                let user = QueueUser { used_mb, ..user.clone() };
                left.min(left_to_user(queue, &user, of_user, size.memory_mb))
            }
            None => left.min(of_user),
        }
    });
    let free = on_nodes.min(fits(Resources { memory_mb: in_queue, vcores: 0 }, size));
    Some(free.saturating_sub(totals.containers_pending.saturating_sub(tally.given)))
}

/// What a user may still take of a queue, MiB, at `most` so much in all. Hadoop's scheduler refuses a container only to a user who is above the limit already, and
/// where a queue uses more than it is promised, the limit is told as what is used and a little: it moves along (UsersManager.computeUserLimit).
fn left_to_user(queue: &QueueFact, user: &QueueUser, most: u64, size_mb: u64) -> u64 {
    if user.used_mb > user.limit_mb {
        return 0;
    }
    let left = most.saturating_sub(user.used_mb);
    let may_have_all = queue.user_share.is_some_and(|share| share >= 1.0);
    if may_have_all { left } else { left.min((user.limit_mb - user.used_mb).max(size_mb)) }
}

/// Memory free on each usable node now, MiB: what the ResourceManager told, and what is known to have come and gone since.
pub fn usable_rooms<'a>(
    cluster: &'a ClusterState,
    tally: &'a Tally,
) -> impl Iterator<Item = (Option<NameId>, u64)> + 'a {
    cluster.nodes.values().filter(|node| node.usable).map(|node| {
        let host = cluster.hosts.find(&node.host);
        let since = host.and_then(|host| tally.since.get(&host)).copied().unwrap_or(0);
        (host, node_room(node, since))
    })
}

/// Memory that is free on a node of which so much was taken (positive) or given back since it was told, MiB.
pub fn node_room(node: &NodeFact, since: i64) -> u64 {
    node.total.memory_mb.saturating_sub(node.used.memory_mb.saturating_add_signed(since))
}

fn less(total: Resources, used: Resources) -> Resources {
    Resources {
        memory_mb: total.memory_mb.saturating_sub(used.memory_mb),
        vcores: total.vcores.saturating_sub(used.vcores),
    }
}
