//! LATE's example of why a copy must not be put on a slow node (OSDI'08, §5.4.3): ten nodes run a task in a minute, X in 2.9 and Y in 10, and a job has 32 tasks. X is free first, and
//! with the copy of Y's task on it the job ends after 5.8 minutes; with that on a fast node, .1 minutes later, after 4.

use crate::simulation::grid::run_as;
use crate::simulation::reproduce::assumed::workload;
use crate::simulation::reproduce::{Effort, Finding, exact};
use drover_core::engine::EngineParams;
use drover_core::policy::PolicyName;
use drover_core::sim::{Scenario, Stuck};
use serde_json::{Value, json};

pub(super) const NAME: &str = "late.s543";

fn scenario() -> Result<Scenario, serde_json::Error> {
    let slower = |node: u32, factor: f64| json!({"nodes": [node], "slower": factor});
    serde_json::from_value(json!({
        "about": "LATE §5.4.3",
        "cluster": {"nodes": 12, "memory_mb": 1024, "vcores": 1},
        "hadoop": {"allocate": 0, "start_up": 0, "commit": 0, "report": 0.5, "exchange": 0.5, "poll": 0.5, "scores": "work"},
        "trouble": [slower(10, 2.9), slower(11, 10.0)],
        "jobs": [{"name": "tasks", "maps": {"tasks": 32, "work": 60, "input_mb": 0}}],
    }))
}

pub(super) fn assumed() -> Result<Value, Stuck> {
    scenario().map(|scenario| workload(&scenario)).map_err(|error| Stuck::Miscounted(error.to_string()))
}

/// Minutes that the job takes under LATE, whose SlowNodeThreshold is this share of the nodes.
fn minutes(slow_node: f64) -> Result<Option<f64>, Stuck> {
    let scenario = scenario().map_err(|error| Stuck::Miscounted(error.to_string()))?;
    let mut params = EngineParams::paper(PolicyName::Late);
    params.late.slow_node_percentile = slow_node;
    let outcome = run_as("late", &scenario, params, 1)?;
    Ok(outcome.jobs.first().map(|job| job.took.as_secs_f64() / 60.0))
}

pub(super) fn played(_: Effort) -> Result<Vec<Finding>, Stuck> {
    let row =
        |quantity, published, slow_node| Ok(exact::exact(NAME, quantity, published, minutes(slow_node)?, "min", 1));
    Ok(vec![
        row("the job without SlowNodeThreshold", 5.8, 0.0)?,
        row("the job with SlowNodeThreshold at 25 %", 4.0, 0.25)?,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::Silent;
    use crate::simulation::reproduce::Verdict;

    #[test]
    fn a_copy_on_the_node_that_is_free_first_ends_the_job_later_than_one_on_a_fast_node() {
        let found = played(Effort { seeds: 1, seeds_of_others: 1, progress: &Silent }).unwrap();
        assert!(found.iter().all(|one| one.verdict == Verdict::Exact), "{found:?}");
    }
}
