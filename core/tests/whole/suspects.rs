//! Which tasks and attempts are asked about over REST.

use crate::common::*;
use drover_core::engine::EngineParams;
use drover_core::model::*;

fn map(index: u32) -> TaskId {
    job_id(1).task(TaskKind::Map, index)
}

/// Eight maps of 4 s, of which some are ten times slower, listed each second by task alone, as REST does: what its engine knows after so many.
fn listed(slow: &dyn Fn(u32) -> bool, until: u32) -> Script {
    let (mut script, id) = (Script::new(EngineParams::default()), job_id(1));
    script.open_job(id, 8, 0, at(0.0));
    for second in 0..until {
        let factor = |index| if slow(index) { 10.0 } else { 1.0 };
        let (mut tasks, attempts) = equal_maps(id, 8, 4.0, &factor, second.into(), 0);
        let scores = attempts.iter().map(|attempt| attempt.score);
        tasks.iter_mut().zip(scores).for_each(|(task, score)| task.score = score);
        script.tasks(id, at(second.into()), tasks);
        script.decide(at(second.into()));
    }
    script
}

#[test]
fn suspects_are_asked_for_before_finished_tasks_whose_host_is_not_known_and_none_whose_is() {
    let mut script = listed(&|index| index == 5, 10);
    let asked = |script: &Script, limit| script.engine.suspects(job_id(1), limit);
    assert_eq!(asked(&script, 16), [5, 0, 1, 2, 3, 4, 6, 7].map(map));
    assert_eq!(asked(&script, 1), [map(5)]);
    let (_, known) = succeeded(map(0), at(0.0), at(4.0));
    script.attempts(job_id(1), at(9.0), vec![known]);
    assert_eq!(asked(&script, 16), [5, 1, 2, 3, 4, 6, 7].map(map));
}

#[test]
fn a_task_whose_attempts_have_all_ended_is_read_until_what_took_over_is_seen() {
    let mut script = listed(&|_| false, 3);
    let known = (0..8).map(|index| running(map(index), at(0.0), 0.2, "nm2")).collect();
    script.attempts(job_id(1), at(2.0), known);
    script.decide(at(2.0));
    assert_ne!(script.engine.suspects(job_id(1), 1), [map(5)], "it is like all others");
    let tell = |script: &mut Script, second: f64, number: u32, state: AttemptState| {
        // The furthest of all, so that nothing but its attempts' ends makes it urgent.
        let of = running(map(5), at(0.0), 0.9, "nm2");
        let fact = AttemptFact { state: Some(state), number, ..of };
        script.attempts(job_id(1), at(second), vec![fact]);
        script.decide(at(second));
    };
    tell(&mut script, 2.2, 0, AttemptState::Failed);
    assert_eq!(script.engine.suspects(job_id(1), 1), [map(5)], "nothing of it is known to run");
    tell(&mut script, 2.4, 1, AttemptState::Starting);
    assert_eq!(script.engine.suspects(job_id(1), 1), [map(5)], "the next one has not begun");
    tell(&mut script, 2.6, 1, AttemptState::Running);
    assert_ne!(script.engine.suspects(job_id(1), 1), [map(5)]);
}

/// The slow map's progress, and what was read of its input.
fn see(script: &mut Script, second: f64, score: Option<f32>, read: Option<u64>) {
    let mut attempt = running(map(5), at(0.0), 0.0, "nm2");
    (attempt.score, attempt.counters.read) = (score, read.map(Bytes));
    script.attempts(job_id(1), at(second), vec![attempt]);
    script.decide(at(second));
}

fn is_read(script: &Script) -> bool {
    script.engine.readings(job_id(1), 16).contains(&map(5).attempt(0))
}

#[test]
fn a_suspect_is_read_again_when_its_score_has_doubled() {
    let mut script = listed(&|index| index == 5, 8);
    // It takes forty seconds.
    see(&mut script, 8.0, Some(8.0 / 40.0), None);
    assert!(is_read(&script));
    see(&mut script, 8.0, Some(8.0 / 40.0), Some(1_000));
    assert!(!is_read(&script));
    see(&mut script, 15.9, Some(15.9 / 40.0), None);
    assert!(!is_read(&script));
    see(&mut script, 16.1, Some(16.1 / 40.0), None);
    assert!(is_read(&script));
}

#[test]
fn a_suspect_without_progress_has_read_nothing_to_ask_about() {
    let (mut script, id) = (Script::new(EngineParams::default()), job_id(1));
    script.open_job(id, 8, 0, at(0.0));
    let (mut tasks, _) = equal_maps(id, 8, 4.0, &|index| if index == 5 { 1e9 } else { 1.0 }, 16.0, 0);
    tasks.iter_mut().for_each(|task| task.score = None);
    script.tasks(id, at(16.0), tasks);
    see(&mut script, 16.0, None, None);
    see(&mut script, 30.0, None, None);
    assert!(!script.engine.suspects(id, 16).is_empty());
    assert_eq!(script.engine.readings(id, 16), []);
}
