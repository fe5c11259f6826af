//! The simulator, against answers worked out by hand.

mod clones;
mod exact;
mod failures;
mod heartbeats;
mod ideals;
mod laws;
mod losses;
mod measures;
mod mechanisms;
mod policies;
mod preemption;
mod shared;
mod watched;
mod whole;
mod workflows;
mod world;

use drover_core::engine::EngineParams;
use drover_core::policy::PolicyName;
use drover_core::sim::{JobRow, Outcome, Scenario, run};

/// From JSON, as from a file.
fn scenario(json: serde_json::Value) -> Scenario {
    let scenario: Scenario = serde_json::from_value(json).unwrap();
    assert_eq!(scenario.faults(), []);
    scenario
}

fn under(policy: PolicyName, scenario: &Scenario, seed: u64) -> Outcome {
    run(scenario, EngineParams { policy, ..EngineParams::default() }, seed).unwrap()
}

/// Without any policy.
fn alone(json: serde_json::Value) -> Outcome {
    under(PolicyName::None, &scenario(json), 1)
}

fn seconds(row: &JobRow) -> f64 {
    row.took.as_secs_f64()
}

/// To the millisecond, as the simulator has it.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1e3).round() / 1e3
}

/// How long each job took, in order of name and number.
fn took(outcome: &Outcome) -> Vec<f64> {
    let mut rows: Vec<&JobRow> = outcome.jobs.iter().collect();
    rows.sort_by_key(|row| (row.name.clone(), row.nth));
    rows.into_iter().map(seconds).collect()
}
