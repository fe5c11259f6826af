use super::*;

/// A job of that name, drawn to that side, that took so many seconds; `None`: it still runs.
fn enrolled(name: u64, held_out: bool, seconds: Option<u64>) -> Enrolled {
    Enrolled {
        policy: "late".into(),
        stratum: name.to_string(),
        draw: Some(Draw { share: 0.5, salt: 1 }),
        drawn: String::new(),
        tasks: 1,
        held_out,
        state: seconds.map(|_| "succeeded".to_owned()),
        took: seconds.map(|seconds| Millis(1_000 * seconds)),
        decided: 0,
    }
}

fn shown(jobs: impl IntoIterator<Item = Enrolled>) -> HoldOutView {
    let mut sides = Sides::default();
    jobs.into_iter().for_each(|job| sides.add(&job));
    sides.view()
}

#[test]
fn a_report_while_more_than_a_twentieth_of_either_side_still_runs_says_that_the_long_ones_are_missing() {
    let side = |held_out, open| (0..40).map(move |nth| enrolled(1, held_out, (nth >= open).then_some(60)));
    for (open, missing) in [([0, 0], false), ([2, 2], false), ([3, 0], true), ([0, 3], true)] {
        let shown = shown(side(false, open[0]).chain(side(true, open[1])));
        assert_eq!((shown.long_ones_missing, shown.acted.open), (missing, open[0]), "{open:?} of 40 open");
    }
    assert!(!shown([]).long_ones_missing);
}

#[test]
fn a_report_of_which_one_side_fails_more_than_chance_explains_says_so() {
    let side = |held_out, failed| {
        let failing = move |nth| if nth < failed { "failed" } else { "succeeded" }.to_owned();
        (0..100).map(move |nth| Enrolled { state: Some(failing(nth)), ..enrolled(1, held_out, Some(60)) })
    };
    let differ = |acted, held| shown(side(false, acted).chain(side(true, held))).failures_differ;
    // Of 100 a side 3 and 11 are 1.94 standard errors apart beyond half a job a side, 3 and 12 are 2.15.
    assert_eq!(
        [(3, 11), (3, 12), (12, 3), (4, 0), (6, 0)].map(|(a, h)| differ(a, h)),
        [false, true, true, false, true]
    );
    let open = (0..90).map(|_| enrolled(1, true, None));
    let few = shown(side(false, 3).chain(side(true, 10).take(10)).chain(open));
    assert!(few.failures_differ, "ten of ten that ended: {few:?}");
    assert!(!shown(side(false, 100)).failures_differ, "one side alone");
}

#[test]
fn jobs_that_succeeded_in_nobody_knows_what_time_count_among_those_that_may_be_the_long_ones() {
    let side = |held_out| (0..40).map(move |_| enrolled(1, held_out, Some(60)));
    let unseen = (0..3).map(|_| Enrolled { took: None, ..enrolled(1, false, Some(60)) });
    let shown = shown(side(false).chain(side(true)).chain(unseen));
    assert_eq!((shown.acted.jobs, shown.acted.open, shown.acted.compared, shown.acted.failed), (43, 3, 40, 0));
    assert!(shown.long_ones_missing);
}

#[test]
fn enough_jobs_without_two_of_one_name_on_both_sides_are_counted_and_nothing_is_told() {
    let of = |name| [(false, 60), (false, 61), (true, 90)].map(|(left, took)| enrolled(name, left, Some(took)));
    let shown = shown((0..20).flat_map(of));
    assert_eq!((shown.verdict.as_str(), shown.change), ("not_enough_data", None));
    assert_eq!((shown.acted.compared, shown.held_out.compared, shown.strata), (40, 20, 20));
}

#[test]
fn a_service_that_tells_nothing_of_long_jobs_that_are_missing_is_read_all_the_same() {
    let mut told = serde_json::to_value(HoldOutView { needed: 10, ..HoldOutView::default() }).unwrap();
    told.as_object_mut().unwrap().remove("long_ones_missing").unwrap();
    let read: HoldOutView = serde_json::from_value(told).unwrap();
    assert_eq!((read.needed, read.long_ones_missing), (10, false));
}
