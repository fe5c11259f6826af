//! What became of an action that an earlier process left open, as far as attempts show: which of them stand for it, and its end.

#[cfg(test)]
mod tests;

use super::Unanswered;
use drover_core::model::{Answer, Attempt, AttemptState, CopyEnd, Task, TaskState, Time};

/// Of a task that attempt.
fn attempt(task: &Task, number: u32) -> Option<&Attempt> {
    task.attempts.iter().find(|one| one.number == number)
}

impl Unanswered {
    /// Numbers of the attempts that stand for it: those that the answer names, or else those that nothing but it can have started; `None` where nobody can tell.
    pub(super) fn copies(&self, task: Option<&Task>) -> Option<Vec<u32>> {
        match &self.answer {
            Some((answer, named)) if !named.is_empty() || !answer.is_applied() => Some(named.clone()),
            _ => self.unnamed(task?),
        }
    }

    /// What is numbered above the slow attempt may be Hadoop's own copy, or what followed one that failed. Only what came in the place of one that a restart killed is certain.
    fn unnamed(&self, task: &Task) -> Option<Vec<u32>> {
        // Where a job's end tells of the winner alone, it tells no host.
        let won = task.winner().is_none_or(|winner| attempt(task, winner).is_some_and(|won| won.host.is_some()));
        // Of a list from before the task's end some may be missing.
        let whole = won && task.attempts.iter().all(|one| one.state.is_final());
        let slow = attempt(task, self.slow?).filter(|_| whole)?;
        let mut later = task.attempts.iter().filter(|one| one.number > slow.number).peekable();
        if later.peek().is_none() {
            return Some(Vec::new());
        }
        let killed = slow.finished.get().filter(|at| self.has_killed(slow, *at))?;
        let mut came = later.filter(|one| one.was_launched() && one.started.get() >= Some(killed));
        let first = came.next()?;
        // What began when that one had ended is another restart's, or Hadoop's next try.
        let beside = came.filter(|one| one.started.get() < first.finished.get());
        Some(std::iter::once(first).chain(beside).map(|one| one.number).collect())
    }

    /// Was the slow attempt, which ended at that instant, killed by it? Without an answer only where that was in time: later another process's order may have done it.
    fn has_killed(&self, slow: &Attempt, ended: Time) -> bool {
        let in_time = self.sent && self.too_late.is_some_and(|too_late| ended <= too_late);
        self.restart && slow.state == AttemptState::Killed && (self.answer.is_some() || in_time)
    }

    /// Its end, those attempts being its copies.
    pub(super) fn end(&self, task: Option<&Task>, copies: Option<&[u32]>) -> CopyEnd {
        let answer = self.answer.as_ref().map(|(answer, _)| *answer);
        let Some((task, copies)) = task.zip(copies).filter(|_| answer.is_none_or(Answer::is_applied)) else {
            return if answer.is_none_or(Answer::is_applied) { CopyEnd::Unknown } else { CopyEnd::Refused };
        };
        let succeeded = task.state == TaskState::Succeeded;
        let winner = task.winner().filter(|_| succeeded);
        // That no copy came of an order that nobody answered shows of any task.
        let shows = succeeded || (copies.is_empty() && answer.is_none());
        let end = if shows { CopyEnd::with_task(answer, self.sent, copies, winner) } else { CopyEnd::Unknown };
        match end {
            CopyEnd::Lost if may_have_moved(task, copies, winner) => CopyEnd::Unknown,
            CopyEnd::Lost | CopyEnd::Unknown if have_died(task, copies) => CopyEnd::Died,
            end => end,
        }
    }
}

/// Did all of them fail, or were killed while the task went on?
fn have_died(task: &Task, copies: &[u32]) -> bool {
    let succeeded = task.state == TaskState::Succeeded;
    let ended = task.won().and_then(|won| won.finished.get()).or_else(|| task.ended()).filter(|_| succeeded);
    let before = |one: &Attempt| ended.is_some_and(|ended| one.ended_before(ended));
    let has_died = |number: &u32| match attempt(task, *number) {
        Some(one) => one.state == AttemptState::Failed || (one.state == AttemptState::Killed && before(one)),
        None => false,
    };
    !copies.is_empty() && copies.iter().all(has_died)
}

/// May the winner be what one of them was moved to, the word on which was lost with the process? That one was killed before it ran.
fn may_have_moved(task: &Task, copies: &[u32], winner: Option<u32>) -> bool {
    let ran = |number: &u32| attempt(task, *number).is_some_and(Attempt::was_launched);
    winner > copies.iter().max().copied() && !copies.iter().all(ran)
}
