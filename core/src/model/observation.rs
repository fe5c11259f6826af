//! Facts: the only thing that changes the state.

use super::action::{AckFact, Hold, Scope};
use super::capability::Capabilities;
use super::id::{AppAttemptId, AppId, AttemptId, JobId, TaskId, TaskKind};
use super::state::{AttemptState, JobPhase, Phase, TaskState};
use super::units::{Bytes, Millis, Time};
use serde::{Deserialize, Serialize};

/// One fact, with where it came from and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Who says so.
    pub source: Source,
    /// Sequence within the source's incarnation; older than the newest applied is dropped.
    pub seq: u64,
    /// The source's own time at which this held.
    pub at: Time,
    /// The service's time of receipt.
    pub received: Time,
    /// What is said.
    pub fact: Fact,
}

/// A source of facts. Sequences are compared only within one source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Source {
    /// Which way the fact came.
    pub channel: Channel,
    /// The application it may speak about; `None` for the whole cluster.
    pub app: Option<AppId>,
    /// The user whose claim it is; `None` where the cluster's own daemons vouch for it.
    pub principal: Option<String>,
    /// Number of this source's life: RM start time, AM attempt number. A higher one replaces a lower one.
    pub incarnation: u64,
}

/// The way a fact came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// ResourceManager REST.
    Rm,
    /// ApplicationMaster REST, through the RM's proxy.
    Am,
    /// The shim inside an ApplicationMaster.
    Shim,
    /// JobHistoryServer REST, or history files.
    History,
    /// Drover's own actions and their answers.
    Own,
}

/// What is said. A listing marked complete also says that what it does not name does not exist.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// Totals of the cluster.
    Cluster(ClusterFact),
    /// All nodes.
    Nodes(Vec<NodeFact>),
    /// All leaf queues.
    Queues(Vec<QueueFact>),
    /// All running MapReduce applications.
    Apps(Vec<AppFact>),
    /// A job's summary.
    Job(JobFact),
    /// What a job's configuration says that matters here.
    Settings(JobId, JobSettings),
    /// Tasks of a job.
    Tasks {
        /// The job.
        job: JobId,
        /// All of its tasks are named.
        complete: bool,
        /// The tasks, in any order.
        tasks: Vec<TaskFact>,
    },
    /// Attempts of a job's tasks.
    Attempts {
        /// The job.
        job: JobId,
        /// The attempts, in any order.
        attempts: Vec<AttemptFact>,
    },
    /// Containers a job has asked for and not got.
    Needs {
        /// The job.
        job: JobId,
        /// For maps.
        maps: u32,
        /// For reduces.
        reduces: u32,
        /// Copies launched by Hadoop's own speculator so far.
        native_copies: u64,
    },
    /// A shim's session for a job was opened (true) or lost (false).
    ShimSession(JobId, bool),
    /// What can be done to a job, as its shim says.
    Can(JobId, Capabilities),
    /// A decision was put into an answer to the job's shim for the first time.
    Sent {
        /// The job.
        job: JobId,
        /// The decision.
        decision: u64,
    },
    /// The shim's answer to an action.
    Acked(AckFact),
    /// An operator's hold.
    Held(Hold),
    /// An operator lifted the hold of that scope.
    Lifted(Scope),
    /// A service with a higher epoch than this one's speaks to the cluster's shims, or no longer does.
    Rival(Option<u64>),
    /// The job's AM refuses to let Drover's user view its tasks.
    Hidden(JobId),
    /// A job's end, as its history tells it.
    Ended(EndFact),
}

/// Totals of the cluster, from the RM's metrics.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ClusterFact {
    /// Memory of all active nodes.
    pub total: Resources,
    /// What containers hold.
    pub allocated: Resources,
    /// What has been asked for and not given.
    pub pending: Resources,
    /// Containers running.
    pub containers: u32,
    /// Containers asked for and not given.
    pub containers_pending: u32,
    /// Active nodes.
    pub active_nodes: u32,
}

/// Memory and virtual cores, YARN's two resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Resources {
    /// Memory, mebibytes.
    pub memory_mb: u64,
    /// Virtual cores.
    pub vcores: u32,
}

/// A node, from the RM.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeFact {
    /// Host name.
    pub host: String,
    /// Rack.
    pub rack: String,
    /// Does the RM give it containers?
    pub usable: bool,
    /// YARN's word for its state.
    pub state: String,
    /// All it offers.
    pub total: Resources,
    /// What its containers hold.
    pub used: Resources,
    /// Containers running on it.
    pub containers: u32,
    /// Virtual cores in use on the whole machine; absent where the NodeManager cannot tell.
    pub cpu_used_vcores: Option<f32>,
    /// Physical memory in use on the whole machine, mebibytes.
    pub memory_used_mb: Option<u64>,
    /// Last heartbeat, the RM's clock.
    pub last_health: Time,
}

impl NodeFact {
    /// One that gets containers, and of which no more is told.
    pub fn usable(host: &str, total: Resources, used: Resources) -> NodeFact {
        NodeFact {
            host: host.to_owned(),
            rack: "/default-rack".into(),
            usable: true,
            state: "RUNNING".into(),
            total,
            used,
            containers: 0,
            cpu_used_vcores: None,
            memory_used_mb: None,
            last_health: Time(0),
        }
    }
}

/// A leaf queue, from the RM's scheduler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueueFact {
    /// Full path where the RM tells it (`root.default`), else its name.
    pub name: String,
    /// Share of the cluster it may use at most, 0–1.
    pub max_capacity: f32,
    /// Share of the cluster it uses, 0–1.
    pub used_capacity: f32,
    /// Containers asked for and not given.
    pub containers_pending: u32,
    /// Share of the cluster that any one user may use at most (capacity scheduler: capacity × user-limit-factor), 0–1; `None` where there is no such limit.
    #[serde(default)]
    pub user_capacity: Option<f32>,
    /// Share of the queue that each of its users is sure of while others want it, too (capacity scheduler: minimum-user-limit-percent), 0–1.
    #[serde(default)]
    pub user_share: Option<f32>,
    /// Its users, where the scheduler counts by user.
    #[serde(default)]
    pub users: Vec<QueueUser>,
}

/// A user of a leaf queue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueueUser {
    /// Its name.
    pub user: String,
    /// What it uses in the queue, mebibytes.
    pub used_mb: u64,
    /// What the scheduler lets it use now, mebibytes.
    pub limit_mb: u64,
}

/// A running application, from the RM.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AppFact {
    /// The application.
    pub app: AppId,
    /// Its owner.
    pub user: String,
    /// Its queue.
    pub queue: String,
    /// Its name.
    pub name: String,
    /// Start, the RM's clock.
    pub started: Time,
    /// Containers it runs.
    pub containers: u32,
    /// What they hold.
    pub allocated: Resources,
}

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
    pub hosts: Vec<String>,
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
    pub host: Option<String>,
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
    /// How often a task reports at most: `mapreduce.task.progress-report.interval`, else 1 % of the task timeout.
    pub report_interval: Millis,
    /// The job's own wish, `drover.mode`; it may only be more cautious.
    pub mode: Option<super::decision::Mode>,
    /// Output committer class, where configured.
    pub committer: Option<String>,
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

impl Fact {
    /// The job it is about; `None` for the whole cluster.
    pub fn job(&self) -> Option<JobId> {
        match self {
            Fact::Cluster(_) | Fact::Nodes(_) | Fact::Queues(_) | Fact::Apps(_) => None,
            Fact::Held(_) | Fact::Lifted(_) | Fact::Rival(_) => None,
            Fact::Job(fact) => Some(fact.job),
            Fact::Settings(job, _) | Fact::ShimSession(job, _) | Fact::Can(job, _) | Fact::Hidden(job) => Some(*job),
            Fact::Sent { job, .. } => Some(*job),
            Fact::Acked(fact) => Some(fact.job),
            Fact::Tasks { job, .. } | Fact::Attempts { job, .. } | Fact::Needs { job, .. } => Some(*job),
            Fact::Ended(fact) => Some(fact.job),
        }
    }
}

impl AttemptFact {
    /// It tells of counters and of nothing else.
    pub fn is_counters_only(&self, job: JobId) -> bool {
        self.counters != Counters::default()
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

impl Default for JobSettings {
    /// Hadoop's own defaults (mapred-default.xml 3.4.3).
    fn default() -> Self {
        JobSettings {
            map_speculation: true,
            reduce_speculation: true,
            report_interval: Millis(6_000),
            mode: None,
            committer: None,
            output_format: None,
            speculator: None,
            map_container: Resources { memory_mb: 1024, vcores: 1 },
            reduce_container: Resources { memory_mb: 1024, vcores: 1 },
            slow_start: 0.05,
        }
    }
}
