//! §5.3: whose output the clones of reduces read (Fig. 11), and how long they wait for one of their own (Fig. 10).

use super::phases;
use super::runs::{Both, SMALL, TINY, play_all, readings};
use crate::simulation::reproduce::rows::{Row, compare};
use crate::simulation::reproduce::{Effort, Finding};
use crate::stats::Interval;
use drover_core::sim::Stuck;

const FIG10: &str = "dolly.fig10";
const FIG11: &str = "dolly.fig11";
/// Names of the rows.
pub(super) const ROWS: &[&str] = &[FIG10, FIG11, phases::FIG12];

const FIG11_ROWS: [Row<Both>; 7] = [
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
    Row {
        experiment: FIG11,
        quantity: "null: LATE, Bing, bin 1, against itself with other draws",
        published: None,
        unit: "%",
        measure: |both| both.bing.null("late", TINY),
        holds: |gain| gain.abs() < 5.0,
    },
];

/// "varied between 2.5s and 4.7s for jobs in bin-1, and 3.1s and 5.2s for jobs in bin-2"; of which workload is not said.
const FIG10_ROWS: [Row<Both>; 5] = [
    Row {
        experiment: FIG10,
        quantity: "Bing, bin 1: ω, the least",
        published: Some(2.5),
        unit: "s",
        measure: |both| both.bing.omega("delay", 0.0, TINY),
        holds: |s| (2.5..=4.7).contains(&s),
    },
    Row {
        experiment: FIG10,
        quantity: "Bing, bin 1: ω, the most",
        published: Some(4.7),
        unit: "s",
        measure: |both| both.bing.omega("delay", 1.0, TINY),
        holds: |s| (2.5..=4.7).contains(&s),
    },
    Row {
        experiment: FIG10,
        quantity: "Bing, bin 2: ω, the least",
        published: Some(3.1),
        unit: "s",
        measure: |both| both.bing.omega("delay", 0.0, SMALL),
        holds: |s| (3.1..=5.2).contains(&s),
    },
    Row {
        experiment: FIG10,
        quantity: "Bing, bin 2: ω, the most",
        published: Some(5.2),
        unit: "s",
        measure: |both| both.bing.omega("delay", 1.0, SMALL),
        holds: |s| (3.1..=5.2).contains(&s),
    },
    Row {
        experiment: FIG10,
        quantity: "Bing: median ω, bin 2's beyond bin 1's",
        published: None,
        unit: "s",
        measure: |both| {
            let [small, tiny] = [SMALL, TINY].map(|bin| both.bing.omega("delay", 0.5, bin));
            let (small, tiny) = (small?, tiny?);
            Some(Interval { mean: small.mean - tiny.mean, low: small.low - tiny.high, high: small.high - tiny.low })
        },
        holds: |s| s > 0.0,
    },
];

pub(super) fn run(effort: Effort) -> Result<Vec<Finding>, Stuck> {
    let played = play_all(readings, effort)?;
    let own = [compare(&FIG11_ROWS, &played), compare(&FIG10_ROWS, &played)].concat();
    Ok([own, phases::run(effort)?].concat())
}
