//! What came of a run.

use super::job::{Job, Tally};
use super::kept::KeptRow;
use crate::estimate::calibration::Record;
use crate::estimate::stats::median_of_sorted;
use crate::model::{Action, Decision, Millis, TaskKind, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// Jobs, as they ended.
    pub jobs: Vec<JobRow>,
    /// Workflows, as they ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workflows: Vec<WorkflowRow>,
    /// From the first arrival to the last end.
    pub lasted: Millis,
    /// Attempts launched.
    pub attempts: u64,
    /// Decisions that the policy took, by what they said to do.
    pub decided: Decided,
    /// What these found taken of budgets.
    pub budget: BudgetUse,
    /// How good predictions of sampled tasks' time left were.
    pub estimates: Record,
    /// When maps ran again because a node that stayed had lost their outputs, from the start of the run, in order, by the node.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub recomputed_on: BTreeMap<u32, Vec<Millis>>,
    /// Attempts whose queues gave their containers back.
    pub preempted: u64,
    /// What failed, where anything can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<Failures>,
    /// Containers times milliseconds, as the nodes count them.
    pub held_ms: u64,
    /// Of these those before launches.
    pub waiting_ms: u64,
}

/// How much failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Failures {
    /// Attempts, by themselves.
    pub attempts: u64,
    /// Jobs, each of which had a task with as many failed attempts as may be.
    pub jobs: u64,
    /// Jobs that never came, as one before them failed (`after`).
    pub never_came: u64,
}

/// How many decisions of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Decided {
    /// To run another attempt beside a task's own.
    pub copies: u64,
    /// To kill an attempt for another in its place.
    pub restarts: u64,
    /// To end a copy.
    pub withdrawals: u64,
    /// Those that came too late, or could not be done.
    pub in_vain: u64,
}

/// How much of the budget that was nearest its end was taken when decisions drew on one: copies in flight, or of the last minute, over the cap
/// (`Numbers::budget`); of clones, containers over Dolly's β (NSDI'13, §4). The decision itself is not counted. Shares, 0–1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct BudgetUse {
    /// How many decisions drew on one.
    pub decisions: u64,
    /// Sum of the shares.
    pub sum: f64,
    /// The largest.
    pub peak: f64,
}

impl BudgetUse {
    /// Takes note of a decision. What gives its container back draws on none.
    pub fn count(&mut self, decision: &Decision) {
        let Some((used, cap)) = decision.numbers.budget.filter(|_| decision.action != Action::Withdraw) else { return };
        let share = f64::from(used) / f64::from(cap.max(1));
        self.decisions += 1;
        self.sum += share;
        self.peak = self.peak.max(share);
    }
}

/// One job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobRow {
    /// Name of its group.
    pub name: String,
    /// Which of the group.
    pub nth: u32,
    /// The policy leaves it alone, to compare with (`govern.holdout`).
    pub held_out: bool,
    /// It failed: its times are those until then.
    #[serde(default, skip_serializing_if = "is_not")]
    pub failed: bool,
    /// From the start of the run.
    pub arrived: Millis,
    /// From its arrival to its end.
    pub took: Millis,
    /// Its tasks, whether or not they have ended.
    pub tasks: u32,
    /// Its maps and its reduces, as far as any has ended.
    pub phases: Vec<PhaseRow>,
    /// Container-milliseconds of attempts that succeeded first; none in a job that failed.
    pub useful_ms: u64,
    /// The same of all others.
    pub wasted_ms: u64,
    /// Attempts launched beside another.
    pub copies: u32,
    /// Of these those that succeeded first.
    pub copies_won: u32,
    /// Attempts killed for another in their place.
    pub restarts: u32,
    /// Copies withdrawn.
    pub withdrawn: u32,
    /// Maps that ran again because their output was lost.
    pub recomputed: u32,
    /// Outputs that were kept twice or computed anew in good time.
    #[serde(default, skip_serializing_if = "KeptRow::is_none")]
    pub kept: KeptRow,
    /// How long clones of its reduces waited for outputs of their own, at most; where they were to wait at all (ω; NSDI'13, §4.4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omega: Option<Millis>,
}

/// Jobs that came after one another (`after`), the nth of each of their groups.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowRow {
    /// Name of the last of its groups in the scenario.
    pub name: String,
    /// Which of each group.
    pub nth: u32,
    /// How many jobs.
    pub jobs: u32,
    /// How many phases these have together, at most.
    pub phases: u32,
    /// When its first job came, from the start of the run.
    pub arrived: Millis,
    /// From then to the end of its last job.
    pub took: Millis,
    /// One of its jobs failed, and those after that never came.
    #[serde(default, skip_serializing_if = "is_not")]
    pub failed: bool,
}

fn is_not(is: &bool) -> bool {
    !is
}

/// Tasks of one kind of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseRow {
    /// Maps or reduces.
    pub kind: TaskKind,
    /// How many.
    pub tasks: u32,
    /// From the launch of its first to the success of its last task.
    pub took: Millis,
    /// The median task, from launch to success; of an even number of tasks, halfway between the two in the middle.
    pub median: Millis,
    /// The slowest.
    pub slowest: Millis,
}

impl JobRow {
    /// That of a job which has ended at `now`.
    pub fn of(job: &Job, held_out: bool, start: Time, now: Time) -> JobRow {
        let Tally { useful_ms, wasted_ms, copies, copies_won, restarts, withdrawn, recomputed, kept, failed: _ } =
            job.tally;
        JobRow {
            name: job.name.clone(),
            nth: job.of.nth(),
            held_out,
            failed: false,
            arrived: job.arrived.since(start),
            took: now.since(job.arrived),
            tasks: TaskKind::ALL.into_iter().map(|kind| job.of(kind).all.len() as u32).sum(),
            phases: TaskKind::ALL.into_iter().filter_map(|kind| PhaseRow::of(job, kind)).collect(),
            useful_ms,
            wasted_ms,
            copies,
            copies_won,
            restarts,
            withdrawn,
            recomputed,
            kept,
            omega: None,
        }
    }
}

impl PhaseRow {
    fn of(job: &Job, kind: TaskKind) -> Option<PhaseRow> {
        let all = &job.of(kind).all;
        let spans = all.iter().filter_map(|task| Some((task.started?, task.finished?)));
        let mut took: Vec<f64> = spans.clone().map(|(from, to)| to.since(from).0 as f64).collect();
        took.sort_unstable_by(f64::total_cmp);
        let whole = |millis: f64| Millis(millis.round() as u64);
        let (first, last) = (spans.clone().map(|(from, _)| from).min()?, spans.map(|(_, to)| to).max()?);
        Some(PhaseRow {
            kind,
            tasks: all.len() as u32,
            took: last.since(first),
            median: whole(median_of_sorted(&took)?),
            slowest: whole(*took.last()?),
        })
    }
}
