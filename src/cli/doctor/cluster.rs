//! The cluster's web servers: who answers, what they let us see, how their clocks stand.

use super::Checks;
use crate::yarn::discover::{Cluster, Located};
use crate::yarn::error::{Error, Kind, LET_VIEW};
use crate::yarn::facts::cluster::AppSeen;
use crate::yarn::http::Frame;
use crate::yarn::poll::Clients;
use crate::yarn::rm::Presented;
use drover_core::model::{AppAttemptId, JobId};

/// Skew beyond which elapsed times between machines mislead people; decisions follow each AM's own clock.
pub(super) const SKEW_MS: u64 = 5_000;
/// Jobs that are tried at most, the newest first: one may be just starting, or end meanwhile.
const JOBS_TRIED: usize = 5;

/// Checks the servers; does the ResourceManager answer?
pub async fn check(found: &Cluster, clients: &Clients, checks: &mut Checks) -> bool {
    let all = clients.rm.present().await;
    let active = managers(&found.rms, &all, checks);
    if !active {
        return false;
    }
    if let Some(frame) = all.iter().filter_map(|one| one.info.as_ref().ok()).map(|told| &told.frame).next() {
        skew(frame, checks);
    }
    if let Some(proxy) = &found.proxy {
        checks.ok("proxy", format!("ApplicationMasters are asked through {} ({})", proxy.server, proxy.origin));
    }
    let seen = applications(clients, checks).await;
    history(found, clients, checks).await;
    seen
}

fn managers(located: &[Located], all: &[Presented], checks: &mut Checks) -> bool {
    let mut active = false;
    for one in all {
        let origin = located.iter().find(|known| known.server == one.server).map_or("", |known| known.origin.as_str());
        match &one.info {
            Ok(told) => {
                let state = told.what.ha_state.as_deref().unwrap_or("ACTIVE");
                let version = told.what.hadoop_version.as_deref().unwrap_or("?");
                active |= state == "ACTIVE";
                checks.ok(
                    "resource manager",
                    format!("{} is {}, Hadoop {version} ({origin})", one.server, state.to_lowercase()),
                );
                supported(version, checks);
            }
            Err(error) if all.len() > 1 => {
                checks.warn(
                    "resource manager",
                    format!("{error} ({origin})"),
                    "one of several may be down; bring it back before the other fails",
                );
            }
            Err(error) => checks.fail("resource manager", format!("{error} ({origin})"), advice(&error.kind)),
        }
    }
    if !active && all.len() > 1 {
        checks.fail(
            "resource manager",
            "none of them is active",
            "see the ResourceManagers' logs and their state store",
        );
    }
    active
}

/// The shim compiles against these versions' interfaces, and REST has not changed since.
fn supported(version: &str, checks: &mut Checks) {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().ok());
    let known = match (parts.next().flatten(), parts.next().flatten()) {
        (Some(2), Some(minor)) => minor >= 7,
        (Some(3), Some(minor)) => minor <= 5,
        _ => false,
    };
    if !known {
        checks.warn(
            "hadoop version",
            format!("{version} is none that Drover knows (2.7 to 3.5)"),
            "run with --canary before you rely on it",
        );
    }
}

/// How somebody's clock stands beside this machine's, Unix milliseconds.
pub(super) fn clock_says(whose: &str, theirs: u64, ours: u64) -> String {
    let side = if theirs < ours { "behind" } else { "ahead of" };
    format!("{whose}'s clock is {:.1} s {side} this machine's", theirs.abs_diff(ours) as f64 / 1_000.0)
}

fn skew(frame: &Frame, checks: &mut Checks) {
    let Some(date) = frame.date else {
        checks.skip("clock skew", "the ResourceManager does not tell its time");
        return;
    };
    // The header has whole seconds, so half of one is its mean error.
    let theirs = date.0 + 500;
    let apart = theirs.abs_diff(frame.received.0);
    let says = clock_says("the ResourceManager", theirs, frame.received.0);
    match apart {
        0..1_000 => checks.ok("clock skew", "the ResourceManager's clock and this machine's agree to a second"),
        1_000..=SKEW_MS => checks.ok("clock skew", says),
        _ => checks.warn(
            "clock skew",
            says,
            "synchronise the clocks (NTP). Decisions follow each job's own clock; times shown side by side mislead",
        ),
    }
}

/// What to do about an error of a server.
fn advice(kind: &Kind) -> &'static str {
    match kind {
        Kind::Unauthorized(_) => {
            "where the cluster goes by simple authentication, name a user in cluster.user; a Kerberos login (SPNEGO) Drover cannot give: use an address behind a proxy that gives it"
        }
        Kind::Forbidden(_) => LET_VIEW,
        Kind::Unreachable(_) => {
            "see that the daemon runs, that the address is its web address (not its RPC address), and that no firewall stands between"
        }
        Kind::Certificate(_) => {
            "name the file with the certificate (PEM) of the authority that signed it in rest.ca_file, and the server as its certificate does, among its subject alternative names: a common name alone does not count"
        }
        Kind::Html(_) | Kind::PlainText(_) | Kind::Unexpected { .. } | Kind::Protocol(_) => {
            "check the address: something else answers there, or a login page stands before it"
        }
        Kind::AppNotServed => {
            "the job may just be starting; try again. If it stays so, the ApplicationMaster's host cannot be reached from the ResourceManager"
        }
        _ => "see the server's log",
    }
}

async fn applications(clients: &Clients, checks: &mut Checks) -> bool {
    let apps = match clients.rm.apps(None).await {
        Ok(told) => told.what,
        Err(error) => {
            checks.fail("applications", error.to_string(), advice(&error.kind));
            return false;
        }
    };
    checks.ok("applications", format!("{} MapReduce applications run", apps.len()));
    for app in apps.iter().rev().take(JOBS_TRIED) {
        let asked = through_proxy(app, clients).await;
        let passes = |answer: &Result<_, Error>| answer.as_ref().is_err_and(|error| is_passing(&error.kind));
        if asked.iter().any(|(_, answer)| passes(answer)) {
            continue;
        }
        let job = format!("{} of {}", JobId(app.fact.app), app.fact.user);
        for (name, answer) in asked {
            match answer {
                Ok(what) => checks.ok(name, format!("{job} shows {what}")),
                Err(error) => checks.fail(name, format!("{job}: {error}"), advice(&error.kind)),
            }
        }
        return true;
    }
    let why = match apps.len() {
        0 => "no job runs; --canary runs one",
        _ => "each that was asked is just starting or has just ended; try again, or --canary runs one",
    };
    checks.skip("job through the proxy", why);
    true
}

async fn through_proxy(app: &AppSeen, clients: &Clients) -> [(&'static str, Result<&'static str, Error>); 3] {
    let job = JobId(app.fact.app);
    let attempt = AppAttemptId { app: app.fact.app, number: app.attempt.unwrap_or(1) };
    [
        ("job through the proxy", clients.am.job(None, job, attempt).await.map(|_| "its summary")),
        ("tasks through the proxy", clients.am.tasks(None, job).await.map(|_| "its tasks")),
        ("job configuration", clients.am.settings(None, job).await.map(|_| "its configuration")),
    ]
}

/// What a job says whose master is not there yet, or no more.
fn is_passing(kind: &Kind) -> bool {
    matches!(kind, Kind::AppFinished | Kind::AppNotServed)
}

async fn history(found: &Cluster, clients: &Clients, checks: &mut Checks) {
    let (Some(located), Some(client)) = (&found.history, &clients.history) else {
        checks.warn(
            "history server",
            "nothing says where the JobHistoryServer is",
            "set mapreduce.jobhistory.webapp.address in mapred-site.xml, or cluster.history_url: without it the ends of attempts are not known",
        );
        return;
    };
    match client.info().await {
        Ok(_) => checks.ok("history server", format!("{} answers ({})", located.server, located.origin)),
        Err(error) => checks.warn("history server", format!("{error} ({})", located.origin), advice(&error.kind)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;
    use drover_core::model::Time;
    use std::time::Duration;

    fn skewed(ms: i64) -> Verdict {
        let mut checks = Checks::default();
        let received = Time(1_000_000_000);
        let date = Some(received.shifted(ms));
        skew(&Frame { date, received, took: Duration::ZERO, bytes: 0 }, &mut checks);
        checks.0[0].verdict
    }

    #[test]
    fn clocks_that_are_minutes_apart_are_warned_about_either_way() {
        assert_eq!(
            [skewed(-900), skewed(3_000), skewed(-600_000), skewed(600_000)],
            [Verdict::Ok, Verdict::Ok, Verdict::Warn, Verdict::Warn]
        );
    }

    #[test]
    fn versions_nobody_tried_are_warned_about() {
        for (version, warned) in [("3.4.3", false), ("2.7.7", false), ("2.6.5", true), ("4.0.0", true), ("?", true)] {
            let mut checks = Checks::default();
            supported(version, &mut checks);
            assert_eq!(!checks.0.is_empty(), warned, "{version}");
        }
    }
}
