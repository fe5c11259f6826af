//! Copies in flight: those only advised count like those sent, from the decision to their sampled end or the task's real one.

use super::copies::{Asked, Fortune};
use super::minute::Minute;
use crate::estimate::stats::{normal_draw, probability_positive};
use crate::model::{
    Action, AttemptId, Decision, Job, JobId, Millis, Mode, NameId, TaskId, TaskKind, Time, Verdict, VirtualOutcome,
};
use crate::policy::Budget;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// One copy that was decided on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flight {
    /// The decision.
    pub decision: u64,
    /// The policy that proposed it.
    #[serde(default)]
    pub policy: String,
    /// Host of the attempt it was decided on for, where known.
    #[serde(default)]
    pub from: Option<NameId>,
    /// What it is to do.
    #[serde(default)]
    pub action: Action,
    /// How many copies.
    #[serde(default = "one")]
    pub copies: u32,
    /// They are clones: they last as long as their task, and are meant to lose most of the time.
    #[serde(default)]
    pub clones: bool,
    /// When, the AM's clock.
    pub since: Time,
    /// The sampled end of one only advised, the AM's clock: until then it holds budget.
    pub until: Time,
    /// A fresh copy's expected time then, and its spread.
    pub fresh: (Millis, Millis),
    /// Still holds budget.
    pub counted: bool,
    /// What is known of one that was asked for; `None` for one only advised.
    pub asked: Option<Asked>,
}

/// All copies in flight.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Flights {
    #[serde(with = "crate::model::pairs")]
    by_task: BTreeMap<TaskId, Flight>,
    #[serde(with = "crate::model::pairs")]
    pub(super) fortunes: BTreeMap<JobId, Fortune>,
    /// When the last copy of each job was decided on, the AM's clock.
    #[serde(with = "crate::model::pairs", default)]
    last: BTreeMap<JobId, Time>,
    /// Copies that are to be withdrawn, and whether that was only advised.
    #[serde(with = "crate::model::pairs", default)]
    withdrawn: BTreeMap<(AttemptId, Mode), Withdrawal>,
    /// Copies decided on within the last minute.
    #[serde(default)]
    pub minute: Minute,
}

/// An attempt that is to be ended without another in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Withdrawal {
    decision: u64,
    /// When it is too late to carry it out, the service's clock.
    deadline: Time,
    answered: bool,
}

/// As recordings from before clones mean it.
fn one() -> u32 {
    1
}

/// Every task that a job can have.
fn all_of(job: JobId) -> RangeInclusive<TaskId> {
    job.task(TaskKind::Map, 0)..=job.task(TaskKind::Reduce, u32::MAX)
}

/// Every withdrawal that a job can have.
fn withdrawals_of(job: JobId) -> RangeInclusive<(AttemptId, Mode)> {
    let (first, last) = all_of(job).into_inner();
    (first.attempt(0), Mode::Off)..=(last.attempt(u32::MAX), Mode::Act)
}

impl Flight {
    /// How often its task was restarted by decision, this time included.
    pub fn restarts(&self) -> u32 {
        self.asked.as_ref().map_or(0, |asked| asked.restarts)
    }
}

impl Flights {
    /// Takes note of a decision. Where no fresh copy's time is known the copy is taken to last as long as the original has run.
    pub fn add(&mut self, decision: &Decision, budget: Budget, job: &Job, seed: u64) {
        if decision.action == Action::Withdraw {
            let withdrawal = Withdrawal { decision: decision.id, deadline: decision.deadline, answered: false };
            self.withdrawn.insert((decision.attempt, decision.mode), withdrawal);
            return;
        }
        let numbers = &decision.numbers;
        let mean = numbers.fresh_copy.unwrap_or(numbers.elapsed);
        let spread = numbers.fresh_copy_spread.unwrap_or(mean.scaled(0.25));
        let draw = normal_draw(seed ^ decision.id);
        let lasts = Millis((mean.0 as f64 + draw * spread.0 as f64).max(0.0) as u64);
        let before = self.by_task.get(&decision.task).and_then(|flight| flight.asked.as_ref());
        let asked = (decision.mode == Mode::Act).then(|| Asked {
            deadline: decision.deadline,
            sent: false,
            answer: None,
            attempts: Vec::new(),
            newest_before: job.task(decision.task).and_then(|task| task.attempts.last()).map_or(0, |last| last.number),
            incarnation: job.incarnation,
            tries: before.map_or(0, |asked| asked.tries) + 1,
            restarts: before.map_or(0, |asked| asked.restarts) + u32::from(decision.action == Action::Restart),
            again: None,
        });
        let flight = Flight {
            decision: decision.id,
            policy: decision.policy.clone(),
            from: job.host_of(decision.attempt),
            action: decision.action,
            copies: decision.copies,
            clones: budget == Budget::Clones,
            since: decision.am_at,
            until: decision.am_at + lasts,
            fresh: (mean, spread),
            counted: true,
            asked,
        };
        self.minute.add(decision.at, decision.copies);
        self.by_task.insert(decision.task, flight);
        self.last.insert(decision.job, decision.am_at);
    }

    /// When the last copy of a job was decided on, the AM's clock, whether it is still in flight or not.
    pub fn last_of(&self, job: JobId) -> Option<Time> {
        self.last.get(&job).copied()
    }

    /// Why what is proposed about an attempt, or about its task, may not be done at `now` on the AM's clock; `None` when nothing of the task's own past speaks against it.
    pub fn bar(&self, attempt: AttemptId, action: Action, mode: Mode, now: Time) -> Option<Verdict> {
        match action {
            Action::Withdraw => self.withdrawn.contains_key(&(attempt, mode)).then_some(Verdict::AlreadyCopied),
            Action::Duplicate | Action::Restart => self.bar_of_task(attempt.task, mode, now),
        }
    }

    /// Why none of the job's tasks may have a copy at `now` on the AM's clock: too many came to nothing.
    pub fn bar_of_job(&self, job: JobId, mode: Mode, now: Time) -> Option<Verdict> {
        let rests = self.fortunes.get(&job).is_some_and(|fortune| mode == Mode::Act && now < fortune.rests_until);
        rests.then_some(Verdict::CoolDown)
    }

    /// Why the task may not have another copy at `now` on the AM's clock.
    pub fn bar_of_task(&self, task: TaskId, mode: Mode, now: Time) -> Option<Verdict> {
        let of_job = self.bar_of_job(task.job, mode, now);
        let Some(flight) = self.by_task.get(&task) else { return of_job };
        match &flight.asked {
            // What was only advised says nothing against doing it.
            None if mode == Mode::Act => of_job,
            _ if flight.counted => Some(Verdict::CopyInFlight),
            None => Some(Verdict::AlreadyAdvised),
            Some(asked) if asked.again.is_none_or(|again| now < again) => Some(Verdict::CoolDown),
            Some(_) => of_job,
        }
    }

    /// The copy of that task.
    pub fn of(&self, task: TaskId) -> Option<&Flight> {
        self.by_task.get(&task)
    }

    /// Copies of a job that hold budget.
    pub fn in_job(&self, job: JobId, kind: TaskKind) -> u32 {
        self.tasks_of(job)
            .filter(|(task, flight)| task.kind == kind && flight.counted)
            .map(|(_, flight)| flight.copies)
            .sum()
    }

    /// Copies in the cluster that hold budget.
    pub fn in_cluster(&self) -> u32 {
        self.by_task.values().filter(|flight| flight.counted).map(|flight| flight.copies).sum()
    }

    /// The copies, by task.
    pub fn all(&self) -> impl Iterator<Item = (TaskId, &Flight)> {
        self.by_task.iter().map(|(task, flight)| (*task, flight))
    }

    /// Gives back the budget of a job's copies that would have ended by `now` on the AM's clock. The next instant at which one will.
    pub fn expire(&mut self, job: JobId, now: Time) -> Option<Time> {
        let mut next: Option<Time> = None;
        let advised = |flight: &Flight| flight.counted && flight.asked.is_none() && !flight.clones;
        for (_, flight) in self.job_mut(job).filter(|(_, flight)| advised(flight)) {
            flight.counted = flight.until > now;
            if flight.counted {
                next = Some(next.map_or(flight.until, |next| next.min(flight.until)));
            }
        }
        next
    }

    /// The task really ended at `ended`: what would the advised copy have done? `None` for one that was asked for, and for clones: when they are decided on nobody knows how
    /// long one would take.
    pub fn land(&mut self, task: TaskId, ended: Time, natively_copied: bool) -> Option<VirtualOutcome> {
        if self.by_task.get(&task)?.asked.is_some() {
            return None;
        }
        let flight = self.by_task.remove(&task).filter(|flight| !flight.clones)?;
        let left = ended.since(flight.since);
        let ahead = left.0 as f64 - flight.fresh.0.0 as f64;
        Some(VirtualOutcome {
            decision: flight.decision,
            task,
            ended,
            would_have_won: probability_positive(ahead, flight.fresh.1.0 as f64),
            gain: left - flight.fresh.0,
            natively_copied,
        })
    }

    /// Tasks of a job that have a copy, in order.
    pub fn tasks_of(&self, job: JobId) -> impl Iterator<Item = (TaskId, &Flight)> {
        self.by_task.range(all_of(job)).map(|(task, flight)| (*task, flight))
    }

    /// Copies of a job, in order of task, to be changed.
    pub(super) fn job_mut(&mut self, job: JobId) -> impl Iterator<Item = (TaskId, &mut Flight)> {
        self.by_task.range_mut(all_of(job)).map(|(task, flight)| (*task, flight))
    }

    pub(super) fn remove(&mut self, task: TaskId) {
        self.by_task.remove(&task);
    }

    /// Copies of a job that wait for a container, as far as is known.
    pub fn unplaced(&self, job: &Job, kind: TaskKind) -> u32 {
        let waits = |task: TaskId, flight: &Flight| {
            let asked = flight.asked.as_ref().filter(|_| flight.counted && task.kind == kind);
            asked.is_some_and(|asked| asked.is_unplaced(job.task(task)))
        };
        self.tasks_of(job.id).filter(|(task, flight)| waits(*task, flight)).map(|(_, flight)| flight.copies).sum()
    }

    /// Has that withdrawal neither been answered nor been given up?
    pub(super) fn awaits_withdrawal(&self, decision: &Decision) -> bool {
        let asked = self.withdrawn.get(&(decision.attempt, decision.mode));
        asked.is_some_and(|asked| asked.decision == decision.id && !asked.answered)
    }

    /// A withdrawal of that job's was answered.
    pub(super) fn withdrawal_answered(&mut self, job: JobId, decision: u64) {
        let of_job = self.withdrawn.range_mut(withdrawals_of(job));
        of_job.filter(|(_, asked)| asked.decision == decision).for_each(|(_, asked)| asked.answered = true);
    }

    /// Gives up the job's withdrawals whose order, or the word on it, may have been lost: what still runs at `now`, the service's clock, may be withdrawn again. When the next
    /// one will be given up.
    pub(super) fn give_up_withdrawals(&mut self, job: JobId, grace: Millis, now: Time) -> Option<Time> {
        let asked = self.withdrawn.range(withdrawals_of(job)).filter(|((_, mode), _)| *mode == Mode::Act);
        let ends: Vec<_> = asked.map(|(key, asked)| (asked.deadline + grace, *key)).collect();
        for (_, key) in ends.iter().filter(|(end, _)| *end <= now) {
            self.withdrawn.remove(key);
        }
        ends.into_iter().map(|(end, _)| end).filter(|end| *end > now).min()
    }

    /// Forgets a job's copies.
    pub fn forget(&mut self, job: JobId) {
        let theirs: Vec<TaskId> = self.tasks_of(job).map(|(task, _)| task).collect();
        theirs.iter().for_each(|task| drop(self.by_task.remove(task)));
        self.fortunes.remove(&job);
        self.last.remove(&job);
        self.withdrawn.retain(|(attempt, _), _| attempt.task.job != job);
    }
}

#[cfg(test)]
pub(super) mod tests;
