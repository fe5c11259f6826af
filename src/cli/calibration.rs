//! `drover calibration`: how good the estimators have proved to be.

use super::Common;
use super::client::Service;
use super::output::{self, Failure};
use crate::api::calibration::{AccuracyView, CalibrationView, RecordView};
use clap::Args;

const EXAMPLES: &str = "\
Asks the running service. Errors are relative to the time that was left: 0.5 is half of it. Of intervals 0.8 should hold the truth.

Examples:
  drover calibration                       every estimator, in all jobs
  drover calibration --kinds 10            and for the ten kinds of jobs last heard of
  drover calibration --json | jq '.kinds[].better_on_maps'";

/// `drover calibration`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Command {
    /// Show so many kinds of jobs, the one last heard of first
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1000))]
    kinds: Option<u16>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    service: Service,
}

impl Command {
    /// Runs it.
    pub async fn run(&self, common: &Common) -> Result<(), Failure> {
        let limit = self.kinds.map_or_else(String::new, |kinds| format!("?limit={kinds}"));
        let client = self.service.client(common)?;
        // The cluster itself would not do: only a service has watched tasks to their ends.
        let nobody = || {
            format!(
                "no service answers at {}; start one with `drover serve`, or name another with --service URL",
                client.base()
            )
        };
        let known: CalibrationView =
            client.get(&format!("api/v1/calibration{limit}")).await.map_err(|why| why.or(nobody))?;
        if self.json {
            return output::json(&known);
        }
        Ok(output::say(&text(&known, usize::from(self.kinds.unwrap_or(0))))?)
    }
}

fn text(known: &CalibrationView, kinds: usize) -> String {
    if known.overall.accuracies.is_empty() {
        return "nothing is known yet: no task that was noted on its way has ended".into();
    }
    let mut parts = vec![record("all jobs", &known.overall)];
    for kind in known.kinds.iter().take(kinds) {
        let better = [("maps", &kind.better_on_maps), ("reduces", &kind.better_on_reduces)];
        let better = better.into_iter().filter_map(|(tasks, better)| Some((tasks, better.as_ref()?)));
        let better: String = better.map(|(tasks, better)| format!("; on {tasks} {better} is better")).collect();
        parts.push(record(&format!("{} of {}{better}", kind.name, kind.user), &kind.record));
    }
    parts.join("\n\n")
}

fn record(heading: &str, record: &RecordView) -> String {
    let mut table = output::table(&[
        "KIND",
        "AT",
        "ESTIMATOR",
        "PREDICTIONS",
        "MEDIAN ERROR",
        "MEAN",
        "BIAS",
        "COVERAGE",
        "SPREAD",
        "PAIRS",
        "WRONG",
    ]);
    for accuracy in &record.accuracies {
        table.add_row(row(accuracy));
    }
    format!("{heading}\n{table}")
}

fn row(of: &AccuracyView) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(|| "-".into(), |value| format!("{value:.2}"));
    let words = [&of.kind, &of.point, &of.estimator].map(String::clone);
    let errors = [of.median_error, of.mean_error, of.bias, of.coverage, of.spread].map(number);
    let pairs = [of.pairs.to_string(), number(of.wrong_orderings)];
    words.into_iter().chain([of.predictions.to_string()]).chain(errors).chain(pairs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::fixture::watched;

    #[test]
    fn each_estimator_has_a_row_of_numbers_and_kinds_are_shown_where_asked_for() {
        let known = CalibrationView::of(&watched().engine, 10);
        let alone = text(&known, 0);
        let row = alone.lines().find(|line| line.contains("half") && line.contains("phase-aware")).unwrap();
        let row: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(row[..4], ["map", "half", "phase-aware", "9"]);
        assert_eq!(row[row.len() - 2..], ["0", "-"], "the job has not ended: {row:?}");
        assert!(!alone.contains("slow of ann") && text(&known, 1).contains("slow of ann"));
    }

    #[test]
    fn without_evidence_it_says_so() {
        let engine = drover_core::engine::Engine::new(drover_core::engine::EngineParams::default());
        assert!(text(&CalibrationView::of(&engine, 10), 1).starts_with("nothing is known yet"));
    }
}
