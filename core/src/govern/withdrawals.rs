//! Attempts that are to be ended without another in their place.

use crate::model::{Attempt, AttemptId, Decision, Job, JobId, Millis, Mode, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Those decided on, by attempt and by whether that was only advised.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Withdrawals(#[serde(with = "crate::model::pairs")] BTreeMap<(AttemptId, Mode), Withdrawal>);

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Withdrawal {
    decision: u64,
    /// When it is too late to carry it out, the service's clock.
    deadline: Time,
    answered: bool,
}

/// Every withdrawal that a job can have.
fn all_of(job: JobId) -> RangeInclusive<(AttemptId, Mode)> {
    let (first, last) = job.all_tasks().into_inner();
    (first.attempt(0), Mode::Off)..=(last.attempt(u32::MAX), Mode::Act)
}

impl Withdrawals {
    /// Takes note of a decision.
    pub(super) fn add(&mut self, decision: &Decision) {
        let withdrawal = Withdrawal { decision: decision.id, deadline: decision.deadline, answered: false };
        self.0.insert((decision.attempt, decision.mode), withdrawal);
    }

    /// Is the attempt one of them?
    pub(super) fn has(&self, attempt: AttemptId, mode: Mode) -> bool {
        self.0.contains_key(&(attempt, mode))
    }

    /// Has its task an attempt beside it that has not ended, and that is not to be withdrawn, too?
    pub(super) fn leave_another(&self, attempt: AttemptId, job: &Job, mode: Mode) -> bool {
        let stays =
            |other: &Attempt| other.number != attempt.number && !self.has(attempt.task.attempt(other.number), mode);
        job.task(attempt.task).is_some_and(|task| task.unended().any(stays))
    }

    /// Has that withdrawal neither been answered nor been given up?
    pub(super) fn await_answer(&self, decision: &Decision) -> bool {
        let asked = self.0.get(&(decision.attempt, decision.mode));
        asked.is_some_and(|asked| asked.decision == decision.id && !asked.answered)
    }

    /// A withdrawal of that job's was answered.
    pub(super) fn answered(&mut self, job: JobId, decision: u64) {
        let of_job = self.0.range_mut(all_of(job));
        of_job.filter(|(_, asked)| asked.decision == decision).for_each(|(_, asked)| asked.answered = true);
    }

    /// Gives up the job's withdrawals whose order, or the word on it, may have been lost: what still runs at `now`, the service's clock, may be withdrawn again. When the next
    /// one will be given up.
    pub(super) fn give_up(&mut self, job: JobId, grace: Millis, now: Time) -> Option<Time> {
        let asked = self.0.range(all_of(job)).filter(|((_, mode), _)| *mode == Mode::Act);
        let ends: Vec<_> = asked.map(|(key, asked)| (asked.deadline + grace, *key)).collect();
        for (_, key) in ends.iter().filter(|(end, _)| *end <= now) {
            self.0.remove(key);
        }
        ends.into_iter().map(|(end, _)| end).filter(|end| *end > now).min()
    }

    /// Forgets a job's.
    pub(super) fn forget(&mut self, job: JobId) {
        self.0.retain(|(attempt, _), _| attempt.task.job != job);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::govern::flight::tests::{JOB, attempt, decision, flights, job, map};
    use crate::model::{AckFact, Action, Answer, AttemptState};

    fn withdrawal(id: u64, number: u32, mode: Mode) -> Decision {
        Decision { action: Action::Withdraw, attempt: map(0).attempt(number), ..decision(id, map(0), mode) }
    }

    #[test]
    fn a_withdrawal_whose_word_was_lost_may_be_decided_on_again_and_one_that_was_advised_is_not() {
        let mut flights = flights(&[withdrawal(1, 0, Mode::Act), withdrawal(2, 0, Mode::Advise)]);
        let params = crate::govern::GovernParams { answer_grace: Millis(5_000), ..Default::default() };
        let barred = |flights: &crate::govern::flight::Flights| {
            let bar = |mode| flights.bar(map(0).attempt(0), Action::Withdraw, mode, Time(0)).is_some();
            [Mode::Act, Mode::Advise].map(bar)
        };
        assert_eq!(flights.follow(&job(), &params, Time(22_999)).1, Some(Time(23_000)), "deadline and grace");
        assert_eq!(barred(&flights), [true; 2]);
        assert!(flights.awaits_answer(&withdrawal(1, 0, Mode::Act)));
        flights.answered(&AckFact { job: JOB, decision: 1, answer: Answer::Applied, attempts: vec![] });
        assert!(!flights.awaits_answer(&withdrawal(1, 0, Mode::Act)), "it is sent no more");
        assert_eq!(flights.follow(&job(), &params, Time(23_000)).1, None);
        assert_eq!(barred(&flights), [false, true]);
    }

    #[test]
    fn an_attempt_may_go_where_another_stays_that_has_not_ended_and_is_not_to_go_itself() {
        let mut job = job();
        let states = [AttemptState::Running, AttemptState::Failed, AttemptState::Starting, AttemptState::Running];
        (0..).zip(states).for_each(|(number, state)| attempt(&mut job, map(0).attempt(number), state, 1_000, 0));
        let mut withdrawals = Withdrawals::default();
        let others = |withdrawals: &Withdrawals| {
            [0, 2, 3].map(|number| withdrawals.leave_another(map(0).attempt(number), &job, Mode::Act))
        };
        withdrawals.add(&withdrawal(1, 2, Mode::Advise));
        assert_eq!(others(&withdrawals), [true; 3], "what is only advised ends nothing");
        withdrawals.add(&withdrawal(2, 3, Mode::Act));
        assert_eq!(others(&withdrawals), [true; 3]);
        withdrawals.add(&withdrawal(3, 0, Mode::Act));
        assert_eq!(others(&withdrawals), [true, false, true], "both of the others may be gone already");
        assert!(!withdrawals.leave_another(map(1).attempt(0), &job, Mode::Act), "nothing is known of that task");
    }
}
