//! A job that is run several times over (Dolly, HotCloud'12 §3.1; NSDI'13 §3.1): each of its copies is a job of its own, whose reduces read what its own maps have written. The first copy of
//! which the last phase has ended is the job's, and the others are killed.
//!
//! What runs is told as attempts of the job's own tasks ([`crate::model::Capabilities::job_clones`]); a task is told to have succeeded once it has in any copy. The first attempt of each task in copy k has the
//! number k, so that the job's own copy, number 0, meets the luck that it has alone. Copies that are to give way are killed where copies can be withdrawn, all but the job's own.
//!
//! No task of such a job gets copies of its own, and a reduce gets no container while a map of its copy waits for one: how much of a job's memory reduces may take meanwhile Hadoop says of one job only.

use super::attempt::AttemptKey;
use super::job::Job;
use super::task::Ask;
use super::watch::End;
use super::world::World;
use crate::model::{AttemptFact, AttemptState, TaskKind, TaskState, Time};
use std::collections::BTreeMap;

/// One of the copies of a job.
#[derive(Debug, Clone, Default)]
pub struct JobCopy {
    /// Its tasks that have succeeded: maps and reduces, by index.
    done: [BTreeMap<u32, Done>; 2],
    /// Its maps, and its reduces, have been asked for.
    begun: [bool; 2],
    /// Number of the first attempt of each of its tasks.
    first: u32,
    /// It gave way.
    withdrawn: bool,
    /// Container-milliseconds of its attempts that succeeded.
    pub ran_ms: u64,
}

/// A task of a copy that has succeeded.
#[derive(Debug, Clone, Copy)]
struct Done {
    started: Time,
    finished: Time,
    /// Its attempt's number, and the node that ran on.
    by: (u32, u32),
}

impl Job {
    /// Is it run several times over?
    pub fn is_whole(&self) -> bool {
        !self.copies.is_empty()
    }

    /// Share (0–1) of the maps that have succeeded of those that a reduce of that copy reads.
    pub fn maps_done_in(&self, copy: u32) -> f64 {
        let all = self.of(TaskKind::Map).all.len();
        match self.copies.get(copy as usize) {
            Some(copy) if all > 0 => copy.done[TaskKind::Map as usize].len() as f64 / all as f64,
            _ => self.maps_done(),
        }
    }

    /// Nodes that hold the outputs that a reduce of that copy reads.
    pub fn outputs_of(&self, copy: u32) -> Vec<u32> {
        match self.copies.get(copy as usize) {
            Some(copy) => copy.done[TaskKind::Map as usize].values().map(|done| done.by.1).collect(),
            None => self.of(TaskKind::Map).written_on().collect(),
        }
    }

    /// Is nothing more to be done for a task, in that copy?
    pub fn is_done(&self, kind: TaskKind, index: u32, copy: u32) -> bool {
        match self.copies.get(copy as usize) {
            Some(copy) => copy.withdrawn || copy.done[kind as usize].contains_key(&index),
            None => self.task(kind, index).state == TaskState::Succeeded,
        }
    }

    /// The copy that has ended: of which every task of the last phase has succeeded.
    pub fn first_copy(&self) -> Option<usize> {
        let last = self.last();
        self.copies.iter().position(|copy| copy.done[last as usize].len() == self.of(last).all.len())
    }

    /// Does a map of that copy wait for a container?
    pub fn has_waiting_maps(&self, copy: u32) -> bool {
        self.of(TaskKind::Map).asks.iter().any(|ask| ask.copy == copy)
    }

    /// The job has ended: what it was is what its first copy was, and the others' work was in vain.
    pub fn settle_copies(&mut self) {
        let Some(won) = self.first_copy() else { return };
        for (nth, copy) in std::mem::take(&mut self.copies).into_iter().enumerate() {
            if nth != won {
                self.tally.wasted_ms += copy.ran_ms;
                continue;
            }
            self.tally.useful_ms += copy.ran_ms;
            for (tasks, done) in self.tasks.iter_mut().zip(&copy.done) {
                self.tally.copies_won += if nth > 0 { done.len() as u32 } else { 0 };
                for (index, done) in done {
                    let task = &mut tasks.all[*index as usize];
                    (task.started, task.finished, task.winner) =
                        (Some(done.started), Some(done.finished), Some(done.by));
                }
            }
        }
    }

    /// Asks for a container for every task of a copy's.
    fn begin_copy(&mut self, kind: TaskKind, copy: usize, now: Time) {
        self.copies[copy].begun[kind as usize] = true;
        let number = self.copies[copy].first;
        let tasks = &mut self.tasks[kind as usize];
        tasks.begun.get_or_insert(now);
        for (task, index) in tasks.all.iter_mut().zip(0..) {
            if task.state == TaskState::New {
                task.state = TaskState::Scheduled;
            }
            task.asked += 1;
            let ask = Ask { number, copy: copy as u32, is_copy: copy > 0, ..Ask::of(index, now) };
            tasks.asks.put(ask, false);
        }
        (0..self.of(kind).all.len() as u32).for_each(|index| _ = self.task_mut(kind, index));
    }

    /// Takes back what copies have asked for, of those meant.
    fn unask_of_copies(&mut self, kind: TaskKind, is_meant: impl Fn(&Ask) -> bool) {
        let id = self.id;
        let tasks = &mut self.tasks[kind as usize];
        for ask in tasks.asks.iter().filter(|ask| is_meant(ask)) {
            tasks.all[ask.index as usize].asked -= 1;
            let of = AttemptFact::of(id.task(kind, ask.index).attempt(ask.number));
            self.ended.push(AttemptFact { state: Some(AttemptState::Killed), ..of });
        }
        tasks.asks.retain(|ask| !is_meant(ask));
    }
}

impl World<'_> {
    /// Has the copies of jobs begun that the engine has settled on, and those killed that are to give way.
    pub(super) fn follow_whole_jobs(&mut self, now: Time) {
        if self.driver.clones_jobs() {
            let numbers: Vec<u32> = self.jobs.numbers();
            numbers.into_iter().for_each(|number| self.follow_whole(number, now));
        }
    }

    fn follow_whole(&mut self, number: u32, now: Time) {
        let Some(job) = self.jobs.get(&number) else { return };
        let Some(plan) = self.driver.whole_of(job.id) else { return };
        if plan.gives_way && self.can.withdraw {
            self.withdraw_copies(number, now);
        } else if !plan.gives_way && !job.is_whole() {
            self.begin_copies(number, plan.clones, now);
        }
    }

    fn begin_copies(&mut self, number: u32, clones: u32, now: Time) {
        let Some(job) = self.jobs.get_mut(&number) else { return };
        let taken = job.tasks.iter().flat_map(|tasks| &tasks.all).map(|task| task.numbered).max().unwrap_or(0).max(1);
        let first = |copy: u32| if copy == 0 { 0 } else { taken + copy - 1 };
        job.copies = (0..clones).map(|copy| JobCopy { first: first(copy), ..JobCopy::default() }).collect();
        // What has run up to now was the job's own copy.
        job.copies[0].ran_ms = std::mem::take(&mut job.tally.useful_ms);
        for (kind, tasks) in job.tasks.iter_mut().enumerate() {
            job.copies[0].begun[kind] = tasks.begun.is_some();
            for (task, index) in tasks.all.iter_mut().zip(0..) {
                task.numbered = taken + clones - 1;
                if let (Some(started), Some(finished), Some(by)) = (task.started, task.finished, task.winner) {
                    job.copies[0].done[kind].insert(index, Done { started, finished, by });
                }
            }
        }
        self.begin_phases_of_copies(number, now);
    }

    /// Asks for the containers of copies' phases whose turn has come.
    pub(super) fn begin_phases_of_copies(&mut self, number: u32, now: Time) {
        let Some(job) = self.jobs.get_mut(&number) else { return };
        for copy in 0..job.copies.len() {
            let JobCopy { begun: [maps, reduces], withdrawn, ref done, .. } = job.copies[copy];
            if withdrawn {
                continue;
            }
            let maps_done = done[TaskKind::Map as usize].len() as u32;
            if !maps {
                job.begin_copy(TaskKind::Map, copy, now);
            }
            if !reduces && maps_done >= job.slow_start {
                job.begin_copy(TaskKind::Reduce, copy, now);
                self.begun.insert(number);
            }
        }
        self.yarn.seat(job);
        self.stirred = true;
    }

    /// An attempt of a copy's task has succeeded.
    pub(super) fn succeeds_in_copy(&mut self, key: AttemptKey, now: Time) {
        let attempt = self.attempts.get(key);
        let (number, kind, index, copy) = (attempt.job, attempt.kind, attempt.index, attempt.copy);
        let done = Done { started: attempt.launched, finished: now, by: (attempt.number, attempt.node) };
        let worked = attempt.worked(now);
        let Some(job) = self.jobs.get_mut(&number) else { return };
        self.off_ms = self.off_ms.max((worked - job.task(kind, index).work.iter().sum::<f64>()).abs());
        job.copies[copy as usize].done[kind as usize].insert(index, done);
        let is_first = job.task(kind, index).state != TaskState::Succeeded;
        if is_first {
            let task = job.task_mut(kind, index);
            (task.state, task.finished, task.winner) = (TaskState::Succeeded, Some(now), Some(done.by));
            job.of_mut(kind).finished += 1;
        }
        self.ends(key, if is_first { End::Succeeded } else { End::Spare }, now);
        self.end_others_of_copy(number, (kind, index), copy, now);
        if kind == TaskKind::Map {
            self.begin_phases(number, now);
            self.let_read(number, now);
        }
        self.end_if_over(number, now);
    }

    /// Kills what else there is of a task in a copy: attempts from before the job was run several times over.
    fn end_others_of_copy(&mut self, number: u32, (kind, index): (TaskKind, u32), copy: u32, now: Time) {
        let Some(job) = self.jobs.get_mut(&number) else { return };
        job.unask_of_copies(kind, |ask| ask.index == index && ask.copy == copy);
        let others: Vec<AttemptKey> = job.task(kind, index).live.clone();
        let of_copy = others.into_iter().filter(|key| self.attempts.get(*key).copy == copy);
        of_copy.collect::<Vec<_>>().into_iter().for_each(|key| self.ends(key, End::Overtaken, now));
        if let Some(job) = self.jobs.get(&number) {
            self.yarn.seat(job);
        }
    }

    fn withdraw_copies(&mut self, number: u32, now: Time) {
        let Some(job) = self.jobs.get_mut(&number).filter(|job| job.copies.iter().skip(1).any(|copy| !copy.withdrawn))
        else {
            return;
        };
        job.copies.iter_mut().skip(1).for_each(|copy| copy.withdrawn = true);
        TaskKind::ALL.into_iter().for_each(|kind| job.unask_of_copies(kind, |ask| ask.copy > 0));
        let given: Vec<AttemptKey> = job.live.iter().copied().filter(|key| self.attempts.get(*key).copy > 0).collect();
        job.tally.withdrawn += given.len() as u32;
        given.into_iter().for_each(|key| self.ends(key, End::Withdrawn, now));
        if let Some(job) = self.jobs.get(&number) {
            self.yarn.seat(job);
            self.stirred = true;
        }
    }

    /// A copy of which maps wait and none runs, while its reduces hold containers.
    pub(super) fn starved_copy(&self, job: &Job) -> Option<u32> {
        let holds = |copy: u32, kind: TaskKind| {
            job.live.iter().any(|key| {
                let attempt = self.attempts.get(*key);
                attempt.copy == copy && attempt.kind == kind
            })
        };
        let starves =
            |copy: &u32| job.has_waiting_maps(*copy) && !holds(*copy, TaskKind::Map) && holds(*copy, TaskKind::Reduce);
        (0..job.copies.len() as u32).find(starves)
    }

    /// A node is lost: each copy whose reduces have not all ended misses the outputs it had there.
    pub(super) fn lose_outputs_of_copies(&mut self, number: u32, node: u32, now: Time) {
        let Some(job) = self.jobs.get_mut(&number) else { return };
        if job.last() == TaskKind::Map {
            return;
        }
        let mut lost = Vec::new();
        for (copy, number) in job.copies.iter().zip(0..).filter(|(copy, _)| !copy.withdrawn) {
            let there = copy.done[TaskKind::Map as usize].iter().filter(|(_, done)| done.by.1 == node);
            lost.extend(there.map(|(index, done)| (number, *index, done.by)));
        }
        for (copy, index, by) in lost {
            job.copies[copy as usize].done[TaskKind::Map as usize].remove(&index);
            job.tally.recomputed += 1;
            let other = job.copies.iter().find_map(|copy| copy.done[TaskKind::Map as usize].get(&index));
            let other = other.map(|done| (done.by, done.finished));
            let task = job.task_mut(TaskKind::Map, index);
            match other {
                _ if task.winner != Some(by) => {}
                Some((by, finished)) => (task.winner, task.finished) = (Some(by), Some(finished)),
                None => {
                    let runs = !task.live.is_empty();
                    task.state = if runs { TaskState::Running } else { TaskState::Scheduled };
                    (task.winner, task.finished) = (None, None);
                    job.of_mut(TaskKind::Map).finished -= 1;
                }
            }
            job.ask(TaskKind::Map, Ask { copy, is_copy: copy > 0, ..Ask::of(index, now) }, true);
        }
        self.yarn.seat(job);
        self.let_read(number, now);
    }
}
