//! Jobs on virtual machines that share hosts (OSDI'08, §5.2 on EC2, §5.3 in a local cluster), healthy ones and with stragglers among them.
//!
//! Assumed, with reasons, before the first full run:
//!
//! | what | value | why |
//! |---|---|---|
//! | machines | those of Table 3 (243, of 1–7 to a host); 100 and 204 with as many of each load level, 1–8; local: Table 5 (15, of 1, 2 and 4 to a host) | §5.2.1, §5.2.2, §5.2.3, §5.3.2 |
//! | how many times slower by load level | the write rates of Table 2 (EC2) and Table 4 (local), inverted; eight to a host as seven | §5.1, §5.3.1 |
//! | alone, and packed | 100 machines of 1 GB each, of the first level and of seven to a host, without speculation | §5.1.2, which 408 and 1094 s are printed of |
//! | among machines of a level | lognormal, σ .15 | the tables' deviations are 4–26 % |
//! | what there is to read | each machine 128, 256, 200 and 100 MB; local 64 | §5.2, §5.3.2; of the local WordCount not printed, as much as of Sort |
//! | stragglers | eight, local two; ×4 | calibrated on Sort without speculation, which takes 3.2 times as long as with LATE (§5.2.2); with ×5, as in earlier runs, 3.9 times |
//! | slots | two a machine, maps first; reduces nine in ten of them | §5.2.1: 486 maps and 437 reduces on 243 machines |
//! | maps | of 64 MB: 20 s; Grep 30 s, WordCount 60 s | §5.2.1: 30 GB are 486 maps; Grep and WordCount work more on as much |
//! | Sort's reduces | .45 s a megabyte | with the maps' 20 s it made §5.1.2's 100 GB last 425 s where machines and attempts do not differ |
//! | Grep's, WordCount's | 15 s, 3 s | §5.2.3: Grep "writes a significant amount", of WordCount "the reducers finish quickly" |
//! | all work of a setting | so many times that that Hadoop's own takes five minutes; §5.1.2's 100 GB so many times that they take 408 s | §5: inputs were chosen so that each job "would run approximately 5 minutes"; with one work for each megabyte these are not 408 s for eight times as many as in §5.2.1. Until all rows had been seen, one work for all, calibrated on 408 s without the luck of machines and attempts |
//! | of a reduce's work | three quarters are copying, an eighth each sorting and reducing | §3.2: "the copy phase of reduce tasks is the slowest", the other two are quick. Until all rows had been seen, a third each |
//! | luck | lognormal, σ .1 | not printed |
//! | Hadoop | a start-up of 1 s, a report a second | as for §5.4 |
//! | SpeculativeCap | 10 %, both other thresholds 25 % | §4, §5.4.1 |
//!
//! Varied, one at a time: a third and nine tenths of a reduce's work copying; stragglers ×3 and ×10; machines of a level alike; all work half as long and twice as long. Slowness is tied to the node, a little to the attempt.

use crate::simulation::grid::{Grid, Played, Progress, play_whole};
use crate::simulation::reproduce::assumed::{sets, workload};
use crate::simulation::reproduce::rows::{Row, compare_in_order, row, with_other_draws};
use crate::simulation::reproduce::{Effort, Finding};
use crate::stats::Interval;
use drover_core::engine::EngineParams;
use drover_core::policy::PolicyName;
use drover_core::sim::{Scenario, Stuck};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(super) const NAME: &str = "late.s52";

/// What the paper leaves open and is varied.
#[derive(Debug, Clone, Copy, Serialize)]
struct Assumed {
    /// How many times slower a straggler is than a machine of its level.
    straggler: f64,
    /// Standard deviation of the logarithm of a level's machines.
    spread: f64,
    /// How many times as long all work takes.
    work: f64,
    /// Share of a reduce's work that is copying, 0–1.
    copy: f64,
}

impl Assumed {
    const MAIN: Assumed = Assumed { straggler: 4.0, spread: 0.15, work: 1.0, copy: 0.75 };
    const OTHERS: [Assumed; 7] = [
        Assumed { copy: 1.0 / 3.0, ..Assumed::MAIN },
        Assumed { copy: 0.9, ..Assumed::MAIN },
        Assumed { straggler: 3.0, ..Assumed::MAIN },
        Assumed { straggler: 10.0, ..Assumed::MAIN },
        Assumed { spread: 0.0, ..Assumed::MAIN },
        Assumed { work: 0.5, ..Assumed::MAIN },
        Assumed { work: 2.0, ..Assumed::MAIN },
    ];
}

/// Machines by how many share a host: how many times slower these are, and how many of them there are.
type Levels = &'static [(f64, u32)];

const TABLE_3: Levels = &[(1.0, 40), (1.09, 40), (1.15, 45), (1.33, 40), (1.81, 40), (2.43, 24), (2.49, 14)];
const HUNDRED: Levels =
    &[(1.0, 12), (1.09, 12), (1.15, 12), (1.33, 12), (1.81, 13), (2.43, 13), (2.49, 13), (2.49, 13)];
const ALONE: Levels = &[(1.0, 100)];
const PACKED: Levels = &[(2.49, 100)];
const TWO_HUNDRED: Levels =
    &[(1.0, 25), (1.09, 25), (1.15, 25), (1.33, 25), (1.81, 26), (2.43, 26), (2.49, 26), (2.49, 26)];
const LOCAL: Levels = &[(1.0, 5), (2.49, 6), (5.16, 4)];

/// What runs on which machines.
#[derive(Debug, Clone, Copy)]
struct Setting {
    name: &'static str,
    levels: Levels,
    stragglers: u32,
    /// What each machine has of the input, megabytes.
    mb: f64,
    /// How many times as long all of its work takes.
    scale: f64,
    /// A map's work, seconds.
    map: f64,
    /// A reduce's, seconds for each megabyte of its input and beside that.
    reduce: (f64, f64),
}

const SORT: (f64, (f64, f64)) = (20.0, (0.45, 0.0));
const GREP: (f64, (f64, f64)) = (30.0, (0.0, 15.0));
const WORDS: (f64, (f64, f64)) = (60.0, (0.0, 3.0));

const fn setting(
    name: &'static str,
    levels: Levels,
    stragglers: u32,
    mb: f64,
    scale: f64,
    (map, reduce): (f64, (f64, f64)),
) -> Setting {
    Setting { name, levels, stragglers, mb, scale, map, reduce }
}

const SETTINGS: [Setting; 9] = [
    setting("Sort", TABLE_3, 0, 128.0, 1.6, SORT),
    setting("Sort, stragglers", HUNDRED, 8, 256.0, 0.7, SORT),
    setting("Grep, stragglers", TWO_HUNDRED, 8, 200.0, 1.25, GREP),
    setting("WordCount, stragglers", TWO_HUNDRED, 8, 100.0, 0.85, WORDS),
    setting("local Sort", LOCAL, 0, 64.0, 1.42, SORT),
    setting("local Sort, stragglers", LOCAL, 2, 64.0, 1.2, SORT),
    setting("local WordCount, stragglers", LOCAL, 2, 64.0, 0.9, WORDS),
    setting("Sort, alone", ALONE, 0, 1024.0, 0.68, SORT),
    setting("Sort, packed", PACKED, 0, 1024.0, 0.68, SORT),
];

impl Setting {
    fn scenario(self, assumed: Assumed) -> Result<Scenario, Stuck> {
        let read: Result<Scenario, _> = serde_json::from_value(json!({
            "about": format!("LATE §5: {}", self.name),
            "cluster": {"nodes": self.nodes(), "memory_mb": 2048, "vcores": 2, "kinds": self.kinds(assumed)},
            "hadoop": {"allocate": 0, "start_up": 1, "commit": 0, "report": 1, "slow_start": 1.0},
            "slowness": {"attempt": {"lognormal": {"median": 1, "sigma": 0.1}}},
            "jobs": [self.job(assumed)],
        }));
        read.map_err(|error| Stuck::Miscounted(error.to_string()))
    }

    fn nodes(self) -> u32 {
        self.levels.iter().map(|(_, machines)| machines).sum()
    }

    /// Machines of each level; stragglers are spread over the levels.
    fn kinds(self, assumed: Assumed) -> Vec<Value> {
        let levels = self.levels.len() as u32;
        let kind = |machines: u32, slower: f64| {
            let slower = json!({"lognormal": {"median": slower, "sigma": assumed.spread}});
            json!({"nodes": machines, "slower": slower})
        };
        let of_level = |(nth, (slower, machines)): (u32, &(f64, u32))| {
            let slow = (self.stragglers + levels - 1 - nth) / levels;
            [kind(slow, slower * assumed.straggler), kind(machines - slow, *slower)]
        };
        (0..).zip(self.levels).flat_map(of_level).filter(|kind| kind["nodes"] != 0).collect()
    }

    fn job(self, assumed: Assumed) -> Value {
        let all_mb = self.mb * f64::from(self.nodes());
        let maps = (all_mb / 64.0).round();
        let reduces = (1.8 * f64::from(self.nodes())).round();
        let (each_mb, beside) = self.reduce;
        let reduce = assumed.work * self.scale * (each_mb * all_mb / reduces + beside);
        let rest = reduce * (1.0 - assumed.copy) / 2.0;
        json!({
            "name": "job",
            "maps": {"tasks": maps, "work": assumed.work * self.scale * self.map},
            "reduces": {"tasks": reduces, "copy": reduce * assumed.copy, "sort": rest, "work": rest},
        })
    }
}

const NONE: &str = "none";
const NATIVE: &str = "native";
const LATE: &str = "late";
const POLICIES: [(&str, PolicyName); 3] =
    [(NONE, PolicyName::None), (NATIVE, PolicyName::Hadoop020), (LATE, PolicyName::Late)];

/// Seconds of each seed, by setting and policy.
struct Runs(BTreeMap<(&'static str, &'static str), Vec<f64>>);

impl Runs {
    fn of(assumed: Assumed, seeds: u64, progress: &dyn Progress) -> Result<Runs, Stuck> {
        let mut runs: BTreeMap<_, Vec<f64>> = BTreeMap::new();
        for setting in SETTINGS {
            let scenario = setting.scenario(assumed)?;
            let policies = POLICIES.map(|(name, policy)| (name.to_owned(), EngineParams::paper(policy).into()));
            let grid = Grid { scenario: &scenario, policies: policies.into(), seeds: 1..seeds + 1 };
            for Played { policy, outcome, .. } in play_whole(&grid, progress)? {
                let seconds = outcome.jobs.first().map(|job| job.took.as_secs_f64());
                runs.entry((setting.name, POLICIES[policy].0)).or_default().extend(seconds);
            }
        }
        Ok(Runs(runs))
    }

    /// Seconds.
    fn seconds(&self, setting: &'static str, policy: &'static str) -> Option<Interval> {
        Interval::of_seeds(self.0.get(&(setting, policy))?)
    }

    /// By how many percent LATE is faster than another, as the paper has it: the other's time over LATE's, less one.
    fn faster(&self, setting: &'static str, than: &'static str) -> Option<Interval> {
        let of = |policy| self.0.get(&(setting, policy));
        against(of(LATE)?.iter().zip(of(than)?))
    }

    /// The same of LATE itself with the luck of another seed.
    fn null(&self, setting: &'static str) -> Option<Interval> {
        against(with_other_draws(self.0.get(&(setting, LATE))?))
    }
}

/// By how many percent the first of each pair is faster than the second.
fn against<'a>(pairs: impl Iterator<Item = (&'a f64, &'a f64)>) -> Option<Interval> {
    Interval::of_seeds(&pairs.map(|(own, other)| 100.0 * (other / own - 1.0)).collect::<Vec<_>>())
}

/// What work was calibrated on, and what was not: the same packed onto 13 hosts.
fn marginals() -> [Row<Runs>; 2] {
    let of = |quantity, published: f64, measure, holds| row(NAME, quantity, published, "s", measure, holds);
    [
        of(
            "§5.1.2: Sort of 100 GB, 100 machines alone on their hosts, without speculation",
            408.0,
            |runs: &Runs| runs.seconds("Sort, alone", NONE),
            |s| (340.0..=510.0).contains(&s),
        ),
        of(
            "§5.1.2: the same, seven to a host",
            1094.0,
            |runs| runs.seconds("Sort, packed", NONE),
            |s| (912.0..=1367.0).contains(&s),
        ),
    ]
}

/// What is no difference at all.
fn nulls() -> [Row<Runs>; 2] {
    let little = |gain: f64| gain.abs() < 10.0;
    let of = |quantity, measure| row(NAME, quantity, None, "%", measure, little);
    [
        of("null: LATE, Sort, against itself with other draws", |runs: &Runs| runs.null("Sort")),
        of("null: LATE, Sort, stragglers, against itself with other draws", |runs| runs.null("Sort, stragglers")),
    ]
}

fn rows() -> Vec<Row<Runs>> {
    let faster = |gain: f64| gain > 0.0;
    let one = |quantity, published: f64, measure: fn(&Runs) -> Option<Interval>| {
        row(NAME, quantity, published, "%", measure, faster)
    };
    vec![
        one("Sort: faster than Hadoop's own", 27.0, |runs| runs.faster("Sort", NATIVE)),
        one("Sort: faster than without speculation", 31.0, |runs| runs.faster("Sort", NONE)),
        one("Sort, stragglers: faster than Hadoop's own", 58.0, |runs| runs.faster("Sort, stragglers", NATIVE)),
        one("Sort, stragglers: faster than without speculation", 220.0, |runs| runs.faster("Sort, stragglers", NONE)),
        one("Grep, stragglers: faster than Hadoop's own", 36.0, |runs| runs.faster("Grep, stragglers", NATIVE)),
        one("Grep, stragglers: faster than without speculation", 57.0, |runs| runs.faster("Grep, stragglers", NONE)),
        one("WordCount, stragglers: faster than Hadoop's own", 8.5, |runs| {
            runs.faster("WordCount, stragglers", NATIVE)
        }),
        one("WordCount, stragglers: faster than without speculation", 179.0, |runs| {
            runs.faster("WordCount, stragglers", NONE)
        }),
        one("local Sort: faster than Hadoop's own", 162.0, |runs| runs.faster("local Sort", NATIVE)),
        one("local Sort: faster than without speculation", 104.0, |runs| runs.faster("local Sort", NONE)),
        one("local Sort, stragglers: faster than Hadoop's own", 53.0, |runs| {
            runs.faster("local Sort, stragglers", NATIVE)
        }),
        one("local Sort, stragglers: faster than without speculation", 121.0, |runs| {
            runs.faster("local Sort, stragglers", NONE)
        }),
        row(
            NAME,
            "local WordCount, stragglers: faster than Hadoop's own",
            None,
            "%",
            |runs| runs.faster("local WordCount, stragglers", NATIVE),
            faster,
        ),
    ]
}

pub(super) fn run(effort: Effort) -> Result<Vec<Finding>, Stuck> {
    let played = effort.under(Assumed::MAIN, Assumed::OTHERS, Runs::of)?;
    let rows: Vec<_> = marginals().into_iter().chain(rows()).chain(nulls()).collect();
    // Of each job, which of the other two policies is the slower one: where machines differ locally, Hadoop's own.
    let of_job =
        |name: &str| ["Hadoop's own", "without speculation"].map(|other| format!("{name}: faster than {other}"));
    let jobs = SETTINGS.map(|setting| of_job(setting.name));
    let orders = jobs.each_ref().map(|job| job.iter().map(String::as_str).collect());
    Ok(compare_in_order(&rows, &played, &orders))
}

pub(super) fn assumed() -> Result<Value, Stuck> {
    let made = SETTINGS.map(|setting| setting.scenario(Assumed::MAIN).map(|scenario| workload(&scenario)));
    Ok(sets(Assumed::MAIN, Assumed::OTHERS, made.into_iter().collect::<Result<_, _>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::Silent;

    #[test]
    fn every_row_finds_its_runs() {
        let runs = Runs::of(Assumed { work: 0.1, ..Assumed::MAIN }, 2, &Silent).unwrap();
        for row in marginals().into_iter().chain(rows()).chain(nulls()) {
            assert!((row.measure)(&runs).is_some(), "{}", row.quantity);
        }
    }

    #[test]
    fn there_are_as_many_machines_maps_and_reduces_as_the_paper_has() {
        let sort = SETTINGS[0].scenario(Assumed::MAIN).unwrap();
        assert_eq!(
            (SETTINGS[0].nodes(), SETTINGS[1].nodes(), SETTINGS[2].nodes(), SETTINGS[4].nodes()),
            (243, 100, 204, 15)
        );
        let job = SETTINGS[0].job(Assumed::MAIN);
        assert_eq!((job["maps"]["tasks"].as_f64(), job["reduces"]["tasks"].as_f64()), (Some(486.0), Some(437.0)));
        assert_eq!(sort.cluster.kinds.len(), 7);
    }

    #[test]
    fn of_each_setting_so_many_machines_are_stragglers_as_are_said() {
        for setting in SETTINGS {
            assert_eq!(setting.scenario(Assumed::MAIN).unwrap().faults(), [], "{}", setting.name);
            let assumed = Assumed { straggler: 1000.0, spread: 0.0, ..Assumed::MAIN };
            let kinds = setting.scenario(assumed).unwrap().cluster.kinds;
            assert_eq!(kinds.iter().map(|kind| kind.nodes).sum::<u32>(), setting.nodes());
            let is_straggler = |factor: f64| factor >= 1000.0;
            let slow = setting
                .kinds(assumed)
                .into_iter()
                .filter(|kind| is_straggler(kind["slower"]["lognormal"]["median"].as_f64().unwrap()));
            assert_eq!(slow.map(|kind| kind["nodes"].as_u64().unwrap()).sum::<u64>(), u64::from(setting.stragglers));
        }
    }
}
