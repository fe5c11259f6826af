//! One small scenario for each mechanism. A container is on its way for 0.5 s, a JVM starts in 1.5 s, a commit takes 0.1 s: 2.1 s beside the work.

use super::*;
use drover_core::model::{Millis, TaskKind};
use drover_core::sim::{Watch, run_watching};
use serde_json::json;

#[test]
fn a_wave_takes_its_work_and_what_containers_and_commits_take() {
    let outcome =
        alone(json!({"cluster": {"memory_mb": 1024}, "jobs": [{"name": "a", "maps": {"tasks": 4, "work": 10}}]}));
    assert_eq!(took(&outcome), [12.1]);
    assert_eq!((outcome.attempts, outcome.waiting_ms, outcome.held_ms), (4, 2_000, 48_400));
}

#[test]
fn a_second_wave_waits_for_the_first() {
    let outcome =
        alone(json!({"cluster": {"memory_mb": 1024}, "jobs": [{"name": "a", "maps": {"tasks": 5, "work": 10}}]}));
    assert_eq!(took(&outcome), [24.2]);
}

#[test]
fn a_node_has_room_for_as_many_containers_as_memory_and_cores_bear() {
    let of = |memory_mb, vcores| {
        let cluster = json!({"nodes": 1, "memory_mb": memory_mb, "vcores": vcores});
        took(&alone(json!({"cluster": cluster, "jobs": [{"name": "a", "maps": {"tasks": 6, "work": 10}}]})))[0]
    };
    assert_eq!([of(6144, 6), of(3072, 6), of(6144, 2)], [12.1, 24.2, 36.3]);
}

#[test]
fn files_are_fetched_once_a_node_and_who_is_launched_meanwhile_waits_for_them() {
    let of = |tasks| {
        let jobs = json!([{"name": "a", "maps": {"tasks": tasks, "work": 10}}]);
        let cluster = json!({"nodes": 1, "memory_mb": 2048});
        took(&alone(json!({"cluster": cluster, "hadoop": {"localize": 3}, "jobs": jobs})))[0]
    };
    assert_eq!([of(1), of(2), of(3)], [15.1, 15.1, 15.1 + 12.1]);
}

#[test]
fn nodes_unlike_the_others_offer_and_take_what_is_said_of_them_and_the_rest_is_as_of_the_others() {
    let kinds = json!([{"nodes": 1, "memory_mb": 2048}, {"nodes": 1, "slower": 3}]);
    let hadoop = json!({"slow_start_up": false});
    let of = |tasks| {
        let cluster = json!({"nodes": 3, "memory_mb": 1024, "kinds": kinds});
        let jobs = json!([{"name": "a", "maps": {"tasks": tasks, "work": 10}}]);
        took(&alone(json!({"cluster": cluster, "hadoop": hadoop, "jobs": jobs})))[0]
    };
    assert_eq!(
        [of(4), of(6)],
        [32.1, 32.1],
        "four places; the slow one is still at its first when the others end their second"
    );
}

#[test]
fn a_slow_node_takes_as_much_longer_for_all_that_runs_there() {
    let of = |slow_start_up| {
        let cluster = json!({"nodes": 1, "slower": 10});
        let hadoop = json!({"slow_start_up": slow_start_up});
        took(&alone(
            json!({"cluster": cluster, "hadoop": hadoop, "jobs": [{"name": "a", "maps": {"tasks": 1, "work": 10}}]}),
        ))[0]
    };
    assert_eq!([of(true), of(false)], [0.5 + 15.0 + 100.0 + 1.0, 0.5 + 1.5 + 100.0 + 0.1]);
}

#[test]
fn a_node_that_turns_slow_for_a_time_slows_what_is_left_for_that_time() {
    let trouble = json!([{"nodes": [0], "from": 5, "lasts": 10, "slower": 2}]);
    let outcome = alone(
        json!({"cluster": {"nodes": 1}, "trouble": trouble, "jobs": [{"name": "a", "maps": {"tasks": 1, "work": 10}}]}),
    );
    // Work from 2 s on: 3 s of it until 5 s, 5 s until 15 s, the rest until 17 s.
    assert_eq!(took(&outcome), [17.1]);
}

#[test]
fn trouble_comes_again_after_as_long_as_is_said() {
    let trouble = json!([{"nodes": [0], "from": 3, "lasts": 1, "again": 2, "slower": 2}]);
    let outcome = alone(
        json!({"cluster": {"nodes": 1}, "trouble": trouble, "jobs": [{"name": "a", "maps": {"tasks": 1, "work": 10}}]}),
    );
    // From 2 s on, of each three seconds one at half the pace: 2.5 s of work in 3 s. After 12 s of that: 10 s.
    assert_eq!(took(&outcome), [14.1]);
}

#[test]
fn what_is_tied_to_the_attempt_or_to_the_data_multiplies_the_work() {
    let of = |slowness| {
        took(&alone(json!({"slowness": slowness, "jobs": [{"name": "a", "maps": {"tasks": 1, "work": 10}}]})))[0]
    };
    assert_eq!(
        [of(json!({"attempt": 3})), of(json!({"data": 5})), of(json!({"attempt": 3, "data": 5}))],
        [32.1, 52.1, 152.1]
    );
}

#[test]
fn reduces_begin_when_enough_maps_have_ended_and_read_on_until_all_have() {
    let reduces = json!({"tasks": 1, "copy": 4, "sort": 1, "work": 5});
    let of = |slow_start: f64, maps: u32| {
        let jobs = json!([{"name": "a", "maps": {"tasks": maps, "work": 10}, "reduces": reduces}]);
        took(&alone(
            json!({"cluster": {"nodes": 1, "memory_mb": 2048}, "hadoop": {"slow_start": slow_start}, "jobs": jobs}),
        ))[0]
    };
    // Maps end at 12.1 s; the reduce starts then, and has all to read.
    assert_eq!(of(1.0, 2), rounded(12.1 + 2.0 + 4.0 + 1.0 + 5.0 + 0.1));
    // Two waves of maps: the reduce may take half of the memory when two of four have ended, so that the other maps go one after the other, until 36.3 s. It has read three
    // quarters by then, and reads the last in a second.
    assert_eq!(of(0.5, 4), rounded(36.3 + 1.0 + 1.0 + 5.0 + 0.1));
}

#[test]
fn the_fair_order_serves_whoever_holds_least_and_the_others_whoever_came_first() {
    let of = |order: &str| {
        let job = |name: &str, at: u32, tasks: u32| json!({"name": name, "arrive": {"at": at}, "maps": {"tasks": tasks, "work": 10}});
        let cluster = json!({"nodes": 2, "memory_mb": 1024, "order": order});
        took(&alone(json!({"cluster": cluster, "jobs": [job("a", 0, 6), job("b", 1, 2)]})))
    };
    assert_eq!(of("fifo"), [36.3, 47.4]);
    assert_eq!(of("capacity"), [36.3, 47.4]);
    // At 12.1 s both places fall free: one for b, which holds nothing, and one for either.
    assert_eq!(of("fair"), [48.4, 35.3]);
}

#[test]
fn a_queue_below_its_share_is_served_first_and_none_gets_beyond_its_most() {
    let job = |name: &str, at: u32| json!({"name": name, "queue": name, "arrive": {"at": at}, "maps": {"tasks": 4, "work": 10}});
    let of = |most: f64| {
        let queues = json!([{"name": "a", "share": 0.5, "most": most}, {"name": "b", "share": 0.5}]);
        let cluster = json!({"nodes": 4, "memory_mb": 1024, "queues": queues});
        took(&alone(json!({"cluster": cluster, "jobs": [job("a", 0), job("b", 1)]})))
    };
    assert_eq!(of(1.0), [12.1, 11.1 + 12.1]);
    assert_eq!(of(0.5), [24.2, 24.2], "two places each");
}

#[test]
fn first_come_takes_no_note_of_queues_shares() {
    let of = |order: &str| {
        let job = |name: &str, at: u32, tasks: u32| json!({"name": name, "queue": name, "arrive": {"at": at}, "maps": {"tasks": tasks, "work": 10}});
        let queues = json!([{"name": "a", "share": 0.5}, {"name": "b", "share": 0.5}]);
        let cluster = json!({"nodes": 2, "memory_mb": 1024, "order": order, "queues": queues});
        took(&alone(json!({"cluster": cluster, "jobs": [job("a", 0, 4), job("b", 1, 2)]})))
    };
    assert_eq!(of("fifo"), [24.2, 35.3]);
    // From 12.1 s on each has one of the two places.
    assert_eq!(of("capacity"), [36.3, 35.3]);
}

#[test]
fn a_map_waits_for_a_node_with_its_split_as_long_as_is_said_and_is_slower_elsewhere() {
    let of = |wait: f64| {
        let hadoop = json!({"replicas": 1, "locality_wait": wait, "remote_slower": 3.0});
        // Eight maps in four places: some have their split where there is no room for them.
        let jobs = json!([{"name": "a", "maps": {"tasks": 4, "work": 10}}]);
        took(&alone(json!({"cluster": {"nodes": 4, "memory_mb": 1024}, "hadoop": hadoop, "jobs": jobs})))[0]
    };
    // By the seed two splits at least lie on one node. Without a wait the second goes elsewhere; with a long one it comes after the first.
    assert_eq!([of(0.0), of(5.0), of(60.0)], [32.1, 37.1, 24.2]);
}

#[test]
fn a_lost_node_takes_its_attempts_and_the_outputs_that_are_still_to_be_read() {
    let trouble = json!([{"nodes": [1], "from": 15, "lost": true}]);
    let of = |reduces: u32| {
        let jobs = json!([{"name": "a", "maps": {"tasks": 2, "work": 10}, "reduces": {"tasks": reduces, "copy": 10, "work": 10}}]);
        let cluster = json!({"nodes": 2, "memory_mb": 1024});
        alone(json!({"cluster": cluster, "hadoop": {"slow_start": 1.0}, "trouble": trouble, "jobs": jobs}))
    };
    let without = of(0);
    assert_eq!((took(&without), without.jobs[0].recomputed), (vec![12.1], 0), "nobody reads what it wrote");
    let with = of(1);
    assert_eq!(with.jobs[0].recomputed, 1);
    assert!(took(&with)[0] > 12.1 + 22.1 + 12.0, "{:?}", took(&with));
}

/// The map runs on the first node and, from 13 s on, on the fourth; its reduce on the second and, from 15 s on, on the third. It works from 18.1 s to 23.1 s.
fn first_is_lost_at_20(also: serde_json::Value) -> (f64, u32) {
    let (for_maps, for_reduces) =
        (json!({"nodes": 1, "vcores": 1}), json!({"nodes": 1, "memory_mb": 512, "vcores": 3}));
    let cluster = json!({"nodes": 4, "kinds": [for_maps, for_reduces, for_reduces, for_maps]});
    let maps = json!({"tasks": 1, "work": 10, "memory_mb": 1024, "vcores": 1});
    let reduces = json!({"tasks": 1, "copy": 4, "work": 5, "memory_mb": 512, "vcores": 3});
    let trouble = json!([
        {"nodes": [3], "lasts": 13, "lost": true}, {"nodes": [2], "lasts": 15, "lost": true},
        {"nodes": [0], "from": 20, "lost": true}, also,
    ]);
    let jobs = json!([{"name": "a", "maps": maps, "reduces": reduces}]);
    let outcome = alone(json!({"cluster": cluster, "hadoop": {"slow_start": 1.0}, "trouble": trouble, "jobs": jobs}));
    (took(&outcome)[0], outcome.jobs[0].recomputed)
}

#[test]
fn a_reduce_that_starts_over_does_not_read_what_was_lost_when_its_first_attempt_had_read_it() {
    // Its own node is lost, too, a second later: it waits for the map, which runs again until 32.1 s.
    let second = json!({"nodes": [1], "from": 21, "lost": true});
    assert_eq!(first_is_lost_at_20(second), (rounded(20.0 + 12.1 + 4.0 + 5.1), 1));
}

#[test]
fn a_job_whose_reduces_have_all_ended_waits_for_no_map_that_runs_again() {
    let nothing = json!({"nodes": [1], "from": 21, "slower": 1});
    assert_eq!(first_is_lost_at_20(nothing), (23.2, 1));
}

#[test]
fn reduces_begin_with_the_share_of_maps_that_was_written_and_not_with_one_more() {
    let reduces = json!({"tasks": 1, "copy": 1, "work": 1});
    let scenario = scenario(json!({
        "hadoop": {"slow_start": 0.05}, "slowness": {"attempt": {"uniform": {"low": 1, "high": 9}}},
        "jobs": [{"name": "a", "maps": {"tasks": 20, "work": 10}, "reduces": reduces}],
    }));
    let mut watch = Watch::new("a", 0, 100);
    let params = EngineParams { policy: PolicyName::None, ..EngineParams::default() };
    run_watching(&scenario, params, 1, &mut watch).unwrap();
    let of = |kind: TaskKind| watch.rows().filter(move |row| row.kind == kind);
    let (ended, launched) =
        (of(TaskKind::Map).map(|row| row.ended).min(), of(TaskKind::Reduce).map(|row| row.launched).min());
    assert_eq!(launched, ended.map(|at| at + Millis(500)), "of 20 maps one");
}

#[test]
fn a_job_after_another_begins_when_that_has_ended() {
    let jobs = json!([
        {"name": "a", "count": 2, "arrive": {"every": 100}, "maps": {"tasks": 1, "work": 10}},
        {"name": "b", "count": 2, "after": "a", "arrive": {"at": 3}, "maps": {"tasks": 1, "work": 20}},
    ]);
    let outcome = alone(json!({"jobs": jobs}));
    let arrived: Vec<u64> = outcome.jobs.iter().filter(|job| job.name == "b").map(|job| job.arrived.0).collect();
    assert_eq!((took(&outcome), arrived), (vec![12.1, 12.1, 22.1, 22.1], vec![15_100, 115_100]));
}

#[test]
fn jobs_that_can_never_run_are_told_and_not_waited_for() {
    let trouble = json!([{"nodes": [0], "from": 1, "lost": true}]);
    let stuck = run(
        &scenario(json!({"cluster": {"nodes": 1}, "trouble": trouble, "jobs": [{"name": "a", "maps": {"tasks": 1}}]})),
        EngineParams::default(),
        1,
    );
    assert!(stuck.unwrap_err().to_string().starts_with("jobs wait for containers"));
}

#[test]
fn a_task_that_would_take_longer_than_is_counted_is_told_and_no_fault_of_the_books() {
    let trouble = json!([{"nodes": [0], "slower": 1e6}]);
    let slowness = json!({"attempt": 1e6, "data": 1000});
    let jobs = json!([{"name": "a", "maps": {"tasks": 1, "work": 3600}}]);
    let cluster = json!({"nodes": 1});
    let hadoop = json!({"exchange": 600});
    let all = json!({"cluster": cluster, "hadoop": hadoop, "trouble": trouble, "slowness": slowness, "jobs": jobs});
    // Policies look at it again and again meanwhile.
    for policy in [PolicyName::None, PolicyName::Late, PolicyName::Drover] {
        let params = EngineParams { policy, ..EngineParams::default() };
        let told = run(&scenario(all.clone()), params, 1).unwrap_err().to_string();
        assert!(told.starts_with("a task of a would take more than 30,000 years"), "{policy:?}: {told}");
    }
}

#[test]
fn a_job_whose_outputs_are_all_lost_again_and_again_is_told_and_not_played_for_ever() {
    let cluster = json!({"nodes": 2, "network": {"within_mb_s": 50}});
    let trouble = json!([{"nodes": [0, 1], "loses": 1}]);
    let jobs = json!([{"name": "a", "maps": {"tasks": 2}, "reduces": {"tasks": 1}}]);
    let params = EngineParams { policy: PolicyName::None, ..EngineParams::default() };
    let stuck = run(&scenario(json!({"cluster": cluster, "trouble": trouble, "jobs": jobs})), params, 1);
    let told = stuck.unwrap_err().to_string();
    assert!(told.starts_with("a task of a has been run 2000 times"), "{told}");
}
