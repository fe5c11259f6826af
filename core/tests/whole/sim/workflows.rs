//! Jobs after one another. A map or a reduce takes 2.1 s beside its work; reduces are asked for when all maps have ended.

use super::*;
use drover_core::model::TaskKind;
use drover_core::sim::{Watch, WorkflowRow, run_watching};
use serde_json::{Value, json};

fn ms(outcome: &Outcome) -> Vec<(&str, u32, u64, u64)> {
    outcome.workflows.iter().map(|row| (row.name.as_str(), row.nth, row.arrived.0, row.took.0)).collect()
}

fn arrived(outcome: &Outcome, name: &str) -> Vec<u64> {
    outcome.jobs.iter().filter(|job| job.name == name).map(|job| job.arrived.0).collect()
}

fn played(jobs: Value) -> Outcome {
    alone(json!({"hadoop": {"slow_start": 1}, "jobs": jobs}))
}

#[test]
fn a_chain_takes_its_jobs_and_what_passes_between_them() {
    let phases = json!({"maps": {"tasks": 1, "work": 10}, "reduces": {"tasks": 1, "copy": 2, "sort": 1, "work": 5}});
    let job = |name: &str, after: Value, at: f64| {
        let mut job = json!({"name": name, "count": 2, "after": after, "arrive": {"at": at, "every": 100}});
        job.as_object_mut().unwrap().extend(phases.as_object().unwrap().clone());
        job
    };
    let outcome = played(json!([job("a", json!([]), 4.0), job("b", json!("a"), 3.0), job("c", json!(["b"]), 0.0)]));
    // Each job: 12.1 s of its map, 10.1 s of its reduce.
    assert_eq!(took(&outcome), [22.2; 6]);
    let each = 22_200 + 3_000 + 22_200 + 22_200;
    assert_eq!(ms(&outcome), [("c", 0, 4_000, each), ("c", 1, 104_000, each)]);
    assert_eq!((outcome.workflows[0].jobs, outcome.workflows[0].phases), (3, 6));
    assert_eq!(arrived(&outcome, "b"), [4_000 + 25_200, 104_000 + 25_200]);
}

#[test]
fn where_ways_join_the_longest_is_waited_for() {
    let map =
        |name: &str, work: u32, after: Value| json!({"name": name, "after": after, "maps": {"tasks": 1, "work": work}});
    let last = json!({
        "name": "d", "after": ["c", "b"], "arrive": {"at": 1},
        "maps": {"tasks": 1, "work": 10}, "reduces": {"tasks": 1, "work": 5},
    });
    let outcome = played(json!([map("a", 10, json!([])), map("b", 20, json!("a")), map("c", 5, json!("a")), last]));
    // a 12.1 s, b 22.1 s (c is done after 7.1), one second, and 12.1 and 7.1 s of d.
    assert_eq!(arrived(&outcome, "d"), [35_200]);
    let (name, took) = ("d".into(), drover_core::model::Millis(54_400));
    let row =
        WorkflowRow { name, nth: 0, jobs: 4, phases: 5, arrived: drover_core::model::Millis(0), took, failed: false };
    assert_eq!(outcome.workflows, [row]);
}

#[test]
fn a_workflow_begins_with_the_first_of_its_jobs_and_ends_with_the_last_whether_or_not_others_wait_for_it() {
    let job = |name: &str, at: u32, work: u32, after: Value| json!({"name": name, "arrive": {"at": at}, "after": after, "maps": {"tasks": 1, "work": work}});
    let jobs = json!([
        job("late", 7, 1, json!([])),
        job("early", 2, 1, json!([])),
        job("long", 0, 90, json!("early")),
        job("last", 0, 1, json!(["late", "early"])),
        job("alone", 0, 1, json!([])),
    ]);
    let outcome = played(jobs);
    assert_eq!(ms(&outcome), [("last", 0, 2_000, 3_100 + 92_100)]);
}

#[test]
fn without_any_after_nothing_is_told_of_workflows() {
    let outcome = played(json!([{"name": "a", "maps": {"tasks": 1}}]));
    assert_eq!(outcome.workflows, []);
    assert!(!serde_json::to_string(&outcome).unwrap().contains("workflows"));
}

#[test]
fn splits_lie_where_the_jobs_before_wrote_them_file_by_file() {
    let jobs = json!([
        {"name": "a", "maps": {"tasks": 2, "work": 5}, "reduces": {"tasks": 2, "work": 5}},
        {"name": "maps-only", "maps": {"tasks": 1, "work": 5}},
        {"name": "b", "after": ["a", "maps-only"], "maps": {"tasks": 6, "work": 5}},
    ]);
    let scenario = scenario(json!({
        "cluster": {"nodes": 9, "memory_mb": 4096},
        "hadoop": {"replicas": 1, "locality_wait": 600, "remote_slower": 2}, "jobs": jobs,
    }));
    for seed in 1..6 {
        let nodes = |job: &str, kind: TaskKind| {
            let mut watch = Watch::new(job, 0, 100);
            let params = EngineParams { policy: PolicyName::None, ..EngineParams::default() };
            run_watching(&scenario, params, seed, &mut watch).unwrap();
            let mut rows: Vec<(u32, u32)> =
                watch.rows().filter(|row| row.kind == kind).map(|row| (row.task, row.node)).collect();
            rows.sort_unstable();
            rows.into_iter().map(|(_, node)| node).collect::<Vec<u32>>()
        };
        let (wrote, other) = (nodes("a", TaskKind::Reduce), nodes("maps-only", TaskKind::Map));
        // Three files of two splits each.
        assert_eq!(nodes("b", TaskKind::Map), [wrote[0], wrote[0], wrote[1], wrote[1], other[0], other[0]]);
    }
}
