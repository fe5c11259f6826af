//! The tables that are told of a simulation: the same on a terminal and in a report.

use super::against::Against;
use super::measures::{KEPT, SHARES};
use super::summary::{PolicySummary, Spread};
use super::told::Told;
use crate::stats::Interval;
use drover_core::estimate::Estimator;
use std::collections::BTreeMap;

/// A table: cells are as they are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// What it is of, with its unit.
    pub title: String,
    /// Above each column.
    pub heading: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
}

/// All of them.
pub fn tables(told: &Told) -> Vec<Table> {
    let compared: Vec<(&str, &Against)> =
        told.policies.iter().filter_map(|one| Some((one.policy.as_str(), one.against.as_ref()?))).collect();
    let beside = (!compared.is_empty()).then(|| [reductions(told, &compared), more(told, &compared)]);
    let all = [times(&told.policies), costs(&told.policies)].into_iter().chain(beside.into_iter().flatten());
    all.chain(kept(&told.policies)).chain(estimates(&told.policies)).chain(held_out(&told.policies)).collect()
}

/// What was done so that no reader waits for lost outputs, where any policy did any of it.
fn kept(policies: &[PolicySummary]) -> Option<Table> {
    let any = |one: &&PolicySummary| KEPT.iter().any(|(key, _)| one.costs.contains_key(*key));
    let row = |one: &PolicySummary| {
        [one.policy.clone()].into_iter().chain(KEPT.map(|(key, _)| with_half(one.costs.get(key)))).collect()
    };
    let rows: Vec<_> = policies.iter().filter(any).map(row).collect();
    let heading = heading(&["policy"], KEPT.into_iter().map(|(_, name)| name));
    let title = "Outputs of maps kept twice, or computed anew before they were missed, of a run:";
    (!rows.is_empty()).then(|| Table { title: title.into(), heading, rows })
}

/// How good estimates were, where any policy had one made.
fn estimates(policies: &[PolicySummary]) -> Option<Table> {
    let row = |one: &PolicySummary, kind: &str, errors: &BTreeMap<String, Interval>| {
        let errors = Estimator::ALL.map(|estimator| with_half(errors.get(estimator.label())));
        [one.policy.clone(), kind.to_owned()].into_iter().chain(errors).collect::<Vec<_>>()
    };
    let all =
        policies.iter().flat_map(|one| one.estimate_medians.iter().map(move |(kind, errors)| (one, kind, errors)));
    let rows: Vec<_> = all.map(|(one, kind, errors)| row(one, kind, errors)).collect();
    let heading = heading(&["policy", "of"], Estimator::ALL.into_iter().map(Estimator::label));
    let title =
        "How far estimates of the time left were off at half of the progress, percent of what was left, median:";
    (!rows.is_empty()).then(|| Table { title: title.into(), heading, rows })
}

/// What hold-outs show, where any job was held out.
fn held_out(policies: &[PolicySummary]) -> Option<Table> {
    let percent = |share: Option<f64>| share.map_or_else(|| "-".into(), |share| format!("{:.0}", 100.0 * share));
    let row = |one: &PolicySummary| {
        let held = one.holdout.as_ref()?;
        let change =
            held.change.map(|one| Interval { mean: 100.0 * one.mean, low: 100.0 * one.low, high: 100.0 * one.high });
        Some(vec![
            one.policy.clone(),
            percent(Some(held.share)),
            held.runs.to_string(),
            held.too_few.to_string(),
            with_half(change.as_ref()),
            percent(held.covers_none),
            percent(held.shows_gain),
        ])
    };
    let rows: Vec<_> = policies.iter().filter_map(row).collect();
    let heading = heading(
        &["policy", "held out", "runs", "too few", "change", "covers none", "shows a gain"],
        std::iter::empty(),
    );
    let title = "What jobs that are held out show beside the others of their name and size, percent:";
    (!rows.is_empty()).then(|| Table { title: title.into(), heading, rows })
}

/// The names of mean and quantiles, in the order of the columns.
pub fn points() -> impl Iterator<Item = &'static str> {
    ["mean"].into_iter().chain(SHARES.into_iter().map(|(name, _)| name))
}

/// A mean with half the width of its interval.
fn with_half(interval: Option<&Interval>) -> String {
    let Some(one) = interval else { return "-".into() };
    // Of one seed there is none, and of what never differs none is needed.
    if one.low == one.high {
        format!("{:.1}", one.mean)
    } else {
        format!("{:.1} ± {:.1}", one.mean, (one.high - one.low) / 2.0)
    }
}

fn cells(of: &BTreeMap<String, Interval>) -> impl Iterator<Item = String> {
    points().map(|key| with_half(of.get(key)))
}

fn heading(first: &[&'static str], others: impl Iterator<Item = &'static str>) -> Vec<String> {
    first.iter().copied().chain(others).map(str::to_owned).collect()
}

fn times(policies: &[PolicySummary]) -> Table {
    let row = |name: &str, of: &str, spread: &Spread| {
        [name.to_owned(), of.to_owned(), spread.count.to_string()].into_iter().chain(cells(&spread.of)).collect()
    };
    let mut rows = Vec::new();
    for one in policies {
        rows.push(row(&one.policy, "jobs", &one.jobs));
        for (bin, spread) in one.bins.iter().filter(|_| one.bins.len() > 1) {
            rows.push(row("", &format!("jobs of {bin} tasks"), spread));
        }
        rows.push(row("", "phases", &one.phases));
        for (bin, spread) in one.phase_bins.iter().filter(|_| one.phase_bins.len() > 1) {
            rows.push(row("", &format!("phases of jobs of {bin} tasks"), spread));
        }
        rows.extend(one.workflows.iter().map(|workflows| row("", "workflows", workflows)));
    }
    let title = "Time from arrival to end, of phases from first launch to last success, seconds:";
    Table { title: title.into(), heading: heading(&["policy", "of", "count"], points()), rows }
}

/// What is told of costs: the key in [`PolicySummary::costs`], and the column's name.
const COSTS: [(&str, &str); 6] = [
    ("container_seconds", "container-s"),
    ("wasted_seconds", "of these wasted"),
    ("copies", "copies"),
    ("copies_won", "won"),
    ("restarts", "restarts"),
    ("recomputed", "recomputed maps"),
];

/// The same of failures, told where anything can fail.
const FAILURES: [(&str, &str); 3] =
    [("failed_attempts", "failed attempts"), ("failed_jobs", "failed jobs"), ("jobs_never_came", "never came")];

fn costs(policies: &[PolicySummary]) -> Table {
    let told = |key: &str| policies.iter().any(|one| one.costs.contains_key(key));
    let failures: Vec<_> = FAILURES.into_iter().filter(|(key, _)| told(key)).collect();
    let keys = COSTS
        .into_iter()
        .chain(failures)
        .chain([("budget_mean_percent", "budget, %"), ("budget_peak_percent", "at most, %")]);
    let row = |one: &PolicySummary| {
        [one.policy.clone()].into_iter().chain(keys.clone().map(|(key, _)| with_half(one.costs.get(key)))).collect()
    };
    let title = "Costs of a run (budget: how much of the tightest was taken when a decision drew on it):";
    let heading = heading(&["policy"], keys.clone().map(|(_, name)| name));
    Table { title: title.into(), heading, rows: policies.iter().map(row).collect() }
}

fn reductions(told: &Told, compared: &[(&str, &Against)]) -> Table {
    let row = |name: &str, of: &str, what: &BTreeMap<String, Interval>| {
        [name.to_owned(), of.to_owned()].into_iter().chain(cells(what)).collect::<Vec<_>>()
    };
    let mut rows = Vec::new();
    for (policy, one) in compared {
        rows.push(row(policy, "jobs", &one.jobs));
        for (bin, of) in one.bins.iter().filter(|_| one.bins.len() > 1) {
            rows.push(row("", &format!("jobs of {bin} tasks"), of));
        }
        rows.push(row("", "each job by itself", &one.each_job));
        rows.push(row("", "phases", &one.phases));
        for (bin, of) in one.phase_bins.iter().filter(|_| one.phase_bins.len() > 1) {
            rows.push(row("", &format!("phases of jobs of {bin} tasks"), of));
        }
        rows.extend((!one.workflows.is_empty()).then(|| row("", "workflows", &one.workflows)));
    }
    let title = format!("Less than under {} with the same luck, percent:", told.baseline);
    Table { title, heading: heading(&["policy", "of"], points()), rows }
}

fn more(told: &Told, compared: &[(&str, &Against)]) -> Table {
    let row = |(policy, one): &(&str, &Against)| {
        let less_held = with_half(one.container_seconds.as_ref());
        let more = COSTS.into_iter().map(|(key, _)| with_half(one.more.get(key)));
        [(*policy).to_owned(), one.pairs.to_string()].into_iter().chain(more).chain([less_held]).collect()
    };
    let title = format!("More than under {} with the same luck, of a run:", told.baseline);
    let names = COSTS.into_iter().map(|(_, name)| name).chain(["container-s less, %"]);
    Table { title, heading: heading(&["policy", "seeds"], names), rows: compared.iter().map(row).collect() }
}
