//! Every policy with every seed, on all cores.

use drover_core::sim::{Actor, Outcome, Scenario, Stuck, run};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is to be run.
pub struct Grid<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// Who acts, by name.
    pub policies: Vec<(String, Actor)>,
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
    /// So many more runs are to come.
    fn expect(&self, runs: u64);

    /// One more has ended.
    fn done(&self);
}

/// Tells nobody.
#[cfg(test)]
pub struct Silent;

#[cfg(test)]
impl Progress for Silent {
    fn expect(&self, _: u64) {}

    fn done(&self) {}
}

impl Grid<'_> {
    /// Who acts in a run: which jobs are held out is luck, too.
    pub fn actor(&self, policy: usize, seed: u64) -> Actor {
        let mut actor = self.policies[policy].1.clone();
        if let Actor::Policy(params) = &mut actor {
            params.govern.holdout_salt ^= seed;
        }
        actor
    }

    /// How many runs there are.
    pub fn runs(&self) -> u64 {
        self.seeds.end.saturating_sub(self.seeds.start) * self.policies.len() as u64
    }
}

/// Plays all runs. They are handed out seed by seed, so that what is there once `stop` is set can be compared: from then on no other begins, and those
/// under way end. In order of policy and seed.
///
/// # Errors
/// Of a run that cannot be ended.
pub fn play(grid: &Grid<'_>, stop: &AtomicBool, progress: &dyn Progress) -> Result<Vec<Played>, Stuck> {
    progress.expect(grid.runs());
    let all = grid.seeds.clone().flat_map(|seed| (0..grid.policies.len()).map(move |policy| (seed, policy)));
    let one = |(seed, policy): (u64, usize)| {
        let outcome = run(grid.scenario, grid.actor(policy, seed), seed)?;
        progress.done();
        Ok(Played { policy, seed, outcome })
    };
    // A range of rayon's own would be halved, and the later seeds begun with the first.
    let handed_out = all.take_while(|_| !stop.load(Ordering::Relaxed)).par_bridge();
    let mut played = handed_out.map(one).collect::<Result<Vec<_>, _>>()?;
    played.sort_by_key(|one| (one.policy, one.seed));
    Ok(played)
}

#[cfg(test)]
mod tests {
    use super::*;
    use drover_core::engine::EngineParams;
    use drover_core::policy::PolicyName;
    use std::sync::atomic::AtomicUsize;

    fn scenario(text: &str) -> Scenario {
        toml::from_str(text).unwrap()
    }

    fn policies() -> Vec<(String, Actor)> {
        [PolicyName::None, PolicyName::Drover]
            .map(|policy| (policy.label().to_owned(), EngineParams { policy, ..EngineParams::default() }.into()))
            .into()
    }

    /// Stops after so many.
    struct Enough<'a> {
        most: usize,
        done: AtomicUsize,
        stop: &'a AtomicBool,
    }

    impl Progress for Enough<'_> {
        fn expect(&self, _: u64) {}

        fn done(&self) {
            if self.done.fetch_add(1, Ordering::Relaxed) + 1 >= self.most {
                self.stop.store(true, Ordering::Relaxed);
            }
        }
    }

    const TWO_TASKS: &str = "[cluster]\nnodes = 2\n[[jobs]]\nname = \"a\"\nmaps = { tasks = 2, work = 5 }\n";

    #[test]
    fn once_stopped_what_has_ended_is_kept_whole_seeds_first_and_no_other_run_begins() {
        let scenario = scenario(TWO_TASKS);
        let grid = Grid { scenario: &scenario, policies: policies(), seeds: 1..100_000 };
        let stop = AtomicBool::new(false);
        let played = play(&grid, &stop, &Enough { most: 9, done: AtomicUsize::new(0), stop: &stop }).unwrap();
        assert!((9..9 + 2 * rayon::current_num_threads()).contains(&played.len()), "{}", played.len());
        let mut handed_out: Vec<(u64, usize)> = played.iter().map(|one| (one.seed, one.policy)).collect();
        handed_out.sort_unstable();
        let first: Vec<(u64, usize)> = (0..played.len()).map(|nth| (1 + nth as u64 / 2, nth % 2)).collect();
        assert_eq!(handed_out, first);
    }

    #[test]
    fn stopped_before_the_first_run_there_is_nothing_and_no_error() {
        let scenario = scenario(TWO_TASKS);
        let grid = Grid { scenario: &scenario, policies: policies(), seeds: 1..11 };
        assert_eq!(grid.runs(), 20);
        assert_eq!(
            play(
                &grid,
                &AtomicBool::new(true),
                &Enough { most: 1, done: AtomicUsize::new(0), stop: &AtomicBool::new(true) }
            ),
            Ok(vec![])
        );
    }
}
