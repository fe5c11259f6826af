//! Where the splits of a job's maps lie, and what that makes of the maps.

use super::attempt::{Attempt, AttemptKey, Stage};
use super::draw::{Draws, Purpose};
use super::job::Job;
use super::scenario::Scenario;
use super::world::World;
use crate::model::{TaskKind, Time};

/// The nodes that hold a map's split. What a job before it wrote has its first replica where it was written, as HDFS places it, and so by the policy; all others are drawn,
/// the same under every policy.
pub fn replicas(scenario: &Scenario, draws: &Draws, job: &Job, index: u32) -> Vec<u32> {
    let mut draw = draws.of(Purpose::Replica, [job.of.key(), index.into(), 0]);
    let (nodes, wanted) = (scenario.cluster.nodes, scenario.hadoop.replicas.min(scenario.cluster.nodes));
    let mut chosen = Vec::with_capacity(wanted as usize);
    while chosen.len() < wanted as usize {
        let node = draw.below(nodes as usize) as u32;
        if !chosen.contains(&node) {
            chosen.push(node);
        }
    }
    if let Some(node) = written_by(job, index) {
        match chosen.iter().position(|known| *known == node) {
            Some(place) => chosen.swap(0, place),
            None => chosen.iter_mut().take(1).for_each(|first| *first = node),
        }
    }
    chosen
}

/// Does it matter where the splits lie of maps that read something, or nothing? Where it is all the same no replica is looked up.
pub fn splits_matter(scenario: &Scenario, read: bool) -> bool {
    let hadoop = &scenario.hadoop;
    let limits = || read && scenario.cluster.network.limits_reading();
    hadoop.locality_wait > 0.0 || hadoop.remote_slower != 1.0 || limits()
}

/// The node that wrote a map's split, where a job before this one did: files are alike, and splits in their order.
fn written_by(job: &Job, index: u32) -> Option<u32> {
    let maps = job.of(TaskKind::Map).all.len().max(1) as u64;
    let file = u64::from(index) * job.inputs.len() as u64 / maps;
    job.inputs.get(file as usize).copied()
}

impl World<'_> {
    /// How many times longer an attempt takes for being away from its split. Where that is the same to it no replica is looked up.
    pub(super) fn remote(&self, job: &Job, attempt: &Attempt) -> f64 {
        let slower = self.scenario.hadoop.remote_slower;
        let is_away = || !replicas(self.scenario, &self.draws, job, attempt.index).contains(&attempt.node);
        if attempt.kind == TaskKind::Map && slower != 1.0 && is_away() { slower } else { 1.0 }
    }

    /// A map reads its split while it works: from its own disk, from one in its rack, or through two racks' links; of those that hold it from one that is up.
    pub(super) fn way_of_a_split(&self, job: &Job, attempt: &Attempt) -> Vec<(u32, f64)> {
        let machine = |node: u32| &self.nodes[node as usize];
        let rack = |node: u32| machine(node).rack;
        let holders = replicas(self.scenario, &self.draws, job, attempt.index);
        // Where none is up it is read all the same, as if one were: else its job would never end.
        let near = |node: &u32| (!machine(*node).is_up(), *node != attempt.node, rack(*node) != rack(attempt.node));
        let Some(source) = holders.into_iter().min_by_key(near) else { return Vec::new() };
        let mut way = vec![(source, 1.0)];
        if rack(source) != rack(attempt.node) {
            way.extend([(self.network.up(rack(source)), 1.0), (self.network.down(rack(attempt.node)), 1.0)]);
        }
        way
    }

    /// A node is lost: maps that read their splits there read on from others that hold them.
    pub(super) fn reads_elsewhere(&mut self, now: Time) {
        if !self.scenario.cluster.network.limits_reading() {
            return;
        }
        let reporting = self.reporting();
        let works = |key: &AttemptKey| {
            let attempt = self.attempts.get(*key);
            attempt.kind == TaskKind::Map && attempt.stage == Stage::Work
        };
        let reading: Vec<AttemptKey> = self.jobs.values().flat_map(|job| &job.live).copied().filter(works).collect();
        for key in reading {
            let attempt = self.attempts.get_mut(key);
            let Some(job) = self.jobs.get(&attempt.job) else { continue };
            attempt.note_report(reporting, job.scoring, now);
            self.share_with_others(key, now);
            self.goes_on(key, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::job::{Origin, START};
    use std::collections::BTreeSet;

    #[test]
    fn where_a_job_before_wrote_decides_about_one_replica_alone() {
        let scenario: Scenario = serde_json::from_str(
            r#"{"cluster": {"nodes": 20}, "jobs": [{"name": "a", "maps": {"tasks": 4}}, {"name": "b", "after": "a", "maps": {"tasks": 4}}]}"#,
        )
        .unwrap();
        let draws = Draws::new(1);
        let mut job = Job::new(&scenario, &draws, 0, Origin::Group(1, 0), 0, START);
        let of = |job: &Job| (0..4).map(|index| replicas(&scenario, &draws, job, index)).collect::<Vec<_>>();
        let drawn = of(&job);
        job.inputs = vec![7, drawn[2][1]];
        let placed = of(&job);
        for (index, (drawn, placed)) in drawn.iter().zip(&placed).enumerate() {
            assert_eq!(placed[0], job.inputs[index / 2]);
            let kept = placed.iter().filter(|node| drawn.contains(node)).count();
            assert!(placed.len() == 3 && kept >= 2, "{drawn:?} {placed:?}");
        }
        assert_eq!(BTreeSet::from_iter(&placed[2]), BTreeSet::from_iter(&drawn[2]), "a replica was drawn there anyway");
    }
}
