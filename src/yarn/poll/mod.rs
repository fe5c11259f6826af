//! The poller: asks what the schedule says, as fast as the ceilings allow, and hands on what was answered as observations.

pub mod clients;
mod emit;
mod end;
pub mod once;
mod reading;

use super::endpoint::Class;
use super::error::Error;
use super::limit::Wait;
use super::schedule::{Call, Outcome, Schedule, ScheduleParams, Wants};
pub use clients::Clients;
use drover_core::model::{Millis, Observation, TaskId, Time};
use emit::{Emitter, Frame};
use reading::Reading;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Longest the loop sleeps with nothing due.
const IDLE: Duration = Duration::from_secs(1);

/// Watches one cluster over REST.
pub struct Poller {
    clients: Clients,
    schedule: Schedule,
    params: ScheduleParams,
    wants: Arc<dyn Wants>,
    out: mpsc::Sender<Observation>,
    emitter: Emitter,
    began: Instant,
    under_way: JoinSet<Finished>,
    calls: HashMap<Id, (Call, Frame)>,
}

struct Finished {
    took: Duration,
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
            schedule: Schedule::new(params.clone(), Time(0)),
            clients,
            params,
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

    fn send(&mut self, call: Call, permit: Option<super::limit::Permit>, now: Time) {
        self.schedule.start(call, now);
        let attempt = call.job().and_then(|job| self.schedule.attempt(job)).unwrap_or(1);
        if let (Call::Tasks(job), Some(before)) = (call, call.job().and_then(|job| self.schedule.listed(job))) {
            let _ = job;
            self.clients.http.metrics().tasks_interval(Duration::from_millis(now.since(before).0));
        }
        let tasks: Vec<TaskId> = match call {
            Call::End { job, .. } => self.wants.suspects(job, self.params.history_tasks),
            _ => Vec::new(),
        };
        let clients = self.clients.clone();
        let handle = self.under_way.spawn(async move {
            let began = Instant::now();
            let result = reading::read(&clients, call, permit, attempt, &tasks).await;
            Finished { took: began.elapsed(), result }
        });
        self.calls.insert(handle.id(), (call, Frame { rm_incarnation: 0, attempt }));
    }

    /// Takes in an answer; `false` when nobody takes the observations any more.
    async fn finished(&mut self, joined: Result<(Id, Finished), JoinError>) -> bool {
        let now = self.now();
        let id = joined.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        let Some((call, mut frame)) = self.calls.remove(&id) else { return true };
        let Ok((_, Finished { took, result })) = joined else {
            tracing::error!(?call, "a REST call ended in a panic, which is a fault of Drover");
            self.schedule.done(call, Outcome::Failed, Millis(0), now);
            return true;
        };
        let took = Millis(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        self.schedule.done(call, reading::outcome(call, &result), took, now);
        let reading = match result {
            Ok(reading) => reading,
            Err(error) => {
                tracing::debug!(?call, outcome = error.label(), %error, "REST call failed");
                return true;
            }
        };
        if let Reading::Apps(told) = &reading {
            let left_out = self.schedule.apps(&told.what, now);
            let (jobs, ending) = self.schedule.counts();
            let metrics = self.clients.http.metrics();
            metrics.jobs("running", jobs.saturating_sub(ending));
            metrics.jobs("ending", ending);
            metrics.jobs("left_out", left_out);
        }
        frame.rm_incarnation = self.clients.rm.incarnation();
        for observation in self.emitter.observations(call, frame, reading) {
            if self.out.send(observation).await.is_err() {
                return false;
            }
        }
        true
    }

    fn now(&self) -> Time {
        Time(u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}
