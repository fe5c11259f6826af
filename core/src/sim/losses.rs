//! Outputs that a node loses while it stays: that shows only when a reduce is to read them. Then their maps run again, and the reader waits (Mantri, OSDI'10, §3.2).
//!
//! A reduce tries all outputs that are there when it begins to read, and each later one when it is written. Inputs of maps are a file system's, and not lost: one level of recomputes.

use super::attempt::Stage;
use super::draw::Purpose;
use super::job::{Job, START};
use super::machine::Losing;
use super::task::{Ask, Task};
use super::trouble::{Part, subject};
use super::world::World;
use crate::model::{AttemptFact, AttemptState, Millis, TaskKind, TaskState, Time};

/// An output: where it is, since when, and the number of the attempt that wrote it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Written {
    pub node: u32,
    pub at: Time,
    pub number: u32,
}

impl World<'_> {
    /// A node begins to lose outputs. What came of earlier times is forgotten once no job can have anything of it.
    pub(super) fn begins_to_lose(&mut self, which: u32, node: u32, nth: u32, lasts: Millis, now: Time) {
        let drawn = &mut self.draws.of(Purpose::Trouble, subject(which, node, nth, Part::Loses));
        let share = self.scenario.trouble[which as usize].loses.sample(drawn);
        let oldest = self.jobs.values().map(|job| job.arrived).min().unwrap_or(now);
        let until = (lasts > Millis(0)).then(|| now + lasts);
        let losing = &mut self.nodes[node as usize].losing;
        // Not each time, lest each of many goes over all before it.
        if losing.len().is_power_of_two() {
            losing.retain(|one| one.until.is_none_or(|until| until > oldest));
        }
        losing.push(Losing { which, nth, share, from: now, until });
    }

    /// Is that output of a job's map lost by then?
    pub(super) fn is_lost(&self, job: &Job, index: u32, output: Written, by: Time) -> bool {
        let losing = &self.nodes[output.node as usize].losing;
        let meets = |one: &&Losing| one.from <= by && one.until.is_none_or(|until| until > output.at);
        let drawn = |one: &Losing| {
            let subject = [
                u64::from(one.which) << 32 | u64::from(one.nth),
                job.of.key(),
                u64::from(index) << 32 | u64::from(output.number),
            ];
            self.draws.of(Purpose::Loss, subject).uniform() < one.share
        };
        self.loses && losing.iter().filter(meets).any(drawn)
    }

    /// A reduce of the job begins to read: what is lost of all that is there shows.
    pub(super) fn tries_to_read(&mut self, number: u32, now: Time) {
        let Some(job) = self.jobs.get(&number).filter(|_| self.loses) else { return };
        let maps = 0..job.of(TaskKind::Map).all.len() as u32;
        let missed: Vec<u32> = maps.filter(|index| self.is_missed(job, *index, now)).collect();
        self.miss_all(number, missed, now);
    }

    /// An output has been written, which reduces of the job that read are to read at once.
    pub(super) fn tries_to_read_one(&mut self, number: u32, index: u32, now: Time) {
        let Some(job) = self.jobs.get(&number).filter(|_| self.loses) else { return };
        let reads = |task: &Task| task.live.iter().any(|key| self.attempts.get(*key).stage == Stage::Copy);
        if job.of(TaskKind::Reduce).all.iter().any(reads) && self.is_missed(job, index, now) {
            self.miss_all(number, vec![index], now);
        }
    }

    fn miss_all(&mut self, number: u32, missed: Vec<u32>, now: Time) {
        if missed.is_empty() {
            return;
        }
        missed.into_iter().for_each(|index| self.misses(number, index, false, now));
        if let Some(job) = self.jobs.get(&number) {
            self.yarn.seat(job);
        }
        self.stirred = true;
        self.let_read(number, now);
    }

    /// An output cannot be read where it was written; with its whole node it is gone for good. Is there another? Else the map runs again.
    pub(super) fn misses(&mut self, number: u32, index: u32, gone: bool, now: Time) {
        if self.reads_replica(number, index, gone, now) {
            return;
        }
        let Some(job) = self.jobs.get_mut(&number) else { return };
        let Some((of, on)) = job.task(TaskKind::Map, index).winner else { return };
        let can = self.can;
        // Of nodes that are lost as a whole Drover hears from the ResourceManager.
        if !gone || can.replicate || can.precompute {
            let id = job.id.task(TaskKind::Map, index).attempt(of);
            job.ended.push(AttemptFact { state: Some(AttemptState::Failed), ..AttemptFact::of(id) });
        }
        let anew = job.kept.forget(index, of);
        job.tally.kept.precompute_needed += u32::from(anew.is_some());
        if let Some(output) = anew.and_then(|anew| anew.output) {
            let job = &self.jobs[&number];
            if !self.is_lost(job, index, output, now) {
                return self.reads_computed(number, index, output);
            }
        }
        if !gone {
            self.outcome.recomputed_on.entry(on).or_default().push(now.since(START));
        }
        self.runs_again(number, index, gone, anew.is_some_and(|anew| anew.output.is_none()), now);
    }

    /// A map's output has to be made again; where that is under way already it needs no other container.
    fn runs_again(&mut self, number: u32, index: u32, gone: bool, under_way: bool, now: Time) {
        let hurries = self.scenario.hadoop.can.are_hadoops();
        let Some(job) = self.jobs.get_mut(&number) else { return };
        let launched = |task: &Task| task.live.iter().any(|key| self.attempts.get(*key).stage > Stage::Waiting);
        let task = job.task_mut(TaskKind::Map, index);
        let under_way = under_way && (task.asked > 0 || !task.live.is_empty());
        let state = if under_way && launched(task) { TaskState::Running } else { TaskState::Scheduled };
        (task.state, task.winner, task.finished) = (state, None, None);
        // The attempt has failed, then (TA_TOO_MANY_FETCH_FAILURE); of a node that is lost it is killed.
        task.hurries |= hurries && !gone;
        // Those of its clones are taken to be lost with it.
        task.outputs.clear();
        job.of_mut(TaskKind::Map).finished -= 1;
        job.tally.recomputed += 1;
        if !under_way {
            job.ask(TaskKind::Map, Ask { hurries, ..Ask::of(index, now) }, true);
        }
    }
}
