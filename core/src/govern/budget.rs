//! How many copies there is room for.

use super::GovernParams;
use super::flight::Flights;
use super::in_flight::OfJob;
use super::sizes::{Held, USUAL, container};
use super::tally::{Tally, copies_in_flight};
use crate::model::{Action, AttemptId, ClusterState, Job, Mode, NameId, Resources, TaskKind, Verdict, share_of};
use crate::policy::{Budget, Judged};

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

/// The copy that room is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Sought<'a> {
    /// The attempt that it is to run beside, or instead of.
    pub slow: AttemptId,
    /// Whether it is advised or asked for.
    pub mode: Mode,
    /// It is to run on none of these.
    pub avoid: &'a [NameId],
}

impl Room {
    /// Counts it.
    pub fn count(
        params: &GovernParams,
        cluster: &ClusterState,
        flights: &Flights,
        job: &Job,
        sought: Sought<'_>,
        tally: &mut Tally,
    ) -> Room {
        let Sought { slow, mode, avoid } = sought;
        let kind = slow.task.kind;
        let slot = tally.held.slot(container(cluster, job, kind));
        let slots = tally.all.map_or(0, |all| fits(cluster, all.total, slot));
        let tasks = job.totals.map_or_else(|| job.known(kind), |totals| totals[kind as usize]);
        let free = free(cluster, job, kind, tally, avoid);
        let copies = &tally.copies;
        let OfJob { all, unplaced } = copies.of_job(job.id, kind);
        let in_job = all + tally.native_in(job.id, kind);
        let most = params.most_in_cluster(slots);
        Room {
            cluster: (copies.cluster, most),
            node: (job.host_of(slow).map_or(0, |host| copies.from_host(host)), limit(params.node_copies)),
            minute: (flights.minute.count(), params.most_in_a_minute(most)),
            user: (copies.of_user(&job.user), share(params.user_cap, most, f64::floor)),
            queue: (copies.of_queue(cluster.queue_name(job)), share(params.queue_cap, most, f64::floor)),
            busy: tally.all.is_some_and(|all| is_above(params.busy_above, all.allocated, all.total)),
            job: (in_job, share(params.job_cap, tasks, f64::ceil).max(params.job_floor.min(tasks / 2))),
            free: free.map(|free| free.saturating_sub(copies.to_come(mode))),
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
        } else if takes && self.unplaced.0 > 0 && lacks(self.unplaced, wanted) {
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

    /// The budget that is nearest its end: copies that it counts and how many may be. `cloned` is the clones' own, in containers (Dolly's beta).
    pub fn tightest(&self, budget: Budget, cloned: Option<(u32, u32)>) -> (u32, u32) {
        let left = |(used, cap): &(u32, u32)| cap.saturating_sub(*used);
        let own = [self.job, self.node].into_iter().filter(|_| budget == Budget::Copies);
        let all = own.chain(cloned).chain([self.user, self.queue, self.cluster, self.minute]);
        all.min_by_key(left).unwrap_or(self.cluster)
    }
}

impl GovernParams {
    /// Copies that may be in flight in a cluster of so many slots.
    fn most_in_cluster(&self, slots: u32) -> u32 {
        share(self.cluster_cap, slots, f64::floor).max(self.cluster_floor)
    }

    /// Copies that may be decided on in a minute where so many may be in flight; `u32::MAX` for no limit.
    fn most_in_a_minute(&self, in_flight: u32) -> u32 {
        self.copies_per_minute.map_or(in_flight.saturating_mul(10).max(1), limit)
    }
}

/// What copies take of the budgets of the whole cluster, each with how much they may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budgets {
    /// Copies in flight, those of Hadoop's own speculator included. Slots are counted by what jobs' containers are on average: a job with larger ones may have fewer copies.
    pub cluster: (u32, u32),
    /// Copies decided on within the last minute; `u32::MAX` where there is no limit.
    pub minute: (u32, u32),
}

impl Budgets {
    /// Counts them.
    pub fn count(params: &GovernParams, cluster: &ClusterState, flights: &Flights) -> Budgets {
        let most = params.most_in_cluster(cluster.all().map_or(0, |all| fits(cluster, all.total, usual(cluster))));
        Budgets {
            cluster: (copies_in_flight(cluster, flights), most),
            minute: (flights.minute.count(), params.most_in_a_minute(most)),
        }
    }
}

/// A limit as it is set: 0 is none.
fn limit(set: u32) -> u32 {
    if set == 0 { u32::MAX } else { set }
}

fn lacks((used, cap): (u32, u32), wanted: u32) -> bool {
    used + wanted > cap
}

/// A slot, whichever job it is for: as large as jobs' containers are on average; while that is not told, as the largest of them.
fn usual(cluster: &ClusterState) -> Resources {
    let held = Held::count(cluster);
    if held != Held::default() {
        return held.slot(Resources::default());
    }
    let sizes = cluster.jobs().flat_map(|job| TaskKind::ALL.map(|kind| container(cluster, job, kind)));
    sizes.max_by_key(|size| size.memory_mb).unwrap_or(USUAL)
}

/// Containers of that size that fit, by what the scheduler counts.
fn fits(cluster: &ClusterState, room: Resources, size: Resources) -> u32 {
    cluster.counted(room).fit(size).min(u32::MAX.into()) as u32
}

fn is_above(share: f64, used: Resources, total: Resources) -> bool {
    used.memory_mb as f64 > share_of(share, total.memory_mb)
}

fn share(share: f64, of: u32, round: fn(f64) -> f64) -> u32 {
    (round(share_of(share, of.into())) as u32).max(1)
}

/// Free containers for a job: what usable nodes have room for, within what its queue and its user may still use and what is lent beside, less what others wait for and may be given.
fn free(cluster: &ClusterState, job: &Job, kind: TaskKind, tally: &mut Tally, avoid: &[NameId]) -> Option<u32> {
    let (all, size) = (tally.all?, container(cluster, job, kind));
    let on_nodes = if cluster.nodes.is_empty() {
        fits(cluster, all.total.less(all.allocated), size)
    } else {
        tally.partitions.of_mut(cluster, job, kind).fit(size, avoid)
    };
    let in_queue = tally.left_in_queue(cluster, job, kind);
    let label = tally.asked(cluster, job, kind);
    let [lent, left] = if label.is_empty() { tally.lent(cluster, size, avoid) } else { [0; 2] };
    // A queue's shares are those of the resource it uses most of; a container's are taken for its memory's.
    let own = on_nodes.saturating_sub(lent).min((in_queue / size.memory_mb.max(1)).min(u32::MAX.into()) as u32);
    Some(own.saturating_add(left).saturating_sub(tally.awaited(cluster, label, size.memory_mb)))
}

#[cfg(test)]
mod tests;
