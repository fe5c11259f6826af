//! The cluster's word about a shim's claim, through the REST clients and so under their ceilings.

use crate::shim::{AppLife, AppVouch, Vouch, VouchError};
use crate::yarn;
use crate::yarn::error::{Error, Kind};
use drover_core::model::{AppId, JobId};
use futures::FutureExt;
use futures::future::BoxFuture;

/// Asks the cluster.
pub struct Cluster(pub yarn::vouch::Vouch);

impl Vouch for Cluster {
    fn application(&self, app: AppId) -> BoxFuture<'_, Result<AppVouch, VouchError>> {
        let look = async move {
            let told = self.0.application(app).await.map_err(error)?;
            let life = life(&told.state);
            Ok(AppVouch { user: told.owner, queue: None, life, attempt: told.attempt.unwrap_or(0) })
        };
        look.boxed()
    }

    fn job_diagnostics(&self, job: JobId) -> BoxFuture<'_, Result<String, VouchError>> {
        async move { self.0.job_diagnostics(job).await.map_err(error) }.boxed()
    }
}

/// From YARN's word for an application's state; a word it does not have vouches for nothing.
fn life(state: &str) -> AppLife {
    match state {
        "NEW" | "NEW_SAVING" | "SUBMITTED" | "ACCEPTED" => AppLife::Starting,
        "RUNNING" => AppLife::Running,
        _ => AppLife::Ended,
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
    fn only_a_state_known_to_be_alive_vouches_for_a_session() {
        assert_eq!(life("RUNNING"), AppLife::Running);
        assert_eq!(life("ACCEPTED"), AppLife::Starting);
        for state in ["FINISHED", "FAILED", "KILLED", "FINAL_SAVING", "", "WHATEVER"] {
            assert_eq!(life(state), AppLife::Ended, "{state}");
        }
    }
}
