//! What is told of a job, its configuration, its tasks and their attempts.

use super::Resources;
use crate::model::decision::Mode;
use crate::model::id::{AppAttemptId, AttemptId, JobId, TaskId, TaskKind};
use crate::model::missed::Miss;
use crate::model::names::Name;
use crate::model::state::{AttemptState, JobPhase, Phase, TaskState};
use crate::model::units::{Bytes, Millis, Time};
use serde::{Deserialize, Serialize};

/// A job's summary, from its AM.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobFact {
    /// The job.
    pub job: JobId,
    /// The AM attempt that speaks.
    pub attempt: AppAttemptId,
    /// Its name.
    pub name: String,
    /// Its owner.
    pub user: String,
    /// Its queue.
    pub queue: String,
    /// Its state; `None` when Hadoop used a word that is not known.
    pub state: Option<JobPhase>,
    /// Start, the AM's clock.
    pub started: Time,
    /// Maps in all.
    pub maps: u32,
    /// Reduces in all.
    pub reduces: u32,
    /// Runs its tasks inside the AM: nothing can be copied.
    pub uber: bool,
}

/// A task, as its AM tells it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskFact {
    /// Map or reduce.
    pub kind: TaskKind,
    /// Index within its kind.
    pub index: u32,
    /// `None`: not told, or a word that is not known.
    pub state: Option<TaskState>,
    /// Progress score of its best attempt, 0–1; only REST tells it by task.
    pub score: Option<f32>,
    /// Start, the AM's clock.
    pub started: Option<Time>,
    /// End, the AM's clock.
    pub finished: Option<Time>,
    /// Attempt that succeeded.
    pub winner: Option<u32>,
    /// Phase, where a status text tells it.
    pub phase: Option<Phase>,
    /// Length of its input split.
    pub input: Option<Bytes>,
    /// Hosts that hold its split.
    pub hosts: Vec<Name>,
}

/// An attempt, as its AM tells it. `None` is: not told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttemptFact {
    /// Its task's kind.
    pub kind: TaskKind,
    /// Its task's index.
    pub index: u32,
    /// Its own number.
    pub number: u32,
    /// State.
    pub state: Option<AttemptState>,
    /// Host it runs on.
    pub host: Option<Name>,
    /// Launch, the AM's clock.
    pub started: Option<Time>,
    /// End, the AM's clock.
    pub finished: Option<Time>,
    /// Progress score, 0–1.
    pub score: Option<f32>,
    /// AM time at which that score was reported; the observation's own time where the source cannot tell.
    pub scored_at: Option<Time>,
    /// Status updates so far; only a shim can tell.
    pub reports: Option<u32>,
    /// Phase of its work.
    pub phase: Option<Phase>,
    /// When a reduce's copy phase ended.
    pub copied: Option<Time>,
    /// When a reduce's sort phase ended.
    pub sorted: Option<Time>,
    /// Hadoop's label for a copy that a speculator asked for.
    pub speculative: Option<bool>,
    /// Counters, as far as told.
    pub counters: Counters,
    /// Reduces that could not fetch its output; only a shim can tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<Miss>,
}

/// The few counters that estimates rest on; `None` is: not told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Input bytes read.
    pub read: Option<Bytes>,
    /// Input records read.
    pub records: Option<u64>,
    /// Bytes written.
    pub written: Option<Bytes>,
    /// CPU time.
    pub cpu: Option<Millis>,
    /// Garbage collection time.
    pub gc: Option<Millis>,
    /// Bytes shuffled by a reduce.
    pub shuffled: Option<Bytes>,
    /// Of what it has read, a map or a reduce, that which crossed racks. Hadoop counts no such thing; a source that does is believed before what follows from hosts and racks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crossed: Option<Bytes>,
    /// Physical memory.
    pub memory: Option<Bytes>,
}

/// What a job's configuration says that matters here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobSettings {
    /// `mapreduce.map.speculative`.
    pub map_speculation: bool,
    /// `mapreduce.reduce.speculative`.
    pub reduce_speculation: bool,
    /// How often a task reports at most: `mapreduce.task.progress-report.interval`, else 1 % of the task timeout; on Hadoop 2.7 every 3 s.
    pub report_interval: Millis,
    /// The job's own wish, `drover.mode`; it may only be more cautious.
    pub mode: Option<Mode>,
    /// Output committer class, where configured: that of a job in the old API.
    pub committer: Option<String>,
    /// Class of the factory that makes the committer of a job in the new API, where configured, be it for the scheme of its output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committer_factory: Option<String>,
    /// Output format class, where configured.
    pub output_format: Option<String>,
    /// The speculator the AM loads, where configured.
    pub speculator: Option<String>,
    /// Memory a map's and a reduce's container asks for.
    pub map_container: Resources,
    /// Memory a reduce's container asks for.
    pub reduce_container: Resources,
    /// `mapreduce.job.reduce.slowstart.completedmaps`, 0–1.
    pub slow_start: f32,
    /// The node labels it asks for; apart, as few jobs do and every observation has room for the largest.
    #[serde(default, skip_serializing_if = "Labels::is_none")]
    pub labels: Box<Labels>,
    /// Of each hundred of its maps so many may be given opportunistic containers, which wait in a node's queue: `mapreduce.job.num-opportunistic-maps-percent`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub opportunistic_maps: u8,
    /// So many failed attempts of a map and of a reduce, at least one, fail it, and the job: `mapreduce.map.maxattempts`, `mapreduce.reduce.maxattempts`.
    #[serde(default = "attempts_max", skip_serializing_if = "is_as_shipped")]
    pub attempts_max: [u32; 2],
}

fn attempts_max() -> [u32; 2] {
    JobSettings::default().attempts_max
}

fn is_as_shipped(of_kinds: &[u32; 2]) -> bool {
    *of_kinds == attempts_max()
}

/// The node labels that a job's containers ask for, where configured.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Labels {
    /// `mapreduce.map.node-label-expression`.
    pub map: Option<String>,
    /// `mapreduce.reduce.node-label-expression`.
    pub reduce: Option<String>,
    /// `mapreduce.job.node-label-expression`: that of containers whose kind has none.
    pub job: Option<String>,
}

impl Labels {
    fn is_none(&self) -> bool {
        *self == Labels::default()
    }

    /// That which containers of a kind ask for beside the job's others.
    pub fn of(&self, kind: TaskKind) -> Option<&str> {
        let asked = match kind {
            TaskKind::Map => &self.map,
            TaskKind::Reduce => &self.reduce,
        };
        asked.as_deref()
    }
}

fn is_zero(number: &u8) -> bool {
    *number == 0
}

/// A job's end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EndFact {
    /// The job.
    pub job: JobId,
    /// How it ended; `None` when nobody could tell.
    pub state: Option<JobPhase>,
    /// Start, the AM's clock.
    pub started: Option<Time>,
    /// End, the AM's clock.
    pub finished: Option<Time>,
    /// Every attempt with its end, where history tells it.
    pub attempts: Vec<AttemptFact>,
}

impl AttemptFact {
    /// It tells of counters and of nothing else.
    pub fn is_counters_only(&self, job: JobId) -> bool {
        let is_row = self.state.is_some() || self.score.is_some();
        !is_row
            && self.counters != Counters::default()
            && *self == AttemptFact { counters: self.counters, ..AttemptFact::of(self.id(job)) }
    }

    /// A fact about that attempt which tells nothing yet.
    pub fn of(id: AttemptId) -> AttemptFact {
        AttemptFact {
            kind: id.task.kind,
            index: id.task.index,
            number: id.number,
            state: None,
            host: None,
            started: None,
            finished: None,
            score: None,
            scored_at: None,
            reports: None,
            phase: None,
            copied: None,
            sorted: None,
            speculative: None,
            counters: Counters::default(),
            missed: Vec::new(),
        }
    }

    /// The attempt it is about.
    pub fn id(&self, job: JobId) -> AttemptId {
        job.task(self.kind, self.index).attempt(self.number)
    }
}

impl TaskFact {
    /// A fact about that task which tells nothing yet.
    pub fn of(id: TaskId) -> TaskFact {
        TaskFact {
            kind: id.kind,
            index: id.index,
            state: None,
            score: None,
            started: None,
            finished: None,
            winner: None,
            phase: None,
            input: None,
            hosts: Vec::new(),
        }
    }
}

impl JobSettings {
    /// No machine has a container larger than that, MiB, whatever a job claims: what a job's tasks ask for in all is still a number.
    pub const CONTAINER_MAX_MB: u64 = 1 << 24;

    /// What a container of that kind asks for.
    pub fn container(&self, kind: TaskKind) -> Resources {
        let asked = match kind {
            TaskKind::Map => self.map_container,
            TaskKind::Reduce => self.reduce_container,
        };
        Resources { memory_mb: asked.memory_mb.min(Self::CONTAINER_MAX_MB), ..asked }
    }
}

impl Default for JobSettings {
    /// Hadoop's own defaults (mapred-default.xml 3.4.3).
    fn default() -> Self {
        JobSettings {
            map_speculation: true,
            reduce_speculation: true,
            report_interval: Millis(6_000),
            mode: None,
            committer: None,
            committer_factory: None,
            output_format: None,
            speculator: None,
            map_container: Resources { memory_mb: 1024, vcores: 1 },
            reduce_container: Resources { memory_mb: 1024, vcores: 1 },
            slow_start: 0.05,
            labels: Box::default(),
            opportunistic_maps: 0,
            attempts_max: [4; 2],
        }
    }
}
