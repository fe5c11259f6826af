//! §5.2: what Dolly gains over LATE and Mantri (Fig. 7), what is left of stragglers (Fig. 9), and how near the workloads come to the traces (§2.1.1, §2.2).

use super::runs::{ALL, Both, IDEAL, TINY, dolly, paper, play_all};
use super::workload::{Assumed, Mix, used_by_smallest};
use crate::simulation::reproduce::rows::{Row, compare, row};
use crate::simulation::reproduce::{Effort, Finding};
use crate::stats::Interval;
use drover_core::engine::EngineParams;
use drover_core::policy::PolicyName;
use drover_core::sim::Stuck;

const MARGINALS: &str = "dolly.marginals";
const FIG7: &str = "dolly.fig7";
const FIG9: &str = "dolly.fig9";
/// Names of the rows.
pub(super) const ROWS: &[&str] = &[MARGINALS, FIG7, FIG9];

fn policies(assumed: Assumed) -> Vec<(&'static str, EngineParams)> {
    vec![
        ("late", paper(PolicyName::Late)),
        ("mantri", paper(PolicyName::Mantri)),
        ("dolly", dolly(assumed, |_| {})),
        (IDEAL, paper(PolicyName::None)),
    ]
}

fn rows() -> Vec<Row<Both>> {
    [mixes(), potentials(), fig7(), fig7_beside(), fig9()].into_iter().flatten().collect()
}

/// How near the jobs come to the traces' marginals.
fn mixes() -> Vec<Row<Both>> {
    fn sure(value: f64) -> Option<Interval> {
        Some(Interval { mean: value, low: value, high: value })
    }
    fn tiny(mix: Mix) -> Option<Interval> {
        let jobs = mix.jobs();
        sure(100.0 * jobs.iter().filter(|(_, tasks)| *tasks <= 10).count() as f64 / jobs.len() as f64)
    }
    vec![
        row(
            MARGINALS,
            "Facebook: jobs of at most 10 tasks",
            82.0,
            "%",
            |_| tiny(Mix::Facebook),
            |value| (81.0..=83.0).contains(&value),
        ),
        row(
            MARGINALS,
            "Bing: jobs of at most 10 tasks",
            61.0,
            "%",
            |_| tiny(Mix::Bing),
            |value| (60.0..=62.0).contains(&value),
        ),
        row(
            MARGINALS,
            "Facebook: resources of the smallest 90 %",
            6.0,
            "%",
            |_| sure(100.0 * used_by_smallest(Mix::Facebook, 0.9)),
            |value| (4.8..=7.2).contains(&value),
        ),
        row(
            MARGINALS,
            "Bing: resources of the smallest 90 %",
            11.0,
            "%",
            |_| sure(100.0 * used_by_smallest(Mix::Bing, 0.9)),
            |value| (8.8..=13.2).contains(&value),
        ),
    ]
}

/// The same of their stragglers under LATE and Mantri.
fn potentials() -> Vec<Row<Both>> {
    vec![
        row(
            MARGINALS,
            "Facebook, bin 1 under LATE: to gain",
            49.0,
            "%",
            |both| both.facebook.potential("late", TINY),
            |value| (44.0..=54.0).contains(&value),
        ),
        row(
            MARGINALS,
            "Bing, bin 1 under Mantri: to gain",
            38.0,
            "%",
            |both| both.bing.potential("mantri", TINY),
            |value| (34.0..=42.0).contains(&value),
        ),
        row(
            MARGINALS,
            "Facebook, all jobs under LATE: to gain",
            47.0,
            "%",
            |both| both.facebook.potential("late", ALL),
            |value| (42.0..=52.0).contains(&value),
        ),
        row(
            MARGINALS,
            "Bing, all jobs under Mantri: to gain",
            29.0,
            "%",
            |both| both.bing.potential("mantri", ALL),
            |value| (26.0..=32.0).contains(&value),
        ),
        row(
            MARGINALS,
            "Facebook, bin 1: slowest task over the median one under LATE, p90 of phases",
            8.0,
            "ratio",
            |both| both.facebook.slowest("late", 0.9),
            |value| (6.0..=9.0).contains(&value),
        ),
        row(
            MARGINALS,
            "Facebook, bin 1: the same under Mantri",
            7.0,
            "ratio",
            |both| both.facebook.slowest("mantri", 0.9),
            |value| (5.6..=8.4).contains(&value),
        ),
    ]
}

fn fig7() -> Vec<Row<Both>> {
    vec![
        faster("Facebook, bin 1: faster than LATE", 46.0, |both| both.facebook.gain("dolly", "late", TINY)),
        faster("Facebook, bin 1: faster than Mantri", 44.0, |both| both.facebook.gain("dolly", "mantri", TINY)),
        faster("Bing, bin 1: faster than LATE", 37.0, |both| both.bing.gain("dolly", "late", TINY)),
        faster("Bing, bin 1: faster than Mantri", 34.0, |both| both.bing.gain("dolly", "mantri", TINY)),
        faster("Facebook, all jobs: faster than LATE", 42.0, |both| both.facebook.gain("dolly", "late", ALL)),
        faster("Facebook, all jobs: faster than Mantri", 40.0, |both| both.facebook.gain("dolly", "mantri", ALL)),
        faster("Bing, all jobs: faster than LATE", 27.0, |both| both.bing.gain("dolly", "late", ALL)),
        faster("Bing, all jobs: faster than Mantri", 23.0, |both| both.bing.gain("dolly", "mantri", ALL)),
    ]
}

/// So much faster than another policy.
fn faster(quantity: &'static str, published: f64, measure: fn(&Both) -> Option<Interval>) -> Row<Both> {
    row(FIG7, quantity, published, "%", measure, |gain| gain > 5.0)
}

/// What is told beside the figure: what is left to gain, what it costs, and what is no difference.
fn fig7_beside() -> Vec<Row<Both>> {
    vec![
        row(
            FIG7,
            "Facebook, bin 1: short of its ideal against LATE",
            None,
            "points",
            |both| short(&both.facebook),
            |points| points.abs() <= 8.0,
        ),
        row(
            FIG7,
            "Bing, bin 1: short of its ideal against LATE",
            None,
            "points",
            |both| short(&both.bing),
            |points| points.abs() <= 8.0,
        ),
        row(
            FIG7,
            "Facebook, bin 1: short of runs in which all have median luck",
            None,
            "points",
            |both| both.facebook.ahead(IDEAL, "dolly", "late", TINY),
            |points| points.abs() <= 8.0,
        ),
        row(
            FIG7,
            "Bing, bin 1: short of runs in which all have median luck",
            None,
            "points",
            |both| both.bing.ahead(IDEAL, "dolly", "late", TINY),
            |points| points.abs() <= 8.0,
        ),
        row(
            FIG7,
            "Facebook: container time more than LATE's",
            5.0,
            "%",
            |both| both.facebook.costs("dolly", "late"),
            |more| more < 5.0,
        ),
        row(
            FIG7,
            "null: LATE, Facebook, bin 1, against itself with other draws",
            None,
            "%",
            |both| both.facebook.null("late", TINY),
            |gain| gain.abs() < 5.0,
        ),
        row(
            FIG7,
            "null: LATE, Bing, all jobs, against itself with other draws",
            None,
            "%",
            |both| both.bing.null("late", ALL),
            |gain| gain.abs() < 5.0,
        ),
    ]
}

/// Points of the potential under LATE that Dolly does not gain.
fn short(runs: &super::runs::Runs) -> Option<Interval> {
    let (ideal, gain) = (runs.potential("late", TINY)?, runs.gain("dolly", "late", TINY)?);
    let points = ideal.mean - gain.mean;
    Some(Interval { mean: points, low: ideal.low - gain.high, high: ideal.high - gain.low })
}

fn fig9() -> Vec<Row<Both>> {
    vec![
        row(
            FIG9,
            "Facebook, bin 1: slowest task over the median one under Dolly, p50 of phases",
            1.06,
            "ratio",
            |both| both.facebook.slowest("dolly", 0.5),
            |ratio| ratio <= 1.15,
        ),
        row(
            FIG9,
            "Facebook, bin 1: the same, p95",
            1.17,
            "ratio",
            |both| both.facebook.slowest("dolly", 0.95),
            |ratio| ratio <= 1.5,
        ),
        row(
            FIG9,
            "Bing, bin 1: the same, p50",
            1.06,
            "ratio",
            |both| both.bing.slowest("dolly", 0.5),
            |ratio| ratio <= 1.15,
        ),
        row(
            FIG9,
            "Facebook, bin 1: the same under LATE, p50",
            5.0,
            "ratio",
            |both| both.facebook.slowest("late", 0.5),
            |ratio| ratio > 2.0,
        ),
    ]
}

pub(super) fn run(effort: Effort) -> Result<Vec<Finding>, Stuck> {
    let played = play_all(policies, effort)?;
    Ok(compare(&rows(), &played))
}
