//! What comes of losses, kills, orders and exchanges, to the millisecond. As in `mechanisms`, 2.1 s pass beside the work, where nothing else is said.

use super::*;
use drover_core::estimate::Estimator;
use drover_core::estimate::calibration::{Accuracy, Point};
use drover_core::model::TaskKind;
use drover_core::policy::PolicyName::{Mantri, None};
use drover_core::sim::{AttemptRow, End, Watch, run_watching};
use serde_json::{Value, json};

/// A run of which job "a" is watched.
pub(super) fn watched(json: Value, params: EngineParams) -> (Outcome, Vec<AttemptRow>) {
    let mut watch = Watch::new("a", 0, 1_000);
    let outcome = run_watching(&scenario(json), params, 1, &mut watch).unwrap();
    let rows = watch.rows().copied().collect();
    (outcome, rows)
}

/// A map on the first node, as the second is not there before 4 s, and a reduce on the second, the only one with cores for it. The first is lost at a time.
fn first_is_lost(at: f64, second_mb: u64, kill: f64, reduces: u32) -> (Outcome, Vec<AttemptRow>) {
    first_is_lost_where(json!({"slow_start": 1, "kill": kill}), at, second_mb, reduces)
}

pub(super) fn first_is_lost_where(hadoop: Value, at: f64, second_mb: u64, reduces: u32) -> (Outcome, Vec<AttemptRow>) {
    let kinds = json!([{"nodes": 1, "memory_mb": 1024, "vcores": 1}, {"nodes": 1, "memory_mb": second_mb}]);
    let trouble = json!([{"nodes": [1], "lasts": 4, "lost": true}, {"nodes": [0], "from": at, "lost": true}]);
    let reduces = json!({"tasks": reduces, "copy": 10, "work": 10, "vcores": 3});
    let job = json!({"name": "a", "maps": {"tasks": 1, "work": 10}, "reduces": reduces});
    let json = json!({"cluster": {"nodes": 2, "kinds": kinds}, "hadoop": hadoop, "trouble": trouble, "jobs": [job]});
    watched(json, EngineParams { policy: None, ..EngineParams::default() })
}

#[test]
fn an_attempt_that_is_named_takes_as_many_times_longer_and_its_copy_does_not() {
    // Of two maps the second is eight times slower; its copy is decided on once the first has ended, at 12.1 s.
    let maps = json!({"tasks": 2, "work": 10, "slow": [[1, 0, 8.0]]});
    let json = json!({"hadoop": {"report": 1}, "jobs": [{"name": "a", "maps": maps}]});
    let (alone, _) = watched(json.clone(), EngineParams { policy: None, ..EngineParams::default() });
    assert_eq!(took(&alone), [82.1]);
    let (copied, rows) = watched(json, EngineParams::default());
    let ends: Vec<End> = rows.iter().map(|row| row.end).collect();
    assert_eq!(ends.iter().filter(|end| **end == End::Succeeded).count(), 2);
    assert!(rows.len() == 3 && took(&copied)[0] < 40.0, "{rows:?}");
}

#[test]
fn the_median_of_an_even_number_of_tasks_lies_halfway_between_the_two_in_the_middle() {
    // One of 10 s, one of 80: the slower one is no median, and has half of what lies between them to gain on it.
    let maps = json!({"tasks": 2, "work": 10, "slow": [[1, 0, 8.0]]});
    let alone = EngineParams { policy: None, ..EngineParams::default() };
    let (outcome, _) = watched(json!({"jobs": [{"name": "a", "maps": maps}]}), alone);
    let phase = &outcome.jobs[0].phases[0];
    assert_eq!(phase.slowest.0 - phase.median.0, 35_000);
}

#[test]
fn what_ran_on_a_lost_node_begins_anew_at_once_elsewhere() {
    let (outcome, rows) = first_is_lost(6.0, 1024, 0.0, 0);
    let ends: Vec<(u32, u64, End)> = rows.iter().map(|row| (row.node, row.ended.0, row.end)).collect();
    assert_eq!(ends, [(0, 6_000, End::Lost), (1, 18_100, End::Succeeded)]);
    assert_eq!((took(&outcome), outcome.jobs[0].wasted_ms), (vec![18.1], 5_500));
}

#[test]
fn a_reduce_waits_for_an_output_lost_with_its_node_and_keeps_what_it_has_read() {
    // It reads from 14.1 s to 15 s, and the other 9.1 s from 27.1 s on, when the map has run again beside it.
    let (outcome, _) = first_is_lost(15.0, 2048, 0.0, 1);
    assert_eq!((took(&outcome), outcome.jobs[0].recomputed), (vec![rounded(27.1 + 9.1 + 10.1)], 1));
}

#[test]
fn a_reduce_makes_way_for_a_map_that_has_no_other_place_and_reads_anew() {
    for kill in [0.0, 3.0] {
        let (outcome, rows) = first_is_lost(15.0, 1024, kill, 1);
        let made_way: Vec<u64> = rows.iter().filter(|row| row.end == End::MadeWay).map(|row| row.ended.0).collect();
        assert_eq!(made_way, [15_000]);
        // The map's 12.1 s from the end of the reduce's container on, then the reduce from its beginning.
        assert_eq!(took(&outcome), [rounded(15.0 + kill + 12.1 + 22.1)]);
    }
}

#[test]
fn the_replacement_of_what_was_restarted_has_the_next_place_off_the_node_that_it_left() {
    // Places but for the slow node's fall free every 20.1 s.
    let can = json!({"duplicate": true, "restart": true, "place": true});
    let hadoop = json!({"report": 1, "allocate": 0, "start_up": 0, "can": can});
    let jobs = json!([{"name": "a", "maps": {"tasks": 17, "work": 20}}]);
    let trouble = json!([{"nodes": [1], "slower": 8}]);
    let json = json!({"cluster": {"memory_mb": 4096}, "hadoop": hadoop, "trouble": trouble, "jobs": jobs});
    let (_, rows) = watched(json, EngineParams::paper(Mantri));
    let restarted: Vec<&AttemptRow> = rows.iter().filter(|row| row.end == End::Restarted).collect();
    assert!(!restarted.is_empty(), "{rows:?}");
    for left in restarted {
        let next = rows.iter().find(|row| (row.task, row.number) == (left.task, left.number + 1)).unwrap();
        let free = left.ended.0.div_ceil(20_100) * 20_100;
        assert_eq!((next.launched.0, next.node != left.node, next.is_copy), (free, true, false), "{left:?} {next:?}");
    }
}

#[test]
fn who_acts_hears_of_a_report_at_the_next_exchange() {
    let of = |exchange: f64| {
        let hadoop = json!({"report": 6, "allocate": 0, "exchange": exchange, "slow_start_up": false});
        let jobs = json!([{"name": "a", "maps": {"tasks": 8, "work": 40}}]);
        let trouble = json!([{"nodes": [1], "slower": 5}]);
        let cluster = json!({"nodes": 5, "memory_mb": 2048});
        let json = json!({"cluster": cluster, "hadoop": hadoop, "trouble": trouble, "jobs": jobs});
        took(&run(&scenario(json), EngineParams::paper(Mantri), 1).unwrap())[0]
    };
    // The second reports, of 13.5 s, have two tasks copied, for 41.6 s.
    assert_eq!([of(0.5), of(5.0), of(4.0)], [13.5, 15.0, 16.0].map(|at| rounded(at + 41.6)));
}

#[test]
fn a_copy_that_goes_first_has_the_next_place_and_else_waits_for_its_jobs_tasks() {
    // The first node's one place falls free every 12 s, the last time at 60 s, of which the next exchange tells; the second's task takes ten times as long.
    let copied = |first: bool| {
        let can = json!({"duplicate": true, "place": true, "copy_first": first});
        let hadoop = json!({"report": 1, "allocate": 0, "start_up": 1.9, "can": can, "slow_start_up": false});
        let jobs = json!([{"name": "a", "maps": {"tasks": 6, "work": 10}}]);
        let trouble = json!([{"nodes": [1], "slower": 10}]);
        let cluster = json!({"nodes": 2, "memory_mb": 1024});
        let json = json!({"cluster": cluster, "hadoop": hadoop, "trouble": trouble, "jobs": jobs});
        let (_, rows) = watched(json, EngineParams::paper(Mantri));
        rows.iter().find(|row| row.is_copy).map(|row| row.launched.0)
    };
    assert_eq!([copied(true), copied(false)], [Some(12_000), Some(61_000)]);
}

#[test]
fn who_acts_hears_of_machines_when_the_resource_manager_is_asked_again() {
    // The third machine is there from 15 s on; asked every 30 s, the ResourceManager tells of it at 30.5 s.
    let copied = |poll: f64| {
        let hadoop = json!({"report": 1, "allocate": 0, "exchange": 0.5, "poll": poll, "slow_start_up": false});
        let jobs = json!([{"name": "a", "maps": {"tasks": 2, "work": 40}}]);
        let trouble = json!([{"nodes": [1], "slower": 10}, {"nodes": [2], "lasts": 15, "lost": true}]);
        let cluster = json!({"nodes": 3, "memory_mb": 1024});
        let json = json!({"cluster": cluster, "hadoop": hadoop, "trouble": trouble, "jobs": jobs});
        let (_, rows) = watched(json, EngineParams::paper(Mantri));
        rows.iter().find(|row| row.is_copy).map(|row| row.launched.0)
    };
    assert_eq!([copied(0.5), copied(30.0)], [Some(15_000), Some(30_500)]);
}

#[test]
fn how_long_maps_sort_is_learned_from_those_that_have_ended_however_short_it_is() {
    // Maps of 40 s in several waves, which stand at two thirds when they have mapped all. Were the last third taken for work like the rest, their time left would be put
    // at three times what it is, as that of the first wave is, of which nobody can know.
    let error = |commit: f64| {
        let hadoop = json!({"report": 1, "allocate": 0, "start_up": 0, "commit": commit});
        let jobs = json!([{"name": "a", "maps": {"tasks": 40, "work": 40}, "reduces": {"tasks": 1, "work": 1}}]);
        let cluster = json!({"nodes": 4, "memory_mb": 1024});
        let outcome =
            run(&scenario(json!({"cluster": cluster, "hadoop": hadoop, "jobs": jobs})), EngineParams::default(), 1);
        let estimates = outcome.unwrap().estimates;
        estimates.of(TaskKind::Map, Point::Half, Estimator::PhaseAware).and_then(Accuracy::median_error).unwrap()
    };
    let errors = [0.0, 0.2].map(error);
    assert!(errors.iter().all(|error| *error < 0.05), "{errors:?}");
}

#[test]
fn how_long_phases_take_is_known_from_a_jobs_earlier_runs_where_its_own_tasks_have_not_shown_it() {
    // Reduces of one wave, which are at half of their progress while they sort, at a pace that says nothing of the rest: none has ended then that could. Two runs of the job,
    // one after the other, and two jobs of different names.
    let error = |names: [&str; 2]| {
        let one = |(nth, name): (usize, &str)| {
            json!({"name": name, "arrive": {"at": 200 * nth},
                "maps": {"tasks": 1, "work": 5}, "reduces": {"tasks": 4, "copy": 5, "sort": 2, "work": 40}})
        };
        let jobs: Vec<Value> = names.into_iter().enumerate().map(one).collect();
        let cluster = json!({"nodes": 4, "memory_mb": 4096});
        let json = json!({"cluster": cluster, "hadoop": {"report": 1, "allocate": 0, "start_up": 0}, "jobs": jobs});
        let estimates = run(&scenario(json), EngineParams::default(), 1).unwrap().estimates;
        let half = estimates.of(TaskKind::Reduce, Point::Half, Estimator::PhaseAware);
        half.and_then(Accuracy::mean_error).unwrap()
    };
    let (again, other) = (error(["daily-1", "daily-2"]), error(["daily-1", "weekly-1"]));
    assert!(other > 0.8, "of two first runs nothing is known: {other}");
    assert!(again < 0.6 * other, "of two runs of one job the first alone is: {again}");
}
