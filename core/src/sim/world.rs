//! The simulated cluster, event by event.

use super::attempt::{AttemptKey, Attempts, STAGE_MAX};
use super::beats::Beats;
use super::calendar::Calendar;
use super::draw::{Draws, Purpose};
use super::driver::Driver;
use super::flow::Flow;
use super::ideal::{Actor, Ideal};
use super::job::{Job, Origin, START, next_of};
use super::jobs::Jobs;
use super::machine::Machine;
use super::network::Network;
use super::outcome::{Failures, JobRow, Outcome};
use super::scenario::{Scenario, Trouble};
use super::trouble::Part;
use super::watch::{End, Watch};
use super::yarn::Yarn;
use crate::model::{Capabilities, JobPhase, Millis, Resources, Time};
use std::collections::{BTreeMap, BTreeSet};

/// What happens.
#[derive(Debug, Clone, Copy)]
pub(super) enum Event {
    /// A job arrives.
    Arrive(Origin),
    /// An attempt's stage ends, unless its plan has changed since.
    Stage(AttemptKey, u32),
    /// A NodeManager tells of the end of an attempt's container, unless that went with its node.
    Stopped(AttemptKey, u32),
    /// A trouble begins or ends on a node.
    Trouble { which: u32, node: u32, nth: u32, begins: bool },
    /// AMs tell of their jobs, and the policy decides.
    Exchange,
    /// Maps that have waited for a node with their split may go anywhere.
    Unwait,
    /// A NodeManager reports, and may be given a container.
    Beat(u32),
    /// Queues are looked at: has one less than its share?
    Preempt,
    /// Others take more or less of racks' links.
    Links,
    /// Clones of a job's reduces have waited for outputs of their own.
    Waited(u32),
}

/// A task that is run so often will never have been run often enough.
pub(super) const RUNS_MAX: u32 = 2_000;

/// So long nothing may happen before it is given up that anything will.
const QUIET: Millis = Millis(86_400_000);

impl Event {
    /// Does it come every so often?
    fn recurs(&self) -> bool {
        matches!(self, Event::Exchange | Event::Preempt | Event::Links)
    }
}

/// Why a run could not be ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Stuck {
    /// Nothing is left to happen, and jobs wait.
    #[error("jobs wait for containers that never come, from {:.1} s on, {jobs} in all; the first of them is {first}. Is its queue allowed any, does a node stay, and has one room for it?", at.as_secs_f64())]
    Waiting {
        /// How many.
        jobs: usize,
        /// Since when nothing happens, from the start.
        at: Millis,
        /// Name of one.
        first: String,
    },
    /// A task is run again and again.
    #[error("a task of {job} has been run {RUNS_MAX} times, {:.1} s from the start, and its job does not end; is every output lost, or every attempt killed, before it is of use?", at.as_secs_f64())]
    Endless {
        /// Name of its job.
        job: String,
        /// When it was run once more, from the start.
        at: Millis,
    },
    /// A task that takes longer than is counted.
    #[error(
        "a task of {job} would take more than 30,000 years: what makes a task slower multiplies, so give smaller factors, or less work"
    )]
    TooLong {
        /// Name of its job.
        job: String,
    },
    /// The books do not balance: a fault of the simulator's.
    #[error("the simulator has miscounted: {0}")]
    Miscounted(String),
    /// One of several runs.
    #[error("{run}: {why}")]
    InRun {
        /// Its scenario, who acted in it, and its seed.
        run: String,
        /// Why.
        why: Box<Stuck>,
    },
}

/// The cluster, its jobs, and who watches them.
pub(super) struct World<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) draws: Draws,
    pub(super) calendar: Calendar<Event>,
    pub(super) nodes: Vec<Machine>,
    pub(super) yarn: Yarn,
    pub(super) beats: Beats,
    pub(super) network: Network,
    pub(super) jobs: Jobs,
    pub(super) attempts: Attempts,
    pub(super) driver: Driver,
    /// What acts in its stead, or shows it more than there is to see.
    pub(super) ideal: Option<Ideal>,
    /// What can be done to jobs.
    pub(super) can: Capabilities,
    pub(super) outcome: Outcome,
    /// What waits for other jobs.
    pub(super) flow: Flow,
    /// An exchange is in the calendar.
    pub(super) ticking: bool,
    /// A look at the queues is in the calendar.
    pub(super) watched: bool,
    /// A change of links is in the calendar.
    pub(super) links_watched: bool,
    /// Attempts whose containers queues were asked to give back, and since when.
    pub(super) asked_back: BTreeMap<AttemptKey, Time>,
    /// Jobs of which a phase has just been asked for.
    pub(super) begun: BTreeSet<u32>,
    /// Room or requests have changed since containers were last given.
    pub(super) stirred: bool,
    /// Maps that wait for a node with their split are looked at again then.
    pub(super) unwaits: Option<Time>,
    /// When a container was last given.
    pub(super) given: Time,
    /// Outputs are lost on nodes that stay.
    pub(super) loses: bool,
    /// When anything last happened but what comes every so often.
    pub(super) moved: Time,
    /// Why this is played no further.
    pub(super) given_up: Option<Stuck>,
    /// The furthest that any winner's work was off what its task asks for, or the end of any stage off its work, milliseconds.
    pub(super) off_ms: f64,
    /// The job whose attempts are kept.
    pub(super) watch: Option<&'a mut Watch>,
    arrived: u32,
}

/// Runs a scenario under a policy or an ideal, with the luck that a seed gives.
///
/// # Errors
/// Where jobs can never end.
pub fn run(scenario: &Scenario, actor: impl Into<Actor>, seed: u64) -> Result<Outcome, Stuck> {
    World::new(scenario, actor.into(), seed).play()
}

/// The same run, and the attempts of one of its jobs.
///
/// # Errors
/// Where jobs can never end.
pub fn run_watching(
    scenario: &Scenario,
    actor: impl Into<Actor>,
    seed: u64,
    watch: &mut Watch,
) -> Result<Outcome, Stuck> {
    World { watch: Some(watch), ..World::new(scenario, actor.into(), seed) }.play()
}

impl<'a> World<'a> {
    pub(super) fn new(scenario: &'a Scenario, actor: Actor, seed: u64) -> World<'a> {
        let can = actor.can(scenario.hadoop.can);
        let (params, ideal) = actor.parts();
        let (draws, cluster) = (Draws::new(seed), &scenario.cluster);
        let node = |number: u32| {
            let own = cluster.slower_of(number).sample(&mut draws.of(Purpose::Node, [number.into(), 0, 0]));
            Machine::new(number, cluster.racks, cluster.offers(number), own, START)
        };
        let of_groups = scenario.jobs.iter().flat_map(|group| [&group.maps, &group.reduces]);
        let sizes = of_groups.filter(|phase| phase.tasks.range().1 > 0.0);
        let sizes = sizes.map(|phase| Resources { memory_mb: phase.memory_mb, vcores: phase.vcores });
        let of_trace = scenario.traced.iter().flat_map(|job| &job.phases).filter(|phase| phase.tasks.count() > 0);
        let sizes = sizes.chain(of_trace.map(|phase| phase.size));
        let smaller = |a: Resources, b: Resources| Resources {
            memory_mb: a.memory_mb.min(b.memory_mb),
            vcores: a.vcores.min(b.vcores),
        };
        let smallest = sizes.reduce(smaller).unwrap_or_default();
        World {
            scenario,
            draws,
            calendar: Calendar::new(START),
            nodes: (0..cluster.nodes).map(node).collect(),
            yarn: Yarn::new(cluster, smallest),
            beats: Beats::new(scenario, &draws),
            network: Network::new(cluster),
            jobs: Jobs::default(),
            attempts: Attempts::default(),
            driver: Driver::new(params, &scenario.hadoop),
            ideal,
            can,
            outcome: Outcome {
                failures: (scenario.hadoop.fails.share > 0.0).then(Failures::default),
                ..Outcome::default()
            },
            flow: Flow::new(scenario),
            ticking: false,
            watched: false,
            links_watched: false,
            asked_back: BTreeMap::new(),
            begun: BTreeSet::new(),
            stirred: false,
            unwaits: None,
            given: START,
            loses: ideal != Some(Ideal::IdealRecompute) && scenario.trouble.iter().any(Trouble::loses_outputs),
            moved: START,
            given_up: None,
            off_ms: 0.0,
            watch: None,
            arrived: 0,
        }
    }

    fn play(mut self) -> Result<Outcome, Stuck> {
        self.enter_all();
        while self.given_up.is_none()
            && let Some((now, event)) = self.calendar.next()
        {
            if !event.recurs() {
                self.moved = now;
            }
            self.happens(event, now);
            self.plan_begun(now);
            if std::mem::take(&mut self.stirred) {
                self.serve(now);
            }
            if self.network.is_stirred() && self.calendar.next_at() != Some(now) {
                self.settle_shares(now);
            }
        }
        self.close()
    }

    /// The first trouble of each node that has one, and the first arrival of each group that waits for no other. What ails a node from the start ails it when the first jobs come.
    fn enter_all(&mut self) {
        for which in 0..self.scenario.trouble.len() as u32 {
            for node in self.troubled(which) {
                let from = self.trouble_time(which, node, 0, Part::From);
                self.calendar.enter(START + from, Event::Trouble { which, node, nth: 0, begins: true });
            }
        }
        for (number, group) in self.scenario.jobs.iter().enumerate() {
            if group.after.is_empty() {
                let origin = Origin::Group(number as u32, 0);
                self.calendar.enter(START + Millis::from_secs_f64(group.arrive.at), Event::Arrive(origin));
            }
        }
        self.enter_traced(0);
    }

    fn happens(&mut self, event: Event, now: Time) {
        match event {
            Event::Arrive(origin) => self.arrives(origin, now),
            Event::Stage(key, version) => {
                if self.attempts.get(key).version == version {
                    self.stage_ends(key, now);
                }
            }
            Event::Stopped(key, version) => {
                if self.attempts.get(key).version == version {
                    self.gives_back(key, now);
                }
            }
            Event::Trouble { which, node, nth, begins } => self.trouble(which, node, nth, begins, now),
            Event::Exchange => self.exchange(now),
            Event::Beat(nth) => self.beat(nth, now),
            Event::Preempt => self.preempt(now),
            Event::Links => self.links_change(now),
            Event::Waited(number) => {
                self.let_read(number, now);
                self.end_spares(number, now);
            }
            Event::Unwait => (self.unwaits, self.stirred) = (None, true),
        }
    }

    /// The nth job of the trace is to come.
    fn enter_traced(&mut self, nth: u32) {
        if let Some(job) = self.scenario.traced.get(nth as usize) {
            let at = (START + job.arrives).max(self.calendar.now());
            self.calendar.enter(at, Event::Arrive(Origin::Traced(nth)));
        }
    }

    fn arrives(&mut self, origin: Origin, now: Time) {
        let queue = match origin {
            Origin::Group(group, nth) => {
                self.enter_next(group, nth, now);
                &self.scenario.jobs[group as usize].queue
            }
            Origin::Traced(nth) => {
                self.enter_traced(nth + 1);
                &self.scenario.traced[nth as usize].queue
            }
        };
        let queue = self.yarn.queue(queue);
        let mut job = Job::new(self.scenario, &self.draws, self.arrived, origin, queue, now);
        job.inputs = self.flow.inputs(origin);
        self.even_out(&mut job);
        self.arrived += 1;
        let number = job.number;
        self.jobs.insert(number, job);
        self.begin_phases(number, now);
        self.tick(now);
        self.watch_queues(now);
        self.watch_links(now);
        self.end_if_over(number, now);
    }

    /// The next job of a group is to come.
    fn enter_next(&mut self, group: u32, nth: u32, now: Time) {
        let spec = &self.scenario.jobs[group as usize];
        if nth + 1 < spec.count && spec.after.is_empty() {
            let mut draw = self.draws.of(Purpose::Arrival, [group.into(), nth.into(), 0]);
            let next = now + Millis::from_secs_f64(spec.arrive.every.sample(&mut draw));
            self.calendar.enter(next, Event::Arrive(Origin::Group(group, nth + 1)));
        }
    }

    /// Sees to it that there is an exchange to come while there are jobs: on the instants that all share, so that one pass serves many.
    fn tick(&mut self, now: Time) {
        let acts = self.ideal.map_or_else(|| self.driver.watches(), |ideal| ideal == Ideal::Oracle);
        if self.ticking || !acts {
            return;
        }
        let every = Millis::from_secs_f64(self.scenario.hadoop.exchange).max(Millis(1));
        self.calendar.enter(next_of(every, now), Event::Exchange);
        self.ticking = true;
    }

    fn exchange(&mut self, now: Time) {
        self.ticking = false;
        if self.ideal.is_some() {
            self.foresee(now);
        } else {
            let pass = self.tell_all(now);
            self.carry_out_all(&pass, now);
            self.follow_whole_jobs(now);
        }
        if self.goes_on_by_itself() {
            self.tick(now);
        }
    }

    /// Are there jobs for which anything is to come but what comes every so often? Else they wait for what will never be. What ends later than is counted is something to come for as long again as
    /// the run has lasted, and a day at least, in which a policy may act.
    pub(super) fn goes_on_by_itself(&self) -> bool {
        let quiet = self.calendar.now().since(self.moved);
        let is_over = quiet > self.moved.since(START).max(QUIET);
        let comes = |at: Time, event: &Event| !event.recurs() && (!is_over || at < START + STAGE_MAX);
        !self.jobs.is_empty() && self.calendar.any(comes)
    }

    /// A job whose tasks have all succeeded is over, and those that wait for it begin.
    pub(super) fn end_if_over(&mut self, number: u32, now: Time) {
        let Some(job) = self.jobs.get(&number).filter(|job| job.is_over()) else { return };
        // Maps' clones whose outputs were still waited for, and other copies of the job.
        job.live.clone().into_iter().for_each(|key| self.ends(key, End::Overtaken, now));
        self.end_job(number, JobPhase::Succeeded, now);
    }

    /// A job is over, in that state.
    pub(super) fn end_job(&mut self, number: u32, state: JobPhase, now: Time) {
        self.gives_all_back(number, now);
        let Some(mut job) = self.jobs.remove(&number) else { return };
        job.settle_copies();
        let failed = state == JobPhase::Failed;
        self.yarn.leaves(number);
        let omega = self.driver.omega_of(job.id);
        self.driver.ended(&job, state, now);
        self.flow_on(&job, failed, now);
        if let Some(failures) = &mut self.outcome.failures {
            failures.jobs += u64::from(failed);
        }
        self.outcome.lasted = now.since(START);
        let row = JobRow { failed, omega, ..JobRow::of(&job, self.driver.leaves_alone(job.id), START, now) };
        self.outcome.jobs.push(row);
    }

    pub(super) fn close(mut self) -> Result<Outcome, Stuck> {
        let now = self.calendar.now();
        if let Some(stuck) = self.given_up {
            return Err(stuck);
        }
        if let Some(job) = self.jobs.values().next() {
            let first = job.name.clone();
            return Err(Stuck::Waiting { jobs: self.jobs.len(), at: now.since(START), first });
        }
        self.outcome.held_ms = self.nodes.iter().map(|node| node.held_ms(now)).sum();
        if let Some(words) = self.miscounted() {
            return Err(Stuck::Miscounted(words));
        }
        (self.outcome.decided, self.outcome.budget) = (self.driver.decided, self.driver.budget);
        self.outcome.estimates = self.driver.estimates().clone();
        Ok(self.outcome)
    }
}
