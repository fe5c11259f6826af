//! The rows of Figs. 21 to 23, and how near the workload comes to what the paper prints of recomputes.

use super::averted::Runs;
use super::recompute::Assumed;
use super::recompute::Scheme::{AfterTwo, Ideal, Mantri, Nothing, Null, PreComputation, Replication};
use crate::simulation::reproduce::rows::{Row, compare, row};
use crate::simulation::reproduce::{Effort, Finding};
use drover_core::sim::Stuck;

const MARGINALS: &str = "mantri.recomputes";
const FIG21: &str = "mantri.fig21";
const FIG22: &str = "mantri.fig22";
const FIG23: &str = "mantri.fig23";
/// Names of the rows.
pub(super) const ROWS: &[&str] = &[MARGINALS, FIG21, FIG22, FIG23];

fn gains(percent: f64) -> bool {
    percent > 0.0
}

fn few(percent: f64) -> bool {
    percent < 5.0
}

fn told(_: f64) -> bool {
    true
}

fn marginals() -> Vec<Row<Runs>> {
    vec![
        row(
            MARGINALS,
            "Fig. 2: phases that see recomputes",
            1.0,
            "%",
            |runs| runs.each(|one| one.phases_hit()),
            |percent| (0.5..=2.0).contains(&percent),
        ),
        row(
            MARGINALS,
            "§4.2: recomputes on the 5 % of machines with most",
            50.0,
            "%",
            |runs| runs.each(|one| one.on_few_machines()),
            |percent| (40.0..=60.0).contains(&percent),
        ),
        row(
            MARGINALS,
            "§4.2, Fig. 7: recomputes within 5 min of another of their machine, times as many as by chance",
            None,
            "times",
            |runs| runs.each(|one| one.clustered()),
            |times| times > 1.0,
        ),
        row(
            MARGINALS,
            "jobs that recompute: more time than if nothing were lost, p50",
            None,
            "%",
            |runs| runs.each(|one| one.delayed(0.5)),
            gains,
        ),
    ]
}

fn fig21() -> Vec<Row<Runs>> {
    vec![
        row(FIG21, "Mantri: less time, p50 of jobs", 20.0, "%", |runs| runs.each(|one| one.faster(Mantri, 0.5)), gains),
        row(FIG21, "Mantri: the same, p75", 40.0, "%", |runs| runs.each(|one| one.faster(Mantri, 0.75)), gains),
        row(FIG21, "IdealRecompute: the same, p50", 20.0, "%", |runs| runs.each(|one| one.faster(Ideal, 0.5)), gains),
        row(FIG21, "IdealRecompute: the same, p75", 40.0, "%", |runs| runs.each(|one| one.faster(Ideal, 0.75)), gains),
        row(
            FIG21,
            "Mantri behind IdealRecompute, p50",
            0.0,
            "points",
            |runs| runs.each(|one| Some(one.faster(Ideal, 0.5)? - one.faster(Mantri, 0.5)?)),
            few,
        ),
        row(
            FIG21,
            "Mantri behind IdealRecompute, p75",
            0.0,
            "points",
            |runs| runs.each(|one| Some(one.faster(Ideal, 0.75)? - one.faster(Mantri, 0.75)?)),
            few,
        ),
    ]
}

/// Jobs that are picked because they recompute do so seldom with other losses, so that of them even no difference looks like a gain.
fn nulls() -> Vec<Row<Runs>> {
    vec![
        row(
            FIG21,
            "null: nothing done, against itself with other losses: less time, mean of all jobs",
            None,
            "%",
            |runs| runs.each(|one| one.faster_on_average(Null)),
            |gain| gain.abs() < 5.0,
        ),
        row(
            FIG21,
            "null: the same of the jobs that recompute, p50",
            None,
            "%",
            |runs| runs.each(|one| one.faster(Null, 0.5)),
            told,
        ),
    ]
}

fn fig22() -> Vec<Row<Runs>> {
    vec![
        row(
            FIG22,
            "Mantri: recomputes that are gone, median job",
            78.0,
            "%",
            |runs| runs.each(|one| one.gone(Mantri, 0.5)),
            |percent| percent > 50.0,
        ),
        row(FIG22, "Mantri: the same, all jobs", None, "%", |runs| runs.each(|one| one.gone_of_all(Mantri)), gains),
        row(
            FIG22,
            "of these by replication",
            66.7,
            "%",
            |runs| runs.each(|one| one.by_replicas()),
            |percent| percent > 50.0,
        ),
        row(
            FIG22,
            "replication alone: recomputes that are gone, all jobs",
            None,
            "%",
            |runs| runs.each(|one| one.gone_of_all(Replication)),
            gains,
        ),
        row(
            FIG22,
            "pre-computation alone: the same",
            None,
            "%",
            |runs| runs.each(|one| one.gone_of_all(PreComputation)),
            gains,
        ),
    ]
}

fn fig23() -> Vec<Row<Runs>> {
    vec![
        row(FIG23, "Mantri: copied, of all that is read", None, "%", |runs| runs.each(|one| one.traffic()), few),
        row(
            FIG23,
            "Mantri: containers' time beyond IdealRecompute's",
            None,
            "%",
            |runs| runs.each(|one| one.cluster_time(Mantri)),
            few,
        ),
        row(FIG23, "nothing done: the same", None, "%", |runs| runs.each(|one| one.cluster_time(Nothing)), told),
        row(
            FIG23,
            "§6.5: replicas that are read",
            84.0,
            "%",
            |runs| runs.each(|one| one.used(Mantri)),
            |percent| percent > 50.0,
        ),
        row(
            FIG23,
            "§6.5: pre-computed outputs that are needed, after one recompute",
            76.0,
            "%",
            |runs| runs.each(|one| one.needed(Mantri)),
            |percent| percent > 50.0,
        ),
        row(
            FIG23,
            "§6.5: the same, after two",
            93.0,
            "%",
            |runs| runs.each(|one| one.needed(AfterTwo)),
            |percent| percent > 50.0,
        ),
        row(
            FIG23,
            "§6.5: by how much more after two",
            17.0,
            "points",
            |runs| runs.each(|one| Some(one.needed(AfterTwo)? - one.needed(Mantri)?)),
            gains,
        ),
        row(
            FIG23,
            "outputs pre-computed in a run, after one",
            None,
            "outputs",
            |runs| runs.each(|one| one.precomputed(Mantri)),
            told,
        ),
    ]
}

pub(super) fn run(effort: Effort) -> Result<Vec<Finding>, Stuck> {
    let played = effort.under(Assumed::MAIN, Assumed::OTHERS, Runs::of)?;
    let rows = [marginals(), fig21(), nulls(), fig22(), fig23()];
    Ok(compare(&rows.into_iter().flatten().collect::<Vec<_>>(), &played))
}
