//! Hadoop's own scheduler of 2008, as LATE §2.1 describes it.

use super::{Contender, Judged, View};
use crate::model::{Millis, Verdict};

/// How far below its category's average score a task must be.
const BEHIND: f64 = 0.2;
/// How long a task must have run.
const MIN_AGE: Millis = Millis(60_000);

/// Judges every running task. All that qualify are equally slow; data locality, which broke ties, is not known here, so the lower index comes first.
pub fn judge(view: &View<'_>) -> Vec<Judged> {
    view.contenders.iter().map(|contender| judge_one(view, contender)).collect()
}

fn judge_one(view: &View<'_>, contender: &Contender<'_>) -> Judged {
    let verdict = if let Some(barred) = contender.barred(view) {
        barred
    } else if contender.elapsed < MIN_AGE {
        Verdict::TooYoung
    } else if contender.sample.track.score() < view.mean_score - BEHIND {
        Verdict::Decided
    } else {
        Verdict::NotBehind
    };
    let mut judged = contender.judged(view, verdict);
    judged.rank = -f64::from(contender.id.index);
    judged.recheck = (verdict == Verdict::TooYoung).then(|| contender.sample.started + MIN_AGE);
    judged
}
