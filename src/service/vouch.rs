//! The cluster's word about a shim's claim, through the REST clients and so under their ceilings.

use super::notes::Notes;
use crate::shim::{AppLife, AppVouch, Vouch, VouchError};
use crate::yarn;
use crate::yarn::error::{Error, Kind};
use drover_core::model::{AppId, JobId};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::sync::Arc;

/// Asks the cluster.
pub struct Cluster {
    /// The way to ask.
    pub vouch: yarn::vouch::Vouch,
    /// What polling has found out already.
    pub notes: Arc<Notes>,
}

impl Vouch for Cluster {
    fn application(&self, app: AppId) -> BoxFuture<'_, Result<AppVouch, VouchError>> {
        let look = async move { vouched(self.vouch.application(app).await.map_err(error)?) };
        look.boxed()
    }

    fn listed(&self, app: AppId) -> Option<AppVouch> {
        self.notes.listed.word(app)
    }

    fn job_diagnostics(&self, job: JobId) -> BoxFuture<'_, Result<String, VouchError>> {
        let look = async move {
            let text = self.vouch.job_diagnostics(job).await.map_err(error)?;
            // To whom it lets see nothing the AM shows the job without its diagnostics, as if there were none.
            if text.is_empty() && self.notes.hints.hidden(job) { Err(VouchError::Hidden) } else { Ok(text) }
        };
        look.boxed()
    }
}

fn vouched(told: yarn::vouch::Vouched) -> Result<AppVouch, VouchError> {
    let life = life(&told.state)?;
    if told.owner.is_empty() && life != AppLife::Ended {
        return Err(VouchError::Unavailable("the application's owner is not told".to_owned()));
    }
    Ok(AppVouch { user: told.owner, queue: told.queue, life, attempt: told.attempt.unwrap_or(0) })
}

/// From YARN's word for an application's state (YarnApplicationState). Any other word vouches for nothing, but does not end a session
/// either: a shim that is told of an end never calls again.
fn life(state: &str) -> Result<AppLife, VouchError> {
    match state {
        "NEW" | "NEW_SAVING" | "SUBMITTED" | "ACCEPTED" => Ok(AppLife::Starting),
        "RUNNING" => Ok(AppLife::Running),
        "FINISHED" | "FAILED" | "KILLED" => Ok(AppLife::Ended),
        "" => Err(VouchError::Unavailable("no state is told for the application".to_owned())),
        other => {
            Err(VouchError::Unavailable(format!("the application's state is {other:?}, which YARN does not have")))
        }
    }
}

fn error(error: Error) -> VouchError {
    match error.kind {
        Kind::NotFound(_) => VouchError::NotFound,
        _ => VouchError::Unavailable(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_state_known_to_be_alive_vouches_for_a_session_and_only_a_known_end_ends_it() {
        assert_eq!(life("RUNNING"), Ok(AppLife::Running));
        assert_eq!(life("ACCEPTED"), Ok(AppLife::Starting));
        for state in ["FINISHED", "FAILED", "KILLED"] {
            assert_eq!(life(state), Ok(AppLife::Ended), "{state}");
        }
        for state in ["FINAL_SAVING", "", "WHATEVER"] {
            assert!(matches!(life(state), Err(VouchError::Unavailable(_))), "{state}");
        }
    }

    #[test]
    fn an_owner_that_is_not_told_is_not_another_user() {
        let told = |state: &str| yarn::vouch::Vouched {
            owner: String::new(),
            queue: None,
            state: state.to_owned(),
            attempt: Some(1),
        };
        assert!(matches!(vouched(told("RUNNING")), Err(VouchError::Unavailable(why)) if why.contains("owner")));
        assert_eq!(vouched(told("KILLED")).unwrap().life, AppLife::Ended);
    }

    #[test]
    fn the_resource_managers_word_on_the_queue_counts_and_not_the_jobs() {
        let (owner, queue) = ("ada".to_owned(), Some("root.science".to_owned()));
        let told = yarn::vouch::Vouched { owner, queue: queue.clone(), state: "RUNNING".to_owned(), attempt: Some(2) };
        assert_eq!(vouched(told), Ok(AppVouch { user: "ada".to_owned(), queue, life: AppLife::Running, attempt: 2 }));
    }
}
