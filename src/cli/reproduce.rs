//! `drover reproduce`: the papers' numbers beside ours.

use super::bar::Bar;
use super::output::{self, Exit, Failure};
use super::reproduced::{markdown, text};
use crate::simulation::reproduce::{Effort, Experiment, all};
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Verdicts: exact (the same digits), within (the published value is within 20 % of ours, and half of our interval at most 10 %), direction (what the paper says
of it holds), not_reproduced. The last column is the share of what the paper leaves open under which it is reproduced.

Examples:
  drover reproduce late                     all of one paper
  drover reproduce late.fig2 dolly.fig5     some experiments
  drover reproduce all --seeds 50 --json
  drover reproduce all --markdown reproduction.md";

/// `drover reproduce`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Command {
    /// Experiments: late, mantri, dolly, all, or one of those that `--list` names
    #[arg(default_values = ["all"])]
    experiments: Vec<String>,
    /// Name the experiments, and run none
    #[arg(long)]
    list: bool,
    /// Seeds of the main set of assumptions; the others get a fifth of them
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(2..=10_000))]
    seeds: u64,
    /// Write a document in Markdown, too
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Command {
    /// Runs it.
    pub fn run(&self) -> Result<(), Failure> {
        if self.list {
            let mut table = output::table(&["experiment", "what it is"]);
            for one in all() {
                table.add_row([one.name, one.about]);
            }
            return Ok(output::say(&table.to_string())?);
        }
        if let Some(unknown) = self.experiments.iter().find(|name| !all().iter().any(|one| one.is_meant(name))) {
            let words = format!("no experiment is named {unknown}; `drover reproduce --list` names them");
            return Err(Failure::new(Exit::Usage, words));
        }
        let is_asked = |one: &Experiment| self.experiments.iter().any(|name| one.is_meant(name));
        let asked: Vec<Experiment> = all().into_iter().filter(is_asked).collect();
        let bar = Bar::new();
        let effort = Effort { seeds: self.seeds, seeds_of_others: self.seeds.div_ceil(5), progress: &bar };
        let mut found = Vec::new();
        for one in &asked {
            bar.begin(one.name);
            found.extend(one.run(effort).map_err(|stuck| Failure::new(Exit::Failed, stuck.to_string()))?);
        }
        bar.end();
        if let Some(file) = &self.markdown {
            std::fs::write(file, markdown(&asked, &found, self.seeds))
                .map_err(|error| Failure::new(Exit::Failed, format!("{}: {error}", file.display())))?;
        }
        if self.json { output::json(&found) } else { Ok(output::say(&text(&found))?) }
    }
}
