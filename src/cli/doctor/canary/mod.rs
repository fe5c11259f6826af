//! A small job through the whole cluster, watched the way every job is.

mod judgement;

use super::{Checks, example, progress};
use crate::api::views::JobDetail;
use crate::cli::client::Client;
use crate::yarn::poll::Clients;
use drover_core::model::{AppId, JobId};
use judgement::{Expected, Sight, judged};
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

    #[test]
    fn a_named_command_is_run_as_it_stands_and_the_shim_asked_for_goes_before_the_site() {
        let url = Url::parse("http://a:7071").unwrap();
        let order = Order { command: Some("run 'it'"), shim: None, by_site: true };
        assert_eq!((line(&order).unwrap().as_str(), order.expected()), ("run 'it'", Expected::Site));
        assert_eq!(Order { shim: Some(&url), ..order }.expected(), Expected::Asked);
    }
}
