//! When a job's maps had all finished, for which its reduces wait.

use super::{Job, Stamp};
use crate::model::id::TaskKind;
use crate::model::units::Time;
use serde::{Deserialize, Serialize};

/// So many ends are remembered.
pub(super) const ENDS: usize = 3;

/// When that was, the AM's clock: a map whose output is lost runs again, and a reduce that had copied it by then has not waited for that.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct MapsDone {
    /// When the last of them finished; `None` while any has not.
    pub at: Option<Time>,
    /// The latest such instants that were seen, ascending, the last of them that one or one before it.
    #[serde(default)]
    ends: [Stamp; ENDS],
}

impl MapsDone {
    /// They have all finished then, and nobody has seen when before.
    #[cfg(test)]
    pub fn at(at: Option<Time>) -> MapsDone {
        MapsDone { at, ..MapsDone::default() }
    }

    fn ends(&self) -> impl DoubleEndedIterator<Item = Time> + '_ {
        self.ends.iter().filter_map(|end| end.get())
    }

    /// The last such instant: that of now, or, while one runs again, the one before.
    pub fn newest(self) -> Option<Time> {
        self.at.or(self.ends().next_back())
    }

    /// When the time of a reduce launched then began to be its own, where it had copied all (or had ended) at `copied`, and `None`: had not yet. `None` where that cannot be
    /// told: it did before the maps had all finished, and nobody saw when they had before that.
    pub fn own_start(self, launched: Time, copied: Option<Time>) -> Option<Time> {
        let newest = self.newest();
        let done = match copied {
            // It has waited for an end before one that is to come, or came later.
            Some(copied) if newest.is_some() && self.at.is_none_or(|at| copied < at) => {
                Some(self.ends().rfind(|end| *end <= copied)?)
            }
            _ => newest,
        };
        Some(done.map_or(launched, |done| launched.max(done)))
    }

    /// The same of one that has ended, of which it may not be known when it had copied all: then it cannot be told, either, where a map ran again meanwhile.
    pub fn own_start_of_ended(self, launched: Time, copied: Option<Time>, ended: Time) -> Option<Time> {
        let mut meanwhile = self.ends().chain(self.at).filter(|end| launched < *end && *end <= ended);
        let ran_again = meanwhile.any(|end| self.ends().any(|before| before < end));
        if copied.is_none() && ran_again { None } else { self.own_start(launched, copied.or(Some(ended))) }
    }
}

impl Job {
    /// When its maps had all finished. One that has failed for good, as a job may let some, is waited for no more. One pass over the maps.
    pub fn maps_done(&self) -> MapsDone {
        MapsDone { at: self.maps_done_at(), ends: self.maps_ends }
    }

    /// Somebody has seen when they had, or that one runs still, or again: what was seen before that is remembered. An end that only moves, as where a copy that lost takes long to be killed, is
    /// the same one.
    pub fn note_maps_done(&mut self, at: Option<Time>) {
        let newest = self.maps_ends[ENDS - 1].get();
        let Some(at) = at else {
            (self.maps_run_again, self.maps_over) = (newest.is_some(), Stamp::default());
            return;
        };
        if newest.is_none_or(|newest| at > newest) {
            if std::mem::take(&mut self.maps_run_again) {
                self.maps_ends.rotate_left(1);
            }
            self.maps_ends[ENDS - 1] = at.0.into();
        }
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
        Some(self.maps_over.get().map_or(last, |over| last.min(over)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{JobId, TaskFact, TaskState};

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
    fn what_had_been_copied_before_a_map_ran_again_has_waited_for_the_last_end_before_that() {
        let mut job = Job::new("job_1_0001".parse().unwrap());
        job.totals = Some([2, 1]);
        let own = |job: &Job, launched: u64, copied: Option<u64>| {
            let start = job.maps_done().own_start(Time(1_000 * launched), copied.map(|second| Time(1_000 * second)));
            start.map(|start| start.0 / 1_000)
        };
        let look = |job: &mut Job| job.note_maps_done(job.maps_done().at);
        map(&mut job, 0, TaskState::Succeeded, Some(8), 8);
        look(&mut job);
        map(&mut job, 1, TaskState::Succeeded, Some(10), 10);
        assert_eq!(
            [own(&job, 5, None), own(&job, 5, Some(12)), own(&job, 20, Some(25))],
            [Some(10), Some(10), Some(20)]
        );
        (0..2).for_each(|_| look(&mut job));
        for (round, newest) in [(30, 10), (50, 39)] {
            map(&mut job, 1, TaskState::Scheduled, None, round);
            look(&mut job);
            assert_eq!(
                (job.maps_done().at, own(&job, 5, Some(12)), own(&job, 5, None)),
                (None, Some(10), Some(newest))
            );
            map(&mut job, 1, TaskState::Succeeded, Some(round + 9), round + 9);
            look(&mut job);
        }
        let copied = [12, 45, 60].map(|copied| own(&job, 5, Some(copied)));
        assert_eq!((copied, own(&job, 5, None)), ([Some(10), Some(39), Some(59)], Some(59)));
        assert_eq!(own(&job, 45, Some(48)), Some(45), "launched since");
        // Of one that is first heard of afterwards nobody saw it.
        let unseen = MapsDone::at(Some(Time(59_000)));
        assert_eq!(unseen.own_start(Time(5_000), Some(Time(12_000))), None);
    }

    #[test]
    fn of_what_ended_and_never_said_when_it_had_copied_nothing_is_told_where_a_map_ran_again_meanwhile() {
        let mut job = Job::new("job_1_0001".parse().unwrap());
        job.totals = Some([1, 1]);
        let own = |job: &Job, launched: u64, copied: Option<u64>| {
            let [launched, ended] = [launched, 40].map(|second| Time(1_000 * second));
            job.maps_done().own_start_of_ended(launched, copied.map(|second| Time(1_000 * second)), ended)
        };
        map(&mut job, 0, TaskState::Succeeded, Some(10), 10);
        job.note_maps_done(job.maps_done().at);
        assert_eq!(own(&job, 5, None), Some(Time(10_000)));
        map(&mut job, 0, TaskState::Scheduled, None, 20);
        job.note_maps_done(job.maps_done().at);
        map(&mut job, 0, TaskState::Succeeded, Some(30), 30);
        assert_eq!([own(&job, 5, None), own(&job, 5, Some(12))], [None, Some(Time(10_000))]);
        assert_eq!(own(&job, 31, None), Some(Time(31_000)), "launched since");
        job.note_maps_done(job.maps_done().at);
        map(&mut job, 0, TaskState::Scheduled, None, 35);
        assert_eq!([own(&job, 5, None), own(&job, 5, Some(12))], [None, Some(Time(10_000))], "while it runs once more");
    }

    #[test]
    fn an_end_that_only_moves_is_the_same_one() {
        let mut job = Job::new("job_1_0001".parse().unwrap());
        job.totals = Some([1, 1]);
        for second in [100, 103] {
            map(&mut job, 0, TaskState::Succeeded, Some(second), second);
            job.note_maps_done(job.maps_done().at);
        }
        let own = job.maps_done().own_start_of_ended(Time(50_000), None, Time(140_000));
        assert_eq!(own, Some(Time(103_000)), "a copy that had lost was killed, and no map ran again");
    }
}
