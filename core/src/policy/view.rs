//! What a policy sees: one job's tasks of one kind, at one instant of the AM's clock.

use super::Judged;
use crate::estimate::fresh::Runs;
use crate::estimate::input::Whole;
use crate::estimate::phase::{PhaseTimes, Shape};
use crate::estimate::stats::{median, probability_positive, quantile};
use crate::estimate::time_left::late_rate;
use crate::estimate::{Estimator, FreshCopy, Left, Sample};
use crate::model::{
    Attempt, AttemptState, Bytes, Job, Millis, Numbers, Task, TaskId, TaskKind, TaskState, Time, Track, Verdict,
};
use std::collections::BTreeMap;

/// The view.
#[derive(Debug)]
pub struct View<'a> {
    /// The job.
    pub job: &'a Job,
    /// Maps or reduces.
    pub kind: TaskKind,
    /// The AM's clock.
    pub now: Time,
    /// Tasks that run, in order of index.
    pub contenders: Vec<Contender<'a>>,
    /// Tasks of the kind in all.
    pub total: u32,
    /// Tasks of the kind that have succeeded.
    pub finished: u32,
    /// A copy's time, once any task has finished.
    pub fresh: Option<FreshCopy>,
    /// Median run time of finished tasks.
    pub typical: Option<Millis>,
    /// Median length of the kind's input splits; zero where they are not known.
    pub typical_split: Bytes,
    /// Typical input of the kind's finished tasks by their counters; `None` before any was read.
    pub typical_input: Option<Whole>,
    /// Progress rates of all running and finished tasks, score per second.
    pub rates: Vec<f64>,
    /// Mean progress score of all running and finished tasks, 0–1.
    pub mean_score: f64,
    /// Every map has finished.
    pub maps_done: bool,
    /// How long attempts of this kind may take to their first report, where ended ones have shown it.
    pub start_up: Option<Millis>,
    /// Run times of finished tasks, seconds.
    pub run_times: Vec<f64>,
    /// Longest of them.
    pub longest: Option<Millis>,
    /// Tasks copied by Hadoop's own speculator are judged like others: in advice nothing is launched twice.
    pub judge_native_copies: bool,
    /// Estimate of time left.
    pub estimator: Estimator,
    /// What was decided on before.
    pub past: Past,
}

/// The copies of a job that were decided on so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Past {
    /// When the last one was, of maps and reduces, the AM's clock.
    pub last: Option<Time>,
    /// Tasks that may have no other now for what became of theirs.
    pub barred: BTreeMap<TaskId, Verdict>,
}

/// A task that runs, judged by the oldest of its attempts.
#[derive(Debug)]
pub struct Contender<'a> {
    /// Its id.
    pub id: TaskId,
    /// The task.
    pub task: &'a Task,
    /// What its estimate is made from.
    pub sample: Sample,
    /// How long it has run.
    pub elapsed: Millis,
    /// Estimated time left; `None` while there is no progress.
    pub left: Option<Left>,
    /// Its whole input as its counters let expect it; `None` before they were read.
    pub input: Option<Whole>,
    /// A reduce that can only wait: it copies, and maps are still running.
    pub waits_for_maps: bool,
}

/// What does not depend on the job: how estimates are made.
#[derive(Debug, Clone, Copy)]
pub struct ViewParams {
    /// Estimate of time left.
    pub estimator: Estimator,
    /// From a decision to the copy's launch.
    pub start_lag: Millis,
    /// See [`View::judge_native_copies`].
    pub judge_native_copies: bool,
}

impl<'a> View<'a> {
    /// Looks at a job's tasks of one kind, as if no copy had ever been decided on. One pass over them.
    pub fn new(job: &'a Job, kind: TaskKind, now: Time, params: &ViewParams) -> View<'a> {
        let maps_done_at = maps_done_at(job);
        let shape = Shape::of(job, kind);
        let times = PhaseTimes::learn(job, kind, shape, maps_done_at);
        let mut view = View {
            job,
            kind,
            now,
            contenders: Vec::with_capacity(job.known(kind) as usize),
            total: job.totals.map_or_else(|| job.known(kind), |totals| totals[kind as usize]),
            finished: 0,
            fresh: None,
            typical: None,
            typical_split: Bytes(0),
            typical_input: None,
            rates: Vec::with_capacity(job.known(kind) as usize),
            mean_score: 0.0,
            maps_done: maps_done_at.is_some(),
            start_up: start_up(job, kind),
            run_times: Vec::new(),
            longest: None,
            judge_native_copies: params.judge_native_copies,
            estimator: params.estimator,
            past: Past::default(),
        };
        let (mut runs, mut splits, mut inputs, mut scores) = (Runs::default(), Vec::new(), Vec::new(), 0.0);
        for (id, task) in job.tasks(kind) {
            splits.push(task.input.0 as f64);
            if task.state == TaskState::Succeeded {
                view.finished += 1;
                scores += 1.0;
                let won = task.winner().zip(task.ended());
                let intake = won.and_then(|(number, ended)| job.intakes.whole(id.attempt(number), ended));
                inputs.extend(intake.map(Whole::of_finished));
                if let Some(took) = own_time(task, kind, maps_done_at) {
                    runs.whole.push(took.as_secs_f64());
                    view.rates.push(late_rate(1.0, took));
                }
                if let Some((launched, winner)) = task.won().and_then(|won| Some((won.started.get()?, won))) {
                    add_map(&mut runs, kind, launched, &winner.track, winner.finished.get().or(task.ended()));
                }
            } else if let Some(contender) = Contender::new(&view, id, task, maps_done_at, params, shape, &times) {
                scores += contender.sample.track.score();
                view.rates.push(contender.rate());
                add_map(&mut runs, kind, contender.sample.started, &contender.sample.track, None);
                view.contenders.push(contender);
            }
        }
        view.mean_score = scores / f64::from(view.finished + view.contenders.len() as u32).max(1.0);
        view.longest = runs.whole.iter().copied().max_by(f64::total_cmp).map(Millis::from_secs_f64);
        view.typical = median(&mut runs.whole).map(Millis::from_secs_f64);
        view.fresh = FreshCopy::learn(&mut runs, params.start_lag);
        view.run_times = runs.whole;
        view.typical_split = Bytes(median(&mut splits).unwrap_or(0.0) as u64);
        view.typical_input = (!inputs.is_empty()).then(|| Whole::typical(&inputs));
        view
    }

    /// How much more input than typical a task has: by the lengths of splits, else by counters. 1 where inputs are not known, and for less than typical.
    /// Mantri (§4) likewise sets a task's time against its data before it calls the task an outlier.
    pub fn input_ratio(&self, contender: &Contender<'_>) -> f64 {
        // What is projected from a score older than its counters is that much too large: less than this says nothing.
        const NOISE: f64 = 1.5;
        match contender.input.zip(self.typical_input) {
            Some((input, typical)) if self.typical_split.0 == 0 => {
                Some(input.ratio_to(typical)).filter(|ratio| *ratio >= NOISE).unwrap_or(1.0)
            }
            _ => self.split_ratio(contender.task),
        }
    }

    /// The same by the lengths of splits alone, which ended tasks have, too.
    pub fn split_ratio(&self, task: &Task) -> f64 {
        let typical = self.typical_split.0;
        if typical == 0 { 1.0 } else { (task.input.0 as f64 / typical as f64).max(1.0) }
    }

    /// Neither its split nor its counters have told of its input yet. Where a shim speaks for the job nothing more will come.
    pub fn input_unknown(&self, contender: &Contender<'_>) -> bool {
        let told = self.typical_split.0 > 0 || (contender.input.is_some() && self.typical_input.is_some());
        !told && !self.job.shim
    }
}

impl<'a> Contender<'a> {
    fn new(
        view: &View<'a>,
        id: TaskId,
        task: &'a Task,
        maps_done_at: Option<Time>,
        params: &ViewParams,
        shape: Shape,
        times: &PhaseTimes,
    ) -> Option<Contender<'a>> {
        if task.state != TaskState::Running {
            return None;
        }
        let original = task.original();
        // Every known attempt has ended and none has taken over yet: there is nothing to judge.
        if original.is_none() && !task.attempts.is_empty() {
            return None;
        }
        let launched = original.map_or(task.started, |attempt| attempt.started).get()?;
        let started = match (id.kind, maps_done_at) {
            (TaskKind::Reduce, Some(done)) => launched.max(done),
            _ => launched,
        };
        let track = task.progress();
        let phase = original.and_then(|attempt| attempt.phase).or(task.phase);
        let entered = original.map_or([None; 2], |a| [a.second_phase.get(), a.third_phase.get()]);
        let heard = view.job.am_time(view.job.heard);
        let sample = Sample { launched, started, track, phase, entered, heard, rhythm: rhythm(view, &track) };
        let copying = shape.current(phase, track.score()) == 0;
        Some(Contender {
            id,
            task,
            sample,
            elapsed: view.now.since(started),
            left: params.estimator.time_left(&sample, shape, times, view.now),
            input: original
                .and_then(|attempt| view.job.intakes.of(id.attempt(attempt.number)))
                .and_then(|intake| Whole::projected(intake, id.kind, shape, &track)),
            waits_for_maps: id.kind == TaskKind::Reduce && copying && !view.maps_done,
        })
    }

    /// LATE §4: its progress rate, score per second.
    pub fn rate(&self) -> f64 {
        late_rate(self.sample.track.score(), self.elapsed)
    }

    /// A verdict with all numbers that are known.
    pub fn judged(&self, view: &View<'_>, verdict: Verdict) -> Judged {
        let fresh = view.fresh.map(|fresh| fresh.scaled(view.input_ratio(self)));
        let gain = self.left.zip(fresh).map(|(left, fresh)| left.mean.0 as f64 - fresh.mean.0 as f64);
        let spread = self.left.zip(fresh).map(|(left, fresh)| (left.spread.0 as f64).hypot(fresh.spread.0 as f64));
        let numbers = Numbers {
            score: self.sample.track.score(),
            elapsed: self.elapsed,
            silent: view.now.since(self.sample.track.at().unwrap_or(self.sample.started)),
            rate: self.rate(),
            slow_below: None,
            time_left: self.left.map(|left| left.mean),
            time_left_spread: self.left.map(|left| left.spread),
            fresh_copy: fresh.map(|fresh| fresh.mean),
            fresh_copy_spread: fresh.map(|fresh| fresh.spread),
            win_probability: gain.zip(spread).map(|(gain, spread)| probability_positive(gain, spread)),
            gain: gain.map(|gain| Millis(gain.max(0.0) as u64)),
            cost_container_seconds: fresh.map(|fresh| fresh.mean.as_secs_f64()),
            budget: None,
        };
        Judged { task: self.id, verdict, numbers, rank: 0.0, recheck: None, early: false }
    }

    /// Has it run for twice as long as the longest run of any finished task of its kind, each against its data, where finished ones were too short to report at
    /// all? Then its age alone tells, and no report needs waiting for: healthy attempts end without one.
    pub fn outlasts(&self, view: &View<'_>) -> bool {
        const JITTER: Millis = Millis(2_000);
        let (None, Some(longest)) = (view.start_up, view.longest) else { return false };
        self.elapsed > longest.scaled(2.0 * view.input_ratio(self)) + JITTER
    }

    /// Why it cannot have a copy at all, whatever its progress.
    pub fn barred(&self, view: &View<'_>) -> Option<Verdict> {
        if self.task.live().any(|attempt| attempt.state == AttemptState::CommitPending) {
            return Some(Verdict::Committing);
        }
        (!view.judge_native_copies && self.task.unended().count() > 1).then_some(Verdict::AlreadyCopied)
    }
}

/// Adds what an attempt shows of start-up and work, if it is a map: of a reduce the first report also waits for maps.
fn add_map(runs: &mut Runs, kind: TaskKind, launched: Time, track: &Track, finished: Option<Time>) {
    if kind == TaskKind::Map {
        runs.add(launched, track, finished);
    }
}

/// When the last map finished; `None` while any has not.
fn maps_done_at(job: &Job) -> Option<Time> {
    let [maps, _] = job.totals?;
    let mut last = job.started.get().unwrap_or_default();
    let mut finished = 0;
    for (_, task) in job.tasks(TaskKind::Map).filter(|(_, task)| task.state == TaskState::Succeeded) {
        finished += 1;
        last = last.max(task.ended().unwrap_or_default());
    }
    (finished >= maps).then_some(last)
}

/// How long a finished task's own work took: a reduce's wait for maps is not its own.
fn own_time(task: &Task, kind: TaskKind, maps_done_at: Option<Time>) -> Option<Millis> {
    let took = task.run_time()?;
    match (kind, maps_done_at, task.ended()) {
        (TaskKind::Reduce, Some(done), Some(finished)) => Some(took.min(finished.since(done))),
        _ => Some(took),
    }
}

/// A report's way through the AM.
const WAY: Millis = Millis(1_000);

/// What the start of a JVM takes at most where the machines are at rest.
const START_UP: Millis = Millis(10_000);

/// Twice what nine of ten attempts took to their first report, and at least ten seconds: where many JVMs start at once, or a machine is busy, the first report of a
/// healthy attempt is late, too.
fn start_up(job: &Job, kind: TaskKind) -> Option<Millis> {
    let first = |attempt: &Attempt| {
        let (_, at) = attempt.track.first()?;
        Some(at.since(attempt.started.get()?).as_secs_f64())
    };
    let ended = job.tasks(kind).filter(|(_, task)| task.state == TaskState::Succeeded);
    let mut lags: Vec<f64> = ended.filter_map(|(_, task)| task.won().and_then(first)).collect();
    quantile(&mut lags, 0.9).map(|usual| Millis::from_secs_f64(2.0 * usual).max(START_UP))
}

/// How long an attempt may be silent before that means anything: twice the interval at which it reports, and a second for its way through the AM.
/// Hadoop sends a ping instead of a report while there is no progress, so one missing report is ordinary; before the first report the JVM starts as well.
fn rhythm(view: &View<'_>, track: &crate::model::Track) -> Millis {
    let interval = view
        .job
        .settings
        .as_ref()
        .map_or_else(|| crate::model::JobSettings::default().report_interval, |s| s.report_interval);
    let usual = interval + interval + WAY;
    if track.first().is_some() { usual } else { usual + view.start_up.unwrap_or(START_UP) }
}
