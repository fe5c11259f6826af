//! Hadoop's own scheduler of 2008, as LATE §2.1 describes it. The section's sentences, in our words, with where each stands:
//!
//! ```text
//! 1: a node's empty slot goes to failed tasks, then to waiting ones, then to a copy    govern::budget, waiting
//! 2: of a category, maps or reduces, average the progress scores                       View::mean_score
//! 3: a task is a straggler whose score is below that average less 0.2                  judge_one; BEHIND
//! 4:   and that has run for a minute                                                   judge_one; MIN_AGE
//! 5: all stragglers are equally slow; locality breaks ties                             rank: by index, for locality is not known here
//! 6: one copy of a task at a time                                                      Contender::barred
//! ```

use super::{Contender, Judged, View};
use crate::model::{Millis, Verdict};

/// How far below its category's average score a task must be.
pub const BEHIND: f64 = 0.2;
/// How long a task must have run.
pub const MIN_AGE: Millis = Millis(60_000);

/// Judges every running task. All that qualify are equally slow: the lower index comes first.
pub fn judge(view: &View<'_>, min_age: Millis) -> Vec<Judged> {
    view.contenders.iter().map(|contender| judge_one(view, contender, min_age)).collect()
}

fn judge_one(view: &View<'_>, contender: &Contender<'_>, min_age: Millis) -> Judged {
    let verdict = if let Some(barred) = contender.barred(view) {
        barred
    } else if contender.elapsed < min_age {
        Verdict::TooYoung
    } else if contender.sample.track.score() < view.mean_score - BEHIND {
        Verdict::Decided
    } else {
        Verdict::NotBehind
    };
    let mut judged = contender.judged(view, verdict);
    judged.rank = -f64::from(contender.id.index);
    judged.recheck = (verdict == Verdict::TooYoung).then(|| contender.sample.started + min_age);
    judged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::tests::{Phase, at};

    /// A task of that age with that score, among tasks whose scores average three quarters.
    fn judged(age: f64, score: f32) -> Judged {
        let mut phase = Phase::maps(2).runs((1, 0), 0, 0.0, &[(age, score)]);
        let mut view = phase.view(age);
        view.mean_score = 0.75;
        judge(&view, MIN_AGE).remove(0)
    }

    #[test]
    fn a_task_of_a_minute_is_copied_whose_score_is_less_than_the_average_minus_a_fifth() {
        let verdict = |score| judged(60.0, score).verdict;
        assert_eq!((verdict(0.549), verdict(0.551)), (Verdict::Decided, Verdict::NotBehind));
        let mut phase = Phase::maps(2).runs((1, 0), 0, 0.0, &[(60.0, 0.25)]);
        let mut view = phase.view(60.0);
        view.mean_score = 0.45;
        assert_eq!(
            judge(&view, MIN_AGE)[0].verdict,
            Verdict::NotBehind,
            "{} is just a fifth less",
            view.mean_score - BEHIND
        );
    }

    #[test]
    fn a_younger_one_is_looked_at_again_when_it_is_a_minute_old() {
        let young = judged(59.999, 0.1);
        assert_eq!((young.verdict, young.recheck), (Verdict::TooYoung, Some(at(60.0))));
        assert_eq!(judged(60.0, 0.1).recheck, None);
    }

    #[test]
    fn of_all_that_qualify_the_first_by_index_comes_first() {
        let mut phase = Phase::maps(9).runs((3, 0), 0, 0.0, &[(60.0, 0.1)]).runs((7, 0), 0, 0.0, &[(60.0, 0.0)]);
        let ranks: Vec<f64> = judge(&phase.view(60.0), MIN_AGE).iter().map(|judged| judged.rank).collect();
        assert!(ranks[0] > ranks[1], "{ranks:?}");
    }
}
