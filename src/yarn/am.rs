//! A job's ApplicationMaster, always through the proxy: the ResourceManager's, or the cluster's own server for it.

use super::address::Server;
use super::answer::words;
use super::endpoint::Endpoint;
use super::error::{Error, Kind};
use super::facts::job::{self, JobSeen, TasksSeen};
use super::facts::settings;
use super::http::{Answer, Http};
use super::limit::Permit;
use super::rm::{Rm, newest};
use super::told::Told;
use super::wire::Document;
use super::wire::job::{AttemptCounters, Conf, Job, JobAttempts, StateWished, TaskAttempts, Tasks};
use drover_core::model::{AppAttemptId, AttemptFact, AttemptId, JobId, JobSettings, TaskId, Time};
use url::Url;

/// Typed calls to ApplicationMasters.
#[derive(Debug, Clone)]
pub struct Am {
    http: Http,
    rm: Rm,
    proxy: Option<Server>,
}

impl Am {
    /// Calls through the proxy that is a server of its own or, without one, that of the ResourceManager taken for active.
    pub fn new(http: Http, rm: Rm, proxy: Option<Server>) -> Am {
        Am { http, rm, proxy }
    }

    /// Is the proxy no ResourceManager's? Its trouble says nothing of them.
    pub fn has_own_proxy(&self) -> bool {
        self.proxy.is_some()
    }

    /// The job's summary; `None` inside where it was refused.
    ///
    /// # Errors
    /// Every answer that is no job, by name.
    pub async fn job(
        &self,
        permit: Option<Permit>,
        id: JobId,
        attempt: AppAttemptId,
    ) -> Result<Told<Option<JobSeen>>, Error> {
        Ok(Told::of(self.get(permit, Endpoint::AmJob, id, "").await?, |wire: &Job, refused| {
            job::job(wire, id, attempt, refused)
        }))
    }

    /// The job's diagnostics, empty where there are none.
    ///
    /// # Errors
    /// As [`Am::job`]; `unexpected` where another job answers.
    pub async fn diagnostics(&self, id: JobId) -> Result<String, Error> {
        let wire: Job = self.get(None, Endpoint::AmProof, id, "").await?.document;
        if wire.id.as_deref().and_then(|text| text.parse().ok()) != Some(id) {
            let found = wire.id.0.map_or_else(|| "no job".to_owned(), |id| words(&id));
            return Err(Kind::Unexpected { expected: "that job", found }.at(&self.url(id, "")));
        }
        Ok(wire.diagnostics.0.unwrap_or_default())
    }

    /// The number of the AM's newest run, where told.
    ///
    /// # Errors
    /// As [`Am::job`].
    pub async fn newest_attempt(&self, permit: Option<Permit>, id: JobId) -> Result<Told<Option<u32>>, Error> {
        Ok(Told::of(self.get(permit, Endpoint::AmJobAttempts, id, "/jobattempts").await?, |all: &JobAttempts, _| {
            newest(&all.attempts.items)
        }))
    }

    /// What the job's configuration says that matters here, where its AM is of the ResourceManager's version.
    ///
    /// # Errors
    /// As [`Am::job`].
    pub async fn settings(&self, permit: Option<Permit>, id: JobId) -> Result<Told<JobSettings>, Error> {
        let hadoop = self.rm.version();
        Ok(Told::of(self.get(permit, Endpoint::AmConf, id, "/conf").await?, |wire: &Conf, refused| {
            settings::settings(wire, hadoop.as_deref(), refused)
        }))
    }

    /// All of the job's tasks.
    ///
    /// # Errors
    /// As [`Am::job`].
    pub async fn tasks(&self, permit: Option<Permit>, id: JobId) -> Result<Told<TasksSeen>, Error> {
        Ok(Told::of(self.get(permit, Endpoint::AmTasks, id, "/tasks").await?, |wire: &Tasks, refused| {
            job::tasks(wire, id, refused)
        }))
    }

    /// A task's attempts, and the AM's clock by those that run.
    ///
    /// # Errors
    /// As [`Am::job`].
    pub async fn attempts(
        &self,
        permit: Option<Permit>,
        task: TaskId,
    ) -> Result<Told<(Vec<AttemptFact>, Option<Time>)>, Error> {
        let path = format!("/tasks/{task}/attempts");
        Ok(Told::of(self.get(permit, Endpoint::AmAttempts, task.job, &path).await?, |wire: &TaskAttempts, refused| {
            job::attempts(wire, task, refused)
        }))
    }

    /// An attempt's counters, as a fact that tells nothing else.
    ///
    /// # Errors
    /// As [`Am::job`].
    pub async fn counters(&self, permit: Option<Permit>, id: AttemptId) -> Result<Told<Option<AttemptFact>>, Error> {
        let path = format!("/tasks/{}/attempts/{id}/counters", id.task);
        Ok(Told::of(
            self.get(permit, Endpoint::AmCounters, id.task.job, &path).await?,
            |wire: &AttemptCounters, refused| job::counters(wire, id, refused),
        ))
    }

    /// Leave for one request to a master.
    pub async fn leave(&self) -> Permit {
        self.http.limits().acquire(Endpoint::AmKill).await
    }

    /// Asks for an attempt to be killed (Hadoop 2.8 and later). That the master has taken note of it is all its answer says.
    ///
    /// # Errors
    /// As [`Am::job`]. Whether it was killed all the same only the attempt shows.
    pub async fn kill(&self, permit: Permit, id: AttemptId) -> Result<(), Error> {
        let url = self.url(id.task.job, &format!("/tasks/{}/attempts/{id}/state", id.task));
        let answer = self.http.put::<StateWished>(permit, Endpoint::AmKill, &url, r#"{"state":"KILLED"}"#).await;
        let state = self.heeding(answer)?.document.state;
        if state.as_deref() == Some("KILLED") {
            return Ok(());
        }
        let found = state.0.unwrap_or_else(|| "no state".to_owned());
        Err(Kind::Unexpected { expected: "KILLED", found: words(&found) }.at(&url))
    }

    fn url(&self, job: JobId, path: &str) -> Url {
        let path = format!("proxy/{}/ws/v1/mapreduce/jobs/{job}{path}", job.0);
        self.proxy.as_ref().map_or_else(|| self.rm.active().url(&path), |proxy| proxy.url(&path))
    }

    async fn get<D: Document>(
        &self,
        permit: Option<Permit>,
        endpoint: Endpoint,
        job: JobId,
        path: &str,
    ) -> Result<Answer<D>, Error> {
        self.heeding(self.http.get(permit, endpoint, &self.url(job, path)).await)
    }

    /// Another ResourceManager is looked for where this one is in trouble.
    fn heeding<D>(&self, answer: Result<Answer<D>, Error>) -> Result<Answer<D>, Error> {
        answer.inspect_err(|error| {
            // A gateway's words, in the place of the ResourceManager's proxy.
            let is_gateways = matches!(error.kind, Kind::Server { status: 502..=504, .. });
            if !self.has_own_proxy() && (error.kind.is_rm_trouble() || is_gateways) {
                self.rm.doubt();
            }
        })
    }
}
