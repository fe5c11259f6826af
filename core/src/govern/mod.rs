//! Proposals in, decisions out: modes, safety, budgets, headroom. Every refusal has a name.

pub mod budget;
pub mod eligible;
pub mod flight;
pub mod output;

use crate::model::{Millis, Mode};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What may be done, and how much of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GovernParams {
    /// Mode of the whole cluster.
    pub mode: Mode,
    /// Modes of queues, by path or by the last part of it.
    pub queue_modes: BTreeMap<String, Mode>,
    /// Modes of users.
    pub user_modes: BTreeMap<String, Mode>,
    /// Modes of policies, by name.
    pub policy_modes: BTreeMap<String, Mode>,
    /// SpeculativeCap: copies in flight in the whole cluster, as a share (0–1) of its slots. LATE §4: 10 %. At least one.
    pub cluster_cap: f64,
    /// Copies that may be in flight in the cluster however small it is.
    pub cluster_floor: u32,
    /// Copies in flight in one job, as a share (0–1) of its tasks of the kind. At least one.
    pub job_cap: f64,
    /// Facts about a job older than this decide nothing.
    pub stale_after: Millis,
    /// Output committers and formats, besides the known ones, that cope with two attempts; a name that ends in `.` or `*` stands for all it begins.
    pub safe_outputs: Vec<String>,
    /// Output committers and formats that do not, whatever else says so.
    pub unsafe_outputs: Vec<String>,
}

impl Default for GovernParams {
    fn default() -> Self {
        GovernParams {
            mode: Mode::Advise,
            queue_modes: BTreeMap::new(),
            user_modes: BTreeMap::new(),
            policy_modes: BTreeMap::new(),
            // LATE §4 and §5.4.1: a tenth of the slots.
            cluster_cap: 0.10,
            // Hadoop's own floor (mapreduce.job.speculative.minimum-allowed-tasks): a tenth of a small cluster's slots is one copy, and headroom bounds it anyway.
            cluster_floor: 10,
            // With one bad node of four a quarter of a job is slow; more than that is no longer a straggler.
            job_cap: 0.25,
            // Three rounds of polling 200 jobs at 20 requests a second.
            stale_after: Millis(30_000),
            safe_outputs: Vec::new(),
            unsafe_outputs: Vec::new(),
        }
    }
}
