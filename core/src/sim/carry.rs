//! Decisions, carried out as an AM would: checked against the task as it is now, and answered.

use super::attempt::Stage;
use super::task::Ask;
use super::watch::End;
use super::world::World;
use crate::engine::Pass;
use crate::model::{Action, Answer, Decision, Mode, TaskKind, TaskState, Time};

impl World<'_> {
    /// Carries out what one look has come to.
    pub(super) fn carry_out_all(&mut self, pass: &Pass, now: Time) {
        pass.measures.iter().for_each(|measure| self.take(measure, now));
        // What is only advised is done to nobody's job, and an ideal's engine plans alone.
        let acts = self.ideal.is_none();
        let all = pass.decisions.iter().filter(|decision| acts && decision.mode == Mode::Act);
        all.for_each(|decision| self.carry_out(decision, now));
    }

    /// Carries out a decision, and answers it.
    pub(super) fn carry_out(&mut self, decision: &Decision, now: Time) {
        let number = decision.job.0.seq - 1;
        let done = self.bar(number, decision).map_or_else(|| self.act(number, decision, now), Err);
        let (answer, attempts) = done.map_or_else(|refused| (refused, vec![]), |attempts| (Answer::Applied, attempts));
        self.driver.answer(decision, answer, attempts, now);
    }

    /// Why it cannot be done any more.
    fn bar(&self, number: u32, decision: &Decision) -> Option<Answer> {
        let Some(job) = self.jobs.get(&number) else { return Some(Answer::UnknownTask) };
        let task = job.task(decision.task.kind, decision.task.index);
        let waits = matches!(task.state, TaskState::New | TaskState::Scheduled);
        // What a map writes for reduces it sorts, and nobody is asked whether it may.
        let sorts = decision.task.kind == TaskKind::Map && !job.of(TaskKind::Reduce).all.is_empty();
        let committing = || !sorts && task.live.iter().any(|key| self.attempts.get(*key).stage == Stage::Commit);
        let live = task.live.len() as u32 + task.asked;
        match task.state {
            TaskState::Succeeded => Some(Answer::TaskEnded),
            _ if job.is_whole() => Some(Answer::TooManyAttempts),
            _ if waits && !self.can.copy_waiting => Some(Answer::NotRunning),
            _ if committing() => Some(Answer::Committing),
            _ if decision.action == Action::Duplicate && live > decision.live => Some(Answer::TooManyAttempts),
            _ => None,
        }
    }

    fn act(&mut self, number: u32, decision: &Decision, now: Time) -> Result<Vec<u32>, Answer> {
        let (kind, index) = (decision.task.kind, decision.task.index);
        let nodes = |hosts: &[String]| {
            hosts.iter().filter_map(|host| host.strip_prefix('n')?.parse().ok()).collect::<Vec<u32>>()
        };
        let [avoid, prefer] = if self.driver.places() {
            [&decision.avoid, &decision.prefer].map(|hosts| nodes(hosts))
        } else {
            [vec![], vec![]]
        };
        let Some(job) = self.jobs.get_mut(&number) else { return Err(Answer::UnknownTask) };
        let victim = || {
            let live = job.task(kind, index).live.iter().copied();
            live.into_iter().find(|key| self.attempts.get(*key).number == decision.attempt.number)
        };
        match decision.action {
            Action::Duplicate => {
                let first = self.can.copy_first;
                let ask = Ask { is_copy: true, avoid, prefer, ..Ask::of(index, now) };
                let numbers = (0..decision.copies).map(|_| job.ask(kind, ask.clone(), first)).collect();
                self.yarn.seat(job);
                self.stirred = true;
                self.serve_if_stirred(now);
                Ok(numbers)
            }
            Action::Restart => {
                let victim = victim().ok_or(Answer::NotRunning)?;
                job.tally.restarts += 1;
                let number_of_next = job.task(kind, index).numbered;
                let left = self.attempts.get(victim).node;
                self.ends(victim, End::Restarted, now);
                // It would be the first to get the place that has just fallen free.
                self.steer(number, (kind, index, number_of_next), &[&avoid[..], &[left]].concat(), &prefer);
                Ok(vec![number_of_next])
            }
            Action::Withdraw => {
                let victim = victim().ok_or(Answer::NotRunning)?;
                job.tally.withdrawn += 1;
                self.ends(victim, End::Withdrawn, now);
                // A reduce's clone waits no longer for an output that is not to come any more, nor for another clone to have read one.
                self.let_read(number, now);
                Ok(vec![])
            }
        }
    }

    /// The replacement of an attempt that was killed for being slow keeps off where that was.
    fn steer(&mut self, number: u32, (kind, index, next): (TaskKind, u32, u32), avoid: &[u32], prefer: &[u32]) {
        let Some(job) = self.jobs.get_mut(&number) else { return };
        if let Some(ask) = job.of_mut(kind).asks.iter_mut().find(|ask| (ask.index, ask.number) == (index, next)) {
            (ask.avoid, ask.prefer) = (avoid.to_vec(), prefer.to_vec());
        }
    }

    fn serve_if_stirred(&mut self, now: Time) {
        if std::mem::take(&mut self.stirred) {
            self.serve(now);
        }
    }
}

#[cfg(test)]
mod tests;
