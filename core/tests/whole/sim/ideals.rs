//! What nobody can do. As in `mechanisms`, 2.1 s pass beside the work.

use super::*;
use drover_core::sim::Ideal;
use serde_json::{Value, json};

/// Four maps at a time, whose first attempts take once to four times 8 s.
fn uneven(slowness: Value) -> Scenario {
    let job = json!({"name": "a", "maps": {"tasks": 4, "work": 8, "input_mb": 0}});
    scenario(json!({"cluster": {"nodes": 4, "memory_mb": 1024}, "slowness": slowness, "jobs": [job]}))
}

fn of(ideal: Ideal, scenario: &Scenario, seed: u64) -> f64 {
    took(&run(scenario, drover_core::sim::Actor::Ideal(ideal), seed).unwrap())[0]
}

#[test]
fn without_skew_all_tasks_take_the_mean_and_without_the_tail_that_of_the_shortest_three_quarters() {
    let luck = json!({"mixture": [[0.5, 1.0], [0.5, 4.0]]});
    for tied in ["attempt", "data"] {
        let scenario = uneven(json!({tied: luck}));
        for seed in 1..40 {
            let alone = took(&under(PolicyName::None, &scenario, seed))[0];
            let (even, chopped) = (of(Ideal::NoSkew, &scenario, seed), of(Ideal::ChopTail, &scenario, seed));
            let slow = ((even - 2.1 - 8.0) / 6.0).round();
            assert_eq!(rounded(even), rounded(2.1 + 8.0 + 6.0 * slow), "{slow} of four take 24 s more: {even}");
            assert_eq!(rounded(chopped), rounded(2.1 + 8.0 + 8.0 * f64::max(slow - 1.0, 0.0)), "{chopped}");
            assert_eq!(alone, if slow > 0.0 { 34.1 } else { 10.1 });
        }
    }
}

#[test]
fn who_knows_every_attempts_time_copies_those_alone_whose_next_is_sooner() {
    let cluster = json!({"nodes": 5, "memory_mb": 1024});
    let job = json!({"name": "a", "maps": {"tasks": 4, "work": 8, "input_mb": 0}});
    let of_luck = |slowness: Value, seed| {
        let scenario = scenario(json!({"cluster": cluster, "slowness": slowness, "jobs": [job]}));
        let alone = under(PolicyName::None, &scenario, seed);
        let known = run(&scenario, drover_core::sim::Actor::Ideal(Ideal::Oracle), seed).unwrap();
        (took(&alone)[0], took(&known)[0], known.jobs[0].copies, known.jobs[0].copies_won)
    };
    for seed in 1..40 {
        let (alone, known, copies, won) = of_luck(json!({"attempt": {"mixture": [[0.7, 1.0], [0.3, 10.0]]}}), seed);
        assert!(known <= alone && copies == won, "{alone} {known}: {won} of {copies}");
        let (alone, known, copies, _) = of_luck(json!({"data": {"mixture": [[0.7, 1.0], [0.3, 10.0]]}}), seed);
        assert_eq!((known, copies), (alone, 0), "a copy has the same data");
    }
    let helped = (1..40).filter(|seed| {
        let (alone, known, ..) = of_luck(json!({"attempt": {"mixture": [[0.7, 1.0], [0.3, 10.0]]}}), *seed);
        known < 0.5 * alone
    });
    assert!(helped.count() > 15);
}

#[test]
fn who_knows_every_attempts_time_knows_that_a_map_away_from_its_split_is_slower() {
    // The map is on the node that has its split, and takes 20 s there; on the other, which is free, it would take 30.
    let of = |remote_slower: f64| {
        let scenario = scenario(json!({
            "cluster": {"nodes": 2, "memory_mb": 1024}, "hadoop": {"replicas": 1, "remote_slower": remote_slower},
            "jobs": [{"name": "a", "maps": {"tasks": 1, "work": 10, "slow": [[0, 0, 2]]}}],
        }));
        run(&scenario, drover_core::sim::Actor::Ideal(Ideal::Oracle), 1).unwrap().jobs[0].copies
    };
    assert_eq!([of(1.2), of(3.0)], [1, 0]);
}

#[test]
fn who_knows_every_attempts_time_copies_a_map_on_the_node_that_has_its_split_where_others_are_as_fast() {
    for seed in 1..20 {
        let scenario = scenario(json!({
            "cluster": {"nodes": 4, "memory_mb": 1024}, "hadoop": {"replicas": 2, "remote_slower": 3},
            "jobs": [{"name": "a", "maps": {"tasks": 1, "work": 10, "slow": [[0, 0, 2]]}}],
        }));
        let known = run(&scenario, drover_core::sim::Actor::Ideal(Ideal::Oracle), seed).unwrap();
        assert_eq!((known.jobs[0].copies, known.jobs[0].copies_won), (1, 1), "seed {seed}");
    }
}

#[test]
fn where_outputs_are_never_lost_no_map_runs_again() {
    let job = json!({
        "name": "a",
        "maps": {"tasks": 4, "work": 8, "input_mb": 0},
        "reduces": {"tasks": 1, "copy": 10, "work": 5},
    });
    let scenario = scenario(json!({
        "cluster": {"nodes": 4, "memory_mb": 1024},
        "hadoop": {"slow_start": 1},
        "trouble": [{"nodes": [0, 1], "from": 11, "lost": true, "lasts": 1}],
        "jobs": [job],
    }));
    let again = |outcome: Outcome| outcome.jobs[0].recomputed;
    assert!(again(under(PolicyName::None, &scenario, 1)) > 0);
    assert_eq!(again(run(&scenario, drover_core::sim::Actor::Ideal(Ideal::IdealRecompute), 1).unwrap()), 0);
}

/// Reduces that read for some 40 s through links of which others take anything up to nine tenths, drawn anew every ten.
fn read_through_links(can: Value) -> Scenario {
    let job = json!({
        "name": "a", "count": 4, "arrive": {"every": 200},
        "maps": {"tasks": 16, "work": 5},
        "reduces": {"tasks": 8, "copy": 10, "work": 1, "input_mb": 400, "memory_mb": 512},
    });
    let others = json!({"share": {"uniform": {"low": 0, "high": 0.9}}, "every": 10});
    let network = json!({"uplink_mb_s": 40, "downlink_mb_s": 40, "others": others});
    let cluster = json!({"nodes": 16, "racks": 4, "memory_mb": 1024, "network": network});
    scenario(json!({"cluster": cluster, "hadoop": {"slow_start": 1, "can": can}, "jobs": [job]}))
}

#[test]
fn who_knows_what_links_will_leave_places_reduces_better_and_does_nothing_else() {
    let (scenario, told) =
        (read_through_links(json!({"duplicate": true})), json!({"duplicate": true, "place_reduces": true}));
    let mean = |of: &dyn Fn(u64) -> Outcome| {
        let all: Vec<f64> = (1..40).flat_map(|seed| took(&of(seed))).collect();
        all.iter().sum::<f64>() / all.len() as f64
    };
    let ideal = |seed| run(&scenario, drover_core::sim::Actor::Ideal(Ideal::IdealReduce), seed).unwrap();
    let as_now = read_through_links(told);
    let means = [mean(&ideal), mean(&|seed| under(PolicyName::Mantri, &as_now, seed))];
    let alone = mean(&|seed| under(PolicyName::None, &scenario, seed));
    assert!(means[0] < means[1].min(alone), "{means:?} {alone}");
    assert!((1..40).all(|seed| ideal(seed).jobs.iter().all(|row| row.copies == 0)));
}
