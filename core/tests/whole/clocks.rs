//! AMs' clocks that are set while a job runs.

use crate::common::*;
use drover_core::engine::EngineParams;
use drover_core::model::*;
use drover_core::policy::PolicyName;

/// Copies decided on within 20 s of a job with a slow node whose AM's clock was set forward at that second, if at all; and whether any task says so at the end.
fn copies(set: Option<u32>) -> (usize, bool) {
    let id = job_id(1);
    let mut script = Script::new(EngineParams::default());
    script.open_job(id, 16, 0, at(0.0));
    let mut decided = 0;
    for second in 1..=20 {
        let now = at(second.into());
        let (tasks, attempts) = equal_maps(id, 16, 4.0, &one_node_in_four, second.into(), 0);
        if set == Some(second) {
            script.say(now, Fact::ClockSet(id));
        }
        script.tasks(id, now, tasks);
        script.attempts(id, now, attempts);
        decided += script.decide(now).decisions.len();
    }
    let said = script.engine.candidates(id).iter().any(|candidate| candidate.verdict == Verdict::ClockSet);
    (decided, said)
}

#[test]
fn a_clock_set_forward_has_no_task_copied_beside_attempts_that_are_older_and_they_say_why() {
    let (decided, said) = copies(None);
    assert!(decided > 0 && !said);
    assert_eq!(copies(Some(1)), (0, true));
}

/// Two waves of sixteen maps of a minute each, all alike, whose AM's clock is set by `step` ms half a minute after the first began, which is told or not. How many are copied or restarted.
fn of_two_waves(policy: PolicyName, step: i64, told: bool) -> usize {
    let id = job_id(1);
    let mut script = Script::new(EngineParams { policy, ..EngineParams::default() });
    script.open_job(id, 32, 0, at(0.0));
    let shown = |index: u32, now: f64| {
        let launched = if index < 16 { 0.0 } else { 60.0 };
        let stamp = |when: f64| at(when).shifted(if when >= 30.0 { step } else { 0 });
        let (task, done) = (id.task(TaskKind::Map, index), ((now - launched) / 60.0) as f32);
        if done >= 1.0 {
            return succeeded(task, stamp(launched), stamp(launched + 60.0));
        }
        let started = (done >= 0.0).then(|| stamp(launched));
        let state = Some(if started.is_some() { TaskState::Running } else { TaskState::Scheduled });
        let attempt = running(task, stamp(launched), done.max(0.0), &format!("nm{}", index % 4 + 1));
        (TaskFact { state, started, ..TaskFact::of(task) }, attempt)
    };
    let mut decided = 0;
    for second in 0..120 {
        let now = at(second.into());
        if second == 30 {
            script.skew_ms = step;
            if told {
                script.say(now, Fact::ClockSet(id));
            }
        }
        let begun = |task: &TaskFact| task.state != Some(TaskState::Scheduled);
        // The same of all.
        let split = |(task, attempt)| (TaskFact { input: Some(Bytes(64 << 20)), ..task }, attempt);
        let all: Vec<_> = (0..32).map(|index| split(shown(index, second.into()))).collect();
        let attempts = all.iter().filter(|(task, _)| begun(task)).map(|(_, attempt)| attempt.clone()).collect();
        script.tasks(id, now, all.into_iter().map(|(task, _)| task).collect());
        script.attempts(id, now, attempts);
        decided += script.decide(now).decisions.len();
    }
    decided
}

#[test]
fn a_clock_set_back_or_forward_makes_nothing_slow_that_runs_then_nor_what_is_launched_later() {
    use PolicyName::{Drover, Late};
    for policy in [Drover, Late] {
        let told = [-40_000, 0, 3_600_000].map(|step| of_two_waves(policy, step, true));
        assert_eq!(told, [0; 3], "{policy:?}");
    }
    assert!(of_two_waves(Late, -40_000, false) > 0, "untold a run of a minute seems one of twenty seconds");
}
