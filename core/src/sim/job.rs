//! A simulated job: its tasks, what it waits for, and what of it has not been told yet.

use super::attempt::{AttemptKey, Scoring};
use super::dist::Dist;
use super::draw::{Draws, Purpose};
use super::kept::{Kept, KeptRow};
use super::scenario::{PhaseSpec, Scenario, TASKS_MAX};
use super::traced::TracedPhase;
use super::whole::JobCopy;
use crate::model::{AttemptFact, AttemptState, Bytes, JobId, Millis, Resources, TaskKind, TaskState, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

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
    /// Nodes where it must not be put.
    pub avoid: Vec<u32>,
    /// Nodes where it had better be put, the best first.
    pub prefer: Vec<u32>,
}

impl Ask {
    /// One for a task's own attempt.
    pub fn of(index: u32, now: Time) -> Ask {
        Ask { index, number: 0, copy: 0, since: now, is_copy: false, avoid: Vec::new(), prefer: Vec::new() }
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
    /// Of a map: the outputs that can be read, those of its clones, in order of their ends.
    pub outputs: Vec<Lies>,
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
    /// Requests, the next to be served first.
    pub asks: VecDeque<Ask>,
    /// When they were asked for.
    pub begun: Option<Time>,
    /// What a container of theirs asks for.
    pub size: Resources,
    /// Processors that each keeps busy while it works.
    pub busy: f64,
    /// How many containers they hold.
    pub held: u32,
}

/// Where a job comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The nth job of a group.
    Group(u32, u32),
    /// The nth of the trace.
    Traced(u32),
}

impl Origin {
    /// A number that no other job has: what is drawn for it is drawn by that.
    pub fn key(self) -> u64 {
        match self {
            Origin::Group(group, nth) => u64::from(group) << 32 | u64::from(nth),
            Origin::Traced(nth) => 1 << 63 | u64::from(nth),
        }
    }

    /// Which of its group, or of the trace.
    pub fn nth(self) -> u32 {
        match self {
            Origin::Group(_, nth) | Origin::Traced(nth) => nth,
        }
    }
}

/// A job that has not ended.
#[derive(Debug, Clone)]
pub struct Job {
    /// Its number within the run.
    pub number: u32,
    /// Where it comes from.
    pub of: Origin,
    /// Its name.
    pub name: String,
    /// Its user.
    pub user: String,
    /// Its id, as Drover knows it.
    pub id: JobId,
    /// When it came.
    pub arrived: Time,
    /// Number of its queue.
    pub queue: u32,
    /// What its scores are made of.
    pub scoring: Scoring,
    /// Its maps and its reduces.
    pub tasks: [Tasks; 2],
    /// The nodes it has come to, and when its files are there.
    pub localized: BTreeMap<u32, Time>,
    /// Its attempts that have containers and have not ended.
    pub live: BTreeSet<AttemptKey>,
    /// Its attempts that were killed and still have containers.
    pub stopping: BTreeSet<AttemptKey>,
    /// Tasks whose state has changed since the last telling.
    pub news: BTreeSet<(TaskKind, u32)>,
    /// Attempts that have ended since.
    pub ended: Vec<AttemptFact>,
    /// It has been told of.
    pub told: bool,
    /// Requests when last told.
    pub told_needs: [u32; 2],
    /// What became of it so far.
    pub tally: Tally,
    /// What each of its maps writes, as its reduces read as much from each.
    pub each_writes: Bytes,
    /// Instants at which clones of its reduces stop waiting for outputs of their own.
    pub waits: BTreeSet<Time>,
    /// By its copies: how many outputs lie in each rack, as reduces were last told of them; empty where nobody has asked.
    pub lying: BTreeMap<u32, Vec<u32>>,
    /// The nodes that wrote what its maps read, file by file; empty where no job before it did.
    pub inputs: Vec<u32>,
    /// Its copies, the first its own, where it is run several times over.
    pub copies: Vec<JobCopy>,
    /// What there is beside the outputs of its maps.
    pub kept: Kept,
}

/// What a job has cost, and what was done to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Containers times milliseconds, of attempts that succeeded first.
    pub useful_ms: u64,
    /// The same of all others.
    pub wasted_ms: u64,
    /// Attempts launched beside another.
    pub copies: u32,
    /// Of these those that succeeded first.
    pub copies_won: u32,
    /// Attempts killed for another in their place.
    pub restarts: u32,
    /// Copies withdrawn.
    pub withdrawn: u32,
    /// Maps that had to run again because their output was lost.
    pub recomputed: u32,
    /// Attempts that failed by themselves.
    pub failed: u32,
    /// What was kept twice or computed anew in good time.
    pub kept: KeptRow,
}

impl Job {
    /// One that has just arrived. Its work is drawn by where it comes from, so that it is the same under every policy.
    pub fn new(scenario: &Scenario, draws: &Draws, number: u32, of: Origin, queue: u32, now: Time) -> Job {
        let (name, user, tasks) = match of {
            Origin::Group(group, _) => {
                let group = &scenario.jobs[group as usize];
                let kinds = [(TaskKind::Map, &group.maps), (TaskKind::Reduce, &group.reduces)];
                let tasks = kinds.map(|(kind, phase)| Tasks::drawn(scenario, draws, of.key(), kind, phase));
                (&group.name, &group.user, tasks)
            }
            Origin::Traced(nth) => {
                let job = &scenario.traced[nth as usize];
                let tasks = TaskKind::ALL
                    .map(|kind| Tasks::traced(scenario, draws, of.key(), kind, &job.phases[kind as usize]));
                (&job.name, &job.user, tasks)
            }
        };
        let [maps, reduces] = &tasks;
        let has_reduces = !reduces.all.is_empty();
        let read: u64 = reduces.all.iter().map(|task| task.input.0).sum();
        let each_writes = Bytes(read / maps.all.len().max(1) as u64);
        Job {
            number,
            of,
            name: name.clone(),
            user: user.clone(),
            id: JobId(crate::model::AppId { cluster: START.0, seq: number + 1 }),
            arrived: now,
            queue,
            scoring: Scoring { has_reduces, of: scenario.hadoop.scores },
            tasks,
            localized: BTreeMap::new(),
            live: BTreeSet::new(),
            stopping: BTreeSet::new(),
            news: BTreeSet::new(),
            ended: Vec::new(),
            told: false,
            told_needs: [0; 2],
            tally: Tally::default(),
            each_writes,
            waits: BTreeSet::new(),
            lying: BTreeMap::new(),
            inputs: Vec::new(),
            copies: Vec::new(),
            kept: Kept::default(),
        }
    }

    /// The nodes on which its outputs were written, file by file: its reduces', or its maps' where it has none.
    pub fn wrote_on(&self) -> Vec<u32> {
        let [maps, reduces] = &self.tasks;
        let last = if reduces.all.is_empty() { maps } else { reduces };
        last.written_on().collect()
    }

    /// The node that wrote a map's split, where a job before this one did: files are alike, and splits in their order.
    fn written_by(&self, index: u32) -> Option<u32> {
        let maps = self.of(TaskKind::Map).all.len().max(1) as u64;
        let file = u64::from(index) * self.inputs.len() as u64 / maps;
        self.inputs.get(file as usize).copied()
    }

    /// Its tasks of a kind.
    pub fn of(&self, kind: TaskKind) -> &Tasks {
        &self.tasks[kind as usize]
    }

    /// The same, to be changed.
    pub fn of_mut(&mut self, kind: TaskKind) -> &mut Tasks {
        &mut self.tasks[kind as usize]
    }

    /// One of its tasks.
    pub fn task(&self, kind: TaskKind, index: u32) -> &Task {
        &self.of(kind).all[index as usize]
    }

    /// The same, to be changed; that is news.
    pub fn task_mut(&mut self, kind: TaskKind, index: u32) -> &mut Task {
        self.news.insert((kind, index));
        &mut self.of_mut(kind).all[index as usize]
    }

    /// Have all its tasks succeeded, in one copy of it?
    pub fn is_over(&self) -> bool {
        if self.is_whole() {
            return self.first_copy().is_some();
        }
        self.tasks.iter().all(|tasks| tasks.finished as usize == tasks.all.len())
    }

    /// Share (0–1) of its maps that have succeeded.
    pub fn maps_done(&self) -> f64 {
        let maps = self.of(TaskKind::Map);
        if maps.all.is_empty() { 1.0 } else { f64::from(maps.finished) / maps.all.len() as f64 }
    }

    /// Memory that its containers hold, mebibytes.
    pub fn held_mb(&self) -> u64 {
        self.tasks.iter().map(|tasks| u64::from(tasks.held) * tasks.size.memory_mb).sum()
    }

    /// Asks for a container for one more attempt of a task. The number that the attempt will have.
    pub fn ask(&mut self, kind: TaskKind, mut ask: Ask, first: bool) -> u32 {
        let task = self.task_mut(kind, ask.index);
        ask.number = task.numbered;
        task.numbered += 1;
        task.asked += 1;
        let number = ask.number;
        let asks = &mut self.of_mut(kind).asks;
        if first {
            asks.push_front(ask)
        } else {
            asks.push_back(ask)
        }
        number
    }

    /// How long an attempt that is launched on a node waits for the job's files, of which the first there fetches them, which takes so long.
    pub fn localize(&mut self, node: u32, takes: Millis, now: Time) -> Millis {
        let there = *self.localized.entry(node).or_insert(now + takes);
        there.since(now)
    }

    /// Takes back what a task has asked for.
    pub fn unask(&mut self, kind: TaskKind, index: u32) {
        if self.task(kind, index).asked == 0 {
            return;
        }
        let id = self.id;
        let tasks = &mut self.tasks[kind as usize];
        tasks.all[index as usize].asked = 0;
        let taken = tasks.asks.iter().filter(|ask| ask.index == index);
        self.ended.extend(taken.map(|ask| AttemptFact {
            state: Some(AttemptState::Killed),
            ..AttemptFact::of(id.task(kind, index).attempt(ask.number))
        }));
        tasks.asks.retain(|ask| ask.index != index);
    }
}

impl Tasks {
    fn drawn(scenario: &Scenario, draws: &Draws, job: u64, kind: TaskKind, phase: &PhaseSpec) -> Tasks {
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
        Tasks { all: all.collect(), size, busy: phase.busy, ..Tasks::default() }
    }

    fn traced(scenario: &Scenario, draws: &Draws, job: u64, kind: TaskKind, phase: &TracedPhase) -> Tasks {
        let task = |index| {
            let data = data(scenario, draws, job, kind, index);
            let task = phase.tasks.task(index)?;
            Some(Task::new(task.work.map(|millis| (millis * data).round()), Bytes((task.input.0 as f64 * data) as u64)))
        };
        let all = (0..phase.tasks.count()).filter_map(task).collect();
        Tasks { all, size: phase.size, ..Tasks::default() }
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
            self.asks.push_back(Ask::of(index as u32, now));
        }
    }
}

/// A number that no other task of a job has.
pub fn task_key(kind: TaskKind, index: u32) -> u64 {
    u64::from(index) << 1 | kind as u64
}

/// How many times more data than another a task has.
fn data(scenario: &Scenario, draws: &Draws, job: u64, kind: TaskKind, index: u32) -> f64 {
    scenario.slowness.data.sample(&mut draws.of(Purpose::Data, [job, task_key(kind, index), 0]))
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
            outputs: Vec::new(),
        }
    }
}

/// The instant at which every run begins: far from zero, so that there is a time before.
pub const START: Time = Time(1_000_000_000_000);

/// The next of the instants at every so long, counted from there.
pub fn next_of(every: Millis, now: Time) -> Time {
    Time(START.0 + (now.since(START).0 / every.0 + 1) * every.0)
}

/// The nodes that hold a map's split. What a job before it wrote has its first replica where it was written, as HDFS places it, and so by the policy; all others are drawn,
/// the same under every policy.
pub fn replicas(scenario: &Scenario, draws: &Draws, job: &Job, index: u32) -> Vec<u32> {
    let mut draw = draws.of(Purpose::Replica, [job.of.key(), index.into(), 0]);
    let (nodes, wanted) = (scenario.cluster.nodes, scenario.hadoop.replicas.min(scenario.cluster.nodes));
    let mut chosen = Vec::with_capacity(wanted as usize);
    while chosen.len() < wanted as usize {
        let node = draw.below(nodes as usize) as u32;
        if !chosen.contains(&node) {
            chosen.push(node);
        }
    }
    if let Some(node) = job.written_by(index) {
        match chosen.iter().position(|known| *known == node) {
            Some(place) => chosen.swap(0, place),
            None => chosen.iter_mut().take(1).for_each(|first| *first = node),
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_job_before_wrote_decides_about_one_replica_alone() {
        let scenario: Scenario = serde_json::from_str(
            r#"{"cluster": {"nodes": 20}, "jobs": [{"name": "a", "maps": {"tasks": 4}}, {"name": "b", "after": "a", "maps": {"tasks": 4}}]}"#,
        )
        .unwrap();
        let draws = Draws::new(1);
        let mut job = Job::new(&scenario, &draws, 0, Origin::Group(1, 0), 0, START);
        let of = |job: &Job| (0..4).map(|index| replicas(&scenario, &draws, job, index)).collect::<Vec<_>>();
        let drawn = of(&job);
        job.inputs = vec![7, drawn[2][1]];
        let placed = of(&job);
        for (index, (drawn, placed)) in drawn.iter().zip(&placed).enumerate() {
            assert_eq!(placed[0], job.inputs[index / 2]);
            let kept = placed.iter().filter(|node| drawn.contains(node)).count();
            assert!(placed.len() == 3 && kept >= 2, "{drawn:?} {placed:?}");
        }
        assert_eq!(BTreeSet::from_iter(&placed[2]), BTreeSet::from_iter(&drawn[2]), "a replica was drawn there anyway");
    }
}
