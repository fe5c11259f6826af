//! Proposals that have to stand for a while before they are decided on: what looks slow at one instant only gets no copy.

use crate::model::{Action, JobId, Millis, TaskId, TaskKind, Time, Verdict};
use crate::policy::{Budget, Judged};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Since when each task that is proposed and not decided on has been so without a break, the AM's clock.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Debounce {
    #[serde(with = "crate::model::pairs")]
    since: BTreeMap<TaskId, Time>,
}

impl Debounce {
    /// Puts off those proposals about a job's tasks of one kind that have not stood for `wait` at `now` on the AM's clock, and forgets what is not proposed any more. When the
    /// first of them will have. Clones are worth most at once, and are proposed for a phase, not for what one task looks like.
    pub fn put_off(
        &mut self,
        (job, kind): (JobId, TaskKind),
        wait: Millis,
        now: Time,
        all: &mut [Judged],
    ) -> Option<Time> {
        let mut stands = BTreeMap::new();
        let mut next: Option<Time> = None;
        for judged in all.iter_mut().filter(|judged| wait > Millis(0) && is_copy(judged)) {
            let since = self.since.get(&judged.task).copied().unwrap_or(now).min(now);
            stands.insert(judged.task, since);
            if since + wait > now {
                judged.verdict = Verdict::Debouncing;
                next = Some(next.map_or(since + wait, |next| next.min(since + wait)));
            }
        }
        self.forget_phase(job, kind);
        self.since.extend(stands);
        next
    }

    fn forget_phase(&mut self, job: JobId, kind: TaskKind) {
        let known: Vec<TaskId> =
            self.since.range(job.task(kind, 0)..=job.task(kind, u32::MAX)).map(|(task, _)| *task).collect();
        for task in known {
            self.since.remove(&task);
        }
    }

    /// Forgets a job.
    pub fn forget_job(&mut self, job: JobId) {
        for kind in TaskKind::ALL {
            self.forget_phase(job, kind);
        }
    }
}

fn is_copy(judged: &Judged) -> bool {
    judged.verdict == Verdict::Decided && judged.budget == Budget::Copies && judged.action != Action::Withdraw
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AppId, Numbers};

    const JOB: JobId = JobId(AppId { cluster: 1, seq: 1 });
    const WAIT: Millis = Millis(3_000);

    fn judged(kind: TaskKind, verdict: Verdict, action: Action, budget: Budget) -> Judged {
        let task = JOB.task(kind, 7);
        Judged {
            task,
            verdict,
            action,
            copies: 1,
            budget,
            attempt: task.attempt(0),
            rule: None,
            numbers: Numbers::default(),
            rank: 0.0,
            recheck: None,
            early: false,
            weighed: 0,
        }
    }

    /// What becomes of one proposal, or of none, at an instant.
    fn at(debounce: &mut Debounce, now: u64, proposed: bool) -> (Verdict, Option<Time>) {
        let verdict = if proposed { Verdict::Decided } else { Verdict::NotSlow };
        let mut all = [judged(TaskKind::Map, verdict, Action::Duplicate, Budget::Copies)];
        let next = debounce.put_off((JOB, TaskKind::Map), WAIT, Time(now), &mut all);
        (all[0].verdict, next)
    }

    #[test]
    fn a_proposal_that_was_withdrawn_waits_anew() {
        let mut debounce = Debounce::default();
        assert_eq!(at(&mut debounce, 1_000, true), (Verdict::Debouncing, Some(Time(4_000))));
        assert_eq!(at(&mut debounce, 2_000, false), (Verdict::NotSlow, None));
        assert_eq!(debounce, Debounce::default(), "nothing is kept of what is not proposed");
        assert_eq!(at(&mut debounce, 3_000, true), (Verdict::Debouncing, Some(Time(6_000))));
        assert_eq!(at(&mut debounce, 5_999, true), (Verdict::Debouncing, Some(Time(6_000))));
        assert_eq!(at(&mut debounce, 6_000, true), (Verdict::Decided, None));
        assert_eq!(at(&mut debounce, 7_000, true), (Verdict::Decided, None), "it found no room meanwhile");
    }

    #[test]
    fn a_clock_that_shows_less_than_before_does_not_make_it_longer() {
        let mut debounce = Debounce::default();
        at(&mut debounce, 900_000, true);
        assert_eq!(at(&mut debounce, 1_000, true), (Verdict::Debouncing, Some(Time(4_000))));
    }

    #[test]
    fn the_first_of_several_proposals_to_have_stood_is_the_one_to_wait_for() {
        let mut debounce = Debounce::default();
        at(&mut debounce, 1_000, true);
        let older = judged(TaskKind::Map, Verdict::Decided, Action::Duplicate, Budget::Copies);
        let newer = Judged { task: JOB.task(TaskKind::Map, 8), ..older.clone() };
        let next = debounce.put_off((JOB, TaskKind::Map), WAIT, Time(2_000), &mut [newer, older]);
        assert_eq!(next, Some(Time(4_000)));
    }

    #[test]
    fn where_none_has_to_wait_nothing_is_kept() {
        let mut debounce = Debounce::default();
        let mut all = [judged(TaskKind::Map, Verdict::Decided, Action::Duplicate, Budget::Copies)];
        assert_eq!(debounce.put_off((JOB, TaskKind::Map), Millis(0), Time(1_000), &mut all), None);
        assert_eq!((all[0].verdict, debounce), (Verdict::Decided, Debounce::default()));
    }

    #[test]
    fn a_job_and_a_kind_are_told_from_the_others() {
        let mut debounce = Debounce::default();
        at(&mut debounce, 1_000, true);
        assert_eq!(debounce.put_off((JOB, TaskKind::Reduce), WAIT, Time(2_000), &mut []), None);
        assert_eq!(at(&mut debounce, 4_000, true).0, Verdict::Decided);
        debounce.forget_job(JobId(AppId { cluster: 1, seq: 2 }));
        assert_eq!(at(&mut debounce, 4_000, true).0, Verdict::Decided);
        debounce.forget_job(JOB);
        assert_eq!(debounce, Debounce::default());
    }

    #[test]
    fn only_what_starts_something_for_one_tasks_slowness_waits() {
        for (action, budget, waits) in [
            (Action::Duplicate, Budget::Copies, true),
            (Action::Restart, Budget::Copies, true),
            (Action::Withdraw, Budget::Copies, false),
            (Action::Duplicate, Budget::Clones, false),
        ] {
            let mut all = [judged(TaskKind::Map, Verdict::Decided, action, budget)];
            Debounce::default().put_off((JOB, TaskKind::Map), WAIT, Time(1_000), &mut all);
            assert_eq!(all[0].verdict == Verdict::Debouncing, waits, "{action:?} {budget:?}");
        }
    }
}
