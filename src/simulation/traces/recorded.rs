//! What traces of attempts have in common: which attempt of a task succeeded first, where, and what is not told.

use super::Trace;
use super::assumed::Untold;
use super::done::{Overhead, Phases, Winner, phases};
use drover_core::model::{Millis, Resources};
use drover_core::sim::{ARRIVES_MAX, TracedHosts, TracedJob};
use std::collections::{BTreeMap, BTreeSet};

/// What a container has that nothing is told of.
const SIZE: Resources = Resources { memory_mb: 1024, vcores: 1 };
/// Attempts of a trace: some 10 GiB of memory.
const ATTEMPTS_MAX: usize = 20_000_000;
/// What an attempt takes at most, and its job from its submission to its last end, days. One instant that is wrong by years would have years simulated, for hours.
const DAYS_MAX: u64 = 100;
/// What an attempt reads at most, bytes.
const INPUT_MAX: u64 = 1 << 50;
/// What is counted of an attempt whose start is not told.
pub(super) const STARTLESS: &str = "attempts without a start: left out";
/// What is counted of what early Hadoops ran beside maps and reduces.
pub(super) const SET_UP: &str = "events of a job's set-up and clean-up: left out";

/// What is told, where it is: Hadoop and Rumen have zero and less for what they do not know.
pub(super) fn known(value: i64) -> Option<u64> {
    u64::try_from(value).ok().filter(|value| *value > 0)
}

/// An attempt, milliseconds by the cluster's clock.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Attempt {
    pub(super) job: String,
    pub(super) is_reduce: bool,
    pub(super) task: String,
    pub(super) id: String,
    /// Where it ran.
    pub(super) host: Option<String>,
    pub(super) started: Option<u64>,
    /// `None`: the trace ends before it.
    pub(super) finished: Option<u64>,
    /// End of a reduce's shuffle, and of its sort.
    pub(super) stages: [Option<u64>; 2],
    pub(super) input: Option<u64>,
    pub(super) succeeded: bool,
}

/// What is told of a job beside its attempts.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct About {
    pub(super) name: Option<String>,
    pub(super) user: Option<String>,
    pub(super) queue: Option<String>,
    pub(super) submitted: Option<u64>,
    /// What a container of its maps and of its reduces has.
    pub(super) sizes: [Option<Resources>; 2],
}

/// A job's tasks: reduces by `true`, each by its id, with the attempt that succeeded first.
pub(super) type Tasks = BTreeMap<(bool, String), Option<Winner>>;

/// Collects attempts, in any order.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    jobs: BTreeMap<String, About>,
    tasks: BTreeMap<String, Tasks>,
    seen: BTreeSet<String>,
    /// From when to when jobs ran, as far as is told by now.
    spans: BTreeMap<String, [u64; 2]>,
    /// The first and the last instant of all.
    span: Option<[u64; 2]>,
    /// Hosts by name, numbered as they came.
    hosts: BTreeMap<String, u32>,
    repairs: BTreeMap<String, u64>,
}

impl Recorder {
    /// A job. Twice is a fault.
    pub(super) fn job(&mut self, id: &str, about: About) -> Result<(), String> {
        about.submitted.map_or(Ok(()), |at| self.is_at(id, at))?;
        let known = self.jobs.insert(id.to_owned(), about);
        if known.is_some() { Err(format!("{id} was there before")) } else { Ok(()) }
    }

    /// What the containers of a job have, where that is told at its end.
    pub(super) fn sizes(&mut self, job: &str, sizes: [Option<Resources>; 2]) {
        if let Some(about) = self.jobs.get_mut(job) {
            about.sizes = sizes;
        }
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
        let tasks = self.tasks.entry(job.to_owned()).or_default();
        let other = tasks.contains_key(&(!is_reduce, task.to_owned()));
        let known = tasks.insert((is_reduce, task.to_owned()), None);
        if other || known.is_some() { Err(format!("{task} was there before")) } else { Ok(()) }
    }

    /// An attempt. What cannot be is a fault; what is only not told is counted.
    pub(super) fn attempt(&mut self, attempt: Attempt) -> Result<(), String> {
        let Attempt { job, is_reduce, task, id, host, started, finished, stages, input, succeeded } = attempt;
        if !self.seen.insert(id.clone()) {
            return Err(format!("{id} was there before"));
        }
        if self.seen.len() > ATTEMPTS_MAX {
            return Err(format!("{id} is one too many: a trace has {ATTEMPTS_MAX} attempts at most"));
        }
        self.tasks.entry(job.clone()).or_default().entry((is_reduce, task.clone())).or_default();
        let Some(started) = started else {
            self.mend(STARTLESS);
            return Ok(());
        };
        let Some(finished) = finished else {
            self.mend("attempts without an end: left out");
            return Ok(());
        };
        if finished < started {
            return Err(format!("{id} ends at {finished}, before it begins at {started}"));
        }
        if !succeeded {
            self.mend("attempts that did not succeed: how long they would have taken is not known");
            return Ok(());
        }
        self.lasts(&job, &id, [started, finished])?;
        if let Some(bytes) = input.filter(|bytes| *bytes > INPUT_MAX) {
            return Err(format!("{id} reads {bytes} bytes: attempts read less than a pebibyte"));
        }
        let stages = self.stages(is_reduce, stages, started..=finished);
        let host = host.map(|host| self.host(host));
        let winner = self.tasks.entry(job).or_default().entry((is_reduce, task)).or_default();
        let is_second = winner.is_some();
        if winner.is_none_or(|known| finished < known.finished) {
            *winner = Some(Winner { started, finished, stages, input, host });
        }
        if is_second {
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

    /// An attempt of a job ran from then to then. Longer than any does is a fault.
    fn lasts(&mut self, job: &str, id: &str, [started, finished]: [u64; 2]) -> Result<(), String> {
        self.is_at(id, started)?;
        let submitted = self.jobs.get(job).and_then(|about| about.submitted).unwrap_or(started);
        let [first, last] = self.spans.entry(job.to_owned()).or_insert([started, finished]);
        (*first, *last) = ((*first).min(started).min(submitted), (*last).max(finished));
        for (what, [from, to]) in [(id, [started, finished]), (job, [*first, *last])] {
            let days = (to - from) / (24 * 3_600_000);
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

    /// The trace that they make, of whose times a cluster takes that much beside the work.
    pub(super) fn trace(mut self, overhead: Overhead) -> Trace {
        let mut trace = Trace::default();
        trace.assumed.extend(self.assumed_sizes());
        let (hosts, untold) = (self.by_name(), Untold::of(self.tasks.values()));
        let tasks = std::mem::take(&mut self.tasks);
        let starts = tasks.values().flat_map(BTreeMap::values).flatten().map(|winner| winner.started);
        let began = starts.chain(self.jobs.values().filter_map(|about| about.submitted)).min().unwrap_or(0);
        for (id, tasks) in tasks {
            let about = self.jobs.remove(&id).unwrap_or_default();
            trace.jobs.extend(self.traced(id, about, &tasks, began, overhead));
        }
        let empty = self.jobs.len() as u64;
        if empty > 0 {
            self.repairs.insert("jobs without tasks: left out".into(), empty);
        }
        trace.jobs.sort_by_key(|job| job.arrives);
        trace.hosts = TracedHosts::of(hosts, &trace.jobs);
        trace.assumed.extend(untold.said(&trace.hosts, overhead));
        trace.repairs = self.repairs;
        trace
    }

    /// The names of hosts in their order, by which winners know them from now on.
    fn by_name(&mut self) -> Vec<String> {
        let hosts = std::mem::take(&mut self.hosts);
        let mut places = vec![0; hosts.len()];
        hosts.values().enumerate().for_each(|(place, number)| places[*number as usize] = place as u32);
        let winners = self.tasks.values_mut().flat_map(BTreeMap::values_mut).flatten();
        winners.filter_map(|winner| winner.host.as_mut()).for_each(|host| *host = places[*host as usize]);
        hosts.into_keys().collect()
    }

    fn assumed_sizes(&self) -> Option<String> {
        // Reduces that a job does not have need no size.
        let told = |(job, tasks): &(&String, &Tasks)| {
            let sizes = self.jobs.get(*job).map(|about| about.sizes).unwrap_or_default();
            tasks.keys().all(|(is_reduce, _)| sizes[usize::from(*is_reduce)].is_some())
        };
        match (self.tasks.iter().filter(|job| !told(job)).count(), self.tasks.len()) {
            (0, _) => None,
            (none, all) if none == all => Some("the trace tells no containers' sizes: 1 GiB and a core each".into()),
            (some, all) => {
                Some(format!("no containers' sizes are told of {some} of {all} jobs: 1 GiB and a core each"))
            }
        }
    }

    fn traced(&mut self, id: String, about: About, tasks: &Tasks, began: u64, overhead: Overhead) -> Option<TracedJob> {
        let Some(first) = tasks.values().flatten().map(|winner| winner.started).min() else {
            self.mend("jobs without any attempt that succeeded: left out");
            return None;
        };
        let mut winners = [false, true].map(|reduces| {
            let of_kind = tasks.iter().filter(|((of, _), _)| *of == reduces);
            of_kind.map(|(_, winner)| *winner).collect::<Vec<_>>()
        });
        for phase in &mut winners {
            let none = phase.iter().filter(|winner| winner.is_none()).count();
            if none < phase.len() {
                self.mend_all("tasks without an attempt that succeeded: they take their phase's median", none);
            } else {
                self.mend_all("tasks of phases in which no attempt succeeded: left out", none);
                phase.clear();
            }
        }
        let Phases { phases, short, early } = phases(&winners, about.sizes.map(|size| size.unwrap_or(SIZE)), overhead);
        self.mend_all("tasks that took less than is taken off for start and commit: no work is left", short);
        self.mend_all("reduces that end before their job's maps: what they read is not known", early);
        if about.submitted.is_some_and(|submitted| submitted > first) {
            self.mend("jobs submitted after their first attempt began: they arrive with it");
        }
        Some(TracedJob {
            name: about.name.unwrap_or(id),
            user: about.user.unwrap_or_else(|| "trace".into()),
            queue: about.queue.unwrap_or_else(|| "default".into()),
            arrives: Millis(about.submitted.unwrap_or(first).min(first) - began),
            phases,
        })
    }
}
