//! Reads how a job ended: from its history, and where there is none from the ResourceManager.

use super::clients::Clients;
use crate::yarn::error::{Error, Kind};
use crate::yarn::history::History;
use crate::yarn::schedule::EndTry;
use crate::yarn::told::Told;
use crate::yarn::wire::cluster::App;
use drover_core::model::{Channel, EndFact, JobId, JobPhase, TaskId, Time};
use std::sync::Arc;

/// What is known of a job's end.
#[derive(Debug)]
pub enum Ended {
    /// Its history told it.
    Told(Told<EndFact>),
    /// Only the ResourceManager could tell, be it that it does not know the job; or nobody, after all that time.
    ByRm {
        /// What it told.
        end: EndFact,
        /// The history server was asked, and does not answer.
        is_silent: bool,
    },
    /// Nothing yet; to be tried again.
    NotYet,
    /// The history server does not answer.
    NoHistory,
    /// It has not ended.
    StillRuns,
}

/// What is known of a job whose end is read.
#[derive(Debug, Default)]
pub struct Known {
    /// Its user, by the ResourceManager.
    pub user: Option<Arc<str>>,
    /// Tasks whose attempts are read with it.
    pub tasks: Vec<TaskId>,
}

/// One try. On the last one, and where history is not asked, what the ResourceManager says has to do.
///
/// # Errors
/// The error of the server that should know: it is worth another try.
pub async fn read(clients: &Clients, job: JobId, of: EndTry, known: &Known) -> Result<Ended, Error> {
    let trouble = match of {
        EndTry::Rm | EndTry::Nobody => None,
        EndTry::History | EndTry::Last => match from_history(clients, job, of, known).await {
            Ok(Some(told)) => return Ok(Ended::Told(told)),
            Ok(None) => None,
            Err(error) => Some(error).filter(|e| !matches!(e.kind, Kind::NotFound(_))),
        },
    };
    let is_last = of != EndTry::History;
    let is_silent = trouble.as_ref().is_some_and(|error| is_silence(&error.kind));
    let state = match clients.rm.app(job.0).await {
        Ok(told) if is_running(&told.what) => return Ok(Ended::StillRuns),
        Ok(told) => Some(told.what),
        Err(error) if matches!(error.kind, Kind::NotFound(_)) => None,
        Err(_) if of == EndTry::Nobody => None,
        // Whoever cannot tell has not said that it has ended.
        Err(_) if is_silent => return Ok(Ended::NoHistory),
        Err(error) => return Err(error),
    };
    let has_no_history = clients.history.is_none();
    match (is_last || has_no_history, trouble) {
        (true, _) => Ok(Ended::ByRm { end: by_rm(job, state.as_ref()), is_silent }),
        (false, Some(error)) if is_silent => {
            tracing::debug!(%job, %error, "a job's end cannot be read");
            Ok(Ended::NoHistory)
        }
        (false, Some(error)) => Err(error),
        (false, None) => Ok(Ended::NotYet),
    }
}

/// The server is down, or hangs: no other job's end is to be had of it either.
fn is_silence(kind: &Kind) -> bool {
    matches!(kind, Kind::Unreachable(_) | Kind::Timeout(_) | Kind::Protocol(_))
}

async fn from_history(
    clients: &Clients,
    job: JobId,
    of: EndTry,
    known: &Known,
) -> Result<Option<Told<EndFact>>, Error> {
    let Some(history) = &clients.history else { return Ok(None) };
    let told = history.end(job, known.user.as_deref()).await?;
    let Some(end) = told.what else {
        clients.http.metrics().refused(Channel::History, &told.refused);
        return Ok(None);
    };
    let mut told = Told { what: end, refused: told.refused, frame: told.frame };
    match add_attempts(history, &mut told, &known.tasks).await {
        Ok(()) => Ok(Some(told)),
        // The end itself has been told, and is not to be lost for what would always be answered alike.
        Err(error) if of == EndTry::Last || is_for_good(&error.kind) => {
            tracing::warn!(%job, %error, "a job's end is told without all of its attempts");
            Ok(Some(told))
        }
        // A large job's file may take longer to read than is waited for, and then be at hand; the server is not down for that.
        Err(error) if matches!(error.kind, Kind::Timeout(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn add_attempts(history: &History, told: &mut Told<EndFact>, tasks: &[TaskId]) -> Result<(), Error> {
    history.add_winners(told).await?;
    let job = told.what.job;
    for task in tasks.iter().filter(|task| task.job == job) {
        history.add_attempts(told, *task).await?;
    }
    Ok(())
}

/// The next try would be answered alike.
fn is_for_good(kind: &Kind) -> bool {
    matches!(kind, Kind::TooLarge(_) | Kind::Unauthorized(_) | Kind::Forbidden(_) | Kind::ForeignRedirect(_))
}

fn is_running(app: &App) -> bool {
    !matches!(app.state.as_deref(), None | Some("FINISHED" | "FAILED" | "KILLED"))
}

/// An end without attempts: the ResourceManager does not know them.
fn by_rm(job: JobId, app: Option<&App>) -> EndFact {
    let word = |app: &App| match app.finalStatus.as_deref() {
        None | Some("UNDEFINED") => app.state.0.clone(),
        status => status.map(str::to_owned),
    };
    let state = app.and_then(word).and_then(|word| JobPhase::parse(&word)).filter(|state| state.is_final());
    let finished = app.and_then(|app| app.finishedTime.natural()).filter(|at| *at > 0).map(Time);
    EndFact { job, state, started: None, finished, attempts: Vec::new() }
}
