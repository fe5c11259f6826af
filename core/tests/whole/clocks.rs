//! AMs' clocks that are set while a job runs.

use crate::common::*;
use drover_core::engine::EngineParams;
use drover_core::model::*;

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
