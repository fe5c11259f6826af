//! The simulated cluster: its nodes, what they share, and its queues.

use super::{Dist, is_zero};
use crate::model::Resources;
use serde::{Deserialize, Serialize};

/// The cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClusterSpec {
    /// How many nodes.
    pub nodes: u32,
    /// How many racks they stand in, in turn.
    pub racks: u32,
    /// What each node offers for containers, mebibytes.
    pub memory_mb: u64,
    /// The same, virtual cores.
    pub vcores: u32,
    /// How many times longer than a healthy node each takes, for good.
    pub slower: Dist,
    /// Nodes unlike the others, from the first node on, kind by kind.
    pub kinds: Vec<NodeKind>,
    /// Who is served first.
    pub order: QueueOrder,
    /// What all share.
    pub network: NetworkSpec,
    /// Do queues give back what they have beyond their shares?
    pub preemption: PreemptionSpec,
    /// Leaf queues; without any, all jobs are in one that may use everything.
    pub queues: Vec<QueueSpec>,
}

impl ClusterSpec {
    fn kind(&self, number: u32) -> Option<&NodeKind> {
        let mut before = 0;
        self.kinds.iter().find(|kind| {
            before += u64::from(kind.nodes);
            u64::from(number) < before
        })
    }

    /// What attempts share beside their nodes' pace, for a person.
    pub fn shared(&self) -> Vec<&'static str> {
        let spec = &self.network;
        let own = self.kinds.iter().filter_map(|kind| kind.processors);
        let all = [
            (spec.disk_mb_s > 0.0, "disks"),
            (spec.uplink_mb_s > 0.0 || spec.downlink_mb_s > 0.0, "links between racks"),
            (own.chain([spec.processors, spec.lab_processors]).any(|most| most > 0.0), "processors"),
        ];
        all.into_iter().filter_map(|(is, what)| is.then_some(what)).collect()
    }

    /// What a node offers for containers.
    pub fn offers(&self, number: u32) -> Resources {
        self.offered(self.kind(number))
    }

    /// What one of that kind offers, or of none.
    fn offered(&self, kind: Option<&NodeKind>) -> Resources {
        Resources {
            memory_mb: kind.and_then(|kind| kind.memory_mb).unwrap_or(self.memory_mb),
            vcores: kind.and_then(|kind| kind.vcores).unwrap_or(self.vcores),
        }
    }

    /// Its processors; 0 where there is no limit.
    pub fn processors_of(&self, number: u32) -> f64 {
        self.kind(number).and_then(|kind| kind.processors).unwrap_or(self.network.processors)
    }

    /// How many times longer than a healthy node it takes, for good.
    pub fn slower_of(&self, number: u32) -> &Dist {
        self.kind(number).and_then(|kind| kind.slower.as_ref()).unwrap_or(&self.slower)
    }

    /// How many nodes are of a kind of their own. Nobody has checked yet that these are no more than there are.
    pub(super) fn unlike(&self) -> u64 {
        self.kinds.iter().map(|kind| u64::from(kind.nodes)).sum()
    }

    /// The key of what no node has for a container of that size, were it empty; `None` where it would fit on one. Where both are to be had, but not on one node,
    /// it is memory. Looked for by kinds: before they are checked there may be billions of nodes.
    pub(super) fn lacks(&self, size: Resources) -> Option<&'static str> {
        let others = (self.unlike() < self.nodes.max(1).into()).then(|| self.offered(None));
        let all = || self.kinds.iter().map(|kind| self.offered(Some(kind))).chain(others);
        let has_memory = |offered: Resources| size.memory_mb <= offered.memory_mb;
        let has_vcores = |offered: Resources| size.vcores <= offered.vcores;
        if all().any(|offered| has_memory(offered) && has_vcores(offered)) {
            return None;
        }
        let only_vcores = all().any(has_memory) && !all().any(has_vcores);
        Some(if only_vcores { "vcores" } else { "memory_mb" })
    }
}

impl Default for ClusterSpec {
    fn default() -> Self {
        ClusterSpec {
            nodes: 4,
            racks: 1,
            memory_mb: 8192,
            vcores: 8,
            slower: Dist::Constant(1.0),
            kinds: Vec::new(),
            order: QueueOrder::default(),
            network: NetworkSpec::default(),
            preemption: PreemptionSpec::default(),
            queues: Vec::new(),
        }
    }
}

/// Nodes unlike the others; what is not said of them is as of the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeKind {
    /// How many.
    pub nodes: u32,
    /// What each offers for containers, mebibytes.
    #[serde(default)]
    pub memory_mb: Option<u64>,
    /// The same, virtual cores.
    #[serde(default)]
    pub vcores: Option<u32>,
    /// Processors of each.
    #[serde(default)]
    pub processors: Option<f64>,
    /// How many times longer than a healthy node each takes, for good.
    #[serde(default)]
    pub slower: Option<Dist>,
}

/// Preemption between queues, with Hadoop's own defaults (yarn.resourcemanager.monitor.capacity.preemption.*) but for `every`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PreemptionSpec {
    /// How often queues are looked at, seconds; 0, the default, as Hadoop's has it, for none (monitoring_interval: 3 s).
    pub every: f64,
    /// From the first look that asks a container back to its end, seconds (max_wait_before_kill).
    pub wait: f64,
    /// Share of the cluster, 0–1, that is asked back in one look at most (total_preemption_per_round).
    pub most: f64,
    /// Share of its own, 0–1, by which a queue may be above that (max_ignored_over_capacity).
    pub ignored: f64,
    /// Share, above 0 to 1, of what a queue has too much that is asked back in one look, for some will end by themselves (natural_termination_factor).
    pub natural: f64,
}

impl Default for PreemptionSpec {
    fn default() -> Self {
        PreemptionSpec { every: 0.0, wait: 15.0, most: 0.1, ignored: 0.1, natural: 0.2 }
    }
}

/// What attempts share beside their nodes' pace, max–min fairly; 0 where there is no limit.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkSpec {
    /// What each node's disks read, mebibytes a second.
    pub disk_mb_s: f64,
    /// What leaves a rack, mebibytes a second.
    pub uplink_mb_s: f64,
    /// What comes into a rack, mebibytes a second.
    pub downlink_mb_s: f64,
    /// What two machines of one rack have between them, mebibytes a second: how fast an output is copied from one to another. 0: as fast as a disk reads, or a link where disks
    /// have no limit.
    #[serde(skip_serializing_if = "is_zero")]
    pub within_mb_s: f64,
    /// Who else is on the links.
    pub others: OthersSpec,
    /// Processors of each node: a JVM that starts keeps one busy, a task at work as many as its phase says.
    pub processors: f64,
    /// Those that all nodes have together, as in a lab where they are one machine.
    pub lab_processors: f64,
}

impl NetworkSpec {
    /// Is anything limited that maps read their splits through?
    pub fn limits_reading(&self) -> bool {
        [self.disk_mb_s, self.uplink_mb_s, self.downlink_mb_s].iter().any(|most| *most > 0.0)
    }
}

/// What jobs that are not simulated take of racks' links: of each link, each way, a share that is drawn anew every so often.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OthersSpec {
    /// How often, seconds; 0: there are none.
    pub every: f64,
    /// Share, 0 to .999.
    pub share: Dist,
    /// What the policy is told of links is what they leave on average over so many seconds to come, which nobody can know; 0: what they leave now.
    pub foresight: f64,
}

/// Whose turn it is when a container is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueOrder {
    /// The queue that uses the least of its share, in it the job that came first (capacity scheduler).
    #[default]
    Capacity,
    /// The same queue, in it the job that holds the least (fair scheduler).
    Fair,
    /// The job that came first, whatever its queue.
    Fifo,
}

/// A leaf queue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueSpec {
    /// Name.
    pub name: String,
    /// Share of the cluster that is promised to it, 0–1.
    pub share: f64,
    /// Share that it may use at most, 0–1.
    #[serde(default = "whole")]
    pub most: f64,
}

impl QueueSpec {
    /// The name of the only queue, where a scenario has none of its own.
    pub const ONLY: &str = "default";
}

fn whole() -> f64 {
    1.0
}
