//! What is known of the nodes' health, for who asks.

use super::Engine;
use crate::estimate::health::NodeHealth;
use crate::estimate::node::{Fading, NodeWork};
use crate::model::NameId;
use std::collections::{BTreeMap, BTreeSet};

impl Engine {
    /// How long what a node has done counts.
    pub(super) fn fading(&self) -> Fading {
        Fading { now: self.last_pass, half_life: self.params.late.node_half_life }
    }

    /// The health of every node of which anything is known. One pass over all attempts.
    pub fn health(&self) -> BTreeMap<NameId, NodeHealth> {
        let mut by_user: BTreeMap<&str, NodeWork> = BTreeMap::new();
        let fading = self.fading();
        self.cluster.jobs().for_each(|job| by_user.entry(&job.user).or_default().add(job, fading));
        let mut work = NodeWork::default();
        by_user.values().for_each(|of_user| work.join(of_user));
        let threshold = work.threshold(self.params.late.slow_node_percentile);
        let hosts: BTreeSet<NameId> = self.odds.machines().map(|(host, _)| host).chain(work.hosts()).collect();
        let health = |host| (host, NodeHealth::of(host, self.odds.machine(host), &work, threshold));
        hosts.into_iter().map(health).collect()
    }
}
