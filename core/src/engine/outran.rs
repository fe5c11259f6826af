//! What originals were heading for as clones outran them: when a clone is asked for nobody knows how long its task would take.

use super::Engine;
use crate::estimate::sample::Sample;
use crate::model::*;
use crate::policy::View;
use std::cell::OnceCell;

impl Engine {
    /// Of each of a job's copies that have ended, the end of the original that it outran; only of clones that won.
    pub(super) fn outran(&self, id: JobId, ends: &[CopyOutcome]) -> Vec<Option<PredictedEnd>> {
        let views: [OnceCell<View<'_>>; 2] = Default::default();
        let of = |end: &CopyOutcome| {
            let job = self.cluster.job(id).filter(|_| end.clones && end.end == CopyEnd::Won)?;
            let kind = end.task.kind;
            let estimated =
                || View::of_tasks(job, kind, end.at, &self.params_of(job, JobKind::of(job).as_ref(), kind, Mode::Act));
            self.heading(views[kind as usize].get_or_init(estimated), end)
        };
        ends.iter().map(of).collect()
    }

    /// The end that the original of such a clone's task was heading for as the clone won; `None` where it had told nothing of its progress, or had been gone by then.
    fn heading(&self, view: &View<'_>, end: &CopyOutcome) -> Option<PredictedEnd> {
        let task = view.job.task(end.task)?;
        let others =
            task.attempts.iter().filter(|one| Some(one.number) != end.winner && !end.attempts.contains(&one.number));
        let original =
            others.filter(|one| one.was_launched() && !one.ended_before(end.at)).min_by_key(|one| one.number)?;
        let sample = view.sample(end.task, task, Some(original), original.track)?;
        // Killed then, it has been silent since.
        let sample = Sample { heard: sample.heard.min(end.at), ..sample };
        let left = view.estimator.time_left(&sample, view.shape, &view.peers.times, view.spreads, end.at)?;
        Some(PredictedEnd { at: end.at + left.mean, spread: left.spread })
    }
}
