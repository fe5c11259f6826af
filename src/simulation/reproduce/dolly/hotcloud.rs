//! HotCloud'12, "Evaluation": clones of tasks against clones of whole jobs.
//!
//! Assumed, with reasons, before the first full run; all that is not here is as in the room's own table, as the trace is the same (375 K jobs of Facebook's cluster):
//!
//! | what | value | why |
//! |---|---|---|
//! | load | 21 % of the containers | §2.1: the median slot utilisation, as rows here are of utilisation; the room's own is lower, for the reason that stands there |
//! | Dolly | ε 5 %, τ 70 %, no budget; clones of tasks one by one while there is room, counted by machines' odds; of jobs min(c, (τ − U)/n) | "Evaluation"; §3.2, Pseudocode 1 |
//! | clones' reads | the first output there is, and no contention | §4 leaves it to later work ("a thorough analysis … is our immediate future plan") |
//! | who gives way | clones, to tasks that wait of a user with less than an equal share | §3.2. The jobs of the first bin are one user's and the others another's: the paper names none |
//! | only small jobs cloned | those of at most ten tasks; the others run without copies | "Evaluation"; whether LATE looks after the others is not said |
//! | cluster | 150 nodes of 12 containers | the paper plays 3,500 nodes and a month; a twentieth of that keeps a run at seconds, but one large job may fill it, and then nothing is cloned |
//!
//! Varied, one at a time: p of .15; tasks of 8 s, and these with p of .25; a seventh of the load, half of it, twice; what all jobs gain by their mean times.

use super::runs::{ALL, Runs, TINY, paper};
use super::workload::{Assumed, Mix, scenario};
use crate::simulation::reproduce::assumed::{sets, workload};
use crate::simulation::reproduce::rows::{Row, compare, row};
use crate::simulation::reproduce::{Effort, Finding};
use drover_core::engine::EngineParams;
use drover_core::model::{CloneScheme, Mode};
use drover_core::policy::PolicyName;
use drover_core::policy::dolly::{DollyParams, Reads};
use drover_core::sim::{Scenario, Stuck};
use serde_json::Value;

const HOTCLOUD: &str = "dolly.hotcloud";
const MAIN: Assumed = Assumed { load: 0.21, contention: 1.0, ..Assumed::MAIN };
const OTHERS: [Assumed; 7] = [
    Assumed { p: 0.15, ..MAIN },
    Assumed { task: 8.0, ..MAIN },
    Assumed { p: 0.25, task: 8.0, ..MAIN },
    Assumed { load: 0.03, ..MAIN },
    Assumed { load: 0.105, ..MAIN },
    Assumed { load: 0.42, ..MAIN },
    Assumed { by_times: true, ..MAIN },
];
/// Who has the jobs of more than ten tasks.
const LARGE: &str = "bob";

fn policies() -> Vec<(&'static str, EngineParams)> {
    let hotcloud = |scheme| {
        let mut params = paper(PolicyName::Dolly);
        params.dolly = DollyParams { scheme, reads: Reads::Cc, contention: Some(1.0), ..DollyParams::paper_hotcloud() };
        params
    };
    let mut small = hotcloud(CloneScheme::Task);
    small.govern.user_modes.insert(LARGE.into(), Mode::Off);
    vec![
        ("late", paper(PolicyName::Late)),
        ("mantri", paper(PolicyName::Mantri)),
        ("tasks", hotcloud(CloneScheme::Task)),
        ("jobs", hotcloud(CloneScheme::Job)),
        ("small", small),
    ]
}

fn cluster(assumed: Assumed, ideal: bool) -> Result<Scenario, Stuck> {
    let mut scenario = scenario(Mix::Facebook, assumed.of(Mix::Facebook), ideal)?;
    let large = scenario.traced.iter_mut().filter(|job| Some(job.name.as_str()) != TINY);
    large.for_each(|job| job.user = LARGE.into());
    Ok(scenario)
}

pub(super) fn assumed() -> Result<Value, Stuck> {
    Ok(sets(MAIN, OTHERS, vec![workload(&cluster(MAIN, false)?)]))
}

fn gains() -> Vec<Row<Runs>> {
    let of = |quantity, published: f64, measure: fn(&Runs) -> Option<_>, holds| {
        row(HOTCLOUD, quantity, published, "%", measure, holds)
    };
    let helps = |gain| gain > 5.0;
    vec![
        of("all jobs: clones of tasks faster than LATE", 44.0, |runs| runs.gain("tasks", "late", ALL), helps),
        of("all jobs: clones of jobs faster than LATE", 31.0, |runs| runs.gain("jobs", "late", ALL), helps),
        of("all jobs: clones of tasks faster than Mantri", 35.0, |runs| runs.gain("tasks", "mantri", ALL), helps),
        of("all jobs: clones of jobs faster than Mantri", 26.0, |runs| runs.gain("jobs", "mantri", ALL), helps),
        of("bin 1, which alone is cloned: faster than LATE", 47.0, |runs| runs.gain("small", "late", TINY), helps),
        of("bin 1, which alone is cloned: faster than Mantri", 39.0, |runs| runs.gain("small", "mantri", TINY), helps),
        of("all jobs, bin 1 alone cloned: faster than LATE", 40.0, |runs| runs.gain("small", "late", ALL), helps),
        of("all jobs, bin 1 alone cloned: faster than Mantri", 33.0, |runs| runs.gain("small", "mantri", ALL), helps),
    ]
}

fn costs() -> Vec<Row<Runs>> {
    vec![
        row(
            HOTCLOUD,
            "all jobs: clones of tasks ahead of clones of jobs",
            13.0,
            "points",
            |runs| runs.ahead("tasks", "jobs", "late", ALL),
            |points| points > 0.0,
        ),
        row(
            HOTCLOUD,
            "bin 1: clones of tasks ahead of clones of jobs",
            None,
            "points",
            |runs| runs.ahead("tasks", "jobs", "late", TINY),
            |points| points > 0.0,
        ),
        row(
            HOTCLOUD,
            "container time beyond LATE's: of clones of jobs over that of clones of tasks",
            5.8,
            "times",
            |runs| runs.extra("jobs", "tasks", "late"),
            |times| times > 1.5,
        ),
        row(
            HOTCLOUD,
            "container time with clones of tasks over LATE's",
            2.2,
            "times",
            |runs| runs.times("tasks", "late"),
            |times| times > 1.1,
        ),
        row(
            HOTCLOUD,
            "utilisation beyond LATE's, bin 1 alone cloned",
            3.3,
            "points",
            |runs| runs.utilisation("small", "late"),
            |points| points < 5.0,
        ),
        row(
            HOTCLOUD,
            "null: LATE, all jobs, against itself with other draws",
            None,
            "%",
            |runs| runs.null("late", ALL),
            |gain| gain.abs() < 5.0,
        ),
    ]
}

pub(super) fn run(effort: Effort) -> Result<Vec<Finding>, Stuck> {
    let played = effort.under(MAIN, OTHERS, |assumed, seeds, progress| {
        Runs::play(|ideal| cluster(assumed, ideal), assumed.by_times, policies(), seeds, progress)
    })?;
    let rows: Vec<_> = gains().into_iter().chain(costs()).collect();
    Ok(compare(&rows, &played))
}
