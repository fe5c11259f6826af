//! What the API answers with. Fields carry their units in their names; ids are Hadoop's own.

use super::cause::CauseView;
use super::copy::CopyView;
use super::health::HealthView;
use super::holds::HoldView;
use crate::cli::words;
use crate::service::{Kept, end, outcome};
use drover_core::engine::{Candidate, Engine};
use drover_core::estimate::health::NodeHealth;
use drover_core::model::{
    Attempt, Cause, ClusterState, Job, Millis, Mode, NodeFact, Numbers, OpenBreaker, Task, TaskId, TaskKind, Time,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The service as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Status {
    /// Version of Drover.
    pub version: String,
    /// Source revision of this build.
    pub revision: String,
    /// This process.
    pub incarnation: String,
    /// Start of this process, Unix milliseconds.
    pub started_ms: u64,
    /// The service's clock, Unix milliseconds.
    pub now_ms: u64,
    /// The cluster has been polled once, completely.
    pub ready: bool,
    /// Mode of the cluster: `off`, `advise` or `act`.
    pub mode: String,
    /// Policy in force.
    pub policy: String,
    /// Estimator in force.
    pub estimator: String,
    /// Nodes the ResourceManager lists.
    pub nodes: u64,
    /// Of these, usable ones.
    pub usable_nodes: u64,
    /// Jobs known and not ended.
    pub jobs: u64,
    /// Of these, jobs for which a shim speaks.
    pub jobs_with_shim: u64,
    /// Jobs whose tasks Drover's user may not view.
    #[serde(default)]
    pub blocked_jobs: u64,
    /// Tasks known.
    pub tasks: u64,
    /// Attempts that run.
    pub attempts: u64,
    /// Running tasks by verdict; verdicts of no task are left out.
    pub verdicts: BTreeMap<String, u64>,
    /// Copies in flight, those only advised included.
    pub copies_in_flight: u64,
    /// Number of the newest decision.
    pub decisions: u64,
    /// Epoch of another, younger service that this cluster's shims also speak to; while there is one, this service does not act.
    pub higher_epoch: Option<u64>,
    /// Jobs whose speculation is Drover's to own.
    pub jobs_owned: u64,
    /// Jobs whose shims hold a lease for it.
    pub leases: u64,
    /// Live sessions of shims that cannot start copies.
    pub shims_unable: u64,
    /// Live sessions of shims that could, and come over plain HTTP from the network, so that they get no lease.
    pub shims_over_plain_http: u64,
    /// Operators' holds in force.
    pub holds: Vec<HoldView>,
    /// Policies that only advise because their copies keep losing.
    #[serde(default)]
    pub breakers: Vec<BreakerView>,
}

/// A policy that only advises on a user's jobs because its copies keep losing there, whatever its mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BreakerView {
    /// The policy.
    pub policy: String,
    /// Whose jobs.
    pub user: String,
    /// Since when, the service's clock, Unix milliseconds.
    pub since_ms: u64,
    /// Until when, likewise, unless an operator lifts a hold of the whole cluster before.
    pub until_ms: u64,
    /// Copies of it that won.
    pub won: u32,
    /// Of so many.
    pub copies: u32,
}

/// A job in brief.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobSummary {
    /// The job's id.
    pub job: String,
    /// Its name.
    pub name: String,
    /// Its owner.
    pub user: String,
    /// Its queue.
    pub queue: String,
    /// Its state, where known.
    pub state: Option<String>,
    /// Mode it is in.
    pub mode: String,
    /// A shim speaks for it.
    pub shim: bool,
    /// Who is to launch copies: `drover`, or `native` for Hadoop's own speculator.
    pub launcher: String,
    /// It runs its tasks inside its ApplicationMaster.
    pub uber: bool,
    /// Start, the ApplicationMaster's clock, Unix milliseconds.
    pub started_ms: Option<u64>,
    /// Milliseconds since the newest news of its tasks.
    pub age_ms: u64,
    /// Maps and reduces by what became of them.
    pub maps: Counts,
    /// Reduces likewise.
    pub reduces: Counts,
    /// Why nothing is seen of its tasks, and what to change; absent where they are seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
    /// Running tasks by verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// Decisions taken about it that are kept in memory.
    pub decisions: u64,
}

/// Tasks of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Counts {
    /// In all.
    pub total: u64,
    /// Running.
    pub running: u64,
    /// Succeeded.
    pub succeeded: u64,
    /// Failed or killed.
    pub failed: u64,
}

/// A job in full: its summary, what its configuration says that matters here, and its decisions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobDetail {
    /// In brief.
    #[serde(flatten)]
    pub summary: JobSummary,
    /// What its configuration says that matters here; `null` until it has been read.
    pub settings: Option<SettingsView>,
    /// The ApplicationMaster's clock less the service's, milliseconds.
    pub clock_offset_ms: i64,
    /// Copies launched by Hadoop's own speculator, where a shim tells.
    pub native_copies: u64,
    /// The hold that keeps Drover from acting on it.
    pub hold: Option<HoldView>,
    /// Its newest decisions, oldest first.
    pub recent: Vec<DecisionView>,
}

/// The few settings of a job that decisions rest on. Nothing else of a job's configuration is kept or served.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SettingsView {
    /// `mapreduce.map.speculative`.
    pub map_speculation: bool,
    /// `mapreduce.reduce.speculative`.
    pub reduce_speculation: bool,
    /// Longest time between two progress reports of a working task, milliseconds.
    pub report_interval_ms: u64,
    /// The job's own wish for a mode.
    pub mode: Option<String>,
    /// Class of its output committer.
    pub committer: Option<String>,
    /// Class of its output format.
    pub output_format: Option<String>,
    /// Class of its speculator.
    pub speculator: Option<String>,
}

/// A task with its attempts and, while it runs, its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskView {
    /// The task's id.
    pub task: String,
    /// `map` or `reduce`.
    pub kind: String,
    /// Its state.
    pub state: String,
    /// Progress score of its best attempt, 0–1.
    pub score: f64,
    /// Launch, the ApplicationMaster's clock, Unix milliseconds.
    pub started_ms: Option<u64>,
    /// End, likewise.
    pub finished_ms: Option<u64>,
    /// Length of its input split, bytes; 0 where unknown.
    pub input_bytes: u64,
    /// Attempts known.
    pub attempts: Vec<AttemptView>,
    /// What was decided about it, or why not; absent when it does not run.
    pub verdict: Option<String>,
    /// The same in words, with its numbers.
    pub reason: Option<String>,
    /// The numbers it rests on.
    pub numbers: Option<NumbersView>,
    /// Why it takes as long as it does: of a running task once any of its kind has finished, of a finished one where it was slow.
    #[serde(default)]
    pub cause: Option<CauseView>,
}

/// An attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AttemptView {
    /// The attempt's id.
    pub attempt: String,
    /// Its state.
    pub state: String,
    /// Its host, where known.
    pub node: Option<String>,
    /// Phase of its work, where known.
    pub phase: Option<String>,
    /// Progress score, 0–1.
    pub score: f64,
    /// Launch, the ApplicationMaster's clock, Unix milliseconds.
    pub started_ms: Option<u64>,
    /// End, likewise.
    pub finished_ms: Option<u64>,
    /// Hadoop calls it a speculative attempt.
    pub speculative: bool,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NodeView {
    /// Its host name.
    pub node: String,
    /// Its rack.
    pub rack: String,
    /// YARN's word for its state.
    pub state: String,
    /// The ResourceManager gives it containers.
    pub usable: bool,
    /// Containers it runs.
    pub containers: u64,
    /// Memory it offers, mebibytes.
    pub memory_mb: u64,
    /// Memory its containers hold, mebibytes.
    pub memory_used_mb: u64,
    /// Virtual cores it offers.
    pub vcores: u64,
    /// Virtual cores its containers hold.
    pub vcores_used: u64,
    /// Virtual cores in use on the whole machine, where told.
    pub cpu_used_vcores: Option<f64>,
    /// Newest heartbeat, the ResourceManager's clock, Unix milliseconds.
    pub last_heartbeat_ms: u64,
    /// What is known of its health.
    #[serde(default)]
    pub health: HealthView,
}

/// A decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DecisionView {
    /// Its number within this process, from 1.
    pub id: u64,
    /// When it was taken, the service's clock, Unix milliseconds.
    pub at_ms: u64,
    /// The same instant on the ApplicationMaster's clock.
    pub am_at_ms: u64,
    /// The job.
    pub job: String,
    /// The task.
    pub task: String,
    /// The attempt that is slow.
    pub attempt: String,
    /// Its host, where known.
    pub node: Option<String>,
    /// What to do: `duplicate`.
    pub action: String,
    /// Mode it was taken in.
    pub mode: String,
    /// What was done about it: `advised`, said and not done; `decided`, to be done.
    pub outcome: String,
    /// The policy that proposed it.
    pub policy: String,
    /// Its rule, by the paper's name.
    pub rule: String,
    /// Hadoop's own speculator had copied the task before.
    pub natively_copied: bool,
    /// The numbers it rests on.
    pub numbers: NumbersView,
    /// Why the task was slow; absent before any of its kind had finished.
    #[serde(default)]
    pub cause: Option<CauseView>,
    /// In words.
    pub reason: String,
    /// What became of it where it was only advised, once its task has ended.
    pub end: Option<EndView>,
    /// How far it has come where it was to be done.
    pub copy: Option<CopyView>,
}

/// What became of an advised copy. It never ran, so its end is told with a probability.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EndView {
    /// `would_have_won`, `would_have_lost`, or `natively_copied`, which says nothing about Drover.
    pub end: String,
    /// When the task ended, the ApplicationMaster's clock, Unix milliseconds.
    pub task_ended_ms: u64,
    /// Probability that the copy would have been first, 0–1.
    pub would_have_won: f64,
    /// What a copy of average luck would have gained, milliseconds.
    pub gain_ms: u64,
}

/// The numbers of a decision or verdict; what a policy does not use is `null`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NumbersView {
    /// Progress score, 0–1.
    pub score: f64,
    /// How long the attempt has run.
    pub elapsed_ms: u64,
    /// Since its last report.
    pub silent_ms: u64,
    /// Progress rate, score per second.
    pub rate_per_second: f64,
    /// Rate below which a task counts as slow, score per second.
    pub slow_below_per_second: Option<f64>,
    /// Estimated time left.
    pub time_left_ms: Option<u64>,
    /// Its spread, one standard deviation.
    pub time_left_spread_ms: Option<u64>,
    /// Expected time of a fresh copy.
    pub fresh_copy_ms: Option<u64>,
    /// Its spread, one standard deviation.
    pub fresh_copy_spread_ms: Option<u64>,
    /// Probability that a copy started then would finish first, 0–1.
    pub win_probability: Option<f64>,
    /// Probability that one more copy would save resources (Mantri §5.1), 0–1.
    pub saves_probability: Option<f64>,
    /// Expected gain.
    pub gain_ms: Option<u64>,
    /// Cost of the copy.
    pub cost_container_seconds: Option<f64>,
    /// Copies that the tightest budget counts: in flight, or decided on within a minute.
    pub copies_in_flight: Option<u32>,
    /// That cap.
    pub copies_cap: Option<u32>,
}

impl BreakerView {
    /// A breaker that is open, and rests so long.
    pub fn of(open: &OpenBreaker, rest: Millis) -> BreakerView {
        let until_ms = (open.since + rest).0;
        let told = &open.told;
        BreakerView {
            policy: told.policy.clone(),
            user: told.user.clone(),
            since_ms: open.since.0,
            until_ms,
            won: told.won,
            copies: told.copies,
        }
    }
}

impl NumbersView {
    /// The numbers with their units.
    pub fn of(n: &Numbers) -> NumbersView {
        NumbersView {
            score: n.score,
            elapsed_ms: n.elapsed.0,
            silent_ms: n.silent.0,
            rate_per_second: n.rate,
            slow_below_per_second: n.slow_below,
            time_left_ms: n.time_left.map(|ms| ms.0),
            time_left_spread_ms: n.time_left_spread.map(|ms| ms.0),
            fresh_copy_ms: n.fresh_copy.map(|ms| ms.0),
            fresh_copy_spread_ms: n.fresh_copy_spread.map(|ms| ms.0),
            win_probability: n.win_probability,
            saves_probability: n.saves_probability,
            gain_ms: n.gain.map(|ms| ms.0),
            cost_container_seconds: n.cost_container_seconds,
            copies_in_flight: n.budget.map(|(used, _)| used),
            copies_cap: n.budget.map(|(_, cap)| cap),
        }
    }
}

impl DecisionView {
    /// A decision of that process with what became of it.
    pub fn of(kept: &Kept, incarnation: &str) -> DecisionView {
        let d = &kept.decision;
        let ended = kept.end.as_ref().map(|ended| EndView {
            end: end(ended).into(),
            task_ended_ms: ended.ended.0,
            would_have_won: ended.would_have_won,
            gain_ms: ended.gain.0,
        });
        DecisionView {
            id: d.id,
            at_ms: d.at.0,
            am_at_ms: d.am_at.0,
            job: d.job.to_string(),
            task: d.task.to_string(),
            attempt: d.attempt.to_string(),
            node: d.host.clone(),
            action: d.action.label().into(),
            mode: d.mode.label().into(),
            outcome: outcome(d.mode).into(),
            policy: d.policy.clone(),
            rule: d.rule.clone(),
            natively_copied: d.natively_copied,
            numbers: NumbersView::of(&d.numbers),
            cause: d.cause.as_deref().map(CauseView::of),
            reason: words::reason(d.action.words(), &d.numbers, d.cause.as_deref()),
            end: ended,
            copy: (d.mode == Mode::Act).then(|| CopyView::of(kept, incarnation)),
        }
    }
}

impl JobSummary {
    /// A job in brief.
    pub fn of(engine: &Engine, job: &Job, now: Time, decisions: u64) -> JobSummary {
        let mut verdicts = BTreeMap::new();
        let mut counts = [Counts::default(); 2];
        for kind in TaskKind::ALL {
            let count = &mut counts[kind as usize];
            count.total = job.totals.map_or(u64::from(job.known(kind)), |totals| totals[kind as usize].into());
            for (_, task) in job.tasks(kind) {
                use drover_core::model::TaskState::*;
                match task.state {
                    Running => count.running += 1,
                    Succeeded => count.succeeded += 1,
                    Failed | Killed => count.failed += 1,
                    New | Scheduled => {}
                }
                if let Some(verdict) = task.verdict {
                    *verdicts.entry(verdict.label().to_owned()).or_default() += 1;
                }
            }
        }
        JobSummary {
            job: job.id.to_string(),
            name: job.name.clone(),
            user: job.user.clone(),
            queue: job.queue.clone(),
            state: job.state.as_ref().map(word),
            mode: engine.mode_of(job).label().into(),
            shim: job.shim,
            launcher: if engine.owns(job.id) { "drover" } else { "native" }.into(),
            uber: job.uber,
            started_ms: job.started.get().map(|at| at.0),
            age_ms: now.since(job.heard).0,
            maps: counts[0],
            reduces: counts[1],
            blocked: job.hidden.then(|| words::HIDDEN.into()),
            verdicts,
            decisions,
        }
    }
}

impl SettingsView {
    /// What is known of a job's configuration.
    pub fn of(job: &Job) -> Option<SettingsView> {
        let set = job.settings.as_ref()?;
        Some(SettingsView {
            map_speculation: set.map_speculation,
            reduce_speculation: set.reduce_speculation,
            report_interval_ms: set.report_interval.0,
            mode: set.mode.map(|mode| mode.label().into()),
            committer: set.committer.clone(),
            output_format: set.output_format.clone(),
            speculator: set.speculator.clone(),
        })
    }
}

impl TaskView {
    /// A task, with what the last pass said of it, and of a finished one why it was slow.
    pub fn of(
        cluster: &ClusterState,
        id: TaskId,
        task: &Task,
        candidate: Option<&Candidate>,
        cause: Option<&Cause>,
    ) -> TaskView {
        let cause = candidate.map_or(cause, |candidate| candidate.cause.as_ref());
        TaskView {
            task: id.to_string(),
            kind: id.kind.label().into(),
            state: word(&task.state),
            score: task.progress().score(),
            started_ms: task.started.get().map(|at| at.0),
            finished_ms: task.ended().map(|at| at.0),
            input_bytes: task.input.0,
            attempts: task.attempts.iter().map(|attempt| AttemptView::of(cluster, id, attempt)).collect(),
            verdict: candidate.map(|c| c.verdict.label().into()),
            reason: candidate.map(|c| words::reason(c.verdict.words(), &c.numbers, c.cause.as_ref())),
            numbers: candidate.map(|c| NumbersView::of(&c.numbers)),
            cause: cause.map(CauseView::of),
        }
    }
}

impl AttemptView {
    fn of(cluster: &ClusterState, task: TaskId, attempt: &Attempt) -> AttemptView {
        AttemptView {
            attempt: task.attempt(attempt.number).to_string(),
            state: word(&attempt.state),
            node: attempt.host.map(|host| cluster.hosts.name(host).to_owned()),
            phase: attempt.phase.as_ref().map(word),
            score: attempt.track.score(),
            started_ms: attempt.started.get().map(|at| at.0),
            finished_ms: attempt.finished.get().map(|at| at.0),
            speculative: attempt.speculative,
        }
    }
}

impl NodeView {
    /// A node, with what is known of its health.
    pub fn of(node: &NodeFact, health: &NodeHealth) -> NodeView {
        NodeView {
            node: node.host.clone(),
            rack: node.rack.clone(),
            state: node.state.clone(),
            usable: node.usable,
            containers: node.containers.into(),
            memory_mb: node.total.memory_mb,
            memory_used_mb: node.used.memory_mb,
            vcores: node.total.vcores.into(),
            vcores_used: node.used.vcores.into(),
            cpu_used_vcores: node.cpu_used_vcores.map(f64::from),
            last_heartbeat_ms: node.last_health.0,
            health: HealthView::of(health),
        }
    }
}

/// The serialised word of a state without fields.
fn word<T: Serialize>(state: &T) -> String {
    match serde_json::to_value(state) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
