//! Facts: the only thing that changes the state.

mod cluster;
mod job;

pub use cluster::{AppFact, ClusterFact, NodeFact, QueueFact, QueueShare, QueueUser, RackFact, Resources};
pub use job::{AttemptFact, Counters, EndFact, JobFact, JobSettings, Labels, TaskFact};

use super::action::{AckFact, Hold, Scope};
use super::capability::Capabilities;
use super::id::{AppId, JobId};
use super::units::Time;
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

impl Channel {
    /// All of them.
    pub(super) const ALL: [Channel; 5] = [Channel::Rm, Channel::Am, Channel::Shim, Channel::History, Channel::Own];
}

/// What is said. A listing marked complete also says that what it does not name does not exist.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// Totals of the cluster.
    Cluster(ClusterFact),
    /// All nodes.
    Nodes(Vec<NodeFact>),
    /// The links of all racks, where they are measured.
    Racks(Vec<RackFact>),
    /// All leaf queues.
    Queues(Vec<QueueFact>),
    /// All running MapReduce applications.
    Apps(Vec<AppFact>),
    /// All jobs that run no more and whose ends are still to be read.
    Ending(Vec<JobId>),
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
    /// The clock of a job's AM has been set while it ran, by so much that what it had stamped looks that much older, or younger.
    ClockSet(JobId),
    /// What can be done to a job, as its shim says.
    Can(JobId, Capabilities),
    /// A decision was put into an answer to the job's shim for the first time, or is about to be asked of its AM over REST.
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

impl Fact {
    /// How much it tells, and so what it takes to hold: of how many tasks, attempts, nodes or applications; at least one.
    pub fn rows(&self) -> usize {
        let told = match self {
            Fact::Tasks { tasks, .. } => tasks.len(),
            Fact::Attempts { attempts, .. } => attempts.len(),
            Fact::Nodes(nodes) => nodes.len(),
            Fact::Apps(apps) => apps.len(),
            Fact::Ended(end) => end.attempts.len(),
            _ => 1,
        };
        told.max(1)
    }

    /// The job it is about; `None` for the whole cluster.
    pub fn job(&self) -> Option<JobId> {
        match self {
            Fact::Cluster(_) | Fact::Nodes(_) | Fact::Racks(_) | Fact::Queues(_) | Fact::Apps(_) => None,
            Fact::Ending(_) | Fact::Held(_) | Fact::Lifted(_) | Fact::Rival(_) => None,
            Fact::Job(fact) => Some(fact.job),
            Fact::Settings(job, _) | Fact::ShimSession(job, _) | Fact::Can(job, _) => Some(*job),
            Fact::Hidden(job) | Fact::ClockSet(job) => Some(*job),
            Fact::Sent { job, .. } => Some(*job),
            Fact::Acked(fact) => Some(fact.job),
            Fact::Tasks { job, .. } | Fact::Attempts { job, .. } | Fact::Needs { job, .. } => Some(*job),
            Fact::Ended(fact) => Some(fact.job),
        }
    }
}
