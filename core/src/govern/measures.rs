//! What jobs were told beside copies of their running tasks, so that nothing is said twice.

use super::avoiding::Avoiding;
use crate::model::{AckFact, AttemptId, JobId, Measure, MeasureKind, Millis, NameId, Time};
use crate::policy::MeasureParams;
use crate::policy::mantri::recompute::{Onset, Replication};
use crate::policy::rerun::Asked;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Of all jobs to which anything of the kind can be done.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Measures {
    by_job: BTreeMap<JobId, Taken>,
    /// Machines that lose outputs, by the user whose jobs show it: that decides about this user's jobs alone.
    onsets: BTreeMap<String, Onset>,
}

/// Of one job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Taken {
    /// Of how many maps and reduces the data was known when they were last ordered.
    pub ordered: [u32; 2],
    /// Its reduces have their racks, or need none.
    pub placed: bool,
    /// §5.3: what may still be replicated, once anything was weighed.
    pub tokens: Option<Replication>,
    /// Outputs that were weighed.
    pub weighed: BTreeSet<AttemptId>,
    /// Those of them that were replicated.
    pub replicated: BTreeSet<AttemptId>,
    /// Outputs whose loss was noticed.
    pub lost: BTreeSet<AttemptId>,
    /// Outputs that were computed anew before they were missed.
    pub precomputed: BTreeSet<AttemptId>,
    /// How long their tasks took in all.
    pub precomputing: Millis,
    /// Machines on which its tasks straggle by its own runs, and until when that counts, the service's clock.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub straggling: BTreeMap<NameId, Time>,
    /// Machines that its new containers are kept off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub avoiding: Option<Avoiding>,
    /// Maps that were to run again because their outputs are out of reach.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reruns: Asked,
    newest: BTreeMap<MeasureKind, Measure>,
}

impl Measures {
    /// Of a job.
    pub fn of(&self, job: JobId) -> Option<&Taken> {
        self.by_job.get(&job)
    }

    /// Of a job, to be put back.
    pub fn take(&mut self, job: JobId) -> Taken {
        self.by_job.remove(&job).unwrap_or_default()
    }

    /// Puts it back.
    pub fn put(&mut self, job: JobId, taken: Taken) {
        self.by_job.insert(job, taken);
    }

    /// The machines of these outputs, which had to be made again: those on which that is an onset.
    pub fn recomputed(&mut self, user: &str, hosts: Vec<NameId>, now: Time, params: &MeasureParams) -> Vec<NameId> {
        if hosts.is_empty() {
            return hosts;
        }
        self.onsets.retain(|_, onset| onset.forget_old(now));
        let new = || Onset::new(params.onset, params.onset_within);
        let onset = self.onsets.entry(user.to_owned()).or_insert_with(new);
        let mut begun: Vec<NameId> = hosts.into_iter().filter(|host| onset.recomputed(*host, now)).collect();
        begun.sort_unstable();
        begun.dedup();
        begun
    }

    /// A shim has answered.
    pub fn answered(&mut self, ack: &AckFact) {
        let Some(taken) = self.by_job.get_mut(&ack.job) else { return };
        taken.avoiding.iter_mut().for_each(|avoiding| avoiding.hear(ack.decision, ack.answer));
        for measure in taken.newest.values_mut() {
            let theirs = measure.order.is_some_and(|order| order.decision == ack.decision);
            measure.answer = if theirs { Some(ack.answer) } else { measure.answer };
        }
    }

    /// Forgets a job.
    pub fn forget(&mut self, job: JobId) {
        self.by_job.remove(&job);
    }

    /// Forgets what a policy wanted: another is in force. Machines are kept off beside any, and whoever is to let them in again must know what was asked for.
    pub fn clear(&mut self) {
        let by_job = std::mem::take(&mut self.by_job).into_iter().filter_map(|(job, taken)| {
            let Taken { straggling, avoiding, mut newest, .. } = taken;
            newest.retain(|kind, _| *kind == MeasureKind::Avoid);
            avoiding.is_some().then(|| (job, Taken { straggling, avoiding, newest, ..Taken::default() }))
        });
        *self = Measures { by_job: by_job.collect(), ..Measures::default() };
    }
}

impl Taken {
    /// Takes note of what was decided, or why not: of each kind the newest.
    pub fn note(&mut self, measure: Measure) {
        self.newest.insert(measure.kind, measure);
    }

    /// The newest of a kind.
    pub fn newest(&self, kind: MeasureKind) -> Option<&Measure> {
        self.newest.get(&kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Names;

    #[test]
    fn users_whose_machines_have_long_lost_nothing_are_forgotten() {
        let (mut measures, params) = (Measures::default(), MeasureParams::default());
        let host = Names::default().intern("nm1").unwrap();
        let later = Time(0) + params.onset_within;
        for (user, at, known) in [("ann", Time(0), 1), ("bob", later, 2), ("bob", later + Millis(1), 1)] {
            measures.recomputed(user, vec![host], at, &params);
            assert_eq!(measures.onsets.len(), known, "{user} {at:?}");
        }
    }
}
