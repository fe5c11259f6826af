//! Carries out one call.

use super::clients::Clients;
use super::end::{self, Ended, Known};
use crate::yarn::error::{Error, Kind};
use crate::yarn::facts::cluster::AppSeen;
use crate::yarn::facts::job::{JobSeen, TasksSeen};
use crate::yarn::limit::{Permit, UNTOLD_PAUSE};
use crate::yarn::schedule::{Call, Outcome};
use crate::yarn::told::Told;
use drover_core::model::*;

/// What a call gave.
#[derive(Debug)]
pub enum Reading {
    /// Of [`Call::Apps`].
    Apps(Told<Vec<AppSeen>>),
    /// Of [`Call::Totals`].
    Totals(Told<ClusterFact>),
    /// Of [`Call::Nodes`].
    Nodes(Told<Vec<NodeFact>>),
    /// Of [`Call::Queues`].
    Queues(Told<Vec<QueueFact>>),
    /// Of [`Call::Master`].
    Master(Told<Option<u32>>),
    /// Of [`Call::Summary`].
    Summary(Told<Option<JobSeen>>),
    /// Of [`Call::Settings`].
    Settings(Told<JobSettings>),
    /// Of [`Call::Tasks`].
    Tasks(Told<TasksSeen>),
    /// Of [`Call::Attempts`], with the AM's clock.
    Attempts(Told<(Vec<AttemptFact>, Option<Time>)>),
    /// Of [`Call::Counters`].
    Counters(Told<Option<AttemptFact>>),
    /// Of [`Call::End`].
    End(Ended),
}

/// Asks, with leave where the call is a single request. `attempt` is the run of the job's AM, and `known` what is of a job whose end is read.
pub async fn read(
    clients: &Clients,
    call: Call,
    permit: Option<Permit>,
    attempt: u32,
    known: &Known,
) -> Result<Reading, Error> {
    let (rm, am) = (&clients.rm, &clients.am);
    Ok(match call {
        Call::Apps => Reading::Apps(rm.apps(permit).await?),
        Call::Totals => Reading::Totals(rm.metrics(permit).await?),
        Call::Nodes => Reading::Nodes(rm.nodes(permit).await?),
        Call::Queues => Reading::Queues(rm.queues(permit).await?),
        Call::Master(job) => Reading::Master(am.newest_attempt(permit, job).await?),
        Call::Summary(job) => {
            Reading::Summary(am.job(permit, job, AppAttemptId { app: job.0, number: attempt }).await?)
        }
        Call::Settings(job) => Reading::Settings(am.settings(permit, job).await?),
        Call::Tasks(job) => Reading::Tasks(am.tasks(permit, job).await?),
        Call::Attempts(task) => Reading::Attempts(am.attempts(permit, task).await?),
        Call::Counters(attempt) => Reading::Counters(am.counters(permit, attempt).await?),
        Call::End { job, of } => Reading::End(end::read(clients, job, of, known).await?),
    })
}

/// The job whose tasks may not be viewed, where that is what the error says.
pub fn hidden(call: Call, error: &Error) -> Option<JobId> {
    match (call, &error.kind) {
        (Call::Tasks(job), Kind::Unauthorized(_) | Kind::Forbidden(_)) => Some(job),
        _ => None,
    }
}

/// What a call's result means to the schedule.
pub fn outcome(clients: &Clients, call: Call, result: &Result<Reading, Error>) -> Outcome {
    match result {
        Ok(Reading::Tasks(told)) => Outcome::Told(told.what.tasks.len()),
        Ok(Reading::Master(told)) => told.what.map_or(Outcome::Failed, |run| Outcome::Told(run as usize)),
        Ok(Reading::End(Ended::StillRuns)) => Outcome::StillRuns,
        Ok(Reading::End(Ended::NotYet)) => Outcome::Failed,
        Ok(Reading::End(Ended::NoHistory)) => Outcome::NoHistory,
        Ok(Reading::End(Ended::ByRm { is_silent: true, .. })) => Outcome::DoneByRm,
        Ok(_) => Outcome::Done,
        Err(error) => match &error.kind {
            Kind::TooManyRequests(after) => {
                let length = after.unwrap_or(UNTOLD_PAUSE).as_millis();
                Outcome::Paused(Millis(u64::try_from(length).unwrap_or(u64::MAX)))
            }
            // Through the proxy any AM can say so in the ResourceManager's words: which one is active is then asked of themselves.
            Kind::Standby { .. } if call.job().is_some() => Outcome::Failed,
            Kind::NoActiveRm(_) | Kind::Standby { .. } | Kind::Unreachable(_) | Kind::Certificate(_) => match call {
                // An unreachable JobHistoryServer says nothing about the ResourceManager, nor does a proxy that is none.
                Call::End { .. } => Outcome::Failed,
                _ if call.job().is_some() && clients.am.has_own_proxy() => Outcome::Failed,
                _ => Outcome::RmDown,
            },
            // A large listing may take too long of an active one that answers all else.
            kind if kind.is_rm_trouble() && call == Call::Apps => Outcome::RmDown,
            // A history server's silence is told as such.
            Kind::Timeout(_) if !matches!(call, Call::End { .. }) => Outcome::Silent,
            Kind::AppFinished => Outcome::Finished,
            Kind::Unauthorized(_) | Kind::Forbidden(_) | Kind::TooLarge(_) | Kind::ForeignRedirect(_) => {
                Outcome::Refused
            }
            _ => Outcome::Failed,
        },
    }
}
