//! Answers to questions about the state, as views. Used by the API and by the commands that work without a service.

use super::desk::{Desk, Totals};
use super::kept::Kept;
use super::shims::Shims;
use crate::api::HoldView;
use crate::api::health::StragglingView;
use crate::api::views::*;
use crate::ledger::State;
use crate::telemetry::{REVISION, VERSION};
use drover_core::model::{Bytes, Job, JobId, Scope, Task, TaskId, TaskKind, TaskState, Time, queue_name};
use std::collections::HashMap;

/// So many of a job's decisions are told with it, the newest.
pub const RECENT: usize = 100;

/// Which decisions are wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct DecisionFilter {
    /// Of this job only.
    pub job: Option<JobId>,
    /// With higher numbers only.
    pub since: u64,
    /// With lower numbers only.
    pub before: Option<u64>,
    /// The newest so many.
    pub limit: usize,
    /// Only those whose task still runs.
    pub open: bool,
}

/// Which tasks are wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct TaskFilter {
    /// This one only.
    pub task: Option<TaskId>,
    /// Running ones only.
    pub running: bool,
    /// After this one, in order of kind and index.
    pub after: Option<TaskId>,
    /// So many at most.
    pub limit: usize,
}

/// What the desk does not know of its process.
#[derive(Debug, Clone)]
pub struct Process {
    /// This process.
    pub incarnation: String,
    /// Its start, the service's clock.
    pub started: Time,
    /// The cluster has been polled once.
    pub ready: bool,
    /// What the shims' sessions come to.
    pub shims: Shims,
    /// Holds in force.
    pub holds: Vec<HoldView>,
    /// Why these would not hold after a restart, though there is a file for them.
    pub holds_unkept: Option<String>,
    /// How the ResourceManager is.
    pub rm: RmView,
    /// How the ledger is.
    pub ledger: State,
    /// The space it takes, where one is kept.
    pub ledger_size: Option<Bytes>,
    /// What came of reading the configuration again.
    pub config: ConfigView,
}

impl Process {
    /// A process that has just started.
    pub fn new(incarnation: String, started: Time) -> Process {
        let (shims, holds, rm, ledger) = (Shims::default(), Vec::new(), RmView::default(), State::Off);
        let (config, holds_unkept) = (ConfigView::default(), None);
        Process {
            incarnation,
            started,
            ready: false,
            shims,
            holds,
            holds_unkept,
            rm,
            ledger,
            ledger_size: None,
            config,
        }
    }
}

impl Desk {
    /// Has the cluster a leaf queue of that name? `None` while it has told of none.
    pub fn has_queue(&self, name: &str) -> Option<bool> {
        let queues = &self.engine.cluster().queues;
        (!queues.is_empty()).then(|| queues.keys().any(|queue| queue_name::means(name, queue)))
    }

    /// Is there what the hold is to hold? `None` while the cluster has not told.
    pub fn finds(&self, scope: &Scope) -> Option<bool> {
        let mut jobs = self.engine.cluster().jobs();
        match scope {
            Scope::Cluster => Some(true),
            Scope::Queue(queue) => self.has_queue(queue),
            Scope::User(user) => Some(jobs.any(|job| *job.user == **user)),
            Scope::Job(id) => Some(jobs.any(|job| job.id == *id)),
        }
    }

    /// The service as a whole.
    pub fn status(&self, process: &Process, now: Time) -> Status {
        let (cluster, params) = (self.engine.cluster(), self.engine.params());
        let Totals { tasks, attempts, verdicts } = self.totals();
        Status {
            version: VERSION.into(),
            revision: REVISION.map(str::to_owned),
            incarnation: process.incarnation.clone(),
            started_ms: process.started.0,
            now_ms: now.0,
            ready: process.ready,
            mode: params.govern.mode.label().into(),
            policy: params.policy.label().into(),
            estimator: params.estimator.label().into(),
            nodes: cluster.nodes.len() as u64,
            usable_nodes: cluster.usable_nodes().count() as u64,
            jobs: cluster.job_count() as u64,
            jobs_with_shim: cluster.jobs().filter(|job| job.shim).count() as u64,
            blocked_jobs: cluster.jobs().filter(|job| job.hidden).count() as u64,
            tasks,
            attempts,
            verdicts: verdicts.into_iter().map(|(verdict, n)| (verdict.label().to_owned(), n)).collect(),
            straggling: StragglingView::of(&self.engine),
            copies_in_flight: self.engine.copies_in_flight().into(),
            decisions: self.decisions.back().map_or(0, |kept| kept.decision.id),
            higher_epoch: process.shims.higher_epoch,
            jobs_owned: self.engine.owned().len() as u64,
            leases: process.shims.leases,
            shims_unable: process.shims.unable,
            shim_versions: process.shims.versions.clone(),
            shims_over_plain_http: process.shims.over_plain_http,
            holds: process.holds.clone(),
            holds_unkept: process.holds_unkept.clone(),
            rm: process.rm,
            ledger: LedgerView::of(&process.ledger, process.ledger_size),
            config: process.config.clone(),
            learned: LearnedView::of(self.engine.known(), self.resumed, self.learning.is_off()),
            breakers: self
                .engine
                .open_breakers()
                .iter()
                .map(|open| BreakerView::of(open, params.govern.breaker_rest))
                .collect(),
        }
    }

    /// Jobs in order of id, after one, so many at most; and how many there are in all.
    pub fn jobs(&self, after: Option<JobId>, limit: usize, now: Time) -> (Vec<JobSummary>, usize) {
        let mut decided: HashMap<JobId, u64> = HashMap::new();
        for kept in &self.decisions {
            *decided.entry(kept.decision.job).or_default() += 1;
        }
        let summary = |job: &Job| JobSummary::of(&self.engine, job, now, decided.get(&job.id).copied().unwrap_or(0));
        let wanted = self.engine.cluster().jobs().filter(|job| after.is_none_or(|after| job.id > after));
        (wanted.take(limit).map(summary).collect(), self.engine.cluster().job_count())
    }

    /// One job.
    pub fn job(&self, id: JobId, now: Time) -> Option<JobDetail> {
        let job = self.engine.cluster().job(id)?;
        let recent = self.decisions(DecisionFilter { job: Some(id), limit: RECENT, ..DecisionFilter::default() });
        let decided = self.decisions.iter().filter(|kept| kept.decision.job == id).count();
        Some(JobDetail {
            summary: JobSummary::of(&self.engine, job, now, decided as u64),
            settings: SettingsView::of(job),
            clock_offset_ms: job.clock_offset_ms,
            native_copies: job.native_copies,
            hold: self.engine.cluster().hold_of(job, now).map(HoldView::of),
            clones: ClonePlanView::of_job(&self.engine, id),
            recent,
            measures: MeasureView::all(&self.engine, id),
        })
    }

    /// Tasks of a job; `None` when the job is not known.
    pub fn tasks(&self, id: JobId, filter: TaskFilter) -> Option<Vec<TaskView>> {
        let job = self.engine.cluster().job(id)?;
        let candidates = self.engine.candidates(id);
        let by_task: HashMap<TaskId, _> = candidates.iter().map(|c| (c.attempt.task, c)).collect();
        let wanted = |(id, task): &(TaskId, &Task)| {
            filter.task.is_none_or(|only| only == *id)
                && filter.after.is_none_or(|after| *id > after)
                && (!filter.running || task.state == TaskState::Running)
        };
        let all = TaskKind::ALL.into_iter().flat_map(|kind| job.tasks(kind));
        let tasks: Vec<(TaskId, &Task)> = all.filter(wanted).take(filter.limit).collect();
        // What runs has its cause from the candidates.
        let any_ended = tasks.iter().any(|(_, task)| task.state.is_final());
        let ended = if any_ended { self.engine.causes(id) } else { Default::default() };
        let view = |(id, task): (TaskId, &Task)| {
            TaskView::of(self.engine.cluster(), id, task, by_task.get(&id).copied(), ended.get(&id))
        };
        Some(tasks.into_iter().map(view).collect())
    }

    /// The newest decisions, oldest first.
    pub fn decisions(&self, filter: DecisionFilter) -> Vec<DecisionView> {
        let older = filter
            .before
            .map_or(self.decisions.len(), |before| self.decisions.partition_point(|kept| kept.decision.id < before));
        let newer = self.decisions.range(..older).rev().take_while(|kept| kept.decision.id > filter.since);
        // Of advice of clones no end is told.
        let runs = |kept: &Kept| {
            let job = self.engine.cluster().job(kept.decision.job);
            job.is_some_and(|job| job.task(kept.decision.task).is_none_or(|task| !task.state.is_final()))
        };
        let open = |kept: &Kept| !kept.is_over() && runs(kept);
        let of_job = newer.filter(|kept| filter.job.is_none_or(|job| kept.decision.job == job));
        let wanted = of_job.filter(|kept| !filter.open || open(kept));
        let mut found: Vec<DecisionView> =
            wanted.take(filter.limit).map(|kept| DecisionView::of(kept, &self.incarnation)).collect();
        found.reverse();
        found
    }

    /// Nodes by name, after one, so many at most.
    pub fn nodes(&self, after: Option<&str>, limit: usize) -> Vec<NodeView> {
        let (cluster, health) = (self.engine.cluster(), self.health());
        let wanted = cluster.nodes.values().filter(|node| after.is_none_or(|after| &*node.host > after));
        let of = |host: &str| cluster.hosts.find(host).and_then(|host| health.get(&host).copied()).unwrap_or_default();
        wanted.take(limit).map(|node| NodeView::of(node, &of(&node.host))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::fixture::{facts, job, watched};
    use drover_core::model::Decision;

    #[test]
    fn advice_that_has_no_end_as_that_of_clones_is_open_while_its_task_runs_and_no_longer() {
        let mut desk = watched();
        let open =
            |desk: &Desk| desk.decisions(DecisionFilter { limit: 10, open: true, ..DecisionFilter::default() }).len();
        assert_eq!(open(&desk), 1);
        for second in 21..=80 {
            facts(job(1), second).into_iter().for_each(|fact| desk.observe(fact));
            desk.decide(Time(100_000 + second * 1_000));
            // As of a clone.
            desk.decisions.iter_mut().for_each(|kept| kept.end = None);
            assert_eq!(open(&desk), usize::from(second < 77), "{second}");
        }
    }

    #[test]
    fn all_decisions_that_are_kept_can_be_read_page_by_page_from_the_newest_to_the_oldest() {
        let mut desk = watched();
        let one = desk.decisions[0].clone();
        // The oldest of them are forgotten by now.
        let kept = |id| Kept { decision: Decision { id, ..one.decision.clone() }, ..one.clone() };
        desk.decisions = (501..=2_750).map(kept).collect();
        let ids = |since, before| -> Vec<u64> {
            let filter = DecisionFilter { since, before, limit: 1_000, ..DecisionFilter::default() };
            desk.decisions(filter).iter().map(|one| one.id).collect()
        };
        let (mut read, mut before) = (Vec::new(), None);
        for expected in [1_000, 1_000, 250, 0] {
            let page = ids(0, before);
            assert_eq!(page.len(), expected);
            before = page.first().copied().or(before);
            read.splice(..0, page);
        }
        assert_eq!(read, (501..=2_750).collect::<Vec<u64>>());
        assert_eq!(ids(700, Some(703)), [701, 702]);
        assert_eq!(ids(700, Some(701)), Vec::<u64>::new());
        assert_eq!(ids(0, Some(u64::MAX)), (1_751..=2_750).collect::<Vec<u64>>());
    }
}
