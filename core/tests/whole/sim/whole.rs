//! Clones of whole jobs, by hand: each copy reads its own maps' outputs, the first to end is the job, and the others are killed.

use super::*;
use drover_core::model::{CloneScheme, TaskKind};
use drover_core::policy::PolicyName::Dolly;
use drover_core::policy::dolly::Reads;
use drover_core::sim::{AttemptRow, End, Watch, run_watching};
use serde_json::json;
use std::collections::BTreeSet;

/// Two copies of three tasks of p = .1 leave 7.3 %, three 2 %.
fn dolly(scheme: CloneScheme) -> EngineParams {
    let mut params = EngineParams::paper(Dolly);
    (params.dolly.scheme, params.dolly.reads, params.dolly.epsilon) = (scheme, Reads::Cc, 0.08);
    (params.dolly.beta, params.dolly.tau) = (2.0, 2.0);
    params
}

/// Two maps of 10 s and a reduce that reads for 6 s and works for 4, on nodes of one slot each, of which some are three times slower for the first 30 s.
fn two_phases(nodes: u32, slow: &[u32]) -> Scenario {
    let can = json!({"duplicate": true, "copy_waiting": true, "reads": true, "job_clones": true});
    let reduces = json!({"tasks": 1, "copy": 6, "work": 4});
    scenario(json!({
        "cluster": {"nodes": nodes, "memory_mb": 1024},
        "hadoop": {"allocate": 0, "start_up": 0, "commit": 0, "report": 1, "poll": 0.01, "slow_start": 1.0, "can": can},
        "trouble": slow.iter().map(|node| json!({"nodes": [node], "lasts": 30, "slower": 3})).collect::<Vec<_>>(),
        "jobs": [{"name": "a", "maps": {"tasks": 2, "work": 10}, "reduces": reduces}],
    }))
}

fn watched(scenario: &Scenario, scheme: CloneScheme, seed: u64) -> (JobRow, Vec<AttemptRow>) {
    let mut watch = Watch::new("a", 0, 100);
    let mut outcome = run_watching(scenario, dolly(scheme), seed, &mut watch).unwrap();
    (outcome.jobs.remove(0), watch.rows().copied().collect())
}

#[test]
fn the_first_copy_to_end_is_the_job_and_the_others_are_killed() {
    // One of four maps is on the slow node. Its copy would read at 30 s; the other's reduce starts at 10 s.
    for seed in 1..=4 {
        let (row, attempts) = watched(&two_phases(4, &[3]), CloneScheme::Job, seed);
        let won = if row.copies_won > 0 { 1 } else { 0 };
        assert_eq!((seconds(&row), row.useful_ms, row.wasted_ms), (20.0, 30_000, 30_000), "{attempts:?}");
        assert_eq!(
            (row.copies, row.copies_won),
            (2 + won, 3 * won),
            "a copy's two maps, and its reduce where it is the first"
        );
        assert!(attempts.iter().all(|attempt| attempt.kind == TaskKind::Map || attempt.number == won), "{attempts:?}");
        assert_eq!(attempts.iter().filter(|attempt| attempt.end == End::Overtaken).count(), 1);
        let took = row.phases.iter().map(|phase| (phase.took.0, phase.slowest.0));
        assert_eq!(took.collect::<Vec<_>>(), [(10_000, 10_000); 2], "of the copy that won");
    }
}

#[test]
fn a_copy_of_a_reduce_waits_for_its_own_copys_maps_where_clones_of_tasks_would_read_the_first_of_each() {
    let slow = [2, 3];
    let mut seen = BTreeSet::new();
    for seed in 1..=12 {
        let scenario = two_phases(4, &slow);
        let (row, attempts) = watched(&scenario, CloneScheme::Job, seed);
        let maps = || attempts.iter().filter(|attempt| attempt.kind == TaskKind::Map);
        let hit: BTreeSet<u32> = maps().filter(|map| slow.contains(&map.node)).map(|map| map.number).collect();
        // With a slow map in each the copies' maps last for 30 s, and then no node is slow any more.
        let expected = if hit.len() == 2 { 40.0 } else { 20.0 };
        assert_eq!(seconds(&row), expected, "{attempts:?}");
        // Clones of tasks, on the same nodes, are as slow only where both of one map are, whatever becomes of the reduce.
        let (by_task, attempts) = watched(&scenario, CloneScheme::Task, seed);
        let maps = attempts.iter().filter(|attempt| attempt.kind == TaskKind::Map);
        let hit: Vec<u32> = maps.filter(|map| slow.contains(&map.node)).map(|map| map.task).collect();
        let maps_took = by_task.phases[0].took.0;
        assert_eq!(maps_took, if hit[0] == hit[1] { 30_000 } else { 10_000 }, "{attempts:?}");
        seen.insert((seconds(&row) as u32, maps_took));
    }
    assert!(seen.contains(&(40, 10_000)), "{seen:?}");
}

#[test]
fn a_copy_whose_map_is_lost_with_its_node_runs_that_map_again_whatever_has_been_read_and_no_other_copy_does() {
    // Both copies' maps end at 10 s, and their reduces read until 16 s; a node goes at 12 s, or at 17 s.
    let whole = two_phases(5, &[]);
    let lost = |node: u32, at: u32| {
        let trouble = json!([{"nodes": [node], "from": at, "lasts": 100, "lost": true}]);
        Scenario { trouble: serde_json::from_value(trouble).unwrap(), ..whole.clone() }
    };
    let (row, attempts) = watched(&whole, CloneScheme::Job, 1);
    assert_eq!((seconds(&row), row.recomputed), (20.0, 0));
    let reduces = attempts.iter().filter(|attempt| attempt.kind == TaskKind::Reduce);
    let theirs: Vec<u32> = reduces.map(|reduce| reduce.node).collect();
    let idle = attempts.iter().find(|map| map.kind == TaskKind::Map && !theirs.contains(&map.node)).unwrap();
    for at in [12, 17] {
        let (row, attempts) = watched(&lost(idle.node, at), CloneScheme::Job, 1);
        let again = attempts.iter().filter(|attempt| attempt.kind == TaskKind::Map && attempt.number > 1);
        let went = (seconds(&row), row.recomputed, again.count());
        assert_eq!(went, (20.0, 1, 1), "the other copy goes on: {attempts:?}");
    }
}

#[test]
fn copies_make_way_for_a_job_that_waits_where_they_can_be_withdrawn() {
    let can = json!({"job_clones": true, "withdraw": true});
    let scenario = scenario(json!({
        "cluster": {"nodes": 2, "memory_mb": 1024},
        "hadoop": {"allocate": 0, "start_up": 0, "commit": 0, "exchange": 1, "poll": 0.01, "can": can},
        "jobs": [
            {"name": "a", "user": "ann", "maps": {"tasks": 1, "work": 30}},
            {"name": "b", "user": "bob", "arrive": {"at": 5.5}, "maps": {"tasks": 1, "work": 10}},
        ],
    }));
    let outcome = run(&scenario, dolly(CloneScheme::Job), 1).unwrap();
    let of = |name: &str| outcome.jobs.iter().find(|row| row.name == name).unwrap();
    assert_eq!((seconds(of("a")), of("a").withdrawn, of("a").copies), (30.0, 1, 1));
    assert_eq!(seconds(of("b")), 10.0);
}

#[test]
fn a_job_that_cannot_be_cloned_whole_runs_once() {
    let mut scenario = two_phases(4, &[3]);
    scenario.hadoop.can.job_clones = false;
    let outcome = run(&scenario, dolly(CloneScheme::Job), 1).unwrap();
    assert_eq!((outcome.attempts, outcome.jobs[0].copies), (3, 0));
}
