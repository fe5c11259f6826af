//! One copy that was asked for: the answers to it, and the attempts that stand for it.

use super::GovernParams;
use super::refusals::Refusals;
use crate::model::*;
use serde::{Deserialize, Serialize};

/// A copy that was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// When it is too late to start it, the service's clock.
    pub deadline: Time,
    /// It was put into an answer to the shim.
    pub sent: bool,
    /// The shim's newest answer.
    pub answer: Option<Answer>,
    /// Numbers of the attempts that are its copies, once known.
    pub attempts: Vec<u32>,
    /// Attempts numbered above this one are younger than the decision.
    pub newest_before: u32,
    /// Those numbered above this one are younger than the next decision about the task; `None` while there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest_own: Option<u32>,
    /// Attempts that another decision's answer has named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<u32>,
    /// The AM that was asked.
    pub incarnation: u64,
    /// Copies of the task that were asked for so far and came to be, this one included. What is so of a task its newest decision knows.
    pub tries: u32,
    /// How many of these were restarts, likewise.
    #[serde(default)]
    pub restarts: u32,
    /// What was started runs, alone, the attempt before it having been killed or having failed: it is the task's own now, and no copy in flight.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaced: bool,
    /// The newest of its copies, once all were told to have ended, and since when, the service's clock: their AM's, by which they say it, may be set back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gone: Option<(u32, Time)>,
    /// Those of the task so far, this one included, that an AM has refused in a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusals: Option<Refusals>,
    /// When the task may be given another, the AM's clock, once this one is no longer in flight; `None`: never.
    pub again: Option<Time>,
}

impl Asked {
    /// The attempts of the task that stand for the copy.
    pub(super) fn copies<'a>(&'a self, task: &'a Task) -> impl Iterator<Item = &'a Attempt> {
        task.attempts.iter().filter(|attempt| self.is_copy(attempt.number))
    }

    /// The numbers of these and, where the task tells of a winner whose attempt was not read, of that one if it is a copy.
    pub(super) fn numbers(&self, task: &Task) -> Vec<u32> {
        let unseen = |number: &u32| task.attempts.iter().all(|attempt| attempt.number != *number);
        let winner = task.winner().filter(|winner| unseen(winner) && self.is_copy(*winner));
        self.copies(task).map(|copy| copy.number).chain(winner).collect()
    }

    fn is_copy(&self, number: u32) -> bool {
        // What was never sent nobody has carried out: what is seen is Hadoop's own, in the place of an attempt that has failed, say.
        if self.is_unsent() {
            return false;
        }
        if self.attempts.is_empty() { self.may_be(number) } else { self.attempts.contains(&number) }
    }

    /// Neither was it sent, nor has anyone answered it.
    fn is_unsent(&self) -> bool {
        !self.sent && self.answer.is_none()
    }

    /// As far as its number goes, and what other decisions' answers have named.
    fn may_be(&self, number: u32) -> bool {
        let in_time = number > self.newest_before && self.newest_own.is_none_or(|newest| number <= newest);
        in_time && !self.others.contains(&number)
    }

    /// Takes an answer in: a later word on a copy that was moved replaces the earlier one.
    pub(super) fn hear(&mut self, ack: &AckFact) {
        self.sent = true;
        if ack.is_stale_after(self.answer, &self.attempts) {
            return;
        }
        self.answer = Some(ack.answer);
        if ack.answer == Answer::RestartsSpent {
            // By another process of the service, say: how often nobody here knows, so it gets none any more.
            self.restarts = u32::MAX;
        }
        if ack.answer.is_applied() {
            self.attempts.clone_from(&ack.attempts);
        }
    }

    /// Another decision's answer has named its copies: what is not told of one's own yet is none of these.
    pub(super) fn leave_to_another(&mut self, attempts: &[u32]) {
        if self.attempts.is_empty() {
            let theirs: Vec<u32> = attempts.iter().copied().filter(|number| self.may_be(*number)).collect();
            self.others.extend(theirs);
        }
    }

    /// Takes note of when the copies that are seen had ended.
    pub(super) fn note_gone(&mut self, job: &Job, task: &Task) {
        let newest = self.copies(task).map(|copy| copy.number).max();
        let newest = newest.filter(|_| self.copies(task).all(has_died));
        if self.gone.map(|(number, _)| number) == newest {
            return;
        }
        // By a clock that was set since nobody knows when; but not after it was told.
        let is_told = |at: &Time| job.clock_set.get().is_none_or(|set| *at >= set);
        let at = self.copies(task).filter_map(|copy| copy.finished.get()).max().filter(is_told);
        let since = at.map_or(job.heard, |at| job.heard.min(job.service_time(at)));
        self.gone = newest.map(|number| (number, since));
    }

    /// What was started runs alone.
    pub(super) fn replace(&mut self, params: &GovernParams, am_now: Time) {
        self.replaced = true;
        self.again = params.allows_another(self.tries).then_some(am_now);
    }

    /// It is over, refused: when may its task be given another?
    pub(super) fn refuse(&mut self, answer: Answer, task: Option<&Task>, params: &GovernParams, am_now: Time) {
        let refusals = Refusals::another(self.refusals.as_ref(), task, am_now);
        self.again = (!answer.is_for_good()).then(|| refusals.again(params));
        self.refusals = Some(refusals);
    }

    /// It was refused, for a while, and the task is another by now.
    pub(super) fn is_moot(&self, task: Option<&Task>) -> bool {
        self.is_refused() && self.refusals.as_ref().is_some_and(|refusals| refusals.is_moot(task))
    }

    /// What it was refused for says nothing of the task as it is now.
    pub(super) fn forget_refusals(&mut self, params: &GovernParams) {
        let Some(refusals) = self.refusals.take() else { return };
        self.again = self.again.map(|again| again.min(refusals.afresh(params)));
    }

    /// May its task have no other yet at `now` on the AM's clock? It is not in flight.
    pub(super) fn rests(&self, now: Time) -> bool {
        self.again.is_none_or(|again| now < again)
    }

    /// Can nothing that is still on its way tell of it any more?
    fn is_late(&self, job: &Job, grace: Millis) -> bool {
        job.heard > self.deadline + grace || job.incarnation > self.incarnation
    }

    /// Do so many copies run, and are no others to come: are they those that the answer names or, once none can be on its way any more, those that are seen?
    pub(super) fn is_settled(&self, copies: u32, job: &Job, task: &Task, grace: Millis) -> bool {
        let running = task.live().filter(|attempt| self.is_copy(attempt.number)).count();
        let known = (self.is_applied() && !self.attempts.is_empty()) || self.is_late(job, grace);
        known && running >= copies as usize
    }

    /// Does what was started run, and nothing else of the task?
    pub(super) fn has_replaced(&self, job: &Job, task: &Task, grace: Millis) -> bool {
        let alone = || task.unended().all(|attempt| self.is_copy(attempt.number));
        self.is_settled(1, job, task, grace) && alone() && !self.is_decided(job, task)
    }

    /// Has one of the task's attempts succeeded, though the task is still told to run? Hadoop tells of its end only once the container has stopped, say; the others are being killed.
    fn is_decided(&self, job: &Job, task: &Task) -> bool {
        let first = job.first_number();
        let won = |one: &Attempt| one.state == AttemptState::Succeeded && u64::from(one.number) >= first;
        job.incarnation == self.incarnation && task.attempts.iter().any(won)
    }

    fn is_refused(&self) -> bool {
        self.answer.is_some_and(|answer| !answer.is_applied())
    }

    fn is_applied(&self) -> bool {
        self.answer.is_some_and(Answer::is_applied)
    }

    /// Asked for, and not known to have a container yet.
    pub fn is_unplaced(&self, task: Option<&Task>) -> bool {
        let placed = task.is_some_and(|task| {
            let has_container = |copy: &Attempt| copy.started.get().is_some() || copy.state.is_final();
            let copies = || self.copies(task);
            copies().count() >= self.attempts.len().max(1) && copies().all(has_container)
        });
        !placed
    }

    /// When, the service's clock, it is over though nothing more is heard. What was sent may have been carried out: only news of the job can tell that it was not.
    pub(super) fn over_at(&self, grace: Millis) -> Option<Time> {
        self.is_unsent().then(|| self.deadline + grace)
    }

    /// Its end while the task itself goes on; `None` while it lasts. `now` is the service's clock.
    pub(super) fn over(&self, job: &Job, task: &Task, grace: Millis, now: Time) -> Option<CopyEnd> {
        if self.is_refused() {
            return Some(CopyEnd::Refused);
        }
        let (mut seen, mut alive, mut launched) = (0, 0, false);
        for copy in self.copies(task) {
            seen += 1;
            alive += usize::from(!has_died(copy));
            launched |= copy.was_launched() && !may_be_moved(copy, grace);
        }
        let late = self.is_late(job, grace);
        if self.is_applied() || seen > 0 {
            let gone = seen > 0 && alive == 0 && seen >= self.attempts.len() && !self.is_decided(job, task);
            // One killed before its launch, or as it was launched, is being moved to another host: the word of its new number is on its way, as long after that as it may be.
            let told_late = late && self.gone.is_some_and(|(_, since)| job.heard > since + grace);
            let over = (gone && (launched || told_late)) || job.incarnation > self.incarnation;
            return over.then_some(CopyEnd::Died);
        }
        if self.over_at(grace).is_some_and(|at| at <= now) {
            return Some(CopyEnd::Unsent);
        }
        late.then_some(if self.is_unsent() { CopyEnd::Unsent } else { CopyEnd::Unanswered })
    }
}

/// Has it come to nothing? One that succeeded has not, though its task, which is read before its attempts, is still told to run.
fn has_died(copy: &Attempt) -> bool {
    matches!(copy.state, AttemptState::Failed | AttemptState::Killed)
}

/// Was it killed so soon that its launch and the kill which was to come before may have crossed?
fn may_be_moved(copy: &Attempt, grace: Millis) -> bool {
    // Of one whose end is not told yet nobody knows how soon.
    copy.state == AttemptState::Killed && copy.lived().is_none_or(|lived| lived <= grace)
}

/// Its end with its task's, or with its job's.
pub(super) fn end_with(asked: &Asked, task: &Task) -> CopyEnd {
    if task.state != TaskState::Succeeded {
        return CopyEnd::Unknown;
    }
    CopyEnd::with_task(asked.answer, asked.sent, &asked.numbers(task), task.winner())
}
