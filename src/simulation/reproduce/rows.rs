//! Rows of an experiment: the same numbers of the main set of assumptions and of the others.

use super::{Choice, Finding, Varied, Verdict, judge};
use crate::stats::Interval;

/// One number of a paper's, and how it is taken from runs.
pub struct Row<R> {
    /// Which experiment it belongs to.
    pub experiment: &'static str,
    /// What it is.
    pub quantity: &'static str,
    /// The paper's; absent where it says no number, only what holds.
    pub published: Option<f64>,
    /// Unit.
    pub unit: &'static str,
    /// Ours.
    pub measure: fn(&R) -> Option<Interval>,
    /// Does what the paper says of it hold?
    pub holds: fn(f64) -> bool,
}

/// One row; what the paper prints of it may be no number.
pub fn row<R>(
    experiment: &'static str,
    quantity: &'static str,
    published: impl Into<Option<f64>>,
    unit: &'static str,
    measure: fn(&R) -> Option<Interval>,
    holds: fn(f64) -> bool,
) -> Row<R> {
    Row { experiment, quantity, published: published.into(), unit, measure, holds }
}

/// Each seed beside the next one, for what is no difference at all: a policy against itself with other luck. No seed is in two pairs: went they round in a ring, what one gains the next would lose,
/// and the mean be next to none whatever luck did. A last seed without a fellow is left out, so that of one alone nothing is said.
pub fn with_other_draws<T>(seeds: &[T]) -> impl Iterator<Item = (&T, &T)> {
    seeds.chunks_exact(2).map(|pair| (&pair[0], &pair[1]))
}

/// Ours beside the published, with what comes of the other sets of assumptions, and the share of them that reproduce it; of none there is no share, nor where all of them say nothing of it. Of the
/// others, which have a few of the seeds, the mean decides whether what the paper says holds: an interval of two seeds is six times as wide as one of ten, and tells nothing of them.
pub fn compare<R>(rows: &[Row<R>], played: &Varied<R>) -> Vec<Finding> {
    compare_in_order(rows, played, &[])
}

/// The same where rows, by their quantities, stand in an order in print, each beside each other of the same order: then a size's sign alone is not what the paper says.
pub fn compare_in_order<R>(rows: &[Row<R>], played: &Varied<R>, orders: &[Vec<&str>]) -> Vec<Finding> {
    let main = judged(rows, &played.main, orders, surely);
    let by_mean = |claim: Claim<'_>, ours: Interval| claim(ours.mean);
    let others: Vec<_> =
        played.others.iter().map(|(assumed, ran)| (assumed, judged(rows, ran, orders, by_mean))).collect();
    let found = rows.iter().enumerate().filter_map(|(nth, row)| {
        let (ours, verdict) = main[nth]?;
        let choices = others.iter().filter_map(|(assumed, judged)| {
            let (ours, verdict) = judged[nth]?;
            Some(Choice { assumed: (*assumed).clone(), measured: ours.mean, verdict })
        });
        let choices: Vec<Choice> = choices.collect();
        let share_of_assumptions = share(&choices, others.len());
        let found = Finding::new(row.experiment, row.quantity, row.published, ours, row.unit, verdict);
        Some(Finding { share_of_assumptions, choices, ..found })
    });
    found.collect()
}

/// What a paper says of a number.
type Claim<'a> = &'a dyn Fn(f64) -> bool;

/// Each row's number under one set of assumptions, and the verdict on it, by how it is seen whether a claim holds. An order is a claim as a sign is one, on what
/// lies between two rows, and rows that break it are not reproduced, whatever their sizes. What is equal in print has no order.
fn judged<R>(
    rows: &[Row<R>],
    ran: &R,
    orders: &[Vec<&str>],
    holds: impl Fn(Claim<'_>, Interval) -> bool,
) -> Vec<Option<(Interval, Verdict)>> {
    let ours: Vec<Option<Interval>> = rows.iter().map(|row| (row.measure)(ran)).collect();
    let in_order = |row: &Row<R>, own: Interval| {
        let beside = |other: &Row<R>| orders.iter().any(|of| [row, other].iter().all(|one| of.contains(&one.quantity)));
        let mut others = rows.iter().zip(&ours).filter(|(other, _)| beside(other));
        others.all(|(other, theirs)| {
            let gap = row.published.zip(other.published).map_or(0.0, |(own, other)| own - other);
            gap == 0.0 || theirs.is_none_or(|theirs| holds(&|ours| gap * ours > 0.0, own.less(theirs)))
        })
    };
    let one = |(row, ours): (&Row<R>, &Option<Interval>)| {
        let ours = (*ours)?;
        Some((ours, judge(row.published, ours, holds(&row.holds, ours) && in_order(row, ours))))
    };
    rows.iter().zip(&ours).map(one).collect()
}

/// The share of the sets of assumptions, of so many, that reproduce a row.
fn share(choices: &[Choice], of: usize) -> Option<f64> {
    let reproduced = choices.iter().filter(|choice| choice.verdict != Verdict::NotReproduced).count();
    (!choices.is_empty()).then(|| reproduced as f64 / of as f64)
}

/// Does what the paper says hold, and can it be told from chance? Where zero would not bear it out, as of a gain, our interval must not hold zero, either.
fn surely(holds: Claim<'_>, ours: Interval) -> bool {
    let may_be_none = ours.low <= 0.0 && ours.high >= 0.0;
    holds(ours.mean) && (holds(0.0) || !may_be_none)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(main: [f64; 2], other: [f64; 2]) -> Varied<[f64; 2]> {
        Varied { main, others: vec![("load 0.4".to_owned(), other)] }
    }

    #[test]
    fn a_gain_that_may_be_none_is_not_reproduced_and_what_none_would_bear_out_is() {
        let at = |low, high| Interval { mean: f64::midpoint(low, high), low, high };
        assert!(surely(&|gain| gain > 0.0, at(0.1, 2.0)) && !surely(&|gain| gain > 0.0, at(-0.1, 2.0)));
        assert!(!surely(&|gain| gain < 0.0, at(-2.0, 0.0)) && !surely(&|gain| gain > 5.0, at(-1.0, 13.0)));
        assert!(surely(&|gain| gain.abs() < 5.0, at(-2.0, 1.0)) && !surely(&|gain| gain > 0.0, at(-2.0, -1.0)));
    }

    #[test]
    fn of_rows_in_an_order_those_that_break_it_are_not_reproduced_and_each_set_of_assumptions_by_itself() {
        let rows: [Row<[f64; 2]>; 2] = [
            row("late.s52", "first", 3.0, "s", |run| Some(Interval::sure(run[0])), |s| s > 0.0),
            row("late.s52", "second", 2.0, "s", |run| Some(Interval::sure(run[1])), |s| s > 0.0),
        ];
        let of = |main, other| {
            compare_in_order(&rows, &runs(main, other), &[vec!["first", "second"]])
                .into_iter()
                .map(|one| (one.verdict, one.choices[0].verdict, one.share_of_assumptions))
                .collect::<Vec<_>>()
        };
        use Verdict::{Direction, NotReproduced};
        assert_eq!(of([9.0, 8.0], [8.0, 9.0]), vec![(Direction, NotReproduced, Some(0.0)); 2]);
        assert_eq!(of([8.0, 9.0], [9.0, 8.0]), vec![(NotReproduced, Direction, Some(1.0)); 2]);
        let near = of([3.0, 9.0], [9.0, 8.0]);
        assert_eq!([near[0].0, near[1].0], [NotReproduced; 2], "whatever its size, as where a sign does not hold");
    }

    #[test]
    fn an_order_that_chance_may_have_made_is_not_reproduced_as_a_sign_is_not_and_of_other_sets_the_means_decide() {
        fn seeds(first: [f64; 2]) -> Option<Interval> {
            Interval::of_seeds(&first)
        }
        let rows: [Row<[f64; 2]>; 2] = [
            row("late.s52", "first", 3.0, "s", |run| seeds([run[0] - 0.1, run[0] + 0.1]), |s| s > 0.0),
            row("late.s52", "second", 2.0, "s", |run| seeds([run[1] - 0.1, run[1] + 0.1]), |s| s > 0.0),
        ];
        let of = |main, other| {
            let found = compare_in_order(&rows, &runs(main, other), &[vec!["first", "second"]]);
            found.into_iter().map(|one| (one.verdict, one.choices[0].verdict)).collect::<Vec<_>>()
        };
        use Verdict::{Direction, NotReproduced};
        assert_eq!(of([20.0, 10.0], [10.1, 10.0]), vec![(Direction, Direction); 2]);
        assert_eq!(of([10.1, 10.0], [10.0, 10.1]), vec![(NotReproduced, NotReproduced); 2]);
    }

    #[test]
    fn of_one_seed_no_size_is_within_and_of_several_that_are_near_one_another_it_is() {
        let rows: [Row<Vec<f64>>; 1] =
            [row("late.s52", "a", 100.0, "s", |run: &Vec<f64>| Interval::of_seeds(run), |s| s.abs() < 200.0)];
        let of = |main: &[f64], other: &[f64]| {
            let played = Varied { main: main.to_vec(), others: vec![("load 0.4".to_owned(), other.to_vec())] };
            let found = compare(&rows, &played);
            (found[0].verdict, found[0].choices[0].verdict, [found[0].low, found[0].high])
        };
        use Verdict::{Direction, Within};
        assert_eq!(of(&[100.0, 100.0], &[100.0]), (Within, Direction, [100.0; 2]));
        assert_eq!(
            of(&[101.0], &[100.0, 100.0]),
            (Direction, Within, [101.0; 2]),
            "told as a number, and as no interval"
        );
    }

    #[test]
    fn pairs_of_a_null_have_no_seed_in_common_so_that_their_gains_do_not_cancel() {
        let gains = |seeds: &[f64]| with_other_draws(seeds).map(|(own, other)| own - other).collect::<Vec<_>>();
        assert_eq!(gains(&[9.0, 1.0, 8.0, 2.0]), [8.0, 6.0], "in a ring they would come to nothing");
        assert_eq!((gains(&[9.0, 1.0, 8.0]), gains(&[9.0, 1.0])), (vec![8.0], vec![8.0]));
        assert_eq!((gains(&[9.0]), gains(&[])), (vec![], vec![]));
    }

    #[test]
    fn where_other_sets_have_too_few_seeds_for_a_null_no_share_of_them_is_told() {
        let null = |run: &Vec<f64>| Interval::of_seeds(&with_other_draws(run).map(|(a, b)| a - b).collect::<Vec<_>>());
        let rows: [Row<Vec<f64>>; 1] = [row("late.s52", "null", None, "s", null, |s| s.abs() < 5.0)];
        let of = |main: &[f64], other: &[f64]| {
            let played = Varied { main: main.to_vec(), others: vec![("load 0.4".to_owned(), other.to_vec())] };
            compare(&rows, &played).iter().map(|one| (one.verdict, one.share_of_assumptions)).collect::<Vec<_>>()
        };
        use Verdict::{Direction, NotReproduced};
        assert_eq!(of(&[1.0, 2.0, 9.0], &[3.0]), [(Direction, None)]);
        assert_eq!(of(&[9.0, 2.0, 9.0, 2.0], &[3.0, 3.0]), [(NotReproduced, Some(1.0))]);
        assert_eq!(of(&[1.0], &[3.0]), [], "of one seed there is no row");
    }
}
