//! Requests that leave with an AM's heartbeat, and containers that are given at NodeManagers' reports. As in `mechanisms`, 2.1 s pass beside the work, of which a container is on its way for 0.5 s.

use super::exact::{first_is_lost_where, watched};
use super::*;
use drover_core::model::TaskKind;
use drover_core::policy::PolicyName::{Mantri, None};
use drover_core::sim::draw::{Draws, Purpose};
use drover_core::sim::{AttemptRow, End};
use serde_json::{Value, json};

/// When each node reports first, milliseconds from the start, by the seed of `watched`; the first to report first.
fn turns(nodes: u32, every: u64) -> Vec<(u64, u32)> {
    let draws = Draws::new(1);
    let first = |node: u32| (draws.of(Purpose::Heartbeat, [node.into(), 0, 0]).uniform() * every as f64) as u64;
    let mut turns: Vec<_> = (0..nodes).map(|node| (first(node), node)).collect();
    turns.sort_unstable();
    turns
}

/// The first report at that instant or later: when, and of which node.
fn next(turns: &[(u64, u32)], every: u64, at: u64) -> (u64, u32) {
    let later = |first: u64| first + at.saturating_sub(first).div_ceil(every) * every;
    turns.iter().map(|(first, node)| (later(*first), *node)).min().unwrap()
}

fn without_policy(json: Value) -> (Outcome, Vec<AttemptRow>) {
    watched(json, EngineParams { policy: None, ..EngineParams::default() })
}

/// When and where each attempt was given its container, in order.
fn given(rows: &[AttemptRow]) -> Vec<(u64, u32)> {
    let mut given: Vec<_> = rows.iter().map(|row| (row.launched.0 - 500, row.node)).collect();
    given.sort_unstable();
    given
}

fn made_way(rows: &[AttemptRow]) -> Vec<u64> {
    rows.iter().filter(|row| row.end == End::MadeWay).map(|row| row.ended.0).collect()
}

#[test]
fn a_container_comes_as_much_later_as_its_request_is_heard() {
    let of = |ask: f64, reduces: u32| {
        let reduces = json!({"tasks": reduces, "copy": 4, "work": 5});
        let jobs = json!([{"name": "a", "maps": {"tasks": 1, "work": 10}, "reduces": reduces}]);
        took(&alone(json!({"hadoop": {"slow_start": 1, "ask": ask}, "jobs": jobs})))[0]
    };
    assert_eq!([of(0.0, 0), of(3.0, 0)], [12.1, 15.1]);
    assert_eq!([of(0.0, 1), of(3.0, 1)], [23.2, 29.2]);
}

#[test]
fn a_slow_nodes_files_come_as_slowly_to_who_is_launched_meanwhile_as_to_the_first() {
    let jobs = json!([{"name": "a", "maps": {"tasks": 2, "work": 10}}]);
    let (cluster, hadoop) = (json!({"nodes": 1, "slower": 2}), json!({"node_heartbeat": 4, "localize": 3}));
    let (_, rows) = without_policy(json!({"cluster": cluster, "hadoop": hadoop, "jobs": jobs}));
    let took: Vec<u64> = rows.iter().map(|row| row.ended.0 - row.launched.0).collect();
    // The files are there 6 s after the first launch, of which 2 s are left after the second.
    assert_eq!(took, [2 * (3_000 + 11_600), 2 * (1_000 + 11_600)]);
}

#[test]
fn each_node_is_given_one_container_a_report() {
    let jobs = json!([{"name": "a", "maps": {"tasks": 6, "work": 100}}]);
    let cluster = json!({"nodes": 2, "memory_mb": 4096});
    let (_, rows) = without_policy(json!({"cluster": cluster, "hadoop": {"node_heartbeat": 10}, "jobs": jobs}));
    let rounds = (0..3).flat_map(|round| turns(2, 10_000).into_iter().map(move |(at, on)| (at + 10_000 * round, on)));
    assert_eq!(given(&rows), rounds.collect::<Vec<_>>());
}

#[test]
fn a_container_that_ends_is_told_at_once_and_not_with_the_next_report() {
    let jobs = json!([{"name": "a", "maps": {"tasks": 3, "work": 10}}]);
    let cluster = json!({"nodes": 1, "memory_mb": 1024});
    let (outcome, _) = without_policy(json!({"cluster": cluster, "hadoop": {"node_heartbeat": 7}, "jobs": jobs}));
    let (first, _) = turns(1, 7_000)[0];
    assert_eq!(took(&outcome), [rounded(first as f64 / 1e3 + 3.0 * 12.1)]);
}

#[test]
fn a_copy_goes_to_the_next_node_that_reports() {
    // Two tasks on the two nodes that report first, one of which is slow; a copy is decided on at one of the exchanges, and goes to one of the three others.
    let turns = turns(5, 4_000);
    let hadoop = json!({"report": 1, "exchange": 15, "node_heartbeat": 4, "slow_start_up": false});
    let jobs = json!([{"name": "a", "maps": {"tasks": 2, "work": 40}}]);
    let trouble = json!([{"nodes": [turns[0].1], "slower": 10}]);
    let cluster = json!({"nodes": 5, "memory_mb": 1024});
    let json = json!({"cluster": cluster, "hadoop": hadoop, "trouble": trouble, "jobs": jobs});
    let (_, rows) = watched(json, EngineParams::paper(Mantri));
    let copy = rows.iter().find(|row| row.is_copy).unwrap();
    let at = copy.launched.0 - 500;
    assert_eq!((at, copy.node), next(&turns[2..], 4_000, at / 15_000 * 15_000), "{rows:?}");
}

#[test]
fn a_report_of_a_node_that_is_lost_meanwhile_does_not_end_the_round() {
    let turns = turns(2, 10_000);
    let ((first, lost), (second, _)) = (turns[0], turns[1]);
    let trouble = json!([{"nodes": [lost], "from": first as f64 / 2e3, "lost": true}]);
    let jobs = json!([{"name": "a", "maps": {"tasks": 1, "work": 10}}]);
    let json = json!({"cluster": {"nodes": 2}, "hadoop": {"node_heartbeat": 10}, "trouble": trouble, "jobs": jobs});
    assert_eq!(took(&without_policy(json).0), [rounded(second as f64 / 1e3 + 12.1)]);
}

#[test]
fn a_reduce_makes_way_where_no_node_has_room_that_could_report() {
    // The map has ended by 14.1 s, and the reduce reads when the first node is lost. Each is given its container as the other's ends, which is told at once.
    for kill in [0.0, 3.0] {
        let hadoop = json!({"slow_start": 1, "kill": kill, "node_heartbeat": 2});
        let (outcome, rows) = first_is_lost_where(hadoop, 20.0, 1024, 1);
        assert_eq!(made_way(&rows), [20_000]);
        assert_eq!(took(&outcome), [rounded(20.0 + kill + 12.1 + 22.1)]);
    }
}

#[test]
fn a_reduce_makes_way_once_the_maps_request_is_heard_and_only_where_there_is_no_room() {
    // The reduce is heard of 3 s after the map's end at 15.1 s, and reads from 20.1 s on. The map is lost at 21 s, and heard of again at 24 s.
    let of = |second_mb| first_is_lost_where(json!({"slow_start": 1, "ask": 3}), 21.0, second_mb, 1);
    let (outcome, rows) = of(2048);
    assert_eq!((made_way(&rows), took(&outcome)), (vec![], vec![rounded(24.0 + 12.1 + 9.1 + 10.1)]));
    let (outcome, rows) = of(1024);
    // The reduce's own request is heard of at 27 s, when the map has its place.
    assert_eq!((made_way(&rows), took(&outcome)), (vec![24_000], vec![rounded(24.0 + 12.1 + 22.1)]));
}

#[test]
fn a_map_waits_for_its_splits_nodes_from_when_it_is_heard_of_and_no_reduce_makes_way_meanwhile() {
    // As before, but that the map's split lies on the second node alone, which is lost, and the reduce runs on the first.
    let kinds = json!([{"nodes": 1, "memory_mb": 2048}, {"nodes": 1, "memory_mb": 1024, "vcores": 1}]);
    let trouble = json!([{"nodes": [1], "from": 21, "lost": true}]);
    let reduces = json!({"tasks": 1, "copy": 10, "work": 10, "vcores": 3});
    let job = json!({"name": "a", "maps": {"tasks": 1, "work": 10}, "reduces": reduces});
    let of = |withdraw: bool, at: u32| {
        let can = json!({"duplicate": true, "withdraw": withdraw});
        let hadoop = json!({"slow_start": 1, "ask": 3, "replicas": 1, "locality_wait": 5, "can": can});
        let cluster = json!({"nodes": 2, "kinds": kinds});
        let json = json!({"cluster": cluster, "hadoop": hadoop, "trouble": trouble, "jobs": [job]});
        let (outcome, rows) = without_policy(json);
        let maps: Vec<_> = rows.iter().filter(|row| row.kind == TaskKind::Map).copied().collect();
        assert_eq!(given(&maps), [(3_000, 1), (u64::from(at) * 1_000, 0)]);
        let ends = rounded(f64::from(at) + 12.1 + 9.1 + 10.1);
        assert_eq!((made_way(&rows), took(&outcome)), (vec![], vec![ends]));
    };
    of(true, 29);
    // Hadoop asks for it anywhere.
    of(false, 24);
}
