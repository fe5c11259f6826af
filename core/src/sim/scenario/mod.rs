//! What is simulated: a cluster, its jobs, and what makes attempts slow. All times are in seconds, all sizes in the unit of their name.

mod check;
mod cluster;
mod hadoop;
mod jobs;
mod slowness;
mod workflows;

pub use check::{ARRIVES_MAX, Fault, TASKS_MAX};
pub use cluster::{ClusterSpec, NetworkSpec, NodeKind, OthersSpec, PreemptionSpec, QueueOrder, QueueSpec};
pub use hadoop::{FailSpec, HadoopSpec, Scores};
pub use jobs::{Arrivals, JobGroup, PhaseSpec};
pub use slowness::{Slowness, Trouble};
pub use workflows::{PHASES_MAX, Workflow, Workflows};

use super::dist::Dist;
use super::hosts::TracedHosts;
use super::traced::TracedJob;
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

fn is_one(value: &f64) -> bool {
    *value == 1.0
}

fn is_zero(of: &f64) -> bool {
    *of == 0.0
}

fn is_nothing(law: &Dist) -> bool {
    *law == Dist::Constant(0.0)
}
