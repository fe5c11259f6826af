//! A small job through the whole cluster, watched the way every job is.

use super::{Checks, progress};
use crate::api::views::JobDetail;
use crate::cli::client::Client;
use crate::yarn::poll::Clients;
use drover_core::model::{AppId, JobId};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::time::Instant;

const PATIENCE: Duration = Duration::from_secs(300);
const HISTORY_PATIENCE: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What was seen of the job.
#[derive(Default)]
struct Sight {
    job: Option<JobId>,
    tasks: usize,
    shim: bool,
    trouble: Option<String>,
}

/// Runs and watches it.
pub async fn check(command: Option<&str>, clients: &Clients, service: Option<Client>, checks: &mut Checks) {
    let Some(line) = command.map(str::to_owned).or_else(found) else {
        checks.fail(
            "canary",
            "no Hadoop client on this machine: neither hadoop in PATH nor HADOOP_HOME/bin/hadoop with its examples",
            "set HADOOP_HOME, or name a command that runs a small job to its end: --canary-command 'hadoop jar …-examples-….jar pi 2 1000'",
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
    match child {
        Ok(child) => report(&line, watch(child, before, clients, service.as_ref()).await, clients, checks).await,
        Err(error) => checks.fail("canary", format!("`{line}` cannot be started: {error}"), "correct --canary-command"),
    }
}

/// The `pi` example of the Hadoop that is installed here.
fn found() -> Option<String> {
    let homes = std::env::var_os("HADOOP_HOME").map(PathBuf::from).into_iter();
    let path = std::env::var_os("PATH").unwrap_or_default();
    // A launcher in PATH is mostly a link into bin/ of the distribution.
    let linked = std::env::split_paths(&path).filter_map(|dir| dir.join("hadoop").canonicalize().ok());
    homes.chain(linked.filter_map(|file| Some(file.parent()?.parent()?.to_owned()))).find_map(|home| example(&home))
}

fn example(home: &Path) -> Option<String> {
    let launcher = home.join("bin/hadoop");
    let jars = std::fs::read_dir(home.join("share/hadoop/mapreduce")).ok()?;
    let is_example = |name: &str| name.starts_with("hadoop-mapreduce-examples-") && name.ends_with(".jar");
    let jar = jars
        .filter_map(|jar| Some(jar.ok()?.path()))
        .find(|jar| jar.file_name().and_then(|n| n.to_str()).is_some_and(is_example))?;
    launcher.is_file().then(|| {
        format!("'{}' jar '{}' pi -Dmapreduce.job.name=drover-canary 2 1000", launcher.display(), jar.display())
    })
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
    if let Some(service) = service
        && let Ok(detail) = service.get::<JobDetail>(&format!("api/v1/jobs/{job}")).await
    {
        sight.shim |= detail.summary.shim;
    }
}

async fn report(line: &str, (ended, sight): (Result<(), String>, Sight), clients: &Clients, checks: &mut Checks) {
    if let Err(why) = ended {
        checks.fail(
            "canary",
            format!("`{line}`: {why}"),
            "run the command by hand; if it fails only with the shim, see the AM's syslog (yarn logs)",
        );
        return;
    }
    let Some(job) = sight.job else {
        checks.fail(
            "canary",
            format!("`{line}` succeeded, and no new MapReduce application was seen"),
            "see that it runs on this cluster and not in-process (mapreduce.framework.name=yarn)",
        );
        return;
    };
    match (sight.tasks, sight.trouble) {
        (0, Some(trouble)) => checks.fail(
            "canary",
            format!("{job} succeeded, and its tasks could not be read: {trouble}"),
            "see the checks of the proxy above",
        ),
        (0, None) => checks.warn(
            "canary",
            format!("{job} succeeded too soon to be watched"),
            "name a longer job with --canary-command",
        ),
        (tasks, _) => {
            let shim = if sight.shim { "; its shim spoke to the service" } else { "; watched over REST" };
            checks.ok("canary", format!("{job} succeeded, {tasks} tasks seen{shim}"));
        }
    }
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
