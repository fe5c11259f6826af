//! What is simulated: a cluster, its jobs, and what makes attempts slow. All times are in seconds, all sizes in the unit of their name.

mod check;
mod jobs;

pub use check::{Fault, TASKS_MAX};
pub use jobs::{Arrivals, JobGroup, PhaseSpec};

use super::dist::Dist;
use super::traced::TracedJob;
use crate::model::Capabilities;
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
    /// Who is served first.
    pub order: QueueOrder,
    /// Leaf queues; without any, all jobs are in one that may use everything.
    pub queues: Vec<QueueSpec>,
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

fn whole() -> f64 {
    1.0
}

/// How Hadoop runs attempts and tells of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HadoopSpec {
    /// From a request to its container where there is room, seconds: heartbeats of AM and NodeManager.
    pub allocate: Dist,
    /// From the launch to the first work, seconds: the JVM.
    pub start_up: Dist,
    /// Does a slow node take as much longer to start a JVM?
    pub slow_start_up: bool,
    /// From a task's last work to its success, seconds.
    pub commit: Dist,
    /// How often an attempt reports, seconds.
    pub report: f64,
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
    /// What can be done to jobs; of what is not named, nothing.
    pub can: Capabilities,
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
}

impl Default for ClusterSpec {
    fn default() -> Self {
        ClusterSpec {
            nodes: 4,
            racks: 1,
            memory_mb: 8192,
            vcores: 8,
            slower: Dist::Constant(1.0),
            order: QueueOrder::default(),
            queues: Vec::new(),
        }
    }
}

/// As measured on Hadoop 3.4.3, and as its own defaults have it.
impl Default for HadoopSpec {
    fn default() -> Self {
        HadoopSpec {
            allocate: Dist::Constant(0.5),
            start_up: Dist::Constant(1.5),
            slow_start_up: true,
            commit: Dist::Constant(0.1),
            report: 6.0,
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
        }
    }
}

impl Slowness {
    /// What slowness is tied to, for a person.
    pub fn tied_to(&self, cluster: &ClusterSpec, trouble: &[Trouble]) -> Vec<&'static str> {
        let varies = |dist: &Dist| dist.range() != (1.0, 1.0);
        let all = [
            (varies(&self.attempt), "the attempt"),
            (varies(&cluster.slower), "the node"),
            (!trouble.is_empty(), "the time"),
            (varies(&self.data), "the data"),
        ];
        all.into_iter().filter_map(|(does, what)| does.then_some(what)).collect()
    }
}
