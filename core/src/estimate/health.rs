//! A node's health: what every estimate says of one machine, each with what it rests on.

use super::machine::Machine;
use super::node::NodeWork;
use super::users::PRINCIPALS_MAX;
use super::windows::Odds;
use crate::model::NameId;
use serde::{Deserialize, Serialize};

/// One number of a node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// The number.
    pub value: f64,
    /// What the last window that is over and had tasks came to alone; `None` before there is one, and for what has no windows.
    pub last: Option<f64>,
    /// Tasks that it rests on, older windows counting less.
    pub evidence: f64,
    /// Users whose tasks these are, up to eight.
    pub principals: usize,
}

/// What is known of a node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeHealth {
    /// Probability (0–1) that a task on it straggles, by five minutes (NSDI'13 §2.1.2).
    pub straggles: Option<Measure>,
    /// The same by the hour.
    pub straggles_hourly: Option<Measure>,
    /// locationFactor (Mantri §5.5, eq. 3), by the hour: how many times longer it takes for its tasks' data than is typical of their phases.
    pub location_factor: Option<Measure>,
    /// Probability (0–1) that the output of a map on it is lost, by the day (Mantri §5.3).
    pub loses_output: Option<Measure>,
    /// LATE §4: sum of the progress scores of succeeded and running attempts of the jobs that run now.
    pub work: Option<Measure>,
    /// Its work is below LATE's SlowNodeThreshold.
    pub slow: bool,
}

impl Measure {
    /// A probability with what it rests on; `None` before any task has shown it.
    pub fn of(odds: &Odds) -> Option<Measure> {
        let (evidence, principals) = (odds.evidence(), odds.principals());
        Some(Measure { value: odds.probability()?, last: odds.last(), evidence, principals })
    }
}

impl NodeHealth {
    /// Of a machine, as far as it is known, and its work among all nodes' with the SlowNodeThreshold these come to.
    pub fn of(host: NameId, machine: Option<&Machine>, work: &NodeWork, threshold: Option<f64>) -> NodeHealth {
        let pace = |machine: &Machine| {
            let hourly = Measure::of(machine.hourly())?;
            Some(Measure { value: machine.location_factor()?, last: machine.last_location_factor(), ..hourly })
        };
        let done = work.record(host);
        let work = done.map(|done| Measure {
            value: done.work,
            last: None,
            evidence: f64::from(done.attempts),
            principals: PRINCIPALS_MAX.min(done.users as usize),
        });
        NodeHealth {
            straggles: machine.and_then(|machine| Measure::of(machine.straggles())),
            straggles_hourly: machine.and_then(|machine| Measure::of(machine.hourly())),
            location_factor: machine.and_then(pace),
            loses_output: machine.and_then(|machine| Measure::of(machine.loses_output())),
            slow: work.zip(threshold).is_some_and(|(work, threshold)| work.value < threshold),
            work,
        }
    }

    /// How long a typical task's output takes on it, in typical tasks: its pace, and once more with the probability that the output is lost. 1 where nothing is known.
    pub fn cost(&self) -> f64 {
        let factor = self.location_factor.map_or(1.0, |measure| measure.value);
        factor * (1.0 + self.loses_output.map_or(0.0, |measure| measure.value))
    }
}

#[cfg(test)]
mod tests {
    use super::super::machine::Windows;
    use super::super::pace::{Pace, tests::host};
    use super::super::windows::Idle;
    use super::*;
    use crate::estimate::node::Fading;
    use crate::model::{AttemptFact, AttemptState, Job, JobId, Millis, TaskKind, Time};

    /// A job of running maps: (host, score).
    fn running(maps: &[(u32, f32)]) -> Job {
        let id: JobId = "job_1_0001".parse().unwrap();
        let mut job = Job::new(id);
        job.totals = Some([maps.len() as u32, 0]);
        for (index, (on, score)) in (0..).zip(maps) {
            let (state, score, scored_at) = (Some(AttemptState::Running), Some(*score), Some(Time(2_000)));
            let fact =
                AttemptFact { state, score, scored_at, ..AttemptFact::of(id.task(TaskKind::Map, index).attempt(0)) };
            assert!(job.learn_attempt(&fact, Some(host(*on)), Time(1_000_000), 1_000));
        }
        job
    }

    #[test]
    fn a_node_is_slow_below_the_threshold_and_not_at_it() {
        let mut work = NodeWork::default();
        let whole = Fading { now: Time(0), half_life: Millis(0) };
        work.add(&running(&[(1, 0.5), (2, 0.75)]), whole);
        let slow = |on, threshold| NodeHealth::of(host(on), None, &work, threshold).slow;
        assert_eq!(
            [Some(0.75), Some(0.5), Some(0.25), None].map(|threshold| slow(1, threshold)),
            [true, false, false, false]
        );
        assert!(!slow(3, Some(0.75)), "without a record it is not called slow");
    }

    #[test]
    fn a_location_factor_is_told_with_its_own_last_hour() {
        let mut machine = Machine::default();
        let pace = |factor| Pace { host: host(1), factor, straggled: false };
        let windows = |hour| Windows { machine: hour, hour, day: 0 };
        machine.add(&windows(1), Idle::Nothing, &pace(3.0), "ann");
        machine.add(&windows(2), Idle::Nothing, &pace(0.5), "ann");
        let health = NodeHealth::of(host(1), Some(&machine), &NodeWork::default(), None);
        let told = health.location_factor.unwrap();
        assert_eq!((told.value, told.last, health.straggles_hourly.unwrap().last), (3.0, Some(3.0), Some(0.0)));
    }
}
