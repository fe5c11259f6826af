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
//! attempt too: "the different clones are indistinguishable". Lines 2 and 3 are [`admit`], whenever the first task of a phase is to be executed; line 4 is [`judge`],
//! for as long as the phase runs.

mod admission;
mod machines;
mod outputs;
mod params;

use super::{Budget, Judged, View};
use crate::model::{Action, ClonePlan, Verdict};
pub use admission::{Grant, Phase, Supply, admit};
pub use machines::{by_odds, job_level_clones, machines_for_a_task};
pub use outputs::{Assignment, Output, Reading, read_from};
pub use params::{Admission, DollyParams};

/// The rule by which it proposes.
pub const RULE: &str = "Dolly, NSDI'13 §3.2, Pseudocode 1 line 4: c clones for each task";
const GIVES_WAY: &str = "Dolly, HotCloud'12 §3.2: clones give way first";

/// Line 4: every running task is given its clones.
pub fn judge(view: &View<'_>) -> Vec<Judged> {
    view.contenders
        .iter()
        .map(|contender| {
            let live = contender.task.unended().count().max(1) as u32;
            let verdict = match view.plan {
                _ if contender.is_committing() => Verdict::Committing,
                None => Verdict::PlanPending,
                Some(ClonePlan { refused: Some(verdict), .. }) => verdict,
                Some(plan) if contender.id.index >= plan.tasks => Verdict::CloneBudget,
                Some(plan) if plan.gives_way && live == 1 => Verdict::GaveWay,
                Some(plan) if !plan.gives_way && live >= plan.clones => Verdict::AlreadyCopied,
                Some(_) => Verdict::Decided,
            };
            let mut judged = contender.judged(view, verdict);
            if let (Verdict::Decided, Some(plan)) = (verdict, view.plan) {
                (judged.budget, judged.early) = (Budget::Clones, true);
                // The smallest jobs first: they are whom clones help most (§3.3).
                judged.rank = 1.0 / f64::from(view.total.max(1));
                judged.rule = Some(RULE.to_owned());
                judged.copies = plan.clones.saturating_sub(live).max(1);
                if plan.gives_way {
                    judged.action = Action::Withdraw;
                    let newest = contender.task.unended().map(|attempt| attempt.number).max();
                    judged.attempt = contender.id.attempt(newest.unwrap_or(judged.attempt.number));
                    judged.rule = Some(GIVES_WAY.to_owned());
                }
            }
            judged
        })
        .collect()
}
