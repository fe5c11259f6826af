//! The rows of Figs. 19 and 20.

use super::placement::{Assumed, Runs, Scheme};
use crate::simulation::reproduce::rows::{Row, compare, row};
use crate::simulation::reproduce::{Effort, Finding};
use drover_core::sim::Stuck;

const FIG19: &str = "mantri.fig19";
const FIG20: &str = "mantri.fig20";
/// Names of the rows.
pub(super) const ROWS: &[&str] = &[FIG19, FIG20];

/// A phase reads for less than the others' use of links stays as it is.
fn short(reads: f64) -> bool {
    reads < 15.0
}

fn long(reads: f64) -> bool {
    reads > 60.0
}

fn all(_: f64) -> bool {
    true
}

fn fig19() -> Vec<Row<Runs>> {
    use Scheme::{Dryad, Equal, Ideal, Mantri, Start};
    let gains = |gain: f64| gain > 0.0;
    vec![
        row(FIG19, "Mantri: less time, median reduce phase", 60.0, "%", |runs| runs.faster(Mantri, Dryad, all), gains),
        row(FIG19, "IdealReduce: the same", None, "%", |runs| runs.faster(Ideal, Dryad, all), gains),
        row(
            FIG19,
            "Mantri: less time than IdealReduce",
            0.0,
            "%",
            |runs| runs.faster(Mantri, Ideal, all),
            |gain| gain > -15.0,
        ),
        row(
            FIG19,
            "Start: less time than Equal, short phases",
            None,
            "%",
            |runs| runs.faster(Start, Equal, short),
            gains,
        ),
        row(
            FIG19,
            "Equal: less time than Start, long phases",
            None,
            "%",
            |runs| runs.faster(Equal, Start, long),
            gains,
        ),
        row(
            FIG19,
            "null: without placement, against itself with other draws, median reduce phase",
            None,
            "%",
            |runs| runs.faster(Scheme::Null, Dryad, all),
            |gain| gain.abs() < 10.0,
        ),
        row(
            FIG19,
            "§6.2: reduces in each rack that has any, without placement",
            5.5,
            "tasks",
            |runs| runs.quantile(Dryad, 0.5, |taken| taken.spread),
            |spread| (4.0..=7.0).contains(&spread),
        ),
    ]
}

fn fig20() -> Vec<Row<Runs>> {
    use Scheme::{Dryad, Mantri};
    vec![
        row(
            FIG20,
            "Mantri: the median reduce's throughput over the slowest's, median phase",
            1.05,
            "ratio",
            |runs| runs.quantile(Mantri, 0.5, |taken| taken.behind),
            |ratio| ratio <= 1.2,
        ),
        row(
            FIG20,
            "Mantri: the same, at most",
            2.0,
            "ratio",
            |runs| runs.quantile(Mantri, 1.0, |taken| taken.behind),
            |ratio| ratio <= 2.0,
        ),
        row(
            FIG20,
            "Dryad: the same, p50",
            5.25,
            "ratio",
            |runs| runs.quantile(Dryad, 0.5, |taken| taken.behind),
            |ratio| ratio > 1.5,
        ),
        row(
            FIG20,
            "Dryad: the same, p75",
            14.33,
            "ratio",
            |runs| runs.quantile(Dryad, 0.75, |taken| taken.behind),
            |ratio| ratio > 1.5,
        ),
    ]
}

pub(super) fn run(effort: Effort) -> Result<Vec<Finding>, Stuck> {
    let played = effort.under(Assumed::MAIN, Assumed::OTHERS, Runs::of)?;
    Ok(compare(&[fig19(), fig20()].into_iter().flatten().collect::<Vec<_>>(), &played))
}
