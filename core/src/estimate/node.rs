//! How much work each node has done.

use super::stats::quantile;
use crate::model::{Attempt, Job, Millis, NameId, TaskKind, TaskState, Time};
use std::collections::BTreeMap;

/// LATE §4: total work of each node, the sum of the progress scores of all succeeded and in-progress tasks on it; here of one user's running jobs, lest one user's claims decide about another's
/// copies.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeWork {
    work: BTreeMap<NameId, Done>,
}

/// How long work that has ended counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fading {
    /// The service's clock.
    pub now: Time,
    /// After so long it counts half; zero: it counts in full for as long as its job runs, as in the paper.
    pub half_life: Millis,
}

impl Fading {
    /// The share (0–1) that is left of a whole score. It falls step by step, so that it seldom changes from one look to the next.
    fn left(self, attempt: &Attempt, job: &Job) -> f64 {
        const STEPS: u64 = 16;
        let Some(ended) = attempt.finished.get().filter(|_| self.half_life.0 > 0) else { return 1.0 };
        let steps = job.am_time(self.now).since(ended).0.saturating_mul(STEPS) / self.half_life.0;
        0.5_f64.powf(steps as f64 / STEPS as f64)
    }
}

/// What one node has done.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Done {
    /// Sum of progress scores.
    pub work: f64,
    /// Attempts that it is the sum over.
    pub attempts: u32,
    /// Users whose attempts these are.
    pub users: u32,
}

impl NodeWork {
    /// Adds attempts of a job of the same user as the others; one that was lost adds nothing, and its node has a record all the same. Over REST only some attempts' hosts
    /// are known; the others count nowhere.
    pub fn add(&mut self, job: &Job, fading: Fading) {
        for kind in TaskKind::ALL {
            for (_, task) in job.tasks(kind) {
                for attempt in &task.attempts {
                    let Some(host) = attempt.host else { continue };
                    let won = task.state == TaskState::Succeeded
                        && task.won().is_some_and(|won| won.number == attempt.number);
                    let score = match attempt.state.is_final() {
                        true if won => fading.left(attempt, job),
                        true => {
                            self.work.entry(host).or_insert(Done { users: 1, ..Done::default() });
                            continue;
                        }
                        false => attempt.track.score(),
                    };
                    let done = self.work.entry(host).or_default();
                    (done.work, done.attempts, done.users) = (done.work + score, done.attempts + 1, 1);
                }
            }
        }
    }

    /// Adds the work of another user's attempts.
    pub fn join(&mut self, other: &NodeWork) {
        for (host, theirs) in &other.work {
            let done = self.work.entry(*host).or_default();
            done.work += theirs.work;
            (done.attempts, done.users) = (done.attempts + theirs.attempts, done.users + theirs.users);
        }
    }

    /// LATE's SlowNodeThreshold: the work that stands at that percentile (0–1) of all nodes' work; `None` while nothing is known.
    pub fn threshold(&self, percentile: f64) -> Option<f64> {
        let mut all: Vec<f64> = self.work.values().map(|done| done.work).collect();
        quantile(&mut all, percentile)
    }

    /// The work of a node; `None` for one without a record, which is then not called slow.
    pub fn of(&self, host: NameId) -> Option<f64> {
        self.record(host).map(|done| done.work)
    }

    /// All that is counted of a node.
    pub fn record(&self, host: NameId) -> Option<Done> {
        self.work.get(&host).copied()
    }

    /// Nodes with a record, in order.
    pub fn hosts(&self) -> impl Iterator<Item = NameId> {
        self.work.keys().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::pace::tests::host;
    use crate::model::{AttemptFact, AttemptState, JobId, TaskFact, Time};

    const WHOLE: Fading = Fading { now: Time(0), half_life: Millis(0) };

    /// A job's maps, each with its attempts: (host, state, score).
    fn job(maps: &[&[(u32, AttemptState, f32)]]) -> Job {
        let id: JobId = "job_1_0001".parse().unwrap();
        let mut job = Job::new(id);
        job.totals = Some([maps.len() as u32, 0]);
        for (index, attempts) in (0..).zip(maps) {
            let task = id.task(TaskKind::Map, index);
            for (number, (on, state, score)) in (0..).zip(*attempts) {
                let (score, scored_at) = (Some(*score), Some(Time(2_000)));
                let fact =
                    AttemptFact { state: Some(*state), score, scored_at, ..AttemptFact::of(task.attempt(number)) };
                assert!(job.learn_attempt(&fact, Some(host(*on)), Time(1_000_000), 1_000));
            }
            if let Some(winner) = attempts.iter().position(|(_, state, _)| *state == AttemptState::Succeeded) {
                let (state, winner) = (Some(TaskState::Succeeded), Some(winner as u32));
                assert!(job.learn_task(&TaskFact { state, winner, ..TaskFact::of(task) }, Time(1_000_000), 1_000));
            }
        }
        job
    }

    #[test]
    fn a_nodes_work_is_that_of_what_succeeded_and_of_what_runs_and_what_was_lost_counts_for_nothing() {
        use AttemptState::{Failed, Killed, Running, Succeeded};
        let mut work = NodeWork::default();
        assert_eq!(work.threshold(0.25), None);
        work.add(
            &job(&[
                &[(1, Killed, 0.75), (2, Succeeded, 1.0)],
                &[(1, Failed, 0.5), (3, Running, 0.5)],
                &[(2, Running, 0.25), (3, Running, 0.25)],
            ]),
            WHOLE,
        );
        assert_eq!([1, 2, 3].map(|on| work.of(host(on))), [Some(0.0), Some(1.25), Some(0.75)]);
        assert_eq!(work.hosts().collect::<Vec<_>>(), [host(1), host(2), host(3)]);
        assert_eq!([0.0, 0.25, 1.0].map(|share| work.threshold(share)), [0.0, 0.375, 1.25].map(Some));
        let mut both = NodeWork::default();
        both.join(&work);
        both.join(&work);
        assert_eq!(both.record(host(2)), Some(Done { work: 2.5, attempts: 4, users: 2 }));
    }

    #[test]
    fn work_that_has_ended_fades_step_by_step_and_what_runs_does_not() {
        let mut job = job(&[&[(1, AttemptState::Succeeded, 1.0)], &[(2, AttemptState::Running, 0.5)]]);
        let ended = job.id.task(TaskKind::Map, 0).attempt(0);
        let told = AttemptFact { finished: Some(Time(1_000_000)), ..AttemptFact::of(ended) };
        assert!(job.learn_attempt(&told, None, Time(1_000_000), 1_000));
        job.clock_offset_ms = 500;
        let left = |age: u64, half_life| {
            let mut work = NodeWork::default();
            work.add(&job, Fading { now: Time(1_000_000 + age).shifted(-500), half_life: Millis(half_life) });
            assert_eq!(work.of(host(2)), Some(0.5));
            work.of(host(1)).unwrap()
        };
        assert_eq!([0, 999, 16_000, 48_000].map(|age| left(age, 16_000)), [1.0, 1.0, 0.5, 0.125]);
        assert_eq!(left(1_000, 16_000), 0.5_f64.powf(1.0 / 16.0));
        assert_eq!(left(u64::MAX >> 24, 0), 1.0, "never, where it has no half-life");
    }
}
