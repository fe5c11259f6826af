//! A glance at what has moved: of a job of which nothing but progress was told, the tasks that it was told of.
//!
//! Whether a task is ordinary hangs on its own progress and on the phase's ended tasks, under policies that judge alone; what running reduces tell of their data, too, is as the last look at all of them had it. So where those that moved were and are
//! ordinary, the others stay as they were found: a pass costs what has changed, not what is known. Time alone brings them up again when the job is due.

use super::Engine;
use super::pass::lags;
use crate::estimate::calibration::Note;
use crate::model::*;
use crate::policy::view::Found;
use crate::policy::{Judged, View};

/// What a glance comes to.
#[derive(Default)]
struct Seen {
    judged: Vec<Judged>,
    notes: Vec<(AttemptId, Note)>,
}

impl Engine {
    /// Looks at those tasks of a job of which progress was told. False, and nothing has changed, where the whole job is to be looked at.
    pub(super) fn glance(&mut self, id: JobId, now: Time) -> bool {
        let Some(seen) = self.cluster.job(id).and_then(|job| self.seen_at_a_glance(job, now)) else { return false };
        let Some(job) = self.cluster.job_mut(id) else { return false };
        for judged in &seen.judged {
            if let Some(task) = job.task_mut(judged.task) {
                task.verdict = Some(judged.verdict);
                // How its peers do, which lags rest on where nothing tells of a copy's time, is not seen at a glance.
                if judged.numbers.gain.is_some() {
                    task.marks = task.marks.lagging(lags(&judged.numbers, 0.0));
                }
            }
        }
        job.heed();
        let named = seen.judged.iter().filter_map(|judged| judged.recheck).map(|at| job.service_time(at));
        if let Some(next) = named.filter(|at| *at > now).min() {
            self.due.entry(id).and_modify(|due| *due = next.min(*due)).or_insert(next);
        }
        seen.notes.into_iter().for_each(|(attempt, note)| self.calibration.note(attempt, note));
        true
    }

    /// Keeps what a look at all of a job's tasks found, of the kinds of which any run.
    pub(super) fn keep(&mut self, id: JobId, found: Option<[Option<Found>; 2]>) {
        for (kind, found) in TaskKind::ALL.into_iter().zip(found.unwrap_or_default()) {
            match found {
                Some(found) => self.found.insert((id, kind), Box::new(found)),
                None => self.found.remove(&(id, kind)),
            };
        }
    }

    /// What is found of the tasks that moved; `None` where that does not settle them.
    fn seen_at_a_glance(&self, job: &Job, now: Time) -> Option<Seen> {
        if job.stirred || !self.params.judges_alone() {
            return None;
        }
        let (mode, am_now, mut seen) = (self.mode_of(job), job.am_time(now), Seen::default());
        for kind in TaskKind::ALL {
            let moved = job.told(kind);
            if moved.is_empty() {
                continue;
            }
            let cloned = || self.clones.of(job.id, kind).is_some_and(|plan| plan.refused.is_none());
            let calm = moved.iter().filter_map(|id| job.task(*id)).all(was_calm);
            let found = self.found.get(&(job.id, kind)).filter(|_| calm && !cloned())?;
            let params = self.view_params(JobKind::of(job).as_ref(), kind, mode);
            let view = View::of_some(job, kind, am_now, &params, found, moved.into_iter());
            let view = self.with_past(view, mode);
            seen.notes.extend(self.notes_on(&view));
            let judged = self.judge(&view, mode, now);
            // Before any task of the kind has ended, slow is what is slower than a share of those that run.
            let settled = |verdict| is_calm(verdict) && (verdict != Verdict::NotSlow || view.peers.typical.is_some());
            if !judged.iter().all(|judged| settled(judged.verdict)) {
                return None;
            }
            seen.judged.extend(judged);
        }
        Some(seen)
    }
}

/// Is that verdict one for which no other running task counts?
fn is_calm(verdict: Verdict) -> bool {
    use Verdict::{NotSlow, PolicyNone, TooFewFinished, TooYoung, WaitsForMaps};
    matches!(verdict, NotSlow | PolicyNone | TooFewFinished | TooYoung | WaitsForMaps)
}

/// Was it found so, with nothing beside it that has not ended?
fn was_calm(task: &Task) -> bool {
    task.verdict.is_none_or(is_calm) && task.unended().count() <= 1
}
