//! How fast tasks were beside the others of their phase.

use super::stats::median;
use crate::model::{Attempt, Job, MapsDone, NameId, Task, TaskKind, TaskState};

/// A task straggles whose progress rate is below this share of the median rate of its phase (NSDI'13 §2.1.2; HotCloud'12 prints "less than 2×").
pub const STRAGGLES_BELOW: f64 = 0.5;

/// Far more than rates are rounded by, far less than tasks differ by: one at just the bound is not below it, whatever the unit of time.
const ROUNDING: f64 = 1e-9;

/// How fast a task was beside the others of its phase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Host of its first attempt.
    pub host: NameId,
    /// Its time for its data over the phase's median time for that; more than 1 is slower.
    pub factor: f64,
    /// Its progress rate is below [`STRAGGLES_BELOW`] of the median.
    pub straggled: bool,
}

/// Each succeeded task's first attempt with a host. A rate is input per second where inputs are known, so that more data is no straggling (NSDI'13 §2.1.1).
/// Copies are left out: they start late, and most are killed before they are up; and tasks without input beside others that have some ([`Job::tells`]). A phase of one task has no other to straggle behind.
pub fn paces(job: &Job, kind: TaskKind) -> Vec<Pace> {
    let maps_done = if kind == TaskKind::Reduce { job.maps_done() } else { MapsDone::default() };
    let tells = job.tells(kind);
    let succeeded = job.tasks(kind).filter(|(_, task)| task.state == TaskState::Succeeded && tells(task));
    let firsts = succeeded.filter_map(|(_, task)| Some((first(task)?, task)));
    let all: Vec<(NameId, Rate)> =
        firsts.filter_map(|(attempt, task)| Some((attempt.host?, rate(attempt, task, maps_done)?))).collect();
    let mut rates: Vec<f64> = all.iter().filter(|(_, rate)| rate.shown).map(|(_, rate)| rate.most).collect();
    let Some(typical) = median(&mut rates).filter(|_| rates.len() > 1) else { return Vec::new() };
    let bound = STRAGGLES_BELOW * typical * (1.0 - ROUNDING);
    let pace = |(host, rate): (NameId, Rate)| {
        let straggled = rate.most < bound;
        (straggled || rate.shown).then_some(Pace { host, factor: typical / rate.most, straggled })
    };
    all.into_iter().filter_map(pace).collect()
}

/// A progress rate.
struct Rate {
    /// What it was; of an attempt that was ended before it had shown any progress the most that it can have been.
    most: f64,
    /// It had shown some.
    shown: bool,
}

/// The attempt that was launched first.
fn first(task: &Task) -> Option<&Attempt> {
    task.attempts.iter().filter(|attempt| attempt.was_launched()).min_by_key(|attempt| attempt.number)
}

/// Its progress rate over its whole life, by input where that is known.
fn rate(attempt: &Attempt, task: &Task, maps_done: MapsDone) -> Option<Rate> {
    let won = task.won().is_some_and(|won| won.number == attempt.number);
    let ended = attempt.finished.get().or(task.ended())?;
    let started = maps_done.own_start_of_ended(attempt.started.get()?, attempt.copied(), ended)?;
    let took = ended.since(started).as_secs_f64();
    let shown = won || attempt.track.first().is_some();
    let score = if won || !shown { 1.0 } else { attempt.track.score() };
    (took > 0.0).then(|| Rate { most: score * task.input.0.max(1) as f64 / took, shown })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::model::{AttemptFact, AttemptState, Bytes, JobId, Names, TaskFact, Time};

    pub fn host(number: u32) -> NameId {
        let mut names = Names::default();
        (0..=number).filter_map(|n| names.intern(&n.to_string())).last().unwrap()
    }

    /// A job of succeeded maps: (host, seconds, input).
    pub fn job(maps: &[(u32, u64, u64)]) -> Job {
        let id: JobId = "job_1_0001".parse().unwrap();
        let mut job = Job::new(id);
        job.user = "alice".into();
        job.totals = Some([maps.len() as u32, 0]);
        for (index, (number, seconds, input)) in (0..).zip(maps) {
            let task = id.task(TaskKind::Map, index);
            let (started, finished) = (Some(Time(1_000)), Some(Time(1_000 + seconds * 1_000)));
            let (state, winner, input) = (Some(TaskState::Succeeded), Some(0), Some(Bytes(*input)));
            let fact = TaskFact { state, started, finished, winner, input, ..TaskFact::of(task) };
            assert!(job.learn_task(&fact, Time(1_000_000), 1_000));
            let state = Some(AttemptState::Succeeded);
            let fact = AttemptFact { state, started, finished, ..AttemptFact::of(task.attempt(0)) };
            assert!(job.learn_attempt(&fact, Some(host(*number)), Time(1_000_000), 1_000));
        }
        job
    }

    #[test]
    fn a_task_straggles_at_less_than_half_the_median_rate_and_more_data_is_no_straggling() {
        let straggled = |maps: &[(u32, u64, u64)]| {
            paces(&job(maps), TaskKind::Map).iter().map(|pace| pace.straggled).collect::<Vec<_>>()
        };
        assert_eq!(
            straggled(&[(0, 10, 1), (1, 10, 1), (4, 10, 1), (2, 20, 1), (3, 21, 1)]),
            [false, false, false, false, true]
        );
        assert_eq!(straggled(&[(0, 10, 1), (1, 10, 1), (2, 10, 1), (3, 50, 5)]), [false; 4]);
        assert_eq!(straggled(&[(0, 10, 1)]), [false; 0], "of one task nobody can tell");
        for scale in 1..50 {
            let tie = straggled(&[(0, 21 * scale, 7), (0, 3 * scale, 3)]);
            assert_eq!(tie, [false; 2], "1/3 is half of the median 2/3, in units of 1/{scale}");
        }
    }

    #[test]
    fn empty_maps_neither_straggle_nor_make_others_straggle_where_any_has_data() {
        let straggled = |maps: &[(u32, u64, u64)]| {
            let of = paces(&job(maps), TaskKind::Map).into_iter().map(|pace| (pace.host, pace.straggled));
            of.collect::<Vec<_>>()
        };
        const DATA: u64 = 128 << 20;
        let real = [(0, 30, DATA), (1, 30, DATA), (2, 61, DATA)];
        let empty = [(3, 3, 0), (4, 3, 0), (5, 3, 0), (6, 9, 0)];
        let of_real = [(host(0), false), (host(1), false), (host(2), true)];
        assert_eq!(straggled(&[&real[..], &empty].concat()), of_real);
        let alone = [(host(3), false), (host(4), false), (host(5), false), (host(6), true)];
        assert_eq!(straggled(&empty), alone, "beside each other they tell");
    }

    #[test]
    fn a_task_that_took_no_time_has_no_rate() {
        let found = paces(&job(&[(0, 0, 1), (1, 10, 1), (2, 10, 1)]), TaskKind::Map);
        assert_eq!(
            found.iter().map(|pace| (pace.host, pace.factor)).collect::<Vec<_>>(),
            [(host(1), 1.0), (host(2), 1.0)]
        );
    }

    /// Three maps of a second each, and a first attempt that was killed in silence after so many.
    fn beside_a_silent_one(seconds: u64) -> Vec<Pace> {
        let mut job = job(&[(0, 1, 1), (1, 1, 1), (2, 1, 1)]);
        job.totals = Some([4, 0]);
        let task = job.id.task(TaskKind::Map, 3);
        for (number, state) in [(0, AttemptState::Killed), (1, AttemptState::Succeeded)] {
            let (started, finished) = (Some(Time(1_000)), Some(Time(1_000 + 1_000 * seconds)));
            let fact = AttemptFact { state: Some(state), started, finished, ..AttemptFact::of(task.attempt(number)) };
            assert!(job.learn_attempt(&fact, Some(host(3)), Time(1_000_000), 1_000));
        }
        let (state, winner) = (Some(TaskState::Succeeded), Some(1));
        assert!(job.learn_task(&TaskFact { state, winner, ..TaskFact::of(task) }, Time(1_000_000), 1_000));
        paces(&job, TaskKind::Map)
    }

    #[test]
    fn a_first_attempt_that_was_killed_in_silence_straggled_only_if_it_lived_for_longer_than_a_straggler_takes() {
        let last = |seconds| beside_a_silent_one(seconds).last().map(|pace| (pace.host, pace.straggled));
        assert_eq!(last(2), Some((host(2), false)), "nobody knows how fast it was");
        assert_eq!(last(3), Some((host(3), true)));
        assert_eq!(beside_a_silent_one(3)[3].factor, 3.0);
    }

    #[test]
    fn where_all_but_one_first_attempt_came_nowhere_there_is_nothing_to_compare_with() {
        let id: JobId = "job_1_0001".parse().unwrap();
        let mut job = Job::new(id);
        job.totals = Some([3, 0]);
        for (index, winner) in (0..).zip([1, 1, 0]) {
            let task = id.task(TaskKind::Map, index);
            for number in 0..=winner {
                let state = if number == winner { AttemptState::Succeeded } else { AttemptState::Killed };
                let (started, finished) = (Some(Time(1_000)), Some(Time(11_000)));
                let fact =
                    AttemptFact { state: Some(state), started, finished, ..AttemptFact::of(task.attempt(number)) };
                assert!(job.learn_attempt(&fact, Some(host(index)), Time(1_000_000), 1_000));
            }
            let (state, winner) = (Some(TaskState::Succeeded), Some(winner));
            assert!(job.learn_task(&TaskFact { state, winner, ..TaskFact::of(task) }, Time(1_000_000), 1_000));
        }
        assert_eq!(paces(&job, TaskKind::Map), []);
    }
}
