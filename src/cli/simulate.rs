//! `drover simulate`: policies side by side in a simulated cluster.

use super::output::{self, Exit, Failure};
use super::words::policy;
use crate::simulation::stats::Interval;
use crate::simulation::summary::{Against, PolicySummary, Spread, summarise};
use crate::simulation::{Grid, Progress, file, play, traces};
use clap::Args;
use drover_core::engine::EngineParams;
use drover_core::policy::PolicyName;
use drover_core::sim::Scenario;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const EXAMPLES: &str = "\
The engine that decides is the service's own. Every policy meets the same luck: the same work, the same slow attempts, seed by seed; so differences between
policies are told with the interval that their pairs give. Ctrl-C keeps what is done.

Examples:
  drover simulate examples/one-slow-node.toml                              Drover against Hadoop's own speculator and none
  drover simulate examples/one-slow-node.toml --policy late,mantri --seeds 20
  drover simulate examples/one-slow-node.toml --preset paper --json | jq '.policies[].jobs.of.p90'";

/// `drover simulate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Command {
    /// The scenario, TOML
    scenario: PathBuf,
    /// Policies to compare, the baseline first: late, late-early, hadoop, hadoop-tuned, hadoop-0.20, mapreduce, dryad, mantri, dolly, drover, blacklist or none
    #[arg(long, value_delimiter = ',', value_parser = policy, default_values = ["none", "hadoop", "drover"])]
    policy: Vec<PolicyName>,
    /// How many seeds, from 1 on
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    seeds: u64,
    /// Run the jobs of a trace, too: job histories (.jhist, or a directory of them, with their confs), a CSV of attempts, Rumen's JSON, or SWIM's jobs; plain or gzipped
    #[arg(long, value_name = "PATH")]
    trace: Option<PathBuf>,
    /// Constants of the policies: Drover's own, or those of the papers
    #[arg(long, value_enum, default_value_t = Preset::Default)]
    preset: Preset,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Preset {
    Default,
    Paper,
}

/// What is printed as JSON.
#[derive(Debug, Serialize)]
struct Told<'a> {
    about: &'a str,
    slowness_is_tied_to: Vec<&'static str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    assumed: &'a [String],
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    repairs: &'a BTreeMap<String, u64>,
    seeds: u64,
    complete: bool,
    baseline: &'a str,
    policies: &'a [PolicySummary],
}

/// The bar, on a terminal.
struct Bar(ProgressBar);

impl Progress for Bar {
    fn done(&self) {
        self.0.inc(1);
    }
}

impl Command {
    /// Runs it.
    pub fn run(&self) -> Result<(), Failure> {
        let usage = |bad: &dyn std::fmt::Display| Failure::new(Exit::Usage, bad.to_string());
        let trace = self.trace.as_deref().map(traces::read).transpose().map_err(|bad| usage(&bad))?.unwrap_or_default();
        let (mut assumed, repairs) = (trace.assumed, trace.repairs);
        let scenario = file::read(&self.scenario, trace.jobs).map_err(|bad| usage(&bad))?;
        assumed.extend(traces::strays(&scenario));
        let params = |policy: PolicyName| match self.preset {
            Preset::Default => EngineParams { policy, ..EngineParams::default() },
            Preset::Paper => EngineParams::paper(policy),
        };
        let policies: Vec<_> = self.policy.iter().map(|policy| (policy.label().to_owned(), params(*policy))).collect();
        let names: Vec<String> = policies.iter().map(|(name, _)| name.clone()).collect();
        let grid = Grid { scenario: &scenario, policies, seeds: 1..self.seeds + 1 };
        let bar = bar(self.seeds * names.len() as u64);
        let stop = Arc::new(AtomicBool::new(false));
        stop_on_ctrl_c(&stop)?;
        let played =
            play(&grid, &stop, &Bar(bar.clone())).map_err(|stuck| Failure::new(Exit::Failed, stuck.to_string()))?;
        bar.finish_and_clear();
        let complete = played.len() as u64 == self.seeds * names.len() as u64;
        let summaries = summarise(&names, &names[0], &played);
        let told = Told {
            about: &scenario.about,
            slowness_is_tied_to: tied_to(&scenario),
            assumed: &assumed,
            repairs: &repairs,
            seeds: self.seeds,
            complete,
            baseline: &names[0],
            policies: &summaries,
        };
        if self.json { output::json(&told) } else { Ok(output::say(&text(&told))?) }
    }
}

fn tied_to(scenario: &Scenario) -> Vec<&'static str> {
    let of_trace = (!scenario.traced.is_empty()).then_some("the attempt, as in the trace");
    of_trace.into_iter().chain(scenario.slowness.tied_to(&scenario.cluster, &scenario.trouble)).collect()
}

fn bar(runs: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len} runs, {eta} left");
    ProgressBar::new(runs).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// The first Ctrl-C lets the runs under way end and no other begin; the second ends the process.
fn stop_on_ctrl_c(stop: &Arc<AtomicBool>) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let stop = Arc::clone(stop);
    std::thread::spawn(move || {
        runtime.block_on(async {
            if tokio::signal::ctrl_c().await.is_ok() {
                stop.store(true, Ordering::Relaxed);
            }
            if tokio::signal::ctrl_c().await.is_ok() {
                std::process::exit(130);
            }
        });
    });
    Ok(())
}

fn text(told: &Told<'_>) -> String {
    let tied = if told.slowness_is_tied_to.is_empty() { "nothing".into() } else { told.slowness_is_tied_to.join(", ") };
    let seeds = told.policies.iter().map(|policy| policy.seeds).min().unwrap_or(0);
    let mut parts = Vec::from_iter((!told.about.is_empty()).then(|| told.about.to_owned()));
    parts.push(format!("Slowness is tied to: {tied}. Seeds: {seeds}. Intervals hold the true value with 95 %."));
    let repaired = told.repairs.iter().map(|(what, count)| format!("{count} {what}"));
    let said: Vec<String> = told.assumed.iter().cloned().chain(repaired).map(|line| format!("- {line}")).collect();
    if !said.is_empty() {
        parts.push(format!("Of the trace:\n{}", said.join("\n")));
    }
    if !told.complete {
        parts.push(format!("Cut short: {} seeds were asked for.", told.seeds));
    }
    parts.push(times(told.policies));
    parts.push(costs(told.policies));
    parts.extend(against(told));
    parts.join("\n\n")
}

/// A mean with half the width of its interval.
fn with_half(interval: Option<&Interval>) -> String {
    interval.map_or_else(|| "-".into(), |one| format!("{:.1} ± {:.1}", one.mean, (one.high - one.low) / 2.0))
}

fn row(name: &str, of: &str, spread: &Spread) -> Vec<String> {
    let keys = ["mean", "p50", "p75", "p90", "p99"];
    [name.to_owned(), of.to_owned(), spread.count.to_string()]
        .into_iter()
        .chain(keys.map(|key| with_half(spread.of.get(key))))
        .collect()
}

fn times(policies: &[PolicySummary]) -> String {
    let mut table = output::table(&["policy", "seconds of", "count", "mean", "p50", "p75", "p90", "p99"]);
    for one in policies {
        table.add_row(row(&one.policy, "jobs", &one.jobs));
        for (bin, spread) in one.bins.iter().filter(|_| one.bins.len() > 1) {
            table.add_row(row("", &format!("jobs of {bin} tasks"), spread));
        }
        table.add_row(row("", "phases", &one.phases));
    }
    table.to_string()
}

fn costs(policies: &[PolicySummary]) -> String {
    let keys = ["container_seconds", "wasted_seconds", "copies", "copies_won", "restarts", "recomputed"];
    let mut table =
        output::table(&["policy", "container-s", "of these wasted", "copies", "won", "restarts", "recomputed maps"]);
    for one in policies {
        table.add_row(
            [one.policy.clone()].into_iter().chain(keys.map(|key| with_half(one.costs.get(key)))).collect::<Vec<_>>(),
        );
    }
    table.to_string()
}

fn against(told: &Told<'_>) -> Option<String> {
    let compared: Vec<(&str, &Against)> =
        told.policies.iter().filter_map(|one| Some((one.policy.as_str(), one.against.as_ref()?))).collect();
    let first = compared.first()?;
    let heading = format!("Less than under {} with the same luck, percent:", first.1.baseline);
    let mut table = output::table(&["policy", "jobs' mean", "jobs' p50", "jobs' p90", "each job, p50", "container-s"]);
    let of = |map: &BTreeMap<String, Interval>, key: &str| with_half(map.get(key));
    for (policy, one) in compared {
        let held = with_half(one.container_seconds.as_ref());
        let jobs = ["mean", "p50", "p90"].map(|key| of(&one.jobs, key));
        let cells = [policy.to_owned()].into_iter().chain(jobs).chain([of(&one.each_job, "p50"), held]);
        table.add_row(cells.collect::<Vec<_>>());
    }
    Some(format!("{heading}\n{table}"))
}
