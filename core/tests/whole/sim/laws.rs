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

#[test]
fn jobs_wait_for_as_long_as_in_a_queue_of_so_many_servers() {
    assert!((erlang_c(1, 0.5) - 1.0).abs() < 1e-12, "M/M/1: rho / (1 - rho)");
    let (servers, rho, mean) = (3, 0.7, 10.0);
    let every = mean / (f64::from(servers) * rho);
    let jobs = json!([{
        "name": "a", "count": 8_000, "arrive": {"every": {"exponential": {"mean": every}}},
        "maps": {"tasks": 1, "work": {"exponential": {"mean": mean}}},
    }]);
    let hadoop = json!({"allocate": 0, "start_up": 0, "commit": 0});
    let outcomes = (1..=4).map(|seed| {
        let json = json!({"cluster": {"nodes": servers, "memory_mb": 1024}, "hadoop": hadoop, "jobs": jobs});
        let outcome = under(PolicyName::None, &scenario(json), seed);
        outcome.jobs.iter().map(seconds).sum::<f64>() / outcome.jobs.len() as f64
    });
    let means: Vec<f64> = outcomes.collect();
    let measured = means.iter().sum::<f64>() / means.len() as f64;
    let expected = mean * (1.0 + erlang_c(servers, rho));
    assert!((measured / expected - 1.0).abs() < 0.05, "{means:?} where {expected} is expected");
}
