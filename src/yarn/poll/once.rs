//! Looks at the cluster once, without a service.

use super::clients::Clients;
use super::emit::{Emitter, Lives};
use super::end::Known;
use super::reading::{Reading, hidden, read};
use crate::yarn::error::Error;
use crate::yarn::schedule::Call;
use drover_core::model::{AttemptId, JobId, Observation, TaskId};

/// Who looks: takes the observations, and says which attempts it wants.
pub trait Looker: Send {
    /// One more observation.
    fn observe(&mut self, observation: Observation);
    /// Tasks whose attempts are worth a call each, most wanted first.
    fn suspects(&mut self, job: JobId, limit: usize) -> Vec<TaskId>;
    /// Attempts whose counters are worth a call each.
    fn counters(&mut self, job: JobId, limit: usize) -> Vec<AttemptId>;
    /// So many jobs of so many have been read.
    fn progress(&mut self, jobs: usize, of: usize) {
        let _ = (jobs, of);
    }
}

/// Looks at a cluster in rounds; what the first one reads once is not read again.
pub struct Once<'a> {
    clients: &'a Clients,
    emitter: Emitter,
    known: std::collections::BTreeSet<JobId>,
}

/// What a round came upon.
#[derive(Debug, Default)]
pub struct Round {
    /// Jobs read.
    pub jobs: usize,
    /// Jobs that could not be read, and why.
    pub failed: Vec<(JobId, Error)>,
}

impl<'a> Once<'a> {
    /// Nothing looked at yet.
    pub fn new(clients: &'a Clients) -> Once<'a> {
        let emitter = Emitter::new(clients.http.metrics().clone());
        Once { clients, emitter, known: std::collections::BTreeSet::new() }
    }

    /// Reads the cluster, and every running job or only the one named; of each up to `suspects` tasks' attempts, and as many attempts' counters.
    ///
    /// # Errors
    /// The ResourceManager's; a job's own errors are told in the round.
    pub async fn round(
        &mut self,
        only: Option<JobId>,
        suspects: usize,
        looker: &mut dyn Looker,
    ) -> Result<Round, Error> {
        let reading = read(self.clients, Call::Apps, None, 1, &Known::default()).await?;
        let Reading::Apps(told) = &reading else { return Ok(Round::default()) };
        let jobs: Vec<_> = told.what.iter().map(|seen| (JobId(seen.fact.app), seen.attempt)).collect();
        self.hand_on(Call::Apps, 1, reading, looker);
        for call in [Call::Totals, Call::Nodes, Call::Queues] {
            self.ask(call, 1, looker).await?;
        }
        let wanted: Vec<_> = jobs.into_iter().filter(|(job, _)| only.is_none_or(|only| only == *job)).collect();
        let mut round = Round { jobs: wanted.len(), failed: Vec::new() };
        for (done, (job, attempt)) in wanted.iter().enumerate() {
            looker.progress(done, wanted.len());
            if let Err(error) = self.job(*job, *attempt, suspects, looker).await {
                round.failed.push((*job, error));
            }
        }
        looker.progress(wanted.len(), wanted.len());
        Ok(round)
    }

    async fn job(
        &mut self,
        job: JobId,
        attempt: Option<u32>,
        suspects: usize,
        looker: &mut dyn Looker,
    ) -> Result<(), Error> {
        let attempt = match attempt {
            Some(attempt) => attempt,
            None => self.clients.am.newest_attempt(None, job).await?.what.unwrap_or(1),
        };
        if self.known.insert(job) {
            self.ask(Call::Settings(job), attempt, looker).await.inspect_err(|_| {
                self.known.remove(&job);
            })?;
        }
        self.ask(Call::Summary(job), attempt, looker).await?;
        self.ask(Call::Tasks(job), attempt, looker).await?;
        // What is asked beside its tasks makes their verdicts better, and may be missing.
        for task in looker.suspects(job, suspects).into_iter().take(suspects).filter(|task| task.job == job) {
            self.ask_beside(Call::Attempts(task), attempt, looker).await;
        }
        let counters = looker.counters(job, suspects).into_iter().take(suspects).filter(|id| id.task.job == job);
        for id in counters {
            self.ask_beside(Call::Counters(id), attempt, looker).await;
        }
        Ok(())
    }

    async fn ask_beside(&mut self, call: Call, attempt: u32, looker: &mut dyn Looker) {
        if let Err(error) = self.ask(call, attempt, looker).await {
            tracing::debug!(%error, "not read");
        }
    }

    async fn ask(&mut self, call: Call, attempt: u32, looker: &mut dyn Looker) -> Result<(), Error> {
        let reading = read(self.clients, call, None, attempt, &Known::default()).await.inspect_err(|error| {
            if let Some(job) = hidden(call, error) {
                let lives = Lives { rm: self.clients.rm.incarnation(), attempt };
                looker.observe(self.emitter.hidden(job, lives));
            }
        })?;
        self.hand_on(call, attempt, reading, looker);
        Ok(())
    }

    fn hand_on(&mut self, call: Call, attempt: u32, reading: Reading, looker: &mut dyn Looker) {
        let frame = Lives { rm: self.clients.rm.incarnation(), attempt };
        for observation in self.emitter.observations(call, frame, reading) {
            looker.observe(observation);
        }
    }
}
