//! §5.3: whose output the clones of reduces read (Fig. 11).

use super::runs::{Both, TINY, dolly, paper, play_all};
use super::workload::Assumed;
use crate::simulation::reproduce::rows::{Row, compare};
use crate::simulation::reproduce::{Effort, Finding};
use drover_core::engine::EngineParams;
use drover_core::policy::PolicyName;
use drover_core::policy::dolly::Reads;
use drover_core::sim::Stuck;

const FIG11: &str = "dolly.fig11";

fn policies(assumed: Assumed) -> Vec<(&'static str, EngineParams)> {
    let reading = |reads| dolly(assumed, |dolly| dolly.reads = reads);
    vec![
        ("late", paper(PolicyName::Late)),
        ("delay", reading(Reads::Delay)),
        ("cac", reading(Reads::Cac)),
        ("cc", reading(Reads::Cc)),
    ]
}

const ROWS: [Row<Both>; 6] = [
    Row {
        experiment: FIG11,
        quantity: "Bing, bin 1: faster than LATE with CAC",
        published: Some(17.0),
        unit: "%",
        measure: |both| both.bing.gain("cac", "late", TINY),
        holds: |gain| gain > 5.0,
    },
    Row {
        experiment: FIG11,
        quantity: "Bing, bin 1: faster than LATE with CC",
        published: Some(26.0),
        unit: "%",
        measure: |both| both.bing.gain("cc", "late", TINY),
        holds: |gain| gain > 5.0,
    },
    Row {
        experiment: FIG11,
        quantity: "Bing, bin 1: faster than LATE with delay assignment",
        published: Some(37.0),
        unit: "%",
        measure: |both| both.bing.gain("delay", "late", TINY),
        holds: |gain| gain > 5.0,
    },
    Row {
        experiment: FIG11,
        quantity: "Bing, bin 1: CC ahead of CAC",
        published: Some(9.0),
        unit: "points",
        measure: |both| both.bing.ahead("cc", "cac", "late", TINY),
        holds: |points| points > 0.0,
    },
    Row {
        experiment: FIG11,
        quantity: "Bing, bin 1: delay assignment ahead of CC",
        published: Some(11.0),
        unit: "points",
        measure: |both| both.bing.ahead("delay", "cc", "late", TINY),
        holds: |points| points >= 0.0,
    },
    Row {
        experiment: FIG11,
        quantity: "Bing, bin 1: delay assignment ahead of CAC",
        published: Some(20.0),
        unit: "points",
        measure: |both| both.bing.ahead("delay", "cac", "late", TINY),
        holds: |points| points >= 0.0,
    },
];

pub(super) fn run(effort: Effort) -> Result<Vec<Finding>, Stuck> {
    let played = play_all(policies, effort)?;
    Ok(compare(&ROWS, &played))
}
