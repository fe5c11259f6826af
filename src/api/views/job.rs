//! Jobs.

use super::{ClonePlanView, DecisionView, MeasureView, word};
use crate::api::holds::HoldView;
use crate::words;
use drover_core::engine::Engine;
use drover_core::model::{Job, TaskKind, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

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
    /// Running tasks by verdict, and those waiting that are to be cloned.
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
    /// What was settled about its clones; empty before that, and under a policy without clones.
    #[serde(default)]
    pub clones: Vec<ClonePlanView>,
    /// Its newest decisions, oldest first.
    pub recent: Vec<DecisionView>,
    /// What the policy wants of it beside copies; absent where there is nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures: Vec<MeasureView>,
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
    /// Class of the factory that makes it, in the new API.
    pub committer_factory: Option<String>,
    /// Class of its output format.
    pub output_format: Option<String>,
    /// Class of its speculator.
    pub speculator: Option<String>,
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
            committer_factory: set.committer_factory.clone(),
            output_format: set.output_format.clone(),
            speculator: set.speculator.clone(),
        })
    }
}
