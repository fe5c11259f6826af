//! Which clone's output of each map a clone of a reduce reads, and how fast: the contention of Dolly's §4 (NSDI'13), and no more of it.
//!
//! A reduce reads as much of each map, one output after the other in the order in which they are given to it. Who reads which, and who waits, is the engine's plan
//! ([`read_from`]); who asks first is drawn (`polls.rs`). Two clones of a reduce that read one output at the same time each have the scenario's `contention` of their pace for as long as both read: what the one that came first
//! has still to read when the other comes, as in T_C of §4.4. While outputs are waited for, the maps' clones that write them go on; they are killed once nobody waits for them.
//!
//! Left out: contention between different reduces, jobs and speculative copies but for that of links, and that a third reader slows the others any further.

use super::attempt::{AttemptKey, Stage};
use super::job::Job;
use super::world::{Event, World};
use crate::model::{Assignment, Millis, TaskKind, TaskState, Time};
use crate::policy::dolly::{Output, Step, read_from};

/// As long as the job lasts.
const FOREVER: Time = Time(u64::MAX);

/// Where no other output of a map is to come, a clone waits for none: it shares at once.
fn at_once_if_last(assignment: Assignment, job: &Job, map: usize) -> Assignment {
    let task = &job.of(TaskKind::Map).all[map];
    match assignment {
        Assignment::Avoidance | Assignment::Delay { .. } if task.live.is_empty() && task.asked == 0 => {
            Assignment::Delay { omega: Millis(0) }
        }
        planned => planned,
    }
}

impl World<'_> {
    /// How the clones of a reduce read; `None` for one that is not cloned.
    fn assignment(&self, job: &Job, index: u32) -> Option<Assignment> {
        let plan = self.driver.clones_of(job.id, TaskKind::Reduce).filter(|plan| index < plan.tasks)?;
        plan.reading.map(|reading| reading.done)
    }

    /// A reduce may read what maps have written: all of it once they have all ended.
    pub(super) fn may_read(&mut self, key: AttemptKey, now: Time) {
        let attempt = self.attempts.get(key);
        let Some(job) = self.jobs.get(&attempt.job) else { return };
        let done = job.maps_done_in(attempt.copy);
        // What a trace's reduce read while maps ran is not in its work: all that is comes after them.
        let waits = job.of(TaskKind::Reduce).reads_after_maps && done < 1.0;
        let assignment = self.assignment(job, attempt.index).filter(|_| !job.of(TaskKind::Map).all.is_empty());
        if let Some(assignment) = assignment.filter(|_| !waits) {
            return self.read_by(assignment, key, now);
        }
        self.attempts.get_mut(key).may_read(if waits { 0.0 } else { done }, now);
        self.reads(key, now);
    }

    /// It reads all that there is, and shares links with others meanwhile; while it waits for maps it burdens none.
    fn reads(&mut self, key: AttemptKey, now: Time) {
        let attempt = self.attempts.get(key);
        let burdens = attempt.is_free_to_go_on() || self.network.has_links();
        if !burdens || attempt.goes_on_until(now).is_none() {
            return self.share_no_more(key, now);
        }
        self.look_at_outputs(key, now);
        self.share_with_others(key, now);
        self.goes_on(key, now);
    }

    /// Enters the end of what an attempt is at: of its stage, or of what there is to read.
    pub(super) fn goes_on(&mut self, key: AttemptKey, now: Time) {
        let attempt = self.attempts.get(key);
        if let Some(until) = attempt.goes_on_until(now) {
            self.calendar.enter(until, Event::Stage(key, attempt.version));
        }
    }

    /// Tells a job's reduces how much there is to read now: only the end of the last map lets any of them go on.
    pub(super) fn let_read(&mut self, number: u32, now: Time) {
        let reporting = self.reporting();
        let Some(job) = self.jobs.get_mut(&number) else { return };
        job.lying.clear();
        if job.of(TaskKind::Reduce).held == 0 {
            return;
        }
        let scoring = job.scoring;
        let reading: Vec<AttemptKey> =
            job.of(TaskKind::Reduce).all.iter().flat_map(|task| &task.live).copied().collect();
        for key in reading {
            let attempt = self.attempts.get_mut(key);
            if attempt.stage == Stage::Copy {
                attempt.note_report(reporting, scoring, now);
                self.may_read(key, now);
            }
        }
    }

    /// A clone of a reduce is given what there is for it to read by now.
    fn read_by(&mut self, assignment: Assignment, key: AttemptKey, now: Time) {
        let attempt = self.attempts.get(key);
        let (number, index, began) = (attempt.job, attempt.index, attempt.launched);
        let Some(job) = self.jobs.get(&number) else { return };
        let maps = job.of(TaskKind::Map).all.len();
        let others: Vec<AttemptKey> =
            job.task(TaskKind::Reduce, index).live.iter().copied().filter(|other| *other != key).collect();
        self.attempts.get_mut(key).reads.resize(maps, None);
        let mut waits = None;
        for map in 0..maps {
            let Some(job) = self.jobs.get(&number) else { return };
            if self.attempts.get(key).reads[map].is_some() {
                continue;
            }
            let reads = |other: &&AttemptKey, place: usize| {
                let read = self.attempts.get(**other).reads.get(map).copied().flatten();
                read.is_some_and(|read| read.output as usize == place)
            };
            let readers = |place| others.iter().filter(|other| reads(other, place)).count() as u32;
            let ended = job.of(TaskKind::Map).all[map].outputs.iter().enumerate();
            let mut outputs: Vec<Output> =
                ended.map(|(place, output)| Output { finished: output.at, readers: readers(place) }).collect();
            self.take_turns(job, (key, map), &others, &mut outputs, now);
            match read_from(at_once_if_last(assignment, job, map), &outputs, began, now) {
                Step::From(place) => {
                    let beside = others.iter().filter(|other| reads(other, place)).copied().collect();
                    self.share(key, (map, place), beside, now);
                }
                Step::Wait(until) => waits = [waits, until].into_iter().flatten().min(),
            }
        }
        self.read_on(key, now);
        if let Some(until) = waits {
            self.wait(number, until);
        }
    }

    /// What a reduce reads of each of its job's maps, healthy milliseconds.
    fn each(&self, key: AttemptKey) -> f64 {
        let attempt = self.attempts.get(key);
        let of = |job: &Job| job.task(attempt.kind, attempt.index).work[0] / job.of(TaskKind::Map).all.len() as f64;
        self.jobs.get(&attempt.job).map_or(0.0, of)
    }

    /// It is to read that output of a map's, `beside` others that were given it before: what these have still to read of it takes all of them longer.
    fn share(&mut self, key: AttemptKey, (map, place): (usize, usize), beside: Vec<AttemptKey>, now: Time) {
        let (each, contention) = (self.each(key), self.scenario.hadoop.contention);
        let mut shared: f64 = 0.0;
        for other in beside {
            let attempt = self.attempts.get_mut(other);
            let unread = attempt.unread(map, now);
            shared = shared.max(unread);
            let alone = attempt.reads[map].as_mut().filter(|read| read.millis <= each && unread > 0.0);
            if let Some(read) = alone {
                read.millis = each * (1.0 - unread + unread / contention);
                self.read_on(other, now);
            }
        }
        let millis = each * (1.0 - shared + shared / contention);
        self.attempts.get_mut(key).give(map, place as u32, millis);
    }

    fn read_on(&mut self, key: AttemptKey, now: Time) {
        let (each, reporting) = (self.each(key), self.reporting());
        let attempt = self.attempts.get_mut(key);
        let Some(job) = self.jobs.get(&attempt.job).filter(|_| attempt.stage == Stage::Copy) else { return };
        attempt.note_report(reporting, job.scoring, now);
        attempt.read_on(each, now);
        self.reads(key, now);
    }

    /// Do the other clones of a map that has just succeeded go on, because clones of reduces wait, or may be going to wait, for outputs of their own?
    pub(super) fn is_waited_for(&self, number: u32, kind: TaskKind, index: u32) -> bool {
        let Some(job) = self.jobs.get(&number).filter(|_| kind == TaskKind::Map) else { return false };
        let reads = self.can.reads && !job.of(TaskKind::Reduce).all.is_empty();
        let plan = || self.driver.clones_of(job.id, kind);
        let is_cloned = || plan().is_some_and(|plan| index < plan.tasks && !plan.gives_way);
        reads && is_cloned() && self.waits_until(job, index).is_some()
    }

    /// Until when clones of reduces wait for other outputs of a map that has succeeded; `None` where they do not.
    fn waits_until(&self, job: &Job, index: u32) -> Option<Time> {
        if self.driver.may_wait(job.id) {
            return Some(FOREVER);
        }
        let plan = self.driver.clones_of(job.id, TaskKind::Reduce).filter(|plan| !plan.gives_way)?;
        match plan.reading?.done {
            Assignment::Contention => None,
            Assignment::Avoidance => Some(FOREVER),
            Assignment::Delay { omega } => {
                let first = job.task(TaskKind::Map, index).outputs.first()?;
                Some(first.at.max(job.of(TaskKind::Reduce).begun?) + omega)
            }
        }
    }

    /// Kills the clones of maps that have succeeded for whose outputs nobody waits any more (§4.4: "unfinished upstream clones at that point are killed").
    pub(super) fn end_spares(&mut self, number: u32, now: Time) {
        let Some(job) = self.jobs.get(&number) else { return };
        let Some(plan) = self.driver.clones_of(job.id, TaskKind::Map) else { return };
        let is_spared = |index: &u32| {
            let task = job.task(TaskKind::Map, *index);
            task.state == TaskState::Succeeded && !task.live.is_empty()
        };
        let spared = (0..plan.tasks).filter(is_spared).map(|index| (index, self.waits_until(job, index)));
        let gives_way = self.driver.clones_of(job.id, TaskKind::Reduce).is_some_and(|plan| plan.gives_way);
        let mut ended = false;
        for (index, until) in spared.collect::<Vec<_>>() {
            match until {
                Some(FOREVER) => {}
                Some(until) if until > now => self.wait(number, until),
                _ => {
                    self.end_others(number, TaskKind::Map, index, now);
                    ended = true;
                }
            }
        }
        // Its clones that go on wait no longer for what is not to come any more.
        if ended && gives_way {
            self.let_read(number, now);
        }
    }

    fn wait(&mut self, number: u32, until: Time) {
        if self.jobs.get_mut(&number).is_some_and(|job| job.waits.insert(until)) {
            self.calendar.enter(until, Event::Waited(number));
        }
    }
}
