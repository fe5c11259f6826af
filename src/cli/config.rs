//! `drover config`: the settings, where they come from, their documentation.

use super::Common;
use super::output::{self, Exit, Failure};
use crate::config::{self, Origin, Problem};
use crate::ledger;
use crate::telemetry;
use clap::{Args, Subcommand};
use serde_json::json;
use std::io::Write;

const EXAMPLES: &str = "\
Examples:
  drover config show
  drover config show --set preset=paper --set policy=mantri --json
  drover config check --json | jq '.faults[].message'
  drover config sample > drover.toml";

/// `drover config`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Command {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print every setting's value and where it came from; what is not set has its preset's
    Show {
        /// Does nothing: where each value came from is always said
        #[arg(long, hide = true)]
        origin: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Check the configuration and say nothing if it is right
    Check {
        /// Print JSON, also where nothing is wrong
        #[arg(long)]
        json: bool,
    },
    /// Print the documentation of all settings (Markdown)
    Docs {
        /// Print the documentation of all metrics instead
        #[arg(long)]
        metrics: bool,
        /// Print the ledger's schema instead
        #[arg(long, conflicts_with = "metrics")]
        ledger: bool,
    },
    /// Print a configuration file to start from
    Sample,
}

impl Command {
    /// Runs it.
    pub fn run(&self, common: &Common) -> Result<(), Failure> {
        match self.what {
            What::Show { json, .. } => show(common, json),
            What::Check { json: false } => Ok(warn(&common.serviceable()?.warnings)?),
            What::Check { json: true } => check_json(common),
            What::Docs { ledger: true, .. } => Ok(output::say(&ledger::docs::markdown())?),
            What::Docs { metrics: false, .. } => Ok(output::say(&config::docs::markdown())?),
            What::Docs { metrics: true, .. } => {
                let registry = crate::service::all_metrics();
                let registry = registry.map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
                Ok(output::say(&telemetry::docs::markdown(&registry))?)
            }
            What::Sample => Ok(output::say(&config::docs::sample())?),
        }
    }
}

/// The file and the line of what stands in one.
fn place(origin: &Origin) -> (Option<String>, Option<usize>) {
    match origin {
        Origin::File(path, line) => (Some(path.display().to_string()), Some(*line).filter(|line| *line > 0)),
        _ => (None, None),
    }
}

fn check_json(common: &Common) -> Result<(), Failure> {
    let (faults, warnings) = match common.serviceable() {
        Ok(loaded) => (Vec::new(), loaded.warnings),
        Err(error) => (error.0, Vec::new()),
    };
    let fault = |fault: &Problem| {
        let message = fault.fix.iter().fold(fault.what.clone(), |what, fix| format!("{what}; {fix}"));
        let (file, line) = place(&fault.origin);
        json!({"origin": fault.origin.to_string(), "file": file, "line": line, "key": fault.key, "message": message})
    };
    let [shown, ignored]: [Vec<_>; 2] = [&faults, &warnings].map(|all| all.iter().map(fault).collect());
    output::json(&json!({"ok": faults.is_empty(), "faults": shown, "warnings": ignored}))?;
    // All has been said.
    if faults.is_empty() { Ok(()) } else { Err(Failure::new(Exit::Usage, "")) }
}

fn show(common: &Common, json: bool) -> Result<(), Failure> {
    let loaded = common.load()?;
    let resolved = loaded.resolved();
    if json {
        let entry = |(key, entry): (&String, &config::Entry)| {
            let value = match entry.value.to_string() {
                text if text.is_empty() => serde_json::Value::Null,
                text => text.into(),
            };
            let (file, line) = place(&entry.origin);
            (key.clone(), json!({"value": value, "origin": entry.origin.to_string(), "file": file, "line": line}))
        };
        let all: serde_json::Map<String, serde_json::Value> = resolved.iter().map(entry).collect();
        return output::json(&all);
    }
    let mut table = output::table(&["setting", "value", "from"]);
    for (key, entry) in &resolved {
        let value = entry.value.to_string();
        let value = if value.is_empty() { "–".into() } else { value };
        table.add_row([key, &value, &entry.origin.to_string()]);
    }
    warn(&loaded.warnings)?;
    Ok(output::say(&table.to_string())?)
}

/// Says what was ignored.
fn warn(warnings: &[Problem]) -> std::io::Result<()> {
    warnings.iter().try_for_each(|warning| writeln!(std::io::stderr(), "warning: {warning}"))
}
