//! What the cluster itself vouches for: whose an application is, and what its master shows.

use super::am::Am;
use super::error::Error;
use super::facts::cluster;
use super::rm::Rm;
use drover_core::model::{AppId, JobId};

/// The cluster's word about an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vouched {
    /// Its owner.
    pub owner: String,
    /// Its queue, where told.
    pub queue: Option<String>,
    /// YARN's word for its state, such as `RUNNING`.
    pub state: String,
    /// The run of its master, from 1, where told.
    pub attempt: Option<u32>,
}

impl Vouched {
    /// Does it run?
    pub fn is_running(&self) -> bool {
        self.state == "RUNNING"
    }
}

/// Asks the cluster for its word.
#[derive(Debug, Clone)]
pub struct Vouch {
    rm: Rm,
    am: Am,
}

impl Vouch {
    /// Asks through these clients, and so under their ceilings.
    pub fn new(clients: &super::poll::Clients) -> Vouch {
        Vouch { rm: clients.rm.clone(), am: clients.am.clone() }
    }

    /// The diagnostics that the job's master shows through the ResourceManager's proxy: what only that master can write.
    ///
    /// # Errors
    /// Every answer that is not that job, by name.
    pub async fn job_diagnostics(&self, job: JobId) -> Result<String, Error> {
        self.am.diagnostics(job).await
    }

    /// Owner, state and current run of an application, by the ResourceManager.
    ///
    /// # Errors
    /// Every answer that is not that application, by name; `not_found` where there is none of that id.
    pub async fn application(&self, app: AppId) -> Result<Vouched, Error> {
        let told = self.rm.app(app).await?;
        let wire = told.what;
        let attempt = match cluster::master(&wire, app) {
            Some(attempt) => Some(attempt),
            None => self.rm.newest_attempt(app).await?.what,
        };
        let owner = wire.user.0.unwrap_or_default();
        let queue = wire.queue.0.filter(|queue| !queue.is_empty());
        Ok(Vouched { owner, queue, state: wire.state.0.unwrap_or_default(), attempt })
    }
}
