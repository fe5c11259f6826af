//! What nobody can do, to hold policies against.

use super::attempt::Attempt;
use super::draw::Purpose;
use super::job::{Job, Origin};
use super::task::{Task, Tasks, task_key};
use super::world::World;
use crate::engine::EngineParams;
use crate::model::{Bytes, Capabilities, Millis, TaskKind};
use crate::policy::PolicyName;
use serde::{Deserialize, Serialize};

/// An ideal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ideal {
    /// All tasks of a phase take as long as they do on average, first attempts' luck and data included (NoSkew; Mantri, OSDI'10, §6.1). Nodes are as slow as they are.
    NoSkew,
    /// As long as the shortest three quarters of them on average (NoSkew + ChopTail, ibidem).
    ChopTail,
    /// No output is lost, with its node or alone (IdealRecompute, ibidem).
    IdealRecompute,
    /// Each job's reduces are placed as Mantri places them, by links as they will be while these read, and nothing else is done (IdealReduce, ibidem).
    IdealReduce,
    /// Copies each task whose next attempt would end first, and no other: how long every attempt would take is known to it.
    Oracle,
}

impl Ideal {
    /// All of them.
    pub const ALL: [Ideal; 5] =
        [Ideal::NoSkew, Ideal::ChopTail, Ideal::IdealRecompute, Ideal::IdealReduce, Ideal::Oracle];

    /// Stable label, its serialised form.
    pub fn label(self) -> &'static str {
        match self {
            Ideal::NoSkew => "no-skew",
            Ideal::ChopTail => "chop-tail",
            Ideal::IdealRecompute => "ideal-recompute",
            Ideal::IdealReduce => "ideal-reduce",
            Ideal::Oracle => "oracle",
        }
    }

    /// Of a phase's tasks, the shortest first, the share (0–1) whose mean all take; `None` where each takes its own time.
    fn kept(self) -> Option<f64> {
        match self {
            Ideal::NoSkew => Some(1.0),
            Ideal::ChopTail => Some(0.75),
            Ideal::IdealRecompute | Ideal::IdealReduce | Ideal::Oracle => None,
        }
    }

    /// What the engine decides beside it.
    fn params(self) -> EngineParams {
        let mut params = EngineParams { policy: PolicyName::None, ..EngineParams::default() };
        if self == Ideal::IdealReduce {
            params.policy = PolicyName::Mantri;
            // However long a phase reads: links need not be guessed.
            params.measures.short_phase = Millis(u64::MAX);
        }
        params
    }
}

/// Who acts in a run.
#[derive(Debug, Clone)]
pub enum Actor {
    /// The engine.
    Policy(Box<EngineParams>),
    /// What nobody can do.
    Ideal(Ideal),
}

impl Actor {
    /// How the engine decides, and what acts in its stead or shows it more than there is to see.
    pub(super) fn parts(self) -> (EngineParams, Option<Ideal>) {
        match self {
            Actor::Policy(params) => (*params, None),
            Actor::Ideal(ideal) => (ideal.params(), Some(ideal)),
        }
    }

    /// What can be done to jobs, where a scenario lets `given` be done. Reduces are placed only of jobs in mode act, whose tasks can be copied; an ideal's copies are not carried out.
    pub(super) fn can(&self, given: Capabilities) -> Capabilities {
        match self {
            Actor::Ideal(Ideal::IdealReduce) => {
                Capabilities { duplicate: true, place_reduces: true, ..Capabilities::NONE }
            }
            _ => given,
        }
    }
}

impl From<EngineParams> for Actor {
    fn from(params: EngineParams) -> Self {
        Actor::Policy(Box::new(params))
    }
}

impl World<'_> {
    /// How many times longer an attempt takes on its node: by itself, as the trace's host for which the node stands makes it, and for where its input lies.
    pub(super) fn factor(&self, job: &Job, attempt: &Attempt) -> f64 {
        let host = self.host_on(job.of, attempt.node);
        let luck = match self.ideal.and_then(Ideal::kept) {
            Some(_) => self.scenario.hosts.slower(host),
            None => self.luck_on(host, job.of, attempt.kind, attempt.index, attempt.number),
        };
        self.remote(job, attempt) * luck
    }

    /// The trace's host that a node is to a job.
    pub(super) fn host_on(&self, of: Origin, node: u32) -> Option<u32> {
        match of {
            Origin::Group(..) => None,
            Origin::Traced(_) => self.scenario.hosts.on(node, self.scenario.cluster.nodes),
        }
    }

    /// How many times longer an attempt takes on one of the trace's hosts; on none of them, apart from what hosts make of it.
    fn luck_on(&self, host: Option<u32>, of: Origin, kind: TaskKind, index: u32, number: u32) -> f64 {
        let mut luck = self.draws.of(Purpose::Luck, [of.key(), task_key(kind, index), number.into()]);
        let known = match of {
            Origin::Group(group, _) => self.scenario.jobs[group as usize].phase(kind).slower(index, number),
            Origin::Traced(nth) => {
                let tasks = &self.scenario.traced[nth as usize].phases[kind as usize].tasks;
                self.scenario.hosts.luck(tasks, index, number == 0, host, &mut luck)
            }
        };
        known * self.scenario.slowness.attempt.sample(&mut luck)
    }

    /// Gives all tasks of each of a job's phases the same work, where that is the ideal.
    pub(super) fn even_out(&self, job: &mut Job) {
        let Some(kept) = self.ideal.and_then(Ideal::kept) else { return };
        for kind in TaskKind::ALL {
            let all = 0..job.of(kind).all.len() as u32;
            let lucks = all.map(|index| self.luck_on(None, job.of, kind, index, 0)).collect();
            even(job.of_mut(kind), lucks, kept);
        }
    }
}

fn even(tasks: &mut Tasks, lucks: Vec<f64>, kept: f64) {
    // Each task's three parts of work, milliseconds, and its input, bytes.
    let taken = |(task, luck): (&Task, f64)| {
        let [copy, sort, own] = task.work.map(|millis| millis * luck);
        [copy, sort, own, task.input.0 as f64]
    };
    let mut all: Vec<[f64; 4]> = tasks.all.iter().zip(lucks).map(taken).collect();
    let takes = |one: &[f64; 4]| one[..3].iter().sum::<f64>();
    all.sort_by(|a, b| takes(a).total_cmp(&takes(b)));
    all.truncate((all.len() as f64 * kept).ceil() as usize);
    let [copy, sort, own, input] =
        [0, 1, 2, 3].map(|part| all.iter().map(|one| one[part]).sum::<f64>() / all.len() as f64);
    for task in &mut tasks.all {
        (task.work, task.input) = ([copy, sort, own].map(f64::round), Bytes(input as u64));
    }
}
