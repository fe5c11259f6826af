//! How the simulated Hadoop runs attempts and tells of them.

use super::{Dist, is_nothing, is_one, is_zero};
use crate::model::{Capabilities, Millis};
use crate::sim::dist::Law;
use serde::{Deserialize, Serialize};

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
