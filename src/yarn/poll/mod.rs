//! The poller: asks what the schedule says, as fast as the ceilings allow, and hands on what was answered as observations.

pub mod clients;
mod emit;
mod end;
pub mod once;
mod reading;
mod taken;
mod untold;

use super::endpoint::Class;
use super::error::Error;
use super::limit::{Permit, Wait};
use super::schedule::{Call, Schedule, ScheduleParams, Wants};
pub use clients::Clients;
use drover_core::model::{Observation, Time};
use emit::Emitter;
use end::Known;
use reading::Reading;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, Id, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use untold::Untold;

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
    /// Why no ResourceManager can be asked, as it was last logged, and when.
    down: Option<(&'static str, Instant)>,
    untold: Untold,
    under_way: JoinSet<Finished>,
    calls: HashMap<Id, UnderWay>,
}

/// A call under way.
struct UnderWay {
    call: Call,
    /// The run of the AM that it asks.
    attempt: u32,
    handle: AbortHandle,
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
            down: None,
            untold: Untold::default(),
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
                        Err(Wait::ForSlot) => {
                            pause = pause.min(self.make_room(class, now));
                            break;
                        }
                    },
                };
                self.send(call, permit, now);
            }
        }
        pause
    }

    /// Gives up a call that others have outrun, so that one that waits has its place; how long until there may be another such.
    fn make_room(&mut self, class: Class, now: Time) -> Duration {
        if class != Class::Proxy {
            return IDLE;
        }
        if let Some(call) = self.schedule.outrun(now) {
            let of_it = self.calls.values().find(|one| one.call == call);
            of_it.iter().for_each(|one| one.handle.abort());
        }
        self.schedule.next_outrun(now).map_or(IDLE, |at| Duration::from_millis(at.since(now).0))
    }

    fn send(&mut self, call: Call, permit: Option<Permit>, now: Time) {
        self.schedule.start(call, now);
        let attempt = call.job().and_then(|job| self.schedule.attempt(job)).unwrap_or(1);
        let mut known = Known::default();
        match call {
            Call::Tasks(job) => {
                if let Some(before) = self.schedule.listed(job) {
                    self.clients.http.metrics().tasks_interval(Duration::from_millis(now.since(before).0));
                }
            }
            Call::End { job, .. } => {
                let most = self.schedule.end_tasks(job);
                let mut tasks = self.wants.left_tasks(job);
                let others = self.wants.suspects(job, most).into_iter().filter(|task| !tasks.contains(task));
                tasks.extend(others.collect::<Vec<_>>());
                tasks.truncate(most);
                known = Known { user: self.schedule.user(job), tasks };
            }
            _ => {}
        }
        let clients = self.clients.clone();
        let handle = self.under_way.spawn(async move {
            let began = Instant::now();
            let result = reading::read(&clients, call, permit, attempt, &known).await;
            Finished { took: began.elapsed(), rm: clients.rm.incarnation(), result }
        });
        self.calls.insert(handle.id(), UnderWay { call, attempt, handle });
    }

    fn now(&self) -> Time {
        Time(u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}
