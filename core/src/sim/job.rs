//! A simulated job: its tasks, what it waits for, and what of it has not been told yet.

use super::attempt::{AttemptKey, Scoring};
use super::draw::Draws;
use super::kept::{Kept, KeptRow};
use super::scenario::Scenario;
use super::task::{Ask, Task, Tasks};
use super::whole::JobCopy;
use crate::model::{AttemptFact, AttemptState, Bytes, JobId, Millis, TaskKind, Time, maps_before_reduces};
use std::collections::{BTreeMap, BTreeSet};

/// Where a job comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The nth job of a group.
    Group(u32, u32),
    /// The nth of the trace.
    Traced(u32),
}

impl Origin {
    /// A number that no other job has: what is drawn for it is drawn by that.
    pub fn key(self) -> u64 {
        match self {
            Origin::Group(group, nth) => u64::from(group) << 32 | u64::from(nth),
            Origin::Traced(nth) => 1 << 63 | u64::from(nth),
        }
    }

    /// Which of its group, or of the trace.
    pub fn nth(self) -> u32 {
        match self {
            Origin::Group(_, nth) | Origin::Traced(nth) => nth,
        }
    }
}

/// A job that has not ended.
#[derive(Debug, Clone)]
pub struct Job {
    /// Its number within the run.
    pub number: u32,
    /// Where it comes from.
    pub of: Origin,
    /// Its name.
    pub name: String,
    /// Its user.
    pub user: String,
    /// Its id, as Drover knows it.
    pub id: JobId,
    /// When it came.
    pub arrived: Time,
    /// Number of its queue.
    pub queue: u32,
    /// What its scores are made of.
    pub scoring: Scoring,
    /// Its maps and its reduces.
    pub tasks: [Tasks; 2],
    /// How many of its maps end before its reduces are asked for.
    pub slow_start: u32,
    /// The nodes it has come to, and when its files are there.
    pub localized: BTreeMap<u32, Time>,
    /// Its attempts that have containers and have not ended.
    pub live: BTreeSet<AttemptKey>,
    /// Its attempts that were killed and still have containers.
    pub stopping: BTreeSet<AttemptKey>,
    /// Tasks whose state has changed since the last telling, each once.
    news: Vec<(TaskKind, u32)>,
    /// Attempts that have ended since.
    pub ended: Vec<AttemptFact>,
    /// It has been told of.
    pub told: bool,
    /// Requests when last told.
    pub told_needs: [u32; 2],
    /// What became of it so far.
    pub tally: Tally,
    /// What each of its maps writes, as its reduces read as much from each.
    pub each_writes: Bytes,
    /// Instants at which clones of its reduces stop waiting for outputs of their own.
    pub waits: BTreeSet<Time>,
    /// By its copies: how many outputs lie in each rack, as reduces were last told of them; empty where nobody has asked.
    pub lying: BTreeMap<u32, Vec<u32>>,
    /// The nodes that wrote what its maps read, file by file; empty where no job before it did.
    pub inputs: Vec<u32>,
    /// Its copies, the first its own, where it is run several times over.
    pub copies: Vec<JobCopy>,
    /// What there is beside the outputs of its maps.
    pub kept: Kept,
}

/// What a job has cost, and what was done to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Containers times milliseconds, of attempts that succeeded first.
    pub useful_ms: u64,
    /// The same of all others.
    pub wasted_ms: u64,
    /// Attempts launched beside another.
    pub copies: u32,
    /// Of these those that succeeded first.
    pub copies_won: u32,
    /// Attempts killed for another in their place.
    pub restarts: u32,
    /// Copies withdrawn.
    pub withdrawn: u32,
    /// Maps that had to run again because their output was lost.
    pub recomputed: u32,
    /// Attempts that failed by themselves.
    pub failed: u32,
    /// What was kept twice or computed anew in good time.
    pub kept: KeptRow,
}

impl Job {
    /// One that has just arrived. Its work is drawn by where it comes from, so that it is the same under every policy.
    pub fn new(scenario: &Scenario, draws: &Draws, number: u32, of: Origin, queue: u32, now: Time) -> Job {
        let (name, user, tasks) = match of {
            Origin::Group(group, _) => {
                let group = &scenario.jobs[group as usize];
                let kinds = [(TaskKind::Map, &group.maps), (TaskKind::Reduce, &group.reduces)];
                let tasks = kinds.map(|(kind, phase)| Tasks::drawn(scenario, draws, of.key(), kind, phase));
                (&group.name, &group.user, tasks)
            }
            Origin::Traced(nth) => {
                let job = &scenario.traced[nth as usize];
                let tasks = TaskKind::ALL
                    .map(|kind| Tasks::traced(scenario, draws, of.key(), kind, &job.phases[kind as usize]));
                (&job.name, &job.user, tasks)
            }
        };
        let [maps, reduces] = &tasks;
        let has_reduces = !reduces.all.is_empty();
        let read: u64 = reduces.all.iter().map(|task| task.input.0).sum();
        let maps_in_all = maps.all.len() as u32;
        let each_writes = Bytes(read / u64::from(maps_in_all.max(1)));
        Job {
            number,
            of,
            name: name.clone(),
            user: user.clone(),
            id: JobId(crate::model::AppId { cluster: START.0, seq: number + 1 }),
            arrived: now,
            queue,
            scoring: Scoring { has_reduces, of: scenario.hadoop.scores },
            slow_start: maps_before_reduces(scenario.hadoop.slow_start, maps_in_all),
            tasks,
            localized: BTreeMap::new(),
            live: BTreeSet::new(),
            stopping: BTreeSet::new(),
            news: Vec::new(),
            ended: Vec::new(),
            told: false,
            told_needs: [0; 2],
            tally: Tally::default(),
            each_writes,
            waits: BTreeSet::new(),
            lying: BTreeMap::new(),
            inputs: Vec::new(),
            copies: Vec::new(),
            kept: Kept::default(),
        }
    }

    /// The nodes on which its outputs were written, file by file: its reduces', or its maps' where it has none.
    pub fn wrote_on(&self) -> Vec<u32> {
        self.of(self.last()).written_on().collect()
    }

    /// Its last phase: once that has ended nothing else of the job is waited for (mapreduce.job.finish-when-all-reducers-done).
    pub fn last(&self) -> TaskKind {
        if self.of(TaskKind::Reduce).all.is_empty() { TaskKind::Map } else { TaskKind::Reduce }
    }

    /// Its tasks of a kind.
    pub fn of(&self, kind: TaskKind) -> &Tasks {
        &self.tasks[kind as usize]
    }

    /// The same, to be changed.
    pub fn of_mut(&mut self, kind: TaskKind) -> &mut Tasks {
        &mut self.tasks[kind as usize]
    }

    /// One of its tasks.
    pub fn task(&self, kind: TaskKind, index: u32) -> &Task {
        &self.of(kind).all[index as usize]
    }

    /// The same, to be changed; that is news.
    pub fn task_mut(&mut self, kind: TaskKind, index: u32) -> &mut Task {
        let task = &mut self.tasks[kind as usize].all[index as usize];
        if !std::mem::replace(&mut task.is_news, true) {
            self.news.push((kind, index));
        }
        task
    }

    /// The tasks whose state has changed since this was last asked for, in order.
    pub fn take_news(&mut self) -> Vec<(TaskKind, u32)> {
        let mut news = std::mem::take(&mut self.news);
        news.sort_unstable();
        for (kind, index) in &news {
            self.tasks[*kind as usize].all[*index as usize].is_news = false;
        }
        news
    }

    /// Have all tasks of its last phase succeeded, in one copy of it? Maps may be running again for reduces that have ended since.
    pub fn is_over(&self) -> bool {
        if self.is_whole() {
            return self.first_copy().is_some();
        }
        let last = self.of(self.last());
        last.finished as usize == last.all.len()
    }

    /// Share (0–1) of its maps that have succeeded.
    pub fn maps_done(&self) -> f64 {
        let maps = self.of(TaskKind::Map);
        if maps.all.is_empty() { 1.0 } else { f64::from(maps.finished) / maps.all.len() as f64 }
    }

    /// Memory that its containers hold, mebibytes.
    pub fn held_mb(&self) -> u64 {
        self.tasks.iter().map(|tasks| u64::from(tasks.held) * tasks.size.memory_mb).sum()
    }

    /// Asks for a container for one more attempt of a task; `first`: before those that stand in line, as one that hurries always is. The number that the attempt will have.
    pub fn ask(&mut self, kind: TaskKind, mut ask: Ask, first: bool) -> u32 {
        let task = self.task_mut(kind, ask.index);
        ask.number = task.numbered;
        task.numbered += 1;
        task.asked += 1;
        ask.hurries |= task.hurries;
        let number = ask.number;
        self.of_mut(kind).asks.put(ask, first);
        number
    }

    /// How long an attempt that is launched on a node waits for the job's files, of which the first there fetches them, which takes so long.
    pub fn localize(&mut self, node: u32, takes: Millis, now: Time) -> Millis {
        let there = *self.localized.entry(node).or_insert(now + takes);
        there.since(now)
    }

    /// Takes back what a task has asked for.
    pub fn unask(&mut self, kind: TaskKind, index: u32) {
        if self.task(kind, index).asked == 0 {
            return;
        }
        let id = self.id;
        let tasks = &mut self.tasks[kind as usize];
        tasks.all[index as usize].asked = 0;
        let taken = tasks.asks.iter().filter(|ask| ask.index == index);
        self.ended.extend(taken.map(|ask| AttemptFact {
            state: Some(AttemptState::Killed),
            ..AttemptFact::of(id.task(kind, index).attempt(ask.number))
        }));
        tasks.asks.retain(|ask| ask.index != index);
    }
}

/// The instant at which every run begins: far from zero, so that there is a time before.
pub const START: Time = Time(1_000_000_000_000);

/// The next of the instants at every so long, counted from there.
pub fn next_of(every: Millis, now: Time) -> Time {
    START + Millis((now.since(START).0 / every.0 + 1).saturating_mul(every.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_once_in_ages_comes_at_the_end_of_time_and_not_before_now() {
        assert_eq!(next_of(Millis(1_000), START + Millis(1_500)), START + Millis(2_000));
        assert_eq!(next_of(Millis(u64::MAX), START + Millis(5)), Time(u64::MAX));
    }
}
