//! Why tasks are slow: what the phase's tasks show, for who asks and for decisions.

use super::Engine;
use super::crossing::Inputs;
use crate::estimate::cause::fit::{Fit, Point};
use crate::estimate::cause::{Causes, Shown};
use crate::estimate::input::Whole;
use crate::estimate::runs::{Run, work_began};
use crate::model::*;
use crate::policy::{Contender, View};
use std::collections::BTreeMap;

/// What one phase's tasks show.
#[derive(Debug, Default)]
pub(super) struct Shows {
    /// Why each takes as long as it does; none of those of which nothing can be said.
    pub causes: BTreeMap<TaskId, Cause>,
    /// What their times were found to depend on, once any has finished.
    pub fit: Option<Fit>,
    /// Where their inputs lie.
    pub inputs: Inputs,
}

/// What is looked at: a phase, and where it runs.
struct Scene<'a> {
    cluster: &'a ClusterState,
    view: &'a View<'a>,
    inputs: Inputs,
    /// Start-up is told from work, and takes so many seconds. Each goes over the whole phase: asked once, not by every task that runs.
    told: bool,
    start_up: f64,
}

impl Scene<'_> {
    /// Of those asked about, slow or not. One pass over the phase's.
    fn shows(self, asked: &dyn Fn(TaskId, &Shown) -> bool) -> Shows {
        let view = self.view;
        let ended = view.runs.own_runs().filter_map(|(seconds, run)| self.finished(seconds, run));
        let running = view.contenders.iter().filter(|one| !one.waits_for_maps);
        let all: Vec<(TaskId, Shown)> = ended.chain(running.map(|one| (one.id, self.running(one)))).collect();
        let Some(causes) = Causes::learn(&all.iter().map(|(_, shown)| *shown).collect::<Vec<_>>()) else {
            return Shows { inputs: self.inputs, ..Shows::default() };
        };
        let each =
            all.iter().filter(|(id, shown)| asked(*id, shown)).map(|(id, shown)| (*id, shown.open, causes.of(shown)));
        let said = each.filter(|(_, open, cause)| !open || cause.kind != CauseKind::None);
        let said = said.map(|(id, _, cause)| (id, cause)).collect();
        Shows { causes: said, fit: Some(causes.into_fit()), inputs: self.inputs }
    }

    /// A finished task.
    fn finished(&self, seconds: f64, run: &Run) -> Option<(TaskId, Shown)> {
        let view = self.view;
        let id = view.job.id.task(view.kind, run.index);
        let task = view.job.task(id)?;
        let intake = || view.job.intakes.whole(id.attempt(task.winner()?), task.ended()?);
        let data = match view.peers.typical_input {
            _ if view.peers.typical_split.0 > 0 => run.input.0 as f64,
            Some(typical) => intake().map_or(0.0, |intake| Whole::of_finished(intake).ratio_to(typical)),
            None => 0.0,
        };
        let host = task.won().and_then(|won| won.host);
        let copied = task.won().and_then(|won| copied(view, won, won.copied()?));
        let point = self.point(seconds, data, task.winner().map(|number| id.attempt(number)), host);
        Some((id, Shown { point, finished: true, open: false, host, copied }))
    }

    /// A running task, as projected.
    fn running(&self, contender: &Contender<'_>) -> Shown {
        let (view, sample) = (self.view, &contender.sample);
        let elapsed = match work_began(sample.launched, &sample.track, None).filter(|_| self.told) {
            Some(began) => view.now.since(began).as_secs_f64(),
            None => (contender.elapsed.as_secs_f64() - self.start_up).max(0.0),
        };
        let data = match contender.input {
            _ if view.peers.typical_split.0 > 0 => contender.task.input.0 as f64,
            // In typical inputs, like those of finished tasks.
            Some(_) if view.peers.typical_input.is_some() => view.input_ratio(contender),
            _ => 0.0,
        };
        let left = contender.left.map_or(0.0, |left| left.mean.as_secs_f64());
        let original = contender.task.original();
        let host = original.and_then(|attempt| attempt.host);
        let attempt = original.map(|attempt| contender.id.attempt(attempt.number));
        Shown {
            point: self.point(elapsed + left, data, attempt, host),
            finished: false,
            open: contender.left.is_none(),
            host,
            copied: original.and_then(|attempt| copied(view, attempt, attempt.copied().unwrap_or(view.now))),
        }
    }

    fn point(&self, seconds: f64, data: f64, attempt: Option<AttemptId>, host: Option<NameId>) -> Point {
        let share = attempt.and_then(|attempt| self.inputs.crossed(self.cluster, self.view.job, attempt, host));
        Point { seconds, data, crossed: share.map(|share| share * data) }
    }
}

/// How long a reduce has copied until then, seconds, its wait for maps left out.
fn copied(view: &View<'_>, attempt: &Attempt, until: Time) -> Option<f64> {
    if view.kind == TaskKind::Map || view.peers.maps_done.at.is_none() {
        return None;
    }
    let since = view.peers.maps_done.own_start(attempt.started.get()?, attempt.copied())?;
    Some(until.since(since).as_secs_f64())
}

impl Engine {
    /// What a phase's running tasks show of why they take as long as they do.
    pub(super) fn shown_by_running(&self, view: &View<'_>) -> Shows {
        self.shows(view, &|_, shown| !shown.finished)
    }

    /// What a phase's tasks show of why some do.
    pub(super) fn shows(&self, view: &View<'_>, asked: &dyn Fn(TaskId, &Shown) -> bool) -> Shows {
        let inputs = Inputs::of(&self.cluster, view.job, view.kind);
        let (told, start_up) = (view.runs.told(), view.runs.before_own().0);
        Scene { cluster: &self.cluster, view, inputs, told, start_up }.shows(asked)
    }

    /// Why a job's slow tasks are slow, those that have finished included. Counted anew whenever it is asked for: one pass over the job's tasks.
    pub fn causes(&self, id: JobId) -> BTreeMap<TaskId, Cause> {
        let Some(job) = self.cluster.job(id) else { return BTreeMap::new() };
        let view = |kind| self.view(job, kind, self.mode_of(job), job.am_time(self.last_pass));
        let all = TaskKind::ALL.into_iter().flat_map(|kind| self.shows(&view(kind), &|_, _| true).causes);
        all.filter(|(_, cause)| cause.kind != CauseKind::None).collect()
    }
}
