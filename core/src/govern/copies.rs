//! Copies that are asked for: from the decision over the shim's answer to their end. What an answer that got lost leaves open is settled by the attempts that are seen.

use super::GovernParams;
use super::asked::{Asked, end_with};
use super::flight::{Flight, Flights};
use crate::model::*;

impl Flights {
    /// A decision was put into an answer to the shim.
    pub fn sent(&mut self, job: JobId, decision: u64) {
        if let Some(asked) = self.asked_mut(job, decision) {
            asked.sent = true;
        }
    }

    /// What is known of the copy that was asked for by that decision; `None` once it is over.
    fn asked_by(&self, decision: &Decision) -> Option<&Asked> {
        let flight = self.of(decision.task).find(|flight| flight.counted && flight.decision == decision.id);
        flight.and_then(|flight| flight.asked.as_ref())
    }

    /// Was it put into an answer to the shim?
    pub fn was_sent(&self, decision: &Decision) -> bool {
        self.asked_by(decision).is_some_and(|asked| asked.sent)
    }

    /// Has it neither been answered nor come to its end?
    pub fn awaits_answer(&self, decision: &Decision) -> bool {
        let of_copy = self.asked_by(decision).is_some_and(|asked| asked.answer.is_none());
        of_copy || (decision.action == Action::Withdraw && self.withdrawn.await_answer(decision))
    }

    /// The shim has answered.
    pub fn answered(&mut self, ack: &AckFact) {
        self.withdrawn.answered(ack.job, ack.decision);
        let asked = self.job_mut(ack.job).find(|(_, flight)| flight.decision == ack.decision);
        let Some((task, flight)) = asked else { return };
        let Some(asked) = &mut flight.asked else { return };
        asked.hear(ack);
        let of_others = self.task_mut(task).filter(|flight| flight.decision != ack.decision);
        of_others.filter_map(|flight| flight.asked.as_mut()).for_each(|other| other.leave_to_another(&ack.attempts));
    }

    /// Brings a job's copies up to date with what is seen of their attempts: what has ended since, and when to look again, the service's clock.
    pub fn follow(&mut self, job: &Job, params: &GovernParams, now: Time) -> (Vec<CopyOutcome>, Option<Time>) {
        let am_now = job.am_time(now);
        self.set_back(job.id, params, am_now);
        for (id, flight) in self.job_mut(job.id).filter(|(_, flight)| flight.counted) {
            flight.asked.iter_mut().zip(job.task(id)).for_each(|(asked, task)| asked.note_gone(job, task));
        }
        let mut next = self.withdrawn.give_up(job.id, params.answer_grace, now);
        let (mut outcomes, mut landed, mut closed) = (Vec::new(), Vec::new(), Vec::new());
        let (mut ends, mut replaced, mut moot) = (Vec::new(), Vec::new(), Vec::new());
        for (id, flight) in self.tasks_of(job.id) {
            let Some(asked) = flight.asked.as_ref() else { continue };
            let task = job.task(id);
            let ended = task.filter(|task| task.state.is_final());
            landed.extend(ended.map(|_| id));
            if !flight.counted {
                moot.extend(asked.is_moot(task).then_some(flight.decision));
                continue;
            }
            let goes_on = || task.and_then(|task| asked.over(job, task, params.answer_grace, now));
            let Some(end) = ended.map(|task| end_with(asked, task)).or_else(goes_on) else {
                let open = task.filter(|_| !flight.clones && !asked.replaced);
                let runs = open.is_some_and(|task| asked.has_replaced(job, task, params.answer_grace));
                replaced.extend(runs.then_some(flight.decision));
                let at = asked.over_at(params.answer_grace).filter(|at| *at > now);
                next = next.into_iter().chain(at).min();
                continue;
            };
            let at = ended.and_then(Task::ended).unwrap_or(am_now);
            outcomes.push(flight.outcome(asked, id, job, end, at));
            let with_am = end == CopyEnd::Died && job.incarnation > asked.incarnation;
            ends.extend((!flight.clones && !with_am).then_some((id, end)));
            closed.push((id, flight.decision, end, with_am));
        }
        for decision in replaced {
            self.asked_mut(job.id, decision).into_iter().for_each(|asked| asked.replace(params, am_now));
        }
        for decision in moot {
            self.asked_mut(job.id, decision).into_iter().for_each(|asked| asked.forget_refusals(params));
        }
        for (task, decision, end, with_am) in closed {
            self.close((task, decision), (end, with_am), job.task(task), params, am_now);
        }
        landed.into_iter().for_each(|task| self.remove(task));
        // Where one of a task's copies wins, that another lost is nothing against the job.
        ends.sort_by_key(|(task, end)| (*task, *end == CopyEnd::Won));
        self.remember(job, ends.into_iter().map(|(_, end)| end), params, am_now);
        (outcomes, next)
    }

    /// One of a task's copies is over. That it died with its AM says nothing of it.
    fn close(
        &mut self,
        (task, decision): (TaskId, u64),
        (end, with_am): (CopyEnd, bool),
        known: Option<&Task>,
        params: &GovernParams,
        am_now: Time,
    ) {
        let Some(flight) = self.task_mut(task).find(|flight| flight.decision == decision) else { return };
        flight.close((end, with_am), known, params, am_now);
        let restarts = u32::from(flight.action == Action::Restart);
        let newest = self.task_mut(task).next_back().and_then(|flight| flight.asked.as_mut());
        if let Some(asked) = newest.filter(|_| end != CopyEnd::Died || with_am) {
            asked.tries = asked.tries.saturating_sub(1);
            asked.restarts = asked.restarts.saturating_sub(restarts);
        }
    }

    /// Counts wins and losses: a job whose copies come to nothing gets none for a while. That clones lose says nothing.
    fn remember(&mut self, job: &Job, ends: impl IntoIterator<Item = CopyEnd>, params: &GovernParams, am_now: Time) {
        for end in ends {
            let fortune = self.fortunes.entry(job.id).or_default();
            fortune.incarnation = job.incarnation;
            fortune.note(end, params, am_now);
        }
    }

    /// The job's copies are over with it.
    pub fn close_job(&mut self, job: &Job) -> Vec<CopyOutcome> {
        let at = job.ended.get().unwrap_or_else(|| job.am_time(job.heard));
        let open = self.tasks_of(job.id).filter(|(_, flight)| flight.counted);
        open.filter_map(|(id, flight)| {
            let asked = flight.asked.as_ref()?;
            let task = job.task(id);
            let end = task.map_or(CopyEnd::Unknown, |task| end_with(asked, task));
            Some(flight.outcome(asked, id, job, end, at))
        })
        .collect()
    }

    fn asked_mut(&mut self, job: JobId, decision: u64) -> Option<&mut Asked> {
        let mut flights = self.job_mut(job);
        flights.find(|(_, flight)| flight.decision == decision).and_then(|(_, flight)| flight.asked.as_mut())
    }
}

impl Flight {
    /// What became of the copy that was asked for.
    fn outcome(&self, asked: &Asked, id: TaskId, job: &Job, end: CopyEnd, at: Time) -> CopyOutcome {
        let task = job.task(id);
        let held = |copy: &Attempt| copy.held_until(at);
        let copies = || task.into_iter().flat_map(|task| asked.copies(task));
        let winner = task.and_then(Task::winner);
        CopyOutcome {
            decision: self.decision,
            policy: self.policy.clone(),
            action: self.action,
            clones: self.clones,
            telling: job.incarnation == asked.incarnation && self.is_telling(job),
            task: id,
            end,
            answer: asked.answer,
            attempts: task.map(|task| asked.numbers(task)).unwrap_or_default(),
            winner,
            host: None,
            hosts: Vec::new(),
            named: self.named.clone(),
            landed: Landed::default(),
            restart: self.restart,
            at,
            cost: copies().map(held).fold(Millis(0), |sum, one| sum + one),
            winner_cost: copies().find(|copy| Some(copy.number) == winner).map(held).unwrap_or_default(),
            outran: None,
        }
    }

    /// Does its end tell whether the policy copies well? Clones are meant to lose, a restart has no rival, and of a job that is killed or fails all attempts die.
    fn is_telling(&self, job: &Job) -> bool {
        let goes_well = !matches!(job.state, Some(JobPhase::Failed | JobPhase::Killed));
        !self.clones && self.action == Action::Duplicate && goes_well
    }

    /// It holds no budget any more. When may the task have another copy?
    fn close(&mut self, (end, with_am): (CopyEnd, bool), task: Option<&Task>, params: &GovernParams, am_now: Time) {
        self.counted = false;
        let Some(asked) = &mut self.asked else { return };
        if let Some(answer) = asked.answer.filter(|_| end == CopyEnd::Refused) {
            return asked.refuse(answer, task, params, am_now);
        }
        asked.again = match end {
            CopyEnd::Died if with_am || params.copies_per_task == 0 => Some(am_now + params.try_again),
            CopyEnd::Died if !params.allows_another(asked.tries) => None,
            CopyEnd::Died => Some(am_now + params.try_again.max(self.fresh.0)),
            _ => Some(am_now + params.try_again),
        };
    }
}

#[cfg(test)]
mod tests;
