//! §5.4 and §5.5: how large the cloning budget must be (Figs. 14 and 15), and who is given it (Fig. 16).

use super::runs::{ALL, Both, TINY, dolly, paper, play_all};
use super::workload::Assumed;
use crate::simulation::reproduce::rows::{Row, compare};
use crate::simulation::reproduce::{Effort, Finding};
use drover_core::engine::EngineParams;
use drover_core::policy::PolicyName;
use drover_core::policy::dolly::Admission;
use drover_core::sim::Stuck;

const FIG14: &str = "dolly.fig14";
const FIG15: &str = "dolly.fig15";
const FIG16: &str = "dolly.fig16";
/// Names of the rows of the sweep.
pub(super) const OF_SWEEP: &[&str] = &[FIG14, FIG15];
/// Names of those of admission.
pub(super) const OF_ADMISSION: &[&str] = &[FIG16];

fn budgets(assumed: Assumed) -> Vec<(&'static str, EngineParams)> {
    let of = |beta| dolly(assumed, |dolly| dolly.beta = beta);
    vec![
        ("late", paper(PolicyName::Late)),
        ("1 %", of(0.01)),
        ("2 %", of(0.02)),
        ("3 %", of(0.03)),
        ("5 %", of(0.05)),
        ("10 %", of(0.1)),
        ("12 %", of(0.12)),
        ("15 %", of(0.15)),
    ]
}

const OF_BUDGETS: [Row<Both>; 13] = [
    Row {
        experiment: FIG14,
        quantity: "Facebook, all jobs: faster than LATE at 3 %",
        published: Some(38.0),
        unit: "%",
        measure: |both| both.facebook.gain("3 %", "late", ALL),
        holds: |gain| gain > 5.0,
    },
    Row {
        experiment: FIG14,
        quantity: "Bing, bin 1: faster than LATE at 3 %",
        published: Some(28.0),
        unit: "%",
        measure: |both| both.bing.gain("3 %", "late", TINY),
        holds: |gain| gain > 5.0,
    },
    Row {
        experiment: FIG14,
        quantity: "Facebook, bin 1: ahead at 5 % of 3 %, little",
        published: None,
        unit: "points",
        measure: |both| both.facebook.ahead("5 %", "3 %", "late", TINY),
        holds: |points| points.abs() <= 5.0,
    },
    Row {
        experiment: FIG14,
        quantity: "Bing, bin 1: ahead at 5 % of 3 %",
        published: Some(7.0),
        unit: "points",
        measure: |both| both.bing.ahead("5 %", "3 %", "late", TINY),
        holds: |points| points > 0.0,
    },
    Row {
        experiment: FIG15,
        quantity: "Facebook, all jobs: ahead at 3 % of 1 %, which is too little",
        published: None,
        unit: "points",
        measure: |both| both.facebook.ahead("3 %", "1 %", "late", ALL),
        holds: |points| points > 5.0,
    },
    Row {
        experiment: FIG15,
        quantity: "Bing, all jobs: ahead at 3 % of 1 %, which is too little",
        published: None,
        unit: "points",
        measure: |both| both.bing.ahead("3 %", "1 %", "late", ALL),
        holds: |points| points > 5.0,
    },
    Row {
        experiment: FIG15,
        quantity: "Facebook, all jobs: ahead at 10 % of 5 %, the plateau",
        published: None,
        unit: "points",
        measure: |both| both.facebook.ahead("10 %", "5 %", "late", ALL),
        holds: |points| points.abs() <= 4.0,
    },
    Row {
        experiment: FIG15,
        quantity: "Bing, bin 1: ahead at 10 % of 5 %, the plateau",
        published: None,
        unit: "points",
        measure: |both| both.bing.ahead("10 %", "5 %", "late", TINY),
        holds: |points| points.abs() <= 4.0,
    },
    Row {
        experiment: FIG15,
        quantity: "Bing, all jobs: ahead at 10 % of 5 %, still growing",
        published: None,
        unit: "points",
        measure: |both| both.bing.ahead("10 %", "5 %", "late", ALL),
        holds: |points| points > 0.0,
    },
    Row {
        experiment: FIG15,
        quantity: "Facebook, all jobs: ahead at 2 %, which is needed, of 1 %",
        published: None,
        unit: "points",
        measure: |both| both.facebook.ahead("2 %", "1 %", "late", ALL),
        holds: |points| points > 5.0,
    },
    Row {
        experiment: FIG15,
        quantity: "Bing, all jobs: ahead at 3 %, which is needed, of 2 %",
        published: None,
        unit: "points",
        measure: |both| both.bing.ahead("3 %", "2 %", "late", ALL),
        holds: |points| points > 5.0,
    },
    Row {
        experiment: FIG15,
        quantity: "Bing, all jobs: ahead at 15 % of 12 %, the plateau",
        published: None,
        unit: "points",
        measure: |both| both.bing.ahead("15 %", "12 %", "late", ALL),
        holds: |points| points.abs() <= 2.0,
    },
    Row {
        experiment: FIG15,
        quantity: "null: LATE, Bing, all jobs, against itself with other draws",
        published: None,
        unit: "%",
        measure: |both| both.bing.null("late", ALL),
        holds: |gain| gain.abs() < 5.0,
    },
];

pub(super) fn sweep(effort: Effort) -> Result<Vec<Finding>, Stuck> {
    let played = play_all(budgets, effort)?;
    Ok(compare(&OF_BUDGETS, &played))
}

fn admissions(assumed: Assumed) -> Vec<(&'static str, EngineParams)> {
    let of = |admission| dolly(assumed, |dolly| dolly.admission = admission);
    vec![
        ("late", paper(PolicyName::Late)),
        ("admission", of(Admission::AllOrNothing)),
        ("preemption", of(Admission::Preempt)),
        ("first come", of(Admission::FirstCome)),
    ]
}

/// Preemption is ahead in print, by 1 and 2 points.
fn ahead_a_little(points: f64) -> bool {
    points > 0.0 && points <= 5.0
}

/// "8-9 %" are a size alone, of which no sign or order is said: so from half of it to twice.
fn about_as_many(percent: f64) -> bool {
    (4.0..=18.0).contains(&percent)
}

const OF_ADMISSIONS: [Row<Both>; 9] = [
    Row {
        experiment: FIG16,
        quantity: "Facebook, all jobs: faster than LATE with preemption",
        published: Some(43.0),
        unit: "%",
        measure: |both| both.facebook.gain("preemption", "late", ALL),
        holds: |gain| gain > 5.0,
    },
    Row {
        experiment: FIG16,
        quantity: "Bing, all jobs: faster than LATE with preemption",
        published: Some(29.0),
        unit: "%",
        measure: |both| both.bing.gain("preemption", "late", ALL),
        holds: |gain| gain > 5.0,
    },
    Row {
        experiment: FIG16,
        quantity: "Facebook, all jobs: preemption ahead of admission, little",
        published: Some(1.0),
        unit: "points",
        measure: |both| both.facebook.ahead("preemption", "admission", "late", ALL),
        holds: ahead_a_little,
    },
    Row {
        experiment: FIG16,
        quantity: "Bing, all jobs: preemption ahead of admission, little",
        published: Some(2.0),
        unit: "points",
        measure: |both| both.bing.ahead("preemption", "admission", "late", ALL),
        holds: ahead_a_little,
    },
    Row {
        experiment: FIG16,
        quantity: "Facebook: copies preempted for each task",
        published: Some(8.0),
        unit: "%",
        measure: |both| both.facebook.withdrawn("preemption"),
        holds: about_as_many,
    },
    Row {
        experiment: FIG16,
        quantity: "Bing: copies preempted for each task",
        published: Some(9.0),
        unit: "%",
        measure: |both| both.bing.withdrawn("preemption"),
        holds: about_as_many,
    },
    Row {
        experiment: FIG16,
        quantity: "Facebook, bin 1: admission ahead of first come",
        published: None,
        unit: "points",
        measure: |both| both.facebook.ahead("admission", "first come", "late", TINY),
        holds: |points| points > 0.0,
    },
    Row {
        experiment: FIG16,
        quantity: "Facebook, all jobs: admission ahead of first come",
        published: Some(14.0),
        unit: "points",
        measure: |both| both.facebook.ahead("admission", "first come", "late", ALL),
        holds: |points| points > 0.0,
    },
    Row {
        experiment: FIG16,
        quantity: "null: LATE, Facebook, all jobs, against itself with other draws",
        published: None,
        unit: "%",
        measure: |both| both.facebook.null("late", ALL),
        holds: |gain| gain.abs() < 5.0,
    },
];

pub(super) fn admission(effort: Effort) -> Result<Vec<Finding>, Stuck> {
    let played = play_all(admissions, effort)?;
    Ok(compare(&OF_ADMISSIONS, &played))
}
