//! Attempts that fail by themselves. A map of 10 s fails after half of it: 0.5 s for its container, 1.5 s for its JVM, 5 s of work.

use super::*;
use drover_core::policy::PolicyName::{Dolly, Drover, Late};
use drover_core::policy::dolly::Reads;
use drover_core::sim::{End, Failures, Watch, run_watching};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// On nodes of one place each.
fn failing(share: f64, attempts_max: u32, nodes: u32, jobs: Value) -> Scenario {
    let hadoop = json!({"fails": {"share": share, "at": 0.5}, "attempts_max": attempts_max, "slow_start": 1, "slow_start_up": false});
    scenario(json!({"cluster": {"nodes": nodes, "memory_mb": 1024}, "hadoop": hadoop, "jobs": jobs}))
}

fn one_map() -> Value {
    json!([{"name": "a", "maps": {"tasks": 1, "work": 10}}])
}

fn lone(scenario: &Scenario, seed: u64) -> Outcome {
    under(PolicyName::None, scenario, seed)
}

#[test]
fn a_task_is_tried_again_at_once_until_as_many_attempts_as_may_have_failed_and_the_job_with_it() {
    for (most, took_s) in [(4, 28.0), (1, 7.0)] {
        let outcome = lone(&failing(1.0, most, 1, one_map()), 1);
        let failures = Failures { attempts: most.into(), jobs: 1, never_came: 0 };
        assert_eq!((took(&outcome), outcome.failures), (vec![took_s], Some(failures)));
        let row = &outcome.jobs[0];
        assert_eq!((row.failed, row.useful_ms, row.wasted_ms), (true, 0, u64::from(most) * 6_500));
        assert_eq!((row.tasks, row.phases.len()), (1, 0), "it has a task, and none that has ended");
    }
    let unset = serde_json::from_value::<Scenario>(json!({"jobs": one_map()})).unwrap().hadoop;
    assert_eq!((unset.fails.share, unset.attempts_max), (0.0, 4));
}

#[test]
fn what_fails_costs_what_it_did_and_luck_is_each_attempts_own() {
    let scenario = failing(0.5, 4, 1, one_map());
    let mut by_failures: BTreeMap<u64, u32> = BTreeMap::new();
    for seed in 0..400 {
        let outcome = lone(&scenario, seed);
        let failed = outcome.failures.unwrap().attempts;
        let lasts = if failed == 4 { 28.0 } else { rounded(7.0 * failed as f64 + 12.1) };
        assert_eq!((took(&outcome), outcome.jobs[0].failed), (vec![lasts], failed == 4));
        *by_failures.entry(failed).or_default() += 1;
    }
    // A half, a quarter, an eighth, and a sixteenth twice, of 400: each within three standard deviations.
    let expected = [(200, 30), (100, 26), (50, 20), (25, 15), (25, 15)];
    let as_expected =
        |(failed, (count, off)): (u64, (i64, i64))| (i64::from(by_failures[&failed]) - count).abs() <= off;
    assert!((0..).zip(expected).all(as_expected), "{by_failures:?}");
}

#[test]
fn a_reduce_fails_in_what_follows_its_sort_and_reads_again() {
    let jobs = json!([{"name": "a", "reduces": {"tasks": 1, "copy": 4, "sort": 2, "work": 6}}]);
    assert_eq!(took(&lone(&failing(1.0, 2, 1, jobs), 1)), [2.0 * (2.0 + 4.0 + 2.0 + 3.0)]);
}

#[test]
fn a_job_that_fails_takes_its_other_attempts_with_it_and_what_it_asked_for() {
    let jobs = json!([{"name": "a", "maps": {"tasks": 5, "work": 10}, "reduces": {"tasks": 2}}, {"name": "b", "arrive": {"at": 1}, "maps": {"tasks": 1, "work": 1}}]);
    let mut scenario = failing(1.0, 1, 2, jobs);
    scenario.cluster.kinds = serde_json::from_value(json!([{"nodes": 1, "slower": 2}])).unwrap();
    let mut watch = Watch::new("a", 0, 10);
    let params = EngineParams { policy: Late, ..EngineParams::default() };
    let outcome = run_watching(&scenario, params, 1, &mut watch).unwrap();
    let ends: Vec<(u32, u64, End)> = watch.rows().map(|row| (row.node, row.ended.0, row.end)).collect();
    assert_eq!(ends, [(1, 7_000, End::Failed), (0, 7_000, End::JobFailed)]);
    assert_eq!((outcome.jobs[0].wasted_ms, outcome.attempts), (13_000, 3), "three maps and the reduces never ran");
    assert_eq!(outcome.jobs[1].name, "b", "a job that fails is in nobody's way");
}

#[test]
fn where_another_attempt_of_the_task_is_at_work_none_is_started_in_the_place_of_one_that_failed() {
    let can = json!({"duplicate": true, "copy_waiting": true});
    let hadoop = json!({"allocate": 0, "start_up": 0, "commit": 0, "report": 1, "poll": 0.01, "fails": {"share": 0.5, "at": 0.5}, "can": can});
    let scenario = scenario(json!({"cluster": {"nodes": 2, "memory_mb": 1024}, "hadoop": hadoop, "jobs": one_map()}));
    // As much may be cloned as there is.
    let mut params = EngineParams::paper(Dolly);
    (params.dolly.beta, params.dolly.tau, params.dolly.reads) = (2.0, 2.0, Reads::Cc);
    let mut seen = [0; 2];
    for seed in 0..40 {
        let outcome = run(&scenario, params.clone(), seed).unwrap();
        let (failed, took) = (outcome.failures.unwrap().attempts, took(&outcome)[0]);
        if failed < 2 {
            let copies = u64::from(outcome.jobs[0].copies);
            assert_eq!(
                (outcome.attempts, took),
                (1 + copies, 10.0),
                "beside copies that Dolly asked for there was the first alone"
            );
            seen[failed as usize] += 1;
        }
    }
    assert!(seen.iter().all(|times| *times > 3), "{seen:?}");
}

#[test]
fn a_map_that_failed_waits_for_no_node_with_its_split() {
    let jobs = json!([{"name": "a", "maps": {"tasks": 1, "work": 10}}]);
    let mut scenario = failing(0.5, 2, 6, jobs);
    (scenario.hadoop.replicas, scenario.hadoop.locality_wait, scenario.hadoop.remote_slower) = (1, 600.0, 3.0);
    let again =
        (0..60).map(|seed| lone(&scenario, seed)).filter(|outcome| outcome.attempts == 2 && !outcome.jobs[0].failed);
    let (local, away): (Vec<f64>, Vec<f64>) = again.map(|outcome| took(&outcome)[0]).partition(|took| *took == 19.1);
    assert!(away.len() > local.len() && away.iter().all(|took| *took == 39.1), "{local:?} {away:?}");
}

#[test]
fn jobs_after_one_that_failed_never_come_and_are_counted() {
    let job = |name: &str, at: u32, after: Value| json!({"name": name, "arrive": {"at": at}, "after": after, "maps": {"tasks": 1, "work": 10}});
    let jobs = json!([
        job("a", 0, json!([])),
        job("b", 1, json!([])),
        job("c", 0, json!(["a", "b"])),
        job("d", 0, json!(["c", "a"])),
        job("beside", 0, json!("b")),
    ]);
    let scenario = failing(0.3, 1, 4, jobs);
    let mut never = [0; 6];
    for seed in 0..60 {
        let outcome = lone(&scenario, seed);
        let went: BTreeMap<&str, bool> = outcome.jobs.iter().map(|job| (job.name.as_str(), !job.failed)).collect();
        let well = |names: &[&str]| names.iter().all(|name| went.get(name) == Some(&true));
        let comes = [("c", well(&["a", "b"])), ("d", well(&["c", "a"])), ("beside", well(&["b"]))];
        assert!(comes.iter().all(|(name, comes)| went.contains_key(name) == *comes), "{went:?}");
        let failures = outcome.failures.unwrap();
        assert_eq!(failures.never_came as usize, 5 - went.len());
        assert_eq!(failures.jobs as usize, went.values().filter(|well| !**well).count());
        let last = outcome.jobs.iter().map(|job| job.arrived.0 + job.took.0).max();
        let rows: Vec<_> = outcome.workflows.iter().map(|row| (row.failed, Some(row.took.0))).collect();
        assert_eq!(rows, [(failures.jobs > 0, last)]);
        never[failures.never_came as usize] += 1;
    }
    assert!([0, 1, 2, 3].iter().all(|count| never[*count] > 0), "{never:?}");
}

#[test]
fn who_acts_hears_of_failures_and_its_jobs_end_nonetheless() {
    let jobs = json!([{"name": "a", "count": 5, "arrive": {"every": 20}, "maps": {"tasks": 12, "work": 20}, "reduces": {"tasks": 3, "work": 10}}]);
    let mut scenario = failing(0.2, 4, 8, jobs);
    scenario.hadoop.report = 1.0;
    scenario.slowness.attempt = serde_json::from_value(json!({"mixture": [[8, 1], [2, 5]]})).unwrap();
    for policy in [Late, Drover] {
        let outcome = under(policy, &scenario, 1);
        let failures = outcome.failures.unwrap();
        assert!(failures.attempts > 10 && outcome.jobs.iter().map(|job| job.copies).sum::<u32>() > 0, "{failures:?}");
        assert_eq!(outcome.jobs.len(), 5);
    }
}
