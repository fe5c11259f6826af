//! What attempts share beside their nodes' pace: disks, links between racks, and in a lab processors.

use super::attempt::{Attempt, AttemptKey, Stage};
use super::fluid::{Flow, fair};
use super::job::Job;
use super::scenario::{ClusterSpec, NetworkSpec};
use super::world::World;
use crate::model::{TaskKind, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes per millisecond.
const MIB_PER_S: f64 = (1 << 20) as f64 / 1000.0;

/// All that flows, and through what.
#[derive(Debug, Default)]
pub(super) struct Network {
    /// Of each resource, units per millisecond; infinite where there is no limit.
    capacity: Vec<f64>,
    /// A rack's links out and in with nobody else on them.
    whole: [f64; 2],
    nodes: u32,
    racks: u32,
    flows: BTreeMap<AttemptKey, Stream>,
    /// Who goes through each.
    through: Vec<BTreeSet<AttemptKey>>,
    /// Resources whose flows have changed since shares were last reckoned.
    stirred: BTreeSet<u32>,
}

/// An attempt's flow.
#[derive(Debug)]
struct Stream {
    flow: Flow,
    /// Units that a healthy millisecond of its stage is.
    each: f64,
}

/// What an attempt would take of what is shared, by the healthy millisecond.
struct Need {
    each: f64,
    through: Vec<(u32, f64)>,
}

impl Network {
    pub(super) fn new(cluster: &ClusterSpec) -> Network {
        let spec = &cluster.network;
        let (nodes, racks) = (cluster.nodes, cluster.racks.max(1));
        let shared = NetworkSpec { within_mb_s: 0.0, ..spec.clone() };
        let none = shared == NetworkSpec::default() && cluster.kinds.iter().all(|kind| kind.processors.is_none());
        if none {
            return Network::default();
        }
        let limited = |most: f64, unit: f64| if most > 0.0 { most * unit } else { f64::INFINITY };
        let mut capacity = vec![limited(spec.disk_mb_s, MIB_PER_S); nodes as usize];
        let whole = [spec.uplink_mb_s, spec.downlink_mb_s].map(|most| limited(most, MIB_PER_S));
        whole.iter().for_each(|link| capacity.extend(vec![*link; racks as usize]));
        capacity.extend((0..nodes).map(|node| limited(cluster.processors_of(node), 1.0)));
        capacity.push(limited(spec.lab_processors, 1.0));
        let through = vec![BTreeSet::new(); capacity.len()];
        Network { capacity, whole, nodes, racks, through, ..Network::default() }
    }

    /// Is nothing shared at all?
    fn is_unlimited(&self) -> bool {
        self.capacity.is_empty()
    }

    pub(super) fn up(&self, rack: u32) -> u32 {
        self.nodes + rack
    }

    pub(super) fn down(&self, rack: u32) -> u32 {
        self.nodes + self.racks + rack
    }

    /// Of a node, and those that all share.
    fn processors(&self, node: u32) -> [u32; 2] {
        let first = self.nodes + 2 * self.racks;
        [first + node, first + self.nodes]
    }

    fn is_limited(&self, resource: u32) -> bool {
        self.capacity.get(resource as usize).is_some_and(|most| most.is_finite())
    }

    /// Others leave these shares of what a rack can send and take in.
    pub(super) fn leave_of_links(&mut self, rack: u32, shares: [f64; 2]) {
        let links = [self.up(rack), self.down(rack)].into_iter().zip(self.whole).zip(shares);
        for ((link, whole), share) in links.filter(|((_, whole), _)| whole.is_finite()) {
            self.capacity[link as usize] = whole * share;
            self.stirred.insert(link);
        }
    }

    /// Has any rack links with limits?
    pub(super) fn has_links(&self) -> bool {
        self.whole.iter().any(|link| link.is_finite()) && !self.is_unlimited()
    }

    /// What a rack can send and take in now, bytes a second; `None` where either has no limit.
    pub(super) fn links(&self, rack: u32) -> Option<[f64; 2]> {
        let links = [self.up(rack), self.down(rack)];
        let limited = links.iter().all(|link| self.is_limited(*link));
        limited.then(|| links.map(|link| self.capacity[link as usize] * 1e3))
    }

    /// Has anything changed since shares were last reckoned?
    pub(super) fn is_stirred(&self) -> bool {
        !self.stirred.is_empty()
    }

    /// An attempt goes through these, or no longer through what it went through before. At `rate` healthy milliseconds per millisecond where nobody is beside it. Does it leave the others?
    fn join(&mut self, key: AttemptKey, need: Need, rate: f64) -> bool {
        let through: Vec<(u32, f64)> = need.through.into_iter().filter(|(one, _)| self.is_limited(*one)).collect();
        if through.is_empty() || need.each <= 0.0 || rate <= 0.0 {
            return self.leave(key);
        }
        let as_before = |known: &Stream| known.flow.through == through && known.flow.most == need.each * rate;
        if self.flows.get(&key).is_some_and(as_before) {
            return false;
        }
        self.leave(key);
        for (resource, _) in &through {
            self.through[*resource as usize].insert(key);
            self.stirred.insert(*resource);
        }
        self.flows.insert(key, Stream { flow: Flow { most: need.each * rate, through }, each: need.each });
        false
    }

    /// An attempt takes nothing any more. Did it?
    pub(super) fn leave(&mut self, key: AttemptKey) -> bool {
        let Some(stream) = self.flows.remove(&key) else { return false };
        for (resource, _) in stream.flow.through {
            self.through[resource as usize].remove(&key);
            self.stirred.insert(resource);
        }
        true
    }

    /// Its own pace has changed. Does it go through anything?
    fn turn(&mut self, key: AttemptKey, rate: f64) -> bool {
        let Some(stream) = self.flows.get_mut(&key) else { return false };
        stream.flow.most = stream.each * rate;
        self.stirred.extend(stream.flow.through.iter().map(|(resource, _)| *resource));
        true
    }

    /// What those have from now on whose shares may have changed, healthy milliseconds per millisecond: all that share anything with what has changed, or with one that does.
    fn settle(&mut self) -> Vec<(AttemptKey, f64)> {
        let mut open: Vec<u32> = std::mem::take(&mut self.stirred).into_iter().collect();
        let (mut resources, mut keys) = (open.iter().copied().collect::<BTreeSet<u32>>(), BTreeSet::new());
        while let Some(resource) = open.pop() {
            for key in &self.through[resource as usize] {
                if keys.insert(*key) {
                    let others = self.flows[key].flow.through.iter().map(|(other, _)| *other);
                    open.extend(others.filter(|other| resources.insert(*other)));
                }
            }
        }
        let streams: Vec<(AttemptKey, &Stream)> = keys.iter().map(|key| (*key, &self.flows[key])).collect();
        let flows: Vec<&Flow> = streams.iter().map(|(_, stream)| &stream.flow).collect();
        let rates = fair(|resource| self.capacity[resource as usize], &flows);
        streams.iter().zip(rates).map(|((key, stream), rate)| (*key, rate / stream.each)).collect()
    }
}

impl World<'_> {
    /// An attempt has begun a stage, or may read all that there is for it: from now on it shares what that needs with others.
    pub(super) fn share_with_others(&mut self, key: AttemptKey, now: Time) {
        if self.network.is_unlimited() {
            return;
        }
        let attempt = self.attempts.get(key);
        let need = self.jobs.get(&attempt.job).and_then(|job| self.need(job, attempt));
        if let Some(need) = need {
            let rate = self.rate(attempt, attempt.stage);
            if self.network.join(key, need, rate) {
                self.attempts.get_mut(key).turn(rate, now);
            }
        }
    }

    fn need(&self, job: &Job, attempt: &Attempt) -> Option<Need> {
        let task = job.task(attempt.kind, attempt.index);
        let bytes = |work: f64| if work > 0.0 { task.input.0 as f64 / work } else { 0.0 };
        match (attempt.stage, attempt.kind) {
            (Stage::StartUp, _) => {
                let hadoop = &self.scenario.hadoop;
                Some(self.busy(attempt.node, hadoop.start_up_busy, hadoop.start_up_beside))
            }
            (Stage::Work, kind) if job.of(kind).busy > 0.0 => Some(self.busy(attempt.node, job.of(kind).busy, 0.0)),
            (Stage::Work, TaskKind::Map) => {
                Some(Need { each: bytes(task.work[2]), through: self.way_of_a_split(job, attempt) })
            }
            (Stage::Copy, _) => Some(Need { each: bytes(task.work[0]), through: self.ways_of_outputs(attempt) }),
            _ => None,
        }
    }

    /// What keeps processors busy, its node's and some of all beside these, takes nothing else that is shared.
    fn busy(&self, node: u32, processors: f64, beside: f64) -> Need {
        let [own, all] = self.network.processors(node);
        let each = processors + beside;
        Need { each, through: vec![(own, processors / each), (all, 1.0)] }
    }

    /// It waits: it takes nothing until it goes on, and is then as fast as its node is.
    pub(super) fn share_no_more(&mut self, key: AttemptKey, now: Time) {
        if self.network.leave(key) {
            let rate = self.rate(self.attempts.get(key), self.attempts.get(key).stage);
            self.attempts.get_mut(key).turn(rate, now);
        }
    }

    /// The pace of its node, or its luck, has changed. Is it shared, and will be reckoned anew?
    pub(super) fn turns_among_others(&mut self, key: AttemptKey, rate: f64) -> bool {
        self.network.turn(key, rate)
    }

    /// Once all that happens at an instant has happened: gives every attempt whose share has changed its new pace.
    pub(super) fn settle_shares(&mut self, now: Time) {
        let reporting = self.reporting();
        for (key, rate) in self.network.settle() {
            let attempt = self.attempts.get_mut(key);
            let Some(job) = self.jobs.get(&attempt.job) else { continue };
            if attempt.goes_at(rate) {
                continue;
            }
            attempt.note_report(reporting, job.scoring, now);
            attempt.turn(rate, now);
            self.goes_on(key, now);
        }
    }
}
