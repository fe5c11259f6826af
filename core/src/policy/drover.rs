//! Drover's own: small jobs as Dolly, where their clones were admitted; the rest as Mantri, with LATE's guards.

use super::{Judged, LateParams, MantriParams, PolicyName, View, dolly, late, mantri};
use crate::model::{Action, Capabilities, Verdict};

/// Judges every running task.
pub fn judge(view: &View<'_>, late: &LateParams, mantri: &MantriParams) -> Vec<Judged> {
    let Some(plan) = view.plan.filter(|plan| plan.refused.is_none()) else { return reactively(view, late, mantri) };
    if !plan.gives_way && plan.tasks >= view.total {
        return dolly::judge(view);
    }
    // What has no clones, or whose clones gave way, is watched like any other.
    let cloned = |judged: &Judged| match judged.verdict {
        Verdict::Decided => judged.action != Action::Withdraw || view.job.can.withdraw,
        Verdict::AlreadyCopied => true,
        _ => false,
    };
    let pairs = dolly::judge(view).into_iter().zip(reactively(view, late, mantri));
    pairs.map(|(clones, other)| if cloned(&clones) { clones } else { other }).collect()
}

fn reactively(view: &View<'_>, late: &LateParams, mantri: &MantriParams) -> Vec<Judged> {
    // What LATE advises against Mantri need not weigh, but for surplus copies.
    let open =
        |index: usize, guard: &Judged| !holds_back(guard.verdict) || view.contenders[index].task.live().count() > 1;
    let mut phase = None;
    let guards = late::judge(view, late).into_iter().enumerate();
    let judged = guards.map(|(index, guard)| {
        if !open(index, &guard) {
            return guard;
        }
        let phase = phase.get_or_insert_with(|| mantri::Phase::of(view, mantri));
        guarded(phase.judge(index), guard, view.job.can)
    });
    judged.collect()
}

/// What Mantri decides and LATE does not advise against. What cannot be done to the job is left to LATE, which only ever copies. So is what Mantri has seen too few tasks
/// for, as LATE asks for fewer in a small phase; and what it finds copied, as LATE in advice overlooks copies of Hadoop's own.
fn guarded(judged: Judged, guard: Judged, can: Capabilities) -> Judged {
    let possible = match judged.action {
        Action::Duplicate => true,
        Action::Restart => can.restart,
        Action::Withdraw => can.withdraw,
    };
    let held_back = judged.action != Action::Withdraw && holds_back(guard.verdict);
    let left_to_late = matches!(judged.verdict, Verdict::TooFewFinished | Verdict::AlreadyCopied);
    if left_to_late || (judged.verdict == Verdict::Decided && (!possible || held_back)) {
        let rule = (guard.verdict == Verdict::Decided).then(|| PolicyName::Late.rule().to_owned());
        return Judged { rule, ..guard };
    }
    judged
}

/// LATE's guards are what it says of the task and its peers. What a copy gains is Mantri's to say.
fn holds_back(verdict: Verdict) -> bool {
    use Verdict::{AlreadyCopied, Decided, GainTooSmall, NoGain};
    !matches!(verdict, Decided | NoGain | GainTooSmall | AlreadyCopied)
}
