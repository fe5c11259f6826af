//! A node that turns slow when most of the work of its tasks is done: the average since their launch says too late that they are slow.

use crate::common::*;
use drover_core::engine::EngineParams;
use drover_core::model::*;

const MAPS: u32 = 16;
const AT_ONCE: u32 = 10;
const START_UP: f64 = 3.0;
const SECS: f64 = 8.0;
const SECOND_WAVE: f64 = START_UP + SECS + 0.2;

/// The share done after so many seconds: from 60 % of the work on, ten times slower.
fn done(age: f64, turns: bool) -> f64 {
    let (worked, turn) = ((age - START_UP).max(0.0), SECS * 0.6);
    let effective = if turns && worked > turn { turn + (worked - turn) / 10.0 } else { worked };
    (effective / SECS).min(1.0)
}

fn seen(id: TaskId, now: f64, interval: f64) -> (TaskFact, Option<AttemptFact>) {
    let first_wave = id.index < AT_ONCE;
    let begun = if first_wave { 0.0 } else { SECOND_WAVE };
    let known = TaskFact { input: Some(Bytes(1 << 20)), ..TaskFact::of(id) };
    if now < begun {
        return (TaskFact { state: Some(TaskState::Scheduled), ..known }, None);
    }
    let turns = first_wave && id.index % 4 == 1;
    if done(now - begun, turns) >= 1.0 {
        let (task, attempt) = succeeded(id, at(begun), at(begun + START_UP + SECS));
        return (TaskFact { input: known.input, ..task }, Some(attempt));
    }
    let reported = ((now - begun) / interval).floor() * interval;
    let host = if turns { "nm2" } else { "nm1" };
    let attempt = AttemptFact {
        scored_at: Some(at(begun + reported)),
        reports: Some((reported / interval) as u32),
        ..running(id, at(begun), done(reported, turns) as f32, host)
    };
    (TaskFact { state: Some(TaskState::Running), started: Some(at(begun)), ..known }, Some(attempt))
}

fn first_advice(interval: f64) -> Vec<(u32, f64)> {
    let (mut script, id) = (Script::new(EngineParams::default()), job_id(1));
    script.open_job(id, MAPS, 0, at(0.0));
    let mut advised = Vec::new();
    for half in 0..60 {
        let now = f64::from(half) / 2.0;
        let (tasks, attempts): (Vec<_>, Vec<_>) =
            (0..MAPS).map(|index| seen(id.task(TaskKind::Map, index), now, interval)).unzip();
        script.tasks(id, at(now), tasks);
        script.attempts(id, at(now), attempts.into_iter().flatten().collect());
        advised.extend(script.decide(at(now)).decisions.iter().map(|decision| (decision.task.index, now)));
    }
    advised.sort_by_key(|(task, _)| *task);
    advised
}

/// Left alone they would end at 39 s; the first runs to learn a copy's time from end at 11 s.
#[test]
fn tasks_that_turn_slow_late_are_advised_on_soon_after_their_peers_end_and_no_others() {
    for (interval, latest) in [(0.5, 13.0), (1.0, 13.0), (3.0, 16.0)] {
        let advised = first_advice(interval);
        let tasks: Vec<u32> = advised.iter().map(|(task, _)| *task).collect();
        assert_eq!(tasks, [1, 5, 9], "reports every {interval} s: {advised:?}");
        assert!(advised.iter().all(|(_, when)| *when <= latest), "reports every {interval} s: {advised:?}");
    }
}
