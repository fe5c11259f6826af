//! The rows of Fig. 16, of restarts and their success.

use super::runs::{DROVER, Runs};
use crate::simulation::reproduce::rows::{Row, row};

/// Name of the figure's rows.
pub const FIG16: &str = "mantri.fig16";
/// Name of those of restarts.
pub const RESTARTS: &str = "mantri.restarts";
/// Of these those that tell how often each scheme restarts: they stand in an order.
pub const RESTARTED: [&str; 4] = ["Mantri", "Dryad", "LATE", "Hadoop"];

/// Fig. 16: what is gained, and what it costs.
pub fn fig16() -> Vec<Row<Runs>> {
    [mantri(), speculative(), at_the_end(), drover()].into_iter().flatten().collect()
}

fn hardly(gain: f64) -> bool {
    gain <= 8.0
}

fn some(value: f64) -> bool {
    value > 0.0
}

/// Less is saved than nothing.
fn costs(saved: f64) -> bool {
    saved < 0.0
}

fn mantri() -> Vec<Row<Runs>> {
    vec![
        row(
            FIG16,
            "Mantri: less time, p50 of phases by their lifetime",
            21.1,
            "%",
            |runs| runs.all(|sample| sample.faster("mantri", 0.5)),
            |gain| (10.0..=35.0).contains(&gain),
        ),
        row(
            FIG16,
            "Mantri: less time, p75",
            42.0,
            "%",
            |runs| runs.all(|sample| sample.faster("mantri", 0.75)),
            |gain| (30.0..=75.0).contains(&gain),
        ),
        row(
            FIG16,
            "Mantri: less container time, p50",
            3.0,
            "%",
            |runs| runs.all(|sample| sample.cheaper("mantri", 0.5)),
            |saved| saved >= -0.5,
        ),
        row(
            FIG16,
            "Mantri: less container time, p75",
            7.0,
            "%",
            |runs| runs.all(|sample| sample.cheaper("mantri", 0.75)),
            |saved| saved > 0.0,
        ),
        row(
            FIG16,
            "Mantri ahead of the next best of Hadoop, LATE, Dryad and MapReduce, p50",
            14.2,
            "points",
            |runs| runs.all(|sample| Some(sample.faster("mantri", 0.5)? - sample.next_best(0.5)?)),
            |points| points > 0.0,
        ),
        row(
            FIG16,
            "the same, p75",
            None,
            "points",
            |runs| runs.all(|sample| Some(sample.faster("mantri", 0.75)? - sample.next_best(0.75)?)),
            |points| points > 0.0,
        ),
    ]
}

/// Hadoop and LATE.
fn speculative() -> Vec<Row<Runs>> {
    vec![
        row(FIG16, "Hadoop: less time, p50", 6.9, "%", |runs| runs.all(|sample| sample.faster("hadoop", 0.5)), hardly),
        row(
            FIG16,
            "Hadoop: less container time, p50",
            -15.9,
            "%",
            |runs| runs.all(|sample| sample.cheaper("hadoop", 0.5)),
            costs,
        ),
        row(FIG16, "LATE: less time, p50", None, "%", |runs| runs.all(|sample| sample.faster("late", 0.5)), hardly),
        row(
            FIG16,
            "LATE: less container time than Hadoop, p50",
            None,
            "points",
            |runs| runs.all(|sample| Some(sample.cheaper("late", 0.5)? - sample.cheaper("hadoop", 0.5)?)),
            |points| points > 0.0,
        ),
        row(
            FIG16,
            "LATE: less container time, p50",
            None,
            "%",
            |runs| runs.all(|sample| sample.cheaper("late", 0.5)),
            costs,
        ),
    ]
}

/// Dryad and MapReduce, which act at the end of a phase: "no positive impact until the 80th and 50th percentile respectively".
fn at_the_end() -> Vec<Row<Runs>> {
    vec![
        row(FIG16, "Dryad: less time, p50", 0.0, "%", |runs| runs.all(|sample| sample.faster("dryad", 0.5)), hardly),
        row(
            FIG16,
            "Dryad: less time, p25",
            None,
            "%",
            |runs| runs.all(|sample| sample.faster("dryad", 0.25)),
            |gain| gain <= 0.0,
        ),
        row(
            FIG16,
            "MapReduce: less time, p50",
            None,
            "%",
            |runs| runs.all(|sample| sample.faster("mapreduce", 0.5)),
            hardly,
        ),
        row(
            FIG16,
            "MapReduce: less container time, p50",
            None,
            "%",
            |runs| runs.all(|sample| sample.cheaper("mapreduce", 0.5)),
            costs,
        ),
        row(FIG16, "Dryad: less time, p75", None, "%", |runs| runs.all(|sample| sample.faster("dryad", 0.75)), some),
        row(
            FIG16,
            "Dryad: less container time, p50",
            None,
            "%",
            |runs| runs.all(|sample| sample.cheaper("dryad", 0.5)),
            costs,
        ),
        row(
            FIG16,
            "MapReduce: less time, p75",
            None,
            "%",
            |runs| runs.all(|sample| sample.faster("mapreduce", 0.75)),
            hardly,
        ),
        row(
            FIG16,
            "MapReduce: less time, p90",
            None,
            "%",
            |runs| runs.all(|sample| sample.faster("mapreduce", 0.9)),
            some,
        ),
    ]
}

fn drover() -> Vec<Row<Runs>> {
    vec![
        row(
            FIG16,
            "Drover as it ships: less time, p50",
            None,
            "%",
            |runs| runs.all(|sample| sample.faster(DROVER, 0.5)),
            |gain| gain > 0.0,
        ),
        row(
            FIG16,
            "Drover as it ships: less container time, p50",
            None,
            "%",
            |runs| runs.all(|sample| sample.cheaper(DROVER, 0.5)),
            |saved| saved >= -0.5,
        ),
    ]
}

/// Restarts for each task, and how many copies won.
pub fn restarts() -> Vec<Row<Runs>> {
    vec![
        row(RESTARTS, RESTARTED[0], 0.2, "for each task", |runs| runs.all(|sample| sample.restarts("mantri")), some),
        row(RESTARTS, RESTARTED[1], 0.2, "for each task", |runs| runs.all(|sample| sample.restarts("dryad")), some),
        row(RESTARTS, RESTARTED[2], 0.06, "for each task", |runs| runs.all(|sample| sample.restarts("late")), some),
        row(RESTARTS, RESTARTED[3], 0.56, "for each task", |runs| runs.all(|sample| sample.restarts("hadoop")), some),
        row(
            RESTARTS,
            "Mantri: copies that won",
            70.0,
            "%",
            |runs| runs.all(|sample| sample.success("mantri")),
            |won| won > 50.0,
        ),
        row(
            RESTARTS,
            "LATE: copies that won",
            15.0,
            "%",
            |runs| runs.all(|sample| sample.success("late")),
            |won| won < 50.0,
        ),
        row(
            RESTARTS,
            "Hadoop: copies that won, less than LATE's",
            None,
            "points",
            |runs| runs.all(|sample| Some(sample.success("late")? - sample.success("hadoop")?)),
            |points| points > 0.0,
        ),
        row(
            RESTARTS,
            "Dryad: copies that won, less than LATE's",
            None,
            "points",
            |runs| runs.all(|sample| Some(sample.success("late")? - sample.success("dryad")?)),
            some,
        ),
        row(
            RESTARTS,
            "MapReduce: copies that won, less than LATE's",
            None,
            "points",
            |runs| runs.all(|sample| Some(sample.success("late")? - sample.success("mapreduce")?)),
            some,
        ),
    ]
}
