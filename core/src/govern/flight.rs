//! Copies in flight: those only advised count like those sent, from the decision to their sampled end or the task's real one.

use super::asked::Asked;
use super::fortune::Fortune;
use super::minute::Minute;
use super::withdrawals::Withdrawals;
use crate::estimate::stats::{normal_draw, probability_positive};
use crate::model::{Action, Answer, Decision, Job, JobId, Millis, Mode, NameId, Task, TaskId, Time, VirtualOutcome};
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
    /// Of a restart, how many it makes of its task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<u32>,
    /// Of what is asked for: the hosts named to keep off, and those to prefer.
    #[serde(default, skip_serializing_if = "names_none")]
    pub(super) named: [Vec<NameId>; 2],
    /// How many copies.
    #[serde(default = "one")]
    pub copies: u32,
    /// They are clones: they last as long as their task, and are meant to lose most of the time.
    #[serde(default)]
    pub clones: bool,
    /// When, the AM's clock.
    pub since: Time,
    /// The AM whose clock that is; zero in recordings from before it was kept.
    #[serde(default)]
    pub incarnation: u64,
    /// The sampled end of one only advised, the AM's clock: until then it holds budget.
    pub until: Time,
    /// A fresh copy's expected time then, and its spread.
    pub fresh: (Millis, Millis),
    /// Is not over: see [`Flight::is_in_flight`].
    pub counted: bool,
    /// What is known of one that was asked for; `None` for one only advised.
    pub asked: Option<Asked>,
}

/// All copies in flight.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Flights {
    /// By task and decision: of nearly every task that has any, one.
    #[serde(with = "pairs_by_task")]
    by_task: BTreeMap<(TaskId, u64), Flight>,
    #[serde(with = "crate::model::pairs")]
    pub(super) fortunes: BTreeMap<JobId, Fortune>,
    /// When the last copy of each job was decided on, the AM's clock.
    #[serde(with = "crate::model::pairs", default)]
    pub(super) last: BTreeMap<JobId, Time>,
    /// Attempts that are to be ended.
    #[serde(default)]
    pub(super) withdrawn: Withdrawals,
    /// Copies decided on within the last minute.
    #[serde(default)]
    pub minute: Minute,
}

/// Serialised as pairs of task and flight, as when a task had one at most.
mod pairs_by_task {
    use super::{BTreeMap, Flight, TaskId};
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(map: &BTreeMap<(TaskId, u64), Flight>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(map.iter().map(|((task, _), flight)| (task, flight)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<(TaskId, u64), Flight>, D::Error> {
        let pairs = Vec::<(TaskId, Flight)>::deserialize(from)?;
        Ok(pairs.into_iter().map(|(task, flight)| ((task, flight.decision), flight)).collect())
    }
}

/// As recordings from before clones mean it.
fn one() -> u32 {
    1
}

fn names_none(named: &[Vec<NameId>; 2]) -> bool {
    named.iter().all(Vec::is_empty)
}

/// Every flight that these tasks can have.
fn flights_of(tasks: RangeInclusive<TaskId>) -> RangeInclusive<(TaskId, u64)> {
    let (first, last) = tasks.into_inner();
    (first, 0)..=(last, u64::MAX)
}

impl Flight {
    /// How often its task was restarted by decision, this time included; as often as can be while its AM has no room for another attempt in the place of those there are: a
    /// copy beside them may be borne.
    pub fn restarts(&self) -> u32 {
        let unroomed = |asked: &Asked| asked.answer == Some(Answer::NoHeadroom) && asked.refusals.is_some();
        match &self.asked {
            Some(asked) if self.action == Action::Restart && unroomed(asked) => u32::MAX,
            asked => asked.as_ref().map_or(0, |asked| asked.restarts),
        }
    }

    /// Does it hold budget, and is the task to have no other meanwhile? A restart does until what it has put in the place of the attempt that it had killed runs.
    pub fn is_in_flight(&self) -> bool {
        self.counted && !self.asked.as_ref().is_some_and(|asked| asked.replaced)
    }

    /// How often its task was given another attempt by decision, this time included.
    pub fn tries(&self) -> u32 {
        self.asked.as_ref().map_or(0, |asked| asked.tries)
    }

    /// It was asked for, and is not over.
    fn is_asked(&self) -> bool {
        self.counted && self.asked.is_some()
    }
}

impl Flights {
    /// Takes note of a decision. Where no fresh copy's time is known the copy is taken to last as long as the original has run.
    pub fn add(&mut self, decision: &Decision, budget: Budget, job: &Job, seed: u64) {
        if decision.action == Action::Withdraw {
            self.withdrawn.add(decision);
            return;
        }
        let numbers = &decision.numbers;
        let mean = numbers.fresh_copy.unwrap_or(numbers.elapsed);
        let spread = numbers.fresh_copy_spread.unwrap_or(mean.scaled(0.25));
        let draw = normal_draw(seed ^ decision.id);
        let lasts = Millis((mean.0 as f64 + draw * spread.0 as f64).max(0.0) as u64);
        let newest = job.task(decision.task).and_then(|task| task.attempts.last());
        let newest_before = newest.map_or(0, |newest| newest.number).max(decision.attempt.number);
        let before = self.newest(decision.task).and_then(|flight| flight.asked.as_ref());
        let asked = (decision.mode == Mode::Act).then(|| Asked {
            deadline: decision.deadline,
            sent: false,
            answer: None,
            attempts: Vec::new(),
            newest_before,
            newest_own: None,
            others: Vec::new(),
            incarnation: job.incarnation,
            replaced: false,
            gone: None,
            tries: before.map_or(0, |asked| asked.tries) + 1,
            restarts: before
                .map_or(0, |asked| asked.restarts)
                .saturating_add(u32::from(decision.action == Action::Restart)),
            refusals: before.and_then(|asked| asked.refusals.clone()),
            again: None,
        });
        self.make_way(decision.task, newest_before);
        let flight = Flight {
            decision: decision.id,
            policy: decision.policy.clone(),
            from: job.host_of(decision.attempt),
            action: decision.action,
            restart: decision.restart(),
            named: [Vec::new(), Vec::new()],
            copies: decision.copies,
            clones: budget == Budget::Clones,
            since: decision.am_at,
            incarnation: job.incarnation,
            until: decision.am_at + lasts,
            fresh: (mean, spread),
            counted: true,
            asked,
        };
        self.minute.add(decision.at, decision.copies);
        self.by_task.insert((decision.task, decision.id), flight);
        self.last.insert(decision.job, decision.am_at);
    }

    /// Takes note of the hosts that the decision on a copy names, to keep off and to prefer, if the copy is asked for: where it ran is set against these.
    pub fn name_hosts(&mut self, decision: &Decision, named: [Vec<NameId>; 2]) {
        let asked =
            self.task_mut(decision.task).find(|flight| flight.decision == decision.id && flight.asked.is_some());
        if let Some(flight) = asked {
            flight.named = named;
        }
    }

    /// Another comes in the place of a task's flights that are over or were only advised. Attempts that are numbered above the newest by now do not stand for those that go on.
    fn make_way(&mut self, task: TaskId, newest: u32) {
        let of_task = self.by_task.range(flights_of(task..=task));
        let over: Vec<_> = of_task.filter(|(_, flight)| !flight.is_asked()).map(|(key, _)| *key).collect();
        over.iter().for_each(|key| drop(self.by_task.remove(key)));
        for asked in self.task_mut(task).filter_map(|flight| flight.asked.as_mut()) {
            asked.newest_own.get_or_insert(newest);
        }
    }

    /// When the last copy of a job was decided on, the AM's clock, whether it is still in flight or not.
    pub fn last_of(&self, job: JobId) -> Option<Time> {
        self.last.get(&job).copied()
    }

    /// The copies of that task, in the order in which they were decided on.
    pub fn of(&self, task: TaskId) -> impl Iterator<Item = &Flight> {
        self.by_task.range(flights_of(task..=task)).map(|(_, flight)| flight)
    }

    /// The one that was decided on last, which knows how many there were before.
    pub fn newest(&self, task: TaskId) -> Option<&Flight> {
        self.by_task.range(flights_of(task..=task)).next_back().map(|(_, flight)| flight)
    }

    /// Copies in the cluster that hold budget.
    pub fn in_cluster(&self) -> u32 {
        self.by_task.values().filter(|flight| flight.is_in_flight()).map(|flight| flight.copies).sum()
    }

    /// The copies, by task.
    pub fn all(&self) -> impl Iterator<Item = (TaskId, &Flight)> {
        self.by_task.iter().map(|((task, _), flight)| (*task, flight))
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

    /// Forgets what was only advised on attempts that died with an earlier AM of the job: nothing comes of it, and of its task's next attempt it says nothing. Nor does how copies fared then say
    /// anything of those to come, or that AM's clock when.
    pub fn outlive(&mut self, job: &Job) {
        let earlier = |incarnation: u64| (1..job.incarnation).contains(&incarnation);
        if self.fortunes.get(&job.id).is_some_and(|fortune| earlier(fortune.incarnation)) {
            self.fortunes.remove(&job.id);
        }
        let died = |flight: &Flight| flight.asked.is_none() && earlier(flight.incarnation);
        let gone = self.tasks_of(job.id).filter(|(_, flight)| died(flight));
        let gone: Vec<_> = gone.map(|(task, flight)| (task, flight.decision)).collect();
        gone.iter().for_each(|key| drop(self.by_task.remove(key)));
    }

    /// The task really ended at `ended`: what would the advised copy have done? `None` for one that was asked for, and for clones: when they are decided on nobody knows how
    /// long one would take.
    pub fn land(&mut self, task: TaskId, ended: Time, seen: Option<&Task>) -> Option<VirtualOutcome> {
        let (key, _) = self.by_task.range(flights_of(task..=task)).find(|(_, flight)| flight.asked.is_none())?;
        let key = *key;
        let flight = self.by_task.remove(&key).filter(|flight| !flight.clones)?;
        let left = ended.since(flight.since);
        let ahead = left.0 as f64 - flight.fresh.0.0 as f64;
        Some(VirtualOutcome {
            decision: flight.decision,
            task,
            ended,
            would_have_won: probability_positive(ahead, flight.fresh.1.0 as f64),
            gain: left - flight.fresh.0,
            natively_copied: seen.is_some_and(Task::natively_copied),
            winner: seen.and_then(Task::winner),
        })
    }

    /// Copies of a job with their tasks, in order of these.
    pub fn tasks_of(&self, job: JobId) -> impl Iterator<Item = (TaskId, &Flight)> {
        self.by_task.range(flights_of(job.all_tasks())).map(|((task, _), flight)| (*task, flight))
    }

    /// The same, to be changed.
    pub(super) fn job_mut(&mut self, job: JobId) -> impl Iterator<Item = (TaskId, &mut Flight)> {
        self.by_task.range_mut(flights_of(job.all_tasks())).map(|((task, _), flight)| (*task, flight))
    }

    /// Those of a task, to be changed.
    pub(super) fn task_mut(&mut self, task: TaskId) -> impl DoubleEndedIterator<Item = &mut Flight> {
        self.by_task.range_mut(flights_of(task..=task)).map(|(_, flight)| flight)
    }

    /// The task needs none of them any more.
    pub(super) fn remove(&mut self, task: TaskId) {
        self.remove_all(task..=task);
    }

    fn remove_all(&mut self, tasks: RangeInclusive<TaskId>) {
        let theirs: Vec<_> = self.by_task.range(flights_of(tasks)).map(|(key, _)| *key).collect();
        theirs.iter().for_each(|key| drop(self.by_task.remove(key)));
    }

    /// Forgets a job's copies.
    pub fn forget(&mut self, job: JobId) {
        self.remove_all(job.all_tasks());
        self.fortunes.remove(&job);
        self.last.remove(&job);
        self.withdrawn.forget(job);
    }
}

#[cfg(test)]
pub(crate) mod tests;
