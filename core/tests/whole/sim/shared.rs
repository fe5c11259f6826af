//! Disks, links and processors that attempts share. As in `mechanisms`, 2.1 s pass beside the work.

use super::*;
use serde_json::{Value, json};

/// On one node, of which maps read 10 MiB in each second of their work.
fn beside_each_other(disk_mb_s: f64, jobs: Value, trouble: Value) -> Vec<f64> {
    let cluster = json!({"nodes": 1, "network": {"disk_mb_s": disk_mb_s}});
    took(&alone(json!({"cluster": cluster, "jobs": jobs, "trouble": trouble})))
}

fn maps(name: &str, tasks: u32, seconds: u32) -> Value {
    json!({"name": name, "maps": {"tasks": tasks, "work": seconds, "input_mb": 10 * seconds}})
}

#[test]
fn maps_that_read_more_than_a_disk_gives_take_as_much_longer() {
    let of = |disk_mb_s| beside_each_other(disk_mb_s, json!([maps("a", 2, 10)]), json!([]))[0];
    assert_eq!([of(0.0), of(20.0), of(10.0), of(5.0)], [12.1, 12.1, 22.1, 42.1]);
}

#[test]
fn what_one_leaves_when_it_has_read_all_goes_to_the_other() {
    let jobs = json!([maps("a", 1, 10), maps("b", 1, 5)]);
    assert_eq!(beside_each_other(10.0, jobs, json!([])), [17.1, 12.1], "half its pace for 10 s, all of it for 5 s");
}

#[test]
fn a_node_that_turns_slow_reads_no_faster_for_having_its_disk_to_itself() {
    let trouble = json!([{"nodes": [0], "from": 7, "slower": 4}]);
    // From 2 s on half its pace for 5 s, then a quarter of it for the 7.5 s that are left; the commit takes four times as long.
    assert_eq!(beside_each_other(10.0, json!([maps("a", 2, 10)]), trouble), [37.4]);
}

/// Two racks of a node each, a map on each, then a reduce, which reads 10 MiB in a second, half of them from the other rack.
fn across(network: Value, reduces: u32) -> f64 {
    let reduces = json!({"tasks": reduces, "copy": 10, "work": 5, "input_mb": 100});
    let cluster = json!({"nodes": 2, "racks": 2, "memory_mb": 1024, "network": network});
    let job = json!({"name": "a", "maps": {"tasks": 2, "work": 10, "input_mb": 0}, "reduces": reduces});
    rounded(took(&alone(json!({"cluster": cluster, "hadoop": {"slow_start": 1}, "jobs": [job]})))[0])
}

#[test]
fn a_reduce_reads_from_other_racks_no_faster_than_their_uplinks_and_its_own_downlink_let_it() {
    assert_eq!(across(json!({}), 1), 29.2);
    assert_eq!(across(json!({"uplink_mb_s": 5}), 1), 29.2);
    assert_eq!(across(json!({"uplink_mb_s": 2.5}), 1), 39.2);
    assert_eq!(across(json!({"uplink_mb_s": 10, "downlink_mb_s": 1.25}), 1), 59.2);
    assert_eq!(across(json!({"uplink_mb_s": 2.5}), 2), 39.2, "each through another rack's");
}

/// Two jobs' times. Maps of 10 s run on the first node, a's one after the other, and on the third, b's only one, in the same rack; reduces on the second, in another. a's maps end at 12.1 s and
/// 24.2 s, and its reduces, of 100 MiB each, begin to read at 14.1 s, as much as 10 MiB in a second; b's one, of 50 MiB, begins 14.1 s after it came.
fn while_maps_run(uplink_mb_s: f64, reduces_of_a: u32, b_at: f64) -> [f64; 2] {
    let kinds = json!([
        {"nodes": 1, "memory_mb": 2048, "vcores": 1},
        {"nodes": 1, "memory_mb": 1024},
        {"nodes": 1, "memory_mb": 1536, "vcores": 1},
    ]);
    let cluster = json!({"nodes": 3, "racks": 2, "kinds": kinds, "network": {"uplink_mb_s": uplink_mb_s}});
    let job = |name: &str, at: f64, tasks: u32, memory_mb: u32, reduces: Value| {
        let maps = json!({"tasks": tasks, "work": 10, "input_mb": 0, "memory_mb": memory_mb});
        json!({"name": name, "arrive": {"at": at}, "maps": maps, "reduces": reduces})
    };
    let reduces = |tasks: u32, copy: u32| json!({"tasks": tasks, "copy": copy, "work": 5, "input_mb": 10 * copy, "memory_mb": 512, "vcores": 2});
    let jobs = json!([job("a", 0.0, 2, 2048, reduces(reduces_of_a, 10)), job("b", b_at, 1, 1536, reduces(1, 5))]);
    let outcome = alone(json!({"cluster": cluster, "hadoop": {"slow_start": 0.5}, "jobs": jobs}));
    [0, 1].map(|job| rounded(took(&outcome)[job]))
}

#[test]
fn what_a_reduce_reads_while_maps_run_burdens_links_too() {
    let of = |uplink_mb_s, reduces| while_maps_run(uplink_mb_s, reduces, 100.0)[0];
    // Half is there from 14.1 s on, and read at 19.1 s; the other half from 24.2 s on.
    assert_eq!([of(0.0, 1), of(10.0, 1)], [rounded(24.2 + 5.0 + 5.1); 2]);
    // Read at 24.1 s, and another ten seconds.
    assert_eq!(of(5.0, 1), rounded(24.2 + 10.0 + 5.1));
    assert_eq!(of(10.0, 2), rounded(24.2 + 10.0 + 5.1), "two that have half of it each");
    assert_eq!(of(2.5, 1), rounded(14.1 + 40.0 + 5.1), "all the time without a pause");
}

#[test]
fn a_reduce_that_has_read_all_there_is_leaves_the_links_to_others_until_there_is_more() {
    // b's reads while a's waits, from 19.1 s to 24.1 s.
    assert_eq!(while_maps_run(10.0, 1, 5.0), [34.3, 24.2]);
    // From 16.6 s on each has half, until a's has read what there is, at 21.6 s; b's has the rest of its 50 MiB in 2.5 s.
    assert_eq!(while_maps_run(10.0, 1, 2.5), [34.3, rounded(24.1 + 5.1 - 2.5)]);
}

#[test]
fn what_others_take_of_links_is_not_there_for_a_reduces_reading() {
    let others = |share: Value| json!({"uplink_mb_s": 5, "downlink_mb_s": 5, "others": {"every": 1, "share": share}});
    assert_eq!([others(json!(0)), others(json!(0.5))].map(|network| across(network, 1)), [29.2, 39.2]);
    // Drawn anew each second and for each link, it is at times the one, at times the other that lets least through.
    let varied = across(others(json!({"uniform": {"low": 0, "high": 0.9}})), 1);
    assert!(varied > 39.2, "{varied}");
}

#[test]
fn a_map_away_from_its_split_reads_through_the_links_between_the_racks() {
    // One of two nodes holds the split, and only the first has room.
    let of = |uplink: f64| reads_from_one_of(2, 1, uplink, json!([{"nodes": 1, "memory_mb": 1024}]), json!([]));
    assert_eq!(of(5.0), [12.1, 22.1]);
    assert_eq!(of(10.0), [12.1]);
}

/// The times, each once, that a map takes by the seed which reads 10 MiB in a second where nothing bounds it, of so many nodes in two racks.
fn reads_from_one_of(nodes: u32, replicas: u32, uplink_mb_s: f64, kinds: Value, trouble: Value) -> Vec<f64> {
    let network = json!({"uplink_mb_s": uplink_mb_s});
    let cluster = json!({"nodes": nodes, "racks": 2, "memory_mb": 512, "kinds": kinds, "network": network});
    let job = json!({"name": "a", "maps": {"tasks": 1, "work": 10, "input_mb": 100}});
    let hadoop = json!({"replicas": replicas});
    let scenario = scenario(json!({"cluster": cluster, "hadoop": hadoop, "jobs": [job], "trouble": trouble}));
    let mut all: Vec<f64> = (0..20).map(|seed| rounded(took(&under(PolicyName::None, &scenario, seed))[0])).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

#[test]
fn a_map_goes_where_its_split_lies_where_nothing_but_links_makes_that_matter() {
    let room_on_both = json!([{"nodes": 2, "memory_mb": 1024}]);
    assert_eq!(reads_from_one_of(2, 1, 5.0, room_on_both, json!([])), [12.1]);
}

#[test]
fn a_map_reads_from_a_node_that_is_up_as_long_as_one_has_its_split() {
    // It runs on the first node. The third is in its rack, and lost; the second is in the other.
    let of = |replicas, from: f64| {
        let third = json!([{"nodes": [2], "from": from, "lost": true}]);
        reads_from_one_of(3, replicas, 5.0, json!([{"nodes": 1, "memory_mb": 1024}]), third)
    };
    assert_eq!(of(2, 0.0), [12.1, 22.1]);
    assert_eq!(of(2, 7.0), [12.1, 17.1], "half of it is read when the node goes");
    assert_eq!(of(2, 99.0), [12.1]);
    assert_eq!(of(1, 0.0), [12.1, 22.1], "what lies nowhere else is read all the same");
}

#[test]
fn jvms_that_start_together_on_one_machine_share_its_processors() {
    let of = |starts| {
        let cluster = json!({"memory_mb": 1024, "network": {"lab_processors": starts}});
        rounded(took(&alone(json!({"cluster": cluster, "jobs": [{"name": "a", "maps": {"tasks": 4, "work": 10}}]})))[0])
    };
    assert_eq!([of(0), of(4), of(2), of(1)], [12.1, 12.1, 13.6, 16.6]);
}

#[test]
fn a_jvm_that_starts_keeps_as_many_processors_busy_as_is_said_and_no_more_once_it_has_started() {
    let of = |busy: f64, network: Value| {
        let cluster = json!({"memory_mb": 1024, "network": network});
        let jobs = json!([{"name": "a", "maps": {"tasks": 4, "work": 10}}]);
        rounded(took(&alone(json!({"cluster": cluster, "hadoop": {"start_up_busy": busy}, "jobs": jobs})))[0])
    };
    let together = |busy, processors: f64| of(busy, json!({"lab_processors": processors}));
    assert_eq!([together(1.0, 4.0), together(2.0, 8.0), together(2.0, 4.0)], [12.1, 12.1, 13.6]);
    assert_eq!([together(0.5, 2.0), together(0.5, 1.0)], [12.1, 13.6]);
    // One alone on a node that has fewer takes as much longer.
    assert_eq!([of(3.0, json!({"processors": 3})), of(3.0, json!({"processors": 1}))], [12.1, 15.1]);
}

#[test]
fn what_a_start_takes_beside_its_node_is_not_bounded_by_what_bounds_the_node() {
    let of = |beside: f64, network: Value| {
        let cluster = json!({"nodes": 1, "memory_mb": 4096, "network": network});
        let jobs = json!([{"name": "a", "maps": {"tasks": 4, "work": 10}}]);
        rounded(took(&alone(json!({"cluster": cluster, "hadoop": {"start_up_beside": beside}, "jobs": jobs})))[0])
    };
    // Four starts of 1.5 s: of one processor, and of another one beside.
    let own = |beside| of(beside, json!({"processors": 1}));
    let all = |beside| of(beside, json!({"processors": 4, "lab_processors": 4}));
    assert_eq!([own(0.0), own(1.0), all(0.0), all(1.0)], [16.6, 16.6, 12.1, 13.6]);
    assert_eq!(of(1.0, json!({"processors": 1, "lab_processors": 4})), 16.6, "what is scarcer decides");
}

#[test]
fn tasks_that_work_share_processors_with_jvms_that_start_by_how_many_each_keeps_busy() {
    let of = |busy| {
        let cluster = json!({"memory_mb": 1024, "network": {"lab_processors": 2}});
        let maps = json!({"tasks": 4, "work": 10, "busy": busy});
        rounded(took(&alone(json!({"cluster": cluster, "jobs": [{"name": "a", "maps": maps}]})))[0])
    };
    assert_eq!([of(0.0), of(0.5), of(1.0)], [13.6, 13.6, 23.6], "3 s until all have started, then 40 s of work on two");
}

#[test]
fn a_node_with_fewer_processors_than_its_tasks_keep_busy_is_the_slower_for_it() {
    let of = |kinds: Value| {
        let cluster = json!({"nodes": 2, "memory_mb": 2048, "network": {"processors": 2}, "kinds": kinds});
        let maps = json!({"tasks": 4, "work": 10, "busy": 1});
        rounded(took(&alone(json!({"cluster": cluster, "jobs": [{"name": "a", "maps": maps}]})))[0])
    };
    assert_eq!(of(json!([])), 12.1);
    assert_eq!(of(json!([{"nodes": 1, "processors": 0.5}])), 0.5 + 4.0 * 11.5 + 0.1, "a quarter of a processor each");
}

#[test]
fn a_limit_below_zero_is_refused_by_its_key() {
    let wrong = json!({"cluster": {"network": {"disk_mb_s": -1}}, "jobs": [{"name": "a", "maps": {"tasks": 1}}]});
    let wrong: Scenario = serde_json::from_value(wrong).unwrap();
    assert_eq!(wrong.faults()[0].key, "cluster.network.disk_mb_s");
}
