//! The ResourceManager's scheduler: capacity, fair or FIFO.

use super::lenient::{Float, Int, List, Maybe, Text};
use serde::Deserialize;

/// `scheduler`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Scheduler {
    /// The scheduler in force.
    pub scheduler_info: Maybe<SchedulerInfo>,
}

/// `schedulerInfo`: the root queue of a capacity scheduler, the frame of a fair one, all of a FIFO one.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SchedulerInfo {
    /// `capacityScheduler`, `fairScheduler` or `fifoScheduler`.
    #[serde(rename = "type")]
    pub kind: Text,
    /// Capacity: the container of the root's children.
    pub queues: List<Queue>,
    /// Fair: the root.
    pub root_queue: List<Queue>,
    /// FIFO: share used, 0–1.
    pub used_capacity: Float,
    /// Capacity, from Hadoop 3 on: what the root is set to, by node label.
    pub capacities: Maybe<Capacities>,
}

/// `capacities`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Capacities {
    /// For each node label.
    pub queue_capacities_by_partition: List<Capacity>,
}

/// For one node label.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Capacity {
    /// The label; empty for the nodes without one.
    pub partition_name: Text,
    /// As [`Queue::absolute_capacity`], of the nodes with that label.
    pub absolute_capacity: Float,
    /// As [`Queue::absolute_max_capacity`], of these.
    pub absolute_max_capacity: Float,
    /// As [`Queue::absolute_used_capacity`], of these.
    pub absolute_used_capacity: Float,
    /// The least that the root is promised. What kinds of resources there are it tells, too.
    pub configured_min_resource: Maybe<Amount>,
}

/// `resources`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Usages {
    /// For each node label.
    pub resource_usages_by_partition: List<Usage>,
}

/// For one node label.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Usage {
    /// The label; empty for the nodes without one.
    pub partition_name: Text,
    /// What is used.
    pub used: Maybe<Amount>,
    /// What is asked for and not given.
    pub pending: Maybe<Amount>,
}

/// A queue of a capacity or a fair scheduler, or the nameless container of a list of queues.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Queue {
    /// Its name; a fair scheduler gives the full path here.
    pub queue_name: Text,
    /// Its full path, where told.
    pub queue_path: Text,
    /// Of a container: what is in it.
    pub queue: List<Queue>,
    /// Capacity: the container of its children.
    pub queues: List<Queue>,
    /// Fair: its children, or their container.
    pub child_queues: List<Queue>,
    /// Capacity: share of the cluster it may use, percent.
    pub absolute_max_capacity: Float,
    /// Capacity: share of the cluster it uses, percent.
    pub absolute_used_capacity: Float,
    /// Containers asked for and not given.
    pub pending_containers: Int,
    /// Capacity: applications that wait to be let in.
    pub num_pending_applications: Int,
    /// Capacity: share of the cluster it is promised, percent.
    pub absolute_capacity: Float,
    /// Capacity: how many times the queue's own capacity one user may use; -1 for no limit.
    pub user_limit_factor: Float,
    /// Capacity: percent of the queue that each user is sure of.
    pub user_limit: Float,
    /// Capacity: the node label of containers that ask for none.
    pub default_node_label_expression: Text,
    /// Capacity: what its applications' masters may hold.
    #[serde(rename = "AMResourceLimit")]
    pub am_resource_limit: Maybe<Amount>,
    /// Capacity: who uses it.
    pub users: Maybe<Users>,
    /// Capacity: what it may use, by node label.
    pub capacities: Maybe<Capacities>,
    /// Capacity: what it uses, by node label.
    pub resources: Maybe<Usages>,
    /// Fair: what it may use.
    pub max_resources: Maybe<Amount>,
    /// Fair: what it uses.
    pub used_resources: Maybe<Amount>,
    /// Fair: what the cluster has.
    pub cluster_resources: Maybe<Amount>,
}

impl Queue {
    /// What is in it, of whatever kind.
    pub fn inside(&self) -> impl Iterator<Item = &Queue> {
        self.queue.items.iter().chain(&self.queues.items).chain(&self.child_queues.items)
    }
}

/// The users of a queue.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Users {
    /// The users.
    pub user: List<User>,
}

/// A user of a queue.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct User {
    /// Its name.
    pub username: Text,
    /// What it uses.
    pub resources_used: Maybe<Amount>,
    /// What it may use now.
    pub user_resource_limit: Maybe<Amount>,
    /// What it uses, by node label.
    pub resources: Maybe<Usages>,
}

/// Memory and virtual cores.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Amount {
    /// Mebibytes.
    pub memory: Int,
    /// Virtual cores.
    pub v_cores: Int,
    /// From Hadoop 3 on: each resource by its name.
    pub resource_informations: Maybe<Kinds>,
}

/// `resourceInformations`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Kinds {
    /// The resources.
    pub resource_information: List<KindOf>,
}

/// A kind of resources.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct KindOf {
    /// `memory-mb`, `vcores` or another.
    pub name: Text,
    /// The least that a container is given of it; 0 where that is not known.
    pub minimum_allocation: Int,
}

documents! {
    Scheduler => "scheduler",
}
