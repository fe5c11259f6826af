//! How often a map's other clones leave an output of their own in time: p_c of delay assignment (Dolly, NSDI'13, §4.4).

use crate::model::{Attempt, AttemptState, Job, Millis, TaskKind, Time};
use serde::{Deserialize, Serialize};

/// So many groups of clones are remembered; older ones count for less.
const KEPT: f64 = 200.0;

/// What one run's clones of maps show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Missed {
    missed: u32,
    groups: u32,
}

impl Missed {
    /// Of the maps with clones, those of which none but the first had ended so many seconds after it, or after the first reduce had begun, if that was later. `None` without such
    /// maps, and where nobody waited.
    pub fn after(waited: f64, job: &Job) -> Option<Missed> {
        if waited <= 0.0 {
            return None;
        }
        let waited = Millis::from_secs_f64(waited);
        let reduces = job.tasks(TaskKind::Reduce).flat_map(|(_, task)| &task.attempts);
        let began = reduces.filter_map(|attempt| attempt.started.get()).min()?;
        let (mut missed, mut groups) = (0, 0);
        for (_, task) in job.tasks(TaskKind::Map).filter(|(_, task)| task.attempts.len() > 1) {
            let ended = task.attempts.iter().filter(|attempt| attempt.state == AttemptState::Succeeded);
            let mut outputs: Vec<Time> = ended.filter_map(|attempt| attempt.finished.get()).collect();
            outputs.sort_unstable();
            let Some(first) = outputs.first() else { continue };
            // What had failed before is no clone that was waited for.
            let lasts = |attempt: &&Attempt| attempt.finished.get().is_none_or(|at| at >= *first);
            if task.attempts.iter().filter(lasts).count() < 2 {
                continue;
            }
            let until = began.max(*first) + waited;
            groups += 1;
            missed += u32::from(outputs.get(1).is_none_or(|second| *second > until));
        }
        (groups > 0).then_some(Missed { missed, groups })
    }

    #[cfg(test)]
    pub(super) fn of(missed: u32, groups: u32) -> Missed {
        Missed { missed, groups }
    }

    /// Share (0–1) of the groups.
    pub fn share(self) -> f64 {
        f64::from(self.missed) / f64::from(self.groups)
    }
}

/// What runs have shown so far.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Waits {
    /// Groups without an output of the second clone's own within `waited`.
    missed: f64,
    groups: f64,
    /// Seconds, above 0 where anything is known.
    waited: f64,
}

impl Waits {
    /// Another run, of clones that waited so many seconds. What others missed counts for what they would have missed in that time: "p_c is inversely proportional to ω".
    pub fn learn(&mut self, run: Missed, waited: f64) {
        let kept = (KEPT / (self.groups + f64::from(run.groups))).min(1.0);
        let before = (self.missed * self.waited / waited).min(self.groups);
        self.missed = kept * (before + f64::from(run.missed));
        self.groups = kept * (self.groups + f64::from(run.groups));
        self.waited = waited;
    }

    /// 1 − p_c after a wait, and that wait, seconds. Half a group stands for what was never seen: that all were in time so far makes none sure of the next.
    pub fn exclusive(&self) -> Option<(f64, f64)> {
        (self.groups > 0.0).then(|| (1.0 - (self.missed + 0.5) / (self.groups + 1.0), self.waited))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AttemptFact, TaskFact, TaskState};

    /// A reduce that began at 10 s, and maps whose clones ended then; 0 for one that was killed.
    fn job(maps: &[&[u64]]) -> Job {
        let mut job = Job::new("job_1_0001".parse().unwrap());
        job.totals = Some([maps.len() as u32, 1]);
        let reduce = job.id.task(TaskKind::Reduce, 0).attempt(0);
        let began = AttemptFact { started: Some(Time(10_000)), ..AttemptFact::of(reduce) };
        assert!(job.learn_attempt(&began, None, Time(10_000), 9));
        for (index, clones) in (0..).zip(maps) {
            let id = job.id.task(TaskKind::Map, index);
            for (number, at) in (0..).zip(*clones) {
                let state = if *at > 0 { AttemptState::Succeeded } else { AttemptState::Killed };
                let finished = Some(Time(if *at > 0 { *at } else { 30_000 }));
                let of = AttemptFact::of(id.attempt(number));
                assert!(job.learn_attempt(&AttemptFact { state: Some(state), finished, ..of }, None, Time(30_000), 9));
            }
            let done = TaskFact { state: Some(TaskState::Succeeded), ..TaskFact::of(id) };
            assert!(job.learn_task(&done, Time(30_000), 9));
        }
        job
    }

    #[test]
    fn a_clone_lacks_an_output_of_its_own_where_the_second_ends_later_than_it_waits_or_never() {
        let job = job(&[&[12_000, 13_000], &[13_001, 12_000], &[12_000, 0], &[5_000, 11_000], &[5_000]]);
        assert_eq!(Missed::after(1.0, &job), Some(Missed { missed: 2, groups: 4 }));
        assert_eq!(Missed::after(1.001, &job).map(Missed::share), Some(0.25));
        assert_eq!(Missed::after(0.0, &job), None, "nobody waited");
    }

    #[test]
    fn without_clones_or_before_a_reduce_has_begun_nothing_is_missed() {
        assert_eq!(Missed::after(1.0, &job(&[&[12_000]])), None);
        let mut none = job(&[&[12_000, 13_000]]);
        none.totals = Some([1, 0]);
        assert!(Missed::after(1.0, &none).is_some());
        assert_eq!(Missed::after(1.0, &job(&[&[0, 0]])), None, "none has ended well");
        assert_eq!(Missed::after(1.0, &job(&[&[0, 31_000]])), None, "one had failed at 30 s");
    }

    #[test]
    fn odds_are_those_of_all_runs_each_scaled_to_the_newest_wait() {
        let mut waits = Waits::default();
        assert_eq!(waits.exclusive(), None);
        waits.learn(Missed { missed: 0, groups: 9 }, 2.0);
        assert_eq!(waits.exclusive(), Some((0.95, 2.0)), "none was missed yet, of nine");
        waits.learn(Missed { missed: 4, groups: 10 }, 2.0);
        assert_eq!(waits.exclusive(), Some((1.0 - 4.5 / 20.0, 2.0)));
        waits.learn(Missed { missed: 1, groups: 1 }, 4.0);
        assert_eq!(waits.exclusive(), Some((1.0 - 3.5 / 21.0, 4.0)), "four within two seconds are two within four");
        waits.learn(Missed { missed: 0, groups: 1 }, 0.5);
        assert_eq!(waits.exclusive(), Some((1.0 - 20.5 / 22.0, 0.5)), "no more are missed than there were");
    }

    #[test]
    fn old_runs_fade() {
        let mut waits = Waits::default();
        waits.learn(Missed { missed: 200, groups: 200 }, 1.0);
        for _ in 0..10 {
            waits.learn(Missed { missed: 0, groups: 200 }, 1.0);
        }
        assert!(waits.exclusive().unwrap().0 > 0.99 && waits.groups == 200.0, "{waits:?}");
    }
}
