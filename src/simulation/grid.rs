//! Every policy with every seed, on all cores.

use drover_core::engine::EngineParams;
use drover_core::sim::{Outcome, Scenario, Stuck, run};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is to be run.
pub struct Grid<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The policies' parameters, by name.
    pub policies: Vec<(String, EngineParams)>,
    /// The seeds: each is the same luck for all policies.
    pub seeds: std::ops::Range<u64>,
}

/// One run that was played to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Played {
    /// Which of the policies.
    pub policy: usize,
    /// The seed.
    pub seed: u64,
    /// What came of it.
    pub outcome: Outcome,
}

/// Is told of each run as it ends.
pub trait Progress: Sync {
    /// One more has ended.
    fn done(&self);
}

/// Tells nobody.
pub struct Silent;

impl Progress for Silent {
    fn done(&self) {}
}

/// Plays all runs, seed by seed, so that what is there when `stop` is set can be compared. In order of policy and seed.
///
/// # Errors
/// Of the first run that cannot be ended.
pub fn play(grid: &Grid<'_>, stop: &AtomicBool, progress: &dyn Progress) -> Result<Vec<Played>, Stuck> {
    let all: Vec<(u64, usize)> =
        grid.seeds.clone().flat_map(|seed| (0..grid.policies.len()).map(move |policy| (seed, policy))).collect();
    let one = |(seed, policy): (u64, usize)| {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        let outcome = run(grid.scenario, grid.policies[policy].1.clone(), seed);
        progress.done();
        Some(outcome.map(|outcome| Played { policy, seed, outcome }))
    };
    let mut played = all.into_par_iter().with_max_len(1).filter_map(one).collect::<Result<Vec<_>, _>>()?;
    played.sort_by_key(|one| (one.policy, one.seed));
    Ok(played)
}
