//! A node that turns slow when most of the work of its tasks is done: the average since their launch says too late that they are slow.

use crate::common::*;
use drover_core::engine::EngineParams;
use drover_core::model::*;
use drover_core::policy::{LateParams, PolicyName};

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

fn first_advice(params: EngineParams, interval: f64) -> Vec<(u32, f64, Millis)> {
    let (mut script, id) = (Script::new(params), job_id(1));
    script.open_job(id, MAPS, 0, at(0.0));
    let mut advised = Vec::new();
    for half in 0..60 {
        let now = f64::from(half) / 2.0;
        let (tasks, attempts): (Vec<_>, Vec<_>) =
            (0..MAPS).map(|index| seen(id.task(TaskKind::Map, index), now, interval)).unzip();
        script.tasks(id, at(now), tasks);
        script.attempts(id, at(now), attempts.into_iter().flatten().collect());
        let decided = script.decide(at(now)).decisions.into_iter();
        advised.extend(decided.map(|one| (one.task.index, now, one.numbers.fresh_copy.unwrap())));
    }
    advised.sort_by_key(|(task, _, _)| *task);
    advised
}

/// Left alone they would end at 39 s; the first runs to learn a copy's time from end at 11 s.
#[test]
fn tasks_that_turn_slow_late_are_advised_on_soon_after_their_peers_end_and_no_others() {
    for policy in [PolicyName::Late, PolicyName::Mantri, PolicyName::Drover] {
        for (interval, latest) in [(0.5, 12.5), (1.0, 13.0), (3.0, 16.0)] {
            let advised = first_advice(EngineParams { policy, ..EngineParams::default() }, interval);
            let tasks: Vec<u32> = advised.iter().map(|(task, _, _)| *task).collect();
            assert_eq!(tasks, [1, 5, 9], "{policy:?}, reports every {interval} s: {advised:?}");
            let late = advised.iter().any(|(_, when, _)| *when > latest);
            assert!(!late, "{policy:?}, reports every {interval} s: {advised:?}");
        }
    }
}

/// By its peers alone a copy takes what they took. Three of ten that are bound to run for three times as long make their mean one and a half times that.
#[test]
fn a_copy_that_is_kept_off_the_slow_node_is_not_weighed_by_its_tasks() {
    let fresh = |slow_factor| {
        let late = LateParams { slow_factor, ..LateParams::default() };
        let params = EngineParams { policy: PolicyName::Mantri, late, ..EngineParams::default() };
        first_advice(params, 0.5)[2].2.as_secs_f64()
    };
    let (kept_off, anywhere) = (fresh(1.5), fresh(0.0));
    assert!((kept_off - START_UP - SECS).abs() < 2.0 && anywhere > kept_off + 4.0, "{kept_off} {anywhere}");
}
