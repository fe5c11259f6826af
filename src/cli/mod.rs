//! The command line: one file a subcommand.

mod advise;
mod bar;
mod calc;
mod calibration;
mod client;
mod cloned;
mod config;
mod decisions;
mod doctor;
mod entry;
mod explain;
mod help;
mod hold;
mod interrupt;
mod measured;
mod nodes;
mod once;
mod output;
mod replay;
mod report;
mod reproduce;
mod reproduce_kept;
mod reproduced;
mod reproduced_open;
mod serve;
mod simulate;
mod source;
mod status;
mod story;
mod sweep;

use crate::config::{ConfigError, Loaded, Sources};
use crate::telemetry::BUILD;
use clap::builder::OsStringValueParser;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use drover_core::model::{BadId, JobId};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub use output::{Exit, Failure};

const ABOUT: &str = "Finds the tasks that will hold a Hadoop job back, and says so.";
const LONG_ABOUT: &str = "Drover watches the MapReduce jobs of an existing Hadoop cluster, finds the tasks that will hold each job back, and says what \
a second attempt would gain. It changes nothing unless it is told to.";
const EXAMPLES: &str = "\
Examples:
  drover doctor                          check configuration, cluster and permissions
  drover advise                          what Drover would do now
  drover serve --record /var/lib/drover  watch the cluster, keep a recording
  drover status                          how the running service is, in a dozen lines
  drover explain job_1795181650543_0021  why each task was or was not advised on
  drover nodes                           how healthy each node is
  drover report --since 7d               whether copies paid
  drover simulate examples/one-slow-node.toml   what each policy would come to
  drover stop --reason \"disks fail\"      start no copies anywhere, at once

Exit codes:
  0  done
  1  something failed on the way
  2  the command line or the configuration is wrong
  3  the cluster or the service cannot be reached, or no job of the cluster be read
  4  a check failed (doctor), or a replay differs from its recording (replay --check)
  5  what was asked for is not known (a job, a task)
  6  a port, a lock or a directory that the service needs is taken or cannot be used (serve)
  130  interrupted; simulate, reproduce and doctor's canary have said what was done until then";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(name = "drover", version = BUILD.as_str(), about = ABOUT, long_about = LONG_ABOUT, after_help = EXAMPLES)]
pub struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

/// What every subcommand takes.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Configuration file [default: ./drover.toml, then /etc/drover/drover.toml, where there is one]
    #[arg(long, global = true, value_name = "FILE", env = "DROVER_CONFIG", value_parser = OsStringValueParser::new())]
    config: Option<OsString>,
    /// Set one setting, as in --set rest.timeout=5s; may be repeated
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Watch the cluster and serve API, shims and metrics
    Serve(serve::Command),
    /// Say how the running service is: cluster, shims, copies, holds, ledger
    Status(status::Command),
    /// Say which running tasks are worth a copy now
    Advise(advise::Command),
    /// Say why each task of a job was or was not advised on
    Explain(explain::Command),
    /// Say how healthy each node is, the costliest first
    Nodes(nodes::Command),
    /// Check configuration, cluster, permissions and clocks, and say what to change
    Doctor(doctor::Command),
    /// Have Drover start no copies for a while: everywhere, or for a queue, a user or a job
    Pause(hold::Pause),
    /// Have Drover start no copies anywhere until it is resumed
    Stop(hold::Stop),
    /// End a pause or a stop
    Resume(hold::Resume),
    /// Decide again on what was recorded
    Replay(replay::Command),
    /// Compare policies in a simulated cluster
    Simulate(simulate::Command),
    /// Reproduce what the papers published, number by number
    Reproduce(reproduce::Command),
    /// Say how good each estimate of time left has proved to be
    Calibration(calibration::Command),
    /// Say whether copies paid: what became of them, what they gained and cost
    Report(report::Command),
    /// Compute the papers' formulas by hand
    Calc(calc::Command),
    /// Show, document or start a configuration
    Config(config::Command),
}

impl Common {
    /// The configuration that holds for this command.
    pub fn load(&self) -> Result<Loaded, Failure> {
        Ok(self.configuration()?)
    }

    /// What the command line names, with so many settings more, and nothing that lies about: for what is to come out the same anywhere.
    fn named(&self, more: &[String]) -> Result<Loaded, Failure> {
        let set = self.set.iter().chain(more).cloned().collect();
        Ok(crate::config::load_named(&Sources { file: self.file(), set })?)
    }

    /// The configuration file that is named. An empty variable, as of a template, names none.
    pub fn file(&self) -> Option<PathBuf> {
        self.config.clone().filter(|name| !name.is_empty()).map(PathBuf::from)
    }

    /// Names it where none is named yet.
    pub fn name_file(&mut self, file: Option<&Path>) {
        self.config = self.file().or_else(|| file.map(Path::to_owned)).map(PathBuf::into_os_string);
    }

    /// Of a command that no setting changes.
    fn takes_none(&self, command: &str) -> Result<(), Failure> {
        let words = || format!("`drover {command}` takes no settings; leave out --set {}", self.set.join(" --set "));
        if self.set.is_empty() { Ok(()) } else { Err(Failure::new(Exit::Usage, words())) }
    }

    /// The same, where a service could start on it.
    fn serviceable(&self) -> Result<Loaded, ConfigError> {
        crate::service::checked(self.configuration()?)
    }

    /// The same of one that runs.
    fn serviceable_again(&self) -> Result<Loaded, ConfigError> {
        crate::service::checked_again(self.configuration()?)
    }

    fn configuration(&self) -> Result<Loaded, ConfigError> {
        let sources = Sources { file: self.file(), set: self.set.clone() };
        // A name that is no Unicode cannot be ours; a value that is none is refused where its name is.
        let variables = std::env::vars_os()
            .filter_map(|(name, text)| Some((name.into_string().ok()?, text.to_string_lossy().into_owned())));
        crate::config::load(&sources, variables)
    }
}

/// A job by its own id, or by that of its application, as the ResourceManager's page shows it.
fn job_id(text: &str) -> Result<JobId, BadId> {
    text.parse().or_else(|bad| text.parse().map(JobId).map_err(|_: BadId| bad))
}

fn block_on(command: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(command)
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let told = help::fitted(Cli::command()).get_matches();
    let cli = Cli::from_arg_matches(&told).unwrap_or_else(|error| error.exit());
    let done = match cli.command {
        Command::Serve(command) => command.run(&cli.common),
        Command::Status(command) => block_on(command.run(&cli.common)),
        Command::Advise(command) => block_on(command.run(&cli.common)),
        Command::Explain(command) => block_on(command.run(&cli.common)),
        Command::Nodes(command) => block_on(command.run(&cli.common)),
        Command::Doctor(command) => block_on(command.run(&cli.common)),
        Command::Pause(command) => block_on(command.run(&cli.common)),
        Command::Stop(command) => block_on(command.run(&cli.common)),
        Command::Resume(command) => block_on(command.run(&cli.common)),
        Command::Replay(command) => cli.common.takes_none("replay").and_then(|()| command.run()),
        Command::Simulate(command) => command.run(&cli.common),
        Command::Reproduce(command) => cli.common.takes_none("reproduce").and_then(|()| command.run()),
        Command::Calibration(command) => block_on(command.run(&cli.common)),
        Command::Report(command) => block_on(command.run(&cli.common)),
        Command::Calc(command) => cli.common.takes_none("calc").and_then(|()| command.run()),
        Command::Config(command) => command.run(&cli.common),
    };
    output::end(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
