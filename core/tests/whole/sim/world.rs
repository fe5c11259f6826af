//! What holds in every run.

use super::*;
use drover_core::policy::PolicyName::*;
use proptest::prelude::*;
use serde_json::json;

prop_compose! {
    /// Any small cluster with any small jobs, with nodes that turn slow, lose outputs and are lost.
    fn any_scenario()(
        nodes in 2..6_u32, places in 1..4_u64, order in prop::sample::select(vec!["capacity", "fair", "fifo"]),
        jobs in prop::collection::vec((1..4_u32, 0..9_u32, 0..4_u32, 1..30_u32), 1..4),
        slow in 1..9_u32, sigma in 0.0..0.8_f64, lost: bool, shared: bool, preempts: bool, wait in 0.0..9.0_f64, slow_start in 0.0..1.0_f32, loses in 0.0..1.0_f64,
    ) -> Scenario {
        let job = |(nth, (count, maps, reduces, work)): (usize, (u32, u32, u32, u32))| json!({
            "name": format!("j{nth}"), "count": count, "queue": if nth % 2 == 0 { "default" } else { "other" }, "arrive": {"at": nth, "every": {"exponential": {"mean": 15}}},
            "maps": {"tasks": maps + 1, "input_mb": 90, "work": {"lognormal": {"median": work, "sigma": sigma}}},
            "reduces": {"tasks": reduces, "copy": 2, "sort": 1, "work": work, "input_mb": 1},
        });
        let jobs: Vec<_> = jobs.into_iter().enumerate().map(job).collect();
        let network = if shared { json!({"disk_mb_s": 20, "uplink_mb_s": 15, "processors": 2, "lab_processors": 5, "within_mb_s": 20}) } else { json!({}) };
        let preempts = preempts && order != "fifo";
        let queues = json!([{"name": "default", "share": 0.5}, {"name": "other", "share": 0.5}]);
        let preemption = json!({"every": if preempts { 3 } else { 0 }, "wait": 5, "most": 1, "natural": 1});
        scenario(json!({
            "cluster": {"nodes": nodes, "racks": 2, "memory_mb": 1024 * places, "order": order, "network": network, "queues": queues, "preemption": preemption},
            "hadoop": {
                "report": 1, "slow_start": slow_start, "locality_wait": wait, "remote_slower": 1.3, "silent": 0.05,
                "can": {"duplicate": true, "restart": true, "withdraw": true, "place": true, "copy_waiting": true, "replicate": true, "precompute": true},
            },
            "slowness": {"attempt": {"mixture": [[9, 1], [1, 4]]}, "data": {"lognormal": {"median": 1, "sigma": 0.3}}},
            "trouble": [
                {"nodes": [0], "from": 5, "lasts": {"uniform": {"low": 1, "high": 40}}, "again": 20, "slower": slow},
                {"nodes": [1], "from": 12, "lasts": 9, "lost": lost},
                {"nodes": [0, 1], "from": 5, "lasts": {"uniform": {"low": 1, "high": 20}}, "again": 15, "loses": loses},
            ],
            "jobs": jobs,
        }))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]
    #[test]
    fn the_books_balance_all_jobs_end_and_a_seed_gives_the_same_run(scenario in any_scenario(), seed in 0..1_000_u64) {
        for policy in [None, Late, Mantri, Dolly, Drover, Hadoop] {
            let params = EngineParams::paper(policy);
            // Conservation is checked at the end of every run: what nodes held is what attempts took, and winners did what was asked.
            let outcome = run(&scenario, params.clone(), seed);
            prop_assert!(outcome.is_ok(), "{}: {outcome:?}", policy.label());
            let outcome = outcome.unwrap();
            let jobs: u32 = scenario.jobs.iter().map(|group| group.count).sum();
            prop_assert_eq!(outcome.jobs.len(), jobs as usize);
            let again = run(&scenario, params, seed).unwrap();
            prop_assert_eq!(serde_json::to_string(&outcome).unwrap(), serde_json::to_string(&again).unwrap());
        }
    }
}
