//! Facts in, decisions out. Drives state, estimates, policies and govern; the same code in the service, in replay and in the simulator.

mod avoid;
mod blacklist;
mod calibrate;
mod causes;
mod clones;
mod crossing;
mod glance;
mod grant;
mod health;
mod hosts;
mod learned;
mod location;
mod measures;
mod outran;
mod paper;
mod params;
mod pass;
mod placement;
mod proposal;
mod reads;
mod rerun;
mod settle;
mod suspects;
mod turns;

use crate::estimate::calibration::Calibration;
pub use crate::estimate::calibration::EstimateError;
use crate::estimate::odds::StragglerOdds;
use crate::estimate::prior::Priors;
use crate::estimate::shuffle::Shuffles;
use crate::govern::breaker::Breakers;
use crate::govern::budget::Budgets;
use crate::govern::clones::ClonePlans;
use crate::govern::debounce::Debounce;
use crate::govern::flight::Flights;
use crate::govern::measures::Measures;
use crate::govern::nodes::NodeRests;
use crate::govern::revalidate::by_past;
use crate::model::*;
use crate::policy::blacklist::Listed;
use crate::policy::view::Found;
pub use learned::{Known, LEARNED_FORMAT, Learned, Room};
use location::Locations;
pub use params::EngineParams;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Length of the windows of time by which machines' stragglers are counted, and for which a machine is then avoided. NSDI'13 §2.1.2 tries five minutes and an hour.
const MACHINE_WINDOW: Millis = Millis(300_000);

/// The engine.
#[derive(Debug, Serialize, Deserialize)]
pub struct Engine {
    params: EngineParams,
    cluster: ClusterState,
    flights: Flights,
    clones: ClonePlans,
    /// What jobs were told beside copies.
    #[serde(default)]
    measures: Measures,
    #[serde(default)]
    debounce: Debounce,
    #[serde(default)]
    breakers: Breakers,
    /// Hosts that copies are kept off because those there came to nothing.
    #[serde(default)]
    node_rests: NodeRests,
    /// What is known of stragglers.
    odds: StragglerOdds,
    /// Machines blacklisted at the last pass by user, where the policy asks for it; each pass counts them anew.
    #[serde(skip)]
    listed: BTreeMap<String, Vec<Listed>>,
    /// What was predicted, and how good that was.
    #[serde(default)]
    calibration: Calibration,
    /// How long tasks took in earlier runs of the jobs.
    #[serde(default)]
    priors: Priors,
    /// What reduces showed of reading and computing in earlier runs of the jobs.
    #[serde(default)]
    shuffles: Shuffles,
    /// Where copies might run, as this pass has seen it.
    #[serde(skip)]
    locations: Locations,
    decisions: u64,
    /// Jobs of which something was heard since their last pass.
    changed: BTreeSet<JobId>,
    /// Jobs that were refused copies for want of room: they are looked at as soon as there is more.
    #[serde(default)]
    roomless: BTreeSet<JobId>,
    /// Jobs that have ended, to be settled and forgotten.
    ended: BTreeSet<JobId>,
    /// When to look at each job though nothing is heard, the service's clock.
    due: BTreeMap<JobId, Time>,
    /// What the last look at all tasks of a job's kind found, where tasks may be looked at alone.
    #[serde(with = "crate::model::pairs", default)]
    found: BTreeMap<(JobId, TaskKind), Box<Found>>,
    last_pass: Time,
}

/// The answer of one pass.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    /// Decisions taken, the most urgent first.
    pub decisions: Vec<Decision>,
    /// What became of advised copies whose tasks have ended.
    pub outcomes: Vec<VirtualOutcome>,
    /// What became of copies that were asked for.
    pub copies: Vec<CopyOutcome>,
    /// Estimates set against what happened.
    pub errors: Vec<EstimateError>,
    /// Policies that were left to advice because their copies kept losing, or may act again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub breakers: Vec<BreakerTurn>,
    /// What was weighed beside copies of running tasks: decided, or why not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures: Vec<Measure>,
    /// The instant at which the answer can change though nothing is heard, the service's clock.
    pub next: Option<Time>,
    /// How many jobs were looked at.
    pub jobs_evaluated: usize,
}

/// A running task as the last pass saw it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The attempt it is judged by.
    pub attempt: AttemptId,
    /// Its host, where known.
    pub host: Option<String>,
    /// What was decided, or why not.
    pub verdict: Verdict,
    /// The numbers it rests on.
    pub numbers: Numbers,
    /// Why it takes as long as it does; `None` where nothing can be said of it.
    pub cause: Option<Cause>,
}

impl Engine {
    /// An engine that knows nothing yet.
    pub fn new(params: EngineParams) -> Engine {
        Engine {
            params,
            cluster: ClusterState::default(),
            flights: Flights::default(),
            clones: ClonePlans::default(),
            measures: Measures::default(),
            debounce: Debounce::default(),
            breakers: Breakers::default(),
            node_rests: NodeRests::default(),
            odds: StragglerOdds::new(MACHINE_WINDOW),
            listed: BTreeMap::new(),
            calibration: Calibration::default(),
            priors: Priors::default(),
            shuffles: Shuffles::default(),
            locations: Locations::default(),
            decisions: 0,
            changed: BTreeSet::new(),
            ended: BTreeSet::new(),
            roomless: BTreeSet::new(),
            due: BTreeMap::new(),
            found: BTreeMap::new(),
            last_pass: Time(0),
        }
    }

    /// Changes how it decides, from the next pass on.
    pub fn set_params(&mut self, params: EngineParams) {
        if params.policy != self.params.policy {
            self.clones.clear();
            self.measures.clear();
        }
        self.params = params;
        self.stir_all();
    }

    /// These jobs are to be looked at, and whole.
    fn stir(&mut self, jobs: Vec<JobId>) {
        for id in jobs {
            if let Some(job) = self.cluster.job_mut(id) {
                job.stirred = true;
                self.changed.insert(id);
            }
        }
    }

    /// So is every job.
    fn stir_all(&mut self) {
        self.stir(self.cluster.jobs().map(|job| job.id).collect());
    }

    /// How it decides.
    pub fn params(&self) -> &EngineParams {
        &self.params
    }

    /// All that is known.
    pub fn cluster(&self) -> &ClusterState {
        &self.cluster
    }

    /// What copies take of the budgets of the whole cluster, and may.
    pub fn budgets(&self) -> Budgets {
        Budgets::count(&self.params.govern, &self.cluster, &self.flights)
    }

    /// What phases that are cloned hold or are promised of the clones' budget, first attempts included, and may hold, MiB; `None` under policies that do not clone, and before
    /// the ResourceManager has told of the cluster.
    pub fn clone_budget_mb(&self) -> Option<(u64, u64)> {
        let supply = self.clone_supply().filter(|_| self.params.policy.clones())?;
        Some((supply.cloning_mb, supply.most_mb(&self.params.dolly)))
    }

    /// Copies in flight, those only advised included.
    pub fn copies_in_flight(&self) -> u32 {
        self.flights.in_cluster()
    }

    /// What was settled about the clones of a phase; `None` before it was, and under a policy without clones.
    pub fn clone_plan(&self, job: JobId, kind: TaskKind) -> Option<ClonePlan> {
        self.clones.of(job, kind)
    }

    /// Policies left to advice because their copies kept losing.
    pub fn open_breakers(&self) -> Vec<OpenBreaker> {
        self.breakers.open()
    }

    /// How often tasks straggle, on each machine and anywhere.
    pub fn odds(&self) -> &StragglerOdds {
        &self.odds
    }

    /// Takes a fact into account.
    ///
    /// # Errors
    /// The reason, when it is dropped; nothing has then changed.
    pub fn observe(&mut self, seen: &Observation) -> Result<(), Dropped> {
        let blind = self.cluster.totals.is_none();
        let tells_room = matches!(seen.fact, Fact::Cluster(_) | Fact::Nodes(_));
        let free = tells_room.then(|| self.cluster.free_mb());
        let changed = self.cluster.apply(seen)?;
        self.follow_counters(seen);
        match &seen.fact {
            Fact::Sent { job, decision } => self.flights.sent(*job, *decision),
            Fact::Acked(ack) => {
                self.flights.answered(ack);
                self.measures.answered(ack);
            }
            // Modes may have changed: every job is judged anew.
            Fact::Held(_) | Fact::Lifted(_) | Fact::Rival(_) => {
                if seen.fact == Fact::Lifted(Scope::Cluster) {
                    self.breakers.reset();
                }
                self.stir_all();
            }
            // Clones of jobs that nothing runs of yet wait for this.
            Fact::Cluster(_) if blind => self.stir_all(),
            Fact::Cluster(_) | Fact::Nodes(_) if free < Some(self.cluster.free_mb()) => {
                let roomless = std::mem::take(&mut self.roomless);
                self.stir(roomless.into_iter().collect());
            }
            _ => {}
        }
        match changed {
            Changed::Cluster => {}
            Changed::Job(id) => {
                self.changed.insert(id);
                if let Some(job) = self.cluster.job_mut(id) {
                    // Once and for all: what is set anew changes the jobs to come.
                    job.held_out.get_or_insert_with(|| self.params.govern.draws_out(id));
                }
            }
            Changed::Ended(job) => {
                self.ended.insert(job);
            }
        }
        Ok(())
    }

    /// Is the job's speculation Drover's to own now? Not while nothing is known of free room, nor of a job whose tasks have not all been told of for too long, nor where nothing is to be cloned by a policy that does nothing else: without
    /// copies of Drover's, Hadoop's own are better than none.
    pub fn owns(&self, id: JobId) -> bool {
        let blind = self.params.govern.room_is_stale(&self.cluster, Mode::Act, self.last_pass);
        self.cluster.job(id).is_some_and(|job| self.mode_of(job) == Mode::Act && !blind && self.could_own(job))
    }

    /// May the job be owned, whatever its mode, where it is known what room there is?
    fn could_own(&self, job: &Job) -> bool {
        let policy = self.params.policy;
        let idle = !policy.acts_on_tasks() || (policy.only_clones() && !self.has_clones(job));
        let never = self.params.govern.leaves_alone(job, self.last_pass) || idle;
        let unread = !job.is_complete() && self.params.govern.is_stale(job.opened, self.last_pass);
        // A lease holds the copies of Hadoop's own, which restarts alone do not make up for.
        job.can.duplicate && !never && !unread
    }

    /// Jobs that would be owned, did no operator hold them.
    pub fn withheld(&self) -> impl Iterator<Item = JobId> {
        let held = |job: &&Job| self.cluster.hold_of(job, self.last_pass).is_some();
        let acts = |job: &&Job| self.mode_but_for_holds(job) == Mode::Act && self.could_own(job);
        self.cluster.jobs().filter(held).filter(acts).map(|job| job.id)
    }

    /// Could the job be acted on now, were it not held out? From the first moment at which it could, it counts in the comparison of jobs held out with the others.
    pub fn could_act_on(&self, job: &Job) -> bool {
        let acts = self.params.policy.acts_on_tasks() && self.mode_of(job) == Mode::Act;
        acts && self.params.govern.could_act_on(job, self.last_pass)
    }

    /// May an order still be sent, as of the last pass? None that another policy gave than the one in force. One that was sent before and whose copy may be what is seen of its task is: the shim repeats its answer.
    ///
    /// # Errors
    /// The first reason against it, by name.
    pub fn revalidate(&self, decision: &Decision) -> Result<(), Verdict> {
        if decision.policy != self.params.policy.label() {
            return Err(Verdict::NotActing);
        }
        let mode = self.cluster.job(decision.job).map_or(Mode::Off, |job| self.mode_of(job));
        let said = self.params.govern.revalidate(decision, &self.cluster, mode, self.last_pass);
        match said {
            Err(Verdict::AlreadyCopied) if self.flights.was_sent(decision) => {}
            said => said?,
        }
        let job = self.cluster.job(decision.job).ok_or(Verdict::JobEnded)?;
        by_past(decision, job, &self.flights, &self.clones, job.am_time(self.last_pass)).map_or(Ok(()), Err)
    }

    /// Is an order neither answered nor otherwise over, as of the last pass?
    pub fn awaits_answer(&self, decision: &Decision) -> bool {
        self.flights.awaits_answer(decision)
    }

    /// Jobs whose speculation is Drover's to own now.
    pub fn owned(&self) -> Vec<JobId> {
        self.cluster.jobs().map(|job| job.id).filter(|id| self.owns(*id)).collect()
    }

    /// The mode a job is in, at the last pass: holds, a rival and copies that keep losing leave it to advice.
    pub fn mode_of(&self, job: &Job) -> Mode {
        let mode = self.mode_but_for_holds(job);
        if self.cluster.hold_of(job, self.last_pass).is_some() { mode.min(Mode::Advise) } else { mode }
    }

    fn mode_but_for_holds(&self, job: &Job) -> Mode {
        let policy = self.params.policy.label();
        let mode = self.params.govern.mode_of(job, policy);
        let advises = self.cluster.rival.is_some() || self.breakers.is_open(policy, &job.user);
        if advises { mode.min(Mode::Advise) } else { mode }
    }
}
