//! What follows from answers.

use super::emit::Lives;
use super::reading::{self, Reading};
use super::{Finished, Poller, UnderWay};
use crate::yarn::error::{Error, Kind};
use crate::yarn::facts::cluster::AppSeen;
use crate::yarn::schedule::{Call, Outcome};
use drover_core::model::{Capabilities, Millis, Observation};
use std::time::Duration;
use tokio::sync::mpsc::error::TrySendError;
use tokio::task::{Id, JoinError};
use tokio::time::Instant;

/// Troubles that take turns do not fill the log.
pub(super) const TOLD_AGAIN: Duration = Duration::from_secs(30);

impl Poller {
    /// Takes in an answer; `false` when nobody takes the observations any more.
    pub(super) async fn finished(&mut self, joined: Result<(Id, Finished), JoinError>) -> bool {
        let id = joined.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        let Some(UnderWay { call, attempt, .. }) = self.calls.remove(&id) else { return true };
        let Finished { took, rm, result } = match joined {
            Ok((_, finished)) => finished,
            Err(error) => {
                self.cut_off(call, &error);
                return true;
            }
        };
        let now = self.now();
        let took = Millis(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        self.schedule.done(call, reading::outcome(&self.clients, call, &result), took, now);
        let is_down = self.schedule.is_rm_down();
        self.note_rm(call, is_down, result.as_ref().err());
        let lives = Lives { rm, attempt };
        let observations = match result {
            Ok(reading) => {
                if !is_down && self.down.take().is_some() {
                    tracing::info!(rm = %self.clients.rm.active(), "the ResourceManager answers again");
                }
                self.told(call, lives, reading)
            }
            Err(error) => self.failed(call, lives, &error),
        };
        self.hand_on(observations).await
    }

    /// What a call says of the ResourceManager. One whose applications nobody may read, or a gateway's page in its place, is none that answers.
    fn note_rm(&mut self, call: Call, is_down: bool, error: Option<&Error>) {
        let metrics = self.clients.http.metrics();
        match error {
            _ if is_down => metrics.rm_up(false),
            Some(error) if matches!(error.kind, Kind::TooManyRequests(_)) => {}
            _ if call == Call::Apps => metrics.rm_up(error.is_none()),
            _ => {}
        }
        match error.filter(|_| call.job().is_none()) {
            Some(error) if is_down => self.tell_down(error),
            Some(error) if self.untold.failed(call, error) => {
                tracing::warn!(outcome = error.label(), %error, "the ResourceManager does not tell this; it is asked again, with growing pauses");
            }
            None if error.is_none() && self.untold.told(call) => {
                tracing::info!(?call, "the ResourceManager tells it again");
            }
            _ => {}
        }
    }

    /// What is told once it is told again where it is another trouble than before, such as a gateway's page after a refused connection.
    fn tell_down(&mut self, error: &Error) {
        let label = error.label();
        let is_new = self.down.is_none_or(|(last, at)| last != label && at.elapsed() > TOLD_AGAIN);
        if is_new {
            self.down = Some((label, Instant::now()));
            tracing::warn!(outcome = label, %error, "no ResourceManager to ask; watching rests until one answers");
        }
    }

    /// A call that ended without an answer or an error of its own.
    fn cut_off(&mut self, call: Call, error: &JoinError) {
        let outcome = if error.is_cancelled() {
            tracing::debug!(?call, "its ApplicationMaster hangs, and others wait for the place");
            self.clients.http.metrics().limited("outrun");
            Outcome::Silent
        } else {
            tracing::error!(?call, "a REST call ended in a panic, which is a fault of Drover");
            Outcome::Failed
        };
        self.schedule.done(call, outcome, Millis(0), self.now());
    }

    fn failed(&mut self, call: Call, lives: Lives, error: &Error) -> Vec<Observation> {
        tracing::debug!(?call, outcome = error.label(), %error, "REST call failed");
        let hidden = reading::hidden(call, error).map(|job| self.emitter.hidden(job, lives));
        hidden.into_iter().collect()
    }

    fn told(&mut self, call: Call, lives: Lives, reading: Reading) -> Vec<Observation> {
        let mut observations = Vec::new();
        if let Reading::Apps(told) = &reading {
            self.listed(&told.what);
            // Before the listing that lacks them, lest they be taken for lost.
            observations.extend(self.emitter.ending(lives, self.schedule.ending()));
        }
        observations.extend(self.emitter.observations(call, lives, reading));
        if let Call::Summary(job) = call
            && let Some(restart) = self.wants.may_kill(job)
        {
            observations.push(self.emitter.can(job, lives, Capabilities { restart, ..Capabilities::NONE }));
        }
        observations
    }

    fn listed(&mut self, apps: &[AppSeen]) {
        let now = self.now();
        self.wants.listed(apps);
        let left_out = self.schedule.apps(apps, self.wants.as_ref(), now);
        let unread = self.schedule.make_way(now);
        self.schedule.left(&self.wants.left(), apps, now);
        self.emitter.keep(|job| self.schedule.watches(job));
        let (jobs, ending) = self.schedule.counts();
        let metrics = self.clients.http.metrics();
        metrics.jobs("running", jobs.saturating_sub(ending));
        metrics.jobs("ending", ending);
        metrics.jobs("left_out", left_out);
        if unread > 0 {
            metrics.ends_unread(unread);
            tracing::warn!(
                jobs = unread,
                "more ends wait to be read than jobs may be watched: those that have waited longest are not read"
            );
        }
    }

    async fn hand_on(&mut self, observations: Vec<Observation>) -> bool {
        for observation in observations {
            let refused = match self.out.try_send(observation) {
                Ok(()) => continue,
                Err(TrySendError::Closed(_)) => return false,
                Err(TrySendError::Full(observation)) => observation,
            };
            // The engine is behind: so is polling, then, rather than memory ahead.
            self.clients.http.metrics().limited("observations");
            if self.out.send(refused).await.is_err() {
                return false;
            }
        }
        true
    }
}
