//! `drover advise`: what Drover would do now.

use super::client::{Client, NoAnswer};
use super::decisions::Decided;
use super::once::{Seen, Unread, unread_words};
use super::output::{self, Exit, Failure};
use super::source::Source;
use super::{Common, decisions, job_id, once};
use crate::api::views::{DecisionView, JobDetail, Status};
use crate::words;
use clap::Args;
use drover_core::model::{JobId, Millis};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::time::Duration;

const EXAMPLES: &str = "\
Asks the running service; where none runs, looks at the cluster itself for a few seconds. Lists tasks of which a copy, started when it \
was advised, should finish first, and which still run: the newest 10,000, where there are more.

Examples:
  drover advise                            every job
  drover advise job_1795181650543_0021     one job
  drover advise --watch                    each advice as it is given, until Ctrl-C
  drover advise --from-cluster --rounds 8  without a service, looking eight times
  drover advise --json | jq '.decisions[].task'";

/// `drover advise`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Command {
    /// This job only, by its id or its application's
    #[arg(value_parser = job_id)]
    job: Option<JobId>,
    /// Go on, and print each advice as it is given
    #[arg(long, conflicts_with = "from_cluster")]
    watch: bool,
    /// Print JSON; with --watch one line each
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: Source,
}

/// Advice, and what the rest is doing.
#[derive(Serialize)]
struct Advice {
    decisions: Vec<DecisionView>,
    /// There are older ones, which were not read.
    older_left_out: bool,
    status: Status,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Look<'a> {
    #[serde(flatten)]
    advice: &'a Advice,
    /// Of a look at the cluster itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    unread: Option<&'a [Unread]>,
}

impl Command {
    /// Runs it.
    pub async fn run(&self, common: &Common) -> Result<(), Failure> {
        let config = self.source.config(common)?;
        if let Some(client) = self.source.client(&config)? {
            let answer = self.ask_service(&client).await;
            match self.source.answer(&client, answer, !self.watch)? {
                Some(advice) if self.watch => return self.watch(&client, advice).await,
                Some(advice) => return self.print(&advice),
                None => {}
            }
        }
        let seen = once::look(&config, self.job, &self.source.rounds).await?;
        self.print_look(&seen)
    }

    /// Prints what a look at the cluster showed; without any job that it could read, that is a failure and no advice.
    fn print_look(&self, seen: &Seen) -> Result<(), Failure> {
        let advice = Advice { decisions: seen.open_decisions(self.job), older_left_out: false, status: seen.status() };
        let unread = || unread_words(&seen.unread);
        let blind = seen.blind && advice.decisions.is_empty();
        if let Some(job) = self.job.filter(|job| !blind && seen.job(*job).is_none() && seen.why_unread(*job).is_none())
        {
            return Err(Failure::new(Exit::Unknown, format!("{job} does not run")));
        }
        if self.json {
            output::json(&Look { advice: &advice, unread: Some(&seen.unread) })?;
        } else if !blind {
            self.print(&advice)?;
        }
        if blind {
            return Err(Failure::new(Exit::Unreachable, unread()));
        }
        if !seen.unread.is_empty() {
            writeln!(std::io::stderr(), "{}", unread())?;
        }
        Ok(())
    }

    async fn ask_service(&self, client: &Client) -> Result<Advice, NoAnswer> {
        let decided = decisions::newest(client, &format!("open=true&{}", self.of_job())).await?;
        if let (Some(job), true) = (self.job, decided.decisions.is_empty()) {
            // Of a job that is not known there is nothing to say, not even that there is nothing to advise.
            let _: JobDetail = client.get(&format!("api/v1/jobs/{job}")).await?;
        }
        let (decisions, older_left_out) = (decided.decisions, decided.has_more);
        Ok(Advice { decisions, older_left_out, status: client.get("api/v1/status").await? })
    }

    fn of_job(&self) -> String {
        self.job.map_or_else(String::new, |job| format!("job={job}&"))
    }

    fn print(&self, advice: &Advice) -> Result<(), Failure> {
        if self.json {
            return output::json(&Look { advice, unread: None });
        }
        if advice.decisions.is_empty() {
            return Ok(output::say(&nothing(&advice.status, self.job))?);
        }
        output::say(&table(&advice.decisions))?;
        Ok(say_left_out(advice.older_left_out)?)
    }

    /// Prints what is open, then each new decision.
    async fn watch(&self, client: &Client, advice: Advice) -> Result<(), Failure> {
        const EVERY: Duration = Duration::from_secs(1);
        let mut last = advice.status.decisions;
        let mut incarnation = advice.status.incarnation.clone();
        say_left_out(advice.older_left_out)?;
        self.each(&advice.decisions)?;
        if advice.decisions.is_empty() && !self.json && std::io::stderr().is_terminal() {
            writeln!(std::io::stderr(), "{}; waiting for advice, Ctrl-C ends", nothing(&advice.status, self.job))?;
        }
        let mut is_waiting = false;
        loop {
            tokio::time::sleep(EVERY).await;
            match self.newer(client, &mut last, &mut incarnation).await {
                Ok(decided) => {
                    is_waiting = false;
                    say_left_out(decided.has_more)?;
                    self.each(&decided.decisions)?;
                }
                // It may be just starting again.
                Err(why) if why.passing().is_some() => {
                    if let Some(says) = why.passing().filter(|_| !is_waiting) {
                        writeln!(std::io::stderr(), "{says}; waiting for it, Ctrl-C ends")?;
                    }
                    is_waiting = true;
                }
                Err(other) => return Err(other.into()),
            }
        }
    }

    /// The decisions after the last one of that process, or of another that runs by now.
    async fn newer(&self, client: &Client, last: &mut u64, incarnation: &mut String) -> Result<Decided, NoAnswer> {
        let status: Status = client.get("api/v1/status").await?;
        if status.incarnation != *incarnation {
            // Another process counts from the beginning.
            (*last, *incarnation) = (0, status.incarnation.clone());
        }
        if status.decisions <= *last {
            return Ok(Decided { decisions: Vec::new(), has_more: false });
        }
        let decided = decisions::newest(client, &format!("since={last}&{}", self.of_job())).await?;
        *last = status.decisions.max(decided.decisions.last().map_or(0, |newest| newest.id));
        Ok(decided)
    }

    fn each(&self, decisions: &[DecisionView]) -> Result<(), Failure> {
        for decision in decisions {
            if self.json {
                output::json_line(decision)?;
            } else {
                let node = decision.node.as_deref().unwrap_or("a node not known yet");
                output::say(&format!("{} on {node}. {}", decision.task, decision.reason))?;
            }
        }
        Ok(())
    }
}

fn say_left_out(is_so: bool) -> std::io::Result<()> {
    let says = || format!("these are the newest {} alone; older ones are left out", decisions::AT_MOST);
    if is_so { writeln!(std::io::stderr(), "{}", says()) } else { Ok(()) }
}

/// The advice as a table.
fn table(decisions: &[DecisionView]) -> String {
    let mut table = output::table(&["task", "node", "do", "at", "ran", "needs", "a copy", "wins", "saves", "cause"]);
    let time = |ms: Option<u64>| ms.map_or_else(|| "–".into(), |ms| words::span(Millis(ms)));
    for decision in decisions {
        let n = &decision.numbers;
        table.add_row([
            decision.task.clone(),
            decision.node.clone().unwrap_or_else(|| "?".into()),
            decision.told().to_owned(),
            words::share(n.score),
            words::span(Millis(n.elapsed_ms)),
            time(n.time_left_ms),
            time(n.fresh_copy_ms),
            n.win_probability.map_or_else(|| "–".into(), words::share),
            time(n.gain_ms),
            decision.cause.as_ref().map_or_else(|| "–".into(), |cause| cause.cause.clone()),
        ]);
    }
    let count = match decisions.len() {
        1 => "One task is worth acting on, as it stood when this was advised:".to_owned(),
        many => format!("{many} tasks are worth acting on, as they stood when this was advised:"),
    };
    format!("{count}\n\n{table}\n\n`drover explain JOB TASK` tells why.")
}

/// What to say when there is nothing to advise.
fn nothing(status: &Status, job: Option<JobId>) -> String {
    let whose = job.map_or_else(String::new, |job| format!(" for {job}"));
    if !status.ready {
        return format!("nothing to advise{whose}: the cluster has not been read completely yet");
    }
    if status.jobs == 0 {
        return format!("nothing to advise{whose}: no MapReduce job runs");
    }
    let mut verdicts: Vec<(&String, &u64)> = BTreeMap::iter(&status.verdicts).collect();
    verdicts.sort_by(|a, b| b.1.cmp(a.1));
    let verdicts: Vec<String> = verdicts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
    let blocked = match status.blocked_jobs {
        0 => String::new(),
        many => {
            let jobs = words::count(many, "job", "jobs");
            format!("; of {jobs} Drover's user may not view the tasks, `drover explain JOB` tells what to change")
        }
    };
    format!(
        "nothing to advise{whose}; in all {} with {}{}{}{blocked}",
        words::count(status.jobs, "job", "jobs"),
        words::count(status.running_tasks(), "running task", "running tasks"),
        if verdicts.is_empty() { "" } else { ": " },
        verdicts.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::fixture::{job, watched};
    use crate::service::{DecisionFilter, Process};
    use drover_core::model::Time;

    #[test]
    fn advice_names_each_task_with_its_numbers_in_human_units() {
        let mut desk = watched();
        let text = table(&desk.decisions(DecisionFilter { limit: 10, open: true, ..DecisionFilter::default() }));
        assert!(text.starts_with("One task is worth acting on"), "{text}");
        let row: Vec<&str> =
            text.lines().find(|line| line.contains("task_1_0001_m_000003")).unwrap().split_whitespace().collect();
        assert!(row.contains(&"duplicate") && row.contains(&"%") && row.contains(&"s"), "{row:?}");
        assert_eq!(row.last(), Some(&"unknown"), "alike data, and no other task on its node: {row:?}");
        desk.decisions.iter_mut().for_each(|kept| kept.decision.clones = true);
        let text = table(&desk.decisions(DecisionFilter { limit: 10, ..DecisionFilter::default() }));
        assert!(text.contains(" clone ") && !text.contains("duplicate"), "{text}");
    }

    #[test]
    fn without_advice_it_says_what_the_running_tasks_are_doing_instead() {
        let process = Process { ready: true, ..Process::new(String::new(), Time(0)) };
        let status = watched().status(&process, Time(121_000));
        let text = nothing(&status, Some(job(7)));
        assert_eq!(text, "nothing to advise for job_1_0007; in all 1 job with 1 running task: 1 copy_in_flight");
        let hidden = nothing(&Status { blocked_jobs: 2, ..status.clone() }, None);
        assert!(hidden.contains("of 2 jobs Drover's user may not view the tasks"), "{hidden}");
        assert!(nothing(&Status { ready: false, ..status.clone() }, None).contains("not been read completely"));
        assert!(nothing(&Status { jobs: 0, ..status }, None).ends_with("no MapReduce job runs"));
    }
}
