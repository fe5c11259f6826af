//! A job's ApplicationMaster, always through the ResourceManager's proxy.

use super::endpoint::Endpoint;
use super::error::{Error, Kind};
use super::facts::job::{self, JobSeen, TasksSeen};
use super::facts::settings;
use super::http::{Answer, Http};
use super::limit::Permit;
use super::rm::{Rm, Told, newest, read};
use super::wire::job::{AttemptCounters, Conf, Job, JobAttempts, TaskAttempts, Tasks};
use drover_core::model::{AppAttemptId, AttemptFact, AttemptId, JobId, JobSettings, TaskId, Time};
use url::Url;

/// Typed calls to ApplicationMasters.
#[derive(Debug, Clone)]
pub struct Am {
    http: Http,
    rm: Rm,
}

impl Am {
    /// Calls through the proxy of the ResourceManager taken for active.
    pub fn new(http: Http, rm: Rm) -> Am {
        Am { http, rm }
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
        let (url, answer) = self.get(permit, Endpoint::AmJob, id, "").await?;
        read::<Job, _>(&url, answer, |wire, refused| job::job(wire, id, attempt, refused))
    }

    /// The job's diagnostics, empty where there are none.
    ///
    /// # Errors
    /// As [`Am::job`]; `unexpected` where another job answers.
    pub async fn diagnostics(&self, id: JobId) -> Result<String, Error> {
        let (url, answer) = self.get(None, Endpoint::AmJob, id, "").await?;
        let told = read::<Job, _>(&url, answer, |wire, _| wire.clone())?;
        if told.what.id.as_deref().and_then(|text| text.parse().ok()) != Some(id) {
            let found = told.what.id.0.unwrap_or_else(|| "no job".to_owned());
            return Err(Kind::Unexpected { expected: "that job", found }.at(&url));
        }
        Ok(told.what.diagnostics.0.unwrap_or_default())
    }

    /// The number of the AM's newest run, where told.
    ///
    /// # Errors
    /// As [`Am::job`].
    pub async fn newest_attempt(&self, permit: Option<Permit>, id: JobId) -> Result<Told<Option<u32>>, Error> {
        let (url, answer) = self.get(permit, Endpoint::AmJobAttempts, id, "/jobattempts").await?;
        read::<JobAttempts, _>(&url, answer, |all, _| newest(&all.attempts.items))
    }

    /// What the job's configuration says that matters here.
    ///
    /// # Errors
    /// As [`Am::job`].
    pub async fn settings(&self, permit: Option<Permit>, id: JobId) -> Result<Told<JobSettings>, Error> {
        let (url, answer) = self.get(permit, Endpoint::AmConf, id, "/conf").await?;
        read::<Conf, _>(&url, answer, settings::settings)
    }

    /// All of the job's tasks.
    ///
    /// # Errors
    /// As [`Am::job`].
    pub async fn tasks(&self, permit: Option<Permit>, id: JobId) -> Result<Told<TasksSeen>, Error> {
        let (url, answer) = self.get(permit, Endpoint::AmTasks, id, "/tasks").await?;
        read::<Tasks, _>(&url, answer, |wire, refused| job::tasks(wire, id, refused))
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
        let (url, answer) = self.get(permit, Endpoint::AmAttempts, task.job, &path).await?;
        read::<TaskAttempts, _>(&url, answer, |wire, refused| job::attempts(wire, task, refused))
    }

    /// An attempt's counters, as a fact that tells nothing else.
    ///
    /// # Errors
    /// As [`Am::job`].
    pub async fn counters(&self, permit: Option<Permit>, id: AttemptId) -> Result<Told<Option<AttemptFact>>, Error> {
        let path = format!("/tasks/{}/attempts/{id}/counters", id.task);
        let (url, answer) = self.get(permit, Endpoint::AmCounters, id.task.job, &path).await?;
        read::<AttemptCounters, _>(&url, answer, |wire, refused| job::counters(wire, id, refused))
    }

    async fn get(
        &self,
        permit: Option<Permit>,
        endpoint: Endpoint,
        job: JobId,
        path: &str,
    ) -> Result<(Url, Answer), Error> {
        let path = format!("proxy/{}/ws/v1/mapreduce/jobs/{job}{path}", job.0);
        let url = self.rm.active().url(&path);
        let answer = match permit {
            Some(permit) => self.http.get_with(permit, endpoint, url.clone()).await,
            None => self.http.get(endpoint, url.clone()).await,
        };
        answer.map(|answer| (url, answer)).inspect_err(|error| {
            if error.kind.is_rm_trouble() {
                self.rm.doubt();
            }
        })
    }
}
