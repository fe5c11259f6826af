//! The engine beside the simulated cluster: what a job's shim and the ResourceManager would tell it goes in, and its decisions come out.

use super::job::Job;
use super::outcome::{BudgetUse, Decided};
use super::scenario::HadoopSpec;
use crate::engine::{Engine, EngineParams, Pass};
use crate::estimate::calibration::Record;
use crate::model::*;
use crate::policy::PolicyName;
use crate::policy::dolly::Reads;

/// The engine, and the sequence of what it is told.
pub(super) struct Driver {
    engine: Engine,
    seq: u64,
    polled: Option<Time>,
    /// What was decided so far.
    pub(super) decided: Decided,
    /// What was taken of budgets.
    pub(super) budget: BudgetUse,
}

impl Driver {
    /// One that acts. What is told seldom is not too old for that.
    pub(super) fn new(mut params: EngineParams, hadoop: &HadoopSpec) -> Driver {
        let slowest = Millis::from_secs_f64(3.0 * hadoop.poll.max(hadoop.exchange));
        params.govern.mode = Mode::Act;
        params.govern.stale_after = params.govern.stale_after.max(slowest);
        Driver {
            engine: Engine::new(params),
            seq: 0,
            polled: None,
            decided: Decided::default(),
            budget: BudgetUse::default(),
        }
    }

    /// Is there a policy that wants to know?
    pub(super) fn watches(&self) -> bool {
        self.engine.params().policy != PolicyName::None
    }

    /// How good the engine's predictions of time left were.
    pub(super) fn estimates(&self) -> &Record {
        self.engine.calibration().overall()
    }

    /// Is a job one of those held out to compare with?
    pub(super) fn leaves_alone(&self, job: JobId) -> bool {
        self.engine.params().govern.draws_out(job)
    }

    /// Does the policy settle clones before a phase's first task runs?
    pub(super) fn clones(&self) -> bool {
        self.engine.params().policy.clones()
    }

    /// Does the policy want anything of jobs beside copies?
    pub(super) fn takes_measures(&self) -> bool {
        self.engine.params().policy.takes_measures()
    }

    /// What it has settled about the clones of a phase's tasks, where these are cloned.
    pub(super) fn clones_of(&self, job: JobId, kind: TaskKind) -> Option<ClonePlan> {
        let given = |plan: &ClonePlan| plan.refused.is_none() && plan.scheme == CloneScheme::Task;
        self.engine.clone_plan(job, kind).filter(given)
    }

    /// How long clones of a job's reduces wait for outputs of their own, where they do.
    pub(super) fn omega_of(&self, job: JobId) -> Option<Millis> {
        match self.clones_of(job, TaskKind::Reduce)?.reading?.done {
            Assignment::Delay { omega } => Some(omega),
            Assignment::Avoidance | Assignment::Contention => None,
        }
    }

    /// Does the policy clone whole jobs?
    pub(super) fn clones_jobs(&self) -> bool {
        self.clones() && self.engine.params().dolly.scheme == CloneScheme::Job
    }

    /// What it has settled about a job that is to be run several times over.
    pub(super) fn whole_of(&self, job: JobId) -> Option<ClonePlan> {
        let given = |plan: &ClonePlan| plan.refused.is_none() && plan.scheme == CloneScheme::Job;
        TaskKind::ALL.into_iter().find_map(|kind| self.engine.clone_plan(job, kind)).filter(given)
    }

    /// May clones of the job's reduces turn out to wait for outputs of their own, as nothing is settled about them yet?
    pub(super) fn may_wait(&self, job: JobId) -> bool {
        self.engine.clone_plan(job, TaskKind::Reduce).is_none() && self.engine.params().dolly.reads != Reads::Cc
    }

    /// Does the policy say where its copies are to be put, and where not?
    pub(super) fn places(&self) -> bool {
        self.engine.params().policy.places()
    }

    /// Are the ResourceManager's numbers to be read now, at every so many milliseconds?
    pub(super) fn polls(&mut self, every: Millis, now: Time) -> bool {
        let due = self.polled.is_none_or(|polled| now.since(polled) >= every);
        if due {
            self.polled = Some(now);
        }
        due
    }

    /// Tells a fact. One that is refused is a fault of the simulator's.
    pub(super) fn say(&mut self, now: Time, fact: Fact) {
        let app = fact.job().map(|job| job.0);
        let channel = match &fact {
            Fact::Sent { .. } | Fact::Acked(_) => Channel::Own,
            _ if app.is_some() => Channel::Shim,
            _ => Channel::Rm,
        };
        self.seq += 1;
        let source = Source { channel, app, principal: None, incarnation: 1 };
        let told = self.engine.observe(&Observation { source, seq: self.seq, at: now, received: now, fact });
        debug_assert!(told.is_ok(), "{told:?}");
    }

    /// What the engine makes of it all.
    pub(super) fn decide(&mut self, now: Time) -> Pass {
        let pass = self.engine.decide(now);
        for decision in pass.decisions.iter().filter(|decision| decision.mode == Mode::Act) {
            self.budget.count(decision);
            match decision.action {
                Action::Duplicate => self.decided.copies += u64::from(decision.copies),
                Action::Restart => self.decided.restarts += 1,
                Action::Withdraw => self.decided.withdrawals += 1,
            }
        }
        pass
    }

    /// A decision was carried out by these attempts, or was not.
    pub(super) fn answer(&mut self, decision: &Decision, answer: Answer, attempts: Vec<u32>, now: Time) {
        self.decided.in_vain += u64::from(!answer.is_applied());
        self.say(now, Fact::Sent { job: decision.job, decision: decision.id });
        self.say(now, Fact::Acked(AckFact { job: decision.job, decision: decision.id, answer, attempts }));
    }

    /// A job has ended; what was not told of it before is told now.
    pub(super) fn ended(&mut self, job: &Job, state: JobPhase, now: Time) {
        if !self.watches() || !job.told {
            return;
        }
        let (state, attempts) = (Some(state), job.ended.clone());
        if !attempts.is_empty() {
            // An AM's last words come before the job's history.
            self.say(now, Fact::Attempts { job: job.id, attempts: attempts.clone() });
        }
        let end = EndFact { job: job.id, state, started: Some(job.arrived), finished: Some(now), attempts };
        self.say(now, Fact::Ended(end));
    }
}
