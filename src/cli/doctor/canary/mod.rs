//! A small job through the whole cluster, watched the way every job is.

mod command;
mod judgement;
mod said;
mod stopped;
mod watch;

use super::{Checks, example, progress};
use crate::cli::client::Client;
use crate::yarn::poll::Clients;
use command::{Running, Waits};
use drover_core::model::JobId;
use judgement::{Ended, Expected, Run, Why, judged};
use std::io;
use std::time::Duration;
use tokio::time::Instant;
use url::Url;
use watch::{Interrupt, LOOK_EVERY, watch};

const PATIENCE: Duration = Duration::from_secs(300);
const HISTORY_PATIENCE: Duration = Duration::from_secs(30);

/// What to run, and whether its shim is to be heard.
pub struct Order<'a> {
    /// The command, where one is named.
    pub command: Option<&'a str>,
    /// Where the built-in job's shim is to report.
    pub shim: Option<&'a Url>,
    /// The site files have every job load the shim.
    pub by_site: bool,
}

/// Runs and watches it. Was this interrupted?
pub async fn check(
    order: &Order<'_>,
    clients: &Clients,
    service: Option<&Client>,
    checks: &mut Checks,
) -> io::Result<bool> {
    let Some(run) = run(order) else {
        checks.fail(
            "canary",
            "no Hadoop client on this machine: neither HADOOP_HOME/bin/hadoop nor hadoop in PATH with its examples",
            "set HADOOP_HOME, or name a command that runs a small job to its end: --canary-command 'hadoop jar …-examples-….jar teragen 1000 canary-out'",
        );
        return Ok(false);
    };
    // Before the command starts: whoever ends this one by Ctrl-C, SIGTERM or a terminal that is closed ends that, too.
    let mut interrupt = Interrupt::new()?;
    let mut running = match Running::start(&run.line, Waits::default()) {
        Ok(running) => running,
        Err(error) => {
            checks.fail("canary", format!("`{}` cannot be started: {error}", run.line), "correct --canary-command");
            return Ok(false);
        }
    };
    let (ended, sight) = watch(&mut running, PATIENCE, &mut interrupt, clients, service).await;
    checks.0.push(judged(&run, &ended, &sight, order.expected(), service.is_some()));
    match (ended, sight.jobs.first()) {
        (Ended::Stopped { why: Why::Interrupted, .. }, _) => return Ok(true),
        (Ended::Well, Some(job)) => tokio::select! {
            () = history(*job, clients, checks) => {}
            () = interrupt.come() => return Ok(true),
        },
        _ => {}
    }
    Ok(false)
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

fn run(order: &Order) -> Option<Run> {
    let built_in = || {
        // A name of its own: teragen refuses a directory that is there.
        let out = format!("drover-canary-{:016x}", rand::random::<u64>());
        Some(Run { line: example::found()?.line(order.shim, &out), out: Some(out) })
    };
    order.command.map(|line| Run { line: line.to_owned(), out: None }).or_else(built_in)
}

async fn history(job: JobId, clients: &Clients, checks: &mut Checks) {
    let Some(history) = &clients.history else { return };
    let began = Instant::now();
    loop {
        match history.end(job, None).await {
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
        assert_eq!((run(&order).unwrap().line.as_str(), order.expected()), ("run 'it'", Expected::Site));
        assert_eq!(Order { shim: Some(&url), ..order }.expected(), Expected::Asked);
    }
}
