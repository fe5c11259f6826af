//! The attempts of a watched job, against what is counted of it anyway.

use super::*;
use drover_core::policy::PolicyName::*;
use drover_core::sim::{AttemptRow, End, Watch, run_watching};
use serde_json::json;

/// Two jobs, a slow node, and one that is lost, so that attempts end in every way that copies and nodes bring about.
fn troubled() -> Scenario {
    let job = |name: &str| {
        json!({"name": name, "count": 2, "arrive": {"every": 10},
            "maps": {"tasks": 20, "work": 20}, "reduces": {"tasks": 3, "copy": 2, "work": 30}})
    };
    let trouble = json!([{"nodes": [1], "slower": 6}, {"nodes": [2], "from": 40, "lasts": 20, "lost": true}]);
    let hadoop = json!({"report": 1, "can": {"duplicate": true, "restart": true, "withdraw": true, "place": true}});
    scenario(json!({"cluster": {"nodes": 8, "memory_mb": 4096}, "hadoop": hadoop, "trouble": trouble,
        "jobs": [job("a"), job("b")]}))
}

fn watched(most: usize) -> (Outcome, Vec<AttemptRow>, u64) {
    let mut watch = Watch::new("a", 0, most);
    let params = EngineParams { policy: Late, ..EngineParams::default() };
    let outcome = run_watching(&troubled(), params, 3, &mut watch).unwrap();
    (outcome, watch.rows().copied().collect(), watch.dropped())
}

#[test]
fn a_watched_jobs_attempts_add_up_to_what_is_counted_of_it() {
    let (outcome, rows, dropped) = watched(1_000);
    let row = outcome.jobs.iter().find(|row| (row.name.as_str(), row.nth) == ("a", 0)).unwrap();
    let ms = |of: &dyn Fn(&AttemptRow) -> bool| {
        rows.iter().filter(|row| of(row)).map(|row| row.ended.0 - row.launched.0).sum::<u64>()
    };
    let first = |row: &AttemptRow| row.end == End::Succeeded;
    assert_eq!((ms(&first), ms(&|row| !first(row))), (row.useful_ms, row.wasted_ms));
    assert_eq!(rows.iter().filter(|row| first(row)).count() as u32, row.tasks + row.recomputed);
    assert_eq!(rows.iter().filter(|row| first(row) && row.is_copy).count() as u32, row.copies_won);
    assert!(row.copies_won > 0 && rows.iter().any(|row| row.end == End::Overtaken), "{rows:?}");
    let lost: Vec<u32> = rows.iter().filter(|row| row.end == End::Lost).map(|row| row.node).collect();
    assert!(!lost.is_empty() && lost.iter().all(|node| *node == 2), "{rows:?}");
    assert!(rows.iter().is_sorted_by_key(|row| row.ended) && dropped == 0);
}

#[test]
fn a_node_that_is_lost_from_the_start_is_given_nothing_by_the_jobs_that_come_then() {
    let trouble = json!([{"nodes": [0, 1, 2], "lost": true}]);
    let jobs = json!([{"name": "a", "maps": {"tasks": 4}}]);
    let scenario = scenario(json!({"cluster": {"nodes": 4}, "trouble": trouble, "jobs": jobs}));
    let mut watch = Watch::new("a", 0, 100);
    let params = EngineParams { policy: None, ..EngineParams::default() };
    run_watching(&scenario, params, 1, &mut watch).unwrap();
    assert_eq!(watch.rows().map(|row| (row.node, row.end)).collect::<Vec<_>>(), [(3, End::Succeeded); 4]);
}

#[test]
fn a_run_that_is_watched_is_the_same_run() {
    let params = EngineParams { policy: Late, ..EngineParams::default() };
    assert_eq!(watched(1_000).0, run(&troubled(), params, 3).unwrap());
}

#[test]
fn of_more_attempts_than_may_be_kept_those_that_ended_last_are() {
    let (all, some) = (watched(1_000).1, watched(5));
    assert_eq!((&some.1[..], some.2), (&all[all.len() - 5..], all.len() as u64 - 5));
}

#[test]
fn what_decisions_found_taken_of_budgets_is_counted() {
    let outcome = watched(1).0;
    let budget = outcome.budget;
    assert_eq!(budget.decisions, outcome.decided.copies, "each copy is a decision of its own");
    assert!(
        budget.peak > 0.0 && budget.peak < 1.0 && budget.sum <= budget.peak * budget.decisions as f64,
        "{budget:?}"
    );
    let idle = under(None, &troubled(), 3).budget;
    assert_eq!((idle.decisions, idle.peak), (0, 0.0));
}
