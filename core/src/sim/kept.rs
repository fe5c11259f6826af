//! Outputs that are kept twice, or computed anew before they are missed, where the scenario lets that be done (Mantri, OSDI'10, §5.3).
//!
//! A replica is there once as much time has passed as was planned for it; within a rack it burdens no link. What is computed anew runs as one more attempt of its map, off the
//! machine that loses outputs and behind the maps that wait, while the first output stays.

use super::draw::Purpose;
use super::job::Job;
use super::losses::Written;
use super::task::Ask;
use super::world::World;
use crate::model::{AttemptId, Bytes, Millis, TaskKind, TaskState, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What there is beside the outputs of a job's maps, by the maps' indices.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    replicas: BTreeMap<u32, Replica>,
    anew: BTreeMap<u32, Anew>,
}

/// A second copy of an output.
#[derive(Debug, Clone, Copy)]
struct Replica {
    /// Number of the attempt that wrote the first.
    of: u32,
    node: u32,
    /// When it is there.
    at: Time,
    /// It has been read.
    used: bool,
    /// The first was lost with its node.
    alone: bool,
}

/// An output that is computed anew before it is missed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Anew {
    /// Number of the attempt that wrote the first.
    of: u32,
    /// Number of the attempt that writes it again.
    by: u32,
    /// What it has written.
    pub output: Option<Written>,
}

/// What was kept of a job's outputs, and what it was good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct KeptRow {
    /// Outputs that were kept twice.
    pub replicated: u32,
    /// How much that was.
    pub replicated_bytes: Bytes,
    /// Those of them whose replica was read, as the first was lost.
    pub replica_used: u32,
    /// Outputs that were computed anew before they were missed.
    pub precomputed: u32,
    /// Those of them that were lost indeed when they were to be read.
    pub precompute_needed: u32,
    /// Those of these for which nobody waited.
    pub precomputed_in_time: u32,
}

impl KeptRow {
    /// Adds that of another job.
    pub fn add(&mut self, other: &KeptRow) {
        self.replicated += other.replicated;
        self.replicated_bytes.0 += other.replicated_bytes.0;
        self.replica_used += other.replica_used;
        self.precomputed += other.precomputed;
        self.precompute_needed += other.precompute_needed;
        self.precomputed_in_time += other.precomputed_in_time;
    }

    /// Nothing was.
    pub fn is_none(&self) -> bool {
        *self == KeptRow::default()
    }
}

impl Kept {
    /// An attempt has ended well after another of its task: has it computed an output anew?
    pub(super) fn computed(&mut self, kind: TaskKind, index: u32, number: u32, (node, at): (u32, Time)) {
        let anew = self.anew.get_mut(&index).filter(|anew| kind == TaskKind::Map && anew.by == number);
        if let Some(anew) = anew {
            anew.output = Some(Written { node, at, number });
        }
    }

    /// Forgets what is beside an output that is lost; what there is of its being computed anew.
    pub(super) fn forget(&mut self, index: u32, of: u32) -> Option<Anew> {
        self.replicas.remove(&index);
        self.anew.remove(&index).filter(|anew| anew.of == of)
    }

    /// A node is lost. The maps whose outputs were there and nowhere else.
    pub(super) fn lose(&mut self, node: u32) -> Vec<u32> {
        self.anew.retain(|_, anew| anew.output.is_none_or(|output| output.node != node));
        let lost: Vec<u32> =
            self.replicas.iter().filter(|(_, one)| one.node == node).map(|(index, _)| *index).collect();
        lost.into_iter().filter(|index| self.replicas.remove(index).is_some_and(|one| one.alone)).collect()
    }

    /// Is an output no longer where it was written, but in its replica alone?
    pub(super) fn is_moved(&self, index: u32) -> bool {
        self.replicas.get(&index).is_some_and(|replica| replica.alone)
    }
}

/// Where and when a map's output was written.
fn written(job: &Job, index: u32) -> Option<Written> {
    let task = job.task(TaskKind::Map, index);
    let (number, node) = task.winner?;
    Some(Written { node, at: task.finished?, number })
}

/// Replicas have luck of their own: no attempt has such a number.
const REPLICA: u32 = 1 << 31;

impl World<'_> {
    /// Copies an output to another machine of its rack. What is lost by then cannot be copied, and that shows to nobody.
    pub(super) fn replicate(&mut self, number: u32, id: AttemptId, (bytes, takes): (Bytes, Millis), now: Time) {
        let Some(job) = self.jobs.get(&number).filter(|_| id.task.kind == TaskKind::Map) else { return };
        let index = id.task.index;
        let Some(first) = written(job, index).filter(|first| first.number == id.number) else { return };
        let rack = self.nodes[first.node as usize].rack;
        let is_mate = |node: &u32| {
            let machine = &self.nodes[*node as usize];
            *node != first.node && machine.rack == rack && machine.is_up()
        };
        let mates: Vec<u32> = (0..self.nodes.len() as u32).filter(is_mate).collect();
        let mut draw = self.draws.of(Purpose::Replicate, [job.of.key(), index.into(), id.number.into()]);
        let Some(node) = mates.get(draw.below(mates.len().max(1))).copied() else { return };
        if self.is_lost(job, index, first, now) {
            return;
        }
        let Some(job) = self.jobs.get_mut(&number) else { return };
        let replica = Replica { of: id.number, node, at: now + takes, used: false, alone: false };
        job.kept.replicas.insert(index, replica);
        job.tally.kept.replicated += 1;
        job.tally.kept.replicated_bytes.0 += bytes.0;
    }

    /// Is a map's output missing where it was written, or, once its node is lost, where its replica is?
    pub(super) fn is_missed(&self, job: &Job, index: u32, now: Time) -> bool {
        let Some(first) = written(job, index) else { return false };
        if job.kept.is_moved(index) { !self.has_replica(job, index, now) } else { self.is_lost(job, index, first, now) }
    }

    /// Can an output be read from its replica? It is one of what was there when it was made.
    fn has_replica(&self, job: &Job, index: u32, now: Time) -> bool {
        let known = job.kept.replicas.get(&index).zip(written(job, index));
        known.is_some_and(|(replica, first)| {
            let copy = Written { node: replica.node, at: replica.at, number: first.number | REPLICA };
            let is_whole = replica.of == first.number && replica.at <= now;
            is_whole && !self.is_lost(job, index, first, replica.at) && !self.is_lost(job, index, copy, now)
        })
    }

    /// Reads the replica of an output that is lost, if it has one.
    pub(super) fn reads_replica(&mut self, number: u32, index: u32, gone: bool, now: Time) -> bool {
        let has = self.jobs.get(&number).is_some_and(|job| self.has_replica(job, index, now));
        let Some(job) = self.jobs.get_mut(&number).filter(|_| has) else { return false };
        if let Some(replica) = job.kept.replicas.get_mut(&index) {
            job.tally.kept.replica_used += u32::from(!replica.used);
            (replica.used, replica.alone) = (true, replica.alone || gone);
        }
        true
    }

    /// Runs maps again whose outputs are on a machine that begins to lose outputs, unless something is done about them already.
    pub(super) fn precompute(&mut self, number: u32, outputs: &[AttemptId], now: Time) {
        let Some(job) = self.jobs.get_mut(&number) else { return };
        for id in outputs.iter().filter(|id| id.task.kind == TaskKind::Map) {
            let index = id.task.index;
            let task = job.task(TaskKind::Map, index);
            let Some((of, on)) = task.winner.filter(|(of, _)| *of == id.number) else { continue };
            let is_idle = task.state == TaskState::Succeeded && task.live.is_empty() && task.asked == 0;
            if !is_idle || job.kept.replicas.contains_key(&index) || job.kept.anew.contains_key(&index) {
                continue;
            }
            let ask = Ask { avoid: vec![on], ..Ask::of(index, now) };
            let by = job.ask(TaskKind::Map, ask, false);
            job.kept.anew.insert(index, Anew { of, by, output: None });
            job.tally.kept.precomputed += 1;
        }
        self.yarn.seat(job);
        self.stirred = true;
    }

    /// An output that is lost is read where it was computed anew in good time.
    pub(super) fn reads_computed(&mut self, number: u32, index: u32, output: Written) {
        let Some(job) = self.jobs.get_mut(&number) else { return };
        let task = job.task_mut(TaskKind::Map, index);
        (task.winner, task.finished) = (Some((output.number, output.node)), Some(output.at));
        job.tally.kept.precomputed_in_time += 1;
    }
}
