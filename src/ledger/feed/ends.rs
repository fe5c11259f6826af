//! A job that has ended: how long it took, and what the copies that won gained on its critical path.

use crate::ledger::tables::JobRow;
use crate::span::{plausible, plausible_ms};
use drover_core::model::{EndFact, Job, JobId, JobPhase, TaskId, TaskKind, TaskState, Time};
use std::collections::BTreeMap;

/// What is known of one decision to act.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fate {
    /// The decision.
    pub decision: u64,
    /// When the slow attempt would have ended as predicted, where the copy won and somebody said.
    pub instead_of: Option<Time>,
    /// The copy won.
    pub won: bool,
}

impl Fate {
    /// One of an earlier process: no decision of this one has this number.
    pub const OF_OTHERS: Fate = Fate { decision: 0, instead_of: None, won: false };
}

/// A job that has ended, until the pass that settles its copies.
#[derive(Debug)]
pub struct Ended {
    id: JobId,
    row: JobRow,
    /// What came of the decisions to act on its tasks.
    pub decided: BTreeMap<TaskId, Vec<Fate>>,
    /// When its tasks ended: those that were acted on, and the last of all others, by kind.
    ends: BTreeMap<TaskId, Time>,
    others: [Option<Time>; 2],
}

impl Ended {
    /// What is known of it, and what was decided about its tasks.
    pub fn of(job: &Job, end: &EndFact, at: Time, decided: BTreeMap<TaskId, Vec<Fate>>, policy: &str) -> Ended {
        let [maps, reduces] = job.totals.unwrap_or_default();
        let (started, ended) = (end.started.or(job.started.get()), end.finished.or(job.ended.get()));
        let (mut ends, mut others) = (BTreeMap::new(), [None; 2]);
        for (id, task) in TaskKind::ALL.into_iter().flat_map(|kind| job.tasks(kind)) {
            let Some(ended) = task.ended().filter(|_| task.state == TaskState::Succeeded) else { continue };
            match decided.contains_key(&id) {
                true => _ = ends.insert(id, ended),
                false => others[id.kind as usize] = others[id.kind as usize].max(Some(ended)),
            }
        }
        let row = JobRow {
            at_ms: at,
            job: job.id.to_string(),
            name: job.name.clone(),
            user: job.user.clone(),
            queue: job.queue.clone(),
            maps,
            reduces,
            state: end.state.map(|state| state.label().to_owned()),
            started_ms: started,
            ended_ms: ended,
            took_ms: started.zip(ended).and_then(|(started, ended)| plausible(ended.since(started))),
            held_out: job.held_out,
            policy: policy.to_owned(),
            decided: 0,
            won: 0,
            native_copies: job.native_copies,
            map_gain_ms: 0,
            reduce_gain_ms: 0,
        };
        Ended { id: job.id, row, decided, ends, others }
    }

    /// The job.
    pub fn job(&self) -> JobId {
        self.id
    }

    /// Its row, once its copies are settled.
    pub fn row(self) -> JobRow {
        let all = || self.decided.values().flatten();
        let count = |which: fn(&&Fate) -> bool| u32::try_from(all().filter(which).count()).unwrap_or(u32::MAX);
        let (decided, won) = (count(|_| true), count(|one| one.won));
        let succeeded = self.row.state.as_deref() == Some(JobPhase::Succeeded.label());
        let gain = |kind| if succeeded { self.gain(kind) } else { 0 };
        let [map_gain_ms, reduce_gain_ms] = TaskKind::ALL.map(gain);
        JobRow { decided, won, map_gain_ms, reduce_gain_ms, ..self.row }
    }

    /// Last end of its tasks of a kind as predicted, had no copy won, less their actual last end. Only what a copy's win has replaced is predicted: each other task ends when it did.
    fn gain(&self, kind: TaskKind) -> i64 {
        let (mut actual, mut without) = (self.others[kind as usize], self.others[kind as usize]);
        for (task, ended) in self.ends.iter().filter(|(task, _)| task.kind == kind) {
            let fates = self.decided.get(task).into_iter().flatten();
            let instead = fates.filter(|one| one.won).find_map(|one| one.instead_of);
            actual = actual.max(Some(*ended));
            without = without.max(Some(instead.unwrap_or(*ended)));
        }
        without.zip(actual).and_then(|(without, actual)| plausible_ms(without.ms_after(actual))).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drover_core::model::{TaskFact, TaskState};

    /// A job whose maps ended at these seconds.
    fn job(ends: &[u64]) -> Job {
        let mut job = Job::new("job_1_0001".parse().unwrap());
        job.totals = Some([ends.len() as u32, 0]);
        for (index, end) in (0..).zip(ends) {
            let id = job.id.task(TaskKind::Map, index);
            let finished = Some(Time(end * 1_000));
            let fact = TaskFact { state: Some(TaskState::Succeeded), finished, ..TaskFact::of(id) };
            assert!(job.learn_task(&fact, Time(end * 1_000), 100));
        }
        job
    }

    /// What copies of these maps gained, each with its predicted end where it won, seconds.
    fn gain(ends: &[u64], copies: &[(u32, Option<u64>)], state: JobPhase) -> (u32, u32, i64) {
        let job = job(ends);
        let fate = |(index, instead): &(u32, Option<u64>)| {
            let instead_of = instead.map(|second| Time(second * 1_000));
            (job.id.task(TaskKind::Map, *index), vec![Fate { decision: 1, instead_of, won: instead.is_some() }])
        };
        let (started, finished) = (Some(Time(1_000)), Some(Time(90_000)));
        let end = EndFact { job: job.id, state: Some(state), started, finished, attempts: Vec::new() };
        let row = Ended::of(&job, &end, Time(91_000), copies.iter().map(fate).collect(), "late").row();
        assert_eq!(row.took_ms.unwrap().0, 89_000);
        (row.decided, row.won, row.map_gain_ms / 1_000)
    }

    #[test]
    fn a_phase_gains_what_its_last_end_would_have_been_later_without_the_copies_that_won() {
        let done = JobPhase::Succeeded;
        assert_eq!(gain(&[10, 20, 30], &[(2, Some(80))], done), (1, 1, 50), "it was last, and would have been later");
        assert_eq!(gain(&[10, 20, 30], &[(0, Some(25))], done), (1, 1, 0), "another was last anyway");
        assert_eq!(gain(&[10, 20, 30], &[(0, Some(70)), (2, Some(80))], done), (2, 2, 50), "not the sum of both");
        assert_eq!(gain(&[10, 20, 30], &[(2, None)], done), (1, 0, 0), "a copy that lost gains nothing");
        assert_eq!(
            gain(&[10, 20, 30], &[(2, Some(22))], done),
            (1, 1, -8),
            "the original would have been sooner, it was said"
        );
        assert_eq!(gain(&[10, 20, 30], &[(2, Some(80))], JobPhase::Failed).2, 0);
        assert_eq!(gain(&[], &[], done), (0, 0, 0));
        assert_eq!(gain(&[10, 20], &[(1, Some(40_000_000))], done), (1, 1, 0), "nobody believes a year and more");
    }

    #[test]
    fn an_end_that_a_job_claims_for_a_far_future_is_kept_and_no_length_of_time_is_made_of_it() {
        let job = job(&[10]);
        let took = |ended| {
            let (state, started, finished) = (Some(JobPhase::Succeeded), Some(Time(1_000)), Some(Time(ended)));
            let end = EndFact { job: job.id, state, started, finished, attempts: Vec::new() };
            Ended::of(&job, &end, Time(91_000), BTreeMap::new(), "late").row().took_ms.map(|took| took.0)
        };
        assert_eq!([took(90_000), took(1 << 53), took(u64::MAX)], [Some(89_000), None, None]);
    }
}
