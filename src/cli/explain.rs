//! `drover explain`: why each task was or was not advised on, in words and numbers.

use super::client::{Client, NoAnswer};
use super::once::Unread;
use super::output::{self, Exit, Failure};
use super::source::Source;
use super::{Common, cloned, decisions, job_id, measured, once, story};
use crate::api::views::{Counts, DecisionView, JobDetail, TaskView};
use crate::api::{PAGE_MAX, Tasks};
use crate::service::{RECENT, TaskFilter};
use crate::words;
use clap::Args;
use drover_core::model::{Action, Bytes, JobId, Millis, TaskId, Verdict, VirtualOutcome};
use serde::Serialize;
use std::io::Write;

const EXAMPLES: &str = "\
Asks the running service; where none runs, looks at the cluster itself for a few seconds.

Examples:
  drover explain job_1795181650543_0021
  drover explain job_1795181650543_0021 task_1795181650543_0021_m_000003
  drover explain job_1795181650543_0021 m_3 --json";

/// `drover explain`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Command {
    /// The job, by its id or its application's
    #[arg(value_parser = job_id)]
    job: JobId,
    /// One of its tasks: its id, or short m_3 or r_0
    task: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: Source,
}

/// What there is to explain.
#[derive(Debug, Serialize)]
struct Subject {
    job: JobDetail,
    tasks: Vec<TaskView>,
    /// Of a look at the cluster itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    unread: Option<Vec<Unread>>,
}

/// A task's id, in full or in short.
fn task_id(job: JobId, text: &str) -> Option<TaskId> {
    let full = || text.parse::<TaskId>().ok().filter(|id| id.job == job);
    full().or_else(|| format!("task_{}_{}_{text}", job.0.cluster, job.0.seq).parse().ok())
}

impl Command {
    /// Runs it.
    pub async fn run(&self, common: &Common) -> Result<(), Failure> {
        let config = self.source.config(common)?;
        let wrong = |text: &String| {
            let job = self.job;
            Failure::new(Exit::Usage, format!("\"{text}\" is no task of {job}; write its id, or short m_3 or r_0"))
        };
        let task = self.task.as_ref().map(|text| task_id(self.job, text).ok_or_else(|| wrong(text))).transpose()?;
        let asked = match self.source.client(&config)? {
            Some(client) => self.source.answer(&client, self.ask_service(&client, task).await, true)?,
            None => None,
        };
        let subject = match asked {
            Some(subject) => subject,
            None => self.looked_at(&once::look(&config, Some(self.job), &self.source.rounds).await?, task)?,
        };
        if let (Some(task), true) = (task, subject.tasks.is_empty()) {
            return Err(Failure::new(
                Exit::Unknown,
                format!(
                    "{task} is not known; the job has {} and {}",
                    words::count(subject.job.summary.maps.total, "map", "maps"),
                    words::count(subject.job.summary.reduces.total, "reduce", "reduces")
                ),
            ));
        }
        match (self.json, task) {
            (true, _) => output::json(&subject),
            (false, Some(_)) => Ok(output::say(&one(&subject))?),
            (false, None) => Ok(output::say(&all(&subject))?),
        }
    }

    /// What a look at the cluster showed of it. A job that could not be read is not one that does not run.
    fn looked_at(&self, seen: &once::Seen, task: Option<TaskId>) -> Result<Subject, Failure> {
        let filter = TaskFilter { task, running: task.is_none(), after: None, limit: usize::MAX };
        let both = seen.job(self.job).zip(seen.tasks(self.job, filter));
        let why = seen.why_unread(self.job);
        let unread = |why: &str| format!("{} runs and could not be read: {why}", self.job);
        match (both, why) {
            (Some((_, tasks)), Some(why)) if tasks.is_empty() && task.is_some() => {
                Err(Failure::new(Exit::Unreachable, unread(why)))
            }
            (Some((job, tasks)), why) => {
                if let Some(why) = why {
                    writeln!(std::io::stderr(), "{}", unread(why))?;
                }
                let of_it = seen.unread.iter().filter(|unread| unread.job == self.job);
                Ok(Subject { job, tasks, unread: Some(of_it.cloned().collect()) })
            }
            (None, Some(why)) => Err(Failure::new(Exit::Unreachable, unread(why))),
            (None, None) => Err(Failure::new(Exit::Unknown, format!("{} does not run", self.job))),
        }
    }

    async fn ask_service(&self, client: &Client, task: Option<TaskId>) -> Result<Subject, NoAnswer> {
        let mut job: JobDetail = client.get(&format!("api/v1/jobs/{}", self.job)).await?;
        if let Some(task) = task {
            // Those on one task may be older than the newest of its job.
            let found = decisions::newest(client, &format!("job={}&", self.job)).await?;
            job.recent = found.decisions.into_iter().filter(|one| one.task == task.to_string()).collect();
        }
        let which = task.map_or_else(|| "running=true".to_owned(), |task| format!("task={task}"));
        let path = format!("api/v1/jobs/{}/tasks?{which}&limit={PAGE_MAX}", self.job);
        let mut tasks: Vec<TaskView> = Vec::new();
        loop {
            let after = tasks.last().map_or_else(String::new, |last| format!("&after={}", last.task));
            let page: Tasks = client.get(&format!("{path}{after}")).await?;
            let is_last = page.tasks.len() < PAGE_MAX;
            tasks.extend(page.tasks);
            if is_last {
                return Ok(Subject { job, tasks, unread: None });
            }
        }
    }
}

/// The job as a whole, in sentences.
fn heading(job: &JobDetail) -> String {
    let s = &job.summary;
    let count = |kind: &str, counts: &Counts| match counts.total {
        0 => String::new(),
        total => format!(" Of {total} {kind}, {} have succeeded and {} run.", counts.succeeded, counts.running),
    };
    let name = if s.name.is_empty() { String::new() } else { format!(" \"{}\"", s.name) };
    let who = if s.user.is_empty() { String::new() } else { format!(" of {} in queue {}", s.user, s.queue) };
    let source = match (s.shim, s.launcher.as_str()) {
        (true, "drover") => "its shim speaks for it, and its speculation is Drover's",
        (true, _) => "its shim speaks for it",
        (false, _) => "it is watched over REST",
    };
    let mut text = format!(
        "{}{name}{who}: mode {}, {source}; its newest news is {} old.{}{}",
        s.job,
        s.mode,
        words::span(Millis(s.age_ms)),
        count("maps", &s.maps),
        count("reduces", &s.reduces)
    );
    if let Some(blocked) = &s.blocked {
        text += &format!(" {blocked}.");
    }
    if let Some(hold) = &job.hold {
        text += &format!(" {} is held by {}: {}.", hold.scope, hold.by, hold.reason);
    }
    text.extend(job.clones.iter().map(|plan| format!(" {}", cloned::of(plan))));
    text.extend(job.measures.iter().map(|measure| format!(" {}", measured::of(measure))));
    if let Some(set) = &job.settings {
        text += &format!(" Its tasks report at most every {}.", words::span(Millis(set.report_interval_ms)));
        if !set.map_speculation || !set.reduce_speculation {
            let off = if set.map_speculation {
                "reduces"
            } else if set.reduce_speculation {
                "maps"
            } else {
                "all tasks"
            };
            text += &format!(" It has speculation switched off for {off}.");
        }
    }
    text
}

/// Every running task, and the words for each verdict.
fn all(subject: &Subject) -> String {
    let mut text = heading(&subject.job) + "\n";
    if subject.tasks.is_empty() {
        return text + "\nNo task runs now.";
    }
    let mut table = output::table(&["task", "node", "at", "ran", "needs", "a copy", "wins", "cause", "verdict"]);
    let time = |ms: Option<u64>| ms.map_or_else(|| "–".into(), |ms| words::span(Millis(ms)));
    for task in &subject.tasks {
        let n = task.numbers.as_ref();
        table.add_row([
            task.task.clone(),
            task.attempts.iter().find_map(|attempt| attempt.node.clone()).unwrap_or_else(|| "?".into()),
            words::share(n.map_or(task.score, |n| n.score)),
            time(n.map(|n| n.elapsed_ms)),
            time(n.and_then(|n| n.time_left_ms)),
            time(n.and_then(|n| n.fresh_copy_ms)),
            n.and_then(|n| n.win_probability).map_or_else(|| "–".into(), words::share),
            task.cause.as_ref().map_or_else(|| "–".into(), |cause| cause.cause.clone()),
            task.verdict.clone().unwrap_or_else(|| "–".into()),
        ]);
    }
    text += &format!("\n{table}\n");
    for verdict in Verdict::ALL {
        let count = subject.tasks.iter().filter(|task| task.verdict.as_deref() == Some(verdict.label())).count();
        if count > 0 {
            text += &format!("\n{} ({count}): {}.", verdict.label(), verdict.words());
        }
    }
    if !subject.job.recent.is_empty() {
        let told = subject.job.recent.len();
        let so_far = if told < RECENT { "Decided so far" } else { "Decided last" };
        text += &format!("\n\n{so_far} ({told}):");
        for decision in &subject.job.recent {
            let runs = subject.tasks.iter().any(|task| task.task == decision.task);
            text += &format!("\n{}", decided(decision, runs));
        }
    }
    text
}

fn decided(decision: &DecisionView, runs: bool) -> String {
    let node = decision.node.as_deref().map_or_else(String::new, |node| format!(" on {node}"));
    let end = match &decision.end {
        None if decision.copy.is_some() => decision.copy.iter().map(|copy| story::of(&decision.action, copy)).collect(),
        None if runs => "it still runs".to_owned(),
        None => "it has ended".to_owned(),
        Some(end) if end.end == VirtualOutcome::NATIVELY_COPIED => "Hadoop's own speculator copied it too".to_owned(),
        Some(end) => format!(
            "it has ended; the copy would have been first with a probability of {}",
            words::share(end.would_have_won)
        ),
    };
    let what = match decision.told() {
        copy if copy == Action::Duplicate.label() => String::new(),
        other => format!(" to {other}"),
    };
    format!("  {}{node}, {}{what} by {}: {end}.", decision.task, decision.outcome, decision.policy)
}

/// One task, in whole sentences.
fn one(subject: &Subject) -> String {
    let mut text = heading(&subject.job) + "\n";
    for task in &subject.tasks {
        text += &format!("\n{} is {}", task.task, task.state);
        if task.input_bytes > 0 {
            text += &format!(", with {} of input", words::size(Bytes(task.input_bytes)));
        }
        text += ".\n";
        for attempt in &task.attempts {
            let node = attempt.node.as_deref().unwrap_or("a node not known yet");
            let asked = subject.job.recent.iter().filter_map(|decision| decision.copy.as_ref());
            let ours = asked.flat_map(|copy| &copy.attempts).any(|id| *id == attempt.attempt);
            let copy = match (ours, attempt.speculative) {
                (true, _) => ", a copy by Drover",
                // Only the newest decisions are told, and none of a service that ran before.
                (false, true) if subject.job.summary.launcher == "drover" => ", a copy",
                (false, true) => ", a copy by Hadoop's own speculator",
                (false, false) => "",
            };
            let at = words::share(attempt.score);
            text += &format!("  {}: {} on {node}, at {at}{copy}\n", attempt.attempt, attempt.state);
        }
        match (&task.verdict, &task.reason) {
            (Some(verdict), Some(reason)) => text += &format!("\n{verdict}: {reason}\n"),
            _ => {
                text += "\nIt does not run, so there is nothing to decide about it.\n";
                let why = task.cause.as_ref().and_then(|cause| cause.reason.as_ref());
                text.extend(why.map(|why| format!("It was slow. {why}\n")));
            }
        }
        for decision in subject.job.recent.iter().filter(|decision| decision.task == task.task) {
            text += &format!("\nWhen it was {} ({}): {}\n", decision.outcome, decision.rule, decision.reason);
            text += &format!("{}\n", decided(decision, task.verdict.is_some()));
        }
    }
    text
}

#[cfg(test)]
mod tests;
