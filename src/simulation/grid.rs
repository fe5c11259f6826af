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

/// What came of a grid.
#[derive(Debug, PartialEq)]
pub struct Results {
    /// The runs that were played to their ends, in order of policy and seed.
    pub played: Vec<Played>,
    /// Why others could not be, in the same order, each by its name.
    pub stuck: Vec<Stuck>,
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

/// One run among others; where it cannot be ended, the error says which one it was.
///
/// # Errors
/// Where jobs can never end.
pub fn run_as(name: &str, scenario: &Scenario, actor: impl Into<Actor>, seed: u64) -> Result<Outcome, Stuck> {
    run(scenario, actor, seed).map_err(|stuck| named(stuck, name, scenario, seed))
}

/// What has become of a run, with its scenario, who acted there, and its seed.
pub fn named(stuck: Stuck, policy: &str, scenario: &Scenario, seed: u64) -> Stuck {
    let about = scenario.about.trim_end_matches('.');
    let told = if about.is_empty() { String::new() } else { format!("{about}: ") };
    Stuck::InRun { run: format!("{told}{policy} with seed {seed}"), why: Box::new(stuck) }
}

/// Plays all runs. They are handed out seed by seed, so that what is there once `stop` is set can be compared: from then on no other begins, and those
/// under way end. One that cannot be ended takes nothing from the others.
pub fn play(grid: &Grid<'_>, stop: &AtomicBool, progress: &dyn Progress) -> Results {
    progress.expect(grid.runs());
    let all = grid.seeds.clone().flat_map(|seed| (0..grid.policies.len()).map(move |policy| (seed, policy)));
    let one = |(seed, policy): (u64, usize)| {
        let ended = run_as(&grid.policies[policy].0, grid.scenario, grid.actor(policy, seed), seed);
        progress.done();
        ((policy, seed), ended)
    };
    // A range of rayon's own would be halved, and the later seeds begun with the first.
    let handed_out = all.take_while(|_| !stop.load(Ordering::Relaxed)).par_bridge();
    let mut ended: Vec<_> = handed_out.map(one).collect();
    ended.sort_by_key(|(run, _)| *run);
    let mut results = Results { played: Vec::with_capacity(ended.len()), stuck: Vec::new() };
    for ((policy, seed), ended) in ended {
        match ended {
            Ok(outcome) => results.played.push(Played { policy, seed, outcome }),
            Err(stuck) => results.stuck.push(stuck),
        }
    }
    results
}

/// The same where only the whole will do.
///
/// # Errors
/// Of the first run that could not be ended.
pub fn play_whole(grid: &Grid<'_>, progress: &dyn Progress) -> Result<Vec<Played>, Stuck> {
    let Results { played, stuck } = play(grid, &AtomicBool::new(false), progress);
    stuck.into_iter().next().map_or(Ok(played), Err)
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
        let played = play(&grid, &stop, &Enough { most: 9, done: AtomicUsize::new(0), stop: &stop }).played;
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
            Results { played: vec![], stuck: vec![] }
        );
    }

    #[test]
    fn a_run_that_cannot_be_ended_is_named_and_the_others_are_kept() {
        // The only node is lost at 20 s: some seeds' map is done by then, and others wait for ever.
        let text = "about = \"One node.\"\n[cluster]\nnodes = 1\n[[trouble]]\nnodes = [0]\nfrom = 20\nlost = true\n[[jobs]]\nname = \"a\"\n\
                    maps = { tasks = 1, work = { uniform = { low = 1, high = 40 } } }\n";
        let scenario = scenario(text);
        let grid = Grid { scenario: &scenario, policies: policies(), seeds: 1..9 };
        let Results { played, stuck } = play(&grid, &AtomicBool::new(false), &Silent);
        assert!(!played.is_empty() && !stuck.is_empty());
        assert_eq!((played.len() + stuck.len()) as u64, grid.runs());
        let missed = |seed: &u64| !played.iter().any(|one| one.policy == 0 && one.seed == *seed);
        let first = format!("One node: none with seed {}: jobs wait", (1..9).find(missed).unwrap());
        assert!(stuck[0].to_string().starts_with(&first), "{}", stuck[0]);
        assert_eq!(play_whole(&grid, &Silent).as_ref(), Err(&stuck[0]));
    }
}
