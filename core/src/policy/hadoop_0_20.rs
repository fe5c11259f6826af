//! Hadoop's own scheduler of 2008, as LATE §2.1 describes it. The section's sentences, in our words, with where each stands:
//!
//! ```text
//! 1: a node's empty slot goes to failed tasks, then to waiting ones, then to a copy    govern::budget, waiting
//! 2: of a category, maps or reduces, average the progress scores                       View::mean_score
//! 3: a task is a straggler whose score is below that average less 0.2                  judge_one; Hadoop020Params::behind
//! 4:   and that has run for a minute                                                   judge_one; Hadoop020Params::min_age
//! 5: all stragglers are equally slow; locality breaks ties                             rank: by index, for locality is not known here
//! 6: one copy of a task at a time                                                      Contender::barred
//! ```
//!
//! The minute of a reduce is counted from the end of the maps once these have ended, where there all of its run counted.
//!
//! Mantri (§7) sums up the same scheduler without sentence 4 and the 0.2: it "uses slots that free up to duplicate any task that has read less data than the others".

use super::{Contender, Judged, View};
use crate::model::{Millis, Verdict};

/// When a task is a straggler.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hadoop020Params {
    /// How far below its category's average score (0–1) a task must be.
    pub behind: f64,
    /// How long a task must have run.
    pub min_age: Millis,
}

impl Hadoop020Params {
    /// As LATE describes it (§2.1).
    pub const LATE: Hadoop020Params = Hadoop020Params { behind: 0.2, min_age: Millis(60_000) };
    /// As Mantri describes what it is compared with (§7).
    pub const MANTRI: Hadoop020Params = Hadoop020Params { behind: 0.0, min_age: Millis(0) };
}

impl Default for Hadoop020Params {
    fn default() -> Self {
        Hadoop020Params::LATE
    }
}

/// Judges every running task. All that qualify are equally slow: the lower index comes first.
pub fn judge(view: &View<'_>, params: &Hadoop020Params) -> Vec<Judged> {
    view.contenders.iter().map(|contender| judge_one(view, contender, params)).collect()
}

fn judge_one(view: &View<'_>, contender: &Contender<'_>, params: &Hadoop020Params) -> Judged {
    let verdict = if let Some(barred) = contender.barred(view) {
        barred
    } else if contender.elapsed < params.min_age {
        Verdict::TooYoung
    } else if contender.sample.track.score() < view.mean_score - params.behind {
        Verdict::Decided
    } else {
        Verdict::NotBehind
    };
    let mut judged = contender.judged(view, verdict);
    judged.rank = -f64::from(contender.id.index);
    judged.recheck = (verdict == Verdict::TooYoung).then(|| contender.sample.started + params.min_age);
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
        judge(&view, &Hadoop020Params::LATE).remove(0)
    }

    #[test]
    fn a_task_of_a_minute_is_copied_whose_score_is_less_than_the_average_minus_a_fifth() {
        let verdict = |score| judged(60.0, score).verdict;
        assert_eq!((verdict(0.549), verdict(0.551)), (Verdict::Decided, Verdict::NotBehind));
        let mut phase = Phase::maps(2).runs((1, 0), 0, 0.0, &[(60.0, 0.25)]);
        let mut view = phase.view(60.0);
        view.mean_score = 0.45;
        assert_eq!(
            judge(&view, &Hadoop020Params::LATE)[0].verdict,
            Verdict::NotBehind,
            "{} is just a fifth less",
            view.mean_score - Hadoop020Params::LATE.behind
        );
    }

    #[test]
    fn a_younger_one_is_looked_at_again_when_it_is_a_minute_old() {
        let young = judged(59.999, 0.1);
        assert_eq!((young.verdict, young.recheck), (Verdict::TooYoung, Some(at(60.0))));
        assert_eq!(judged(60.0, 0.1).recheck, None);
    }

    #[test]
    fn as_mantri_describes_it_whatever_is_behind_the_average_is_copied_however_young() {
        let mut phase = Phase::maps(2).runs((1, 0), 0, 0.0, &[(1.0, 0.5)]);
        let mut verdict = |mean| {
            let mut view = phase.view(1.0);
            view.mean_score = mean;
            judge(&view, &Hadoop020Params::MANTRI).remove(0).verdict
        };
        assert_eq!((verdict(0.501), verdict(0.5)), (Verdict::Decided, Verdict::NotBehind));
    }

    #[test]
    fn of_all_that_qualify_the_first_by_index_comes_first() {
        let mut phase = Phase::maps(9).runs((3, 0), 0, 0.0, &[(60.0, 0.1)]).runs((7, 0), 0, 0.0, &[(60.0, 0.0)]);
        let ranks: Vec<f64> =
            judge(&phase.view(60.0), &Hadoop020Params::LATE).iter().map(|judged| judged.rank).collect();
        assert!(ranks[0] > ranks[1], "{ranks:?}");
    }
}
