//! What all subcommands share: exit codes, tables, JSON.

use crate::config::ConfigError;
use comfy_table::{Table, presets};
use serde::Serialize;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

/// So long the end waits for whoever reads its last line.
const LAST_LINE: Duration = Duration::from_secs(1);

/// Why a command ends without success. The numbers are documented in `--help`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Something failed on the way.
    Failed = 1,
    /// The command line or the configuration is wrong.
    Usage = 2,
    /// Cluster or service cannot be reached.
    Unreachable = 3,
    /// A check failed.
    Check = 4,
    /// What was asked for is not known.
    Unknown = 5,
    /// What a service needs of this machine is taken, or cannot be written: it may be free soon.
    Taken = 6,
    /// It was interrupted (Ctrl-C, or SIGTERM where that is waited for) and says what was done until then: 128 and the signal's number, as shells have it.
    Interrupted = 130,
}

/// An error with its exit code. An empty message says nothing: all has been said.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// What to print.
    pub message: String,
}

impl Failure {
    /// A failure that says something.
    pub fn new(exit: Exit, message: impl Into<String>) -> Failure {
        Failure { exit, message: message.into() }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Failure {
        Failure::new(Exit::Usage, format!("the configuration is wrong\n{error}"))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        // A reader that has seen enough, such as `head`, is no failure worth a word.
        let message = if error.kind() == io::ErrorKind::BrokenPipe { String::new() } else { error.to_string() };
        Failure { exit: Exit::Failed, message }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Failure {
        Failure::from(io::Error::from(error))
    }
}

/// The process's end.
pub fn end(done: Result<(), Failure>) -> ExitCode {
    let Err(failure) = done else { return ExitCode::SUCCESS };
    if !failure.message.is_empty() {
        last_line(format!("drover: {}\n", failure.message));
    }
    ExitCode::from(failure.exit as u8)
}

/// Where nobody reads standard error the process ends all the same.
fn last_line(line: String) {
    let (done, heard) = sync_channel(1);
    let beside = line.clone();
    let write = move || {
        let _ = io::stderr().write_all(beside.as_bytes());
        let _ = done.send(());
    };
    if std::thread::Builder::new().spawn(write).is_ok() {
        let _ = heard.recv_timeout(LAST_LINE);
    } else {
        let _ = io::stderr().write_all(line.as_bytes());
    }
}

/// Prints one line, or one text.
pub fn say(text: &str) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{}", text.trim_end())
}

/// Prints a value as indented JSON.
pub fn json<T: Serialize>(value: &T) -> Result<(), Failure> {
    Ok(say(&serde_json::to_string_pretty(value)?)?)
}

/// Prints a value as one line of JSON.
pub fn json_line<T: Serialize>(value: &T) -> Result<(), Failure> {
    Ok(say(&serde_json::to_string(value)?)?)
}

/// An empty table with its heading.
pub fn table(heading: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(heading.to_vec());
    table
}
