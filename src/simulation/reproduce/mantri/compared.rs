//! The rows of Figs. 16–18, of restarts and their success.

use super::marginals::marginals;
use super::runs::{DROVER, Runs};
use super::workload::Assumed;
use crate::simulation::reproduce::rows::{Row, compare, row};
use crate::simulation::reproduce::{Effort, Finding};
use crate::stats::Interval;
use drover_core::sim::{Ideal, Stuck};

const FIG16: &str = "mantri.fig16";
const FIG17: &str = "mantri.fig17";
const FIG18: &str = "mantri.fig18";
const RESTARTS: &str = "mantri.restarts";
const T_REM: &str = "mantri.t_rem";

pub(super) fn run(effort: Effort) -> Result<Vec<Finding>, Stuck> {
    let played = effort.under(Assumed::MAIN, Assumed::OTHERS, Runs::of)?;
    let rows: Vec<Row<Runs>> =
        [marginals(), fig16(), restarts(), t_rem(), fig17(), fig18()].into_iter().flatten().collect();
    Ok(compare(&rows, &played))
}

fn fig16() -> Vec<Row<Runs>> {
    let hardly = |gain: f64| gain <= 8.0;
    let more = |saved: f64| saved < 0.0;
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
        row(FIG16, "Hadoop: less time, p50", 6.9, "%", |runs| runs.all(|sample| sample.faster("hadoop", 0.5)), hardly),
        row(
            FIG16,
            "Hadoop: less container time, p50",
            -15.9,
            "%",
            |runs| runs.all(|sample| sample.cheaper("hadoop", 0.5)),
            more,
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
            more,
        ),
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

fn restarts() -> Vec<Row<Runs>> {
    let some = |restarts: f64| restarts > 0.0;
    vec![
        row(RESTARTS, "Mantri", 0.2, "for each task", |runs| runs.all(|sample| sample.restarts("mantri")), some),
        row(RESTARTS, "Dryad", 0.2, "for each task", |runs| runs.all(|sample| sample.restarts("dryad")), some),
        row(RESTARTS, "LATE", 0.06, "for each task", |runs| runs.all(|sample| sample.restarts("late")), some),
        row(RESTARTS, "Hadoop", 0.56, "for each task", |runs| runs.all(|sample| sample.restarts("hadoop")), some),
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
    ]
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
