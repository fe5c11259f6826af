//! Traces of real clusters as workloads: what they tell is done again, and what they do not tell is assumed and said.

mod assumed;
mod attempts;
mod done;
mod held;
mod jhist;
mod lines;
mod made;
mod recorded;
mod rumen;
mod swim;
#[cfg(test)]
mod tests;

pub use assumed::placed;
pub use done::Overhead;

use crate::yarn::site::SiteError;
use drover_core::sim::{QueueSpec, Scenario, TracedHosts, TracedJob};
use lines::Lines;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A trace that was read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trace {
    /// Its jobs, in order of their arrival.
    pub jobs: Vec<TracedJob>,
    /// Where they ran.
    pub hosts: TracedHosts,
    /// What it does not tell and was assumed, a sentence each.
    pub assumed: Vec<String>,
    /// What was amiss and was mended or left out, and how often.
    pub repairs: BTreeMap<String, u64>,
}

/// Why a trace cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadTrace {
    /// It cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Unread {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line is wrong.
    #[error("{}:{line}: {what}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// A job's conf beside its history is wrong.
    #[error(transparent)]
    Conf(#[from] SiteError),
    /// It is of no kind that is known, or empty.
    #[error("{}: {what}", path.display())]
    Whole {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

/// Largest trace that is read, bytes, unpacked.
const LIMIT: u64 = 8 << 30;
/// Whose a job is, and where it goes, where nothing is told of that.
const USER: &str = "trace";
const QUEUE: &str = "default";

/// Reads a trace, plain or gzipped: attempts as CSV, Rumen's JSON, SWIM's jobs, or Hadoop's job histories, of which a directory may hold many. Of attempts'
/// times the overhead is no work.
///
/// # Errors
/// With file and line.
pub fn read(path: &Path, overhead: Overhead) -> Result<Trace, BadTrace> {
    let trace = if path.is_dir() {
        jhist::directory(path, overhead)?
    } else {
        file(Lines::open(path, LIMIT, false)?, overhead)?
    };
    if !trace.jobs.is_empty() {
        return Ok(trace);
    }
    let why: Vec<String> = trace.repairs.iter().map(|(what, count)| format!("{count} {what}")).collect();
    let why = if why.is_empty() { String::new() } else { format!(": {}", why.join("; ")) };
    Err(BadTrace::Whole { path: path.to_owned(), what: format!("has no jobs to play{why}") })
}

fn file(mut lines: Lines<'_>, overhead: Overhead) -> Result<Trace, BadTrace> {
    let begins = lines.begins()?;
    let (is_history, is_json) = (begins.starts_with(jhist::BEGINS), begins.trim_ascii_start().starts_with(b"{"));
    match (is_history, is_json) {
        (true, _) => jhist::one(lines, overhead),
        (_, true) => rumen::read(lines, overhead),
        _ => by_line(lines, overhead),
    }
}

/// What a scenario has no room for as the trace has it, and how it is done instead.
pub fn strays(scenario: &Scenario) -> Option<String> {
    let known: Vec<&str> = match &scenario.cluster.queues[..] {
        [] => vec![QueueSpec::ONLY],
        all => all.iter().map(|queue| queue.name.as_str()).collect(),
    };
    let strays = scenario.traced.iter().filter(|job| !known.contains(&job.queue.as_str())).count();
    let (all, first) = (scenario.traced.len(), known[0]);
    (strays > 0).then(|| {
        format!(
            "the scenario has no queue of the names that {strays} of {all} jobs have: they go to its first, {first}"
        )
    })
}

fn by_line(mut lines: Lines<'_>, overhead: Overhead) -> Result<Trace, BadTrace> {
    const UNKNOWN: &str = "is none of a CSV of attempts (its header begins with dataset), Rumen's JSON, a job history (.jhist), and SWIM's jobs (six fields between tabs)";
    let path = lines.path().to_owned();
    let whole = |what: &str| BadTrace::Whole { path: path.clone(), what: what.to_owned() };
    let Some(first) = lines.next()? else { return Err(whole("is empty")) };
    if first.starts_with("dataset,") {
        attempts::read(&first, lines, overhead)
    } else if first.split('\t').count() == 6 {
        swim::read(first, lines)
    } else {
        Err(whole(UNKNOWN))
    }
}
