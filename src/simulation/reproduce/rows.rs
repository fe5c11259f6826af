//! Rows of an experiment: the same numbers of the main set of assumptions and of the others.

use super::{Choice, Finding, Varied, Verdict, judge};
use crate::stats::Interval;

/// One number of a paper's, and how it is taken from runs.
pub struct Row<R> {
    /// Which experiment it belongs to.
    pub experiment: &'static str,
    /// What it is.
    pub quantity: &'static str,
    /// The paper's; absent where it says no number, only what holds.
    pub published: Option<f64>,
    /// Unit.
    pub unit: &'static str,
    /// Ours.
    pub measure: fn(&R) -> Option<Interval>,
    /// Does what the paper says of it hold?
    pub holds: fn(f64) -> bool,
}

/// One row; what the paper prints of it may be no number.
pub fn row<R>(
    experiment: &'static str,
    quantity: &'static str,
    published: impl Into<Option<f64>>,
    unit: &'static str,
    measure: fn(&R) -> Option<Interval>,
    holds: fn(f64) -> bool,
) -> Row<R> {
    Row { experiment, quantity, published: published.into(), unit, measure, holds }
}

/// Ours beside the published, with what comes of the other sets of assumptions, and the share of them that reproduce it; of none there is no share.
pub fn compare<R>(rows: &[Row<R>], played: &Varied<R>) -> Vec<Finding> {
    let found = rows.iter().filter_map(|row| {
        let ours = (row.measure)(&played.main)?;
        let verdict = |ours: Interval| judge(row.published, ours, (row.holds)(ours.mean));
        let choice = |(assumed, ran): &(String, R)| {
            let ours = (row.measure)(ran)?;
            Some(Choice { assumed: assumed.clone(), measured: ours.mean, verdict: verdict(ours) })
        };
        let choices: Vec<Choice> = played.others.iter().filter_map(choice).collect();
        let reproduced = choices.iter().filter(|choice| choice.verdict != Verdict::NotReproduced);
        let share = reproduced.count() as f64 / played.others.len() as f64;
        let share_of_assumptions = (!played.others.is_empty()).then_some(share);
        let found = Finding::new(row.experiment, row.quantity, row.published, ours, row.unit, verdict(ours));
        Some(Finding { share_of_assumptions, choices, ..found })
    });
    found.collect()
}
