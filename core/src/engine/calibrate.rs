//! What every estimator says of sampled tasks is noted, to be set against what happens.

use super::Engine;
use crate::estimate::Estimator;
use crate::estimate::calibration::{Calibration, Note, Point, Spreads, Watched};
use crate::model::*;
use crate::policy::{PolicyName, View};
use std::cell::OnceCell;

impl Engine {
    /// How good the estimators have proved to be.
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// The estimator in force for a job's tasks of one kind. Hadoop's own speculators keep theirs: they are there to compare with.
    pub fn estimator_for(&self, job: &Job, kind: TaskKind) -> Estimator {
        self.estimator_of(JobKind::of(job).as_ref(), kind)
    }

    pub(super) fn estimator_of(&self, of: Option<&JobKind>, kind: TaskKind) -> Estimator {
        let configured = self.params.estimator;
        let fixed = matches!(self.params.policy, PolicyName::Hadoop | PolicyName::HadoopTuned);
        if !self.params.choose_estimator || fixed {
            return configured;
        }
        of.and_then(|of| self.calibration.best(of, kind, configured)).unwrap_or(configured)
    }

    /// How far an estimator's predictions lie from what happens in such jobs.
    pub(super) fn spreads(&self, of: Option<&JobKind>, kind: TaskKind, estimator: Estimator) -> Spreads {
        of.map_or(Spreads::UNMEASURED, |of| self.calibration.spreads(of, kind, estimator))
    }

    /// Notes that are due of a job's sampled tasks. A reduce that waits for maps shows nothing: its progress tells of them.
    pub(super) fn notes_on(&self, view: &View<'_>) -> Vec<(AttemptId, Note)> {
        let job = view.job;
        let known: [OnceCell<[Spreads; Estimator::ALL.len()]>; Point::ALL.len()] = Default::default();
        let spreads = |score| {
            let point = Point::nearest(score);
            known[point as usize].get_or_init(|| {
                let of = JobKind::of(job);
                let at = |of| self.calibration.spreads_at(of, view.kind, point);
                of.as_ref().map_or([Spreads::UNMEASURED; Estimator::ALL.len()], at)
            })
        };
        // Where only the task is known, it is taken to be on its first attempt under this AM.
        let first = u32::try_from(job.first_number()).unwrap_or(u32::MAX);
        let note = |watched: &Watched| {
            let at = view.contenders.binary_search_by_key(&watched.index(), |contender| contender.id.index).ok()?;
            let contender = view.contenders.get(at).filter(|contender| !contender.waits_for_maps)?;
            let number = contender.task.original().map_or(first, |attempt| attempt.number);
            let score = contender.sample.track.score();
            let point = watched.due(number, score)?;
            let note = Note::new(point, &contender.sample, view.shape, &view.peers.times, spreads(score), view.now);
            Some((contender.id.attempt(number), note))
        };
        self.calibration.sampled(job.id, view.kind).filter_map(note).collect()
    }
}
