//! Why tasks are slow: what the phase's tasks show, for who asks and for decisions.

use super::Engine;
use crate::estimate::cause::fit::Point;
use crate::estimate::cause::{Causes, Shown};
use crate::estimate::fresh::{Run, work_began};
use crate::estimate::input::Whole;
use crate::model::*;
use crate::policy::{Contender, View};
use std::collections::BTreeMap;

/// The causes of a phase's running tasks, or of all that have begun, slow or not; none of those of which nothing can be said. One pass over them.
pub(super) fn of(view: &View<'_>, ended_too: bool) -> BTreeMap<TaskId, Cause> {
    // Each of these goes over the whole phase: asked once, not by every task that runs.
    let (told, start_up) = (view.runs.told(), view.runs.before_own().0);
    let ended = view.runs.own_runs().filter_map(|(seconds, run)| finished(view, seconds, run));
    let running = view.contenders.iter().filter(|one| !one.waits_for_maps);
    let running = running.map(|one| (one.id, running_one(view, one, told, start_up)));
    let all: Vec<(TaskId, Shown)> = ended.chain(running).collect();
    let Some(causes) = Causes::learn(&all.iter().map(|(_, shown)| *shown).collect::<Vec<_>>()) else {
        return BTreeMap::new();
    };
    let wanted = all.iter().filter(|(_, shown)| ended_too || !shown.finished);
    let each = wanted.map(|(id, shown)| (*id, shown.open, causes.of(shown)));
    each.filter(|(_, open, cause)| !open || cause.kind != CauseKind::None).map(|(id, _, cause)| (id, cause)).collect()
}

/// A finished task.
fn finished(view: &View<'_>, seconds: f64, run: &Run) -> Option<(TaskId, Shown)> {
    let id = view.job.id.task(view.kind, run.index);
    let task = view.job.task(id)?;
    let intake = || view.job.intakes.whole(id.attempt(task.winner()?), task.ended()?);
    let data = match view.typical_input {
        _ if view.typical_split.0 > 0 => run.input.0 as f64,
        Some(typical) => intake().map_or(0.0, |intake| Whole::of_finished(intake).ratio_to(typical)),
        None => 0.0,
    };
    // Not told by Hadoop's counters, nor by REST.
    let point = Point { seconds, data, crossed: None };
    let host = task.won().and_then(|won| won.host);
    let copied = task.won().and_then(|won| copied(view, won, won.second_phase.get()?));
    Some((id, Shown { point, finished: true, open: false, host, copied }))
}

/// A running task, as projected. `start_up`: seconds from launch to work, where the phase tells that apart.
fn running_one(view: &View<'_>, contender: &Contender<'_>, told: bool, start_up: f64) -> Shown {
    let sample = &contender.sample;
    let elapsed = match work_began(sample.launched, &sample.track, None).filter(|_| told) {
        Some(began) => view.now.since(began).as_secs_f64(),
        None => (contender.elapsed.as_secs_f64() - start_up).max(0.0),
    };
    let data = match contender.input {
        _ if view.typical_split.0 > 0 => contender.task.input.0 as f64,
        // In typical inputs, like those of finished tasks.
        Some(_) if view.typical_input.is_some() => view.input_ratio(contender),
        _ => 0.0,
    };
    let left = contender.left.map_or(0.0, |left| left.mean.as_secs_f64());
    let original = contender.task.original();
    Shown {
        point: Point { seconds: elapsed + left, data, crossed: None },
        finished: false,
        open: contender.left.is_none(),
        host: original.and_then(|attempt| attempt.host),
        copied: original.and_then(|attempt| copied(view, attempt, attempt.second_phase.get().unwrap_or(view.now))),
    }
}

/// How long a reduce has copied until then, seconds, its wait for maps left out.
fn copied(view: &View<'_>, attempt: &Attempt, until: Time) -> Option<f64> {
    let since = attempt.started.get()?.max(view.maps_done_at?);
    (view.kind == TaskKind::Reduce).then(|| until.since(since).as_secs_f64())
}

impl Engine {
    /// The causes of a phase's running tasks as the last pass saw them.
    pub(super) fn causes_of_running(&self, job: &Job, kind: TaskKind) -> BTreeMap<TaskId, Cause> {
        of(&self.view(job, kind, self.mode_of(job), job.am_time(self.last_pass)), false)
    }

    /// Why a job's slow tasks are slow, those that have finished included. Counted anew whenever it is asked for: one pass over the job's tasks.
    pub fn causes(&self, id: JobId) -> BTreeMap<TaskId, Cause> {
        let Some(job) = self.cluster.job(id) else { return BTreeMap::new() };
        let view = |kind| self.view(job, kind, self.mode_of(job), job.am_time(self.last_pass));
        let all = TaskKind::ALL.into_iter().flat_map(|kind| of(&view(kind), true));
        all.filter(|(_, cause)| cause.kind != CauseKind::None).collect()
    }
}
