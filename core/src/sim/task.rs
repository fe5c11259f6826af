//! A simulated job's tasks, and the containers that it asks for.

use super::asks::Asks;
use super::attempt::AttemptKey;
use super::dist::Dist;
use super::draw::{Draws, Purpose};
use super::replicas::splits_matter;
use super::scenario::{PhaseSpec, Scenario, TASKS_MAX};
use super::traced::TracedPhase;
use crate::model::{Bytes, Millis, Resources, TaskKind, TaskState, Time};

/// A request for a container.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// Index of the task within its kind.
    pub index: u32,
    /// Number that its attempt will have.
    pub number: u32,
    /// Which copy of the job it is for; 0 but where the whole job is cloned.
    pub copy: u32,
    /// Since when.
    pub since: Time,
    /// It is for an attempt beside another.
    pub is_copy: bool,
    /// It comes before all others of its kind, and of a map before reduces and for any node (RMContainerAllocator, PRIORITY_FAST_FAIL_MAP).
    pub hurries: bool,
    /// Nodes where it must not be put.
    pub avoid: Vec<u32>,
    /// Nodes where it had better be put, the best first.
    pub prefer: Vec<u32>,
    /// Of a map that looks for its split: the nodes that hold it.
    pub split: Vec<u32>,
}

impl Ask {
    /// One for a task's own attempt.
    pub fn of(index: u32, now: Time) -> Ask {
        Ask {
            index,
            number: 0,
            copy: 0,
            since: now,
            is_copy: false,
            hurries: false,
            avoid: Vec::new(),
            prefer: Vec::new(),
            split: Vec::new(),
        }
    }

    /// What is no copy and has waited for an hour is put anywhere: else queues could preempt each other's containers for ever, of which none is on a node
    /// that it takes. `None` of a copy.
    pub fn takes_any_from(&self) -> Option<Time> {
        const AT_MOST: Millis = Millis(3_600_000);
        (!self.is_copy).then(|| self.since + AT_MOST)
    }

    /// Must it not be put on that node, as yet?
    pub fn keeps_off(&self, node: u32, now: Time) -> bool {
        self.avoid.contains(&node) && self.takes_any_from().is_none_or(|from| now < from)
    }
}

/// A task.
#[derive(Debug, Clone)]
pub struct Task {
    /// Its state, as Hadoop names it.
    pub state: TaskState,
    /// What it has to do: milliseconds on a healthy node, of reading, sorting and its own work. Maps have the last only.
    pub work: [f64; 3],
    /// Its input.
    pub input: Bytes,
    /// Numbers given to attempts so far.
    pub numbered: u32,
    /// Attempts that have containers and have not ended.
    pub live: Vec<AttemptKey>,
    /// Requests for containers that it has out.
    pub asked: u32,
    /// Launch of its first attempt.
    pub started: Option<Time>,
    /// Success.
    pub finished: Option<Time>,
    /// The attempt that succeeded, and the node it ran on.
    pub winner: Option<(u32, u32)>,
    /// Attempts that failed by themselves.
    pub failed: u32,
    /// Does Hadoop hold one of its attempts to have failed? Each later one hurries (TaskImpl, addAndScheduleAttempt).
    pub hurries: bool,
    /// It has changed since it was last told of.
    pub is_news: bool,
    /// Of a map: the outputs that can be read, those of its clones, in order of their ends.
    pub outputs: Vec<Lies>,
}

impl Task {
    fn new(work: [f64; 3], input: Bytes) -> Task {
        Task {
            state: TaskState::New,
            work,
            input,
            numbered: 0,
            live: Vec::new(),
            asked: 0,
            started: None,
            finished: None,
            winner: None,
            failed: 0,
            hurries: false,
            is_news: false,
            outputs: Vec::new(),
        }
    }
}

/// An output of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lies {
    /// When it was written.
    pub at: Time,
    /// Where it is.
    pub node: u32,
}

/// Tasks of one kind.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    /// All of them, by index.
    pub all: Vec<Task>,
    /// How many have succeeded.
    pub finished: u32,
    /// Requests.
    pub asks: Asks,
    /// When they were asked for.
    pub begun: Option<Time>,
    /// What a container of theirs asks for.
    pub size: Resources,
    /// Processors that each keeps busy while it works.
    pub busy: f64,
    /// Of reduces: none of their reading is done before all maps have ended.
    pub reads_after_maps: bool,
    /// How many containers they hold.
    pub held: u32,
}

impl Tasks {
    /// Drawn by the scenario's laws, the same for each policy.
    pub fn drawn(scenario: &Scenario, draws: &Draws, job: u64, kind: TaskKind, phase: &PhaseSpec) -> Tasks {
        let count = phase.tasks.sample(&mut draws.of(Purpose::Tasks, [job, kind as u64, 0])).round();
        // Of laws without a bound, one draw in a million may be above it.
        let count = count.min(TASKS_MAX.into()) as u32;
        let all = (0..count).map(|index| {
            let data = data(scenario, draws, job, kind, index);
            let mut drawn = draws.of(Purpose::Work, [job, task_key(kind, index), 0]);
            let mut millis = |dist: &Dist| Millis::from_secs_f64(dist.sample(&mut drawn) * data).0 as f64;
            let own = millis(&phase.work);
            let read = if kind == TaskKind::Reduce { [millis(&phase.copy), millis(&phase.sort)] } else { [0.0; 2] };
            let input = phase.input_mb.sample(&mut drawn) * data * f64::from(1 << 20);
            Task::new([read[0], read[1], own], Bytes(input as u64))
        });
        let size = Resources { memory_mb: phase.memory_mb, vcores: phase.vcores };
        Tasks { all: all.collect(), size, busy: phase.busy, asks: asks_of(scenario, kind), ..Tasks::default() }
    }

    /// As a trace has them.
    pub fn traced(scenario: &Scenario, draws: &Draws, job: u64, kind: TaskKind, phase: &TracedPhase) -> Tasks {
        let task = |index| {
            let data = data(scenario, draws, job, kind, index);
            let task = phase.tasks.task(index)?;
            Some(Task::new(task.work.map(|millis| (millis * data).round()), Bytes((task.input.0 as f64 * data) as u64)))
        };
        let all = (0..phase.tasks.count()).filter_map(task).collect();
        let asks = asks_of(scenario, kind);
        Tasks { all, size: phase.size, reads_after_maps: phase.reads_after_maps, asks, ..Tasks::default() }
    }

    /// The nodes that the attempts ran on which succeeded, in order of their tasks.
    pub fn written_on(&self) -> impl Iterator<Item = u32> {
        self.all.iter().filter_map(|task| task.winner).map(|(_, node)| node)
    }

    /// Asks for a container for every task.
    pub fn begin(&mut self, now: Time) {
        self.begun = Some(now);
        for (index, task) in self.all.iter_mut().enumerate() {
            (task.state, task.numbered, task.asked) = (TaskState::Scheduled, 1, 1);
            self.asks.put(Ask::of(index as u32, now), false);
        }
    }
}

fn asks_of(scenario: &Scenario, kind: TaskKind) -> Asks {
    match kind {
        TaskKind::Map => Asks::of_maps(splits_matter(scenario, true)),
        TaskKind::Reduce => Asks::of_reduces(),
    }
}

/// A number that no other task of a job has.
pub fn task_key(kind: TaskKind, index: u32) -> u64 {
    u64::from(index) << 1 | kind as u64
}

/// How many times more data than another a task has.
fn data(scenario: &Scenario, draws: &Draws, job: u64, kind: TaskKind, index: u32) -> f64 {
    scenario.slowness.data.first(|| draws.of(Purpose::Data, [job, task_key(kind, index), 0]))
}
