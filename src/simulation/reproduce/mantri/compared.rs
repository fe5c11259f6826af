//! The rows of Figs. 17 and 18 and of t_rem, and the runs of all.

use super::marginals::{MARGINALS, marginals};
use super::runs::Runs;
use super::schemes::{FIG16, RESTARTED, RESTARTS, fig16, restarts};
use super::workload::Assumed;
use crate::simulation::reproduce::rows::{Row, compare_in_order, row};
use crate::simulation::reproduce::{Effort, Finding};
use crate::stats::Interval;
use drover_core::sim::{Ideal, Stuck};

const FIG17: &str = "mantri.fig17";
const FIG18: &str = "mantri.fig18";
const T_REM: &str = "mantri.t_rem";

/// Names of the rows.
pub(super) const ROWS: &[&str] = &[MARGINALS, FIG16, RESTARTS, T_REM, FIG17, FIG18];

pub(super) fn run(effort: Effort) -> Result<Vec<Finding>, Stuck> {
    let played = effort.under(Assumed::MAIN, Assumed::OTHERS, Runs::of)?;
    let rows: Vec<Row<Runs>> =
        [marginals(), fig16(), restarts(), t_rem(), fig17(), fig18()].into_iter().flatten().collect();
    Ok(compare_in_order(&rows, &played, &[RESTARTED.to_vec()]))
}

/// §6.2.
fn t_rem() -> Vec<Row<Runs>> {
    let close = |error: f64| error <= 10.0;
    vec![row(
        T_REM,
        "mean error at half of the progress",
        2.9,
        "%",
        |runs| runs.all(|sample| sample.t_rem_error()),
        close,
    )]
}

fn fig17() -> Vec<Row<Runs>> {
    fn early(runs: &Runs, share: f64) -> Option<Interval> {
        runs.all(|sample| Some(sample.faster("late-early", share)? - sample.faster("late", share)?))
    }
    vec![
        row(
            FIG17,
            "LATE that acts early: less time than LATE, p20",
            None,
            "points",
            |runs| early(runs, 0.2),
            |points| points <= 0.0,
        ),
        row(FIG17, "the same, p40", None, "points", |runs| early(runs, 0.4), |points| points <= 0.0),
        row(
            FIG17,
            "LATE that acts early: less container time than LATE, p50",
            None,
            "points",
            |runs| runs.all(|sample| Some(sample.cheaper("late-early", 0.5)? - sample.cheaper("late", 0.5)?)),
            |points| points < 0.0,
        ),
    ]
}

fn fig18() -> Vec<Row<Runs>> {
    fn behind(runs: &Runs, ideal: Ideal) -> Option<Interval> {
        runs.all(|sample| Some(sample.faster(ideal.label(), 0.5)? - sample.faster("mantri", 0.5)?))
    }
    vec![
        row(
            FIG18,
            "Mantri behind NoSkew, p50",
            0.0,
            "points",
            |runs| behind(runs, Ideal::NoSkew),
            |points| points.abs() <= 10.0,
        ),
        row(
            FIG18,
            "Mantri behind NoSkew + ChopTail, p50",
            None,
            "points",
            |runs| behind(runs, Ideal::ChopTail),
            |points| points > 0.0,
        ),
        row(
            FIG18,
            "Mantri behind one that knows how long every attempt would take, p50",
            None,
            "points",
            |runs| behind(runs, Ideal::Oracle),
            |points| points >= 0.0,
        ),
    ]
}
