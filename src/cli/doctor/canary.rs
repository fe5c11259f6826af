//! A small job through the whole cluster, watched the way every job is.

use super::example;
use super::{Check, Checks, Verdict, progress};
use crate::api::views::JobDetail;
use crate::cli::client::Client;
use crate::yarn::poll::Clients;
use drover_core::model::{AppId, JobId};
use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::time::Instant;
use url::Url;

const PATIENCE: Duration = Duration::from_secs(300);
const HISTORY_PATIENCE: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What to run, and whether its shim is to be heard.
pub struct Order<'a> {
    /// The command, where one is named.
    pub command: Option<&'a str>,
    /// Where the built-in job's shim is to report.
    pub shim: Option<&'a Url>,
    /// The site files have every job load the shim.
    pub by_site: bool,
}

/// Who says that the job's shim must be heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Nobody,
    Site,
    Asked,
}

/// What was seen of the job.
#[derive(Default)]
struct Sight {
    job: Option<JobId>,
    tasks: usize,
    /// Whether its speculation is on, for maps or reduces; `None` until its configuration has been read.
    speculates: Option<bool>,
    shim: bool,
    trouble: Option<String>,
}

/// Runs and watches it.
pub async fn check(order: &Order<'_>, clients: &Clients, service: Option<&Client>, checks: &mut Checks) {
    let Some(line) = line(order) else {
        checks.fail(
            "canary",
            "no Hadoop client on this machine: neither HADOOP_HOME/bin/hadoop nor hadoop in PATH with its examples",
            "set HADOOP_HOME, or name a command that runs a small job to its end: --canary-command 'hadoop jar …-examples-….jar teragen 1000 canary-out'",
        );
        return;
    };
    let before = running(clients).await;
    let child = Command::new("sh")
        .arg("-c")
        .arg(&line)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn();
    let child = match child {
        Ok(child) => child,
        Err(error) => {
            return checks.fail("canary", format!("`{line}` cannot be started: {error}"), "correct --canary-command");
        }
    };
    let (ended, sight) = watch(child, before, clients, service).await;
    let well = ended.is_ok();
    checks.0.push(judged(&line, ended, &sight, order.expected(), service.is_some()));
    if let Some(job) = sight.job.filter(|_| well) {
        history(job, clients, checks).await;
    }
}

impl Order<'_> {
    fn expected(&self) -> Expected {
        match (self.shim, self.by_site) {
            (Some(_), _) => Expected::Asked,
            (None, true) => Expected::Site,
            (None, false) => Expected::Nobody,
        }
    }
}

fn line(order: &Order) -> Option<String> {
    let built_in = || {
        // A name of its own: teragen refuses a directory that is there.
        let out = format!("drover-canary-{:016x}", rand::random::<u64>());
        Some(example::found()?.line(order.shim, &out))
    };
    order.command.map(str::to_owned).or_else(built_in)
}

async fn running(clients: &Clients) -> BTreeSet<AppId> {
    let told = clients.rm.apps(None).await;
    told.map_or_else(|_| BTreeSet::new(), |told| told.what.iter().map(|seen| seen.fact.app).collect())
}

/// How the command ended, and what was seen meanwhile.
async fn watch(
    mut child: Child,
    before: BTreeSet<AppId>,
    clients: &Clients,
    service: Option<&Client>,
) -> (Result<(), String>, Sight) {
    let began = Instant::now();
    let mut sight = Sight::default();
    let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
    let text = tokio::spawn(async move { tail(&mut out).await + &tail(&mut err).await });
    let end = loop {
        progress(&format!("canary: {} s, {} tasks seen", began.elapsed().as_secs(), sight.tasks));
        tokio::select! {
            end = child.wait() => break end.map_err(|error| error.to_string()),
            () = tokio::time::sleep(LOOK_EVERY) => look(&before, clients, service, &mut sight).await,
        }
        if began.elapsed() > PATIENCE {
            break Err(format!("it did not end within {} s and was stopped", PATIENCE.as_secs()));
        }
    };
    let ended = match end {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("it ended with {status}: {}", text.await.unwrap_or_default())),
        Err(error) => Err(error),
    };
    (ended, sight)
}

/// The end of what a command says: enough for its error.
async fn tail(stream: &mut Option<impl tokio::io::AsyncRead + Unpin>) -> String {
    use tokio::io::AsyncReadExt;
    const KEPT: usize = 600;
    let Some(stream) = stream else { return String::new() };
    let (mut kept, mut chunk) = (Vec::new(), [0; 4_096]);
    while let Ok(count @ 1..) = stream.read(&mut chunk).await {
        kept.extend_from_slice(&chunk[..count]);
        let extra = kept.len().saturating_sub(KEPT);
        kept.drain(..extra);
    }
    String::from_utf8_lossy(&kept).split_whitespace().collect::<Vec<_>>().join(" ")
}

async fn look(before: &BTreeSet<AppId>, clients: &Clients, service: Option<&Client>, sight: &mut Sight) {
    if sight.job.is_none() {
        sight.job = running(clients).await.difference(before).next().map(|app| JobId(*app));
    }
    let Some(job) = sight.job else { return };
    match clients.am.tasks(None, job).await {
        Ok(told) => sight.tasks = sight.tasks.max(told.what.tasks.len()),
        Err(error) => sight.trouble = Some(error.to_string()),
    }
    if sight.speculates.is_none()
        && let Ok(told) = clients.am.settings(None, job).await
    {
        sight.speculates = Some(told.what.map_speculation || told.what.reduce_speculation);
    }
    if let Some(service) = service
        && let Ok(detail) = service.get::<JobDetail>(&format!("api/v1/jobs/{job}")).await
    {
        sight.shim |= detail.summary.shim;
    }
}

/// What the run comes to.
fn judged(line: &str, ended: Result<(), String>, sight: &Sight, expected: Expected, service: bool) -> Check {
    let check = |verdict, says: String, fix: Option<String>| Check { name: "canary", verdict, says, fix };
    if let Err(why) = ended {
        let fix = match expected {
            Expected::Asked => format!(
                "see that the shim's jar is on every node: a class that cannot be loaded ends the ApplicationMaster; {}. Without --canary-shim the same job runs without the shim",
                syslog(sight)
            ),
            _ => format!("run the command by hand; if it fails only with the shim, {}", syslog(sight)),
        };
        return check(Verdict::Fail, format!("`{line}`: {why}"), Some(fix));
    }
    let Some(job) = sight.job else {
        return check(
            Verdict::Fail,
            format!("`{line}` succeeded, and no new MapReduce application was seen"),
            Some("see that it runs on this cluster and not in-process (mapreduce.framework.name=yarn)".to_owned()),
        );
    };
    if let (0, Some(trouble)) = (sight.tasks, &sight.trouble) {
        let says = format!("{job} succeeded, and its tasks could not be read: {trouble}");
        return check(Verdict::Fail, says, Some("see the checks of the proxy above".to_owned()));
    }
    let seen = match sight.tasks {
        0 => format!("{job} succeeded too soon to be watched"),
        tasks => format!("{job} succeeded, {tasks} tasks seen"),
    };
    let (verdict, heard, fix) = heard(sight, expected, service);
    if (sight.tasks, verdict) == (0, Verdict::Ok) {
        return check(Verdict::Warn, seen, Some("name a longer job with --canary-command".to_owned()));
    }
    check(verdict, format!("{seen}; {heard}"), fix)
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
    let which = sight.job.map_or_else(|| "ID".to_owned(), |job| job.0.to_string());
    format!("the AM's syslog tells more (yarn logs -applicationId {which})")
}

async fn history(job: JobId, clients: &Clients, checks: &mut Checks) {
    let Some(history) = &clients.history else { return };
    let began = Instant::now();
    loop {
        match history.end(job).await {
            Ok(told) if told.what.is_some() => {
                return checks.ok("canary's history", format!("the JobHistoryServer tells how {job} ended"));
            }
            Err(error) if began.elapsed() > HISTORY_PATIENCE => {
                return checks.warn(
                    "canary's history",
                    error.to_string(),
                    "see the JobHistoryServer's log, and mapreduce.jobhistory.intermediate-done-dir",
                );
            }
            _ => {}
        }
        if began.elapsed() > HISTORY_PATIENCE * 2 {
            return checks.warn(
                "canary's history",
                format!("the JobHistoryServer does not tell how {job} ended"),
                "see its log",
            );
        }
        progress("canary: waiting for its history");
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job that went well, with two tasks seen.
    fn sight() -> Sight {
        Sight { job: "job_1_0001".parse().ok(), tasks: 2, speculates: Some(true), ..Sight::default() }
    }

    fn judge(sight: &Sight, expected: Expected, service: bool) -> (Verdict, String) {
        let check = judged("run", Ok(()), sight, expected, service);
        assert_eq!(check.fix.is_some(), check.verdict != Verdict::Ok, "{check:?}");
        (check.verdict, check.says + " " + &check.fix.unwrap_or_default())
    }

    #[test]
    fn a_shim_that_is_heard_is_well_whoever_expects_it() {
        let sight = Sight { shim: true, ..sight() };
        for expected in [Expected::Nobody, Expected::Site, Expected::Asked] {
            let (verdict, says) = judge(&sight, expected, true);
            assert_eq!(verdict, Verdict::Ok);
            assert!(says.contains("2 tasks seen; its shim spoke to the service"), "{says}");
        }
    }

    #[test]
    fn silence_is_well_only_where_nobody_expects_the_shim_or_nobody_could_hear_it() {
        assert_eq!(judge(&sight(), Expected::Nobody, true).0, Verdict::Ok);
        assert_eq!(judge(&sight(), Expected::Nobody, false).0, Verdict::Ok);
        let (verdict, says) = judge(&sight(), Expected::Site, false);
        assert_eq!(verdict, Verdict::Ok);
        assert!(says.contains("no service answers"), "{says}");
        for (expected, wanted) in [(Expected::Site, Verdict::Warn), (Expected::Asked, Verdict::Fail)] {
            let (verdict, says) = judge(&sight(), expected, true);
            assert_eq!(verdict, wanted);
            for word in ["no session", "jar is on every node", "drover.service.urls", "syslog", "application_1_0001"] {
                assert!(says.contains(word), "{word}: {says}");
            }
        }
    }

    #[test]
    fn a_shim_asked_for_that_nobody_could_hear_cannot_be_told() {
        let (verdict, says) = judge(&sight(), Expected::Asked, false);
        assert_eq!(verdict, Verdict::Fail);
        assert!(
            says.contains("cannot be told") && says.contains("drover serve") && says.contains("listen.api"),
            "{says}"
        );
    }

    #[test]
    fn a_job_without_speculation_is_not_blamed_on_the_jar() {
        let sight = Sight { speculates: Some(false), ..sight() };
        for (expected, wanted) in [(Expected::Site, Verdict::Warn), (Expected::Asked, Verdict::Fail)] {
            let (verdict, says) = judge(&sight, expected, true);
            assert_eq!(verdict, wanted);
            assert!(says.contains("speculation off") && !says.contains("jar"), "{says}");
        }
        assert_eq!(judge(&sight, Expected::Nobody, true).0, Verdict::Ok);
    }

    #[test]
    fn a_job_that_was_not_seen_proves_nothing() {
        let unseen = |expected| judge(&Sight { tasks: 0, ..sight() }, expected, true);
        assert_eq!(unseen(Expected::Nobody).0, Verdict::Warn);
        assert_eq!(unseen(Expected::Asked).0, Verdict::Fail);
        let hidden = Sight { tasks: 0, trouble: Some("403".into()), ..sight() };
        assert_eq!(judge(&hidden, Expected::Nobody, true).0, Verdict::Fail);
        assert_eq!(judge(&Sight::default(), Expected::Asked, true).0, Verdict::Fail);
    }

    #[test]
    fn a_job_that_fails_with_the_shim_points_at_its_jar() {
        let failed = |expected| judged("run", Err("status 1".into()), &sight(), expected, true);
        let asked = failed(Expected::Asked);
        assert_eq!((asked.verdict, asked.says.as_str()), (Verdict::Fail, "`run`: status 1"));
        assert!(asked.fix.unwrap().contains("jar is on every node"));
        assert!(failed(Expected::Nobody).fix.unwrap().contains("by hand"));
    }

    #[test]
    fn a_named_command_is_run_as_it_stands_and_the_shim_asked_for_goes_before_the_site() {
        let url = Url::parse("http://a:7071").unwrap();
        let order = Order { command: Some("run 'it'"), shim: None, by_site: true };
        assert_eq!((line(&order).unwrap().as_str(), order.expected()), ("run 'it'", Expected::Site));
        assert_eq!(Order { shim: Some(&url), ..order }.expected(), Expected::Asked);
    }
}
