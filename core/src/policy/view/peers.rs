//! What a phase's ended tasks show of it.

use super::rhythm::{Patience, start_up};
use crate::estimate::FreshCopy;
use crate::estimate::input::{Typical, Whole};
use crate::estimate::phase::{PhaseTimes, Shape};
use crate::estimate::runs::{Run, Runs};
use crate::estimate::split;
use crate::estimate::stats::median;
use crate::model::{Attempt, Bytes, Job, MapsDone, Millis, NameId, Task, TaskId, TaskKind, TaskState, Time};
use serde::{Deserialize, Serialize};

/// All of a view that does not change while the tasks of its kind only progress.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Peers {
    /// Tasks of the kind that have succeeded.
    pub finished: u32,
    /// Tasks of the kind that have not begun.
    pub waiting: u32,
    /// Those that tell nothing of how long others take ([`Job::tells`]), left out of runs and medians: how many have succeeded, and how many there are.
    #[serde(default)]
    pub empty: [u32; 2],
    /// Some tasks of the kind have no input, and others have.
    #[serde(default)]
    pub empty_apart: bool,
    /// Median run time of finished tasks, each as it would be over a typical split; of those over less than a quarter of one where no other has.
    pub typical: Option<Millis>,
    /// Longest run of one, likewise, of splits at least half as long as a typical one.
    pub longest: Option<Millis>,
    /// Median of their time at work, where reports tell it from the start-up.
    pub typical_work: Option<Millis>,
    /// Median score of finished maps at their first report, 0–1; of one that ended without any, 1. `None` where no shim tells of reports as they come.
    pub typical_first: Option<f64>,
    /// Most finished tasks were too short to report any progress.
    pub ends_unreported: bool,
    /// Hosts on which several attempts have shown no progress and none has succeeded, where succeeded ones were too short to show any.
    pub silent_hosts: Vec<NameId>,
    /// Those of them that are few beside the hosts on which some succeeded; and hosts that others of the job's attempts show to be slow. Ascending, as are the former.
    pub slow_hosts: Vec<NameId>,
    /// Median length of the kind's input splits; zero where they are not known.
    pub typical_split: Bytes,
    /// Typical input of the kind's finished tasks by their counters, or while none has finished that of the job's earlier runs; `None` before any was read.
    pub typical_input: Option<Whole>,
    /// When the maps had all finished.
    #[serde(default)]
    pub maps_done: MapsDone,
    /// How long each of the phases of its tasks takes.
    pub times: PhaseTimes,
    /// How long attempts of this kind may take to their first report, where ended ones have shown it.
    pub start_up: Option<Millis>,
}

/// What a look at all tasks found, for the looks at some of them that follow it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Found {
    /// See [`Peers`].
    pub peers: Peers,
    /// A copy's time.
    pub fresh: Option<FreshCopy>,
}

/// Of finished tasks, what medians are taken of.
#[derive(Default)]
struct Shown {
    inputs: Vec<Whole>,
    firsts: Vec<f64>,
    unreported: u32,
}

impl Peers {
    /// Looks at a job's tasks of one kind; with the runs of those that have ended. Those that are silent are not looked for.
    pub fn of(job: &Job, kind: TaskKind, patience: Patience) -> (Peers, Runs) {
        let maps_done = job.maps_done();
        let total = job.totals.map_or_else(|| job.known(kind), |totals| totals[kind as usize]);
        let known = job.known(kind) as usize;
        let (mut shown, mut runs, mut begun) = (Shown::default(), Runs::default(), 0);
        let mut splits = Vec::with_capacity(known);
        runs.finished.reserve(known);
        shown.firsts.reserve(known);
        let mut peers = Peers {
            maps_done,
            times: PhaseTimes::learn(job, kind, Shape::of(job, kind), maps_done),
            start_up: start_up(job, kind, patience),
            empty_apart: job.has_empty_apart(kind),
            ..Peers::default()
        };
        let tells = job.tells(kind);
        for (id, task) in job.tasks(kind) {
            let done = task.state == TaskState::Succeeded;
            begun += u32::from(task.state >= TaskState::Running);
            peers.finished += u32::from(done);
            if !tells(task) {
                peers.empty = [peers.empty[0] + u32::from(done), peers.empty[1] + 1];
                continue;
            }
            splits.push(task.input.0 as f64);
            if done {
                shown.add(job, id, task);
                let run = run_of(id, task, maps_done, &mut runs);
                runs.finished.extend(run);
            }
        }
        peers.waiting = total.saturating_sub(begun);
        peers.typical_split = Bytes(median(&mut splits).unwrap_or(0.0) as u64);
        (peers.typical, peers.longest) = peers.times_of(&runs);
        peers.typical_work = runs.typical_work().map(Millis::from_secs_f64);
        peers.typical_first = median(&mut shown.firsts).filter(|_| kind == TaskKind::Map && job.shim);
        peers.typical_input = (!shown.inputs.is_empty()).then(|| Whole::typical(&shown.inputs));
        peers.ends_unreported = 2 * shown.unreported > peers.finished - peers.empty[0];
        (peers, runs)
    }

    /// See [`Peers::typical`] and [`Peers::longest`].
    fn times_of(&self, runs: &Runs) -> (Option<Millis>, Option<Millis>) {
        const HALF: f64 = 0.5;
        let share = |run: &Run| self.split_share(run.input);
        let whole = |run: &Run| run.at_share(share(run).unwrap_or(1.0));
        let all = runs.finished.iter().map(|run| (whole(run), run));
        let telling = split::telling(all.clone(), self.typical_split, false);
        let mut times: Vec<f64> = telling.map(|(seconds, _)| seconds).collect();
        let long = all.filter(|(_, run)| share(run).is_none_or(|share| share >= HALF));
        let longest = long.map(|(seconds, _)| seconds).max_by(f64::total_cmp);
        (median(&mut times).map(Millis::from_secs_f64), longest.map(Millis::from_secs_f64))
    }

    /// What its tasks typically have.
    pub fn typical_data(&self) -> Typical {
        Typical { split: self.typical_split, input: self.typical_input }
    }

    /// See [`split::share`].
    pub fn split_share(&self, split: Bytes) -> Option<f64> {
        split::share(split, self.typical_split)
    }
}

impl Shown {
    fn add(&mut self, job: &Job, id: TaskId, task: &Task) {
        let won = task.winner().zip(task.ended());
        let intake = won.and_then(|(number, ended)| job.intakes.whole(id.attempt(number), ended));
        self.inputs.extend(intake.map(Whole::of_finished));
        let first = task.won().map(|won| won.track.first());
        self.unreported += u32::from(first == Some(None));
        self.firsts.extend(first.map(|first| first.map_or(1.0, |(score, _)| score)));
    }
}

/// A finished task's run, where it is known. Of a reduce the first report also waits for maps, so only maps tell of their start-up.
fn run_of(id: TaskId, task: &Task, maps_done: MapsDone, runs: &mut Runs) -> Option<Run> {
    let launched = |won: &Attempt| won.started.get();
    let shown = task.won().filter(|_| id.kind == TaskKind::Map).and_then(|won| Some((launched(won)?, won)));
    let work = shown.and_then(|(at, won)| runs.add(at, &won.track, won.finished.get().or(task.ended())));
    let whole = own_time(task, id.kind, maps_done)?.as_secs_f64();
    Some(Run { index: id.index, whole, work, input: task.input })
}

/// How long a finished task's own work took: a reduce's wait for maps is not its own.
fn own_time(task: &Task, kind: TaskKind, maps_done: MapsDone) -> Option<Millis> {
    let took = task.run_time()?;
    match (kind, task.ended()) {
        (TaskKind::Reduce, Some(finished)) => {
            let launched = Time(finished.0.saturating_sub(took.0));
            let copied = task.won().and_then(Attempt::copied);
            Some(finished.since(maps_done.own_start_of_ended(launched, copied, finished)?))
        }
        _ => Some(took),
    }
}
