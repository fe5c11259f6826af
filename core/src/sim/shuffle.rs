//! Through which links a reduce reads: evenly of all that lies in each rack and is unread. What its own rack's machines wrote burdens no link, and what maps have just written comes out
//! of memory, not from disks.

use super::attempt::{Attempt, AttemptKey};
use super::job::Job;
use super::world::World;
use crate::model::{TaskKind, Time};

/// How much of a reduce's input lies in one rack, in outputs of maps.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Lying {
    read: f64,
    unread: f64,
}

/// So much of all has been read by now, and so many outputs lie in each rack.
fn look(racks: &mut Vec<Lying>, read: f64, there: &[u32]) {
    let [known, unread] =
        racks.iter().fold([0.0; 2], |[known, unread], rack| [known + rack.read, unread + rack.unread]);
    let more = if unread > 0.0 { (read - known).max(0.0) / unread } else { 0.0 };
    racks.resize(there.len(), Lying::default());
    for (rack, outputs) in racks.iter_mut().zip(there) {
        rack.read += rack.unread * more;
        rack.unread = (f64::from(*outputs) - rack.read).max(0.0);
    }
}

impl World<'_> {
    /// A reduce is to read what there is now.
    pub(super) fn look_at_outputs(&mut self, key: AttemptKey, now: Time) {
        let attempt = self.attempts.get_mut(key);
        let Some(job) = self.jobs.get_mut(&attempt.job).filter(|_| self.network.has_links()) else { return };
        let racks = self.scenario.cluster.racks.max(1) as usize;
        let by_rack = |nodes: Vec<u32>| {
            let mut there = vec![0; racks];
            nodes.into_iter().for_each(|node| there[self.nodes[node as usize].rack as usize] += 1);
            there
        };
        let read = attempt.copied(now) * job.of(TaskKind::Map).all.len() as f64;
        if !attempt.reads.is_empty() {
            let there = by_rack(given(job, attempt));
            return look(&mut attempt.lying, read, &there);
        }
        if !job.lying.contains_key(&attempt.copy) {
            let there = by_rack(job.outputs_of(attempt.copy));
            job.lying.insert(attempt.copy, there);
        }
        look(&mut attempt.lying, read, &job.lying[&attempt.copy]);
    }

    /// What it reads from other racks goes through their uplinks, and its own downlink: by which share of it each.
    pub(super) fn ways_of_outputs(&self, attempt: &Attempt) -> Vec<(u32, f64)> {
        let own = self.nodes[attempt.node as usize].rack;
        let all = attempt.lying.iter().map(|rack| rack.unread).sum::<f64>();
        let far = (0..).zip(&attempt.lying).filter(|(rack, lying)| *rack != own && lying.unread > 0.0);
        let mut way: Vec<(u32, f64)> = far.map(|(rack, lying)| (self.network.up(rack), lying.unread / all)).collect();
        if !way.is_empty() {
            way.push((self.network.down(own), way.iter().map(|(_, share)| share).sum()));
        }
        way
    }
}

/// The nodes that wrote what a clone of a reduce was given to read.
fn given(job: &Job, attempt: &Attempt) -> Vec<u32> {
    let maps = job.of(TaskKind::Map).all.iter().zip(&attempt.reads);
    maps.filter_map(|(map, read)| Some(map.outputs.get((*read)?.output as usize)?.node)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reduce_reads_evenly_of_what_is_unread_wherever_it_lies() {
        let mut racks = Vec::new();
        let unread = |racks: &Vec<Lying>| racks.iter().map(|rack| rack.unread).collect::<Vec<f64>>();
        look(&mut racks, 0.0, &[3, 1, 0]);
        assert_eq!(unread(&racks), [3.0, 1.0, 0.0]);
        look(&mut racks, 2.0, &[3, 1, 2]);
        assert_eq!(unread(&racks), [1.5, 0.5, 2.0], "half of each was read before the third rack had any");
        look(&mut racks, 4.0, &[3, 0, 2]);
        assert_eq!(unread(&racks), [0.75, 0.0, 1.0], "what is lost there is not waited for there");
    }
}
