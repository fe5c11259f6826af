//! Clones are settled before a phase's first task runs, and give way when others need the room.

use super::Engine;
use crate::estimate::exact::share_of;
use crate::estimate::odds::Odds;
use crate::govern::budget::container;
use crate::model::*;
use crate::policy::dolly::{Admission, Grant, Phase, Supply, admit};

impl Engine {
    /// Settles the clones of each phase of a job whose turn has come: of maps as soon as the job is known, of reduces when the first runs. `supply` is counted once a
    /// pass, and then kept.
    pub(super) fn settle_clones(&mut self, id: JobId, now: Time, supply: &mut Option<Supply>) {
        for kind in TaskKind::ALL {
            if self.clones.of(id, kind).is_some() {
                continue;
            }
            let Some(room) = supply.or_else(|| self.clones.supply(&self.cluster)) else { return };
            let room = supply.insert(room);
            let Some((phase, admitted)) = self.admitted(id, kind, room, now) else { continue };
            self.clones.settle(id, kind, phase.slot_mb, admitted);
            let Ok(Grant { clones, tasks }) = admitted else { continue };
            let slots = |count: u32| u64::from(count) * phase.slot_mb;
            room.cloning_mb += u64::from(clones) * slots(tasks);
            room.used_mb += (u64::from(clones) * slots(tasks)).saturating_sub(slots(phase.started));
            if self.params.dolly.admission == Admission::Preempt {
                self.clones_give_way();
                *supply = None;
            }
        }
    }

    /// The phase, and how many copies its tasks are to have, or why none; `None` while that cannot be settled.
    fn admitted(&self, id: JobId, kind: TaskKind, room: &Supply, now: Time) -> Option<(Phase, Result<Grant, Verdict>)> {
        let job = self.cluster.job(id)?;
        let tasks = job.totals.filter(|_| job.settings.is_some())?[kind as usize];
        let runs = job.tasks(kind).any(|(_, task)| task.state >= TaskState::Running);
        if tasks == 0 || (kind == TaskKind::Reduce && !runs) {
            return None;
        }
        let state = |wanted| job.tasks(kind).filter(|(_, task)| task.state == wanted).count() as u32;
        let upstream = || self.clones.of(id, TaskKind::Map).map(|plan| plan.clones);
        // What has started since the ResourceManager told of its use is not in it.
        let told = job.am_time(self.cluster.totals_told);
        let began = |task: &Task| task.started.get().or_else(|| task.attempts.first()?.started.get());
        let in_use = |task: &Task| task.state == TaskState::Running && began(task).is_some_and(|at| at <= told);
        let phase = Phase {
            tasks,
            started: job.tasks(kind).filter(|(_, task)| in_use(task)).count() as u32,
            slot_mb: container(job, kind).memory_mb,
            upstream: if kind == TaskKind::Reduce { upstream() } else { None },
        };
        // A job that gets no copy must not hold the clones' budget.
        match self.params.govern.bars(job, kind, self.mode_of(job), now) {
            Some(Verdict::IncompleteData | Verdict::StaleData | Verdict::SettingsUnknown) => return None,
            Some(never) => return Some((phase, Err(never))),
            None => {}
        }
        if state(TaskState::Succeeded) > 0 {
            return Some((phase, Err(Verdict::PhaseUnderWay)));
        }
        let preempts = self.params.dolly.admission == Admission::Preempt;
        let larger_mb = if preempts { self.clones.larger_mb(&self.cluster, tasks) } else { 0 };
        let supply = Supply { larger_mb, ..*room };
        Some((phase, admit(&phase, self.straggler_probability(&job.user), &supply, &self.params.dolly)))
    }

    /// p for a job of that user.
    pub(super) fn straggler_probability(&self, user: &str) -> f64 {
        let params = &self.params.dolly;
        let known = |odds: &&Odds| odds.evidence() >= params.min_evidence && odds.holds_for(user);
        Some(self.odds.cluster()).filter(known).and_then(Odds::probability).unwrap_or(params.prior)
    }

    /// Clones give way where the cluster is fuller than they may make it, and under preemption where smaller jobs have been admitted beside them.
    pub(super) fn clones_give_way(&mut self) {
        let Some(totals) = self.cluster.totals else { return };
        let share = |of: f64| share_of(of, totals.total.memory_mb);
        let preempts = self.params.dolly.admission == Admission::Preempt;
        let budget = if preempts { share(self.params.dolly.beta) } else { u64::MAX };
        let jobs = self.clones.give_way(&self.cluster, budget, share(self.params.dolly.tau));
        self.changed.extend(jobs);
    }
}
