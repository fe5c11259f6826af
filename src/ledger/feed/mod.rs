//! What the engine's thread tells the ledger: each decision, action, answer and outcome as it comes, and jobs as they can first be acted on and as they end.

mod ends;
mod rows;
mod seen;
mod settle;
#[cfg(test)]
mod tests;

use super::draw::Draw;
use super::resume::{Left, LeftJob, Unanswered};
use super::schema::{Record, Row};
use super::under::{Told, Under};
use super::write::Ledger;
use drover_core::engine::{Engine, Learned, Pass};
use drover_core::model::{
    CopyOutcome, Decision, Fact, Job, JobId, Measure, Millis, Mode, Observation, TaskId, TaskKind, Time,
};
use ends::{Ended, Fate};
use std::collections::{BTreeMap, BTreeSet};

const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;

/// A decision until its end is known.
#[derive(Debug, Clone)]
struct Open {
    job: JobId,
    task: TaskId,
    /// Number of the slow attempt.
    slow: u32,
    prediction: Prediction,
}

/// When the slow attempt would have ended, the ApplicationMaster's clock, and one standard deviation; `None` where nobody said.
type Prediction = Option<(Time, Option<Millis>)>;

/// What was predicted at the decision; of a clone, for which nothing was, what was as it won.
fn predicted(outcome: &CopyOutcome, open: Option<&Open>) -> Prediction {
    let outran = || outcome.outran.map(|end| (end.at, Some(end.spread)));
    open.and_then(|open| open.prediction).or_else(outran)
}

/// What the ledger is told of.
pub struct Feed {
    ledger: Ledger,
    incarnation: String,
    under: Under,
    told: Option<Told>,
    open: BTreeMap<u64, Open>,
    /// What came of a live job's decisions to act, by task.
    fates: BTreeMap<JobId, BTreeMap<TaskId, Vec<Fate>>>,
    /// Jobs of which something was heard since the last pass, and whose side is not settled.
    fresh: BTreeSet<JobId>,
    enrolled: BTreeSet<JobId>,
    /// What live jobs' sides were drawn under: settings may change before a job is enrolled.
    drawn: BTreeMap<JobId, Draw>,
    /// Jobs that have ended since the last pass.
    ended: Vec<Ended>,
    /// What an earlier process asked for and never heard of.
    orphans: BTreeMap<JobId, Vec<Unanswered>>,
    /// Jobs whose end no earlier process wrote, and none has been told since.
    left: BTreeMap<JobId, LeftJob>,
    /// When the last pass was; `None` before any.
    passed: Option<Time>,
}

impl Feed {
    /// Tells that ledger of the process of that name, which runs under that, with what earlier ones left open.
    pub fn new(ledger: Ledger, incarnation: &str, under: Under, at: Time, left: Left) -> Feed {
        let mut orphans: BTreeMap<JobId, Vec<Unanswered>> = BTreeMap::new();
        for one in left.actions {
            orphans.entry(one.task.job).or_default().push(one);
        }
        let mut fates: BTreeMap<JobId, BTreeMap<TaskId, Vec<Fate>>> = BTreeMap::new();
        for one in left.settled {
            let fate = Fate { instead_of: one.predicted_end.filter(|_| one.won), won: one.won, ..Fate::OF_OTHERS };
            fates.entry(one.task.job).or_default().entry(one.task).or_default().push(fate);
        }
        let mut feed = Feed {
            ledger,
            incarnation: incarnation.to_owned(),
            under,
            told: left.told,
            open: BTreeMap::new(),
            fates,
            fresh: BTreeSet::new(),
            enrolled: BTreeSet::new(),
            drawn: BTreeMap::new(),
            ended: Vec::new(),
            orphans,
            left: left.jobs.into_iter().map(|job| (job.id, job)).collect(),
            passed: None,
        };
        feed.tell_under(at);
        feed
    }

    /// Decisions are taken under those settings from now on.
    pub fn settings(&mut self, at: Time, settings: BTreeMap<String, String>) {
        self.under.settings = settings;
        self.tell_under(at);
    }

    fn tell_under(&mut self, at: Time) {
        let row = self.under.row(&mut self.told, &self.incarnation, at);
        self.tell(row.into_iter().collect());
    }

    /// A fact that the engine has taken.
    pub fn observed(&mut self, seen: &Observation, engine: &Engine) {
        let at = seen.received;
        self.note_draw(seen.fact.job(), engine);
        match &seen.fact {
            Fact::Sent { decision, .. } => self.tell(vec![rows::sent(at, &self.incarnation, *decision)]),
            Fact::Acked(ack) => self.tell(vec![rows::answer(at, &self.incarnation, ack)]),
            Fact::Ended(end) => {
                let Some(job) = engine.cluster().job(end.job) else { return };
                let plan = |kind| Some(rows::clone_plan(at, job, kind, &engine.clone_plan(job.id, kind)?));
                self.tell(TaskKind::ALL.into_iter().filter_map(plan).collect());
                self.end(job, &engine.cluster().hosts, end, at, engine.params().policy.label());
            }
            fact => {
                self.fresh.extend(fact.job().filter(|job| !self.enrolled.contains(job)));
            }
        }
    }

    /// Sides are drawn when jobs are first seen, which is now for one that has none yet.
    fn note_draw(&mut self, job: Option<JobId>, engine: &Engine) {
        let new = job.filter(|job| !self.drawn.contains_key(job)).and_then(|job| engine.cluster().job(job));
        if let Some(job) = new.filter(|job| job.held_out.is_some()) {
            let govern = &engine.params().govern;
            self.drawn.insert(job.id, Draw { share: govern.holdout, salt: govern.holdout_salt });
        }
    }

    /// What a pass came to. Jobs that have ended since the last one are settled with it.
    pub fn passed(&mut self, pass: &Pass, engine: &Engine, now: Time) {
        let mut told: Vec<Row> = pass.decisions.iter().map(|decision| self.decided(decision, engine)).collect();
        for outcome in &pass.outcomes {
            let open = self.open.remove(&outcome.decision);
            told.push(rows::advised(now, &self.incarnation, outcome, open.as_ref()));
        }
        for outcome in &pass.copies {
            let open = self.open.remove(&outcome.decision);
            told.push(rows::copied(now, &self.incarnation, outcome, open.as_ref()));
            self.settle(outcome, open.as_ref());
        }
        let (policy, of) = (engine.params().policy.label(), |id| engine.cluster().job(id));
        let measure = |one: &Measure| rows::measure(now, &self.incarnation, one, of(one.job), policy);
        told.extend(pass.measures.iter().map(measure));
        told.extend(self.enrol(engine, now));
        for ended in std::mem::take(&mut self.ended) {
            let (is_compared, row) = (self.is_compared(ended.job()), ended.row());
            self.ledger.job_ended(&row, row.held_out.filter(|_| is_compared));
            told.push(row.row());
        }
        told.extend(self.hourly(engine, now));
        self.tell(told);
    }

    fn decided(&mut self, decision: &Decision, engine: &Engine) -> Row {
        let prediction = decision.predicted_end().map(|end| (end, decision.numbers.time_left_spread));
        let (job, task, mode) = (decision.job, decision.task, decision.mode);
        self.open.insert(decision.id, Open { job, task, slow: decision.attempt.number, prediction });
        if mode == Mode::Act {
            let fate = Fate { decision: decision.id, instead_of: None, won: false };
            self.fates.entry(job).or_default().entry(task).or_default().push(fate);
        }
        rows::decision(&self.incarnation, decision, engine.cluster().job(job))
    }

    fn enrol(&mut self, engine: &Engine, now: Time) -> Vec<Row> {
        let jobs = std::mem::take(&mut self.fresh).into_iter().filter_map(|id| engine.cluster().job(id));
        let able: Vec<_> = jobs.filter(|job| engine.could_act_on(job)).collect();
        let policy = engine.params().policy.label();
        let row = |job: &Job| rows::enrolment(now, job, self.drawn.get(&job.id), policy);
        let told: Vec<_> = able.into_iter().filter_map(|job| row(job).map(|row| (job.id, row))).collect();
        self.enrolled.extend(told.iter().map(|(id, _)| *id));
        told.into_iter().map(|(_, row)| row).collect()
    }

    /// Does the report count the job on a side of the hold-out? It could be acted on, and its side was left to chance.
    fn is_compared(&self, job: JobId) -> bool {
        self.enrolled.contains(&job) && self.drawn.get(&job).is_some_and(Draw::is_by_chance)
    }

    /// Once an hour how good estimates are, and how often tasks straggle; once a day how nodes are. And what is known of jobs that got lost is let go.
    fn hourly(&mut self, engine: &Engine, now: Time) -> Vec<Row> {
        let Some(before) = self.passed.replace(now) else { return Vec::new() };
        if before.0 / HOUR == now.0 / HOUR {
            return Vec::new();
        }
        let lives = |job: &JobId| engine.cluster().job(*job).is_some();
        self.open.retain(|_, open| lives(&open.job));
        // Of one that ended while no process ran the end is still to be read.
        self.fates.retain(|job, _| lives(job) || self.left.contains_key(job));
        self.enrolled.retain(lives);
        self.drawn.retain(|job, _| lives(job));
        let mut told = seen::hour(engine, now);
        told.extend(self.under.row(&mut self.told, &self.incarnation, now));
        if before.0 / DAY != now.0 / DAY {
            told.extend(seen::nodes(engine, now));
        }
        told
    }

    /// What was learned by then.
    pub fn learned(&self, at: Time, learned: Learned) {
        self.ledger.keep(at, learned);
    }

    fn tell(&mut self, rows: Vec<Row>) {
        self.ledger.push(rows);
    }

    /// Waits until all of it has been dealt with.
    #[cfg(test)]
    pub fn catch_up(&self) {
        self.ledger.catch_up();
    }

    /// Writes out what waits, and ends.
    pub fn finish(&mut self) {
        self.ledger.finish();
    }
}
