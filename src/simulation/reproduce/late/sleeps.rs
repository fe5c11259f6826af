//! The workload of LATE's sensitivity analysis (OSDI'08, §5.4): one job of sleeping reduces on forty machines, whose thresholds are varied.
//!
//! Specified: 40 machines; maps of 15 s; reduces of a hundred sleeps of U(0, 2t), t = 0.7 s times the machine's factor; most factors 1 or 1.5, five 3, one 10. The machines' factors
//! are the reduces' own: a map takes 15 s anywhere.
//!
//! Assumed, with reasons: two slots a machine, 80 in all, the default of Hadoop's clusters then, and as many maps; 72 reduces, for the job filled one wave ("nearly full slots": no speculation takes
//! 10 × 70 s, so that the slowest machine runs one wave) and left room for copies; half of the machines 1, half 1.5; the maps have ended before reduces start; scores
//! are the sleeps' share, as the paper has its reduces make "uneven but steady progress": were they Hadoop's, whose first two thirds are there at once, a task three times slower than others would never be the fifth behind
//! the mean that Hadoop's own asks for, and what this wastes would be 7 s a node, for the 35 that are printed, with which they were at first; reports every second and heartbeats that cost nothing, as sleeping tasks report between sleeps. Varied: one slot a machine and three;
//! 60 and 80 reduces; scores that are Hadoop's, copy and sort done at once; reports every 5 s; containers that take 2 s to start.

use crate::simulation::grid::{Grid, Played, Progress, play_whole};
use crate::simulation::reproduce::assumed::{sets, workload};
use crate::simulation::reproduce::rows::with_other_draws;
use crate::stats::Interval;
use drover_core::engine::EngineParams;
use drover_core::policy::PolicyName;
use drover_core::sim::{Scenario, Stuck};
use serde::Serialize;
use serde_json::{Value, json};

/// What the paper leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Assumed {
    /// Of each machine.
    slots: u32,
    reduces: u32,
    work_scores: bool,
    report: f64,
    start_up: f64,
}

impl Assumed {
    /// The main set.
    pub const MAIN: Assumed = Assumed { slots: 2, reduces: 72, work_scores: true, report: 1.0, start_up: 0.0 };

    /// All other combinations.
    pub fn others() -> impl Iterator<Item = Assumed> {
        let timings = [(1.0, 0.0), (5.0, 0.0), (1.0, 2.0), (5.0, 2.0)];
        let kinds = [2, 1, 3].into_iter().flat_map(|slots| [false, true].map(|work_scores| (slots, work_scores)));
        let all = kinds.flat_map(move |(slots, work_scores)| {
            [60, 72, 80].into_iter().flat_map(move |reduces| {
                timings.map(|(report, start_up)| Assumed { slots, reduces, work_scores, report, start_up })
            })
        });
        all.filter(|one| *one != Assumed::MAIN)
    }

    fn scenario(self) -> Result<Scenario, serde_json::Error> {
        let maps_end = 15.0 + self.start_up;
        // A hundred sleeps of U(0, 2t): mean 100 t, standard deviation 100^½ · 2t/12^½.
        let t = 0.7;
        let sleeps = json!({"normal": {"mean": 100.0 * t, "sd": 10.0 * 2.0 * t / 12_f64.sqrt()}});
        let slower = |nodes: Vec<u32>, factor: f64| json!({"nodes": nodes, "from": maps_end, "slower": factor});
        serde_json::from_value(json!({
            "about": "LATE §5.4",
            "cluster": {"nodes": 40, "memory_mb": 1024 * self.slots, "vcores": self.slots},
            "hadoop": {
                "allocate": 0, "start_up": self.start_up, "slow_start_up": false, "commit": 0, "report": self.report, "slow_start": 1.0,
                "scores": if self.work_scores { "work" } else { "hadoop" },
            },
            "trouble": [
                slower((0..34).filter(|node| node % 2 == 1).collect(), 1.5),
                slower((34..39).collect(), 3.0),
                slower(vec![39], 10.0),
            ],
            "jobs": [{
                "name": "sleeps",
                "maps": {"tasks": 40 * self.slots, "work": 15},
                "reduces": {"tasks": self.reduces, "work": sleeps},
            }],
        }))
    }
}

/// LATE with its three thresholds.
fn late(cap: f64, slow_task: f64, slow_node: f64) -> EngineParams {
    let mut params = EngineParams::paper(PolicyName::Late);
    params.govern.cluster_cap = cap;
    (params.late.slow_task_percentile, params.late.slow_node_percentile) = (slow_task, slow_node);
    params
}

/// "six SpeculativeCap values from 2.5% to 100%", of which the figure's axis has these, and 50.
const CAPS: [f64; 7] = [0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0];

fn policies() -> Vec<(String, EngineParams)> {
    let fixed =
        [("none", EngineParams::paper(PolicyName::None)), ("native", EngineParams::paper(PolicyName::Hadoop020))];
    let caps = CAPS.map(|cap| (format!("cap {cap}"), late(cap, 0.25, 0.25)));
    let tasks = [0.05, 0.5, 1.0].map(|share| (format!("task {share}"), late(0.2, share, 0.25)));
    let nodes = [0.05, 0.5].map(|share| (format!("node {share}"), late(0.2, 0.25, share)));
    fixed.map(|(name, params)| (name.to_owned(), params)).into_iter().chain(caps).chain(tasks).chain(nodes).collect()
}

/// The runs of one set of assumptions.
pub struct Runs {
    names: Vec<String>,
    played: Vec<Played>,
}

impl Runs {
    /// Plays so many seeds under each policy.
    pub fn of(assumed: Assumed, seeds: u64, progress: &dyn Progress) -> Result<Runs, Stuck> {
        let scenario = assumed.scenario().map_err(|error| Stuck::Miscounted(error.to_string()))?;
        let policies = policies();
        let names = policies.iter().map(|(name, _)| name.clone()).collect();
        let policies = policies.into_iter().map(|(name, params)| (name, params.into())).collect();
        let grid = Grid { scenario: &scenario, policies, seeds: 1..seeds + 1 };
        Ok(Runs { names, played: play_whole(&grid, progress)? })
    }

    /// Of each seed: the job's seconds and the seconds wasted on each node.
    fn each(&self, name: &str) -> Vec<[f64; 2]> {
        let policy = self.names.iter().position(|known| known == name);
        let runs = self.played.iter().filter(|one| Some(one.policy) == policy);
        let row = |one: &Played| {
            let jobs = &one.outcome.jobs;
            [jobs[0].took.as_secs_f64(), jobs[0].wasted_ms as f64 / 1e3 / 40.0]
        };
        runs.map(row).collect()
    }

    /// The job's.
    pub fn seconds(&self, name: &str) -> Option<Interval> {
        Interval::of_seeds(&self.each(name).into_iter().map(|[seconds, _]| seconds).collect::<Vec<_>>())
    }

    /// On each node.
    pub fn wasted(&self, name: &str) -> Option<Interval> {
        Interval::of_seeds(&self.each(name).into_iter().map(|[_, wasted]| wasted).collect::<Vec<_>>())
    }

    /// How many seconds more one wastes on each node than another, seed by seed.
    pub fn wasted_more(&self, name: &str, other: &str) -> Option<Interval> {
        let pairs = self.each(name).into_iter().zip(self.each(other));
        Interval::of_seeds(&pairs.map(|([_, own], [_, other])| own - other).collect::<Vec<_>>())
    }

    /// A policy's time with the luck of another seed over its own: what is no difference at all.
    pub fn null(&self, name: &str) -> Option<Interval> {
        let each = self.each(name);
        let pairs = with_other_draws(&each);
        Interval::of_seeds(&pairs.map(|([own, _], [other, _])| other / own).collect::<Vec<_>>())
    }

    /// One's time over another's, seed by seed.
    pub fn ratio(&self, name: &str, other: &str) -> Option<Interval> {
        let pairs = self.each(name).into_iter().zip(self.each(other));
        Interval::of_seeds(&pairs.map(|([own, _], [other, _])| own / other).collect::<Vec<_>>())
    }
}

pub fn assumed() -> Result<Value, Stuck> {
    let scenario = Assumed::MAIN.scenario().map_err(|error| Stuck::Miscounted(error.to_string()))?;
    Ok(sets(Assumed::MAIN, Assumed::others(), vec![workload(&scenario)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_main_set_is_not_among_the_others_and_each_of_these_can_be_played() {
        assert_eq!(Assumed::others().count(), 3 * 2 * 3 * 4 - 1);
        assert!(Assumed::others().all(|one| one != Assumed::MAIN && one.scenario().unwrap().faults().is_empty()));
    }
}
