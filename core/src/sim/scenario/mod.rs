//! What is simulated: a cluster, its jobs, and what makes attempts slow. All times are in seconds, all sizes in the unit of their name.

mod check;
mod jobs;
mod workflows;

pub use check::{Fault, TASKS_MAX};
pub use jobs::{Arrivals, JobGroup, PhaseSpec};
pub use workflows::{PHASES_MAX, Workflow, Workflows};

use super::dist::{Dist, Law};
use super::hosts::TracedHosts;
use super::traced::TracedJob;
use crate::model::{Capabilities, Millis, Resources};
use serde::{Deserialize, Serialize};

/// A simulation, but for its policy and its seed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    /// One line on what it is for.
    pub about: String,
    /// The cluster.
    pub cluster: ClusterSpec,
    /// How Hadoop runs attempts and tells of them.
    pub hadoop: HadoopSpec,
    /// What makes attempts slow.
    pub slowness: Slowness,
    /// Nodes that turn slow or are lost for a time.
    pub trouble: Vec<Trouble>,
    /// The jobs.
    pub jobs: Vec<JobGroup>,
    /// Those of a trace beside them, in order of their arrival.
    #[serde(skip)]
    pub traced: Vec<TracedJob>,
    /// Where these ran.
    #[serde(skip)]
    pub hosts: TracedHosts,
}

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

impl ClusterSpec {
    fn kind(&self, number: u32) -> Option<&NodeKind> {
        let mut before = 0;
        self.kinds.iter().find(|kind| {
            before += kind.nodes;
            number < before
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
        let kind = self.kind(number);
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

    /// Would a container of that size fit on any node, were it empty?
    pub fn has_room_for(&self, size: Resources) -> bool {
        let fits = |offered: Resources| size.memory_mb <= offered.memory_mb && size.vcores <= offered.vcores;
        let unlike: u32 = self.kinds.iter().map(|kind| kind.nodes).sum();
        (unlike < self.nodes.max(1) && fits(self.offers(unlike)))
            || (0..unlike.min(self.nodes)).any(|node| fits(self.offers(node)))
    }
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

/// What jobs that are not simulated take of racks' links: of each link, each way, a share that is drawn anew every so often.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OthersSpec {
    /// How often, seconds; 0: there are none.
    pub every: f64,
    /// Share, 0 to below 1.
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

fn is_one(value: &f64) -> bool {
    *value == 1.0
}

fn is_nothing(law: &Dist) -> bool {
    *law == Dist::Constant(0.0)
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

fn is_zero(of: &f64) -> bool {
    *of == 0.0
}

fn whole() -> f64 {
    1.0
}

/// How Hadoop runs attempts and tells of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HadoopSpec {
    /// From a request to its container where there is room, seconds: heartbeats of AM and NodeManager.
    pub allocate: Dist,
    /// From a request to the ResourceManager's knowledge of it, seconds: heartbeats of the AM.
    #[serde(skip_serializing_if = "is_zero")]
    pub ask: f64,
    /// How often each NodeManager reports, seconds. At each of its reports it is given one container at most; with 0, what fits is given at once.
    #[serde(skip_serializing_if = "is_zero")]
    pub node_heartbeat: f64,
    /// From the launch to the first work, seconds: the JVM.
    pub start_up: Dist,
    /// Processors that a starting JVM keeps busy where these are shared: it compiles and collects beside its main thread.
    #[serde(skip_serializing_if = "is_one")]
    pub start_up_busy: f64,
    /// Processors that a start keeps busy beside its node's, where all nodes are one machine: what the cluster's daemons do for it, which no limit of a node's containers bounds.
    #[serde(skip_serializing_if = "is_zero")]
    pub start_up_beside: f64,
    /// What a job's first attempt on a node takes longer to start, and those that are launched meanwhile: files are fetched once a node, seconds.
    pub localize: f64,
    /// Does a slow node take as much longer to start a JVM?
    pub slow_start_up: bool,
    /// From a task's last work to its success, seconds.
    pub commit: Dist,
    /// From the instant at which an attempt is killed to that at which its NodeManager tells of its container's end, seconds: so long nobody else gets that.
    #[serde(skip_serializing_if = "is_nothing")]
    pub kill: Dist,
    /// How often an attempt reports, seconds.
    pub report: f64,
    /// How much later than that each of its reports comes, seconds, `report` at most.
    #[serde(skip_serializing_if = "is_nothing")]
    pub report_jitter: Dist,
    /// What a reduce's score is made of.
    pub scores: Scores,
    /// Share of attempts, 0–1, that never report.
    pub silent: f64,
    /// How often a job's AM tells Drover of what has changed, seconds.
    pub exchange: f64,
    /// How often the ResourceManager's numbers are read, seconds.
    pub poll: f64,
    /// Share of a job's maps, 0–1, that have ended before its reduces are asked for (`mapreduce.job.reduce.slowstart.completedmaps`).
    pub slow_start: f32,
    /// How many nodes hold each split.
    pub replicas: u32,
    /// How long a map waits for a node that holds its split, seconds.
    pub locality_wait: f64,
    /// How many times longer a map takes away from its split.
    pub remote_slower: f64,
    /// Share of its pace, above 0 to 1, at which a clone of a reduce reads what another clone of the reduce reads at the same time (Dolly, NSDI'13, §4.4: α).
    pub contention: f64,
    /// Is it told how far an attempt had come when it was killed? Hadoop knows its last report, and the paper's schedulers its progress rate.
    pub last_words: bool,
    /// Attempts that fail by themselves.
    pub fails: FailSpec,
    /// How many attempts of a task may fail: with the last of them the job fails (`mapreduce.map.maxattempts`, `mapreduce.reduce.maxattempts`).
    pub attempts_max: u32,
    /// What can be done to jobs; of what is not named, nothing.
    pub can: Capabilities,
}

impl HadoopSpec {
    /// How often each NodeManager reports; 0 where containers do not wait for that.
    pub fn node_heartbeat(&self) -> Millis {
        Millis::from_secs_f64(self.node_heartbeat)
    }
}

/// Attempts that fail by themselves, drawn for each attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FailSpec {
    /// Share of attempts, 0–1, that fail if they come that far.
    pub share: f64,
    /// After which share of its own work, 0–1; a reduce's own work is what follows its sort.
    pub at: Dist,
}

impl Default for FailSpec {
    fn default() -> Self {
        FailSpec { share: 0.0, at: Dist::Law(Law::Uniform { low: 0.0, high: 1.0 }) }
    }
}

/// What a reduce's score is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scores {
    /// A third each of copy, sort and reduce.
    #[default]
    Hadoop,
    /// Its own work alone.
    Work,
}

/// What makes attempts slow. The factors multiply; answers depend on which it is, so every result names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Slowness {
    /// Tied to the attempt: drawn anew for each, so that a copy has luck of its own.
    pub attempt: Dist,
    /// Tied to the data: drawn for each task, and the same for all its attempts; its input is as much larger.
    pub data: Dist,
}

/// Nodes that turn slow, or are lost, for a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Trouble {
    /// Which nodes, counted from 0; without any, `share` of them.
    pub nodes: Vec<u32>,
    /// Share of the nodes, 0–1, drawn by the seed.
    pub share: f64,
    /// When it begins the first time, seconds from the start.
    pub from: Dist,
    /// How long it lasts, seconds; for good where it is 0.
    pub lasts: Dist,
    /// From its end to the next, seconds; once where it is 0.
    pub again: Dist,
    /// How many times longer tasks take there meanwhile.
    pub slower: Dist,
    /// The node is lost: its containers end, and what its maps have written cannot be read.
    pub lost: bool,
    /// Share of the outputs, 0–1, drawn each time, that are lost of those which lie there then or are written meanwhile; that shows only when a reduce is to read them
    /// (Mantri, OSDI'10, §3.2).
    #[serde(skip_serializing_if = "is_nothing")]
    pub loses: Dist,
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

/// As measured on Hadoop 3.4.3, and as its own defaults have it.
impl Default for HadoopSpec {
    fn default() -> Self {
        HadoopSpec {
            allocate: Dist::Constant(0.5),
            ask: 0.0,
            node_heartbeat: 0.0,
            start_up: Dist::Constant(1.5),
            start_up_busy: 1.0,
            start_up_beside: 0.0,
            localize: 0.0,
            slow_start_up: true,
            commit: Dist::Constant(0.1),
            kill: Dist::Constant(0.0),
            report: 6.0,
            report_jitter: Dist::Constant(0.0),
            scores: Scores::default(),
            silent: 0.0,
            exchange: 1.0,
            poll: 5.0,
            slow_start: 0.05,
            replicas: 3,
            locality_wait: 0.0,
            remote_slower: 1.0,
            contention: 1.0,
            last_words: false,
            fails: FailSpec::default(),
            attempts_max: 4,
            can: Capabilities { duplicate: true, ..Capabilities::NONE },
        }
    }
}

impl Default for Slowness {
    fn default() -> Self {
        Slowness { attempt: Dist::Constant(1.0), data: Dist::Constant(1.0) }
    }
}

impl Default for Trouble {
    fn default() -> Self {
        Trouble {
            nodes: Vec::new(),
            share: 0.0,
            from: Dist::Constant(0.0),
            lasts: Dist::Constant(0.0),
            again: Dist::Constant(0.0),
            slower: Dist::Constant(1.0),
            lost: false,
            loses: Dist::Constant(0.0),
        }
    }
}

impl Trouble {
    /// May outputs be lost while their node stays?
    pub fn loses_outputs(&self) -> bool {
        self.loses.range().1 > 0.0
    }

    /// Are outputs lost, and nothing else amiss?
    fn only_loses(&self) -> bool {
        self.loses_outputs() && !self.lost && self.slower.range() == (1.0, 1.0)
    }
}

impl Slowness {
    /// What slowness is tied to, for a person.
    pub fn tied_to(&self, cluster: &ClusterSpec, trouble: &[Trouble]) -> Vec<&'static str> {
        let varies = |dist: &Dist| dist.range() != (1.0, 1.0);
        let all = [
            (varies(&self.attempt), "the attempt"),
            (
                varies(&cluster.slower) || cluster.kinds.iter().filter_map(|kind| kind.slower.as_ref()).any(varies),
                "the node",
            ),
            (trouble.iter().any(|one| !one.only_loses()), "the time"),
            (varies(&self.data), "the data"),
        ];
        all.into_iter().filter_map(|(does, what)| does.then_some(what)).collect()
    }
}
