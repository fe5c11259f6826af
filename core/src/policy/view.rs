//! What a policy sees: one job's tasks of one kind, at one instant of the AM's clock.

mod peers;
mod rhythm;

use super::{Contender, slow_hosts};
use crate::estimate::calibration::Spreads;
use crate::estimate::fresh::Beside;
use crate::estimate::phase::{PhaseTimes, Shape};
use crate::estimate::prior::Prior;
use crate::estimate::runs::{Run, Runs, SHARE_MIN, work_began};
use crate::estimate::sample::Reading;
use crate::estimate::split;
use crate::estimate::time_left::late_rate;
use crate::estimate::{Estimator, FreshCopy, Sample};
use crate::model::{
    Attempt, ClonePlan, Job, Millis, NameId, Resources, Task, TaskId, TaskKind, TaskState, Time, Track, Verdict,
};
pub use peers::{Found, Peers};
pub use rhythm::Patience;
use rhythm::rhythm;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

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
    /// What the tasks that have ended show.
    pub peers: Peers,
    /// A copy's time, once any task has finished, in this run of the job or in an earlier one.
    pub fresh: Option<FreshCopy>,
    /// Mean progress score of all running and finished tasks, 0–1.
    pub mean_score: f64,
    /// The phases its tasks go through.
    pub shape: Shape,
    /// How long the kind's finished tasks took, and its attempts to begin.
    pub runs: Runs,
    /// From a decision to a copy's launch.
    pub start_lag: Millis,
    /// How long what was not reported may only be late.
    pub patience: Patience,
    /// Tasks copied by Hadoop's own speculator are judged like others: in advice nothing is launched twice.
    pub judge_native_copies: bool,
    /// Copies are kept off hosts where the job's tasks run for longer than this many typical runs; 0 has none be slow.
    pub slow_factor: f64,
    /// Estimate of time left.
    pub estimator: Estimator,
    /// How far that lies from what happens.
    pub spreads: Spreads,
    /// How far Mantri's t_rem does, which its policies go by whatever estimator is set.
    pub t_rem_spreads: Spreads,
    /// What was decided on before.
    pub past: Past,
    /// What was settled about clones of its tasks, once it was.
    pub plan: Option<ClonePlan>,
    /// Those of its tasks' machines that are blacklisted.
    pub listed: BTreeSet<NameId>,
    /// What containers of its maps and reduces take, as YARN rounds what the job asks for; what it asks for where nothing else is known.
    pub containers: [Resources; 2],
    /// An attempt of these tasks may be killed now so that its task starts anew, by Drover or by whoever is advised to.
    pub can_restart: bool,
    /// How long such tasks took in earlier runs of the job.
    pub prior: Option<&'a Prior>,
    /// locationFactor (Mantri §5.5, eq. 3) of the machine that a copy would get: how many times longer than typical its tasks take for their data.
    pub location: f64,
    /// See [`View::slow_hosts`].
    pub slow_hosts: OnceCell<Vec<NameId>>,
}

/// The copies of a job that were decided on so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Past {
    /// When the last one was, of maps and reduces, the AM's clock.
    pub last: Option<Time>,
    /// Tasks that may have no other now for what became of theirs.
    pub barred: BTreeMap<TaskId, Verdict>,
    /// How often tasks were restarted by decision, where they were; where they must not be any more, as often as can be.
    pub restarts: BTreeMap<TaskId, u32>,
    /// A task may have another copy while one is in flight.
    pub joins: bool,
}

impl Past {
    /// How often that task was restarted by decision.
    pub fn restarts_of(&self, task: TaskId) -> u32 {
        self.restarts.get(&task).copied().unwrap_or(0)
    }

    /// Has it a copy in flight, or was it told to have one, and may have no other for now whatever is found of it?
    pub fn holds(&self, task: TaskId) -> bool {
        let bar = self.barred.get(&task);
        !self.joins && matches!(bar, Some(Verdict::CopyInFlight | Verdict::AlreadyAdvised))
    }
}

/// What does not depend on the job: how estimates are made.
#[derive(Debug, Clone, Copy)]
pub struct ViewParams {
    /// Estimate of time left.
    pub estimator: Estimator,
    /// See [`View::spreads`].
    pub spreads: Spreads,
    /// See [`View::t_rem_spreads`].
    pub t_rem_spreads: Spreads,
    /// From a decision to the copy's launch.
    pub start_lag: Millis,
    /// How long what was not reported may only be late.
    pub patience: Patience,
    /// See [`View::judge_native_copies`].
    pub judge_native_copies: bool,
    /// See [`View::slow_factor`].
    pub slow_factor: f64,
    /// How long each phase of such tasks took in earlier runs of the job, where its own have not shown it.
    pub earlier: PhaseTimes,
}

impl<'a> View<'a> {
    /// Before it has looked at a task that runs.
    fn blank(job: &'a Job, kind: TaskKind, now: Time, params: &ViewParams, peers: Peers) -> View<'a> {
        let asked = |kind| job.settings.as_ref().map_or_else(Resources::default, |settings| settings.container(kind));
        View {
            job,
            kind,
            now,
            contenders: Vec::new(),
            total: job.totals.map_or_else(|| job.known(kind), |totals| totals[kind as usize]),
            peers,
            fresh: None,
            mean_score: 0.0,
            shape: Shape::of(job, kind),
            runs: Runs::default(),
            start_lag: params.start_lag,
            patience: params.patience,
            judge_native_copies: params.judge_native_copies,
            slow_factor: params.slow_factor,
            estimator: params.estimator,
            spreads: params.spreads,
            t_rem_spreads: params.t_rem_spreads,
            past: Past::default(),
            plan: None,
            listed: BTreeSet::new(),
            containers: TaskKind::ALL.map(asked),
            can_restart: true,
            prior: None,
            location: 1.0,
            slow_hosts: OnceCell::new(),
        }
    }

    /// See [`slow_hosts::of`]; looked for once, when they are first asked for.
    pub fn slow_hosts(&self) -> &[NameId] {
        self.slow_hosts.get_or_init(|| slow_hosts::of(self))
    }

    /// Looks at a job's tasks of one kind, as if no copy had ever been decided on, and nothing but them were known. One pass over them.
    pub fn new(job: &'a Job, kind: TaskKind, now: Time, params: &ViewParams) -> View<'a> {
        View::of_tasks(job, kind, now, params).beside(None, 1.0)
    }

    /// With what is known beside its tasks: earlier runs of the job, and the machine that a copy would get. A copy's time rests on these, too.
    pub fn beside(self, prior: Option<&'a Prior>, location: f64) -> View<'a> {
        let mut peers = self.peers;
        // What has finished tells what is typical of this run. Before, its tasks' data are set against those of the tasks on whose times a copy's rests, or, in a run with
        // more, as its shim tells it, against each other: else those of which it is known would seem quick beside the others.
        if self.runs.finished.is_empty() && peers.typical_split.0 == 0 {
            let own = || Contender::typical_input(&self.contenders).filter(|_| self.job.shim);
            let more = |input| own().filter(|own| own.ratio_to(input) > 1.0).unwrap_or(input);
            peers.typical_input = peers.typical_input.or_else(|| prior?.input().map(more));
        }
        let (told, data) = (self.kind == TaskKind::Map, peers.typical_data());
        let known = Beside { location, earlier: prior, told, data };
        View { fresh: FreshCopy::beside(&self.runs, self.start_lag, &known), peers, prior, location, ..self }
    }

    /// Of those tasks alone, in order of index, with what an earlier look at all of them found: no run of another is known, and no rate.
    pub fn of_some(
        job: &'a Job,
        kind: TaskKind,
        now: Time,
        params: &ViewParams,
        found: &Found,
        tasks: impl Iterator<Item = TaskId>,
    ) -> View<'a> {
        let mut view = View { fresh: found.fresh, ..View::blank(job, kind, now, params, found.peers.clone()) };
        let contenders = tasks.filter_map(|id| Contender::new(&view, id, job.task(id)?)).collect();
        view.contenders = contenders;
        view
    }

    /// Of its tasks alone, a copy's time left open.
    pub fn of_tasks(job: &'a Job, kind: TaskKind, now: Time, params: &ViewParams) -> View<'a> {
        let (mut peers, runs) = Peers::of(job, kind, params.patience);
        peers.times = peers.times.or(params.earlier);
        let mut view = View { runs, ..View::blank(job, kind, now, params, peers) };
        let known = job.known(kind) as usize;
        view.contenders.reserve_exact(known - view.peers.finished as usize);
        let mut scores = f64::from(view.peers.finished);
        for (id, task) in job.tasks(kind).filter(|(_, task)| task.state != TaskState::Succeeded) {
            if let Some(contender) = Contender::new(&view, id, task) {
                scores += contender.sample.track.score();
                if kind == TaskKind::Map {
                    view.runs.add(contender.sample.launched, &contender.sample.track, None);
                }
                view.contenders.push(contender);
            }
        }
        view.mean_score = scores / f64::from(view.peers.finished + view.contenders.len() as u32).max(1.0);
        if view.runs.told() {
            let launches = job.tasks(kind).flat_map(|(_, task)| &task.attempts);
            view.runs.count_crowds(launches.filter_map(|attempt| attempt.started.get()));
        }
        view.look_for_hosts_of_silent();
        view
    }

    /// What it found, for looks at some of its tasks.
    pub fn found(&self) -> Found {
        Found { peers: self.peers.clone(), fresh: self.fresh }
    }

    /// Fills [`Peers::silent_hosts`] and [`Peers::slow_hosts`]: in no paper, as the factor is in none.
    fn look_for_hosts_of_silent(&mut self) {
        let mut silent = self.contenders.iter().filter(|contender| contender.sample.track.first().is_none());
        if self.peers.ends_unreported && self.slow_factor > 0.0 && silent.next().is_some() {
            let (silent, few) = slow_hosts::silent(self);
            self.peers.slow_hosts = slow_hosts::of(self);
            self.peers.slow_hosts.extend(silent.iter().filter(|_| few));
            self.peers.slow_hosts.sort_unstable();
            self.peers.silent_hosts = silent;
        }
    }

    /// Do tasks of the job wait for slots (Mantri §5.1, Pseudocode 1, line 5) that an attempt of this kind holds: of this kind those that have not begun, of the other those
    /// whose containers it asks for and that fit? On Hadoop maps and reduces have one pool, but not one size: what is too large for this slot waits for another, and to
    /// leave it free for that helps nobody. Reduces ask from slow start on; beside maps that have all begun they ask in vain only where there is no room for a copy either.
    pub fn tasks_wait(&self) -> bool {
        let other = self.kind.other();
        let size = |kind: TaskKind| self.containers[kind as usize].memory_mb;
        self.peers.waiting > 0 || (self.job.needs[other as usize] > 0 && size(other) <= size(self.kind))
    }

    /// What its finished tasks add to the prior of later runs.
    pub fn as_prior(&self) -> Option<Prior> {
        let times = self.paces().map(|(_, time)| time).collect();
        let prior = Prior::new(times, self.peers.typical_split, self.runs.before_own().0)?;
        Some(prior.with_phases(self.peers.times).with_input(self.peers.typical_input))
    }

    /// The finished tasks, each with its time for the phase's typical split, seconds; where others are longer without those whose split is too short to tell.
    pub fn paces(&self) -> impl Iterator<Item = (&Run, f64)> {
        let own = split::telling(self.runs.own_runs(), self.peers.typical_split, self.runs.told());
        own.map(|(seconds, run)| {
            (run, seconds / self.peers.split_share(run.input).map_or(1.0, |share| share.max(SHARE_MIN)))
        })
    }

    /// Does a task tell how long others take? See [`Job::tells`].
    pub fn tells(&self, task: &Task) -> bool {
        !(self.peers.empty_apart && task.is_empty() || task.marks.skewed())
    }

    /// Of the tasks that do how many have finished, and how many there are in all.
    pub fn telling(&self) -> (u32, u32) {
        let [finished, all] = self.peers.empty;
        (self.peers.finished.saturating_sub(finished), self.total.saturating_sub(all))
    }

    /// Progress rates of all running and finished tasks that tell how long others take, score per second.
    pub fn rates(&self) -> Vec<f64> {
        let finished = self.run_times().map(|whole| late_rate(1.0, Millis::from_secs_f64(whole)));
        let running = self.contenders.iter().filter(|contender| self.tells(contender.task));
        finished.chain(running.map(Contender::rate)).collect()
    }

    /// Run times of finished tasks, seconds.
    pub fn run_times(&self) -> impl Iterator<Item = f64> {
        self.runs.finished.iter().map(|run| run.whole)
    }

    /// How much more input than typical a task has: by the lengths of splits, else by counters. 1 where inputs are not known, and for less than typical.
    /// Mantri (§4.2) likewise asks of an outlier whether its data explain it.
    pub fn input_ratio(&self, contender: &Contender<'_>) -> f64 {
        // What is projected from a score older than its counters is that much too large: less than this says nothing.
        const NOISE: f64 = 1.5;
        match contender.input.zip(self.peers.typical_input) {
            Some((input, typical)) if self.peers.typical_split.0 == 0 => {
                Some(input.ratio_to(typical)).filter(|ratio| *ratio >= NOISE).unwrap_or(1.0)
            }
            _ => self.split_ratio(contender.task),
        }
    }

    /// The same by the lengths of splits alone, which ended tasks have, too.
    pub fn split_ratio(&self, task: &Task) -> f64 {
        self.peers.split_share(task.input).map_or(1.0, |share| share.max(1.0))
    }

    /// Neither its split nor its counters have told of its input yet. Where a shim speaks for the job nothing more will come.
    pub fn input_unknown(&self, contender: &Contender<'_>) -> bool {
        let told = self.peers.typical_split.0 > 0 || (contender.input.is_some() && self.peers.typical_input.is_some());
        !told && !self.job.shim
    }

    /// When the time of an attempt launched then began to be its own: a reduce's wait for maps is not. See [`MapsDone::own_start`].
    pub fn own_start(&self, launched: Time, copied: Option<Time>) -> Option<Time> {
        match self.kind {
            TaskKind::Map => Some(launched),
            TaskKind::Reduce => self.peers.maps_done.own_start(launched, copied),
        }
    }

    /// May its attempts wait on their nodes, in opportunistic containers? Hadoop tells of no attempt whether it does: to the AM it was launched when its node took it.
    pub fn may_be_queued(&self) -> bool {
        self.kind == TaskKind::Map && self.job.settings.as_ref().is_some_and(|settings| settings.opportunistic_maps > 0)
    }

    /// Since when an attempt that may have waited on its node works at the latest: before it has reported it may wait still.
    fn left_queue(&self, launched: Time, track: &Track) -> Time {
        let reported = || track.first().map(|(_, at)| at.max(launched));
        work_began(launched, track, None).or_else(reported).unwrap_or(launched.max(self.now))
    }

    /// The same of one that has ended.
    pub fn own_start_of_ended(&self, launched: Time, copied: Option<Time>, ended: Time) -> Option<Time> {
        match self.kind {
            TaskKind::Map => Some(launched),
            TaskKind::Reduce => self.peers.maps_done.own_start_of_ended(launched, copied, ended),
        }
    }

    /// What the estimate of an attempt is made from; of a task of which no attempt is known, that of the task. `None` before its launch.
    pub fn sample(&self, id: TaskId, task: &Task, attempt: Option<&Attempt>, track: Track) -> Option<Sample> {
        let launched = attempt.map_or(task.started, |attempt| attempt.started).get()?;
        let copied = attempt.and_then(Attempt::copied);
        // It had copied before any end of the maps that was seen: before they ran again, or by its node's clock, which is behind and makes it no slower.
        let waited = || self.peers.maps_done.newest();
        let started = match self.may_be_queued() {
            true => self.left_queue(launched, &track),
            false => self.own_start(launched, copied).or_else(waited).map_or(launched, |own| own.max(launched)),
        };
        let phase = attempt.and_then(|attempt| attempt.phase).or(task.phase);
        // Nor can a reduce have copied what the maps had not written.
        let since = |at: Option<Time>| at.map(|at| at.max(started));
        let entered = attempt.map_or([None; 2], |a| [a.copied(), a.sorted()].map(since));
        let heard = self.job.am_time(self.job.heard);
        let read = attempt.filter(|_| task.input.0 > 0);
        let reading = read.and_then(|one| Reading::of(task.input, self.job.intakes.recent(id.attempt(one.number))));
        let rhythm = rhythm(self.job, self.peers.start_up, self.patience, &track);
        Some(Sample { launched, started, track, phase, entered, heard, rhythm, reading })
    }
}

#[cfg(test)]
mod tests;
