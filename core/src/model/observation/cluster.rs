//! What the RM tells: totals, nodes, queues, applications.

use crate::model::id::AppId;
use crate::model::names::Name;
use crate::model::units::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Totals of the cluster, from the RM's metrics.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ClusterFact {
    /// Memory of all active nodes.
    pub total: Resources,
    /// What containers hold.
    pub allocated: Resources,
    /// What has been asked for and not given.
    pub pending: Resources,
    /// Containers running.
    pub containers: u32,
    /// Containers asked for and not given.
    pub containers_pending: u32,
    /// Active nodes.
    pub active_nodes: u32,
}

/// Memory and virtual cores, YARN's two resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Resources {
    /// Memory, mebibytes.
    pub memory_mb: u64,
    /// Virtual cores.
    pub vcores: u32,
}

impl Resources {
    /// Is there that much of both?
    pub fn holds(self, size: Resources) -> bool {
        self.memory_mb >= size.memory_mb && self.vcores >= size.vcores
    }

    /// Containers of that size that fit. A resource that they have nothing of bounds none.
    pub fn fit(self, size: Resources) -> u64 {
        let by_memory = self.memory_mb / size.memory_mb.max(1);
        self.vcores.checked_div(size.vcores).map_or(by_memory, |by_vcores| by_memory.min(by_vcores.into()))
    }

    /// Both together.
    pub fn and(self, more: Resources) -> Resources {
        Resources {
            memory_mb: self.memory_mb.saturating_add(more.memory_mb),
            vcores: self.vcores.saturating_add(more.vcores),
        }
    }

    /// The larger of each.
    pub fn most(self, other: Resources) -> Resources {
        Resources { memory_mb: self.memory_mb.max(other.memory_mb), vcores: self.vcores.max(other.vcores) }
    }

    /// What is left of it.
    pub fn less(self, used: Resources) -> Resources {
        Resources {
            memory_mb: self.memory_mb.saturating_sub(used.memory_mb),
            vcores: self.vcores.saturating_sub(used.vcores),
        }
    }
}

/// A node, from the RM.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeFact {
    /// Host name.
    pub host: Name,
    /// Rack.
    pub rack: Name,
    /// Does the RM give it containers?
    pub usable: bool,
    /// YARN's word for its state.
    pub state: Name,
    /// All it offers.
    pub total: Resources,
    /// What its containers hold.
    pub used: Resources,
    /// Containers running on it.
    pub containers: u32,
    /// Virtual cores in use on the whole machine; absent where the NodeManager cannot tell.
    pub cpu_used_vcores: Option<f32>,
    /// Physical memory in use on the whole machine, mebibytes.
    pub memory_used_mb: Option<u64>,
    /// Last heartbeat, the RM's clock.
    pub last_health: Time,
    /// Its label: the partition it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Name>,
    /// Its containers are for those who ask for its label, by what is told of that; else what is free there may be lent to who asks for none.
    #[serde(default, skip_serializing_if = "is_false")]
    pub exclusive: bool,
}

fn is_false(told: &bool) -> bool {
    !told
}

impl NodeFact {
    /// Has the RM given it up, and what lies on it? One that is being decommissioned gets no containers and serves its outputs all the same.
    pub fn is_given_up(&self) -> bool {
        !self.usable && !matches!(&*self.state, "NEW" | "DECOMMISSIONING" | "UNKNOWN")
    }

    /// One that gets containers, and of which no more is told.
    pub fn usable(host: &str, total: Resources, used: Resources) -> NodeFact {
        NodeFact {
            host: host.into(),
            rack: "/default-rack".into(),
            usable: true,
            state: "RUNNING".into(),
            total,
            used,
            containers: 0,
            cpu_used_vcores: None,
            memory_used_mb: None,
            last_health: Time(0),
            label: None,
            exclusive: false,
        }
    }
}

/// What the links of a rack still carry beside what uses them now. No daemon of Hadoop tells that.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RackFact {
    /// Rack, as nodes name it.
    pub rack: String,
    /// Out of the rack, bytes per second.
    pub up_bytes_per_second: f64,
    /// Into it, bytes per second.
    pub down_bytes_per_second: f64,
    /// Between two machines of it, bytes per second.
    pub within_bytes_per_second: f64,
}

/// A leaf queue, from the RM's scheduler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueueFact {
    /// Full path where the RM tells it (`root.default`), else its name.
    pub name: String,
    /// Share of the cluster it may use at most, 0–1.
    pub max_capacity: f32,
    /// Share of the cluster it uses, 0–1.
    pub used_capacity: f32,
    /// Share of the cluster that the fullest of its parents may use beside what it uses, 0–1; `None` where none is told.
    #[serde(default)]
    pub parents_left: Option<f32>,
    /// Containers asked for and not given.
    pub containers_pending: u32,
    /// Of these the masters' of applications that the queue has not let in yet, one each (capacity scheduler: maximum-am-resource-percent).
    #[serde(default)]
    pub masters_pending: u32,
    /// Share of the cluster that any one user may use at most (capacity scheduler: capacity × user-limit-factor), 0–1; `None` where there is no such limit.
    #[serde(default)]
    pub user_capacity: Option<f32>,
    /// Share of the queue that each of its users is sure of while others want it, too (capacity scheduler: minimum-user-limit-percent), 0–1.
    #[serde(default)]
    pub user_share: Option<f32>,
    /// Its users, where the scheduler counts by user.
    #[serde(default)]
    pub users: Vec<QueueUser>,
    /// Its scheduler gives no container for which virtual cores are lacking, as far as can be told: one and the same for all queues.
    #[serde(default)]
    pub counts_vcores: bool,
    /// The node label of containers whose job asks for none, empty for the nodes without one; `None` where the scheduler does not go by labels.
    #[serde(default)]
    pub partition: Option<String>,
    /// The least that its scheduler gives, and all else a multiple of it: one and the same for all queues; `None` where that is not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<Resources>,
    /// What it may use of the nodes with a label, by label, where that is told: all other shares are of the nodes without one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by_label: BTreeMap<String, QueueShare>,
}

/// What a queue may use of a partition of nodes, and uses.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct QueueShare {
    /// Share of the partition it may use at most, 0–1.
    pub max_capacity: f32,
    /// Share of the partition it uses, 0–1.
    pub used_capacity: f32,
    /// What it uses, mebibytes; 0 where only the share is told.
    #[serde(default)]
    pub used_mb: u64,
    /// What is asked for of it and not given, mebibytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pending_mb: u64,
    /// As [`QueueFact::parents_left`].
    #[serde(default)]
    pub parents_left: Option<f32>,
    /// As [`QueueFact::user_capacity`].
    #[serde(default)]
    pub user_capacity: Option<f32>,
    /// What its users use of the partition, mebibytes, where that is told.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub users_mb: BTreeMap<String, u64>,
}

fn is_zero(told: &u64) -> bool {
    *told == 0
}

impl QueueFact {
    /// What it may use of the nodes without a label, or of all where the scheduler does not go by labels.
    pub fn share(&self) -> QueueShare {
        let QueueFact { max_capacity, used_capacity, parents_left, user_capacity, .. } = *self;
        QueueShare { max_capacity, used_capacity, parents_left, user_capacity, ..QueueShare::default() }
    }

    /// One that may use all of the cluster, and of which no more is told.
    pub fn open(name: &str) -> QueueFact {
        QueueFact {
            name: name.to_owned(),
            max_capacity: 1.0,
            used_capacity: 0.0,
            parents_left: None,
            containers_pending: 0,
            masters_pending: 0,
            user_capacity: None,
            user_share: None,
            users: Vec::new(),
            counts_vcores: false,
            partition: None,
            least: None,
            by_label: BTreeMap::new(),
        }
    }
}

/// A user of a leaf queue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueueUser {
    /// Its name.
    pub user: String,
    /// What it uses in the queue, mebibytes.
    pub used_mb: u64,
    /// What the scheduler lets it use now, mebibytes.
    pub limit_mb: u64,
}

/// A running application, from the RM.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AppFact {
    /// The application.
    pub app: AppId,
    /// Its owner.
    pub user: String,
    /// Its queue.
    pub queue: String,
    /// Its name.
    pub name: String,
    /// Start, the RM's clock.
    pub started: Time,
    /// Containers it runs.
    pub containers: u32,
    /// What they hold.
    pub allocated: Resources,
    /// The node label that its containers ask for, where it names one: an empty one is the nodes without, whatever its queue has for those that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}
