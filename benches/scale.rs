//! Simulations of the papers' own scale, on one core.
//!
//!     cargo bench --bench scale -- day TRACE [POLICY]  a day of SWIM's, 3,000 nodes, without speculation or under a policy
//!     cargo bench --bench scale [-- phases 300]        Mantri's phases under its five schemes
//!
//! The first prints how long a day takes to be read and simulated, and what was done in it. The second plays a sample of the phases of `drover
//! reproduce mantri.s63`, and prints what all of the paper's would take: 210,000 phases, thrice, under five schemes.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock and its own memory")]

use drover::simulation::{file, reproduce, traces};
use drover::stats::quantile;
use drover_core::engine::EngineParams;
use drover_core::policy::PolicyName;
use drover_core::sim::run;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

/// §6.1: the paper's phases, each played so often, under so many schemes.
const PAPER: (f64, f64, f64) = (210_000.0, 3.0, 5.0);
const CLUSTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/scale/day.toml");

fn policy(label: &str) -> Result<PolicyName, String> {
    let found = PolicyName::ALL.into_iter().find(|policy| policy.label() == label);
    let known = || PolicyName::ALL.map(PolicyName::label).join(", ");
    found.ok_or_else(|| format!("there is no policy {label}; known are {}", known()))
}

fn day(trace: &Path, policy: PolicyName) -> Result<(), Box<dyn Error>> {
    let started = Instant::now();
    let mut draft = file::read(Path::new(CLUSTER))?;
    let read = traces::read(trace, traces::Overhead::of(&draft.scenario))?;
    (draft.scenario.traced, draft.scenario.hosts) = (read.jobs, read.hosts);
    let scenario = draft.checked()?;
    let reading = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let outcome = run(&scenario, EngineParams { policy, ..EngineParams::default() }, 1)?;
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{} under {}: {} jobs, {} attempts, {} copies, {} restarts: read in {reading:.1} s, simulated in {seconds:.1} s, {:.0} attempts a second",
        trace.display(),
        policy.label(),
        outcome.jobs.len(),
        outcome.attempts,
        outcome.jobs.iter().map(|job| u64::from(job.copies)).sum::<u64>(),
        outcome.jobs.iter().map(|job| u64::from(job.restarts)).sum::<u64>(),
        outcome.attempts as f64 / seconds
    );
    Ok(())
}

fn phases(count: u64) -> Result<(), Box<dyn Error>> {
    let (mut tasks, mut seconds) = (Vec::new(), 0.0);
    for nth in 0..count {
        let started = Instant::now();
        tasks.push(reproduce::mantri_phase(nth)? as f64);
        seconds += started.elapsed().as_secs_f64();
    }
    let (phases, times, schemes) = PAPER;
    let mean = tasks.iter().sum::<f64>() / tasks.len() as f64;
    let at = |share| quantile(&tasks, share).unwrap_or(0.0);
    println!(
        "{count} phases of {mean:.0} tasks on average (median {:.0}, p90 {:.0}, at most {:.0}) under {schemes} schemes: {seconds:.1} s, {:.0} phases a second; \
         {phases} phases, {times} times, would take {:.0} hours of one core",
        at(0.5),
        at(0.9),
        at(1.0),
        count as f64 * schemes / seconds,
        phases * times * seconds / count as f64 / 3600.0
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["day", trace] => day(Path::new(trace), PolicyName::None),
        ["day", trace, label] => day(Path::new(trace), policy(label)?),
        [] | ["phases"] => phases(300),
        ["phases", count] => phases(count.parse::<u64>()?.max(1)),
        _ => Err("say `day TRACE [POLICY]` or `phases COUNT`".into()),
    }
}
