//! The engine with all that is kept around it: its recording, its metrics, its newest decisions. Everything here is sequential and
//! takes time as an argument; the thread that drives it is elsewhere.

mod counts;
mod learned;
mod named;

pub use counts::Totals;

use super::kept::{Asked, Kept, outcome};
use super::learning::{Learning, Resumed};
use crate::history::Recorder;
use crate::history::format::{Entry, Line};
use crate::ledger::Feed;
use crate::shim::Late;
use crate::telemetry::{Metrics, channel_label};
use drover_core::engine::{Engine, EngineParams, Pass};
use drover_core::estimate::health::NodeHealth;
use drover_core::model::{Action, Channel, Decision, Dropped, Fact, JobId, NameId, Observation, Time};
use named::Named;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Instant;

/// The engine and what is kept around it.
pub struct Desk {
    /// The engine.
    pub engine: Engine,
    /// The newest decisions, oldest first; as many as allowed.
    pub decisions: VecDeque<Kept>,
    /// How many decisions are kept.
    pub keep: usize,
    /// Decisions whose end is not known yet, by number: it counts also when they are not among those kept any more.
    open: BTreeMap<u64, Open>,
    /// The process whose shims' actions these decisions are.
    pub incarnation: String,
    /// Jobs of which a shim's facts were lost for want of room, and not taken since.
    missed: BTreeSet<JobId>,
    /// Of these, the ones that have found room.
    regained: Vec<JobId>,
    /// Queues that are named and are none.
    named: Named,
    /// Nodes' health, once somebody has asked since the last pass: counting walks all attempts, and a dashboard asks page by page, again and again.
    health: OnceCell<BTreeMap<NameId, NodeHealth>>,
    recorder: Option<Recorder<EngineParams>>,
    /// The ledger, where one is kept.
    pub ledger: Option<Feed>,
    /// What the ledger is to be handed of what the engine learns.
    pub(super) learning: Learning,
    /// What the engine went on from; `None` where it began with nothing.
    pub resumed: Option<Resumed>,
    metrics: Arc<Metrics>,
}

/// What the end of a decision is counted by.
#[derive(Debug, Clone)]
struct Open {
    policy: String,
    action: Action,
    /// When the slow attempt would have ended, the AM's clock; `None` where nobody said.
    predicted: Option<Time>,
}

/// Decisions without an end that are remembered; of some none ever comes.
const OPEN_MAX: usize = 100_000;
/// Jobs with losses that are remembered; more than there may be sessions.
const MISSED_MAX: usize = 100_000;

/// A configuration that was read again.
#[derive(Debug)]
pub struct Again {
    /// How the engine decides.
    pub params: EngineParams,
    /// Settings that have a say in it, by their keys.
    pub settings: BTreeMap<String, String>,
}

impl Desk {
    /// A desk with a fresh engine.
    pub fn new(
        params: EngineParams,
        keep: usize,
        recorder: Option<Recorder<EngineParams>>,
        metrics: Arc<Metrics>,
    ) -> Desk {
        let (missed, regained) = (BTreeSet::new(), Vec::new());
        let (engine, decisions, incarnation) = (Engine::new(params), VecDeque::new(), String::new());
        let (health, open, named) = (OnceCell::new(), BTreeMap::new(), Named::default());
        Desk {
            engine,
            decisions,
            keep,
            open,
            incarnation,
            missed,
            regained,
            named,
            health,
            recorder,
            ledger: None,
            learning: Learning::default(),
            resumed: None,
            metrics,
        }
    }

    /// Begins a segment where one is due. Only before the engine is given something: a segment starts with the state that comes before
    /// its lines.
    fn segment(&mut self, at: Time) {
        let Some(recorder) = self.recorder.as_mut().filter(|recorder| recorder.wants_segment()) else { return };
        match serde_json::to_string(&self.engine) {
            Ok(engine) => recorder.begin(at, engine),
            Err(error) => tracing::error!(%error, "the engine's state cannot be recorded"),
        }
    }

    fn record(&mut self, line: impl FnOnce() -> Entry<EngineParams>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.push(line());
        }
    }

    /// Gives the engine a fact.
    pub fn observe(&mut self, seen: Observation) {
        self.segment(seen.received);
        let channel = channel_label(seen.source.channel);
        let taken = self.engine.observe(&seen);
        self.note_loss(&seen, taken);
        match taken {
            // The end of a job that ended before this process began: nothing to the engine, and all that the ledger waits for.
            Err(_) if self.ended_unseen(&seen) => {
                self.metrics.applied.with_label_values(&[channel]).inc();
            }
            Ok(()) => {
                self.metrics.applied.with_label_values(&[channel]).inc();
                self.follow(&seen);
                if let Some(ledger) = &mut self.ledger {
                    ledger.observed(&seen, &self.engine);
                }
            }
            Err(why) => self.metrics.dropped.with_label_values(&[channel, why.label()]).inc(),
        }
        self.record(|| Line::Observe(seen));
    }

    /// A shim has answered what an earlier process asked for. That process's engine and its budgets are gone; its ledger is not.
    pub fn answered_late(&mut self, at: Time, late: &Late) {
        if let Some(ledger) = &mut self.ledger {
            ledger.answered_late(at, &late.incarnation, &late.ack);
        }
    }

    /// Does the ledger take it for the end of a job that an earlier process left open?
    fn ended_unseen(&mut self, seen: &Observation) -> bool {
        let is_unknown = seen.fact.job().is_some_and(|job| self.engine.cluster().job(job).is_none());
        is_unknown && self.ledger.as_mut().is_some_and(|ledger| ledger.ended_unseen(seen))
    }

    /// Takes note of what becomes of an action.
    fn follow(&mut self, seen: &Observation) {
        match &seen.fact {
            Fact::Ended(_) => self.learning.ended(),
            Fact::ClockSet(job) => {
                tracing::warn!(%job, "the clock of this job's ApplicationMaster was set while it ran: no task of it is copied or restarted for its times while an attempt runs that was launched before")
            }
            Fact::Queues(queues) => {
                if let Some(unknown) = self.named.compare(queues, &self.engine, seen.received) {
                    self.metrics.queues_unknown.set(i64::try_from(unknown).unwrap_or(i64::MAX));
                }
            }
            Fact::Sent { decision, job } => {
                if let Some(kept) = self.kept(*decision).filter(|kept| kept.decision.job == *job) {
                    kept.asked.sent = Some(seen.at);
                }
            }
            Fact::Acked(ack) => {
                if let Some(kept) = self.kept(ack.decision).filter(|kept| kept.decision.job == ack.job) {
                    tracing::info!(
                        job = %ack.job, task = %kept.decision.task, answer = ack.answer.label(), attempts = ?ack.attempts, "an order has been answered"
                    );
                    kept.asked.ack = Some(ack.clone());
                } else {
                    tracing::info!(job = %ack.job, answer = ack.answer.label(), "a shim has answered to a measure");
                }
            }
            _ => {}
        }
    }

    fn kept(&mut self, decision: u64) -> Option<&mut Kept> {
        let at = self.decisions.binary_search_by_key(&decision, |kept| kept.decision.id).ok()?;
        self.decisions.get_mut(at)
    }

    /// A shim tells only what changes: what was lost of a job must be asked for once there is room for it.
    fn note_loss(&mut self, seen: &Observation, taken: Result<(), Dropped>) {
        let Some(job) = seen.fact.job() else { return };
        match taken {
            Err(Dropped::TooManyJobs) if seen.source.channel == Channel::Shim && self.missed.len() < MISSED_MAX => {
                self.missed.insert(job);
            }
            _ if matches!(seen.fact, Fact::Ended(_)) => {
                self.missed.remove(&job);
            }
            Ok(()) if self.missed.remove(&job) => self.regained.push(job),
            _ => {}
        }
    }

    /// Jobs that have found room after facts of theirs were lost, each once: their shims are to tell all of it again.
    pub fn take_regained(&mut self) -> Vec<JobId> {
        std::mem::take(&mut self.regained)
    }

    /// Takes a configuration that was read again.
    pub fn read_again(&mut self, at: Time, again: Again) {
        self.set_params(at, again.params);
        if let Some(ledger) = &mut self.ledger {
            ledger.settings(at, again.settings);
        }
    }

    /// Changes how the engine decides.
    pub fn set_params(&mut self, at: Time, params: EngineParams) {
        self.segment(at);
        self.record(|| Line::Params(params.clone()));
        self.engine.set_params(params);
    }

    /// Lets the engine decide.
    pub fn decide(&mut self, now: Time) -> Pass {
        self.segment(now);
        self.record(|| Line::Decide(now));
        let begun = Instant::now();
        let pass = self.engine.decide(now);
        self.metrics.tick.observe(begun.elapsed().as_secs_f64());
        self.health.take();
        for decision in &pass.decisions {
            self.record(|| Line::Decision(Box::new(decision.clone())));
            self.keep(decision);
        }
        self.account(&pass);
        self.learning.passed(&pass);
        if let Some(ledger) = &mut self.ledger {
            ledger.passed(&pass, &self.engine, now);
        }
        pass
    }

    fn keep(&mut self, decision: &Decision) {
        self.metrics.decided(decision, outcome(decision.mode));
        tracing::info!(
            job = %decision.job, task = %decision.task, attempt = %decision.attempt, host = decision.host.as_deref(),
            policy = %decision.policy, mode = decision.mode.label(), time_left_ms = decision.numbers.time_left.map(|ms| ms.0),
            fresh_copy_ms = decision.numbers.fresh_copy.map(|ms| ms.0), win_probability = decision.numbers.win_probability,
            action = decision.action.label(), "{}", decision.action.words()
        );
        while self.decisions.len() >= self.keep.max(1) {
            self.decisions.pop_front();
        }
        while self.open.len() >= OPEN_MAX {
            self.open.pop_first();
        }
        let (policy, predicted) = (decision.policy.clone(), decision.predicted_end());
        self.open.insert(decision.id, Open { policy, action: decision.action, predicted });
        self.decisions.push_back(Kept { decision: decision.clone(), end: None, asked: Asked::default() });
    }

    /// The health of every node of which anything is known, counted once a pass at most.
    pub fn health(&self) -> &BTreeMap<NameId, NodeHealth> {
        self.health.get_or_init(|| self.engine.health())
    }

    /// Waits until the recording has caught up.
    #[cfg(test)]
    pub fn catch_up(&self) {
        self.recorder.iter().for_each(Recorder::catch_up);
    }

    /// Writes out the recording and the ledger, with all that was learned by now, and ends them: the ledger last, whose file another process may have locked.
    pub fn finish(&mut self, now: Time) {
        if let Some(recorder) = &mut self.recorder {
            recorder.finish();
        }
        self.keep_all_learned(now);
        if let Some(ledger) = &mut self.ledger {
            ledger.finish();
        }
    }
}

#[cfg(test)]
mod tests;
