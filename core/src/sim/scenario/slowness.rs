//! What makes attempts slow, and outputs lost.

use super::{ClusterSpec, Dist, is_nothing};
use serde::{Deserialize, Serialize};

/// What makes attempts slow. The factors multiply; answers depend on which it is, so every result names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Slowness {
    /// Tied to the attempt: drawn anew for each, so that a copy has luck of its own.
    pub attempt: Dist,
    /// Tied to the data: drawn for each task, and the same for all its attempts; its input is as much larger.
    pub data: Dist,
}

impl Default for Slowness {
    fn default() -> Self {
        Slowness { attempt: Dist::Constant(1.0), data: Dist::Constant(1.0) }
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
