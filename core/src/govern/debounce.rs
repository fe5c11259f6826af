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
        let known: Vec<TaskId> =
            self.since.range(job.task(kind, 0)..=job.task(kind, u32::MAX)).map(|(task, _)| *task).collect();
        known.iter().for_each(|task| self.forget(*task));
        self.since.extend(stands);
        next
    }

    /// Forgets a task: it was decided on.
    pub fn forget(&mut self, task: TaskId) {
        self.since.remove(&task);
    }

    /// Forgets a job.
    pub fn forget_job(&mut self, job: JobId) {
        self.since.retain(|task, _| task.job != job);
    }
}

fn is_copy(judged: &Judged) -> bool {
    judged.verdict == Verdict::Decided && judged.budget == Budget::Copies && judged.action != Action::Withdraw
}
