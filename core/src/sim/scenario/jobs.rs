//! Jobs of a scenario.

use super::super::dist::Dist;
use serde::{Deserialize, Serialize};

/// Jobs that are alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobGroup {
    /// Name of the jobs, by which Drover knows earlier runs.
    pub name: String,
    /// How many.
    #[serde(default = "one")]
    pub count: u32,
    /// When they arrive.
    #[serde(default)]
    pub arrive: Arrivals,
    /// Their user.
    #[serde(default = "user")]
    pub user: String,
    /// Their queue.
    #[serde(default = "queue")]
    pub queue: String,
    /// Their maps.
    #[serde(default)]
    pub maps: PhaseSpec,
    /// Their reduces.
    #[serde(default)]
    pub reduces: PhaseSpec,
    /// Name of another group: the nth of these begins when the nth of those has ended, and its arrival counts from there.
    #[serde(default)]
    pub after: Option<String>,
}

/// When jobs arrive.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Arrivals {
    /// The first, seconds from the start.
    pub at: f64,
    /// Between one and the next, seconds.
    pub every: Dist,
}

/// Tasks of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PhaseSpec {
    /// How many tasks.
    pub tasks: Dist,
    /// What a task has to do, seconds on a healthy node; of a reduce what follows its sort.
    pub work: Dist,
    /// Of a reduce: how long it reads when all maps have ended, seconds on a healthy node.
    pub copy: Dist,
    /// Of a reduce: its sort, seconds on a healthy node.
    pub sort: Dist,
    /// Processors that a task keeps busy while it works, where the cluster's are shared.
    pub busy: f64,
    /// Input of a task, mebibytes.
    pub input_mb: Dist,
    /// What its container asks for, mebibytes.
    pub memory_mb: u64,
    /// The same, virtual cores.
    pub vcores: u32,
}

impl Default for PhaseSpec {
    fn default() -> Self {
        PhaseSpec {
            tasks: Dist::Constant(0.0),
            work: Dist::Constant(10.0),
            copy: Dist::Constant(0.0),
            sort: Dist::Constant(0.0),
            busy: 0.0,
            input_mb: Dist::Constant(128.0),
            memory_mb: 1024,
            vcores: 1,
        }
    }
}

fn one() -> u32 {
    1
}

fn user() -> String {
    "alice".into()
}

fn queue() -> String {
    "default".into()
}
