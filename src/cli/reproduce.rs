//! `drover reproduce`: the papers' numbers beside ours.

use super::bar::Bar;
use super::interrupt::stop_on_ctrl_c;
use super::output::{self, Exit, Failure};
use super::reproduce_kept::Kept;
use super::reproduced::{markdown, text};
use crate::simulation::reproduce::{Effort, Experiment, Finding, all, digest};
use crate::words;
use clap::Args;
use drover_core::model::Millis;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Seeds of each set of assumptions beside the main one, at most: there may be seventy, and their means are asked for.
const OTHERS_MOST: u64 = 4;

const EXAMPLES: &str = "\
Verdicts: exact (the same digits), within (the published value is within 20 % of ours, and half of our interval at most 10 %), direction (what the paper says \
of it holds), not_reproduced. The last column is the share of what the paper leaves open under which it is reproduced.

Examples:
  drover reproduce late                     all of one paper
  drover reproduce late.fig2 dolly.fig5     some experiments
  drover reproduce mantri.fig16             the rows of that name, of the experiment that has them
  drover reproduce all --seeds 50 --json
  drover reproduce all --markdown reproduction.md --keep reproduction.jsonl
                                            hours; a second start carries on where the first ended";

/// `drover reproduce`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Command {
    /// Experiments: late, mantri, dolly, all, one of those that `--list` names, or of their rows
    #[arg(default_values = ["all"])]
    experiments: Vec<String>,
    /// Name the experiments, and run none
    #[arg(long)]
    list: bool,
    /// Seeds of the main set of assumptions, of which some experiments get a multiple, as `--list` tells; the others get a fifth of them, four at most, and where that is one, no size is within there and nulls, of two seeds each, tell nothing
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(2..=10_000))]
    seeds: u64,
    /// Write a document in Markdown, too
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Keep what ended experiments found, a line of JSON each; of these the same program with as many seeds runs none again
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// In JSON, tell of each number what comes of it where something else is assumed
    #[arg(long, requires = "json")]
    choices: bool,
}

impl Command {
    /// Runs it.
    pub fn run(&self) -> Result<(), Failure> {
        if self.list {
            return self.list();
        }
        if let Some(unknown) = self.experiments.iter().find(|name| !all().iter().any(|one| one.is_meant(name))) {
            let words = format!("no experiment is named {unknown}; `drover reproduce --list` names them");
            return Err(Failure::new(Exit::Usage, words));
        }
        let is_asked = |one: &Experiment| self.experiments.iter().any(|name| one.is_meant(name));
        let asked: Vec<Experiment> = all().into_iter().filter(is_asked).collect();
        let (kept, broken) = self.kept(&asked)?;
        let shown = |one: &Experiment| Some((*one, shown(one, kept.of(one.name)?, &self.experiments)));
        let ended: Vec<(Experiment, Vec<Finding>)> = asked.iter().filter_map(shown).collect();
        let missing = asked.len() - ended.len();
        if let Some(file) = self.markdown.as_ref().filter(|_| missing == 0) {
            let assumptions = digest().map_err(|stuck| failed(stuck.to_string()))?;
            write(file, &markdown(&ended, self.seeds, &assumptions))?;
        }
        if self.json {
            output::json(&told(&ended, self.choices))?;
        } else {
            output::say(&text(&ended))?;
        }
        let unwritten = if self.markdown.is_some() { ", and no document was written" } else { "" };
        shortfall(&broken, &format!("{missing} of {} experiments are missing{unwritten}", asked.len()), missing)
    }

    fn list(&self) -> Result<(), Failure> {
        if self.json {
            let rows = all().into_iter().map(|one| {
                json!({
                    "experiment": one.name, "about": one.about, "slowness": one.slowness, "calibrated": one.calibrated, "rows": one.rows,
                })
            });
            return output::json(&rows.collect::<Vec<_>>());
        }
        let mut table = output::table(&["experiment", "what it is", "its rows, where they have names of their own"]);
        for one in all() {
            table.add_row([one.name.to_owned(), one.summary(), one.rows.join(" ")]);
        }
        Ok(output::say(&table.to_string())?)
    }

    /// What the experiments found until Ctrl-C, and why others found nothing: these take nothing from the rest, which may have run for hours.
    fn kept(&self, asked: &[Experiment]) -> Result<(Kept, Vec<String>), Failure> {
        let mut kept = Kept::open(self.keep.as_deref(), self.seeds)?;
        let mine: Vec<Experiment> = asked.iter().filter(|one| kept.of(one.name).is_none()).copied().collect();
        let (mut missing, mut broken) = (mine.len(), Vec::new());
        let (stop, bar) = (stop_on_ctrl_c()?, Arc::new(Bar::new()));
        let (tell, told) = mpsc::channel();
        let (shown, seeds) = (Arc::clone(&bar), self.seeds);
        // On a thread of its own, as one may take minutes: who interrupts does not want to wait for its end.
        std::thread::spawn(move || {
            let effort = Effort { seeds, seeds_of_others: seeds.div_ceil(5).min(OTHERS_MOST), progress: &*shown };
            for (nth, one) in mine.into_iter().enumerate() {
                let began = Instant::now();
                shown.begin(one.name);
                let found = one.run(effort);
                shown.part_ended(&part(one.name, found.is_ok(), began.elapsed(), (nth + 1, missing)));
                if tell.send((one, found)).is_err() {
                    return;
                }
            }
        });
        while missing > 0 && !stop.load(Ordering::Relaxed) {
            match told.recv_timeout(Duration::from_millis(100)) {
                Ok((one, found)) => {
                    match found {
                        Ok(found) => kept.add(&one, found)?,
                        Err(stuck) => broken.push(format!("{}: {stuck}", one.name)),
                    }
                    missing -= 1;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    broken.push("an experiment broke off".to_owned());
                    break;
                }
            }
        }
        bar.end();
        Ok((kept, broken))
    }
}

/// Of what an experiment found the rows that are asked for.
fn shown(one: &Experiment, found: &[Finding], asked: &[String]) -> Vec<Finding> {
    found.iter().filter(|row| one.shows(&row.experiment, asked)).cloned().collect()
}

/// The rows as JSON has them.
fn told(ended: &[(Experiment, Vec<Finding>)], choices: bool) -> Vec<Finding> {
    let all = ended.iter().flat_map(|(_, found)| found);
    all.map(|one| if choices { one.clone() } else { one.without_choices() }).collect()
}

/// That an experiment has ended, as a line tells it: how many of those that are run have.
fn part(name: &str, is_whole: bool, took: Duration, (nth, all): (usize, usize)) -> String {
    let ended = if is_whole { "has ended" } else { "broke off" };
    let took = words::span(Millis(u64::try_from(took.as_millis()).unwrap_or(u64::MAX)));
    format!("{name} {ended} after {took}: {nth} of {all} experiments")
}

/// That so many experiments are missing, in words, as some broke off or the user did not wait for them.
fn shortfall(broken: &[String], words: &str, missing: usize) -> Result<(), Failure> {
    match broken {
        _ if missing == 0 => Ok(()),
        [] => Err(Failure::new(Exit::Interrupted, format!("interrupted: {words}"))),
        _ => Err(failed(format!("{}; {words}", broken.join("; ")))),
    }
}

fn write(file: &Path, page: &str) -> Result<(), Failure> {
    std::fs::write(file, page).map_err(|error| failed(format!("{}: {error}", file.display())))
}

fn failed(words: String) -> Failure {
    Failure::new(Exit::Failed, words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use std::collections::BTreeSet;

    fn found(name: &str) -> Finding {
        let row = json!({
            "experiment": name, "quantity": "a", "published": null, "measured": 1.0, "low": 1.0, "high": 1.0, "unit": "%", "verdict": "direction",
            "share_of_assumptions": 1.0, "choices": [{"assumed": "load 0.4", "measured": 2.0, "verdict": "direction"}],
        });
        serde_json::from_value(row).unwrap()
    }

    #[test]
    fn an_experiment_that_broke_off_is_named_and_is_no_interrupt() {
        let told = |broken: &[&str], missing| {
            let broken: Vec<String> = broken.iter().map(|one| (*one).to_owned()).collect();
            shortfall(&broken, "1 of 2 experiments are missing", missing).map_err(|told| (told.exit, told.message))
        };
        let stuck = "late.s54: cap 0.2 with seed 3: jobs wait";
        assert_eq!(told(&[], 0), Ok(()));
        assert_eq!(told(&[], 1), Err((Exit::Interrupted, "interrupted: 1 of 2 experiments are missing".to_owned())));
        assert_eq!(told(&[stuck], 1), Err((Exit::Failed, format!("{stuck}; 1 of 2 experiments are missing"))));
    }

    #[test]
    fn a_line_for_an_experiment_that_ended_tells_how_long_it_took_and_how_many_are_done() {
        let told = |is_whole| part("late.s54", is_whole, Duration::from_millis(123_456), (3, 14));
        let after = "after 2 min 03 s: 3 of 14 experiments";
        assert_eq!(
            [true, false].map(told),
            [format!("late.s54 has ended {after}"), format!("late.s54 broke off {after}")]
        );
    }

    #[test]
    fn a_row_is_asked_for_by_its_name_and_tells_what_else_is_assumed_only_where_that_is_asked_for() {
        let one = all().into_iter().find(|one| one.is_meant("mantri.fig16")).unwrap();
        let found = [found("mantri.fig16"), found("mantri.fig17")];
        let ask = |name: &str| vec![(one, shown(&one, &found, &[name.to_owned()]))];
        let keys = |choices| {
            let told = serde_json::to_value(told(&ask("mantri.fig16"), choices)).unwrap();
            let rows: Vec<Value> = serde_json::from_value(told).unwrap();
            assert_eq!((rows.len(), &rows[0]["experiment"]), (1, &"mantri.fig16".into()));
            rows[0].as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>()
        };
        let nine = [
            "experiment",
            "quantity",
            "published",
            "measured",
            "low",
            "high",
            "unit",
            "verdict",
            "share_of_assumptions",
        ];
        let nine = BTreeSet::from(nine.map(str::to_owned));
        assert_eq!(keys(false), nine);
        assert_eq!(&keys(true) - &nine, BTreeSet::from(["choices".to_owned()]));
        assert_eq!(told(&ask("mantri.s63"), false).len(), 2);
    }
}
