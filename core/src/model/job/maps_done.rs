//! When a job's maps had all finished, for which its reduces wait.

use super::{Job, Stamp, Task};
use crate::model::id::TaskKind;
use crate::model::observation::TaskFact;
use crate::model::state::TaskState;
use crate::model::units::Time;
use serde::{Deserialize, Serialize};

/// When that was, the AM's clock: a map whose output is lost runs again, and a reduce that had copied it by then has not waited for that.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct MapsDone {
    /// When the last of them finished; `None` while any has not.
    pub at: Option<Time>,
    /// When they had for the first time, if any ran again since.
    pub before: Option<Time>,
}

impl MapsDone {
    /// When the time of a reduce launched then began to be its own, where it had copied all (or had ended) at `copied`, and `None`: had not yet. `None` where that cannot be
    /// told: it did before the maps had all finished, and nobody saw when they had before that.
    pub fn own_start(self, launched: Time, copied: Option<Time>) -> Option<Time> {
        let done = match (self.at, copied) {
            (Some(at), Some(copied)) if copied < at => Some(self.before?),
            (at, _) => at.or(self.before),
        };
        Some(done.map_or(launched, |done| launched.max(done)))
    }
}

impl Job {
    /// When its maps had all finished. One that has failed for good, as a job may let some, is waited for no more. One pass over the maps.
    pub fn maps_done(&self) -> MapsDone {
        MapsDone { at: self.maps_done_at(), before: self.maps_done_before.get() }
    }

    fn maps_done_at(&self) -> Option<Time> {
        let [maps, _] = self.totals?;
        // So many may be without success; with the next one the last has not finished, whatever the others have.
        let mut spare = self.known(TaskKind::Map).checked_sub(maps)?;
        let mut last = self.started.get().unwrap_or_default();
        for (_, task) in self.tasks(TaskKind::Map) {
            if task.state.is_final() {
                last = last.max(task.ended().unwrap_or_default());
            } else {
                spare = spare.checked_sub(1)?;
            }
        }
        Some(last)
    }

    /// When they had, where that fact may take back a map's end, or put it off.
    pub(super) fn maps_done_unless(&self, fact: &TaskFact) -> Stamp {
        let goes_on = |known: &&Task| match fact.state {
            Some(state) if state.is_final() => fact.finished > known.finished.get(),
            state => state.is_some(),
        };
        let known = self.task(self.id.task(fact.kind, fact.index)).filter(|known| known.state == TaskState::Succeeded);
        let is_lost = fact.kind == TaskKind::Map && known.filter(goes_on).is_some();
        let mut done = Stamp::default();
        done.earliest(if is_lost { self.maps_done_at() } else { None });
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JobId;

    fn map(job: &mut Job, index: u32, state: TaskState, finished: Option<u64>, at: u64) {
        let of = TaskFact::of(job.id.task(TaskKind::Map, index));
        let finished = finished.map(|second| Time(1_000 * second));
        assert!(job.learn_task(&TaskFact { state: Some(state), finished, ..of }, Time(1_000 * at), 1_000));
    }

    #[test]
    fn a_map_that_has_failed_for_good_is_waited_for_no_more_and_one_that_runs_is() {
        let id: JobId = "job_1_0001".parse().unwrap();
        let done = |second: TaskState| {
            let mut job = Job::new(id);
            job.totals = Some([2, 1]);
            for (index, state) in [TaskState::Succeeded, second].into_iter().enumerate() {
                let finished = Some(Time(9_000)).filter(|_| state == TaskState::Succeeded);
                let of = TaskFact::of(id.task(TaskKind::Map, index as u32));
                assert!(job.learn_task(&TaskFact { state: Some(state), finished, ..of }, Time(9_000), 1_000));
            }
            job.maps_done().at
        };
        assert_eq!([TaskState::Failed, TaskState::Running].map(done), [Some(Time(9_000)), None]);
    }

    #[test]
    fn what_had_been_copied_before_a_map_ran_again_has_waited_for_the_first_end_and_all_else_for_the_last() {
        let id: JobId = "job_1_0001".parse().unwrap();
        let mut job = Job::new(id);
        job.totals = Some([2, 1]);
        let own = |job: &Job, launched: u64, copied: Option<u64>| {
            let start = job.maps_done().own_start(Time(1_000 * launched), copied.map(|second| Time(1_000 * second)));
            start.map(|start| start.0 / 1_000)
        };
        map(&mut job, 0, TaskState::Succeeded, Some(8), 8);
        map(&mut job, 1, TaskState::Succeeded, Some(10), 10);
        assert_eq!(
            [own(&job, 5, None), own(&job, 5, Some(12)), own(&job, 20, Some(25))],
            [Some(10), Some(10), Some(20)]
        );
        for round in [30, 50] {
            map(&mut job, 1, TaskState::Scheduled, None, round);
            assert_eq!((job.maps_done().at, own(&job, 5, Some(12)), own(&job, 5, None)), (None, Some(10), Some(10)));
            map(&mut job, 1, TaskState::Succeeded, Some(round + 9), round + 9);
        }
        assert_eq!(
            [own(&job, 5, Some(12)), own(&job, 5, Some(60)), own(&job, 5, None)],
            [Some(10), Some(59), Some(59)]
        );
        assert_eq!(own(&job, 45, Some(48)), Some(45), "launched since");
        // Of one that is first heard of afterwards nobody saw it.
        let unseen = MapsDone { at: Some(Time(59_000)), before: None };
        assert_eq!(unseen.own_start(Time(5_000), Some(Time(12_000))), None);
    }

    #[test]
    fn an_end_that_is_put_off_between_two_looks_is_seen_too_and_one_told_twice_is_not() {
        let mut job = Job::new("job_1_0001".parse().unwrap());
        job.totals = Some([1, 1]);
        for (finished, at) in [(10, 10), (10, 20)] {
            map(&mut job, 0, TaskState::Succeeded, Some(finished), at);
            assert_eq!(job.maps_done(), MapsDone { at: Some(Time(10_000)), before: None });
        }
        map(&mut job, 0, TaskState::Succeeded, Some(30), 40);
        assert_eq!(job.maps_done(), MapsDone { at: Some(Time(30_000)), before: Some(Time(10_000)) });
    }
}
