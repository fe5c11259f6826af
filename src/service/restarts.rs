//! Restarts over REST, of jobs that do not load the shim, where the configuration allows them: an attempt is killed through the ResourceManager's proxy, and Hadoop starts another in its place.
//!
//! Nothing can be checked here in the instant in which it is done, as a shim does. So an attempt and its peers are read once more right before, none is killed twice, kills come one at a time,
//! and what a kill came to that nobody has answered is told by the attempts that are seen later.

use super::own::{Own, Stopped};
use crate::clock;
use crate::yarn::am::Am;
use crate::yarn::error::Kind;
use crate::yarn::limit::Permit;
use drover_core::model::{AckFact, Answer, AttemptFact, AttemptId, AttemptState, Decision, Fact, JobId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Between two kills, in the whole cluster.
const APART: Duration = Duration::from_secs(1);
/// What was read of an attempt is no ground to kill it after so long.
const FRESH: Duration = Duration::from_secs(1);
/// How long a kill's answer is waited for: whoever has its master hang keeps others' orders waiting for no longer.
const KILLING: Duration = Duration::from_secs(3);
/// How long an order waits for the limit on requests to let its task's attempts be read.
const READING: Duration = Duration::from_secs(2);
/// Orders that may wait: more than can be carried out before their deadlines.
const WAITING_MAX: usize = 256;
/// Attempts and jobs that are remembered.
const REMEMBERED_MAX: usize = 100_000;
/// Answers of one job in a row that nothing was killed, or none in time, each of which a gateway or a race can give once, after which it is asked no more.
const TURNED_DOWN_MAX: u32 = 3;

/// Carries out restarts over REST.
pub struct Restarts {
    am: Am,
    own: Arc<Own>,
    apart: Duration,
    fresh: Duration,
    killing: Duration,
    known: Mutex<Known>,
    news: Notify,
}

#[derive(Default)]
struct Known {
    /// Orders, by decision.
    waiting: BTreeMap<u64, Decision>,
    /// What has been asked for, of jobs that run.
    killed: BTreeSet<AttemptId>,
    /// How often in a row a job's kills were turned down: from [`TURNED_DOWN_MAX`] on, nobody here may kill anything of it.
    turned_down: BTreeMap<JobId, u32>,
}

/// An order whose task's attempts have just been read.
struct Ready {
    /// What they say against it.
    against: Option<Answer>,
    /// Leave for the kill.
    permit: Permit,
    /// When that is no ground for a kill any more.
    until: Instant,
}

impl Restarts {
    /// Kills by that client, and tells the engine by that voice.
    pub fn new(am: Am, own: Arc<Own>) -> Restarts {
        Restarts { am, own, apart: APART, fresh: FRESH, killing: KILLING, known: Mutex::default(), news: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// May attempts of the job be killed, as far as is known?
    pub fn may(&self, job: JobId) -> bool {
        self.lock().turned_down.get(&job).is_none_or(|times| *times < TURNED_DOWN_MAX)
    }

    /// Takes an order.
    pub fn take(&self, order: &Decision) {
        let mut known = self.lock();
        if known.waiting.len() >= WAITING_MAX {
            tracing::warn!(job = %order.job, task = %order.task, "too many restarts wait: this one is not carried out");
            return;
        }
        known.waiting.insert(order.id, order.clone());
        self.news.notify_one();
    }

    /// Carries out an order no more, unless its kill is on its way.
    pub fn call_off(&self, decision: u64) {
        self.lock().waiting.remove(&decision);
    }

    /// The job has ended.
    pub fn forget(&self, job: JobId) {
        let mut known = self.lock();
        known.waiting.retain(|_, order| order.job != job);
        known.killed.retain(|attempt| attempt.task.job != job);
        known.turned_down.remove(&job);
    }

    /// Carries out orders, one after the other, until it is told to stop or nobody listens any more.
    pub async fn run(&self, stop: CancellationToken) {
        let all = async {
            loop {
                let order = self.next().await;
                match self.carry_out(&order).await {
                    Ok(true) => tokio::time::sleep(self.apart).await,
                    Ok(false) => {}
                    Err(Stopped) => return,
                }
            }
        };
        tokio::select! { () = stop.cancelled() => {}, () = all => {} }
    }

    /// The oldest order, which goes on waiting: it may be called off until it is carried out.
    async fn next(&self) -> Decision {
        loop {
            let first = self.lock().waiting.first_key_value().map(|(_, order)| order.clone());
            match first {
                Some(order) => return order,
                None => self.news.notified().await,
            }
        }
    }

    /// Whether a kill was asked for. One whose attempts cannot be read, or that comes too late, is never sent: the engine sees that from its deadline.
    async fn carry_out(&self, order: &Decision) -> Result<bool, Stopped> {
        let ready = self.ready(order).await;
        let stands = self.lock().waiting.remove(&order.id).is_some();
        let Some(Ready { against, permit, until }) = ready.filter(|_| stands && clock::now() < order.deadline) else {
            return Ok(false);
        };
        let (job, decision) = (order.job, order.id);
        // Before the kill: one that the engine has not been told of was not asked for.
        match tokio::time::timeout_at(until, self.own.say(clock::now(), Fact::Sent { job, decision })).await {
            Ok(said) => said?,
            Err(_) => {
                tracing::warn!(%job, attempt = %order.attempt, "the engine is behind, so an attempt that was to be killed is not");
                return Ok(false);
            }
        }
        let against = against.or_else(|| self.remember(order.attempt));
        let kills = against.is_none();
        let answer = match against {
            Some(answer) => Some(answer),
            None => self.kill(order, permit).await,
        };
        let Some(answer) = answer else { return Ok(kills) };
        self.own.say(clock::now(), Fact::Acked(AckFact { job, decision, answer, attempts: Vec::new() })).await?;
        Ok(kills)
    }

    /// What its task's attempts say against it now, with leave for one request more; `None` where they cannot be read, or there is no leave while that is fresh.
    async fn ready(&self, order: &Decision) -> Option<Ready> {
        if clock::now() >= order.deadline || !self.may(order.job) {
            return None;
        }
        let leave = tokio::time::timeout(READING, self.am.leave()).await.ok()?;
        // An answer can be as old as its question; and a master that hangs keeps nobody else's order waiting for longer.
        let until = Instant::now() + self.fresh;
        let Ok(read) = tokio::time::timeout_at(until, self.am.attempts(Some(leave), order.task)).await else {
            tracing::warn!(job = %order.job, task = %order.task, "its master does not tell a task's attempts in time, so none is killed");
            return None;
        };
        let read = read.inspect_err(|error| {
            tracing::warn!(job = %order.job, task = %order.task, %error, "a task's attempts cannot be read, so none is killed");
        });
        let against = against(order, &read.ok()?.what.0);
        let permit = tokio::time::timeout_at(until, self.am.leave()).await.ok()?;
        Some(Ready { against, permit, until })
    }

    /// Notes that an attempt is to be killed; why not, where it was before.
    fn remember(&self, attempt: AttemptId) -> Option<Answer> {
        let mut known = self.lock();
        if known.killed.len() >= REMEMBERED_MAX {
            known.killed.pop_first();
        }
        (!known.killed.insert(attempt)).then_some(Answer::AttemptEnded)
    }

    /// The answer to a kill; `None` where it may or may not have been carried out.
    async fn kill(&self, order: &Decision, permit: Permit) -> Option<Answer> {
        let (job, attempt) = (order.job, order.attempt);
        let answer = tokio::time::timeout(self.killing, self.am.kill(permit, attempt)).await;
        let error = match answer {
            Ok(Err(error)) if !matches!(error.kind, Kind::Timeout(_)) => error,
            Err(_) | Ok(Err(_)) => {
                self.lock().turn_down(job, 1);
                let then = if self.may(job) {
                    ""
                } else {
                    ", and the job is only advised on: its master was too late too often"
                };
                tracing::warn!(%job, %attempt, "an attempt was to be killed over REST, and its master does not answer in time: whether it was its attempts will show{then}");
                return None;
            }
            Ok(Ok(())) => {
                tracing::info!(%job, %attempt, host = order.host.as_deref(), "an attempt is killed over REST, so that its task starts anew");
                self.lock().turned_down.remove(&job);
                return Some(Answer::Applied);
            }
        };
        let Some(times) = counts_for(&error.kind) else {
            tracing::warn!(%job, %attempt, %error, "an attempt was to be killed over REST; whether it was its attempts will show");
            return None;
        };
        let mut known = self.lock();
        known.killed.remove(&attempt);
        known.turn_down(job, times);
        drop(known);
        if self.may(job) {
            // As good as unanswered: the engine may ask again.
            tracing::warn!(%job, %attempt, %error, "an attempt was to be killed over REST, and was not");
            return None;
        }
        tracing::warn!(%job, %attempt, %error, "Drover's user may not kill attempts of this job over REST, or its Hadoop cannot: it is only advised on");
        Some(Answer::Failed)
    }
}

impl Known {
    fn turn_down(&mut self, job: JobId, times: u32) {
        if times > 0 && (self.turned_down.len() < REMEMBERED_MAX || self.turned_down.contains_key(&job)) {
            let before = self.turned_down.entry(job).or_default();
            *before = before.saturating_add(times);
        }
    }
}

/// For how many of [`TURNED_DOWN_MAX`] an answer counts that says that nothing was killed; `None` where it does not say so.
fn counts_for(kind: &Kind) -> Option<u32> {
    use Kind::{Certificate, Forbidden, ForeignRedirect, Html, NotFound, Standby, Status, Unauthorized, Unreachable};
    match kind {
        Unauthorized(_) | Forbidden(_) => Some(TURNED_DOWN_MAX),
        NotFound(_) | Status { .. } | Html(_) | ForeignRedirect(_) => Some(1),
        // Nothing was asked of the job.
        Unreachable(_) | Certificate(_) | Standby { .. } => Some(0),
        _ => None,
    }
}

/// What the attempts of its task, as they are now, say against a restart. An attempt that somebody else has killed counts as one of its restarts.
fn against(order: &Decision, attempts: &[AttemptFact]) -> Option<Answer> {
    let count = |state| attempts.iter().filter(|one| one.state == Some(state)).count();
    let ended = attempts.iter().filter(|one| one.state.is_some_and(AttemptState::is_final)).count();
    let own = attempts.iter().find(|one| one.id(order.job) == order.attempt);
    if count(AttemptState::Succeeded) > 0 {
        Some(Answer::TaskEnded)
    } else if count(AttemptState::CommitPending) > 0 {
        Some(Answer::Committing)
    } else if own.is_none_or(|own| own.state.is_none_or(AttemptState::is_final)) {
        Some(Answer::AttemptEnded)
    } else if own.is_some_and(|own| own.state != Some(AttemptState::Running)) {
        Some(Answer::NotRunning)
    } else if attempts.len() - ended > 1 {
        Some(Answer::TooManyAttempts)
    } else if count(AttemptState::Killed) > order.restarts as usize {
        Some(Answer::RestartsSpent)
    } else if own.is_some_and(|own| own.score.is_none_or(|score| f64::from(score) >= order.numbers.no_gain_from())) {
        Some(Answer::TooFar)
    } else {
        None
    }
}

#[cfg(test)]
pub mod tests;
