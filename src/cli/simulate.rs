//! `drover simulate`: policies side by side in a simulated cluster.

use super::bar::Bar;
use super::calc::given::probability;
use super::entry::{Entry, entry};
use super::interrupt::stop_on_ctrl_c;
use super::output::{self, Exit, Failure};
use crate::simulation::report::{Origin, Report, dir};
use crate::simulation::summary::summarise;
use crate::simulation::tables::tables;
use crate::simulation::told::{Told, tied_to};
use crate::simulation::watched::{JobName, watch};
use crate::simulation::{Grid, Played, file, play, traces};
use clap::{Args, ValueEnum};
use drover_core::engine::EngineParams;
use drover_core::policy::PolicyName;
use drover_core::sim::Actor;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
The engine that decides is the service's own. Every policy meets the same luck: the same work, the same slow attempts, seed by seed; so differences between
policies are told with the interval that their pairs give. Ctrl-C keeps what is done: runs under way end, no other begins, and the code is 130.

Examples:
  drover simulate examples/one-slow-node.toml                              Drover against Hadoop's own speculator and none
  drover simulate examples/one-slow-node.toml --policy late,mantri --seeds 20
  drover simulate examples/one-slow-node.toml --policy late,mantri --baseline hadoop --out report
  drover simulate examples/one-slow-node.toml --preset paper --json | jq '.policies[].jobs.of.p90'";

/// `drover simulate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Command {
    /// The scenario, TOML
    scenario: PathBuf,
    /// Policies to compare: late, late-early, hadoop, hadoop-tuned, hadoop-0.20, mapreduce, dryad, mantri, dolly, drover, blacklist or none; and what nobody can do, to hold them
    /// against: no-skew, chop-tail, ideal-recompute, oracle
    #[arg(long, value_delimiter = ',', value_parser = entry, default_values = ["none", "hadoop", "drover"])]
    policy: Vec<Entry>,
    /// Policy that the others are compared with; run, too, where --policy does not name it [default: the first of --policy]
    #[arg(long, value_name = "POLICY", value_parser = entry)]
    baseline: Option<Entry>,
    /// How many seeds, from 1 on
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    seeds: u64,
    /// Run the jobs of a trace, too: job histories (.jhist, or a directory of them, with their confs), a CSV of attempts, Rumen's JSON, or SWIM's jobs; plain or gzipped
    #[arg(long, value_name = "PATH")]
    trace: Option<PathBuf>,
    /// Constants of the policies: Drover's own, or those of the papers
    #[arg(long, value_enum, default_value_t = Preset::Default)]
    preset: Preset,
    /// Share of the jobs, 0-1, that each policy leaves alone, as govern.holdout does: what would the others show beside them?
    #[arg(long, default_value_t = 0.0, value_name = "SHARE", value_parser = probability)]
    holdout: f64,
    /// Write a report, too: report.html, jobs.csv, phases.csv, summary.json and plots as SVG; the directory is made, or holds an earlier report
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Job that the report shows attempt by attempt, as in sessions/3 [default: the slowest under the baseline with the first seed]
    #[arg(long, value_name = "NAME/NTH", requires = "out")]
    job: Option<JobName>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Preset {
    Default,
    Paper,
}

fn usage(bad: impl std::fmt::Display) -> Failure {
    Failure::new(Exit::Usage, bad.to_string())
}

fn failed(bad: impl std::fmt::Display) -> Failure {
    Failure::new(Exit::Failed, bad.to_string())
}

impl Command {
    /// Runs it.
    pub fn run(&self) -> Result<(), Failure> {
        let trace = self.trace.as_deref().map(traces::read).transpose().map_err(usage)?.unwrap_or_default();
        let (mut assumed, repairs) = (trace.assumed, trace.repairs);
        let scenario = file::read(&self.scenario, trace.jobs).map_err(usage)?;
        assumed.extend(traces::strays(&scenario));
        let in_words = std::fs::read_to_string(&self.scenario)?;
        if let Some(job) = self.job.as_ref().filter(|job| !job.is_in(&scenario)) {
            return Err(usage(format!(
                "--job {job}: the scenario has no such job; jobs of a group are numbered from 0"
            )));
        }
        if let Some(out) = &self.out {
            dir::prepare(out).map_err(usage)?;
        }
        let policies = self.policies();
        let names: Vec<String> = policies.iter().map(|policy| policy.label().to_owned()).collect();
        let baseline = self.baseline.and_then(|base| policies.iter().position(|policy| *policy == base)).unwrap_or(0);
        let grid = Grid {
            scenario: &scenario,
            policies: names.iter().cloned().zip(policies.iter().map(|entry| self.actor(*entry))).collect(),
            seeds: 1..self.seeds + 1,
        };
        let stop = stop_on_ctrl_c()?;
        let bar = Bar::new();
        let played = play(&grid, &stop, &bar).map_err(failed)?;
        bar.end();
        let missing_runs = grid.runs() - played.len() as u64;
        let told = Told {
            about: scenario.about.clone(),
            slowness_is_tied_to: tied_to(&scenario),
            assumed,
            repairs,
            seeds: self.seeds,
            complete: missing_runs == 0,
            missing_runs,
            baseline: names[baseline].clone(),
            policies: summarise(&names, &names[baseline], self.holdout, &played),
        };
        let out = self.out.as_ref().filter(|_| !played.is_empty());
        let written = out.map_or(Ok(()), |out| self.report(out, &grid, baseline, (&told, &played), in_words));
        // What was played is told, even where it could not be written.
        if self.json {
            output::json(&told)?
        } else {
            output::say(&text(&told))?
        }
        written?;
        let interrupted = || format!("interrupted: {missing_runs} of {} runs are missing", grid.runs());
        if missing_runs == 0 { Ok(()) } else { Err(Failure::new(Exit::Interrupted, interrupted())) }
    }

    fn actor(&self, entry: Entry) -> Actor {
        match entry {
            Entry::Ideal(ideal) => Actor::Ideal(ideal),
            Entry::Policy(policy) => {
                let mut params = self.preset.params(policy);
                params.govern.holdout = self.holdout;
                params.into()
            }
        }
    }

    /// Each policy once, the baseline among them.
    fn policies(&self) -> Vec<Entry> {
        let added = self.baseline.filter(|baseline| !self.policy.contains(baseline));
        let mut policies: Vec<Entry> = Vec::new();
        for policy in added.iter().chain(&self.policy) {
            if !policies.contains(policy) {
                policies.push(*policy);
            }
        }
        policies
    }

    fn report(
        &self,
        out: &Path,
        grid: &Grid<'_>,
        baseline: usize,
        (told, played): (&Told, &[Played]),
        scenario: String,
    ) -> Result<(), Failure> {
        let job = self.job.clone().or_else(|| JobName::slowest(played, baseline));
        // Who interrupts does not want more runs.
        let watched =
            job.filter(|_| told.complete).map(|job| watch(grid, baseline, &job)).transpose().map_err(failed)?;
        let origin = Origin { command: self.again(&told.baseline)?, version: env!("CARGO_PKG_VERSION"), scenario };
        let report = Report { told, played, watched: watched.as_ref(), origin };
        dir::write(out, &report.files().map_err(failed)?).map_err(failed)
    }

    /// The command that gives the same numbers again, whatever the defaults will be by then, and wherever its report goes.
    fn again(&self, baseline: &str) -> Result<String, Failure> {
        let policies: Vec<&str> = self.policies().iter().map(|policy| policy.label()).collect();
        let preset = self.preset.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        let path = |path: &Path| path.display().to_string();
        let mut words: Vec<String> = ["drover", "simulate"].map(str::to_owned).into();
        words.push(path(&self.scenario));
        let mut option = |name: &str, value: String| words.extend([format!("--{name}"), value]);
        option("policy", policies.join(","));
        option("baseline", baseline.to_owned());
        option("seeds", self.seeds.to_string());
        option("preset", preset);
        if self.holdout > 0.0 {
            option("holdout", self.holdout.to_string());
        }
        if let Some(trace) = &self.trace {
            option("trace", path(trace));
        }
        if let Some(job) = &self.job {
            option("job", job.to_string());
        }
        shlex::try_join(words.iter().map(String::as_str)).map_err(usage)
    }
}

impl Preset {
    fn params(self, policy: PolicyName) -> EngineParams {
        match self {
            Preset::Default => EngineParams { policy, ..EngineParams::default() },
            Preset::Paper => EngineParams::paper(policy),
        }
    }
}

fn text(told: &Told) -> String {
    let seeds = told.policies.iter().map(|policy| policy.seeds).min().unwrap_or(0);
    let mut parts = Vec::from_iter((!told.about.is_empty()).then(|| told.about.clone()));
    let tied = told.tied_to();
    parts.push(format!("Slowness is tied to: {tied}. Seeds: {seeds}. Intervals hold the true value with 95 %."));
    let of_trace: Vec<String> = told.of_trace().map(|line| format!("- {line}")).collect();
    if !of_trace.is_empty() {
        parts.push(format!("Of the trace:\n{}", of_trace.join("\n")));
    }
    parts.extend(told.cut_short());
    for table in tables(told) {
        let mut shown = output::table(&table.heading.iter().map(String::as_str).collect::<Vec<_>>());
        shown.add_rows(table.rows);
        parts.push(format!("{}\n{shown}", table.title));
    }
    parts.join("\n\n")
}
