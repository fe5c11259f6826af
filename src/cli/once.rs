//! A look at the cluster without a service: the same engine, fed for a few rounds.

use super::output::{Exit, Failure};
use crate::api::views::{DecisionView, JobDetail, RmView, Status, TaskView};
use crate::clock;
use crate::config::{self, Config};
use crate::service::{DecisionFilter, Desk, Process, TaskFilter, world};
use crate::telemetry::Metrics;
use crate::yarn::error::Kind;
use crate::yarn::poll::once::{Looker, Once, Round};
use crate::yarn::{self};
use clap::Args;
use drover_core::model::{AttemptId, JobId, Observation, TaskId};
use prometheus::Registry;
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

/// How long to look.
#[derive(Debug, Clone, Copy, Args)]
pub struct Rounds {
    /// How often to look at the cluster before speaking: pace shows only between two looks
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=100), value_name = "N")]
    pub rounds: u32,
    /// Seconds between two looks
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=60), value_name = "SECONDS")]
    pub every: u64,
}

/// A job that runs and could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unread {
    /// The job.
    pub job: JobId,
    /// Why not.
    pub why: String,
}

/// What a look showed.
pub struct Seen {
    desk: Desk,
    /// Jobs that the last look could not read.
    pub unread: Vec<Unread>,
    /// There were jobs, and the last look could read none of them.
    pub blind: bool,
}

/// Says which jobs could not be read.
pub fn unread_words(unread: &[Unread]) -> String {
    const NAMED: usize = 5;
    if let [one] = unread {
        return format!("1 job runs and could not be read: {}: {}", one.job, one.why);
    }
    let mut text = format!("{} jobs run and could not be read:", unread.len());
    text.extend(unread.iter().take(NAMED).map(|one| format!("\n  {}: {}", one.job, one.why)));
    match unread.len().saturating_sub(NAMED) {
        0 => text,
        more => format!("{text}\n  and {more} more"),
    }
}

impl Seen {
    /// What that desk has seen, but for these jobs.
    #[cfg(test)]
    pub fn of(desk: Desk, unread: Vec<Unread>) -> Seen {
        Seen { desk, unread, blind: false }
    }

    /// Takes over which jobs a look could not read; those that ended meanwhile need not be.
    fn note_unread(&mut self, round: &Round) {
        let runs = round.failed.iter().filter(|(_, error)| error.kind != Kind::AppFinished);
        self.unread = runs.map(|(job, error)| Unread { job: *job, why: error.to_string() }).collect();
        self.blind = !self.unread.is_empty() && round.failed.len() == round.jobs;
    }

    /// Why a job that runs could not be read.
    pub fn why_unread(&self, job: JobId) -> Option<&str> {
        self.unread.iter().find(|unread| unread.job == job).map(|unread| unread.why.as_str())
    }

    /// Decisions whose tasks still run.
    pub fn open_decisions(&self, job: Option<JobId>) -> Vec<DecisionView> {
        self.desk.decisions(DecisionFilter { job, limit: usize::MAX, open: true, ..DecisionFilter::default() })
    }

    /// The whole.
    pub fn status(&self) -> Status {
        let now = clock::now();
        // There was no look without its answer.
        let rm = RmView { answers: true, told_ms: Some(now.0) };
        self.desk.status(&Process { ready: true, rm, ..Process::new(String::new(), now) }, now)
    }

    /// A job, if it runs.
    pub fn job(&self, job: JobId) -> Option<JobDetail> {
        self.desk.job(job, clock::now())
    }

    /// Tasks of a job, if it runs.
    pub fn tasks(&self, job: JobId, filter: TaskFilter) -> Option<Vec<TaskView>> {
        self.desk.tasks(job, filter)
    }
}

impl Looker for Seen {
    fn observe(&mut self, observation: Observation) {
        self.desk.observe(observation);
    }

    fn suspects(&mut self, job: JobId, limit: usize) -> Vec<TaskId> {
        self.desk.engine.suspects(job, limit)
    }

    fn counters(&mut self, job: JobId, limit: usize) -> Vec<AttemptId> {
        self.desk.engine.readings(job, limit)
    }

    fn progress(&mut self, jobs: usize, of: usize) {
        if std::io::stderr().is_terminal() && of > 1 {
            let _ = write!(std::io::stderr(), "\r{jobs} of {of} jobs read ");
        }
    }
}

/// Looks at the cluster, round after round.
pub async fn look(config: &Config, job: Option<JobId>, rounds: &Rounds) -> Result<Seen, Failure> {
    let failed = |message: String| Failure::new(Exit::Failed, message);
    let rest = yarn::metrics::Metrics::unregistered().map_err(|error| failed(error.to_string()))?;
    let clients = world::clients(config, rest).map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
    let metrics = Metrics::new(&Registry::new()).map_err(|error| failed(error.to_string()))?;
    let desk = Desk::new(config::engine_params(config), 1_000_000, None, Arc::new(metrics));
    let mut seen = Seen { desk, unread: Vec::new(), blind: false };
    let mut once = Once::new(&clients);
    let suspects = usize::try_from(config.rest.suspects).unwrap_or(usize::MAX);
    let terminal = std::io::stderr().is_terminal();
    for number in 1..=rounds.rounds {
        if number > 1 {
            tokio::time::sleep(Duration::from_secs(rounds.every)).await;
        }
        if terminal {
            let _ = write!(std::io::stderr(), "\rlook {number} of {} at the cluster … ", rounds.rounds);
        }
        let round = once.round(job, suspects, &mut seen).await;
        let round = round.map_err(|error| Failure::new(Exit::Unreachable, format!("the ResourceManager: {error}")))?;
        seen.desk.decide(clock::now());
        seen.note_unread(&round);
    }
    if terminal {
        let _ = write!(std::io::stderr(), "\r{:40}\r", "");
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::fixture::{job, watched};
    use crate::yarn::error::Error;

    #[test]
    fn a_look_is_blind_only_where_no_job_could_be_read_and_a_job_that_ended_meanwhile_is_not_blamed() {
        let error = |kind| Error { at: "http://rm".into(), kind };
        let (forbidden, ended) = (|| error(Kind::Forbidden(String::new())), || error(Kind::AppFinished));
        let noted = |jobs, failed| {
            let mut seen = Seen::of(watched(), Vec::new());
            seen.note_unread(&Round { jobs, failed });
            (seen.unread.iter().map(|unread| unread.job).collect::<Vec<_>>(), seen.blind)
        };
        assert_eq!(noted(1, vec![(job(1), forbidden())]), (vec![job(1)], true));
        assert_eq!(noted(2, vec![(job(1), forbidden())]), (vec![job(1)], false));
        assert_eq!(noted(2, vec![(job(1), ended()), (job(2), forbidden())]), (vec![job(2)], true));
        assert_eq!(noted(1, vec![(job(1), ended())]), (vec![], false));
        assert_eq!(noted(0, vec![]), (vec![], false));
    }

    #[test]
    fn of_many_jobs_that_could_not_be_read_some_are_named_and_the_others_counted() {
        let unread: Vec<Unread> = (1..=7).map(|number| Unread { job: job(number), why: "403".into() }).collect();
        assert_eq!(unread_words(&unread[..1]), "1 job runs and could not be read: job_1_0001: 403");
        let text = unread_words(&unread);
        assert!(text.starts_with("7 jobs run and could not be read:\n  job_1_0001: 403\n"), "{text}");
        assert!(text.ends_with("  job_1_0005: 403\n  and 2 more"), "{text}");
    }
}
