//! The rows of LATE's sensitivity analysis (OSDI'08, §5.4, Figs. 10–12).

use super::sleeps::{Assumed, Runs};
use crate::simulation::reproduce::rows::{Row, compare, row};
use crate::simulation::reproduce::{Effort, Finding};
use crate::stats::Interval;
use drover_core::sim::Stuck;

pub(super) const NAME: &str = "late.s54";

fn of(
    quantity: &'static str,
    published: impl Into<Option<f64>>,
    unit: &'static str,
    measure: fn(&Runs) -> Option<Interval>,
    holds: fn(f64) -> bool,
) -> Row<Runs> {
    row(NAME, quantity, published, unit, measure, holds)
}

/// Is it as good as the other?
fn alike(ratio: f64) -> bool {
    (ratio - 1.0).abs() < 0.05
}

/// Is it as much worse as the paper's drop at 20 %?
fn worse(ratio: f64) -> bool {
    ratio > 1.0 / 0.85
}

fn against_hadoop() -> Vec<Row<Runs>> {
    vec![
        of(
            "response time without speculation",
            745.0,
            "s",
            |runs| runs.seconds("none"),
            |s| (695.0..=795.0).contains(&s),
        ),
        of(
            "response time with Hadoop's own",
            247.0,
            "s",
            |runs| runs.seconds("native"),
            |s| (225.0..=285.0).contains(&s),
        ),
        of("time wasted on each node with Hadoop's own", 35.0, "s", |runs| runs.wasted("native"), |s| s > 0.0),
        of(
            "LATE's time at a cap of 20 % over Hadoop's own",
            None,
            "ratio",
            |runs| runs.ratio("cap 0.2", "native"),
            |ratio| ratio < 0.85,
        ),
        of(
            "LATE's time wasted on each node at a cap of 20 %, less than Hadoop's own",
            None,
            "s",
            |runs| runs.wasted_more("native", "cap 0.2"),
            |s| s > 0.0,
        ),
        of(
            "null: LATE at a cap of 20 % with other draws over itself",
            None,
            "ratio",
            |runs| runs.null("cap 0.2"),
            |ratio| (ratio - 1.0).abs() < 0.1,
        ),
    ]
}

fn caps() -> Vec<Row<Runs>> {
    vec![
        of(
            "Fig. 10: time at a cap of 2.5 % over that at 20 %",
            None,
            "ratio",
            |runs| runs.ratio("cap 0.025", "cap 0.2"),
            worse,
        ),
        of(
            "Fig. 10: time at a cap of 5 % over that at 20 %",
            None,
            "ratio",
            |runs| runs.ratio("cap 0.05", "cap 0.2"),
            worse,
        ),
        of(
            "Fig. 10: time at a cap of 20 % over that at 10 %",
            None,
            "ratio",
            |runs| runs.ratio("cap 0.2", "cap 0.1"),
            |ratio| ratio < 0.85,
        ),
        of(
            "Fig. 10: time at a cap of 50 % over that at 20 %",
            None,
            "ratio",
            |runs| runs.ratio("cap 0.5", "cap 0.2"),
            alike,
        ),
        of(
            "Fig. 10: time at a cap of 30 % over that at 20 %",
            None,
            "ratio",
            |runs| runs.ratio("cap 0.3", "cap 0.2"),
            alike,
        ),
        of(
            "Fig. 10: time at a cap of 100 % over that at 20 %",
            None,
            "ratio",
            |runs| runs.ratio("cap 1", "cap 0.2"),
            alike,
        ),
        // Reported, not asked for: an independent model never found more at 10 %.
        of(
            "Fig. 10: time wasted on each node at a cap of 10 %, more than at 20 %; by its sign alone",
            None,
            "s",
            |runs| runs.wasted_more("cap 0.1", "cap 0.2"),
            |s| s > 0.0,
        ),
    ]
}

fn thresholds() -> Vec<Row<Runs>> {
    vec![
        of(
            "Fig. 11: time at SlowTaskThreshold 5 % over that at 25 %",
            None,
            "ratio",
            |runs| runs.ratio("task 0.05", "cap 0.2"),
            |ratio| ratio >= 1.15,
        ),
        of(
            "Fig. 11: time at SlowTaskThreshold 50 % over that at 25 %",
            None,
            "ratio",
            |runs| runs.ratio("task 0.5", "cap 0.2"),
            alike,
        ),
        of(
            "Fig. 11: time at SlowTaskThreshold 100 % over that at 25 %",
            None,
            "ratio",
            |runs| runs.ratio("task 1", "cap 0.2"),
            alike,
        ),
        of(
            "Fig. 12: time at SlowNodeThreshold 5 % over that at 25 %",
            None,
            "ratio",
            |runs| runs.ratio("node 0.05", "cap 0.2"),
            alike,
        ),
        of(
            "Fig. 12: time at SlowNodeThreshold 50 % over that at 25 %",
            None,
            "ratio",
            |runs| runs.ratio("node 0.5", "cap 0.2"),
            alike,
        ),
    ]
}

fn rows() -> Vec<Row<Runs>> {
    [against_hadoop(), caps(), thresholds()].into_iter().flatten().collect()
}

pub(super) fn run(effort: Effort) -> Result<Vec<Finding>, Stuck> {
    let played = effort.under(Assumed::MAIN, Assumed::others(), Runs::of)?;
    Ok(compare(&rows(), &played))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::Silent;

    #[test]
    fn every_row_finds_its_runs() {
        let runs = Runs::of(Assumed::MAIN, 2, &Silent).unwrap();
        for row in rows() {
            assert!((row.measure)(&runs).is_some(), "{}", row.quantity);
        }
    }
}
