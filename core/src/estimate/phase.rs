//! The phases an attempt goes through, and what a job's own attempts teach about them.

use super::runs::work_began;
use super::stats::median;
use crate::model::{Job, MapsDone, Millis, Phase, TaskKind, TaskState, Time, Track};
use serde::{Deserialize, Serialize};

/// At most three: copy, sort, reduce.
pub const PHASES_MAX: usize = 3;

/// A score stands at a phase's end a little before that phase's report: rounding must not push it over.
const ROUNDING: f64 = 1e-3;

/// The share of the progress score each phase stands for, as Hadoop scores them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// Score at which each phase ends; the last ends at 1.
    pub ends: &'static [f64],
}

/// A map without reduces only maps (MapTask: weight 1).
pub const MAP_ONLY: Shape = Shape { ends: &[1.0] };
/// A map with reduces sorts its output after mapping (MapTask: 0.667 and 0.333).
pub const MAP_AND_SORT: Shape = Shape { ends: &[0.667, 1.0] };
/// A reduce copies, sorts and reduces, a third of the score each (LATE §2.1, ReduceTask).
pub const REDUCE: Shape = Shape { ends: &[1.0 / 3.0, 2.0 / 3.0, 1.0] };

impl Shape {
    /// The shape of a job's tasks of that kind.
    pub fn of(job: &Job, kind: TaskKind) -> Shape {
        match kind {
            TaskKind::Reduce => REDUCE,
            TaskKind::Map if job.totals.is_some_and(|[_, reduces]| reduces > 0) => MAP_AND_SORT,
            TaskKind::Map => MAP_ONLY,
        }
    }

    /// How many phases.
    pub fn phases(self) -> usize {
        self.ends.len()
    }

    /// Score at which a phase begins.
    pub fn begin(self, phase: usize) -> f64 {
        phase.checked_sub(1).map_or(0.0, |before| self.ends[before])
    }

    /// The share of its work that an attempt at this score has done of a phase, 0–1.
    pub fn done(self, phase: usize, score: f64) -> f64 {
        let begin = self.begin(phase);
        ((score - begin) / (self.ends[phase] - begin)).clamp(0.0, 1.0)
    }

    /// The phase an attempt is in: what it says itself, and never before what its score shows.
    /// At a phase's change Hadoop reports the new phase with the old score, so the two may disagree.
    pub fn current(self, said: Option<Phase>, score: f64) -> usize {
        let by_score = self.ends.iter().position(|end| score < end - ROUNDING).unwrap_or(self.phases() - 1);
        let by_word = match said {
            Some(Phase::Sort) => 1,
            Some(Phase::Reduce | Phase::Cleanup) => 2,
            _ => 0,
        };
        by_score.max(by_word.min(self.phases() - 1))
    }
}

/// How long each phase took the attempts that have been through it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct PhaseTimes {
    /// Typical length of each phase, where any attempt has shown it.
    pub typical: [Option<Millis>; PHASES_MAX],
}

impl PhaseTimes {
    /// With what others showed of the phases that these did not.
    pub fn or(self, others: PhaseTimes) -> PhaseTimes {
        PhaseTimes { typical: std::array::from_fn(|phase| self.typical[phase].or(others.typical[phase])) }
    }

    /// Learns from a job's succeeded tasks of that kind; a reduce's wait for maps is not counted as copying, and a map's start-up, where its reports tell it, not as
    /// mapping: it says nothing of the pace.
    pub fn learn(job: &Job, kind: TaskKind, shape: Shape, maps_done: MapsDone) -> PhaseTimes {
        let most = |phase| if phase < shape.phases() { job.known(kind) as usize } else { 0 };
        let mut lengths: [Vec<f64>; PHASES_MAX] = std::array::from_fn(|phase| Vec::with_capacity(most(phase)));
        let tells = job.tells(kind);
        for (_, task) in job.tasks(kind).filter(|(_, task)| task.state == TaskState::Succeeded && tells(task)) {
            let Some(attempt) = task.won() else { continue };
            let Some(started) = attempt.started.get() else { continue };
            let ended = attempt.finished.get().or(task.ended());
            let begin = match kind {
                TaskKind::Map => work_began(started, &attempt.track, ended).unwrap_or(started),
                TaskKind::Reduce => {
                    let over = ended.unwrap_or(started);
                    match maps_done.own_start_of_ended(started, attempt.copied(), over) {
                        Some(begin) => begin,
                        None => continue,
                    }
                }
            };
            let since = |at: Option<Time>| at.map(|at| at.max(begin));
            let mapped = || (kind == TaskKind::Map).then(|| mapped_at(&attempt.track, begin, ended, shape)).flatten();
            let marks = [Some(begin), since(attempt.copied()).or_else(mapped), since(attempt.sorted())];
            for phase in 0..shape.phases() {
                let end = if phase + 1 == shape.phases() { ended } else { marks[phase + 1] };
                if let (Some(from), Some(to)) = (marks[phase], end) {
                    lengths[phase].push(to.since(from).as_secs_f64());
                }
            }
        }
        PhaseTimes { typical: lengths.map(|mut lengths| median(&mut lengths).map(Millis::from_secs_f64)) }
    }
}

/// When a map that succeeded had mapped all, at the pace of its reports, where it never said so: over REST sorting that is short falls between two looks. `None` where there is no pace.
fn mapped_at(track: &Track, begin: Time, ended: Option<Time>, shape: Shape) -> Option<Time> {
    let (score, at) = (track.score(), track.at()?);
    let (first, since) = track.first().filter(|(first, since)| *first < score && *since < at).unwrap_or((0.0, begin));
    let to_map = shape.ends[0] - score;
    let mapped = at + at.since(since).scaled(to_map.max(0.0) / (score - first));
    (score > first && to_map > -ROUNDING).then(|| ended.map_or(mapped, |ended| mapped.min(ended)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AttemptFact, AttemptState, JobId, TaskFact};

    #[test]
    fn a_reduce_that_says_sort_with_a_copying_score_is_sorting() {
        assert_eq!(REDUCE.current(Some(Phase::Sort), 0.0), 1);
        assert_eq!(REDUCE.current(Some(Phase::Copy), 0.5), 1);
        assert_eq!(REDUCE.current(None, 0.2), 0);
        assert_eq!(REDUCE.current(None, 1.0), 2);
    }

    #[test]
    fn a_map_that_says_sort_is_in_its_last_phase_only_if_it_has_one() {
        assert_eq!(MAP_AND_SORT.current(Some(Phase::Sort), 0.4), 1);
        assert_eq!(MAP_ONLY.current(Some(Phase::Sort), 0.4), 0);
    }

    #[test]
    fn a_maps_start_up_is_no_part_of_its_mapping_where_its_reports_tell_it() {
        let id: JobId = "job_1_0001".parse().unwrap();
        let mut job = Job::new(id);
        job.totals = Some([2, 0]);
        let task = id.task(TaskKind::Map, 0);
        let report = |second: u64, score: f32| {
            let now = Some(Time(1_000 * second));
            let state = if score < 1.0 { AttemptState::Running } else { AttemptState::Succeeded };
            let finished = now.filter(|_| score == 1.0);
            let fact = AttemptFact {
                state: Some(state),
                started: Some(Time(1_000)),
                finished,
                ..AttemptFact::of(task.attempt(0))
            };
            AttemptFact { score: Some(score), scored_at: now, ..fact }
        };
        for (second, score) in [(9, 0.25), (11, 0.5), (13, 0.75), (15, 1.0)] {
            assert!(job.learn_attempt(&report(second, score), None, Time(1_000_000), 1_000));
        }
        let ended = TaskFact { state: Some(TaskState::Succeeded), winner: Some(0), ..TaskFact::of(task) };
        job.learn_task(&TaskFact { finished: Some(Time(15_000)), ..ended }, Time(1_000_000), 1_000);
        let times = PhaseTimes::learn(&job, TaskKind::Map, MAP_ONLY, MapsDone::default());
        assert_eq!(times.typical[0], Some(Millis(8_000)), "it was launched 14 s before its end");
    }

    #[test]
    fn a_map_that_never_said_that_it_sorts_mapped_until_its_pace_had_brought_it_there() {
        let at = |second: f64| Time(1_000_000 + (1_000.0 * second) as u64);
        let mapped = |reports: &[(f64, f32)], ended: f64| {
            let mut track = Track::default();
            reports.iter().for_each(|(second, score)| track.add(*score, at(*second)));
            let mapped = mapped_at(&track, at(1.0), Some(at(ended)), MAP_AND_SORT)?;
            Some((mapped.since(at(0.0)).as_secs_f64() * 10.0).round() / 10.0)
        };
        let steady = [(11.0, 0.3335), (16.0, 0.50025)];
        assert_eq!(
            [mapped(&steady, 40.0), mapped(&steady, 20.0)],
            [Some(21.0), Some(20.0)],
            "and never beyond its end"
        );
        assert_eq!(mapped(&steady[..1], 40.0), Some(21.0), "one report is set against its launch");
        assert_eq!(mapped(&[(11.0, 0.3), (20.0, 0.6665)], 40.0), Some(20.0), "it has just mapped all");
        assert_eq!(mapped(&[(11.0, 0.3), (20.0, 0.8)], 40.0), None, "it had begun to sort, nobody saw when");
        assert_eq!(mapped(&[], 40.0), None);
    }

    #[test]
    fn work_done_of_a_phase_is_its_share_of_the_score() {
        assert!((REDUCE.done(1, 0.5) - 0.5).abs() < 1e-9);
        assert_eq!(REDUCE.done(2, 0.5), 0.0);
        assert_eq!(REDUCE.done(0, 0.5), 1.0);
    }

    #[test]
    fn a_map_sorts_only_where_there_are_reduces_to_sort_for() {
        let of = |totals, kind| {
            let mut job = Job::new("job_1_0001".parse().unwrap());
            job.totals = totals;
            Shape::of(&job, kind)
        };
        assert_eq!(of(Some([4, 1]), TaskKind::Map), MAP_AND_SORT);
        assert_eq!([Some([4, 0]), None].map(|totals| of(totals, TaskKind::Map)), [MAP_ONLY; 2]);
        assert_eq!(of(Some([4, 1]), TaskKind::Reduce), REDUCE);
    }

    #[test]
    fn a_score_that_falls_short_of_a_phases_end_by_rounding_alone_is_of_the_next() {
        let current = |short: f64| MAP_AND_SORT.current(None, MAP_AND_SORT.ends[0] - short);
        assert_eq!([0.0, 5e-4, 1e-3, 1.5e-3].map(current), [1, 1, 1, 0]);
    }

    #[test]
    fn a_reduce_that_says_reduce_or_cleanup_is_in_its_last_phase_whatever_its_score() {
        assert_eq!([Phase::Reduce, Phase::Cleanup].map(|said| REDUCE.current(Some(said), 0.4)), [2; 2]);
    }

    #[test]
    fn a_reduces_phases_are_told_by_its_marks_and_its_copying_begins_when_the_maps_are_done() {
        let id: JobId = "job_1_0001".parse().unwrap();
        let mut job = Job::new(id);
        job.totals = Some([0, 2]);
        let at = |second: u64| Some(Time(1_000_000 + 1_000 * second));
        let succeeded = id.task(TaskKind::Reduce, 0);
        for (index, state) in [AttemptState::Succeeded, AttemptState::Running].into_iter().enumerate() {
            let finished = at(45).filter(|_| state == AttemptState::Succeeded);
            let attempt = id.task(TaskKind::Reduce, index as u32).attempt(0);
            let fact = AttemptFact { state: Some(state), started: at(0), finished, ..AttemptFact::of(attempt) };
            let told = [(20, Some(Phase::Sort)), (25, Some(Phase::Reduce)), (45, None)];
            for (second, phase) in told {
                let fact = AttemptFact { phase, scored_at: at(second), ..fact.clone() };
                assert!(job.learn_attempt(&fact, None, Time(2_000_000), 1_000));
            }
        }
        let ended = TaskFact { state: Some(TaskState::Succeeded), winner: Some(0), ..TaskFact::of(succeeded) };
        job.learn_task(&TaskFact { finished: at(45), ..ended }, Time(2_000_000), 1_000);
        let times = PhaseTimes::learn(&job, TaskKind::Reduce, REDUCE, MapsDone::at(at(10)));
        assert_eq!(times.typical, [10_000, 5_000, 20_000].map(|length| Some(Millis(length))));
        let times = PhaseTimes::learn(&job, TaskKind::Reduce, REDUCE, MapsDone::default());
        assert_eq!(times.typical[0], Some(Millis(20_000)), "the maps' end is not known");
    }
}
