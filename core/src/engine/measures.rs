//! What a policy wants of a job beside copies: settled when its moment comes, and only where it can be done. What cannot is refused by name to whoever asks.

use super::{Engine, Pass};
use crate::govern::measures::Taken;
use crate::model::*;
use crate::policy::mantri::{order, spread};

/// What one look at a job came to.
type Settled = Result<MeasurePlan, Verdict>;

impl Engine {
    /// Settles the measures of one job whose moment has come. Nothing where nothing of the kind can be done.
    pub(super) fn take_measures(&mut self, id: JobId, now: Time, pass: &mut Pass) {
        let Some(job) = self.cluster.job(id).filter(|job| self.may_take_measures(job, now)) else { return };
        let able: Vec<MeasureKind> = MeasureKind::ALL.into_iter().filter(|kind| kind.lack(job.can).is_none()).collect();
        if able.is_empty() {
            return;
        }
        let mode = self.mode_of(job);
        let mut taken = self.measures.take(id);
        let Some(job) = self.cluster.job(id) else { return };
        for kind in able {
            let settled = match kind {
                MeasureKind::Order => order_anew(job, &mut taken),
                MeasureKind::Place => self.place_once(job, &mut taken).into_iter().collect(),
            };
            for settled in settled {
                let verdict = settled.as_ref().err().copied().unwrap_or(Verdict::Decided);
                let measure = Measure { job: id, kind, verdict, mode, plan: settled.ok() };
                pass.measures.extend((verdict == Verdict::Decided).then(|| measure.clone()));
                taken.note(measure);
            }
        }
        self.measures.put(id, taken);
    }

    fn may_take_measures(&self, job: &Job, now: Time) -> bool {
        let off = || self.mode_of(job) == Mode::Off || self.params.govern.leaves_alone(job, now);
        self.params.policy.takes_measures() && !off()
    }

    /// What the policy wants of a job beside copies: of each kind the newest that was decided, or why not; and what it would want and cannot be done to the job. None under
    /// other policies.
    pub fn measures(&self, id: JobId) -> Vec<Measure> {
        let Some(job) = self.cluster.job(id).filter(|job| self.may_take_measures(job, self.last_pass)) else {
            return Vec::new();
        };
        let mode = self.mode_of(job);
        let refused = |kind, verdict| Measure { job: id, kind, verdict, mode, plan: None };
        let of = |kind: MeasureKind| match kind.lack(job.can) {
            Some(lack) => self.is_wanted(job, kind).then(|| refused(kind, lack)),
            None => self.measures.of(id)?.newest(kind).cloned(),
        };
        MeasureKind::ALL.into_iter().filter_map(of).collect()
    }

    /// Would a measure that cannot be taken do the job any good?
    fn is_wanted(&self, job: &Job, kind: MeasureKind) -> bool {
        match kind {
            MeasureKind::Order => {
                let other = |tasks| order::order(job, tasks).is_ok_and(|order| !order::is_hadoops(&order));
                TaskKind::ALL.into_iter().any(other)
            }
            MeasureKind::Place => spread::waits(job) && spread::Racks::of(&self.cluster).are_several(),
        }
    }

    /// The racks of a job's reduces, when they are about to be placed.
    fn place_once(&self, job: &Job, taken: &mut Taken) -> Option<Settled> {
        if taken.placed || !spread::is_due(job) {
            return None;
        }
        let settled = spread::spread(job, &spread::Racks::of(&self.cluster), &self.params.measures);
        taken.placed = settled != Err(Verdict::DataUnknown);
        Some(settled)
    }
}

/// The order of each phase of which more is known than when it was last ordered.
fn order_anew(job: &Job, taken: &mut Taken) -> Vec<Settled> {
    let mut anew = Vec::new();
    for kind in TaskKind::ALL {
        let told = order::told(job, kind);
        if told != std::mem::replace(&mut taken.ordered[kind as usize], told) {
            anew.push(order::order(job, kind).map(|first| MeasurePlan::Order { kind, first }));
        }
    }
    anew
}
