//! Copies in flight: those only advised count like those sent, from the decision to their sampled end or the task's real one.

use crate::estimate::stats::{normal_draw, probability_positive};
use crate::model::{Decision, JobId, Millis, TaskId, TaskKind, Time, VirtualOutcome};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One copy that was decided on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flight {
    /// The decision.
    pub decision: u64,
    /// When, the AM's clock.
    pub since: Time,
    /// Its sampled end, the AM's clock: until then it holds budget.
    pub until: Time,
    /// A fresh copy's expected time then, and its spread.
    pub fresh: (Millis, Millis),
    /// Still holds budget.
    pub counted: bool,
}

/// All copies in flight.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Flights {
    #[serde(with = "crate::model::pairs")]
    by_task: BTreeMap<TaskId, Flight>,
}

impl Flights {
    /// Takes note of a decision. Where no fresh copy's time is known the copy is taken to last as long as the original has run.
    pub fn add(&mut self, decision: &Decision, seed: u64) {
        let numbers = &decision.numbers;
        let mean = numbers.fresh_copy.unwrap_or(numbers.elapsed);
        let spread = numbers.fresh_copy_spread.unwrap_or(mean.scaled(0.25));
        let draw = normal_draw(seed ^ decision.id);
        let lasts = Millis((mean.0 as f64 + draw * spread.0 as f64).max(0.0) as u64);
        let flight = Flight {
            decision: decision.id,
            since: decision.am_at,
            until: decision.am_at + lasts,
            fresh: (mean, spread),
            counted: true,
        };
        self.by_task.insert(decision.task, flight);
    }

    /// The copy of that task.
    pub fn of(&self, task: TaskId) -> Option<&Flight> {
        self.by_task.get(&task)
    }

    /// Copies of a job that hold budget.
    pub fn in_job(&self, job: JobId, kind: TaskKind) -> u32 {
        self.tasks_of(job).filter(|(task, flight)| task.kind == kind && flight.counted).count() as u32
    }

    /// Copies in the cluster that hold budget.
    pub fn in_cluster(&self) -> u32 {
        self.by_task.values().filter(|flight| flight.counted).count() as u32
    }

    /// Gives back the budget of a job's copies that would have ended by `now` on the AM's clock. The next instant at which one will.
    pub fn expire(&mut self, job: JobId, now: Time) -> Option<Time> {
        let all = job.task(TaskKind::Map, 0)..=job.task(TaskKind::Reduce, u32::MAX);
        let mut next: Option<Time> = None;
        for (_, flight) in self.by_task.range_mut(all).filter(|(_, flight)| flight.counted) {
            flight.counted = flight.until > now;
            if flight.counted {
                next = Some(next.map_or(flight.until, |next| next.min(flight.until)));
            }
        }
        next
    }

    /// The task really ended at `ended`: what would the advised copy have done?
    pub fn land(&mut self, task: TaskId, ended: Time, natively_copied: bool) -> Option<VirtualOutcome> {
        let flight = self.by_task.remove(&task)?;
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
        let all = job.task(TaskKind::Map, 0)..=job.task(TaskKind::Reduce, u32::MAX);
        self.by_task.range(all).map(|(task, flight)| (*task, flight))
    }

    /// Forgets a job's copies.
    pub fn forget(&mut self, job: JobId) {
        self.by_task.retain(|task, _| task.job != job);
    }
}
