//! How many copies there is room for.

use super::GovernParams;
use super::flight::Flights;
use crate::model::{ClusterState, Job, Resources, TaskKind, Verdict};

/// Room for copies of one job's tasks of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Copies in flight in the cluster, and how many may be.
    pub cluster: (u32, u32),
    /// Copies in flight in the job, and how many may be.
    pub job: (u32, u32),
    /// Containers that are free for it and not promised to a copy; `None` where the RM has not told.
    pub free: Option<u32>,
    /// The job waits for containers of this kind itself.
    pub waiting: bool,
}

impl Room {
    /// Counts it. `native` are the copies in the whole cluster that Hadoop's own speculator launched and that no flight counts.
    pub fn count(
        params: &GovernParams,
        cluster: &ClusterState,
        flights: &Flights,
        job: &Job,
        kind: TaskKind,
        native: u32,
    ) -> Room {
        let size = container(job, kind);
        let slots = cluster.totals.map_or(0, |totals| fits(totals.total, size));
        let tasks = job.totals.map_or_else(|| job.known(kind), |totals| totals[kind as usize]);
        let in_cluster = flights.in_cluster();
        let in_job = flights.in_job(job.id, kind) + uncounted_copies(job, kind, flights);
        Room {
            cluster: (in_cluster + native, share(params.cluster_cap, slots, f64::floor).max(params.cluster_floor)),
            job: (in_job, share(params.job_cap, tasks, f64::ceil)),
            free: free(cluster, job, size).map(|free| free.saturating_sub(in_cluster)),
            waiting: job.needs[kind as usize] > 0,
        }
    }

    /// Why there is none, and the budget that says so.
    pub fn refusal(&self) -> Option<Verdict> {
        if self.waiting {
            Some(Verdict::ContainersWaiting)
        } else if self.free == Some(0) {
            Some(Verdict::NoHeadroom)
        } else if self.job.0 >= self.job.1 {
            Some(Verdict::JobCap)
        } else if self.cluster.0 >= self.cluster.1 {
            Some(Verdict::ClusterCap)
        } else {
            None
        }
    }

    /// The budget that is nearest its end: copies in flight and how many may be.
    pub fn tightest(&self) -> (u32, u32) {
        let left = |(used, cap): (u32, u32)| cap.saturating_sub(used);
        if left(self.job) <= left(self.cluster) { self.job } else { self.cluster }
    }
}

/// Tasks of a job that run more than one attempt without a copy of ours being counted for them.
pub fn uncounted_copies(job: &Job, kind: TaskKind, flights: &Flights) -> u32 {
    let counted = |task| flights.of(task).is_some_and(|flight| flight.counted);
    job.tasks(kind).filter(|(id, task)| task.live().count() > 1 && !counted(*id)).count() as u32
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

fn share(share: f64, of: u32, round: fn(f64) -> f64) -> u32 {
    (round(share * f64::from(of)) as u32).max(1)
}

/// Free containers for a job: what usable nodes have room for, within what its queue and its user may still use, less what others already wait for.
fn free(cluster: &ClusterState, job: &Job, size: Resources) -> Option<u32> {
    let totals = cluster.totals?;
    let on_nodes: u32 = if cluster.nodes.is_empty() {
        fits(less(totals.total, totals.allocated), size)
    } else {
        cluster.nodes.values().filter(|node| node.usable).map(|node| fits(less(node.total, node.used), size)).sum()
    };
    let in_queue = cluster.queue_of(job).map_or(u64::MAX, |queue| {
        let of_cluster = |share: f32| (totals.total.memory_mb as f64 * f64::from(share.max(0.0))) as u64;
        let of_user = match queue.users.iter().find(|user| user.user == job.user) {
            Some(user) => user.limit_mb.saturating_sub(user.used_mb),
            None => queue.user_capacity.map_or(u64::MAX, of_cluster),
        };
        of_cluster(queue.max_capacity - queue.used_capacity).min(of_user)
    });
    let free = on_nodes.min(fits(Resources { memory_mb: in_queue, vcores: 0 }, size));
    Some(free.saturating_sub(totals.containers_pending))
}

fn less(total: Resources, used: Resources) -> Resources {
    Resources {
        memory_mb: total.memory_mb.saturating_sub(used.memory_mb),
        vcores: total.vcores.saturating_sub(used.vcores),
    }
}
