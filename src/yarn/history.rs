//! The JobHistoryServer: how finished jobs ended.

use super::address::Server;
use super::endpoint::Endpoint;
use super::error::Error;
use super::facts::history;
use super::http::{Answer, Http};
use super::told::Told;
use super::wire::Document;
use super::wire::cluster::ClusterInfo;
use super::wire::job::{Job, TaskAttempts, Tasks};
use drover_core::model::{EndFact, JobId, TaskId};

/// Typed calls to the JobHistoryServer.
#[derive(Debug, Clone)]
pub struct History {
    http: Http,
    server: Server,
}

/// `historyInfo`: the server about itself, in the shape of the ResourceManager's.
#[derive(Debug, Clone, Default, PartialEq, serde::Deserialize)]
#[serde(transparent)]
pub struct HistoryInfo(pub ClusterInfo);

impl Document for HistoryInfo {
    const ROOT: &'static str = "historyInfo";
}

impl History {
    /// Calls to that server.
    pub fn new(http: Http, server: Server) -> History {
        History { http, server }
    }

    /// The server.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// The server about itself.
    ///
    /// # Errors
    /// Every answer that is none, by name.
    pub async fn info(&self) -> Result<Told<HistoryInfo>, Error> {
        let answer = self.get(Endpoint::HistoryInfo, "info").await?;
        Ok(Told::of(answer, |info: &HistoryInfo, _| info.clone()))
    }

    /// How the job ended, of that user where it is known; `None` inside where history does not tell it.
    ///
    /// # Errors
    /// As [`History::info`]; `not_found` while the server has not got the job yet.
    pub async fn end(&self, job: JobId, user: Option<&str>) -> Result<Told<Option<EndFact>>, Error> {
        let answer = self.get(Endpoint::HistoryJob, &format!("mapreduce/jobs/{job}")).await?;
        Ok(Told::of(answer, |wire: &Job, refused| history::end(wire, job, user, refused)))
    }

    /// Adds the winning attempts of all tasks to a job's end.
    ///
    /// # Errors
    /// As [`History::info`].
    pub async fn add_winners(&self, end: &mut Told<EndFact>) -> Result<(), Error> {
        let path = format!("mapreduce/jobs/{}/tasks", end.what.job);
        let wire: Tasks = self.get(Endpoint::HistoryTasks, &path).await?.document;
        history::add_winners(&mut end.what, &wire, &mut end.refused);
        Ok(())
    }

    /// Adds all attempts of one task to a job's end.
    ///
    /// # Errors
    /// As [`History::info`].
    pub async fn add_attempts(&self, end: &mut Told<EndFact>, task: TaskId) -> Result<(), Error> {
        let path = format!("mapreduce/jobs/{}/tasks/{task}/attempts", end.what.job);
        let wire: TaskAttempts = self.get(Endpoint::HistoryAttempts, &path).await?.document;
        history::add_attempts(&mut end.what, &wire, task, &mut end.refused);
        Ok(())
    }

    async fn get<D: Document>(&self, endpoint: Endpoint, path: &str) -> Result<Answer<D>, Error> {
        self.http.get(None, endpoint, &self.server.url(&format!("ws/v1/history/{path}"))).await
    }
}
