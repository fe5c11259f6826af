//! `drover report`: whether copies paid.

mod export;
mod html;
mod tables;

use super::Common;
use super::client::{Client, Service};
use super::output::{self, Exit, Failure};
use crate::clock;
use crate::config::value::span;
use crate::ledger::LedgerError;
use crate::ledger::report::{Filter, Report};
use crate::words;
use clap::{Args, Subcommand};
use drover_core::model::{Millis, Time};
use drover_core::policy::PolicyName;
use std::path::{Path, PathBuf};
use url::form_urlencoded::Serializer;

const EXAMPLES: &str = "\
Reads the ledger's file where one is set (ledger.path) or named, also beside a running service, and else asks the service: the numbers are the same.

  gained     seconds by which tasks whose copy won ended before their original's predicted end, give or take the predictions' spread
  off by     how far such predictions were off where the original finished first: what to make of the gain
  in vain    container-seconds of copies that did not win
  off bad hosts  of launched copies that were to keep off some hosts, those that ran on none of them; on preferred: of those with hosts to prefer, those that ran on one; on its rack: on another host of the same rack
  restart    1: a task's first restart, 2: its second; a restart whose attempt was killed for the next has failed
  no outcome  clones that were only advised: whether one that never ran would have won nobody can tell
  held out   jobs left to Hadoop's own speculator (govern.holdout) beside those that could be acted on, whether they were or not

Examples:
  drover report --since 7d
  drover report --queue root.etl --policy drover --json | jq .holdout
  drover report --html > report.html
  drover report export --format parquet --out /tmp/ledger";

/// `drover report`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Command {
    #[command(subcommand)]
    export: Option<Sub>,
    /// Only what is no older: a length of time such as 7d or 12h, a date or a time such as 2026-11-01T18:00 (UTC, where it says no other)
    #[arg(long, value_name = "WHEN", value_parser = since, allow_hyphen_values = true)]
    since: Option<Time>,
    /// Only jobs of this queue, by its path or the last part of it
    #[arg(long, value_name = "QUEUE", value_parser = words::name)]
    queue: Option<String>,
    /// Only jobs of this user
    #[arg(long, value_name = "USER", value_parser = words::name)]
    user: Option<String>,
    /// Only what this policy did
    #[arg(long, value_name = "POLICY", value_parser = words::policy)]
    policy: Option<PolicyName>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print one page of HTML that needs nothing else
    #[arg(long, conflicts_with = "json")]
    html: bool,
    /// Read this ledger, instead of the one that ledger.path names
    #[arg(long, value_name = "FILE", conflicts_with = "service")]
    file: Option<PathBuf>,
    #[command(flatten)]
    service: Service,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Write every table of the ledger into a file of its own
    Export(export::Command),
}

/// The instant that a text means.
fn since(text: &str) -> Result<Time, String> {
    let at = |stamp: jiff::Timestamp| Time(u64::try_from(stamp.as_millisecond()).unwrap_or(0));
    if let Ok(zoned) = text.parse::<jiff::Zoned>() {
        return Ok(at(zoned.timestamp()));
    }
    if let Ok(stamp) = text.parse::<jiff::Timestamp>() {
        return Ok(at(stamp));
    }
    // A zone that is not applied would be dropped without a word.
    if let Ok(moment) = text.parse::<jiff::civil::DateTime>()
        && !text.contains('[')
    {
        let moment = moment.to_zoned(jiff::tz::TimeZone::UTC).map_err(|error| error.to_string())?;
        return Ok(at(moment.timestamp()));
    }
    let ago = |_| format!("\"{text}\" is neither a length of time, such as 7d, nor a date, such as 2026-11-01");
    Ok(clock::now() - Millis(span(text).map_err(ago)?))
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Failure {
        let exit = if matches!(error, LedgerError::Missing(_)) { Exit::Unknown } else { Exit::Failed };
        Failure::new(exit, error.to_string())
    }
}

/// The cluster itself would not do.
fn nobody(client: &Client, kept: Option<&Path>) -> String {
    let at = client.base();
    match kept {
        Some(path) => format!(
            "no service answers at {at}; leave --service out to read {}, which ledger.path names",
            path.display()
        ),
        None => format!(
            "no ledger is named and no service answers at {at}; name a ledger with --file or ledger.path, or a service with --service URL"
        ),
    }
}

/// The ledger's file, where one is named or set.
fn file(named: Option<&Path>, common: &Common) -> Result<Option<PathBuf>, Failure> {
    match named {
        Some(path) => Ok(Some(path.to_owned())),
        None => Ok(common.load()?.config.ledger.path),
    }
}

impl Command {
    /// Runs it.
    pub async fn run(&self, common: &Common) -> Result<(), Failure> {
        if let Some(Sub::Export(command)) = &self.export {
            return command.run(common);
        }
        let report = self.report(common).await?;
        if self.json {
            return output::json(&report);
        }
        if self.html {
            let page = html::page(&report).map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
            return Ok(output::say(&page)?);
        }
        Ok(output::say(&tables::text(&report))?)
    }

    async fn report(&self, common: &Common) -> Result<Report, Failure> {
        let path = if self.service.is_named() { None } else { file(self.file.as_deref(), common)? };
        match path {
            Some(path) => Ok(Report::of(&path, &self.filter(), clock::now())?),
            None => {
                let client = self.service.client(common)?;
                // A configuration that cannot be read names none.
                let kept = || file(None, common).ok().flatten();
                client.get_report(&self.address()).await.map_err(|why| why.or(|| nobody(&client, kept().as_deref())))
            }
        }
    }

    fn filter(&self) -> Filter {
        let (queue, user) = (self.queue.clone(), self.user.clone());
        let policy = self.policy.map(|policy| policy.label().to_owned());
        Filter { since: self.since.unwrap_or_default(), queue, user, policy }
    }

    /// Where the service answers the same.
    fn address(&self) -> String {
        let Filter { since, queue, user, policy } = self.filter();
        let mut query = Serializer::new(String::new());
        query.append_pair("since_ms", &since.0.to_string());
        for (name, value) in [("queue", &queue), ("user", &user), ("policy", &policy)] {
            query.extend_pairs(value.iter().map(|value| (name, value)));
        }
        format!("api/v1/report?{}", query.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        command: Command,
    }

    #[test]
    fn a_date_is_its_midnight_a_time_keeps_its_hour_and_zone_and_a_length_of_time_goes_back_from_now() {
        assert_eq!(since("1970-01-02"), Ok(Time(86_400_000)));
        assert_eq!(since("1970-01-02T01:00:00Z"), Ok(Time(90_000_000)));
        for text in ["1970-01-02T01:00", "1970-01-02 01:00", "1970-01-02T02:00+01", "1970-01-02T02:00[Europe/Berlin]"] {
            assert_eq!(since(text), Ok(Time(90_000_000)), "{text}");
        }
        assert!(since("1970-01-02T01:00[Nowhere/AtAll]").is_err());
        let (before, ago) = (clock::now(), since("2h").unwrap());
        assert!(ago + Millis(7_200_000) >= before && ago + Millis(7_200_000) <= clock::now());
        assert!(since("last week").unwrap_err().contains("such as 7d"));
    }

    #[test]
    fn the_service_is_asked_for_what_the_file_would_be() {
        let line = Line::parse_from(["report", "--since", "1970-01-02", "--queue", "root.a b", "--user", "ann&x=y"]);
        assert_eq!(line.command.address(), "api/v1/report?since_ms=86400000&queue=root.a+b&user=ann%26x%3Dy");
        assert_eq!(line.command.filter().user.as_deref(), Some("ann&x=y"));
        let line = Line::parse_from(["report", "--policy", "late"]);
        assert!(line.command.address().ends_with("&policy=late"));
        for filter in ["--queue", "--user"] {
            let refused = Line::try_parse_from(["report", filter, ""]).unwrap_err().to_string();
            assert!(refused.contains(filter) && refused.contains("leave the option out"), "{refused}");
        }
        assert!(
            Line::try_parse_from(["report", "--policy", "foo"]).unwrap_err().to_string().contains("known are late")
        );
    }
}
