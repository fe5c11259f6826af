//! Rows for tests.

use super::open;
use super::schema::{Record, Row};
use super::steps::STEPS;
use super::store::Store;
use super::tables::{DecisionRow, EnrolmentRow, JobRow};
use drover_core::model::{Millis, Time};
use std::path::{Path, PathBuf};

/// A ledger with these rows.
pub fn kept(rows: &[Row]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("l.db");
    Store::open(&path, &mut None).unwrap().write(rows).unwrap();
    (dir, path)
}

/// Makes an empty one of the version before the newest; which that is.
pub fn older(path: &Path) -> i64 {
    let steps = &STEPS[..STEPS.len() - 1];
    open::write_older(path, steps);
    steps.len() as i64
}

/// Decision `id`, in that mode, of ann's in root.etl, unless said otherwise.
pub fn decision(id: u64, mode: &str) -> DecisionRow {
    DecisionRow {
        at_ms: Time(id),
        incarnation: "p".into(),
        decision: id,
        am_at_ms: Time(id),
        job: "job_1_0001".into(),
        task: "task_1_0001_m_000003".into(),
        attempt: "attempt_1_0001_m_000003_0".into(),
        kind: "map".into(),
        user: "ann".into(),
        queue: "root.etl".into(),
        host: None,
        action: "duplicate".into(),
        policy: "late".into(),
        rule: "LATE §4".into(),
        mode: mode.into(),
        natively_copied: false,
        copies: 1,
        clones: false,
        restart: None,
        avoid: String::new(),
        prefer: String::new(),
        deadline_ms: Time(9),
        score: 0.5,
        elapsed_ms: Millis(1),
        rate_per_second: 0.1,
        slow_below_per_second: None,
        time_left_ms: None,
        time_left_spread_ms: None,
        fresh_copy_ms: None,
        fresh_copy_spread_ms: None,
        win_probability: None,
        saves_probability: None,
        gain_ms: None,
        cost_container_seconds: None,
        budget_used: None,
        budget_cap: None,
        cause: None,
    }
}

/// Job `n` of ann's in root.etl, drawn to that side when it could first be acted on.
pub fn enrolment(n: u32, held_out: bool) -> EnrolmentRow {
    EnrolmentRow {
        at_ms: Time(u64::from(n)),
        job: format!("job_1_{n:04}"),
        name: format!("daily {n}"),
        stratum: "daily #".into(),
        user: "ann".into(),
        queue: "root.etl".into(),
        maps: 20,
        reduces: 2,
        held_out,
        policy: "late".into(),
        share: Some(0.3),
        salt: Some("1".into()),
    }
}

/// The same, that took so many seconds; `None`: it still runs.
pub fn job(n: u32, held_out: bool, seconds: Option<u64>, state: &str) -> Vec<Row> {
    let ended = seconds.map(|seconds| ended(n, held_out, seconds, state));
    std::iter::once(enrolment(n, held_out).row()).chain(ended.map(|ended| ended.row())).collect()
}

/// Its end alone.
pub fn ended(n: u32, held_out: bool, seconds: u64, state: &str) -> JobRow {
    let enrolled = enrolment(n, held_out);
    JobRow {
        at_ms: enrolled.at_ms,
        job: enrolled.job.clone(),
        name: enrolled.name.clone(),
        user: enrolled.user.clone(),
        queue: enrolled.queue.clone(),
        maps: enrolled.maps,
        reduces: enrolled.reduces,
        state: Some(state.to_owned()),
        started_ms: None,
        ended_ms: None,
        took_ms: Some(Millis(seconds * 1_000)),
        held_out: Some(held_out),
        policy: enrolled.policy.clone(),
        decided: u32::from(!held_out && n.is_multiple_of(2)),
        won: 0,
        native_copies: 0,
        map_gain_ms: 3_000,
        reduce_gain_ms: 1_000,
    }
}
