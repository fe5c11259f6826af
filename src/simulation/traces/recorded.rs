//! What traces of attempts have in common: which attempt of a task succeeded first, and what that says of its work and its luck.

use super::Trace;
use drover_core::model::{Bytes, Millis, Resources};
use drover_core::sim::{TracedJob, TracedPhase, TracedTask, TracedTasks};
use std::collections::{BTreeMap, BTreeSet};

/// What a container has that nothing is told of.
const SIZE: Resources = Resources { memory_mb: 1024, vcores: 1 };
/// Attempts of a trace: some 10 GiB of memory.
const ATTEMPTS_MAX: usize = 20_000_000;
/// What is counted of an attempt whose start is not told.
pub(super) const STARTLESS: &str = "attempts without a start: left out";

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
    pub(super) started: u64,
    /// `None`: the trace ends before it.
    pub(super) finished: Option<u64>,
    /// End of a reduce's shuffle, and of its sort.
    pub(super) stages: [Option<u64>; 2],
    pub(super) input: u64,
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

/// The attempt of a task that succeeded first.
#[derive(Debug, Clone, Copy)]
struct Winner {
    started: u64,
    finished: u64,
    stages: [Option<u64>; 2],
    input: u64,
}

/// Collects attempts, in any order.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    jobs: BTreeMap<String, About>,
    tasks: BTreeMap<String, BTreeMap<(bool, String), Option<Winner>>>,
    seen: BTreeSet<String>,
    repairs: BTreeMap<String, u64>,
}

impl Recorder {
    /// A job. Twice is a fault.
    pub(super) fn job(&mut self, id: &str, about: About) -> Result<(), String> {
        let known = self.jobs.insert(id.to_owned(), about);
        if known.is_some() { Err(format!("{id} was there before")) } else { Ok(()) }
    }

    /// What the containers of a job have, where that is told at its end.
    pub(super) fn sizes(&mut self, job: &str, sizes: [Option<Resources>; 2]) {
        if let Some(about) = self.jobs.get_mut(job) {
            about.sizes = sizes;
        }
    }

    /// A task, of which there may be no attempt.
    pub(super) fn task(&mut self, job: &str, is_reduce: bool, task: &str) {
        self.winner(job, is_reduce, task);
    }

    fn winner(&mut self, job: &str, is_reduce: bool, task: &str) -> &mut Option<Winner> {
        self.tasks.entry(job.to_owned()).or_default().entry((is_reduce, task.to_owned())).or_default()
    }

    /// An attempt. What cannot be is a fault; what is only not told is counted.
    pub(super) fn attempt(&mut self, attempt: Attempt) -> Result<(), String> {
        let Attempt { job, is_reduce, task, id, started, finished, stages, input, succeeded } = attempt;
        if !self.seen.insert(id.clone()) {
            return Err(format!("{id} was there before"));
        }
        if self.seen.len() > ATTEMPTS_MAX {
            return Err(format!("{id} is one too many: a trace has {ATTEMPTS_MAX} attempts at most"));
        }
        self.task(&job, is_reduce, &task);
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
        let stages = stages.map(|at| at.filter(|at| (started..=finished).contains(at)));
        let winner = self.winner(&job, is_reduce, &task);
        if winner.is_none_or(|known| finished < known.finished) {
            *winner = Some(Winner { started, finished, stages, input });
        }
        Ok(())
    }

    /// Something was amiss, and was mended or left out.
    pub(super) fn mend(&mut self, what: &str) {
        *self.repairs.entry(what.to_owned()).or_default() += 1;
    }

    /// The trace that they make.
    pub(super) fn trace(mut self) -> Trace {
        let mut trace = Trace::default();
        trace.assumed.extend(self.assumed_sizes());
        trace.assumed.push("a copy takes as long as another task of its phase took, drawn".into());
        let tasks = std::mem::take(&mut self.tasks);
        let starts = tasks.values().flat_map(BTreeMap::values).flatten().map(|winner| winner.started);
        let began = starts.chain(self.jobs.values().filter_map(|about| about.submitted)).min().unwrap_or(0);
        for (id, tasks) in tasks {
            let about = self.jobs.remove(&id).unwrap_or_default();
            trace.jobs.extend(self.traced(id, about, &tasks, began));
        }
        let empty = self.jobs.len() as u64;
        if empty > 0 {
            self.repairs.insert("jobs without tasks: left out".into(), empty);
        }
        trace.jobs.sort_by_key(|job| job.arrives);
        trace.repairs = self.repairs;
        trace
    }

    fn assumed_sizes(&self) -> Option<String> {
        // Reduces that a job does not have need no size.
        let told = |(job, tasks): &(&String, &BTreeMap<(bool, String), _>)| {
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

    fn traced(
        &mut self,
        id: String,
        about: About,
        tasks: &BTreeMap<(bool, String), Option<Winner>>,
        began: u64,
    ) -> Option<TracedJob> {
        let winners = |reduces| tasks.iter().filter(move |((of, _), _)| *of == reduces).map(|(_, winner)| *winner);
        let Some(first) = tasks.values().flatten().map(|winner| winner.started).min() else {
            self.mend("jobs without any attempt that succeeded: left out");
            return None;
        };
        (tasks.values().filter(|winner| winner.is_none()))
            .for_each(|_| self.mend("tasks without an attempt that succeeded: they take their phase's median"));
        let [of_maps, of_reduces] = about.sizes.map(|size| size.unwrap_or(SIZE));
        let maps_end = winners(false).flatten().map(|winner| winner.finished).max().unwrap_or(0);
        Some(TracedJob {
            name: about.name.unwrap_or(id),
            user: about.user.unwrap_or_else(|| "trace".into()),
            queue: about.queue.unwrap_or_else(|| "default".into()),
            arrives: Millis(about.submitted.unwrap_or(first).min(first) - began),
            phases: [
                TracedPhase { tasks: maps(&winners(false).collect::<Vec<_>>()), size: of_maps },
                TracedPhase { tasks: reduces(&winners(true).collect::<Vec<_>>(), maps_end), size: of_reduces },
            ],
        })
    }
}

/// The median of what winners took for something, milliseconds.
fn median(winners: &[Option<Winner>], of: impl Fn(&Winner) -> u64) -> f64 {
    let mut all: Vec<u64> = winners.iter().flatten().map(of).collect();
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or(0) as f64
}

/// What a phase's tasks take with ordinary luck, and each one's luck: its own time over the phase's median.
fn phase(winners: &[Option<Winner>], read: [f64; 2], own: impl Fn(&Winner) -> u64) -> TracedTasks {
    let work = median(winners, &own).max(1.0);
    let task = |winner: &Option<Winner>| TracedTask {
        work: [read[0], read[1], work],
        first: winner.map_or(1.0, |winner| (own(&winner) as f64 / work).max(1e-3)),
        input: Bytes(winner.map_or(0, |winner| winner.input)),
        host: None,
    };
    TracedTasks::Each(winners.iter().map(task).collect())
}

fn maps(winners: &[Option<Winner>]) -> TracedTasks {
    phase(winners, [0.0; 2], |winner| winner.finished - winner.started)
}

/// What a reduce waited for maps is no work: its reading counts from their end on.
fn reduces(winners: &[Option<Winner>], maps_end: u64) -> TracedTasks {
    let sorted = |winner: &Winner| winner.stages[1].or(winner.stages[0]);
    let reads = |winner: &Winner| winner.stages[0].map_or(0, |at| at.saturating_sub(maps_end.max(winner.started)));
    let sorts =
        |winner: &Winner| winner.stages[0].zip(winner.stages[1]).map_or(0, |(from, to)| to.saturating_sub(from));
    let own =
        |winner: &Winner| winner.finished - sorted(winner).unwrap_or(maps_end.clamp(winner.started, winner.finished));
    let read = if winners.is_empty() { [0.0; 2] } else { [median(winners, reads), median(winners, sorts)] };
    phase(winners, read, own)
}
