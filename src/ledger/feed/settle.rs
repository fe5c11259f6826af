//! What is settled once it is known: decisions of this process by their outcomes, and what earlier ones left open by the ends of its jobs.

use super::ends::{Ended, Fate};
use super::{Feed, Open, predicted, rows};
use crate::ledger::schema::Record;
use drover_core::model::{AckFact, CopyEnd, CopyOutcome, EndFact, Fact, Job, JobId, Names, Observation, Time};

impl Feed {
    /// Actions of earlier processes without an end: the job, the process, its decision.
    pub fn orphans(&self) -> impl Iterator<Item = (JobId, &str, u64)> {
        self.orphans.iter().flat_map(|(job, all)| all.iter().map(|one| (*job, one.incarnation.as_str(), one.decision)))
    }

    /// An answer to one of these: it is told as that process would have.
    pub fn answered_late(&mut self, at: Time, incarnation: &str, ack: &AckFact) {
        let mut all = self.orphans.get_mut(&ack.job).into_iter().flatten();
        let theirs = all.find(|one| one.incarnation == incarnation && one.decision == ack.decision);
        if theirs.is_some_and(|one| one.hear(ack)) {
            self.tell(vec![rows::answer(at, incarnation, ack)]);
        }
    }

    /// Is this the end of a job that an earlier process left open, and that ended before this one's engine knew of it? Then it is settled by what the end tells.
    pub fn ended_unseen(&mut self, seen: &Observation) -> bool {
        let Fact::Ended(end) = &seen.fact else { return false };
        let Some(left) = self.left.remove(&end.job) else { return false };
        if let Some(draw) = left.drawn {
            self.enrolled.insert(left.id);
            self.drawn.insert(left.id, draw);
        }
        let (job, hosts) = left.ended(end);
        self.end(&job, &hosts, end, seen.received, &left.policy);
        true
    }

    /// A job has ended: what earlier processes asked for is settled, the rest by the next pass.
    pub(super) fn end(&mut self, job: &Job, hosts: &Names, end: &EndFact, at: Time, policy: &str) {
        self.left.remove(&job.id);
        self.settle_orphans(job, hosts, at);
        let decided = self.fates.remove(&job.id).unwrap_or_default();
        self.ended.push(Ended::of(job, end, at, decided, policy));
    }

    /// Tells what became of earlier processes' actions, as the attempts of the job show that has ended.
    fn settle_orphans(&mut self, job: &Job, hosts: &Names, at: Time) {
        let mut settled = Vec::new();
        for one in self.orphans.remove(&job.id).unwrap_or_default() {
            let outcome = one.outcome(job, hosts, at);
            let (won, instead_of) = (outcome.end == CopyEnd::Won.label(), outcome.predicted_end_ms);
            let fate = Fate { instead_of, won, ..Fate::OF_OTHERS };
            self.fates.entry(job.id).or_default().entry(one.task).or_default().push(fate);
            settled.push(outcome.row());
        }
        self.tell(settled);
    }

    /// Notes a win, whether its job still runs or has just ended.
    pub(super) fn settle(&mut self, outcome: &CopyOutcome, open: Option<&Open>) {
        let Some(open) = open.filter(|_| outcome.end == CopyEnd::Won) else { return };
        let ended = self.ended.iter_mut().find(|ended| ended.job() == open.job);
        let fates = ended.map(|ended| &mut ended.decided).or_else(|| self.fates.get_mut(&open.job));
        let of_task = fates.and_then(|fates| fates.get_mut(&open.task)).into_iter().flatten();
        for one in of_task.filter(|one| one.decision == outcome.decision) {
            (one.won, one.instead_of) = (true, predicted(outcome, Some(open)).map(|(end, _)| end));
        }
    }
}
