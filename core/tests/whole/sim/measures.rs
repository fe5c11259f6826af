//! What Mantri wants of jobs beside copies, carried out: §5.2 and §5.4.

use super::*;
use drover_core::sim::{AttemptRow, Watch, run_watching};
use serde_json::{Value, json};

/// The first attempts of a job named "a" under Mantri, in order of their launches.
fn launched(json: Value, seed: u64) -> Vec<AttemptRow> {
    let mut watch = Watch::new("a", 0, 1_000);
    let params = EngineParams { policy: PolicyName::Mantri, ..EngineParams::default() };
    run_watching(&scenario(json), params, seed, &mut watch).unwrap();
    let mut rows: Vec<AttemptRow> = watch.rows().copied().filter(|row| row.number == 0).collect();
    rows.sort_by_key(|row| (row.launched, row.task));
    rows
}

#[test]
fn waiting_tasks_start_with_the_largest_first_where_they_can_be_ordered() {
    let by_size = |can: Value| {
        let job = json!({
            "name": "a",
            "maps": {"tasks": 12, "work": 5, "input_mb": 64, "memory_mb": 1024},
        });
        let cluster = json!({"nodes": 1, "memory_mb": 1024});
        let slowness = json!({"data": {"uniform": {"low": 0.5, "high": 1.5}}});
        let rows =
            launched(json!({"cluster": cluster, "hadoop": {"can": can}, "slowness": slowness, "jobs": [job]}), 1);
        rows.iter().map(|row| (row.ended - row.launched).0).collect::<Vec<u64>>()
    };
    let ordered = by_size(json!({"duplicate": true, "order": true}));
    assert!(ordered.is_sorted_by(|a, b| a >= b), "{ordered:?}");
    let as_asked = by_size(json!({"duplicate": true}));
    assert_ne!(ordered, as_asked);
    let sorted = |mut all: Vec<u64>| {
        all.sort_unstable();
        all
    };
    assert_eq!(sorted(ordered), sorted(as_asked), "each as long as before");
}

#[test]
fn reduces_are_spread_over_racks_by_what_lies_there_where_they_can_be_placed() {
    let racks = |can: Value, seed| {
        let job = json!({
            "name": "a",
            "maps": {"tasks": 8, "work": 5, "input_mb": 0},
            "reduces": {"tasks": 4, "copy": 10, "work": 5, "input_mb": 100},
        });
        let links = json!({"uplink_mb_s": 10, "downlink_mb_s": 10});
        let cluster = json!({"nodes": 8, "racks": 2, "memory_mb": 1024, "network": links});
        let hadoop = json!({"slow_start": 1, "can": can});
        let rows = launched(json!({"cluster": cluster, "hadoop": hadoop, "jobs": [job]}), seed);
        let reduces = rows.into_iter().filter(|row| row.kind == drover_core::model::TaskKind::Reduce);
        reduces.filter(|row| row.node % 2 == 0).count()
    };
    let over = |can: Value| (0..20).map(|seed| racks(can.clone(), seed)).collect::<Vec<usize>>();
    let placed = over(json!({"duplicate": true, "place_reduces": true}));
    assert!(placed.iter().all(|there| *there == 2), "half of the maps lie in each rack: {placed:?}");
    let anywhere = over(json!({"duplicate": true}));
    assert!(anywhere.iter().any(|there| *there != 2), "{anywhere:?}");
}
