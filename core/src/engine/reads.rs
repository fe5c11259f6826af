//! How the clones of a reduce read what the clones of the maps have written (Dolly, NSDI'13, §4).

use super::Engine;
use crate::estimate::shuffle::Network;
use crate::model::*;
use crate::policy::dolly::Reads;

impl Engine {
    /// What is wanted, and what the job's cluster does.
    pub(super) fn reading(&self, job: &Job) -> Reading {
        let (wanted, unknown) = match (self.params.dolly.reads, self.omega(job)) {
            (Reads::Cac, _) => (Assignment::Avoidance, None),
            (Reads::Cc, _) => (Assignment::Contention, None),
            (Reads::Delay, Some(omega)) => (Assignment::Delay { omega }, None),
            // Waiting for an output of its own is the side on which delay assignment begins (§4.4).
            (Reads::Delay, None) => (Assignment::Avoidance, Some(Verdict::OmegaUnknown)),
        };
        if job.can.reads {
            return Reading { wanted, done: wanted, instead: unknown };
        }
        // The others' outputs go with them when the first is committed.
        let done = Assignment::Contention;
        Reading { wanted, done, instead: (wanted != done).then_some(Verdict::CannotChooseOutput) }
    }

    /// ω, from what the reduces and clones of the job's earlier runs showed; `None` without samples of each of its terms.
    fn omega(&self, job: &Job) -> Option<Millis> {
        let dolly = &self.params.dolly;
        let network = Network { contention: dolly.contention, exclusive: dolly.exclusive };
        let [maps, _] = job.totals?;
        self.shuffles.of(&JobKind::of(job)?)?.omega(maps, network)
    }
}
