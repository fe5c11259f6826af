//! What makes attempts slow, and outputs lost.

use super::{ClusterSpec, Dist, JobGroup, is_nothing};
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
    pub fn tied_to(&self, cluster: &ClusterSpec, trouble: &[Trouble], jobs: &[JobGroup]) -> Vec<&'static str> {
        let varies = |dist: &Dist| dist.range() != (1.0, 1.0);
        let drawn = |group: &JobGroup| !group.maps.slow.is_empty() || !group.reduces.slow.is_empty();
        let kinds = cluster.kinds.iter().filter_map(|kind| kind.slower.as_ref()).any(varies);
        let for_good = trouble.iter().any(|one| one.is_for_good() && varies(&one.slower));
        let all = [
            (varies(&self.attempt) || jobs.iter().any(drawn), "the attempt"),
            (varies(&cluster.slower) || kinds || for_good, "the node"),
            (trouble.iter().any(|one| !one.only_loses() && !one.is_for_good()), "the time"),
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
    /// How many nodes its share is.
    pub fn befalls(&self, nodes: u32) -> usize {
        crate::model::share_of(self.share, nodes.into()).round() as usize
    }

    /// May outputs be lost while their node stays?
    pub fn loses_outputs(&self) -> bool {
        self.loses.range().1 > 0.0
    }

    /// Are nodes slow from the first instant to the last, and nothing else amiss?
    fn is_for_good(&self) -> bool {
        let nothing = |law: &Dist| law.range() == (0.0, 0.0);
        nothing(&self.from) && nothing(&self.lasts) && !self.lost && !self.loses_outputs()
    }

    /// Are outputs lost, and nothing else amiss?
    fn only_loses(&self) -> bool {
        self.loses_outputs() && !self.lost && self.slower.range() == (1.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use crate::sim::Scenario;

    fn tied_to(told: &str) -> Vec<&'static str> {
        let scenario: Scenario = serde_json::from_str(told).unwrap();
        scenario.slowness.tied_to(&scenario.cluster, &scenario.trouble, &scenario.jobs)
    }

    #[test]
    fn a_node_that_is_slow_for_good_is_the_nodes_and_one_for_a_time_the_times() {
        assert_eq!(tied_to(r#"{"trouble": [{"nodes": [1], "slower": 5}]}"#), ["the node"]);
        assert_eq!(tied_to(r#"{"trouble": [{"nodes": [1], "slower": 5, "lasts": 60}]}"#), ["the time"]);
        assert_eq!(tied_to(r#"{"trouble": [{"nodes": [1], "slower": 5, "from": 60}]}"#), ["the time"]);
        assert_eq!(tied_to(r#"{"trouble": [{"nodes": [1], "lost": true}]}"#), ["the time"]);
        assert_eq!(tied_to(r#"{"trouble": [{"nodes": [1], "loses": 0.5}]}"#), Vec::<&str>::new());
    }

    #[test]
    fn attempts_that_a_scenario_names_as_slow_are_the_attempts_own() {
        assert_eq!(tied_to(r#"{"jobs": [{"name": "a", "maps": {"tasks": 2, "slow": [[0, 0, 4]]}}]}"#), ["the attempt"]);
    }
}
