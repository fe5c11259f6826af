//! Dolly's mechanisms, by hand: clones start with the originals, the first to end kills the others, and clones of reduces read as the engine's plan has it.

use super::*;
use drover_core::model::TaskKind;
use drover_core::policy::PolicyName::Dolly;
use drover_core::policy::dolly::Reads;
use drover_core::sim::{Watch, run_watching};
use serde_json::json;

/// As §3 and §4 have it, but that so small a cluster may be cloned beyond what it holds, and clones wait. p is .1 while no task has shown it.
fn dolly(reads: Reads) -> EngineParams {
    let mut params = EngineParams::paper(Dolly);
    (params.dolly.beta, params.dolly.tau, params.dolly.reads) = (2.0, 2.0, reads);
    params
}

/// Nodes of one slot each, of which the second is three times slower; nothing takes time but the work.
fn ideal(nodes: u32, contention: f64, maps: u32, reduces: serde_json::Value) -> Scenario {
    let can = json!({"duplicate": true, "copy_waiting": true, "reads": true});
    let hadoop = json!({
        "allocate": 0, "start_up": 0, "commit": 0, "report": 1, "poll": 0.01, "slow_start": 1.0, "contention": contention, "can": can,
    });
    scenario(json!({
        "cluster": {"nodes": nodes, "memory_mb": 1024}, "hadoop": hadoop, "trouble": [{"nodes": [1], "slower": 3}],
        "jobs": [{"name": "a", "maps": {"tasks": maps, "work": 10}, "reduces": reduces}],
    }))
}

fn row(scenario: &Scenario, params: EngineParams) -> JobRow {
    run(scenario, params, 1).unwrap().jobs.remove(0)
}

#[test]
fn a_clone_starts_with_the_original_and_the_first_to_end_kills_the_other() {
    // One task: .1² is below 5 %, so two copies, one of them on the slow node.
    let row = row(&ideal(2, 1.0, 1, json!({})), dolly(Reads::Cc));
    assert_eq!((seconds(&row), row.copies, row.useful_ms, row.wasted_ms), (10.0, 1, 10_000, 10_000));
}

#[test]
fn a_reduce_has_no_more_clones_than_the_maps_before_it() {
    // Ten tasks ask for three copies each, one for two.
    let outcome = run(&ideal(40, 1.0, 1, json!({"tasks": 10, "work": 5})), dolly(Reads::Cc), 1).unwrap();
    assert_eq!(outcome.attempts, 2 + 20);
    let outcome = run(&ideal(40, 1.0, 10, json!({"tasks": 10, "work": 5})), dolly(Reads::Cc), 1).unwrap();
    assert_eq!(outcome.attempts, 30 + 30);
}

#[test]
fn clones_that_share_an_output_read_it_more_slowly_and_one_that_has_its_own_does_not() {
    let took = |reads, contention| {
        seconds(&row(&ideal(2, contention, 1, json!({"tasks": 1, "copy": 6, "work": 4})), dolly(reads)))
    };
    // CC: the map's other clone is killed at 10 s, both clones of the reduce read what the first wrote, and the one on the good node takes 6/.5 s for it.
    assert_eq!((took(Reads::Cc, 1.0), took(Reads::Cc, 0.5)), (20.0, 26.0));
    // CAC: the map's other clone goes on, and the reduce's first one has the output to itself.
    assert_eq!(took(Reads::Cac, 0.5), 20.0);
}

#[test]
fn a_killed_clones_container_is_there_for_others_when_its_node_tells_of_its_end() {
    let of = |kill: f64| {
        let mut scenario = ideal(2, 1.0, 1, json!({"tasks": 1, "copy": 6, "work": 4}));
        scenario.hadoop.kill = serde_json::from_value(json!(kill)).unwrap();
        let mut watch = Watch::new("a", 0, 10);
        let outcome = run_watching(&scenario, dolly(Reads::Cc), 1, &mut watch).unwrap();
        let clone = watch.rows().find(|row| row.kind == TaskKind::Reduce && row.number == 1).map(|row| row.launched.0);
        let row = &outcome.jobs[0];
        (seconds(row), row.useful_ms, row.wasted_ms, outcome.held_ms, clone)
    };
    // The map's slow clone is killed at 10 s. On its node the reduce's clone begins then, or when the container has been given back, and is killed when the job ends; that gives back all it has.
    assert_eq!(of(0.0), (20.0, 20_000, 20_000, 40_000, Some(10_000)));
    assert_eq!(of(3.0), (20.0, 20_000, 10_000 + 3_000 + 7_000, 40_000, Some(13_000)));
    assert_eq!(of(30.0), (20.0, 20_000, 20_000, 40_000, None), "it has its place for as long as the job lasts");
}

#[test]
fn a_clone_reads_through_the_links_from_where_the_output_lies_that_it_was_given() {
    // A rack a node, of which the first turns slow when the reduce has just begun: its clone on the second is the first to end. It reads 10 MiB/s, the racks send 2.5.
    let of = |reads, uplink: f64| {
        let mut scenario = ideal(2, 1.0, 1, json!({"tasks": 1, "copy": 6, "work": 4, "input_mb": 60}));
        (scenario.cluster.racks, scenario.cluster.network.uplink_mb_s) = (2, uplink);
        let trouble = json!([{"nodes": [0], "from": 10.5, "slower": 100}, {"nodes": [1], "lasts": 30, "slower": 3}]);
        scenario.trouble = serde_json::from_value(trouble).unwrap();
        seconds(&row(&scenario, dolly(reads)))
    };
    // CAC: the map's other clone ends at 30 s, and the reduce's, from the next exchange on, reads what that wrote, in its own rack.
    assert_eq!([0.0, 2.5].map(|uplink| of(Reads::Cac, uplink)), [41.0, 41.0]);
    // CC: from 10 s on it reads from the other rack, at a third of its pace where nothing is in its way, until 28 s, and has worked for two of twelve seconds when its node recovers.
    assert_eq!([0.0, 2.5].map(|uplink| of(Reads::Cc, uplink)), [33.334, 38.0]);
}

#[test]
fn a_clone_waits_for_an_output_of_its_own_for_as_long_as_a_read_takes_and_then_reads_the_others() {
    // p is .04 at first, so that the first of the jobs has no clones, and shows that a reduce reads for 6 s; then one of five tasks straggles, and .2² is below 5 %.
    let hadoop = json!({
        "allocate": 0, "start_up": 0, "commit": 0, "report": 1, "slow_start": 1.0, "contention": 0.5,
        "can": {"duplicate": true, "copy_waiting": true, "reads": true},
    });
    let reduces = json!({"tasks": 1, "copy": 6, "work": 4});
    let scenario = scenario(json!({
        "cluster": {"nodes": 2, "memory_mb": 1024}, "hadoop": hadoop, "trouble": [{"nodes": [1], "from": 50, "slower": 10}],
        "jobs": [
            {"name": "a", "count": 3, "arrive": {"every": 300}, "maps": {"tasks": 1, "work": 10}, "reduces": reduces},
            {"name": "b", "arrive": {"at": 60}, "maps": {"tasks": 5, "work": 10}},
        ],
    }));
    let later = |reads, exclusive| {
        let mut params = dolly(reads);
        (params.dolly.prior, params.dolly.exclusive) = (0.04, exclusive);
        let rows = run(&scenario, params, 1).unwrap().jobs;
        assert!(rows.iter().filter(|row| row.nth == 0).all(|row| row.copies == 0), "{rows:?}");
        let waits = reads == Reads::Delay && exclusive.is_some();
        let omega =
            |row: &JobRow| row.name == "a" && row.nth == 1 && row.omega == Some(drover_core::model::Millis(6_000));
        assert_eq!(rows.iter().any(omega), waits, "a job tells how long its clones were to wait: {rows:?}");
        [1, 2].map(|nth| rows.iter().find(|row| row.nth == nth).map(|row| (seconds(row), row.copies)).unwrap())
    };
    let second = |reads| later(reads, Some(0.9))[0];
    // The map's other clone holds the slow node. CAC: until the job has ended. CC: it is killed at 10 s for the reduce's other clone, which shares.
    assert_eq!((second(Reads::Cac), second(Reads::Cc)), ((20.0, 1), (26.0, 2)));
    // Where clones compute alike they read one after the other (§4.4): ω is 6 s, and the first has read all when the other begins.
    assert_eq!(second(Reads::Delay), (20.0, 2));
    // Where nobody says how often a clone has an output of its own, the second job waits without end, as CAC, and what it shows lets the third wait for ω.
    assert_eq!(later(Reads::Delay, None), [(20.0, 1), (20.0, 2)]);
}

#[test]
fn a_clone_that_is_launched_when_another_has_ended_does_not_put_its_task_back_to_running() {
    // The second node is there from 11 s on, and containers take 2 s: the map's clone is launched at 13 s, when the other has ended.
    let mut scenario = ideal(2, 1.0, 1, json!({"tasks": 1, "copy": 6, "work": 4}));
    scenario.hadoop.allocate = serde_json::from_value(json!(2)).unwrap();
    scenario.trouble = serde_json::from_value(json!([{"nodes": [1], "lasts": 11, "lost": true}])).unwrap();
    let row = row(&scenario, dolly(Reads::Cac));
    assert_eq!((seconds(&row), row.phases[0].slowest.0), (24.0, 10_000));
}

#[test]
fn which_clone_of_a_reduce_has_a_maps_first_output_is_chance_map_by_map() {
    // Two of four nodes are three times slower. Where each of two maps has a clone on one of these, one reduce's clone has both first outputs, or each clone waits for a second one until 30 s.
    let took = |nodes: u32, seed: u64| {
        let mut scenario = ideal(nodes, 1.0, 2, json!({"tasks": 1, "copy": 6, "work": 4}));
        scenario.trouble = serde_json::from_value(
            json!([{"nodes": (0..nodes).filter(|node| node % 2 == 1).collect::<Vec<_>>(), "slower": 3}]),
        )
        .unwrap();
        seconds(&run(&scenario, dolly(Reads::Cac), seed).unwrap().jobs[0])
    };
    let all: Vec<f64> = (1..=40).map(|seed| took(4, seed)).collect();
    assert!([20.0, 37.0].iter().all(|one| all.contains(one)), "{all:?}");
    // Of three nodes one map's clone has no place before the other has ended: who waits for what it would have written would wait for ever.
    assert!((1..=40).all(|seed| took(3, seed) < 100.0));
}

#[test]
fn where_clones_of_reduces_give_way_the_ones_that_go_on_wait_for_no_output_that_another_had_or_that_is_not_to_come() {
    // As above, each map's second output comes at 30 s. At 15 s another job's tasks ask for more than the ceiling leaves beside them.
    let took = |seed: u64| {
        let mut scenario = ideal(8, 1.0, 2, json!({"tasks": 1, "copy": 6, "work": 4}));
        scenario.hadoop.can.withdraw = true;
        scenario.trouble = serde_json::from_value(json!([{"nodes": [1, 3, 5, 7], "slower": 3}])).unwrap();
        scenario.jobs.push(
            serde_json::from_value(json!({"name": "b", "arrive": {"at": 15}, "maps": {"tasks": 4, "work": 100}}))
                .unwrap(),
        );
        let mut params = dolly(Reads::Cac);
        params.dolly.tau = 0.8;
        let outcome = run(&scenario, params, seed).unwrap();
        seconds(&outcome.jobs[0])
    };
    let all: Vec<f64> = (1..=40).map(took).collect();
    // Where each clone has the first output of one map, the one on a good node reads the other's from 15 s on, for three seconds, and works for four: not from 30 s on.
    assert!(all.contains(&22.0) && !all.contains(&37.0), "{all:?}");
}
