//! A decision looked at once more, right before it is acted on: what was true when it was taken may be no longer.

use super::clones::ClonePlans;
use super::flight::Flights;
use super::{GovernParams, clocks, eligible};
use crate::model::{Action, AttemptId, AttemptState, ClusterState, Decision, Job, JobPhase, Mode, Task, Time, Verdict};

/// What may speak against it, for metrics that start at zero.
pub const REASONS: [Verdict; 24] = [
    Verdict::JobEnded,
    Verdict::TooLate,
    Verdict::NotActing,
    Verdict::ModeOff,
    Verdict::Uber,
    Verdict::HeldOut,
    Verdict::SettingsUnknown,
    Verdict::SpeculationOff,
    Verdict::FailuresSpent,
    Verdict::UnsafeOutput,
    Verdict::IncompleteData,
    Verdict::StaleData,
    Verdict::CannotDuplicate,
    Verdict::CannotRestart,
    Verdict::CannotWithdraw,
    Verdict::TaskEnded,
    Verdict::Committing,
    Verdict::AttemptEnded,
    Verdict::LastAttempt,
    Verdict::AlreadyCopied,
    Verdict::CoolDown,
    Verdict::GaveWay,
    Verdict::PhaseUnderWay,
    Verdict::ClockSet,
];

impl GovernParams {
    /// Why a decision to act had better not be acted on any more, in a job that is in that mode by now. `now` is the service's clock. What cannot change while a job runs is
    /// not looked at again, nor is room: the shim sees the job's own need of it, and YARN everyone's.
    ///
    /// # Errors
    /// The first reason against it, by name.
    pub fn revalidate(
        &self,
        decision: &Decision,
        cluster: &ClusterState,
        mode: Mode,
        now: Time,
    ) -> Result<(), Verdict> {
        let over = |state| matches!(state, JobPhase::Succeeded | JobPhase::Failed | JobPhase::Killed);
        let job = cluster.job(decision.job).filter(|job| !job.state.is_some_and(over)).ok_or(Verdict::JobEnded)?;
        if now >= decision.deadline {
            return Err(Verdict::TooLate);
        }
        if mode < Mode::Act {
            return Err(Verdict::NotActing);
        }
        let stale = self.room_is_stale(cluster, mode, now).then_some(Verdict::StaleData);
        let lack = || eligible::lack_now(job, decision.task.kind, decision.action, mode);
        if let Some(bar) = self.bars(job, decision.task.kind, mode, now).or(stale).or_else(lack) {
            return Err(bar);
        }
        let task = job.task(decision.task).ok_or(Verdict::IncompleteData)?;
        of_task(task, decision.attempt, decision.action, decision.live)
    }
}

/// Why it had better not be acted on for what has become since of the job's other copies, of the phase's clones that it gives, or of the AM's clock, by which it may have been judged after it
/// was set and before that was told; `None` where that says nothing against it. `am_now` is the AM's clock. A copy is withdrawn all the same, unless nothing would be left of its task.
pub fn by_past(
    decision: &Decision,
    job: &Job,
    flights: &Flights,
    clones: &ClonePlans,
    am_now: Time,
) -> Option<Verdict> {
    if decision.action == Action::Withdraw {
        return flights.ends_task(decision.attempt, job, decision.mode);
    }
    let given = flights.of(decision.task).find(|flight| flight.clones && flight.decision == decision.id);
    let plan = given.and_then(|_| clones.of(decision.job, decision.task.kind));
    let of_clones = plan.and_then(|plan| plan.refused.or(plan.gives_way.then_some(Verdict::GaveWay)));
    let by_time = || if given.is_some() { None } else { clocks::of_times(job) };
    flights.bar_of_job(decision.job, decision.mode, am_now).or(of_clones).or_else(by_time)
}

/// What its own attempts say against it, of which so many had not ended then.
fn of_task(task: &Task, decided_on: AttemptId, action: Action, live: u32) -> Result<(), Verdict> {
    let known = task.attempts.iter().find(|attempt| attempt.number == decided_on.number);
    if task.state.is_final() {
        Err(Verdict::TaskEnded)
    } else if task.attempts.iter().any(|attempt| attempt.state == AttemptState::CommitPending) {
        Err(Verdict::Committing)
    } else if known.is_some_and(|attempt| attempt.state.is_final()) {
        Err(Verdict::AttemptEnded)
    } else if action == Action::Duplicate && task.unended().count() > live as usize {
        Err(Verdict::AlreadyCopied)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::govern::flight::tests::{attempt, cluster, decision, job, map, succeed};
    use crate::model::{
        Capabilities, ClonePlan, ClusterFact, JobId, JobSettings, Millis, TaskFact, TaskKind, TaskState,
    };
    use crate::policy::Budget;

    /// The decision's deadline is at eighteen seconds.
    const NOW: Time = Time(12_000);

    fn able() -> Job {
        let mut job = job();
        attempt(&mut job, map(0).attempt(0), AttemptState::Running, 1_000, 0);
        (job.settings, job.totals, job.heard) = (Some(JobSettings::default()), Some([1, 0]), NOW);
        job.can = Capabilities { duplicate: true, ..Capabilities::default() };
        job
    }

    fn seen(job: Job) -> ClusterState {
        let mut cluster = cluster([job]);
        (cluster.totals, cluster.totals_told) = (Some(ClusterFact::default()), NOW);
        cluster
    }

    fn said(decision: &Decision, cluster: &ClusterState, mode: Mode, now: Time) -> Result<(), Verdict> {
        let said = GovernParams::default().revalidate(decision, cluster, mode, now);
        assert!(said.err().is_none_or(|why| REASONS.contains(&why)), "{said:?}");
        said
    }

    /// What is said of the copy of a job's task that was decided on, in a job that has changed so since.
    fn after(change: impl FnOnce(&mut Job)) -> Result<(), Verdict> {
        let mut job = able();
        change(&mut job);
        said(&decision(1, map(0), Mode::Act), &seen(job), Mode::Act, NOW)
    }

    #[test]
    fn a_job_that_rests_gets_no_copy_that_was_decided_on_before_and_clones_that_gave_way_are_not_given() {
        use crate::model::CloneScheme;
        let order = decision(1, map(0), Mode::Act);
        let mut clones = ClonePlans::default();
        let plan = ClonePlan::given(CloneScheme::Task, 2, 1);
        let mut said = |budget, plan, lost: bool, action| {
            let mut flights = Flights::default();
            let decision = Decision { action, ..order.clone() };
            flights.add(&decision, budget, &able(), 0);
            clones.settle(order.job, TaskKind::Map, 1_024, plan);
            if lost {
                let params = GovernParams { futile_copies: 1, ..GovernParams::default() };
                let other = crate::model::Decision { id: 2, task: map(1), attempt: map(1).attempt(0), ..order.clone() };
                flights.add(&other, Budget::Copies, &able(), 0);
                flights.sent(order.job, other.id);
                let mut job = able();
                job.totals = Some([2, 0]);
                attempt(&mut job, map(1).attempt(0), AttemptState::Succeeded, 1_000, 11_000);
                attempt(&mut job, map(1).attempt(1), AttemptState::Killed, 10_500, 11_000);
                succeed(&mut job, map(1), Some(0), 11_000);
                flights.follow(&job, &params, NOW);
            }
            let mut job = able();
            attempt(&mut job, map(0).attempt(1), AttemptState::Running, 11_000, 0);
            let why = by_past(&decision, &job, &flights, &clones, NOW);
            assert!(why.is_none_or(|why| REASONS.contains(&why)), "{why:?}");
            why
        };
        let gone = ClonePlan { gives_way: true, ..plan };
        let refused = ClonePlan::refused(CloneScheme::Task, Verdict::PhaseUnderWay);
        assert_eq!(said(Budget::Clones, plan, false, Action::Duplicate), None);
        assert_eq!(said(Budget::Clones, gone, false, Action::Duplicate), Some(Verdict::GaveWay));
        assert_eq!(said(Budget::Clones, refused, false, Action::Duplicate), Some(Verdict::PhaseUnderWay));
        assert_eq!(said(Budget::Copies, gone, false, Action::Duplicate), None, "it is no clone");
        assert_eq!(said(Budget::Copies, plan, true, Action::Duplicate), Some(Verdict::CoolDown));
        assert_eq!(said(Budget::Copies, plan, true, Action::Withdraw), None);
    }

    #[test]
    fn a_copy_that_was_decided_on_before_the_ams_clock_was_told_to_be_set_forward_is_taken_back_and_clones_are_not() {
        let order = decision(1, map(0), Mode::Act);
        let said = |budget, action, set| {
            let (mut flights, mut job) = (Flights::default(), able());
            let decision = Decision { action, ..order.clone() };
            flights.add(&decision, budget, &job, 0);
            job.clock_set.latest(Some(Time(set)));
            by_past(&decision, &job, &flights, &ClonePlans::default(), NOW)
        };
        assert!(REASONS.contains(&Verdict::ClockSet));
        for action in [Action::Duplicate, Action::Restart] {
            assert_eq!(said(Budget::Copies, action, 11_000), Some(Verdict::ClockSet), "{action:?}");
            assert_eq!(said(Budget::Copies, action, 1_000), None, "no attempt is older");
        }
        assert_eq!(said(Budget::Clones, Action::Duplicate, 11_000), None);
    }

    #[test]
    fn the_only_attempt_that_is_left_of_a_task_is_not_withdrawn() {
        let order = Decision { action: Action::Withdraw, ..decision(1, map(0), Mode::Act) };
        let said = |job: &Job| by_past(&order, job, &Flights::default(), &ClonePlans::default(), NOW);
        let mut job = able();
        attempt(&mut job, map(0).attempt(1), AttemptState::Running, 11_000, 0);
        assert_eq!(said(&job), None);
        attempt(&mut job, map(0).attempt(1), AttemptState::Failed, 11_000, 11_500);
        assert_eq!(said(&job), Some(Verdict::LastAttempt));
        assert!(REASONS.contains(&Verdict::LastAttempt));
    }

    #[test]
    fn where_nothing_has_changed_it_stands() {
        assert_eq!(after(|_| ()), Ok(()));
    }

    #[test]
    fn a_job_that_is_gone_or_has_ended_gets_no_copy() {
        for state in [JobPhase::Succeeded, JobPhase::Failed, JobPhase::Killed] {
            assert_eq!(after(|job| job.state = Some(state)), Err(Verdict::JobEnded));
        }
        assert_eq!(after(|job| job.state = Some(JobPhase::Running)), Ok(()));
        let mut other = able();
        other.id = JobId(crate::model::AppId { cluster: 1, seq: 2 });
        let decision = decision(1, map(0), Mode::Act);
        assert_eq!(said(&decision, &seen(other), Mode::Act, NOW), Err(Verdict::JobEnded));
    }

    #[test]
    fn it_is_too_late_from_the_deadline_on_and_in_advice_nothing_is_done() {
        let decision = decision(1, map(0), Mode::Act);
        let at = |now| said(&decision, &seen(able()), Mode::Act, now);
        assert_eq!((at(Time(17_999)), at(Time(18_000))), (Ok(()), Err(Verdict::TooLate)));
        assert_eq!(said(&decision, &seen(able()), Mode::Advise, NOW), Err(Verdict::NotActing));
    }

    #[test]
    fn what_bars_a_job_bars_what_was_decided_before() {
        let old = NOW - GovernParams::default().stale_after - Millis(1);
        assert_eq!(after(|job| job.held_out = Some(true)), Err(Verdict::HeldOut));
        assert_eq!(after(|job| job.totals = Some([2, 0])), Err(Verdict::IncompleteData));
        let late = Decision { deadline: Time(90_000), ..decision(1, map(0), Mode::Act) };
        let at = Time(60_000);
        let of = |heard, told| {
            let mut job = able();
            job.heard = heard;
            let mut cluster = seen(job);
            cluster.totals_told = told;
            said(&late, &cluster, Mode::Act, at)
        };
        assert_eq!((of(at, at), of(old, at), of(at, old)), (Ok(()), Err(Verdict::StaleData), Err(Verdict::StaleData)));
        let restart = Decision { action: Action::Restart, ..decision(1, map(0), Mode::Act) };
        assert_eq!(said(&restart, &seen(able()), Mode::Act, NOW), Err(Verdict::CannotRestart));
    }

    #[test]
    fn a_map_is_not_restarted_any_more_once_a_reduce_of_its_job_runs_where_hadoop_would_kill_that_for_it() {
        let restart = Decision { action: Action::Restart, ..decision(1, map(0), Mode::Act) };
        let beside = |kind: TaskKind, state, can| {
            let mut job = able();
            (job.totals, job.can) = (Some(if kind == TaskKind::Map { [2, 0] } else { [1, 1] }), can);
            let other = job.id.task(kind, u32::from(kind == TaskKind::Map));
            assert!(job.learn_task(&TaskFact { state: Some(state), ..TaskFact::of(other) }, Time(11_000), 9));
            said(&restart, &seen(job), Mode::Act, NOW)
        };
        let hadoops = Capabilities { duplicate: true, restart: true, ..Capabilities::NONE };
        assert_eq!(beside(TaskKind::Reduce, TaskState::Running, hadoops), Err(Verdict::CannotRestart));
        assert_eq!(beside(TaskKind::Reduce, TaskState::Scheduled, hadoops), Ok(()));
        assert_eq!(beside(TaskKind::Map, TaskState::Running, hadoops), Ok(()));
        let ideal = Capabilities { withdraw: true, ..hadoops };
        assert_eq!(beside(TaskKind::Reduce, TaskState::Running, ideal), Ok(()));
    }

    #[test]
    fn a_task_that_has_ended_or_commits_and_an_attempt_that_has_ended_get_none() {
        use AttemptState::{CommitPending, Failed, Running};
        assert_eq!(after(|job| succeed(job, map(0), Some(0), 11_000)), Err(Verdict::TaskEnded));
        assert_eq!(after(|job| attempt(job, map(0).attempt(0), CommitPending, 1_000, 0)), Err(Verdict::Committing));
        let failed = |job: &mut Job| {
            attempt(job, map(0).attempt(0), Failed, 1_000, 11_000);
            attempt(job, map(0).attempt(1), Running, 11_500, 0);
        };
        assert_eq!(after(failed), Err(Verdict::AttemptEnded));
    }

    #[test]
    fn beside_more_attempts_than_were_decided_for_it_is_not_what_was_decided() {
        let copied = |job: &mut Job| attempt(job, map(0).attempt(1), AttemptState::Starting, 0, 0);
        assert_eq!(after(copied), Err(Verdict::AlreadyCopied));
        let mut job = able();
        copied(&mut job);
        let of_two = Decision { live: 2, ..decision(1, map(0), Mode::Act) };
        assert_eq!(said(&of_two, &seen(job), Mode::Act, NOW), Ok(()));
    }
}
