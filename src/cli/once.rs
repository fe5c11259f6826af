//! A look at the cluster without a service: the same engine, fed for a few rounds.

use super::output::{Exit, Failure};
use crate::api::views::{DecisionView, JobDetail, Status, TaskView};
use crate::clock;
use crate::config::{self, Config};
use crate::service::{DecisionFilter, Desk, Process, TaskFilter, world};
use crate::telemetry::Metrics;
use crate::yarn::poll::once::{Looker, Once};
use crate::yarn::{self};
use clap::Args;
use drover_core::model::{AttemptId, JobId, Observation, TaskId};
use prometheus::Registry;
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

/// What a look showed.
pub struct Seen {
    desk: Desk,
}

impl Seen {
    /// Decisions whose tasks still run.
    pub fn open_decisions(&self, job: Option<JobId>) -> Vec<DecisionView> {
        self.desk.decisions(DecisionFilter { job, since: 0, limit: usize::MAX, open: true })
    }

    /// The whole.
    pub fn status(&self) -> Status {
        let now = clock::now();
        self.desk.status(&Process { ready: true, ..Process::new(String::new(), now) }, now)
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
    let mut seen = Seen { desk };
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
        for (job, error) in round.failed.iter().filter(|_| number == rounds.rounds) {
            writeln!(std::io::stderr(), "{job} could not be read: {error}")?;
        }
    }
    if terminal {
        let _ = write!(std::io::stderr(), "\r{:40}\r", "");
    }
    Ok(seen)
}
