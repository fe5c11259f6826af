//! Policies in the simulated cluster: the engine is told what a shim would tell, and what it decides is done.

use super::exact::watched;
use super::*;
use drover_core::model::TaskKind;
use drover_core::policy::PolicyName::*;
use drover_core::sim::End;
use serde_json::json;

/// Sixteen maps of 20 s on four nodes, one of which is five times slower.
fn one_slow_node(hadoop: serde_json::Value) -> Scenario {
    let trouble = json!([{"nodes": [1], "slower": 5}]);
    let jobs = json!([{"name": "a", "maps": {"tasks": 16, "work": 20}}]);
    scenario(json!({"cluster": {"memory_mb": 5120}, "hadoop": hadoop, "trouble": trouble, "jobs": jobs}))
}

#[test]
fn whoever_speculates_ends_a_job_with_a_slow_node_sooner_than_nobody() {
    let scenario = one_slow_node(json!({"report": 1}));
    let none = took(&under(None, &scenario, 1))[0];
    assert_eq!(none, 0.5 + 5.0 * (1.5 + 20.0 + 0.1));
    for policy in [Late, Mantri, Drover, HadoopTuned] {
        let outcome = under(policy, &scenario, 1);
        let row = &outcome.jobs[0];
        assert!(seconds(row) < 0.75 * none, "{}: {}", policy.label(), seconds(row));
        assert!(row.copies_won > 0 && row.copies <= 8, "{}: {row:?}", policy.label());
    }
}

#[test]
fn copies_keep_off_the_slow_node_under_drover() {
    let row = under(Drover, &one_slow_node(json!({"report": 1})), 1).jobs.remove(0);
    assert_eq!(row.copies_won, row.copies);
}

#[test]
fn a_node_that_stops_holds_no_job_up_for_longer_than_three_copies_take_wherever_its_tasks_stand() {
    let jobs = json!([{
        "name": "a", "maps": {"tasks": 8, "work": 20},
        "reduces": {"tasks": 8, "copy": 20, "sort": 20, "work": {"uniform": {"low": 55, "high": 65}}, "memory_mb": 2048},
    }]);
    let took = |policy, stops: u32| {
        // Both at once: not even its score tells that it goes on.
        let stop = json!({"nodes": [3], "slower": 1e6, "from": stops});
        let trouble = json!([stop, stop]);
        let cluster = json!({"nodes": 8, "memory_mb": 4096});
        let hadoop = json!({"report": 6});
        let scenario = json!({"cluster": cluster, "hadoop": hadoop, "trouble": trouble, "jobs": jobs});
        took(&under(policy, &super::scenario(scenario), 1))[0]
    };
    for stops in (0..110).step_by(2) {
        for policy in [Late, Mantri, Drover] {
            let seconds = took(policy, stops);
            assert!(seconds < f64::from(stops) + 310.0, "{}: {seconds} s, stopped at {stops}", policy.label());
        }
    }
}

#[test]
fn where_nothing_is_slow_nothing_is_copied() {
    let jobs = json!([{"name": "a", "count": 5, "arrive": {"every": 60}, "maps": {"tasks": 16, "work": {"uniform": {"low": 18, "high": 22}}}}]);
    let scenario = scenario(json!({"cluster": {"memory_mb": 5120}, "hadoop": {"report": 1}, "jobs": jobs}));
    for policy in [Late, Mantri, Drover] {
        let copies: u32 = under(policy, &scenario, 3).jobs.iter().map(|job| job.copies).sum();
        assert!(copies <= 1, "{}: {copies}", policy.label());
    }
}

#[test]
fn a_restart_is_done_where_it_can_be_and_keeps_off_the_node_that_it_left() {
    // Full, with tasks waiting: Mantri's line 6. Its clusters start no JVMs.
    let trouble = json!([{"nodes": [1], "slower": 8}]);
    let can = json!({"duplicate": true, "restart": true, "place": true});
    let hadoop = json!({"report": 1, "allocate": 0, "start_up": 0, "can": can});
    let jobs = json!([{"name": "a", "maps": {"tasks": 40, "work": 20}}]);
    let cluster = json!({"memory_mb": 4096});
    let scenario = scenario(json!({"cluster": cluster, "hadoop": hadoop, "trouble": trouble, "jobs": jobs}));
    let outcome = run(&scenario, EngineParams::paper(Mantri), 1).unwrap();
    let row = &outcome.jobs[0];
    assert!(row.restarts > 0, "{row:?}");
    assert!(seconds(row) < 0.7 * took(&under(None, &scenario, 1))[0], "{row:?}");
}

/// Maps that were restarted on a cluster that can what Hadoop can, and how many of them beside a reduce that had run for two exchanges.
fn restarted_beside_reduces(slow_start: f64) -> (usize, usize) {
    let hadoop = json!({"report": 1, "allocate": 0, "start_up": 0, "slow_start": slow_start, "can": {"duplicate": true, "restart": true}});
    let trouble = json!([{"nodes": [1], "slower": 8}]);
    let jobs = json!([{"name": "a", "maps": {"tasks": 40, "work": 20}, "reduces": {"tasks": 6, "copy": 2, "work": 5}}]);
    let json = json!({"cluster": {"memory_mb": 4096}, "hadoop": hadoop, "trouble": trouble, "jobs": jobs});
    let (_, rows) = watched(json, EngineParams::paper(Mantri));
    let reduces: Vec<_> = rows.iter().filter(|row| row.kind == TaskKind::Reduce).collect();
    let beside = |end: u64| reduces.iter().any(|row| row.launched.0 + 2_000 < end && end <= row.ended.0);
    let maps: Vec<_> = rows.iter().filter(|row| row.kind == TaskKind::Map && row.end == End::Restarted).collect();
    (maps.len(), maps.iter().filter(|row| beside(row.ended.0)).count())
}

#[test]
fn as_on_hadoop_no_map_is_restarted_beside_reduces_that_run() {
    assert_eq!(restarted_beside_reduces(0.05).1, 0);
    let (restarted, beside) = restarted_beside_reduces(1.0);
    assert!(restarted > 0 && beside == 0, "{restarted}, {beside} of them");
}

#[test]
fn policies_that_name_no_hosts_start_what_they_copy_whether_it_gains_or_not_where_copies_can_be_placed_too() {
    let jobs = json!([{"name": "a", "maps": {"tasks": 16, "work": {"uniform": {"low": 16, "high": 32}}}}]);
    for policy in [MapReduce, Dryad] {
        let copies = |place: bool| {
            let hadoop = json!({"report": 1, "can": {"duplicate": true, "place": place}});
            let scenario = scenario(json!({"cluster": {"memory_mb": 5120}, "hadoop": hadoop, "jobs": jobs.clone()}));
            run(&scenario, EngineParams::paper(policy), 1).unwrap().jobs[0].copies
        };
        assert!(copies(false) > 0, "{}: nothing is copied near the end", policy.label());
        assert_eq!(copies(true), copies(false), "{}", policy.label());
    }
}

#[test]
fn attempts_that_never_report_are_judged_by_how_long_their_peers_took() {
    let row = under(Late, &one_slow_node(json!({"report": 1, "silent": 1.0})), 1).jobs.remove(0);
    assert_eq!((row.copies, row.copies_won), (4, 4), "{row:?}");
    assert!(seconds(&row) > 2.0 * 22.1, "nobody knew before: {row:?}");
}

#[test]
fn reports_that_come_later_are_acted_on_later_and_nothing_else_changes() {
    let of = |policy, jitter: f64| {
        let hadoop =
            json!({"report": 6, "report_jitter": jitter, "allocate": 0, "exchange": 0.5, "slow_start_up": false});
        let jobs = json!([{"name": "a", "maps": {"tasks": 8, "work": 40}}]);
        let trouble = json!([{"nodes": [1], "slower": 5}]);
        let cluster = json!({"nodes": 5, "memory_mb": 2048});
        let json = json!({"cluster": cluster, "hadoop": hadoop, "trouble": trouble, "jobs": jobs});
        took(&run(&scenario(json), EngineParams::paper(policy), 1).unwrap())[0]
    };
    // Work begins at 1.5 s; the second reports have the tasks on the slow node copied, for 41.6 s.
    for jitter in [0.0, 1.0, 2.5] {
        assert_eq!(of(Mantri, jitter), rounded(1.5 + 12.0 + jitter + 41.6));
    }
    assert_eq!([of(None, 0.0), of(None, 2.5)], [1.5 + 200.0 + 0.1; 2]);
}

#[test]
fn what_is_only_advised_is_not_done() {
    use drover_core::model::Mode;
    let scenario = one_slow_node(json!({"report": 1}));
    let mut params = EngineParams { policy: Late, ..EngineParams::default() };
    params.govern.user_modes.insert(scenario.jobs[0].user.clone(), Mode::Advise);
    let outcome = run(&scenario, params, 1).unwrap();
    assert_eq!((outcome.jobs[0].copies, outcome.decided.copies), (0, 0));
    assert_eq!(took(&outcome), took(&under(None, &scenario, 1)));
}
