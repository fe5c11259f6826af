//! Speed and memory of simulations, printed: `cargo bench -p drover-core --bench sim [-- POLICY]`.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock and its own memory")]

use drover_core::engine::EngineParams;
use drover_core::policy::PolicyName;
use drover_core::sim::{Scenario, run};
use serde_json::json;
use std::time::Instant;

/// The most memory that this process has held, bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").trim().parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// Jobs of fifty maps of a minute that keep three quarters of so many nodes' places busy, one attempt in fifty five times slower.
fn scenario(nodes: u32, jobs: u32) -> Scenario {
    let (places, tasks, takes) = (10, 50, 65.0);
    let every = f64::from(tasks) * takes / (0.75 * f64::from(nodes * places));
    serde_json::from_value(json!({
        "cluster": {"nodes": nodes, "racks": nodes.div_ceil(40), "memory_mb": 1024 * places, "vcores": places},
        "hadoop": {"report": 6, "exchange": 15, "poll": 30},
        "slowness": {"attempt": {"mixture": [[49, 1], [1, 5]]}},
        "jobs": [{
            "name": "a", "count": jobs, "arrive": {"every": {"exponential": {"mean": every}}},
            "maps": {"tasks": tasks, "work": {"lognormal": {"median": 60, "sigma": 0.2}}},
        }],
    }))
    .expect("a scenario")
}

fn case(policy: PolicyName, nodes: u32, jobs: u32) {
    let scenario = scenario(nodes, jobs);
    assert_eq!(scenario.faults(), []);
    let started = Instant::now();
    let outcome = run(&scenario, EngineParams { policy, ..EngineParams::default() }, 1).expect("an end");
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{}: {nodes} nodes, {jobs} jobs: {} attempts in {seconds:.2} s, {:.0} a second; {} decisions; {:.0} MiB at most",
        policy.label(),
        outcome.attempts,
        outcome.attempts as f64 / seconds,
        outcome.decided.copies + outcome.decided.restarts,
        peak() as f64 / f64::from(1 << 20),
    );
}

/// Each case in a process of its own, whose memory no earlier one has used.
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let policy =
        |label: &str| PolicyName::ALL.into_iter().find(|policy| policy.label() == label).expect("a policy's name");
    if let [_, word, name, nodes, jobs, ..] = args.as_slice()
        && word == "case"
    {
        return case(policy(name), nodes.parse().expect("nodes"), jobs.parse().expect("jobs"));
    }
    let asked = args.iter().skip(1).find(|word| !word.starts_with('-'));
    let asked = asked.map_or_else(|| vec!["none", "late", "drover"], |name| vec![name.as_str()]);
    let me = std::env::current_exe().expect("the path of this program");
    for name in asked {
        for (nodes, jobs) in [(100, 2_000), (1_000, 20_000), (10_000, 20_000)] {
            let case = ["case".to_owned(), policy(name).label().to_owned(), nodes.to_string(), jobs.to_string()];
            let status = std::process::Command::new(&me).args(case).status().expect("a second process of this program");
            assert!(status.success(), "{name}, {nodes} nodes: {status}");
        }
    }
}
