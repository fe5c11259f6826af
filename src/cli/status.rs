//! `drover status`: how the running service is, at a glance.

use super::Common;
use super::client::{Client, NoAnswer, Service};
use super::output::{self, Failure};
use crate::api::HoldView;
use crate::api::views::{ConfigView, KnownView, LearnedView, Status};
use crate::ledger::report::Report;
use crate::telemetry;
use crate::words;
use clap::Args;
use drover_core::model::{Bytes, Millis};
use serde::Serialize;

const HELP: &str = "\
Asks the running service, and ends with 0 where one answers, with 3 where none does. What keeps it from its work, and what to change, `drover doctor` tells.

  ResourceManager  does one answer, and when did it last tell of applications, totals, nodes or queues?
  shims            jobs for which a shim speaks; only these can have copies. A lease is what lets Drover start them
  last hour        what was asked for, or in mode advise only said, as the ledger has it; unknown where none is kept (ledger.path)
  learned          tasks behind the odds of straggling, predictions that were put to the test, jobs whose tasks' times are known; and what of it an earlier process left
  configuration    when SIGHUP last had it read again, and which settings hold something else since then and wait for a restart
  held             jobs that are not acted on, a line for each hold: cluster, queue, user or job (`drover pause`, `drover stop`)

Examples:
  drover status
  drover status --service http://drover-host:7070
  drover status --json | jq .status.rm
  drover status --json | jq -r '.status.holds[].scope'";

const HOUR: u64 = 3_600_000;
/// Holds that are shown, and settings that wait; all are in the JSON.
const SHOWN: usize = 5;

/// `drover status`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Command {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    service: Service,
}

/// All that is told; as JSON, what `--json` prints.
#[derive(Debug, Serialize)]
struct Glance {
    service: String,
    status: Status,
    /// `null` without a ledger that can be read.
    last_hour: Option<LastHour>,
    /// Why not, then.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_hour_unknown: Option<String>,
}

/// What was decided in the last hour.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct LastHour {
    copies: u64,
    clones: u64,
    restarts: u64,
    /// Said and not done.
    advised: u64,
}

impl LastHour {
    fn of(report: &Report) -> LastHour {
        let asked = |action: &str| {
            let of_it = report.copies.iter().filter(|one| one.action == action);
            of_it.map(|one| one.decided).sum()
        };
        let advised = report.advice.iter().map(|one| one.said).sum();
        LastHour { copies: asked("duplicate"), clones: asked("clone"), restarts: asked("restart"), advised }
    }
}

impl Command {
    /// Runs it.
    pub async fn run(&self, common: &Common) -> Result<(), Failure> {
        let client = self.service.client(common)?;
        let nobody = || {
            format!(
                "no service answers at {}; start one with `drover serve`, or name another with --service URL. `drover doctor` tells what would keep one from its work",
                client.base()
            )
        };
        let glance = glance(&client).await.map_err(|why| why.or(nobody))?;
        if self.json { output::json(&glance) } else { Ok(output::say(&text(&glance))?) }
    }
}

async fn glance(client: &Client) -> Result<Glance, NoAnswer> {
    let status: Status = client.get("api/v1/status").await?;
    let since = status.now_ms.saturating_sub(HOUR);
    // A ledger that is off, busy or damaged must not hide the rest.
    let report = client.get::<Report>(&format!("api/v1/report?since_ms={since}")).await;
    let (last_hour, last_hour_unknown) = match report {
        Ok(report) => (Some(LastHour::of(&report)), None),
        Err(why) => (None, Some(Failure::from(why).message)),
    };
    Ok(Glance { service: client.base().to_string(), last_hour, last_hour_unknown, status })
}

fn text(glance: &Glance) -> String {
    let line = |(what, says): (&str, String)| format!("{what:<16} {says}");
    rows(glance).into_iter().map(line).collect::<Vec<_>>().join("\n")
}

fn rows(glance: &Glance) -> Vec<(&'static str, String)> {
    let Glance { service, status, last_hour, last_hour_unknown } = glance;
    let version = telemetry::build(&status.version, status.revision.as_deref());
    let up = since(status, status.started_ms);
    let unknown = || format!("not known: {}", last_hour_unknown.as_deref().unwrap_or("no ledger to read it from"));
    let last_hour = last_hour.as_ref().map_or_else(unknown, |told| {
        let LastHour { copies, clones, restarts, advised } = told;
        let copies = words::count(*copies, "copy", "copies");
        let (clones, restarts) =
            (words::count(*clones, "clone", "clones"), words::count(*restarts, "restart", "restarts"));
        format!("{copies}, {clones} and {restarts} asked for; {advised} only advised")
    });
    let mut rows = vec![
        ("Drover", format!("version {version} at {service}, up {up}")),
        ("mode", format!("{}, policy {}, estimator {}", status.mode, status.policy, status.estimator)),
        ("ResourceManager", manager(status)),
        ("jobs", jobs(status)),
        ("shims", shims(status)),
        ("copies", format!("{} in flight, those only advised included", status.copies_in_flight)),
        ("last hour", last_hour),
    ];
    rows.extend(kept_from_acting(status));
    rows.extend(holds(status));
    rows.push(("learned", learned(&status.learned)));
    rows.push(("ledger", ledger(status)));
    rows.extend(configuration(status));
    rows
}

/// How long before the service's now.
fn since(status: &Status, then_ms: u64) -> String {
    words::span(Millis(status.now_ms.saturating_sub(then_ms)))
}

fn manager(status: &Status) -> String {
    let Some(told) = status.rm.told_ms else {
        return "HAS NOT ANSWERED YET: the service's log says why, and so does drover doctor".to_owned();
    };
    let silent = "DOES NOT TELL ITS APPLICATIONS (the service's log says why)";
    let (state, heard) = (if status.rm.answers { "answers" } else { silent }, since(status, told));
    let unread = if status.ready { "" } else { "; the cluster has not been read completely yet" };
    format!("{state}, last heard {heard} ago; {} of {} nodes usable{unread}", status.usable_nodes, status.nodes)
}

/// A count that is only worth a word where there is one.
fn where_any(count: u64, what: &str) -> String {
    if count > 0 { format!(", {count} {what}") } else { String::new() }
}

fn jobs(status: &Status) -> String {
    let hidden = where_any(status.blocked_jobs, "whose tasks Drover may not view");
    format!("{} watched{hidden}; running tasks: {}", status.jobs, status.running_tasks())
}

fn shims(status: &Status) -> String {
    let unable = where_any(status.shims_unable, "cannot start copies");
    let plain = where_any(status.shims_over_plain_http, "over plain HTTP, so only advised on");
    let others = status.other_shims().map(|(version, count)| format!(", {count} of version {version}"));
    let others: String = others.collect();
    format!("{} connected, {} with a lease{unable}{plain}{others}", status.jobs_with_shim, status.leases)
}

/// What lets it only advise, whatever its mode.
fn kept_from_acting(status: &Status) -> Vec<(&'static str, String)> {
    let rival = status.higher_epoch.map(|epoch| format!("of epoch {epoch}; this one does not act"));
    let rival = rival.map(|says| ("ANOTHER SERVICE", says));
    let breakers = status.breakers.iter().map(|one| {
        let says = format!("{} only advises for {}: {} of {} copies won", one.policy, one.user, one.won, one.copies);
        ("breaker", says)
    });
    rival.into_iter().chain(breakers).collect()
}

fn holds(status: &Status) -> Vec<(&'static str, String)> {
    let all = &status.holds;
    let unkept =
        status.holds_unkept.as_ref().map(|why| ("NOT KEPT", format!("what is held, for the next start: {why}")));
    let nothing = all.is_empty().then(|| ("held", "nothing".into()));
    let shown = all.iter().take(SHOWN).map(|hold| ("held", held(hold, status.now_ms)));
    let more = all.len().saturating_sub(SHOWN);
    let more = (more > 0).then(|| ("held", format!("and {more} more, which --json names")));
    nothing.into_iter().chain(shown).chain(more).chain(unkept).collect()
}

fn held(hold: &HoldView, now_ms: u64) -> String {
    let until = match hold.until_ms {
        Some(until) => format!("for another {}", words::span(Millis(until.saturating_sub(now_ms)))),
        None => "until it is resumed".to_owned(),
    };
    format!("{} {until}, by {}: {}", hold.scope, hold.by, hold.reason)
}

fn learned(told: &LearnedView) -> String {
    let KnownView { tasks, predictions, kinds, .. } = told.now;
    let names = words::count(kinds, "job name", "job names");
    let before = told.resumed.map_or_else(
        || "began with nothing".to_owned(),
        |KnownView { tasks, predictions, kinds, .. }| format!("began with {tasks}, {predictions} and {kinds}"),
    );
    let kept = if told.left_alone {
        "; NOT KEPT until the service starts again: what was kept before could not be read"
    } else {
        ""
    };
    format!("from {tasks} tasks, {predictions} predictions, {names}; {before}{kept}")
}

/// What came of reading it again, where it was.
fn configuration(status: &Status) -> Option<(&'static str, String)> {
    let ConfigView { read_ms, refused, .. } = &status.config;
    let ago = since(status, (*read_ms)?);
    let waiting =
        status.config.waiting(SHOWN).map_or_else(String::new, |which| format!("; wait for a restart: {which}"));
    let says = match refused {
        Some(_) => format!("READ AGAIN {ago} ago IN VAIN: `drover doctor` tells why{waiting}"),
        None => format!("read again {ago} ago{waiting}"),
    };
    Some(("configuration", says))
}

fn ledger(status: &Status) -> String {
    let size = status.ledger.size_bytes.map(|bytes| words::size(Bytes(bytes)));
    let size = size.map_or_else(String::new, |size| format!(", {size}"));
    match (&status.ledger.trouble, status.ledger.state.as_str()) {
        (Some(trouble), _) => format!("NOT KEPT{size}: {trouble}"),
        (None, "keeping") => format!("kept{size}"),
        (None, "opening") => format!("being looked through before it is written to{size}"),
        (None, _) => "none is kept".into(),
    }
}

#[cfg(test)]
mod tests;
