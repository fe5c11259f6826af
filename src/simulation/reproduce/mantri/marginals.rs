//! How near the workload comes to what the paper prints of its own, and what is no difference at all.

use super::runs::{NULL, Runs};
use crate::simulation::reproduce::rows::{Row, row};

/// Name of these rows.
pub const MARGINALS: &str = "mantri.marginals";

/// The rows.
pub fn marginals() -> Vec<Row<Runs>> {
    vec![
        row(
            MARGINALS,
            "§3.1: tasks for each slot, median phase",
            2.11,
            "ratio",
            |runs| runs.all(|sample| sample.over(0.5, |phase| phase.waves)),
            |ratio| (1.8..=2.4).contains(&ratio),
        ),
        row(
            MARGINALS,
            "Fig. 2: outliers in the phase that a quarter of phases exceed",
            15.0,
            "% of tasks",
            |runs| runs.all(|sample| sample.over(0.75, |phase| 100.0 * phase.outlying)),
            |percent| (12.0..=18.0).contains(&percent),
        ),
        row(
            MARGINALS,
            "Fig. 3: outliers below 2.5 times the median",
            80.0,
            "%",
            |runs| runs.all(|sample| sample.outliers(|ratio| ratio < 2.5)),
            |percent| (75.0..=85.0).contains(&percent),
        ),
        row(
            MARGINALS,
            "Fig. 3: outliers above 10 times the median",
            10.0,
            "%",
            |runs| runs.all(|sample| sample.outliers(|ratio| ratio > 10.0)),
            |percent| (8.0..=12.0).contains(&percent),
        ),
        row(
            MARGINALS,
            "§4.2: variation of data within a phase, median phase",
            0.34,
            "ratio",
            |runs| runs.all(|sample| sample.over(0.5, |phase| phase.variation)),
            |ratio| (0.2..=0.5).contains(&ratio),
        ),
        row(
            MARGINALS,
            "§4.2: the same, p90 of phases",
            3.1,
            "ratio",
            |runs| runs.all(|sample| sample.over(0.9, |phase| phase.variation)),
            |ratio| ratio > 1.0,
        ),
        row(
            MARGINALS,
            "null: tasks meet what others met and nobody acts, p25 of phases",
            None,
            "%",
            |runs| runs.all(|sample| sample.faster(NULL, 0.25)),
            |gain| gain < 0.0,
        ),
        row(
            MARGINALS,
            "null: the same, p50",
            None,
            "%",
            |runs| runs.all(|sample| sample.faster(NULL, 0.5)),
            |gain| gain.abs() < 10.0,
        ),
    ]
}
