//! Drover's own: small jobs as Dolly, where their clones were admitted; the rest as Mantri, with LATE's guards.

use super::{Judged, LateParams, MantriParams, View, dolly, late, mantri};
use crate::model::{Action, Capabilities, Verdict};

/// Judges every running task.
pub fn judge(view: &View<'_>, late: &LateParams, mantri: &MantriParams) -> Vec<Judged> {
    if view.plan.is_some_and(|plan| plan.refused.is_none()) {
        return dolly::judge(view);
    }
    let guards = late::judge(view, late);
    mantri::judge(view, mantri)
        .into_iter()
        .zip(guards)
        .map(|(judged, guard)| guarded(judged, guard, view.job.can))
        .collect()
}

/// What Mantri proposes and LATE does not advise against. What cannot be done to the job is left to LATE, which only ever copies.
fn guarded(judged: Judged, guard: Judged, can: Capabilities) -> Judged {
    let possible = match judged.action {
        Action::Duplicate => true,
        Action::Restart => can.restart,
        Action::Withdraw => can.withdraw,
    };
    if !possible {
        return guard;
    }
    if judged.verdict == Verdict::Decided && judged.action != Action::Withdraw && holds_back(guard.verdict) {
        return guard;
    }
    judged
}

/// LATE's guards are what it says of the task and its peers. What a copy gains is Mantri's to say.
fn holds_back(verdict: Verdict) -> bool {
    use Verdict::{AlreadyCopied, Decided, GainTooSmall, NoGain};
    !matches!(verdict, Decided | NoGain | GainTooSmall | AlreadyCopied)
}
