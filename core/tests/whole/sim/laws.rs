//! Queueing theory: what the books say of many servers and many arrivals.

use super::*;
use serde_json::json;

/// Mean wait in an M/M/c queue, in service times (Erlang C): c servers, each busy a share rho of the time.
fn erlang_c(c: u32, rho: f64) -> f64 {
    let load = f64::from(c) * rho;
    let term = |k: u32| (1..=k).fold(1.0, |term, n| term * load / f64::from(n));
    let all_busy = term(c) / (1.0 - rho);
    let waits = all_busy / ((0..c).map(term).sum::<f64>() + all_busy);
    waits / (f64::from(c) * (1.0 - rho))
}

/// Student's 95 % interval of the mean of ten values.
fn student(values: [f64; 10]) -> [f64; 2] {
    /// Its 97.5 % quantile with nine degrees of freedom.
    const QUANTILE: f64 = 2.262_157;
    let mean = values.iter().sum::<f64>() / 10.0;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 9.0;
    let half = QUANTILE * (variance / 10.0).sqrt();
    [mean - half, mean + half]
}

/// Mean time in an M/M/c queue, seconds, once it has settled: of jobs of one map of 10 s on average, on as many nodes of one place as there are servers.
fn in_queue(servers: u32, rho: f64, seed: u64) -> f64 {
    const SETTLED: u32 = 1_000;
    let every = 10.0 / (f64::from(servers) * rho);
    let jobs = json!([{
        "name": "a", "count": 6_000, "arrive": {"every": {"exponential": {"mean": every}}},
        "maps": {"tasks": 1, "work": {"exponential": {"mean": 10}}},
    }]);
    let hadoop = json!({"allocate": 0, "start_up": 0, "commit": 0});
    let json = json!({"cluster": {"nodes": servers, "memory_mb": 1024}, "hadoop": hadoop, "jobs": jobs});
    let outcome = under(PolicyName::None, &scenario(json), seed);
    let settled = outcome.jobs.iter().filter(|job| job.nth >= SETTLED).map(seconds);
    settled.clone().sum::<f64>() / settled.count() as f64
}

#[test]
fn jobs_wait_for_as_long_as_in_a_queue_of_so_many_servers() {
    assert!((erlang_c(1, 0.5) - 1.0).abs() < 1e-12, "M/M/1: rho / (1 - rho)");
    for (servers, rho) in [(1, 0.5), (3, 0.7), (10, 0.7)] {
        let [low, high] = student(std::array::from_fn(|nth| in_queue(servers, rho, nth as u64 + 1)));
        let expected = 10.0 * (1.0 + erlang_c(servers, rho));
        assert!(low < expected && expected < high, "{servers} servers: {low} to {high}, where {expected} is expected");
        assert!(high - low < 0.1 * expected, "{servers} servers: {low} to {high} says little");
    }
}
