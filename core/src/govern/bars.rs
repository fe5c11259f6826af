//! Why a task may not have another copy for what became of those that it had.

use super::GovernParams;
use super::flight::{Flight, Flights};
use crate::model::{Action, AttemptId, Job, JobId, Mode, TaskId, Time, Verdict};
use crate::policy::{Budget, Judged};

impl GovernParams {
    /// May a task have another copy while one is in flight? Only one that is seen, and where its copies need not come one after the other.
    pub fn lets_join(&self, mode: Mode) -> bool {
        mode == Mode::Act && self.copies_per_task == 0
    }
}

impl Flights {
    /// Why what is proposed about an attempt, or about its task, may not be done at `now` on the AM's clock; `None` when nothing of the task's own past speaks against it.
    pub fn bar(&self, attempt: AttemptId, action: Action, mode: Mode, now: Time) -> Option<Verdict> {
        match action {
            Action::Withdraw => self.withdrawn.has(attempt, mode).then_some(Verdict::AlreadyCopied),
            Action::Duplicate | Action::Restart => self.bar_of_task(attempt.task, mode, now),
        }
    }

    /// Why an attempt is not to be withdrawn: its task would have none left, with those gone that are to be withdrawn, too.
    pub fn ends_task(&self, attempt: AttemptId, job: &Job, mode: Mode) -> Option<Verdict> {
        (!self.withdrawn.leave_another(attempt, job, mode)).then_some(Verdict::LastAttempt)
    }

    /// Why none of the job's tasks may have a copy at `now` on the AM's clock: too many came to nothing.
    pub fn bar_of_job(&self, job: JobId, mode: Mode, now: Time) -> Option<Verdict> {
        let rests = self.fortunes.get(&job).is_some_and(|fortune| mode == Mode::Act && now < fortune.rests_until);
        rests.then_some(Verdict::CoolDown)
    }

    /// Why the task may not have another copy at `now` on the AM's clock.
    pub fn bar_of_task(&self, task: TaskId, mode: Mode, now: Time) -> Option<Verdict> {
        let bar = |flight: &Flight| match &flight.asked {
            // What was only advised says nothing against doing it.
            None if mode == Mode::Act => None,
            _ if flight.is_in_flight() => Some(Verdict::CopyInFlight),
            None => Some(Verdict::AlreadyAdvised),
            Some(asked) => asked.rests(now).then_some(Verdict::CoolDown),
        };
        // What is in flight says more than what came to nothing before it.
        let own = self.of(task).filter_map(bar).reduce(|a, b| if b == Verdict::CopyInFlight { b } else { a });
        own.or_else(|| self.bar_of_job(task.job, mode, now))
    }

    /// May a task have what is proposed, a copy or another start, beside its copies in flight? Only where its copies need not come one after the other, and only what the policy has weighed against every
    /// attempt that has not ended. All of these must be known for what they are, so that an attempt to come can be told from them. `now` is the AM's clock. In advice
    /// copies are never seen, and so never weighed.
    pub fn may_join(&self, judged: &Judged, job: &Job, params: &GovernParams, mode: Mode, now: Time) -> bool {
        let Some(task) = job.task(judged.task) else { return false };
        let is_one = judged.action != Action::Withdraw && judged.budget == Budget::Copies;
        let weighed = judged.weighed as usize >= task.unended().count();
        let lets = |flight: &Flight| match &flight.asked {
            None => true,
            Some(asked) if !flight.is_in_flight() => !asked.rests(now),
            Some(asked) => !flight.clones && asked.is_settled(flight.copies, job, task, params.answer_grace),
        };
        let proposed = params.lets_join(mode) && judged.verdict == Verdict::Decided && is_one && weighed;
        let rests = || self.bar_of_job(job.id, mode, now).is_some();
        proposed && !rests() && self.of(judged.task).all(lets)
    }
}

#[cfg(test)]
pub(crate) mod tests;
