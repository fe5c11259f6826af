//! A decision for tests to change.

use drover_core::model::{Action, Decision, Millis, Mode, Numbers, TaskId, Time};

/// Of a task's first attempt at `at`, to be carried out within a minute, and without numbers.
pub fn decision(task: TaskId, action: Action, at: Time) -> Decision {
    Decision {
        id: 1,
        at,
        am_at: at,
        job: task.job,
        task,
        attempt: task.attempt(0),
        host: None,
        action,
        policy: "mantri".into(),
        rule: String::new(),
        mode: Mode::Act,
        natively_copied: false,
        copies: 1,
        clones: false,
        live: 1,
        restarts: 0,
        avoid: Vec::new(),
        prefer: Vec::new(),
        deadline: at + Millis(60_000),
        numbers: Numbers::default(),
        cause: None,
    }
}
