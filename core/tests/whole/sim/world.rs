//! What holds in every run.

use super::*;
use drover_core::policy::PolicyName::*;
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

prop_compose! {
    /// Any small cluster with any small jobs, some of which come after others, with nodes that turn slow and are lost.
    fn any_scenario()(
        nodes in 2..6_u32, places in 1..4_u64, order in prop::sample::select(vec!["capacity", "fair", "fifo"]),
        jobs in prop::collection::vec((1..4_u32, 0..9_u32, 0..4_u32, 1..30_u32), 1..5), waits in prop::option::of([0..2_u32, 0..4_u32, 0..8_u32]),
        slow in 1..9_u32, sigma in 0.0..0.8_f64, lost: bool, shared: bool, preempts: bool, wait in 0.0..9.0_f64, slow_start in 0.0..1.0_f32,
    ) -> Scenario {
        // Which groups a group waits for, a bit each; groups that wait have as many jobs as those before them.
        let (counts, waits) = (jobs[0].0, waits.map(|[one, two, three]| [0, one, two, three]));
        let after = |nth: usize| (0..nth).filter(|other| waits.is_some_and(|waits| waits[nth] >> other & 1 == 1)).map(|other| format!("j{other}")).collect::<Vec<_>>();
        let job = |(nth, (count, maps, reduces, work)): (usize, (u32, u32, u32, u32))| json!({
            "name": format!("j{nth}"), "count": if waits.is_some() { counts } else { count }, "after": after(nth), "queue": if nth % 2 == 0 { "default" } else { "other" }, "arrive": {"at": nth, "every": {"exponential": {"mean": 15}}},
            "maps": {"tasks": maps + 1, "work": {"lognormal": {"median": work, "sigma": sigma}}},
            "reduces": {"tasks": reduces, "copy": 2, "sort": 1, "work": work},
        });
        let jobs: Vec<_> = jobs.into_iter().enumerate().map(job).collect();
        let network = if shared { json!({"disk_mb_s": 20, "uplink_mb_s": 15, "processors": 2, "lab_processors": 5}) } else { json!({}) };
        let preempts = preempts && order != "fifo";
        let queues = json!([{"name": "default", "share": 0.5}, {"name": "other", "share": 0.5}]);
        let preemption = json!({"every": if preempts { 3 } else { 0 }, "wait": 5, "most": 1, "natural": 1});
        scenario(json!({
            "cluster": {"nodes": nodes, "racks": 2, "memory_mb": 1024 * places, "order": order, "network": network, "queues": queues, "preemption": preemption},
            "hadoop": {
                "report": 1, "slow_start": slow_start, "locality_wait": wait, "remote_slower": 1.3, "silent": 0.05,
                "can": {"duplicate": true, "restart": true, "withdraw": true, "place": true, "copy_waiting": true},
            },
            "slowness": {"attempt": {"mixture": [[9, 1], [1, 4]]}, "data": {"lognormal": {"median": 1, "sigma": 0.3}}},
            "trouble": [
                {"nodes": [0], "from": 5, "lasts": {"uniform": {"low": 1, "high": 40}}, "again": 20, "slower": slow},
                {"nodes": [1], "from": 12, "lasts": 9, "lost": lost},
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
            let spans: BTreeMap<(&str, u32), (u64, u64)> =
                outcome.jobs.iter().map(|job| ((job.name.as_str(), job.nth), (job.arrived.0, job.arrived.0 + job.took.0))).collect();
            for (group, before) in scenario.jobs.iter().flat_map(|group| group.after.iter().map(move |before| (group, before))) {
                let waited = |nth| spans[&(group.name.as_str(), nth)].0 >= spans[&(before.as_str(), nth)].1;
                prop_assert!((0..group.count).all(waited), "{} comes before {before} has ended", group.name);
            }
            let joined: u32 = outcome.workflows.iter().map(|row| row.jobs).sum();
            let chained = scenario.jobs.iter().any(|group| !group.after.is_empty());
            prop_assert_eq!(joined > 0, chained);
            prop_assert!(outcome.workflows.iter().all(|row| spans.values().any(|span| span.0 == row.arrived.0)));
            prop_assert!(outcome.workflows.iter().all(|row| spans.values().any(|span| span.1 == row.arrived.0 + row.took.0)));
            let again = run(&scenario, params, seed).unwrap();
            prop_assert_eq!(serde_json::to_string(&outcome).unwrap(), serde_json::to_string(&again).unwrap());
        }
    }
}
