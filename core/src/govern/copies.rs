//! Copies that are asked for: from the decision over the shim's answer to their end. What an answer that got lost leaves open is settled by the attempts that are seen.

use super::GovernParams;
use super::flight::{Flight, Flights};
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
    /// The AM that was asked.
    pub incarnation: u64,
    /// Copies of the task that were asked for so far and came to be, this one included.
    pub tries: u32,
    /// How many of these were restarts.
    #[serde(default)]
    pub restarts: u32,
    /// When the task may be given another, the AM's clock, once this one is over; `None`: never.
    pub again: Option<Time>,
}

/// How copies of one job have fared.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Fortune {
    /// Copies lost since the last that won.
    pub lost_in_a_row: u32,
    /// No copies before then, the AM's clock.
    pub rests_until: Time,
}

impl Asked {
    /// The attempts of the task that stand for the copy.
    fn copies<'a>(&'a self, task: &'a Task) -> impl Iterator<Item = &'a Attempt> {
        task.attempts.iter().filter(|attempt| {
            if self.attempts.is_empty() {
                attempt.number > self.newest_before
            } else {
                self.attempts.contains(&attempt.number)
            }
        })
    }

    fn is_applied(&self) -> bool {
        self.answer.is_some_and(Answer::is_applied)
    }

    /// Asked for, and not known to have a container yet.
    pub fn is_unplaced(&self, task: Option<&Task>) -> bool {
        let placed = task.is_some_and(|task| {
            let mut copies = self.copies(task).peekable();
            copies.peek().is_some() && copies.all(|copy| copy.started.get().is_some() || copy.state.is_final())
        });
        !placed
    }

    /// When, the service's clock, it is over though nothing more is heard. What was sent may have been carried out: only news of the job can tell that it was not.
    fn over_at(&self, grace: Millis) -> Option<Time> {
        (!self.sent && self.answer.is_none()).then(|| self.deadline + grace)
    }

    /// Its end while the task itself goes on; `None` while it lasts. `now` is the service's clock.
    fn over(&self, job: &Job, task: &Task, grace: Millis, now: Time) -> Option<CopyEnd> {
        if self.answer.is_some() && !self.is_applied() {
            return Some(CopyEnd::Refused);
        }
        let (mut seen, mut alive, mut launched) = (0, 0, false);
        for copy in self.copies(task) {
            seen += 1;
            alive += usize::from(!copy.state.is_final());
            launched |= copy.was_launched();
        }
        let late = job.heard > self.deadline + grace || job.incarnation > self.incarnation;
        if self.is_applied() || seen > 0 {
            let gone = seen > 0 && alive == 0 && seen >= self.attempts.len();
            // One killed before its launch is being moved to another host: the word of its new number is on its way.
            let over = (gone && (launched || late)) || job.incarnation > self.incarnation;
            return over.then_some(CopyEnd::Died);
        }
        if self.over_at(grace).is_some_and(|at| at <= now) {
            return Some(CopyEnd::Unsent);
        }
        late.then_some(if self.sent { CopyEnd::Unanswered } else { CopyEnd::Unsent })
    }

    fn outcome(&self, flight: &Flight, id: TaskId, job: &Job, end: CopyEnd, at: Time) -> CopyOutcome {
        let task = job.task(id);
        let held = |copy: &Attempt| copy.finished.get().unwrap_or(at).since(copy.started.get().unwrap_or(at));
        let copies = || task.into_iter().flat_map(|task| self.copies(task));
        CopyOutcome {
            decision: flight.decision,
            policy: flight.policy.clone(),
            telling: job.incarnation == self.incarnation && is_telling(flight, job),
            task: id,
            end,
            answer: self.answer,
            attempts: copies().map(|copy| copy.number).collect(),
            winner: task.and_then(Task::won).map(|winner| winner.number),
            host: None,
            at,
            cost: copies().map(held).fold(Millis(0), |sum, one| sum + one),
        }
    }
}

/// Does its end tell whether the policy copies well? Clones are meant to lose, a restart has no rival, and of a job that is killed or fails all attempts die.
fn is_telling(flight: &Flight, job: &Job) -> bool {
    let goes_well = !matches!(job.state, Some(JobPhase::Failed | JobPhase::Killed));
    !flight.clones && flight.action == Action::Duplicate && goes_well
}

/// Who won, once the task has succeeded.
fn winner(asked: &Asked, task: &Task) -> CopyEnd {
    let any = asked.copies(task).next().is_some();
    match task.won() {
        _ if !any => match asked.answer {
            Some(answer) if !answer.is_applied() => CopyEnd::Refused,
            None if !asked.sent => CopyEnd::Unsent,
            _ => CopyEnd::Unanswered,
        },
        None => CopyEnd::Unknown,
        Some(winner) if asked.copies(task).any(|copy| copy.number == winner.number) => CopyEnd::Won,
        Some(_) => CopyEnd::Lost,
    }
}

impl Flights {
    /// A decision was put into an answer to the shim.
    pub fn sent(&mut self, job: JobId, decision: u64) {
        if let Some(asked) = self.asked_mut(job, decision) {
            asked.sent = true;
        }
    }

    /// What is known of the copy that was asked for by that decision; `None` once it is over.
    fn asked_by(&self, decision: &Decision) -> Option<&Asked> {
        let flight = self.of(decision.task).filter(|flight| flight.counted && flight.decision == decision.id);
        flight.and_then(|flight| flight.asked.as_ref())
    }

    /// Was it put into an answer to the shim?
    pub fn was_sent(&self, decision: &Decision) -> bool {
        self.asked_by(decision).is_some_and(|asked| asked.sent)
    }

    /// Has it neither been answered nor come to its end?
    pub fn awaits_answer(&self, decision: &Decision) -> bool {
        let of_copy = self.asked_by(decision).is_some_and(|asked| asked.answer.is_none());
        of_copy || (decision.action == Action::Withdraw && self.awaits_withdrawal(decision))
    }

    /// The shim has answered. A later word on a copy that was moved replaces the earlier one: each move has a higher number, so an earlier word that is repeated says
    /// nothing new. Nor does a refusal of what was applied.
    pub fn answered(&mut self, ack: &AckFact) {
        self.withdrawal_answered(ack.job, ack.decision);
        if let Some(asked) = self.asked_mut(ack.job, ack.decision) {
            asked.sent = true;
            let older = ack.attempts.iter().max() < asked.attempts.iter().max();
            if asked.is_applied() && (older || !ack.answer.is_applied()) {
                return;
            }
            asked.answer = Some(ack.answer);
            if ack.answer.is_applied() {
                asked.attempts.clone_from(&ack.attempts);
            }
        }
    }

    /// Brings a job's copies up to date with what is seen of their attempts: what has ended since, and when to look again, the service's clock.
    pub fn follow(&mut self, job: &Job, params: &GovernParams, now: Time) -> (Vec<CopyOutcome>, Option<Time>) {
        let am_now = job.am_time(now);
        let mut next = self.give_up_withdrawals(job.id, params.answer_grace, now);
        let (mut outcomes, mut landed) = (Vec::new(), Vec::new());
        let mut ends = Vec::new();
        for (id, flight) in self.job_mut(job.id) {
            let Some(asked) = flight.asked.as_ref() else { continue };
            let task = job.task(id);
            if let Some(known) = task.filter(|task| task.state.is_final()) {
                if flight.counted {
                    let at = known.ended().unwrap_or(am_now);
                    let end = if known.state == TaskState::Succeeded { winner(asked, known) } else { CopyEnd::Unknown };
                    ends.extend((!flight.clones).then_some(end));
                    outcomes.push(asked.outcome(flight, id, job, end, at));
                }
                landed.push(id);
                continue;
            }
            if !flight.counted {
                continue;
            }
            let end = task.and_then(|task| asked.over(job, task, params.answer_grace, now));
            match end {
                None => {
                    let at = asked.over_at(params.answer_grace).filter(|at| *at > now);
                    next = next.into_iter().chain(at).min();
                }
                Some(end) => {
                    ends.extend((!flight.clones).then_some(end));
                    outcomes.push(asked.outcome(flight, id, job, end, am_now));
                    flight.close(end, params, am_now);
                }
            }
        }
        for id in landed {
            self.remove(id);
        }
        self.remember(job.id, &ends, params, am_now);
        (outcomes, next)
    }

    /// Counts wins and losses: a job whose copies come to nothing gets none for a while. That clones lose says nothing.
    fn remember(&mut self, job: JobId, ends: &[CopyEnd], params: &GovernParams, am_now: Time) {
        for end in ends {
            let fortune = self.fortunes.entry(job).or_default();
            match end {
                CopyEnd::Won => *fortune = Fortune::default(),
                CopyEnd::Lost | CopyEnd::Died => fortune.lost_in_a_row += 1,
                _ => {}
            }
            if params.futile_copies > 0 && fortune.lost_in_a_row >= params.futile_copies {
                *fortune = Fortune { lost_in_a_row: 0, rests_until: am_now + params.cool_down };
            }
        }
    }

    /// The job's copies are over with it.
    pub fn close_job(&mut self, job: &Job) -> Vec<CopyOutcome> {
        let at = job.ended.get().unwrap_or_else(|| job.am_time(job.heard));
        let open = self.tasks_of(job.id).filter(|(_, flight)| flight.counted);
        open.filter_map(|(id, flight)| {
            let asked = flight.asked.as_ref()?;
            let task = job.task(id);
            let done = task.filter(|task| task.state == TaskState::Succeeded);
            let end = done.map_or(CopyEnd::Unknown, |task| winner(asked, task));
            Some(asked.outcome(flight, id, job, end, at))
        })
        .collect()
    }

    fn asked_mut(&mut self, job: JobId, decision: u64) -> Option<&mut Asked> {
        let mut flights = self.job_mut(job);
        flights.find(|(_, flight)| flight.decision == decision).and_then(|(_, flight)| flight.asked.as_mut())
    }
}

impl Flight {
    /// It holds no budget any more. When may the task have another copy?
    fn close(&mut self, end: CopyEnd, params: &GovernParams, am_now: Time) {
        self.counted = false;
        let Some(asked) = &mut self.asked else { return };
        asked.again = match end {
            CopyEnd::Died if params.copies_per_task == 0 => Some(am_now + params.try_again),
            CopyEnd::Died if asked.tries >= params.copies_per_task => None,
            CopyEnd::Died => Some(am_now + params.try_again.max(self.fresh.0)),
            _ if asked.answer.is_some_and(Answer::is_for_good) => None,
            _ => Some(am_now + params.try_again),
        };
        if end != CopyEnd::Died {
            asked.tries = asked.tries.saturating_sub(1);
            asked.restarts = asked.restarts.saturating_sub(u32::from(self.action == Action::Restart));
        }
    }
}

#[cfg(test)]
mod tests;
