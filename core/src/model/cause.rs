//! Why a task takes as long as it does.

use serde::{Deserialize, Serialize};

/// What makes most of a slow task's time. One stable label each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CauseKind {
    /// It is not slow.
    None,
    /// Its data.
    Data,
    /// The node it runs on.
    Node,
    /// The network.
    Network,
    /// Nothing that is known explains it.
    Unknown,
}

impl CauseKind {
    /// Every cause.
    pub const ALL: [CauseKind; 5] =
        [CauseKind::None, CauseKind::Data, CauseKind::Node, CauseKind::Network, CauseKind::Unknown];

    /// Stable label.
    pub fn label(self) -> &'static str {
        match self {
            CauseKind::None => "none",
            CauseKind::Data => "data",
            CauseKind::Node => "node",
            CauseKind::Network => "network",
            CauseKind::Unknown => "unknown",
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            CauseKind::None => "it is not slow",
            CauseKind::Data => "its data explains its time",
            CauseKind::Node => "its node is slow to other tasks of the phase, too",
            CauseKind::Network => "it copies for longer than its peers did",
            CauseKind::Unknown => "nothing that is known explains it",
        }
    }
}

/// How a task's time divides: its time less a typical task's is `data` + `node` + `network` + `rest`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// What makes most of it.
    pub kind: CauseKind,
    /// Its time, seconds; of a running task as projected.
    pub seconds: f64,
    /// That of a task with the phase's typical data, seconds.
    pub typical: f64,
    /// What its data makes, seconds; below zero for less data than typical.
    pub data: f64,
    /// What its node makes, seconds.
    pub node: f64,
    /// What the network makes, seconds.
    pub network: f64,
    /// What is left, seconds; below zero for a task that is faster than its data lets expect.
    pub rest: f64,
    /// Its time is within 20 % of what its data lets expect (Mantri §4.2).
    pub explained: bool,
    /// Finished tasks of the phase that this is told from.
    pub evidence: u32,
    /// Other attempts of the phase on its node.
    pub others: u32,
}
