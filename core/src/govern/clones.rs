//! Phases that are cloned: charged in whole from the moment they are admitted, and for as long as their tasks last.

use super::claims::claimed_mb;
use crate::model::{AttemptState, ClonePlan, CloneScheme, ClusterState, JobId, TaskKind, TaskState, Time, Verdict};
use crate::policy::dolly::Supply;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What was settled about every phase of the jobs that run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ClonePlans {
    #[serde(with = "crate::model::pairs")]
    by_phase: BTreeMap<(JobId, TaskKind), Settled>,
}

/// One phase's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Settled {
    plan: ClonePlan,
    /// A task's container, MiB.
    slot_mb: u64,
    /// When it was settled, the service's clock, if that was before all tasks of its job were known and it has not been looked over since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unseen: Option<Time>,
}

/// What a cloned phase holds and has been promised, MiB.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    /// c for each task that has not ended.
    all_mb: u64,
    /// Of that what no attempt has taken yet.
    promised_mb: u64,
    /// The same where none will, as clones are only advised.
    advised_mb: u64,
    /// Of all, what is only advised apart, what the copies beyond the first attempts hold.
    clones_mb: u64,
}

impl ClonePlans {
    /// What was settled about a phase.
    pub fn of(&self, job: JobId, kind: TaskKind) -> Option<ClonePlan> {
        self.by_phase.get(&(job, kind)).map(|settled| settled.plan)
    }

    /// Settles a phase whose containers have that size.
    pub fn settle(&mut self, job: JobId, kind: TaskKind, slot_mb: u64, plan: ClonePlan) {
        self.by_phase.insert((job, kind), Settled { plan, slot_mb, unseen: None });
    }

    /// It was settled at that instant of the service's clock with tasks of its job still unknown.
    pub fn settled_unseen(&mut self, job: JobId, kind: TaskKind, at: Time) {
        if let Some(settled) = self.by_phase.get_mut(&(job, kind)) {
            settled.unseen = Some(at);
        }
    }

    /// Looks a phase over, now that all tasks are known, that was settled while they were not: one that was under way at that instant has no clones.
    pub fn look_over(&mut self, job: JobId, kind: TaskKind, under_way: impl FnOnce(Time) -> bool) {
        let Some(settled) = self.by_phase.get_mut(&(job, kind)) else { return };
        if settled.unseen.take().is_some_and(under_way) {
            settled.plan = ClonePlan::refused(settled.plan.scheme, Verdict::PhaseUnderWay);
        }
    }

    /// Forgets a job.
    pub fn forget(&mut self, job: JobId) {
        for kind in TaskKind::ALL {
            self.by_phase.remove(&(job, kind));
        }
    }

    /// Forgets all: another policy is in force.
    pub fn clear(&mut self) {
        self.by_phase.clear();
    }

    /// Jobs with a cloned phase, one with two of them twice.
    pub fn jobs(&self) -> impl Iterator<Item = JobId> {
        self.charged().map(|(phase, _)| phase.0)
    }

    /// The room that a phase meets; `None` before the ResourceManager has told of any. The clones of some jobs are only `advised`. One pass over the tasks of cloned phases.
    pub fn supply(&self, cluster: &ClusterState, advised: &BTreeSet<JobId>) -> Option<Supply> {
        let totals = cluster.all()?;
        let mut supply =
            Supply { capacity_mb: totals.total.memory_mb, used_mb: totals.allocated.memory_mb, ..Supply::default() };
        for (phase, settled) in self.charged() {
            let held = settled.held(cluster, *phase, advised);
            supply.cloning_mb += held.all_mb;
            supply.used_mb += held.promised_mb;
            supply.advised_mb += held.advised_mb;
        }
        Some(supply)
    }

    /// What phases of more than so many tasks could give back to the clones' budget, MiB: where copies can be withdrawn.
    pub fn larger_mb(&self, cluster: &ClusterState, tasks: u32) -> u64 {
        let larger =
            self.charged().filter(|(phase, settled)| settled.plan.tasks > tasks && withdraws(cluster, phase.0));
        larger.map(|(phase, settled)| settled.held(cluster, *phase, &BTreeSet::new()).all_mb).sum()
    }

    /// Has the largest phases' clones give way, one after the other, until the cloned phases hold no more than `budget_mb` in all, the cluster uses no more than
    /// `ceiling_mb` (HotCloud'12 §3.2: "killing of clones can also be used during emergency to bring down utilization"), and nobody claims more of it. The jobs whose clones do.
    pub fn give_way(
        &mut self,
        cluster: &ClusterState,
        advised: &BTreeSet<JobId>,
        budget_mb: u64,
        ceiling_mb: u64,
    ) -> Vec<JobId> {
        let Some(mut supply) = self.supply(cluster, advised) else { return Vec::new() };
        // On Hadoop nobody can end a clone for another's sake.
        let can_end = self.charged().any(|(phase, _)| withdraws(cluster, phase.0));
        let mut claimed = if can_end { claimed_mb(cluster) } else { 0 };
        let standing = self.charged().filter(|(_, settled)| !settled.plan.gives_way);
        let mut largest: Vec<_> = standing.map(|(phase, settled)| (settled.plan.tasks, *phase)).collect();
        largest.sort_unstable_by(|a, b| b.cmp(a));
        let mut jobs = Vec::new();
        for (_, phase) in largest {
            let above = supply.used_mb > ceiling_mb;
            if !above && supply.cloning_mb <= budget_mb && claimed == 0 {
                break;
            }
            let frees = |settled: &Settled| settled.held(cluster, phase, advised).clones_mb > 0;
            let frees = above && self.by_phase.get(&phase).is_some_and(frees);
            let over = supply.cloning_mb > budget_mb || claimed > 0;
            let helps = frees || (over && withdraws(cluster, phase.0));
            if !helps {
                continue;
            }
            for (phase, settled) in self.given_together(phase) {
                let held = settled.held(cluster, phase, advised);
                settled.plan.gives_way = true;
                supply.cloning_mb = supply.cloning_mb.saturating_sub(held.all_mb);
                supply.used_mb = supply.used_mb.saturating_sub(held.clones_mb);
                claimed = claimed.saturating_sub(held.clones_mb);
                jobs.push(phase.0);
            }
        }
        jobs
    }

    /// The phases whose clones end together, that one's with it, as far as they have not been asked to yet: a clone of a whole job has all of its phases.
    fn given_together(&mut self, phase: (JobId, TaskKind)) -> impl Iterator<Item = ((JobId, TaskKind), &mut Settled)> {
        let whole = self.by_phase.get(&phase).is_some_and(|settled| settled.plan.scheme == CloneScheme::Job);
        let of_job = self.by_phase.range_mut((phase.0, TaskKind::Map)..=(phase.0, TaskKind::Reduce));
        let ends = move |other: &(JobId, TaskKind), settled: &Settled| {
            (whole || *other == phase) && settled.plan.refused.is_none() && !settled.plan.gives_way
        };
        of_job.filter(move |(other, settled)| ends(other, settled)).map(|(phase, settled)| (*phase, settled))
    }

    fn charged(&self) -> impl Iterator<Item = (&(JobId, TaskKind), &Settled)> {
        self.by_phase.iter().filter(|(_, settled)| settled.plan.refused.is_none())
    }
}

fn withdraws(cluster: &ClusterState, job: JobId) -> bool {
    cluster.job(job).is_some_and(|job| job.can.withdraw)
}

impl Settled {
    /// What gives way is charged for as long as more than one attempt of a task lives: on Hadoop nobody can end one. Of a job that is cloned whole a task's other clones go on when one has ended.
    fn held(&self, cluster: &ClusterState, (job, kind): (JobId, TaskKind), advised: &BTreeSet<JobId>) -> Held {
        let is_advised = advised.contains(&job);
        let Some(job) = cluster.job(job) else { return Held::default() };
        let clones = u64::from(self.plan.clones);
        let (mut ended, mut live, mut first, mut cloned) = (0, 0, 0, 0);
        for (_, task) in job.tasks(kind).take_while(|(id, _)| id.index < self.plan.tasks) {
            let succeeded = || task.attempts.iter().filter(|attempt| attempt.state == AttemptState::Succeeded).count();
            ended += match self.plan.scheme {
                CloneScheme::Task => clones * u64::from(task.state.is_final()),
                CloneScheme::Job => clones.min((succeeded() as u64).max(u64::from(task.state.is_final()))),
            };
            let known = task.unended().filter(|attempt| attempt.started.get().is_some()).count() as u64;
            // Over REST alone a running task's attempts are not known.
            let attempts = known.max(u64::from(task.state == TaskState::Running));
            live += attempts;
            first += attempts.min(1);
            cloned += if attempts > 1 { attempts } else { 0 };
        }
        let wanted = (clones * u64::from(self.plan.tasks)).saturating_sub(ended);
        let all = if self.plan.gives_way { cloned } else { wanted };
        let promised = if self.plan.gives_way { 0 } else { wanted.saturating_sub(live) };
        let [promised, advised] = if is_advised { [0, promised] } else { [promised, 0] };
        let mb = |slots: u64| slots * self.slot_mb;
        let clones_mb = mb(promised + live - first);
        Held { all_mb: mb(all), promised_mb: mb(promised), advised_mb: mb(advised), clones_mb }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::govern::flight::{
        self,
        tests::{JOB, attempt, job, map, succeed},
    };
    use crate::model::CloneScheme::Task;
    use crate::model::{AppId, AttemptState, Capabilities, ClusterFact, Job, Resources, TaskFact, TaskId, Time};

    const SMALL: JobId = JobId(AppId { cluster: 1, seq: 2 });
    const SLOT_MB: u64 = 100;

    /// Of four maps that each have three copies one has ended, one runs with two attempts, one is only known to run, and one waits. Of the two maps of the smaller job
    /// nothing is known. A fifth map of the first, with two attempts, came after its phase was settled.
    fn cluster(can: Capabilities) -> (ClusterState, ClonePlans) {
        let mut large = job();
        succeed(&mut large, map(0), Some(0), 5_000);
        for task in [map(1), map(4)] {
            for number in 0..2 {
                attempt(&mut large, task.attempt(number), AttemptState::Running, 6_000, 0);
            }
        }
        let mut know = |task: TaskId, state| {
            let fact = TaskFact { state: Some(state), ..TaskFact::of(task) };
            assert!(large.learn_task(&fact, Time(1), 1_000));
        };
        know(map(2), TaskState::Running);
        know(map(3), TaskState::Scheduled);
        let mut small = Job::new(SMALL);
        (large.can, small.can) = (can, can);
        let mut cluster = flight::tests::cluster([large, small]);
        let of = |memory_mb| Resources { memory_mb, vcores: 1 };
        cluster.totals = Some(ClusterFact { total: of(10_000), allocated: of(2_000), ..ClusterFact::default() });
        let mut plans = ClonePlans::default();
        plans.settle(JOB, TaskKind::Map, SLOT_MB, ClonePlan::given(Task, 3, 4));
        plans.settle(SMALL, TaskKind::Map, SLOT_MB, ClonePlan::given(Task, 2, 2));
        plans.settle(SMALL, TaskKind::Reduce, SLOT_MB, ClonePlan::refused(Task, Verdict::CloneBudget));
        (cluster, plans)
    }

    const ABLE: Capabilities = Capabilities { duplicate: true, restart: true, withdraw: true, ..Capabilities::NONE };

    /// What is used, and what cloned phases hold or are promised.
    fn charged(plans: &ClonePlans, cluster: &ClusterState) -> (u64, u64) {
        let supply = plans.supply(cluster, &BTreeSet::new()).unwrap();
        (supply.used_mb, supply.cloning_mb)
    }

    #[test]
    fn a_cloned_phase_is_charged_all_copies_of_its_tasks_that_have_not_ended_and_what_none_has_taken_is_in_use() {
        let (cluster, plans) = cluster(ABLE);
        // Nine of the larger phase, of which three live; four of the smaller.
        assert_eq!(charged(&plans, &cluster), (2_000 + 600 + 400, 900 + 400));
    }

    #[test]
    fn of_a_job_that_is_cloned_whole_only_what_has_ended_is_charged_no_more() {
        let (cluster, mut plans) = cluster(ABLE);
        plans.settle(JOB, TaskKind::Map, SLOT_MB, ClonePlan::given(CloneScheme::Job, 3, 4));
        // Eleven of twelve attempts, of which three live: two more clones of the first task are to come.
        assert_eq!(charged(&plans, &cluster), (2_000 + 800 + 400, 1_100 + 400));
    }

    #[test]
    fn only_phases_of_more_tasks_that_can_withdraw_copies_give_budget_back() {
        let (able, plans) = cluster(ABLE);
        assert_eq!([1, 2, 3, 4].map(|tasks| plans.larger_mb(&able, tasks)), [1_300, 900, 900, 0]);
        let (unable, plans) = cluster(Capabilities { withdraw: false, ..ABLE });
        assert_eq!(plans.larger_mb(&unable, 0), 0);
    }

    #[test]
    fn above_the_ceiling_the_largest_phase_gives_way_and_the_next_only_where_that_is_too_little() {
        // Of its nine copies two are first attempts.
        const FREED: u64 = 700;
        for (above, expected) in [(FREED, vec![JOB]), (FREED + 1, vec![JOB, SMALL]), (0, vec![])] {
            let (cluster, mut plans) = cluster(ABLE);
            let used = plans.supply(&cluster, &BTreeSet::new()).unwrap().used_mb;
            assert_eq!(plans.give_way(&cluster, &BTreeSet::new(), 10_000, used - above), expected, "{above} MiB above");
        }
    }

    #[test]
    fn what_gave_way_is_charged_for_tasks_with_more_than_one_attempt_alone() {
        let (cluster, mut plans) = cluster(ABLE);
        assert_eq!(plans.give_way(&cluster, &BTreeSet::new(), 400, 10_000), [JOB]);
        assert_eq!(charged(&plans, &cluster), (2_000 + 400, 200 + 400));
    }

    #[test]
    fn the_clones_of_a_whole_job_give_way_in_all_of_its_phases_at_once() {
        let (cluster, mut plans) = cluster(ABLE);
        for kind in TaskKind::ALL {
            plans.settle(SMALL, kind, SLOT_MB, ClonePlan::given(CloneScheme::Job, 2, 2));
        }
        plans.settle(JOB, TaskKind::Map, SLOT_MB, ClonePlan::refused(Task, Verdict::CloneBudget));
        assert_eq!(
            plans.give_way(&cluster, &BTreeSet::new(), 700, 10_000),
            [SMALL; 2],
            "one phase would have been enough"
        );
        assert!(TaskKind::ALL.iter().all(|kind| plans.of(SMALL, *kind).is_some_and(|plan| plan.gives_way)));
        assert_eq!(plans.give_way(&cluster, &BTreeSet::new(), 0, 0), [], "they were asked to");
    }

    #[test]
    fn clones_that_are_only_advised_use_nothing_and_have_no_others_give_way() {
        let advised = BTreeSet::from([SMALL]);
        let (cluster, mut plans) = cluster(ABLE);
        plans.settle(SMALL, TaskKind::Map, SLOT_MB, ClonePlan::given(Task, 3, 5));
        let supply = plans.supply(&cluster, &advised).unwrap();
        assert_eq!((supply.used_mb, supply.advised_mb, supply.cloning_mb), (2_000 + 600, 1_500, 900 + 1_500));
        assert_eq!(plans.give_way(&cluster, &advised, 10_000, 2_600), [], "they would have freed nothing");
        assert_eq!(plans.give_way(&cluster, &advised, 10_000, 2_599), [JOB], "though theirs is the larger phase");
        assert_eq!(plans.give_way(&cluster, &advised, 0, 10_000), [SMALL], "but for its share of the budget");
    }

    #[test]
    fn what_was_settled_before_its_tasks_were_known_is_looked_over_once() {
        let (_, mut plans) = cluster(ABLE);
        let refused = |plans: &ClonePlans| plans.of(JOB, TaskKind::Map).unwrap().refused;
        plans.look_over(JOB, TaskKind::Map, |_| true);
        assert_eq!(refused(&plans), None, "its tasks were known");
        plans.settled_unseen(JOB, TaskKind::Map, Time(7));
        plans.look_over(JOB, TaskKind::Map, |at| at < Time(7));
        plans.look_over(JOB, TaskKind::Map, |_| true);
        assert_eq!(refused(&plans), None, "that was the second time");
        plans.settled_unseen(JOB, TaskKind::Map, Time(7));
        plans.look_over(JOB, TaskKind::Map, |at| at == Time(7));
        assert_eq!(refused(&plans), Some(Verdict::PhaseUnderWay));
    }

    #[test]
    fn nothing_is_kept_of_a_job_that_is_forgotten_nor_of_another_policys_plans() {
        let (_, mut plans) = cluster(ABLE);
        plans.forget(SMALL);
        assert_eq!(TaskKind::ALL.map(|kind| plans.of(SMALL, kind)), [None; 2]);
        assert!(plans.of(JOB, TaskKind::Map).is_some());
        plans.clear();
        assert_eq!(plans, ClonePlans::default());
    }

    #[test]
    fn the_clones_of_one_phase_give_way_without_those_of_its_jobs_other_one() {
        let (cluster, mut plans) = cluster(ABLE);
        plans.settle(JOB, TaskKind::Reduce, SLOT_MB, ClonePlan::given(Task, 2, 3));
        assert_eq!(plans.give_way(&cluster, &BTreeSet::new(), 1_000, 10_000), [JOB]);
        let gives_way = |kind| plans.of(JOB, kind).unwrap().gives_way;
        assert_eq!(TaskKind::ALL.map(gives_way), [true, false]);
    }
}
