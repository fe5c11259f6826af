//! `drover pause`, `drover stop`, `drover resume`: has a running service hand jobs back, and take them again.

use super::client::Service;
use super::output::{self, Failure};
use super::{Common, job_id};
use crate::api::{HoldAnswer, HoldRequest, HoldView, HoldsView};
use crate::words;
use clap::Args;
use drover_core::model::{JobId, Millis, Scope};
use serde::Serialize;
use std::io::Write;

const PAUSE: &str = "\
Drover starts no more copies for what is paused, and Hadoop's own speculator has those jobs back at their next exchange, a second or so later. Advice goes \
on. Copies that run go on, too. What is held for longer already stays so: a pause that would end sooner is refused. Needs the role `operate`.

Examples:
  drover pause --reason \"month-end closing\"                    every job, for an hour
  drover pause --queue root.etl --reason \"slow disks\" --for 2h
  drover pause --job job_1795181650543_0021 --reason \"looks odd\" --for 30m";
const STOP: &str = "\
Like `drover pause` for the whole cluster and without an end: nothing is acted on until `drover resume`. Where state.dir is set this outlasts a restart.

Examples:
  drover stop --reason \"incident 4711\"";
const RESUME: &str = "\
Without a scope, lifts the hold of the whole cluster: that of `drover stop`, or of `drover pause` without one.

Examples:
  drover resume
  drover resume --queue root.etl";

/// What a hold covers.
#[derive(Debug, Args)]
#[group(multiple = false)]
struct Covers {
    /// Jobs of this queue
    #[arg(long, value_name = "QUEUE", value_parser = words::name)]
    queue: Option<String>,
    /// Jobs of this user
    #[arg(long, value_name = "USER", value_parser = words::name)]
    user: Option<String>,
    /// This job, by its id or its application's
    #[arg(long, value_name = "JOB", value_parser = job_id)]
    job: Option<JobId>,
}

#[derive(Debug, Args)]
struct Asked {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    service: Service,
}

/// `drover pause`.
#[derive(Debug, Args)]
#[command(after_help = PAUSE)]
pub struct Pause {
    #[command(flatten)]
    covers: Covers,
    /// Why; everybody who looks is told
    #[arg(long)]
    reason: String,
    /// For how long
    #[arg(long = "for", value_name = "TIME", default_value = "1h", allow_hyphen_values = true)]
    lasts: String,
    #[command(flatten)]
    asked: Asked,
}

/// `drover stop`.
#[derive(Debug, Args)]
#[command(after_help = STOP)]
pub struct Stop {
    /// Why; everybody who looks is told
    #[arg(long)]
    reason: String,
    #[command(flatten)]
    asked: Asked,
}

/// `drover resume`.
#[derive(Debug, Args)]
#[command(after_help = RESUME)]
pub struct Resume {
    #[command(flatten)]
    covers: Covers,
    #[command(flatten)]
    asked: Asked,
}

impl Covers {
    fn scope(&self) -> String {
        let queue = self.queue.clone().map(Scope::Queue);
        let user = || self.user.clone().map(Scope::User);
        let job = || self.job.map(Scope::Job);
        crate::service::holds::name(&queue.or_else(user).or_else(job).unwrap_or(Scope::Cluster))
    }
}

impl Asked {
    async fn hold(&self, common: &Common, request: &HoldRequest) -> Result<(), Failure> {
        let answer: HoldAnswer = self.service.client(common)?.post("api/v1/holds", request).await?;
        if self.json { output::json(&answer) } else { Ok(output::say(&held(&answer))?) }
    }
}

impl Pause {
    /// Runs it.
    pub async fn run(&self, common: &Common) -> Result<(), Failure> {
        let (reason, lasts) = (self.reason.clone(), Some(self.lasts.clone()));
        self.asked.hold(common, &HoldRequest { scope: self.covers.scope(), reason, lasts }).await
    }
}

impl Stop {
    /// Runs it.
    pub async fn run(&self, common: &Common) -> Result<(), Failure> {
        let (scope, reason) = ("cluster".into(), self.reason.clone());
        self.asked.hold(common, &HoldRequest { scope, reason, lasts: None }).await
    }
}

impl Resume {
    /// Runs it.
    pub async fn run(&self, common: &Common) -> Result<(), Failure> {
        let client = self.asked.service.client(common)?;
        let answer: HoldAnswer = client.delete(&["api", "v1", "holds", &self.covers.scope()]).await?;
        // It is resumed, whatever becomes of the question.
        let left: Option<HoldsView> = match client.get("api/v1/holds").await {
            Ok(left) => Some(left),
            Err(failure) => {
                let failure = Failure::from(failure);
                writeln!(std::io::stderr(), "what else is held is not known: {}", failure.message)?;
                None
            }
        };
        let left = left.as_ref().map(|left| left.holds.as_slice());
        if self.asked.json {
            return output::json(&Left { answer: &answer, still_held: left });
        }
        Ok(output::say(&resumed(&answer, left.unwrap_or_default()))?)
    }
}

/// What `drover resume --json` prints.
#[derive(Serialize)]
struct Left<'a> {
    #[serde(flatten)]
    answer: &'a HoldAnswer,
    /// `null` where it could not be asked for.
    still_held: Option<&'a [HoldView]>,
}

fn with_note(text: String, answer: &HoldAnswer) -> String {
    answer.note.iter().fold(text, |text, note| format!("{text}\nNote: {note}."))
}

fn held(answer: &HoldAnswer) -> String {
    let hold = &answer.hold;
    let until = match hold.until_ms {
        Some(until) => format!("for {}", words::span(Millis(until.saturating_sub(hold.since_ms)))),
        None => "until it is resumed".to_owned(),
    };
    let scope = &hold.scope;
    let resume = crate::service::holds::resume(scope);
    let text = format!(
        "Held: {scope}, {until}. Drover starts no copies there and goes on advising; Hadoop's own speculator has the jobs back at their next exchange.\n\
         `{resume}` ends it."
    );
    let replaced = |old: &HoldView| format!("\nIt takes the place of the hold by {}: {}", old.by, old.reason);
    with_note(text + &answer.replaced.as_ref().map_or_else(String::new, replaced), answer)
}

fn resumed(answer: &HoldAnswer, left: &[HoldView]) -> String {
    let mut text = format!("Resumed: {}.", answer.hold.scope);
    for hold in left {
        text += &format!("\nStill held: {}, by {}: {}", hold.scope, hold.by, hold.reason);
    }
    with_note(text, answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(until_ms: Option<u64>) -> HoldAnswer {
        let (scope, reason, by) = ("queue:root.etl".into(), "slow disks".into(), "local".into());
        HoldAnswer { hold: HoldView { scope, reason, by, since_ms: 1_000, until_ms }, replaced: None, note: None }
    }

    #[test]
    fn an_operator_is_told_what_is_held_for_how_long_and_what_stays_held() {
        let text = held(&answer(Some(7_201_000)));
        assert!(text.starts_with("Held: queue:root.etl, for 2 h 00 min. Drover starts no copies"), "{text}");
        assert!(text.ends_with("`drover resume --queue root.etl` ends it."), "{text}");
        let note = Some("it is forgotten when the service starts again".into());
        let text = held(&HoldAnswer { note, ..answer(None) });
        assert!(
            text.contains("until it is resumed")
                && text.ends_with("Note: it is forgotten when the service starts again.")
        );
        let replaced = Some(answer(None).hold);
        let text = held(&HoldAnswer { replaced, ..answer(None) });
        assert!(text.ends_with("It takes the place of the hold by local: slow disks"), "{text}");
        let text = resumed(&answer(None), &[answer(None).hold]);
        assert_eq!(text, "Resumed: queue:root.etl.\nStill held: queue:root.etl, by local: slow disks");
    }

    #[test]
    fn without_a_scope_the_whole_cluster_is_meant() {
        let covers = |queue: Option<&str>, user: Option<&str>| Covers {
            queue: queue.map(Into::into),
            user: user.map(Into::into),
            job: None,
        };
        assert_eq!(covers(None, None).scope(), "cluster");
        assert_eq!(covers(Some("root.etl"), None).scope(), "queue:root.etl");
        assert_eq!(covers(None, Some("ann")).scope(), "user:ann");
    }
}
