//! Clones are settled before a job's first task asks for a container, and give way when others need the room.

use super::Engine;
use crate::estimate::odds::Odds;
use crate::govern::sizes::container;
use crate::model::*;
use crate::policy::dolly::{Admission, Grant, Phase, Supply, admit, admit_job};
use std::collections::BTreeSet;

/// Phases that are settled together, and what they are given.
type Settlement = (Vec<(TaskKind, Phase)>, Result<Grant, Verdict>);

impl Engine {
    /// Settles the clones of each phase of a job whose turn has come: of maps as soon as the job is known, though none of its tasks is; of reduces when the first is there; of
    /// a job that is cloned whole, both at once. `supply` is counted once a pass, and then kept.
    pub(super) fn settle_clones(&mut self, id: JobId, now: Time, supply: &mut Option<Supply>) {
        self.look_clones_over(id);
        let scheme = self.params.dolly.scheme;
        for kind in TaskKind::ALL {
            if self.clones.of(id, kind).is_some() {
                continue;
            }
            let Some(room) = supply.or_else(|| self.clone_supply()) else { return };
            let room = supply.insert(room);
            let settled = match scheme {
                CloneScheme::Task => self.phase_admitted(id, kind, room, now),
                CloneScheme::Job => self.job_admitted(id, room, now),
            };
            let Some((phases, admitted)) = settled else { continue };
            for (kind, phase) in phases {
                let plan = match admitted {
                    Ok(Grant { clones, tasks }) => match self.bounded_by_failures(id, kind, clones) {
                        0 | 1 => ClonePlan::refused(scheme, Verdict::FailuresSpent),
                        clones => ClonePlan::given(scheme, clones, tasks.min(phase.tasks)),
                    },
                    Err(verdict) => ClonePlan::refused(scheme, verdict),
                };
                self.keep_plan(id, (kind, phase), plan, now);
                if plan.refused.is_none() {
                    let slots = |count: u32| u64::from(count) * phase.slot_mb;
                    let asked = u64::from(plan.clones) * slots(plan.tasks);
                    room.cloning_mb += asked;
                    let acts = self.cluster.job(id).is_some_and(|job| self.mode_of(job) == Mode::Act);
                    let promised = if acts { &mut room.used_mb } else { &mut room.advised_mb };
                    *promised += asked.saturating_sub(slots(phase.started));
                }
            }
            if admitted.is_ok() && self.params.dolly.admission == Admission::Preempt {
                self.clones_give_way();
                *supply = None;
            }
        }
    }

    /// So many at most that all copies of a task may fail without failing it. Clones of a whole job fail another.
    fn bounded_by_failures(&self, id: JobId, kind: TaskKind, clones: u32) -> u32 {
        let settings = self.cluster.job(id).and_then(|job| job.settings.as_ref());
        let most = settings.filter(|_| self.params.dolly.scheme == CloneScheme::Task);
        most.map_or(clones, |settings| clones.min(settings.attempts_max[kind as usize]))
    }

    fn keep_plan(&mut self, id: JobId, (kind, phase): (TaskKind, Phase), plan: ClonePlan, now: Time) {
        let Some(job) = self.cluster.job(id) else { return };
        let reads = kind == TaskKind::Reduce && plan.clones > 1 && plan.scheme == CloneScheme::Task;
        let plan = ClonePlan { reading: reads.then(|| self.reading(job)), ..plan };
        self.clones.settle(id, kind, phase.slot_mb, plan);
        if !job.is_complete() {
            self.clones.settled_unseen(id, kind, now);
        }
    }

    /// What was settled before all tasks were known, and turns out to have been under way, is not cloned.
    fn look_clones_over(&mut self, id: JobId) {
        let Some(job) = self.cluster.job(id).filter(|job| job.is_complete()) else { return };
        for kind in TaskKind::ALL {
            // The AM's clock is known with its tasks.
            let ended = |task: &Task, at| task.ended().is_none_or(|ended| ended <= job.am_time(at));
            let mut done = job.tasks(kind).filter(|(_, task)| task.state == TaskState::Succeeded);
            self.clones.look_over(id, kind, |at| done.any(|(_, task)| ended(task, at)));
        }
    }

    /// One phase by itself; `None` while that cannot be settled.
    fn phase_admitted(&self, id: JobId, kind: TaskKind, room: &Supply, now: Time) -> Option<Settlement> {
        let job = self.cluster.job(id)?;
        let phase = if has_its_turn(job, kind) { self.phase(job, kind)? } else { return None };
        let admitted = self.open_to_clones(job, &[kind], now)?.and_then(|()| {
            let supply = self.as_met(job, room, phase.tasks);
            admit(&phase, self.probability(&job.user)?, &supply, &self.params.dolly)
        });
        Some((vec![(kind, phase)], admitted))
    }

    /// All phases of a job together; `None` while that cannot be settled.
    fn job_admitted(&self, id: JobId, room: &Supply, now: Time) -> Option<Settlement> {
        let job = self.cluster.job(id)?;
        let phases: Vec<_> =
            TaskKind::ALL.into_iter().filter_map(|kind| Some((kind, self.phase(job, kind)?))).collect();
        if phases.iter().any(|(kind, _)| self.clones.of(id, *kind).is_some()) {
            return None;
        }
        let (kinds, sizes): (Vec<TaskKind>, Vec<Phase>) = phases.iter().copied().unzip();
        let tasks = sizes.iter().map(|phase| phase.tasks).max()?;
        let admitted = self.open_to_clones(job, &kinds, now)?.and_then(|()| {
            if !job.can.job_clones {
                return Err(Verdict::CannotCloneJobs);
            }
            let supply = self.as_met(job, room, tasks);
            admit_job(&sizes, self.probability(&job.user)?, &supply, &self.params.dolly)
        });
        Some((phases, admitted))
    }

    /// A job's tasks of one kind; `None` where it has none, and while what it asks for is not known.
    fn phase(&self, job: &Job, kind: TaskKind) -> Option<Phase> {
        let tasks = job.totals.filter(|_| job.settings.is_some())?[kind as usize];
        // What has started since the ResourceManager told of its use is not in it.
        let told = job.am_time(self.cluster.totals_told);
        let began = |task: &Task| task.started.get().or_else(|| task.attempts.first()?.started.get());
        let in_use = |task: &Task| task.state == TaskState::Running && began(task).is_some_and(|at| at <= told);
        let maps = || self.clones.of(job.id, TaskKind::Map).map(|plan| plan.clones);
        (tasks > 0).then(|| Phase {
            tasks,
            started: job.tasks(kind).filter(|(_, task)| in_use(task)).count() as u32,
            slot_mb: container(&self.cluster, job, kind).memory_mb,
            upstream: if kind == TaskKind::Reduce { maps() } else { None },
        })
    }

    /// May tasks of these kinds be cloned, as far as the job and its user go? `None` while that is not known: of a job that is new no task need be.
    fn open_to_clones(&self, job: &Job, kinds: &[TaskKind], now: Time) -> Option<Result<(), Verdict>> {
        let new = self.is_new(job, now);
        for kind in kinds {
            // A job that gets no copy must not hold the clones' budget.
            match self.params.govern.bars(job, *kind, self.mode_of(job), now) {
                Some(Verdict::IncompleteData) if new => {}
                Some(Verdict::IncompleteData | Verdict::StaleData | Verdict::SettingsUnknown) => return None,
                Some(never) => return Some(Err(never)),
                None => {}
            }
        }
        let ended = |kind: &TaskKind| job.tasks(*kind).any(|(_, task)| task.state == TaskState::Succeeded);
        Some(if kinds.iter().any(ended) { Err(Verdict::PhaseUnderWay) } else { Ok(()) })
    }

    /// Has it begun so lately that what is not known of it is on its way?
    fn is_new(&self, job: &Job, now: Time) -> bool {
        job.started.get().is_some_and(|at| !self.params.govern.is_stale(at, job.am_time(now)))
    }

    /// Has the job clones, or may it have some yet? While nothing is settled, as long as it is new. Once a phase has been admitted, without a break until the last that was
    /// has ended: between two phases the job is not handed back and forth.
    pub(super) fn has_clones(&self, job: &Job) -> bool {
        let plans = TaskKind::ALL.map(|kind| (kind, self.clones.of(job.id, kind)));
        let exists = |kind: TaskKind| job.totals.is_none_or(|totals| totals[kind as usize] > 0);
        let awaited = plans.iter().any(|(kind, plan)| plan.is_none() && exists(*kind));
        // Clones that nobody can end give way by themselves: nothing more is done about them.
        let given = |plan: &ClonePlan| plan.refused.is_none() && (!plan.gives_way || job.can.withdraw);
        let goes_on = |id| job.task(id).is_none_or(|task| !task.state.is_final());
        let mut given = plans.iter().filter_map(|(kind, plan)| Some((*kind, plan.filter(given)?.tasks)));
        if awaited && plans.iter().all(|(_, plan)| plan.is_none()) {
            return self.is_new(job, self.last_pass);
        }
        given.any(|(kind, tasks)| awaited || (0..tasks).any(|index| goes_on(job.id.task(kind, index))))
    }

    /// Is a task of the job to have clones once it runs, as of the last pass, or may it?
    pub fn clones_at_start(&self, id: JobId) -> bool {
        self.params.policy.clones() && self.cluster.job(id).is_some_and(|job| self.has_clones(job))
    }

    /// The room that a phase meets, see [`Supply`].
    pub(super) fn clone_supply(&self) -> Option<Supply> {
        self.clones.supply(&self.cluster, &self.advised_clones())
    }

    /// Jobs whose clones nobody starts.
    fn advised_clones(&self) -> BTreeSet<JobId> {
        let advises = |id: &JobId| self.cluster.job(*id).is_some_and(|job| self.mode_of(job) != Mode::Act);
        self.clones.jobs().filter(advises).collect()
    }

    /// The room that a job's phase of so many tasks meets. What is only advised takes none from clones that are started, and advice is as if all were.
    fn as_met(&self, job: &Job, room: &Supply, tasks: u32) -> Supply {
        let preempts = self.params.dolly.admission == Admission::Preempt;
        let larger_mb = if preempts { self.clones.larger_mb(&self.cluster, tasks) } else { 0 };
        let advised_mb = if self.mode_of(job) == Mode::Act { 0 } else { room.advised_mb };
        Supply { larger_mb, used_mb: room.used_mb + advised_mb, ..*room }
    }

    /// p for a job of that user, once tasks have shown it.
    fn shown_probability(&self, user: &str) -> Option<f64> {
        let known = |odds: &&Odds| odds.evidence() >= self.params.dolly.min_evidence && odds.holds_for(user);
        Some(self.odds.cluster()).filter(known).and_then(Odds::probability)
    }

    /// The same to clone by: not on a p that neither tasks have shown nor an operator has set.
    fn probability(&self, user: &str) -> Result<f64, Verdict> {
        let prior = Some(self.params.dolly.prior).filter(|prior| *prior > 0.0);
        self.shown_probability(user).or(prior).ok_or(Verdict::OddsUnknown)
    }

    /// The same where a p of zero does no harm, as clones are settled already.
    pub(super) fn straggler_probability(&self, user: &str) -> f64 {
        self.shown_probability(user).unwrap_or(self.params.dolly.prior)
    }

    /// Clones give way where the cluster is fuller than they may make it, and under preemption where smaller jobs have been admitted beside them.
    pub(super) fn clones_give_way(&mut self) {
        // An RM that has just started has no nodes yet: nothing is full.
        let Some(totals) = self.cluster.all().filter(|totals| totals.total.memory_mb > 0) else { return };
        let share = |of: f64| share_of(of, totals.total.memory_mb) as u64;
        let preempts = self.params.dolly.admission == Admission::Preempt;
        let budget = if preempts { share(self.params.dolly.beta) } else { u64::MAX };
        let (ceiling, advised) = (share(self.params.dolly.tau), self.advised_clones());
        let jobs = self.clones.give_way(&self.cluster, &advised, budget, ceiling);
        self.stir(jobs);
    }
}

/// Is the phase to be settled now? Reduces wait for maps, and would hold the budget for as long: their turn comes with the first of them that can be cloned.
fn has_its_turn(job: &Job, kind: TaskKind) -> bool {
    let first = if job.can.copy_waiting { TaskState::Scheduled } else { TaskState::Running };
    let follows = kind == TaskKind::Reduce && job.totals.is_none_or(|[maps, _]| maps > 0);
    !follows || job.tasks(kind).any(|(_, task)| task.state >= first)
}
