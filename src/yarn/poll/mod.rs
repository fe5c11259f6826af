//! The poller: asks what the schedule says, as fast as the ceilings allow, and hands on what was answered as observations.

pub mod clients;
mod emit;
mod end;
pub mod once;
mod reading;

use super::endpoint::Class;
use super::error::Error;
use super::limit::{Permit, Wait};
use super::schedule::{Call, Outcome, Schedule, ScheduleParams, Wants};
pub use clients::Clients;
use drover_core::model::{Capabilities, Millis, Observation, TaskId, Time};
use emit::{Emitter, Lives};
use reading::Reading;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Longest the loop sleeps with nothing due.
const IDLE: Duration = Duration::from_secs(1);

/// Watches one cluster over REST.
pub struct Poller {
    clients: Clients,
    schedule: Schedule,
    wants: Arc<dyn Wants>,
    out: mpsc::Sender<Observation>,
    emitter: Emitter,
    began: Instant,
    under_way: JoinSet<Finished>,
    /// Calls under way, with the run of the AM they ask.
    calls: HashMap<Id, (Call, u32)>,
}

struct Finished {
    took: Duration,
    /// The ResourceManager's incarnation when the answer came.
    rm: u64,
    result: Result<Reading, Error>,
}

impl Poller {
    /// A poller that has asked nothing yet.
    pub fn new(
        clients: Clients,
        params: ScheduleParams,
        wants: Arc<dyn Wants>,
        out: mpsc::Sender<Observation>,
    ) -> Poller {
        let emitter = Emitter::new(clients.http.metrics().clone());
        Poller {
            schedule: Schedule::new(params, Time(0)),
            clients,
            wants,
            out,
            emitter,
            began: Instant::now(),
            under_way: JoinSet::new(),
            calls: HashMap::new(),
        }
    }

    /// Polls until it is told to stop, or until nobody takes the observations any more.
    pub async fn run(mut self, stop: CancellationToken) {
        loop {
            let pause = self.launch();
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.out.closed() => return,
                () = tokio::time::sleep(pause) => {}
                Some(joined) = self.under_way.join_next_with_id() => {
                    tokio::select! {
                        () = stop.cancelled() => return,
                        taken = self.finished(joined) => if !taken { return },
                    }
                }
            }
        }
    }

    /// Sends off all that is due and allowed; how long until there may be more.
    fn launch(&mut self) -> Duration {
        let now = self.now();
        let mut pause = IDLE;
        for class in Class::ALL {
            loop {
                let Some(call) = self.schedule.pick(class, now, self.wants.as_ref()) else {
                    let due = self.schedule.wake(class).map(|due| Duration::from_millis(due.since(now).0.max(1)));
                    pause = pause.min(due.unwrap_or(IDLE));
                    break;
                };
                // A job's end is several requests, which take their leave one by one.
                let permit = match call {
                    Call::End { .. } => None,
                    _ => match self.clients.http.limits().try_acquire(class) {
                        Ok(permit) => Some(permit),
                        Err(Wait::For(wait)) => {
                            pause = pause.min(wait.max(Duration::from_millis(1)));
                            break;
                        }
                        // The end of one under way wakes the loop.
                        Err(Wait::ForSlot) => break,
                    },
                };
                self.send(call, permit, now);
            }
        }
        pause
    }

    fn send(&mut self, call: Call, permit: Option<Permit>, now: Time) {
        self.schedule.start(call, now);
        let attempt = call.job().and_then(|job| self.schedule.attempt(job)).unwrap_or(1);
        let mut tasks: Vec<TaskId> = Vec::new();
        match call {
            Call::Tasks(job) => {
                if let Some(before) = self.schedule.listed(job) {
                    self.clients.http.metrics().tasks_interval(Duration::from_millis(now.since(before).0));
                }
            }
            Call::End { job, .. } => {
                let most = self.schedule.end_tasks(job);
                tasks = self.wants.left_tasks(job);
                let others = self.wants.suspects(job, most).into_iter().filter(|task| !tasks.contains(task));
                tasks.extend(others.collect::<Vec<_>>());
                tasks.truncate(most);
            }
            _ => {}
        }
        let clients = self.clients.clone();
        let handle = self.under_way.spawn(async move {
            let began = Instant::now();
            let result = reading::read(&clients, call, permit, attempt, &tasks).await;
            Finished { took: began.elapsed(), rm: clients.rm.incarnation(), result }
        });
        self.calls.insert(handle.id(), (call, attempt));
    }

    /// Takes in an answer; `false` when nobody takes the observations any more.
    async fn finished(&mut self, joined: Result<(Id, Finished), JoinError>) -> bool {
        let now = self.now();
        let id = joined.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        let Some((call, attempt)) = self.calls.remove(&id) else { return true };
        let Ok((_, Finished { took, rm, result })) = joined else {
            tracing::error!(?call, "a REST call ended in a panic, which is a fault of Drover");
            self.schedule.done(call, Outcome::Failed, Millis(0), now);
            return true;
        };
        let took = Millis(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        let was_down = self.schedule.is_rm_down();
        self.schedule.done(call, reading::outcome(&self.clients, call, &result), took, now);
        let is_down = self.schedule.is_rm_down();
        self.clients.http.metrics().rm_up(!is_down);
        let reading = match result {
            Ok(reading) => {
                if was_down && !is_down {
                    tracing::info!(rm = %self.clients.rm.active(), "the ResourceManager answers again");
                }
                reading
            }
            Err(error) => {
                if is_down && !was_down {
                    tracing::warn!(outcome = error.label(), %error, "no ResourceManager to ask; watching rests until one answers");
                }
                tracing::debug!(?call, outcome = error.label(), %error, "REST call failed");
                let Some(job) = reading::hidden(call, &error) else { return true };
                let hidden = self.emitter.hidden(job, Lives { rm, attempt });
                return self.hand_on(vec![hidden]).await;
            }
        };
        let lives = Lives { rm, attempt };
        let mut observations = Vec::new();
        if let Reading::Apps(told) = &reading {
            self.wants.listed(&told.what);
            let left_out = self.schedule.apps(&told.what, &self.wants.known(), now);
            self.schedule.left(&self.wants.left(), &told.what, now);
            let (jobs, ending) = self.schedule.counts();
            let metrics = self.clients.http.metrics();
            metrics.jobs("running", jobs.saturating_sub(ending));
            metrics.jobs("ending", ending);
            metrics.jobs("left_out", left_out);
            // Before the listing that lacks them, lest they be taken for lost.
            observations.extend(self.emitter.ending(lives, self.schedule.ending()));
        }
        observations.extend(self.emitter.observations(call, lives, reading));
        if let Call::Summary(job) = call
            && let Some(restart) = self.wants.may_kill(job)
        {
            observations.push(self.emitter.can(job, lives, Capabilities { restart, ..Capabilities::NONE }));
        }
        self.hand_on(observations).await
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

    fn now(&self) -> Time {
        Time(u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}
