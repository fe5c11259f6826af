//! Attempts of a trace, of whatever kind it is, as they are read: what of them cannot be is a fault, and what is amiss is counted.

use super::done::Winner;
use super::held::{About, Attempt, Job, Limits, Ran, Told, master, named, room};
use drover_core::model::Resources;
use drover_core::sim::ARRIVES_MAX;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// What an attempt takes at most, and its job from its submission to its last end, days. One instant that is wrong by years would have years simulated, for hours.
const DAYS_MAX: u64 = 100;
/// What an attempt reads less than, bytes.
const INPUT_MAX: u64 = 1 << 50;
/// What is counted of an attempt whose start is not told.
pub(super) const STARTLESS: &str = "attempts without a start: left out";
/// What is counted of what early Hadoops ran beside maps and reduces.
pub(super) const SET_UP: &str = "events of a job's set-up and clean-up: left out";
/// What is told, where it is: Hadoop and Rumen have zero and less for what they do not know.
pub(super) fn known(value: i64) -> Option<u64> {
    u64::try_from(value).ok().filter(|value| *value > 0)
}

/// A queue's own name, by which a scenario knows it, without the path to it.
fn leaf(path: &str) -> String {
    path.rsplit('.').next().unwrap_or_default().to_owned()
}

/// Collects attempts, in any order.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    pub(super) jobs: BTreeMap<String, Job>,
    /// How many tasks they have together.
    tasks: usize,
    seen: BTreeSet<String>,
    /// The first and the last instant of all.
    span: Option<[u64; 2]>,
    /// Hosts by name, numbered as they came.
    pub(super) hosts: BTreeMap<String, u32>,
    pub(super) repairs: BTreeMap<String, u64>,
    pub(super) limits: Limits,
}

impl Recorder {
    /// A job. Twice is a fault. Its queue may be told with the path to it.
    pub(super) fn job(&mut self, id: &str, mut about: About) -> Result<(), String> {
        about.submitted.map_or(Ok(()), |at| self.is_at(id, at))?;
        about.queue = about.queue.as_deref().map(leaf);
        for told in [&mut about.name, &mut about.user, &mut about.queue] {
            *told = told.take().filter(|told| !told.trim().is_empty());
        }
        let known = self.job_of(id)?.about.replace(about);
        if known.is_some() { Err(format!("{id} was there before")) } else { Ok(()) }
    }

    /// What the containers of a job have, where that is told at its end.
    pub(super) fn sizes(&mut self, job: &str, sizes: [Option<Resources>; 2]) {
        if let Some(about) = self.about(job) {
            about.sizes = sizes;
        }
    }

    /// The queue that a job came to, where that is told after its submission. An empty name tells nothing.
    pub(super) fn queue(&mut self, job: &str, path: &str) {
        let name = leaf(path);
        if let Some(about) = self.about(job).filter(|_| !name.trim().is_empty()) {
            about.queue = Some(name);
        }
    }

    fn about(&mut self, job: &str) -> Option<&mut About> {
        self.jobs.get_mut(job).and_then(|job| job.about.as_mut())
    }

    /// How a job ended, where that is told, and how many tasks it says it has beside those that are told.
    pub(super) fn job_ended(&mut self, succeeded: Option<bool>, has: u64, told: u64) {
        match succeeded {
            Some(true) => {}
            Some(false) => self.mend("jobs that failed or were killed: taken as far as they came"),
            None => self.mend("jobs without an end: taken as far as their history goes"),
        }
        if told < has {
            self.mend("jobs that tell of fewer tasks than they have: only those told are taken");
        }
    }

    /// A task, of which there may be no attempt. Twice is a fault.
    pub(super) fn task(&mut self, job: &str, is_reduce: bool, task: &str) -> Result<(), String> {
        let tasks = &self.job_of(job)?.tasks;
        if [false, true].iter().any(|kind| tasks.contains_key(&(*kind, task.to_owned()))) {
            return Err(format!("{task} was there before"));
        }
        self.task_of(job, is_reduce, task).map(|_| ())
    }

    fn job_of(&mut self, id: &str) -> Result<&mut Job, String> {
        named("a job", id)?;
        let is_new = !self.jobs.contains_key(id);
        room(self.jobs.len() + usize::from(is_new), self.limits.jobs, id, "jobs")?;
        Ok(self.jobs.entry(id.to_owned()).or_default())
    }

    fn task_of(&mut self, job: &str, is_reduce: bool, task: &str) -> Result<&mut Told, String> {
        named("a task", task)?;
        self.job_of(job)?;
        let tasks = &mut self.jobs.entry(job.to_owned()).or_default().tasks;
        match tasks.entry((is_reduce, task.to_owned())) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(free) => {
                self.tasks += 1;
                room(self.tasks, self.limits.tasks, task, "tasks")?;
                Ok(free.insert(Told::default()))
            }
        }
    }

    /// Is there room for one of so many attempts?
    pub(super) fn fits(&self, attempts: usize, id: &str) -> Result<(), String> {
        room(attempts, self.limits.attempts, id, "attempts")
    }

    /// An attempt. What cannot be is a fault; what is only not told is counted.
    pub(super) fn attempt(&mut self, attempt: Attempt) -> Result<(), String> {
        let Attempt { job, is_reduce, task, id, host, started, finished, stages, input, succeeded } = attempt;
        named("an attempt", &id)?;
        if !self.seen.insert(id.clone()) {
            return Err(format!("{id} was there before"));
        }
        self.fits(self.seen.len(), &id)?;
        self.task_of(&job, is_reduce, &task)?;
        let Some(started) = started else {
            self.mend(STARTLESS);
            return Ok(());
        };
        if let Some(finished) = finished.filter(|finished| *finished < started) {
            return Err(format!("{id} ends at {finished}, before it begins at {started}"));
        }
        let ended = finished.filter(|_| succeeded);
        self.ran(&job, &id, started, ended)?;
        let ran = Ran { master: master(&id), started, finished };
        let Some(finished) = ended else {
            self.task_of(&job, is_reduce, &task)?.others.push(ran);
            self.mend(match finished {
                Some(_) => "attempts that did not succeed: how long they would have taken is not known",
                None => "attempts without an end: left out",
            });
            return Ok(());
        };
        if let Some(bytes) = input.filter(|bytes| *bytes >= INPUT_MAX) {
            return Err(format!("{id} reads {bytes} bytes: attempts read less than a pebibyte"));
        }
        let stages = self.stages(is_reduce, stages, started..=finished);
        // An empty name tells no host.
        let host = host.filter(|name| !name.trim().is_empty()).map(|host| self.host(host));
        let winner = Winner { started, finished, stages, input, host, master: ran.master };
        if self.task_of(&job, is_reduce, &task)?.succeeds(winner) {
            self.mend("tasks that succeeded again: they take what the first to end took");
        }
        Ok(())
    }

    /// Something of the trace is at that instant. One too far from the others is a fault: its job would come too late.
    fn is_at(&mut self, what: &str, at: u64) -> Result<(), String> {
        let [first, last] = self.span.unwrap_or([at, at]);
        let (from, to) = (first.min(at), last.max(at));
        self.span = Some([from, to]);
        let is_too_late = to - from > ARRIVES_MAX.0;
        let told = || format!("{what} is there at {at}: from {from} to {to} are more than 100 years");
        if is_too_late { Err(told()) } else { Ok(()) }
    }

    /// An attempt of a job began then, and if it succeeded ended then. Longer than any does is a fault.
    fn ran(&mut self, job: &str, id: &str, started: u64, ended: Option<u64>) -> Result<(), String> {
        self.is_at(id, started)?;
        let known = self.job_of(job)?;
        known.first = known.first.into_iter().chain([started]).min();
        known.last = known.last.into_iter().chain(ended).max();
        let whole = known.arrived().zip(known.last).map(|(from, to)| (job, from, to));
        for (what, from, to) in ended.map(|ended| (id, started, ended)).into_iter().chain(whole) {
            let days = to.saturating_sub(from) / (24 * 3_600_000);
            if days >= DAYS_MAX {
                return Err(format!(
                    "{what} takes {days} days, from {from} to {to}: attempts and jobs take less than {DAYS_MAX}"
                ));
            }
        }
        Ok(())
    }

    /// Those ends of stages that can be: within the attempt, the sort's not before the shuffle's, and none of a map.
    fn stages(
        &mut self,
        is_reduce: bool,
        told: [Option<u64>; 2],
        within: std::ops::RangeInclusive<u64>,
    ) -> [Option<u64>; 2] {
        let [shuffle, sort] = told.map(|at| at.filter(|at| is_reduce && within.contains(at)));
        let kept = [shuffle, sort.filter(|at| shuffle.is_none_or(|shuffle| *at >= shuffle))];
        let lost = told.iter().flatten().count() - kept.iter().flatten().count();
        self.mend_all("ends of a shuffle or a sort that are not within their reduce: left out", lost);
        kept
    }

    fn host(&mut self, name: String) -> u32 {
        let next = self.hosts.len() as u32;
        *self.hosts.entry(name).or_insert(next)
    }

    /// Something was amiss, and was mended or left out.
    pub(super) fn mend(&mut self, what: &str) {
        self.mend_all(what, 1);
    }

    /// So many were.
    pub(super) fn mend_all(&mut self, what: &str, count: usize) {
        if count > 0 {
            *self.repairs.entry(what.to_owned()).or_default() += count as u64;
        }
    }

    /// An instant, where it is told.
    pub(super) fn instant(&mut self, value: i64) -> Option<u64> {
        if value < -1 {
            self.mend("instants below zero: as if they were not told");
        }
        known(value)
    }
}
