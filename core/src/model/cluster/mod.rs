//! The cluster as it is known. Built from observations alone.

mod apply;
mod dropped;
mod room;
#[cfg(test)]
mod tests;

use crate::model::action::{Hold, Scope};
use crate::model::id::{AppId, JobId, TaskKind};
use crate::model::job::{Attempt, Job};
use crate::model::names::{ByName, NameId, Names};
use crate::model::observation::*;
use crate::model::places::Places;
use crate::model::queue_name;
use crate::model::units::Time;
pub use dropped::Dropped;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// All that is known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ClusterState {
    /// Totals, where the RM told them: where its scheduler goes by labels those of the nodes without one ([`ClusterState::all`]).
    pub totals: Option<ClusterFact>,
    /// Nodes, by host and in order of it.
    pub nodes: ByName<NodeFact>,
    /// Links of racks, by rack; none where they are not measured.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub racks: BTreeMap<String, RackFact>,
    /// Leaf queues, by name.
    pub queues: BTreeMap<String, QueueFact>,
    /// Running applications, as the RM lists them.
    pub apps: BTreeMap<AppId, AppFact>,
    /// The most that each of them was told to hold since nodes were told, and since queues were, or as these were.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub held_most: BTreeMap<AppId, [Resources; 2]>,
    /// When the totals were told, the service's clock.
    pub totals_told: Time,
    /// When the nodes were told, the service's clock.
    pub nodes_told: Time,
    /// When the queues were told, the service's clock.
    #[serde(default)]
    pub queues_told: Time,
    /// Operators' holds, by what they cover.
    #[serde(with = "crate::model::pairs")]
    pub holds: BTreeMap<Scope, Hold>,
    /// Epoch of another service that speaks to the same shims, when it is above this one's.
    pub rival: Option<u64>,
    /// Host names.
    pub hosts: Names,
    /// Sets of racks that maps' inputs lie on.
    #[serde(default, skip_serializing_if = "Places::is_empty")]
    pub places: Places,
    jobs: BTreeMap<JobId, Job>,
    /// Jobs whose ends are still to be read.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    ending: BTreeSet<JobId>,
    /// Jobs that have ended, in the order in which that was told, lest a late fact bring one back.
    ended: IndexSet<JobId, FxBuildHasher>,
    #[serde(with = "crate::model::pairs")]
    sources: BTreeMap<(Channel, Option<AppId>), (u64, u64)>,
    #[serde(skip)]
    bounds: room::Bounds,
}

/// What an observation changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    /// Something that concerns every job.
    Cluster,
    /// One job.
    Job(JobId),
    /// A job has ended; its end is to be taken account of, then it is to be forgotten.
    Ended(JobId),
}

impl ClusterState {
    /// Every job known, in order of id.
    pub fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.jobs.values()
    }

    /// How many jobs are known.
    pub fn job_count(&self) -> usize {
        self.jobs.len()
    }

    /// A job, if it is known.
    pub fn job(&self, id: JobId) -> Option<&Job> {
        self.jobs.get(&id)
    }

    /// A job, if it is known.
    pub fn job_mut(&mut self, id: JobId) -> Option<&mut Job> {
        self.jobs.get_mut(&id)
    }

    /// Forgets a job.
    pub fn forget(&mut self, id: JobId) {
        self.jobs.remove(&id);
        for channel in Channel::ALL {
            self.sources.remove(&(channel, Some(id.0)));
        }
    }

    /// Nodes that take containers, in order of their hosts.
    pub fn usable_nodes(&self) -> impl Iterator<Item = &NodeFact> {
        self.nodes.values().filter(|node| node.usable)
    }

    /// Are there nodes with labels, and does the scheduler go by them?
    pub fn has_partitions(&self) -> bool {
        let by_labels = self.queues.values().next().is_some_and(|queue| queue.partition.is_some());
        by_labels && self.usable_nodes().any(|node| node.label.is_some())
    }

    /// All that the cluster has and what of it is used; `None` until the RM has told. Where the scheduler goes by labels the RM counts the nodes without one alone
    /// (`QueueMetrics`), of which some clusters have none: then what its nodes tell.
    pub fn all(&self) -> Option<ClusterFact> {
        let told = self.totals?;
        if !self.has_partitions() {
            return Some(told);
        }
        let sum =
            |of: fn(&NodeFact) -> Resources| self.usable_nodes().map(of).fold(Resources::default(), Resources::and);
        Some(ClusterFact { total: sum(|node| node.total), allocated: sum(|node| node.used), ..told })
    }

    /// The label of the nodes that a job's containers of a kind go to: that kind's own, else what the application was submitted with, by the RM's word before the job's, else its queue's
    /// (`DefaultAMSProcessor`, `SchedulerUtils.normalizeNodeLabelExpressionInRequest`); empty for nodes without one.
    pub fn label_of<'a>(&'a self, job: &'a Job, kind: TaskKind) -> &'a str {
        let settings = job.settings.as_ref();
        let of_kind = settings.and_then(|settings| settings.labels.of(kind));
        let of_app = || self.apps.get(&job.id.0)?.label.as_deref();
        let of_job = || settings?.labels.job.as_deref();
        let of_queue = || self.queue_of(job)?.partition.as_deref();
        of_kind.or_else(of_app).or_else(of_job).or_else(of_queue).unwrap_or_default()
    }

    /// The label of the node that an attempt is on, empty for one without; `None` where that is not known.
    pub fn label_there(&self, attempt: &Attempt) -> Option<&str> {
        let node = self.nodes.get(self.hosts.name(attempt.host?))?;
        Some(node.label.as_deref().unwrap_or_default())
    }

    /// Room as the scheduler counts it: where that goes by memory alone, as it does unless set otherwise, no want of virtual cores keeps a container away.
    pub fn counted(&self, room: Resources) -> Resources {
        let counts_vcores = self.queues.values().next().is_some_and(|queue| queue.counts_vcores);
        Resources { vcores: if counts_vcores { room.vcores } else { u32::MAX }, ..room }
    }

    /// Memory that is free by the RM's word, MiB: of the whole cluster, and summed over its usable nodes.
    pub fn free_mb(&self) -> (u64, u64) {
        let free = |total: Resources, used: Resources| total.memory_mb.saturating_sub(used.memory_mb);
        let whole = self.all().map_or(0, |all| free(all.total, all.allocated));
        (whole, self.usable_nodes().map(|node| free(node.total, node.used)).sum())
    }

    /// By the RM's word no memory is left for another container.
    pub fn is_full(&self) -> bool {
        self.all().is_some_and(|all| all.allocated.memory_mb >= all.total.memory_mb)
    }

    /// The rack of a host; `None` where the RM does not list it.
    pub fn rack_of(&self, host: NameId) -> Option<&str> {
        self.nodes.get(self.hosts.name(host)).map(|node| &*node.rack)
    }

    /// The queue a job runs in: the RM may name it by its path or by the last part of it.
    pub fn queue_of(&self, job: &Job) -> Option<&QueueFact> {
        let by_leaf = || self.queues.values().find(|queue| queue_name::leaf(&queue.name) == job.queue);
        self.queues.get(&job.queue).or_else(by_leaf)
    }

    /// The name of a job's queue, one for all jobs of it: as the RM lists the queue, where it does.
    pub fn queue_name<'a>(&'a self, job: &'a Job) -> &'a str {
        self.queue_of(job).map_or(&job.queue, |queue| &queue.name)
    }

    /// The hold that keeps Drover from acting on a job at `now` on the service's clock.
    pub fn hold_of(&self, job: &Job, now: Time) -> Option<&Hold> {
        let covers = |scope: &Scope| match scope {
            Scope::Cluster => true,
            Scope::Queue(name) => queue_name::means(name, &job.queue),
            Scope::User(name) => *name == job.user,
            Scope::Job(id) => *id == job.id,
        };
        self.holds.values().find(|hold| covers(&hold.scope) && hold.stands(now))
    }

    /// Jobs that neither the RM lists nor anything has been heard of since `before`, and whose ends nobody is about to read.
    pub fn lost_jobs(&self, before: Time) -> Vec<JobId> {
        let kept = |job: &Job| self.apps.contains_key(&job.id.0) || self.ending.contains(&job.id);
        self.jobs.values().filter(|job| job.heard < before && !kept(job)).map(|job| job.id).collect()
    }
}
