//! What a canary's run comes to, and what to change.

use super::stopped;
use crate::cli::doctor::{Check, Verdict};
use crate::words;
use drover_core::model::JobId;
use std::time::Duration;

/// What is run.
pub struct Run {
    /// The shell command.
    pub line: String,
    /// The directory that its job writes, where known.
    pub out: Option<String>,
}

/// How the command came to its end.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    Well,
    /// By itself, and how.
    Badly(String),
    /// It was ended.
    Stopped {
        why: Why,
        /// Nothing that it had started holds its output open.
        wholly: bool,
    },
}

/// Why it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It took longer than that.
    Late(Duration),
    Interrupted,
}

/// Who says that the job's shim must be heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    Nobody,
    Site,
    Asked,
}

/// What was seen of the job: the first that the command says it has submitted.
#[derive(Default)]
pub struct Sight {
    /// All that it says so of.
    pub jobs: Vec<JobId>,
    pub tasks: usize,
    /// Whether its speculation is on, for maps or reduces; `None` until its configuration has been read.
    pub speculates: Option<bool>,
    pub shim: bool,
    pub trouble: Option<String>,
}

/// What the run comes to.
pub fn judged(run: &Run, ended: &Ended, sight: &Sight, expected: Expected, service: bool) -> Check {
    let check = |verdict, says: String, fix: Option<String>| Check { name: "canary", verdict, says, fix };
    let line = &run.line;
    match ended {
        Ended::Well => {}
        Ended::Badly(why) => {
            return check(Verdict::Fail, format!("`{line}`: {why}"), Some(failed(sight, expected)));
        }
        Ended::Stopped { why, wholly } => {
            let (says, fix) = stopped::told(run, *why, *wholly, &sight.jobs);
            return check(Verdict::Fail, format!("`{line}`: {says}"), Some(fix));
        }
    }
    let Some(job) = sight.jobs.first() else {
        return check(
            Verdict::Fail,
            format!(
                "`{line}` succeeded without a word of what it had submitted: which job is its own cannot be told, so none was watched"
            ),
            Some(
                "have it print Hadoop's client log (a line as `Submitted application application_…`; HADOOP_ROOT_LOGGER=INFO,console does), \
                 and see that it runs on this cluster and not in-process (mapreduce.framework.name=yarn)"
                    .to_owned(),
            ),
        );
    };
    if let (0, Some(trouble)) = (sight.tasks, &sight.trouble) {
        let says = format!("{job} succeeded, and its tasks could not be read: {trouble}");
        return check(Verdict::Fail, says, Some("see the checks of the proxy above".to_owned()));
    }
    let seen = match sight.tasks {
        0 => format!("{job} succeeded too soon to be watched"),
        tasks => format!("{job} succeeded, {} seen", words::count(tasks, "task", "tasks")),
    };
    let (verdict, heard, fix) = heard(sight, expected, service);
    if (sight.tasks, verdict) == (0, Verdict::Ok) {
        return check(Verdict::Warn, seen, Some("name a longer job with --canary-command".to_owned()));
    }
    check(verdict, format!("{seen}; {heard}"), fix)
}

/// What to do about a command that failed.
fn failed(sight: &Sight, expected: Expected) -> String {
    match expected {
        Expected::Asked => format!(
            "see that the shim's jar is on every node: a class that cannot be loaded ends the ApplicationMaster; {}. Without --canary-shim the same job runs without the shim",
            syslog(sight)
        ),
        _ => format!("run the command by hand; if it fails only with the shim, {}", syslog(sight)),
    }
}

/// Whether the shim was heard as it should be, and what to change if not.
fn heard(sight: &Sight, expected: Expected, service: bool) -> (Verdict, &'static str, Option<String>) {
    let verdict = if expected == Expected::Asked { Verdict::Fail } else { Verdict::Warn };
    match (expected, service) {
        (Expected::Asked, _) if sight.shim => {
            (Verdict::Ok, "its shim spoke to the service, so the jar is on the node of its ApplicationMaster", None)
        }
        _ if sight.shim => (Verdict::Ok, "its shim spoke to the service", None),
        (Expected::Nobody, _) => (Verdict::Ok, "watched over REST", None),
        (Expected::Asked, false) => (
            Verdict::Fail,
            "whether its shim speaks cannot be told: no service answers here",
            Some("start the service with `drover serve`, or name it with --set listen.api=HOST:PORT or --config FILE".to_owned()),
        ),
        (Expected::Site, false) => (Verdict::Ok, "watched over REST; no service answers that could hear its shim", None),
        (_, true) if sight.speculates == Some(false) => (
            verdict,
            "it ran with speculation off, and an ApplicationMaster loads no shim then",
            Some(
                "run a job with speculation on, as the built-in one is unless a site file makes mapreduce.map.speculative=false final"
                    .to_owned(),
            ),
        ),
        (_, true) => (
            verdict,
            "its shim should have spoken, and the service saw no session of it",
            Some(format!(
                "see that the shim's jar is on every node, that drover.service.urls names this service's listen.shim by an address that the nodes reach, \
                 and that drover.mode is not off; {}",
                syslog(sight)
            )),
        ),
    }
}

/// Where the shim tells its trouble.
fn syslog(sight: &Sight) -> String {
    let which = sight.jobs.first().map_or_else(|| "ID".to_owned(), |job| job.0.to_string());
    format!("the AM's syslog tells more (yarn logs -applicationId {which})")
}

#[cfg(test)]
mod tests;
