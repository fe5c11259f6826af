//! Dolly (Ananthanarayanan et al., NSDI'13, §3): clones of small jobs from their first moment on. Pseudocode 1 for a phase of n parallel tasks:
//!
//! ```text
//! 1: procedure CLONE(n tasks, p, ε)
//!      C: Cluster Capacity, U: Cluster Utilization
//!      β: Budget in fraction, B_U: Utilized budget in #slots
//! 2: c = ⌈ log(1 − (1 − ε)^(1/n)) / log p ⌉
//! 3: if (B_U + c·n) ≤ (C·β) and (U + c·n) ≤ τ then
//! 4:   for each task t do
//!        Create c clones for t
//!        B_U ← B_U + c·n
//! ```
//!
//! As printed B_U grows with every task and never shrinks; meant is once for the phase, and given back as its tasks end. c counts every copy of a task, its first
//! attempt too: "Clones are indistinguishable" (§5.1). Lines 2 and 3 are [`admit`], whenever the first task of a phase is to be executed; line 4 is [`judge`],
//! for as long as the phase runs.

mod admission;
mod machines;
mod outputs;
mod params;

use super::{Budget, Judged, View};
use crate::model::{Action, ClonePlan, CloneScheme, Numbers, Task, TaskId, TaskState, Verdict};
pub use admission::{Grant, Phase, Supply, admit, admit_job};
pub use machines::{Chosen, by_odds, job_level_clones, machines_for_a_task};
pub use outputs::{Output, Step, read_from};
pub use params::{Admission, DollyParams, Reads};

/// The rule by which it proposes.
pub const RULE: &str = "Dolly, NSDI'13 §3.2, Pseudocode 1 line 4: c clones for each task";
const GIVES_WAY: &str = "Dolly, HotCloud'12: clones give way first";

/// Line 4: every task is given its clones, as soon as it is there where that can be done.
pub fn judge(view: &View<'_>) -> Vec<Judged> {
    judge_running(view).chain(judge_waiting(view)).collect()
}

/// Those that run, in order of index.
pub(super) fn judge_running(view: &View<'_>) -> impl Iterator<Item = Judged> {
    view.contenders.iter().map(move |contender| {
        let live = contender.task.unended().count().max(1) as u32;
        let verdict = match view.plan {
            _ if contender.is_committing() => Verdict::Committing,
            None => Verdict::PlanPending,
            Some(ClonePlan { refused: Some(verdict), .. }) => verdict,
            Some(ClonePlan { scheme: CloneScheme::Job, gives_way: false, .. }) => Verdict::ClonedWithJob,
            Some(ClonePlan { scheme: CloneScheme::Job, .. }) => Verdict::GaveWay,
            Some(plan) if contender.id.index >= plan.tasks => Verdict::CloneBudget,
            Some(plan) if plan.gives_way && live == 1 => Verdict::GaveWay,
            Some(plan) if !plan.gives_way && live >= plan.clones => Verdict::AlreadyCopied,
            Some(_) => Verdict::Decided,
        };
        let mut judged = contender.judged(view, verdict);
        if let (Verdict::Decided, Some(plan)) = (verdict, view.plan) {
            judged = Judged { copies: plan.clones.saturating_sub(live).max(1), ..line_4(view, judged) };
            if plan.gives_way {
                judged.action = Action::Withdraw;
                let newest = contender.task.unended().map(|attempt| attempt.number).max();
                judged.attempt = contender.id.attempt(newest.unwrap_or(judged.attempt.number));
                judged.rule = Some(GIVES_WAY.to_owned());
            }
        }
        judged
    })
}

/// Those of a cloned phase that wait for their first container: "for every queued task, the scheduler spawns many clones" (§5.1).
pub(super) fn judge_waiting(view: &View<'_>) -> impl Iterator<Item = Judged> {
    let given = |plan: &ClonePlan| plan.refused.is_none() && !plan.gives_way && plan.scheme == CloneScheme::Task;
    let plan = view.plan.filter(given).unwrap_or(ClonePlan::refused(CloneScheme::Task, Verdict::PlanPending));
    let cloned = view.job.tasks(view.kind).take_while(move |(id, _)| id.index < plan.tasks);
    cloned.filter(|(_, task)| task.state == TaskState::Scheduled).map(move |(id, task)| waiting(view, plan, id, task))
}

fn waiting(view: &View<'_>, plan: ClonePlan, id: TaskId, task: &Task) -> Judged {
    let live = task.unended().count().max(1) as u32;
    let verdict = match plan.clones.saturating_sub(live) {
        0 => Verdict::AlreadyCopied,
        _ if !view.job.can.copy_waiting => Verdict::CannotCloneWaiting,
        _ => Verdict::Decided,
    };
    // Of clones that start together each is as likely to be the first as any other.
    let copies = plan.clones.saturating_sub(live).max(1);
    let numbers = Numbers {
        fresh_copy: view.fresh.map(|fresh| fresh.mean),
        fresh_copy_spread: view.fresh.map(|fresh| fresh.spread),
        cost_container_seconds: view.fresh.map(|fresh| fresh.mean.as_secs_f64()),
        win_probability: Some(f64::from(copies) / f64::from(copies + live)),
        ..Numbers::default()
    };
    let judged = Judged {
        task: id,
        verdict,
        action: Action::Duplicate,
        copies,
        budget: Budget::default(),
        attempt: view.job.judged_attempt(id),
        rule: None,
        numbers,
        rank: 0.0,
        recheck: None,
        early: false,
        weighed: 0,
    };
    if verdict == Verdict::Decided { line_4(view, judged) } else { judged }
}

/// As it is proposed. The smallest jobs first: they are whom clones help most (§3.3).
fn line_4(view: &View<'_>, judged: Judged) -> Judged {
    let (rank, rule) = (1.0 / f64::from(view.total.max(1)), Some(RULE.to_owned()));
    Judged { budget: Budget::Clones, early: true, rank, rule, ..judged }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AttemptState, TaskFact, TaskKind};
    use crate::policy::tests::{Phase, plan, secs};

    /// A phase of four, of which the first task runs with so many copies.
    fn judged(live: u32, plan: Option<ClonePlan>) -> Judged {
        let mut phase = (0..live).fold(Phase::maps(4), |phase, number| phase.runs((0, number), 0, 0.0, &[]));
        judge(&View { plan, ..phase.view(1.0) }).remove(0)
    }

    #[test]
    fn line_4_gives_each_task_the_clones_that_it_has_not_got_yet() {
        let of = |live| judged(live, Some(plan(3, 4)));
        let alone = of(1);
        assert_eq!((alone.verdict, alone.action, alone.copies), (Verdict::Decided, Action::Duplicate, 2));
        assert_eq!((alone.rule.as_deref(), alone.budget, alone.early), (Some(RULE), Budget::Clones, true));
        assert_eq!((of(2).verdict, of(2).copies), (Verdict::Decided, 1));
        assert_eq!((of(3).verdict, of(3).rule), (Verdict::AlreadyCopied, None));
    }

    #[test]
    fn a_task_that_waits_is_cloned_where_that_can_be_done_and_told_that_it_is_not_where_it_cannot() {
        let of = |copy_waiting, copies: u32, plan| {
            let mut phase = Phase::maps(4).runs((0, 0), 0, 0.0, &[]);
            phase.job.can.copy_waiting = copy_waiting;
            let id = phase.job.id.task(TaskKind::Map, 1);
            phase.task(TaskFact { state: Some(TaskState::Scheduled), ..TaskFact::of(id) });
            (0..copies).for_each(|n| phase.attempt((1, n), 0, |fact| fact.state = Some(AttemptState::Starting)));
            let mut all = judge(&View { plan: Some(plan), ..phase.view(1.0) });
            assert!(all.remove(0).task.index == 0 && all.iter().all(|one| one.task == id));
            all.pop().map(|one| (one.verdict, one.copies, one.budget, one.early))
        };
        let decided = |copies| Some((Verdict::Decided, copies, Budget::Clones, true));
        assert_eq!((of(true, 0, plan(3, 4)), of(true, 1, plan(3, 4))), (decided(2), decided(2)));
        assert_eq!(of(true, 2, plan(3, 4)), decided(1));
        let verdict = |can, copies, plan| of(can, copies, plan).map(|one| one.0);
        assert_eq!(verdict(true, 3, plan(3, 4)), Some(Verdict::AlreadyCopied));
        assert_eq!(verdict(false, 1, plan(3, 4)), Some(Verdict::CannotCloneWaiting));
        let none = [
            plan(3, 1),
            ClonePlan { gives_way: true, ..plan(3, 4) },
            ClonePlan { scheme: CloneScheme::Job, ..plan(3, 4) },
            ClonePlan { refused: Some(Verdict::CloneBudget), ..plan(3, 4) },
        ];
        assert_eq!(none.map(|plan| of(true, 1, plan)), [None; 4], "its clones are not its own, or are none");
    }

    #[test]
    fn no_task_of_a_job_that_is_cloned_whole_has_clones_of_its_own() {
        let of =
            |gives_way| judged(1, Some(ClonePlan { gives_way, ..ClonePlan::given(CloneScheme::Job, 3, 4) })).verdict;
        assert_eq!([false, true].map(of), [Verdict::ClonedWithJob, Verdict::GaveWay]);
    }

    #[test]
    fn a_waiting_tasks_clones_have_the_time_of_a_copy_and_even_odds() {
        let mut phase = Phase::maps(5).took(&[10.0; 4]);
        let id = phase.job.id.task(TaskKind::Map, 4);
        phase.task(TaskFact { state: Some(TaskState::Scheduled), ..TaskFact::of(id) });
        phase.job.can.copy_waiting = true;
        let of = judge(&View { plan: Some(plan(3, 5)), ..phase.view(20.0) }).remove(0).numbers;
        assert_eq!((of.fresh_copy, of.win_probability), (Some(secs(10.0)), Some(2.0 / 3.0)));
        assert_eq!((of.cost_container_seconds, of.fresh_copy_spread), (Some(10.0), Some(secs(1.0))), "of each");
    }

    #[test]
    fn the_smallest_jobs_come_first() {
        let rank = |total: u32| {
            let mut phase = Phase::maps(total).runs((0, 0), 0, 0.0, &[]);
            judge(&View { plan: Some(plan(3, total)), ..phase.view(1.0) })[0].rank
        };
        assert!(rank(2) > rank(3) && rank(3) > rank(10), "{} {} {}", rank(2), rank(3), rank(10));
    }

    #[test]
    fn what_has_no_plan_or_no_place_in_it_has_no_clones() {
        assert_eq!(judged(1, None).verdict, Verdict::PlanPending);
        let refused = ClonePlan { refused: Some(Verdict::CloneCeiling), ..plan(1, 4) };
        assert_eq!(judged(1, Some(refused)).verdict, Verdict::CloneCeiling);
        assert_eq!(judged(1, Some(plan(3, 0))).verdict, Verdict::CloneBudget);
        let mut phase = Phase::maps(1).runs((0, 0), 0, 0.0, &[]).is((0, 0), AttemptState::CommitPending);
        let view = View { plan: Some(plan(3, 1)), ..phase.view(1.0) };
        assert_eq!(judge(&view)[0].verdict, Verdict::Committing);
    }

    #[test]
    fn clones_give_way_one_by_one_the_newest_first_until_each_task_has_one_attempt() {
        let of = |live| judged(live, Some(ClonePlan { gives_way: true, ..plan(3, 4) }));
        let whole = of(3);
        assert_eq!((whole.verdict, whole.action, whole.attempt.number), (Verdict::Decided, Action::Withdraw, 2));
        assert_eq!((whole.rule.as_deref(), of(2).attempt.number), (Some(GIVES_WAY), 1));
        assert_eq!(of(1).verdict, Verdict::GaveWay);
    }
}
