//! Why a session is believed: the job's diagnostics hold the hash of its key, and the ResourceManager vouches for the rest.

use super::mac::KeyHash;
use super::reply::Refusal;
use super::values::SessionId;
use drover_core::model::{AppAttemptId, AppId, JobId};
use futures::future::BoxFuture;

/// What only the cluster can say; the REST room answers it through the ResourceManager and its proxy.
pub trait Vouch: Send + Sync + 'static {
    /// What the ResourceManager knows of an application.
    fn application(&self, app: AppId) -> BoxFuture<'_, Result<AppVouch, VouchError>>;

    /// What it has said of a running application of its own accord; `None` where it has not, or not lately.
    fn listed(&self, _app: AppId) -> Option<AppVouch> {
        None
    }

    /// A job's diagnostics as its AM shows them through the ResourceManager's proxy.
    fn job_diagnostics(&self, job: JobId) -> BoxFuture<'_, Result<String, VouchError>>;
}

/// What the ResourceManager says of an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppVouch {
    /// Its owner.
    pub user: String,
    /// Its queue, where told.
    pub queue: Option<String>,
    /// Where it is in its life.
    pub life: AppLife,
    /// Number of its newest attempt, from 1.
    pub attempt: u32,
}

/// Where an application is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppLife {
    /// Accepted; its AM may run already, but has not registered (YARN's NEW, SUBMITTED, ACCEPTED).
    Starting,
    /// Running.
    Running,
    /// Finished, failed or killed.
    Ended,
}

/// Why the cluster did not say.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VouchError {
    /// It answered that there is no such thing.
    #[error("the cluster does not know it")]
    NotFound,
    /// The job's AM does not let Drover's user see its tasks and diagnostics.
    #[error("Drover's user may not view the job")]
    Hidden,
    /// It did not answer, or not in a form that can be read.
    #[error("{0}")]
    Unavailable(String),
}

/// Who a session says it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Its name.
    pub session: SessionId,
    /// Hash of its key.
    pub hash: KeyHash,
    /// The AM it runs in.
    pub attempt: AppAttemptId,
    /// The user it runs as.
    pub user: String,
}

/// What the ResourceManager vouches for, once the proof stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vouched {
    /// The application's owner.
    pub user: String,
    /// Its queue, where told.
    pub queue: Option<String>,
}

/// The result of one look at the cluster.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// The claim holds.
    Holds(Vouched),
    /// It does not, whatever comes.
    Fails(Refusal),
    /// It does not yet; that is what to answer if it stays so.
    NotYet(Refusal),
}
