//! What the experiments assume, as a digest: a document of numbers carries it, so that one of older assumptions is known.

use super::all;
use drover_core::sim::{Scenario, Stuck, TracedJob};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Jobs of a trace that are enough to know it by.
const JOBS: usize = 50;

/// SHA-256 of the assumptions of all experiments: their sets, and the workloads that the main ones make of the first seed.
///
/// # Errors
/// Where a scenario cannot be made.
pub fn digest() -> Result<String, Stuck> {
    let of = |one: super::Experiment| Ok((one.name, rounded((one.assumed)()?)));
    let all: Vec<(&str, Value)> = all().into_iter().map(of).collect::<Result<_, Stuck>>()?;
    let bytes = serde_json::to_vec(&all).map_err(|error| Stuck::Miscounted(error.to_string()))?;
    Ok(Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Sets of assumptions and what they make.
pub fn sets<A: Serialize>(main: A, others: impl IntoIterator<Item = A>, made: Vec<Value>) -> Value {
    json!({"main": main, "others": others.into_iter().collect::<Vec<_>>(), "made": made})
}

/// A workload: its scenario, and the first jobs of its trace.
pub fn workload(scenario: &Scenario) -> Value {
    let jobs: Vec<Value> = scenario.traced.iter().take(JOBS).map(job).collect();
    json!({"scenario": scenario, "jobs": jobs, "traced": scenario.traced.len()})
}

fn job(job: &TracedJob) -> Value {
    let phase = |phase: &drover_core::sim::TracedPhase| {
        let first = phase.tasks.task(0).map(|task| json!([task.work, task.first, task.input.0 as f64]));
        json!([phase.tasks.count(), first, phase.size.memory_mb])
    };
    json!([job.name, job.user, job.arrives.0 as f64, job.phases.each_ref().map(phase)])
}

/// The same with five digits of each fraction: the last ones of a logarithm are not the same on every machine.
fn rounded(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => json!(format!("{:.4e}", number.as_f64().unwrap_or_default())),
        Value::Array(all) => all.into_iter().map(rounded).collect(),
        Value::Object(all) => all.into_iter().map(|(name, value)| (name, rounded(value))).collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_the_same_each_time_and_every_simulated_experiment_has_a_part_in_it() {
        let digest = digest().unwrap();
        assert_eq!((digest.len(), &super::digest().unwrap()), (64, &digest));
        for one in all().iter().filter(|one| !one.slowness.starts_with("No slowness")) {
            assert!(!(one.assumed)().unwrap().is_null(), "{}", one.name);
        }
    }

    #[test]
    fn a_fraction_counts_to_five_digits_and_a_whole_number_in_full() {
        let of = |value| rounded(json!({"a": [value, 123_456_789]}));
        assert_eq!(of(0.1 + 0.2), of(0.3));
        assert_ne!(of(0.3), of(0.301));
        assert!(of(0.3).to_string().contains("123456789"));
    }

    #[test]
    fn another_law_of_sizes_makes_another_workload() {
        let of = |tasks: u32| {
            let read = format!(r#"{{"jobs": [{{"name": "a", "maps": {{"tasks": {tasks}}}}}]}}"#);
            workload(&serde_json::from_str(&read).unwrap())
        };
        assert!(of(3) == of(3) && of(3) != of(4));
    }
}
