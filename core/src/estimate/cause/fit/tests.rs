use super::*;

fn points(all: &[(f64, f64)]) -> Vec<Point> {
    all.iter().map(|(data, seconds)| Point { seconds: *seconds, data: *data, crossed: None }).collect()
}

fn expected(all: &[(f64, f64)], data: f64) -> f64 {
    Fit::new(&points(all)).unwrap().expected(&Point { data, ..Point::default() }, false)
}

#[test]
fn a_line_through_tasks_of_much_and_little_data_tells_start_up_from_work() {
    // 5 s to start, and 2 s for each unit.
    let all: Vec<_> = (1..=10).map(|n| (f64::from(n), 5.0 + 2.0 * f64::from(n))).collect();
    assert!((expected(&all, 20.0) - 45.0).abs() < 1e-6);
    assert!((Fit::new(&points(&all)).unwrap().typical() - 16.0).abs() < 1e-6, "5 + 2 · 5.5");
}

#[test]
fn stragglers_do_not_pull_the_line() {
    let mut all: Vec<_> = (1..=20).map(|n| (f64::from(n), 5.0 + 2.0 * f64::from(n))).collect();
    all.extend([(3.0, 300.0), (19.0, 400.0), (10.0, 150.0)]);
    assert!((expected(&all, 12.0) - 29.0).abs() < 0.1);
    // One with slightly more data than all others, which least squares alone would go through.
    let mut alike: Vec<_> = (0..9).map(|n| (100.0 + f64::from(n % 3), 10.0 + 0.1 * f64::from(n % 2))).collect();
    alike.push((110.0, 100.0));
    assert!((expected(&alike, 110.0) - 11.0).abs() < 0.5, "{}", expected(&alike, 110.0));
}

#[test]
fn where_all_tasks_have_about_the_same_data_time_is_taken_to_grow_with_it() {
    assert_eq!(expected(&[(100.0, 4.0); 9], 500.0), 20.0);
    // Three that happen to lie on a steep line are no reason to believe it.
    assert!((expected(&[(100.0, 4.0), (100.0, 4.0), (101.0, 4.1)], 500.0) - 20.0).abs() < 0.01);
}

#[test]
fn where_time_does_not_depend_on_data_more_data_explains_nothing() {
    let all: Vec<_> = (1..=40).map(|n| (f64::from(n), 30.0 - 0.01 * f64::from(n))).collect();
    assert!((expected(&all, 80.0) - 30.0).abs() < 0.5);
}

#[test]
fn traffic_over_racks_is_a_second_regressor_where_every_task_tells_it() {
    // 1 s a unit of data, and 0.6 s more for each that crossed a rack, which may be more than most have.
    let all: Vec<Point> = (0..24)
        .map(|n| {
            let (data, crossed) = (f64::from(4 + n % 7), f64::from(5 * (n % 4)));
            Point { seconds: data + 0.6 * crossed, data, crossed: Some(crossed) }
        })
        .collect();
    let fit = Fit::new(&all).unwrap();
    let told = fit.expected(&Point { seconds: 0.0, data: 8.0, crossed: Some(10.0) }, false);
    assert!((told - 14.0).abs() < 0.01, "{told}");
}

#[test]
fn a_task_does_not_explain_itself() {
    let mut all = points(&[(100.0, 10.0), (100.0, 10.2), (100.0, 9.8), (101.0, 10.1)]);
    let own = Point { seconds: 31.0, data: 300.0, crossed: None };
    all.push(own);
    let fit = Fit::new(&all).unwrap();
    assert!((fit.expected(&own, true) - 30.0).abs() < 1.0, "{}", fit.expected(&own, true));
    assert!(Fit::new(&[]).is_none());
}

#[test]
fn tasks_that_took_no_time_still_let_some_be_expected() {
    assert_eq!(expected(&[(1.0, 0.0), (1.0, 0.0), (0.0, 6.0), (0.0, 6.0), (0.0, 6.0)], 1.0), 6.0);
}

#[test]
fn without_inputs_the_median_time_is_expected() {
    assert_eq!(expected(&[(0.0, 4.0), (0.0, 5.0), (0.0, 60.0)], 0.0), 5.0);
    assert_eq!(expected(&[(0.0, 4.0), (0.0, 5.0), (0.0, 60.0)], 7.0), 5.0);
}

#[test]
fn a_task_whose_data_is_unknown_is_expected_to_take_the_median_time_and_not_the_lines_start() {
    let all: Vec<_> = (1..=10).map(|n| (f64::from(n), 20.0 + f64::from(n))).collect();
    assert!((expected(&all, 0.1) - 20.1).abs() < 1e-6);
    assert_eq!(expected(&all, 0.0), 25.5);
}

#[test]
fn two_tasks_make_no_line() {
    // Theirs would let 9 s be expected; 3 and 2.5 s a unit are all that they show.
    assert!((expected(&[(1.0, 3.0), (2.0, 5.0)], 4.0) - 11.0).abs() < 1e-9);
}

#[test]
fn a_line_and_its_error_are_the_textbooks() {
    // y = 2.2 + 0.6 x; the squares of the residuals come to 2.4, with three degrees of freedom, and those of x to 10 about 3.
    let mut gram = Gram::default();
    for (x, y) in [(1.0, 2.0), (2.0, 4.0), (3.0, 5.0), (4.0, 4.0), (5.0, 5.0)] {
        add(&mut gram, &[1.0, x, 0.0, y], 1.0);
    }
    let line = solve(&gram, STRAIGHT).unwrap();
    for (x, mean, error) in [(3.0, 4.0, 0.4), (8.0, 7.0, (0.8_f64 * (0.2 + 2.5)).sqrt())] {
        let (told, off) = line.at(&[1.0, x, 0.0, 0.0]);
        assert!((told - mean).abs() < 1e-9 && (off - error).abs() < 1e-9, "{x}: {told} {off}");
    }
}

#[test]
fn what_lies_more_than_three_deviations_off_is_no_evidence_and_what_lies_nearer_is() {
    // Equal times still vary by a twentieth.
    let evidence =
        |seconds| Fit::new(&points(&[&[(100.0, 10.0); 9][..], &[(100.0, seconds)]].concat())).unwrap().evidence();
    assert_eq!([8.4, 8.6, 11.4, 11.6, 30.0].map(evidence), [9, 10, 10, 9, 9]);
}

#[test]
fn of_lines_that_lie_equally_near_the_one_of_a_common_rate_is_started_from() {
    // All but one have the same data, so that one constant time tells of those as well; of the other it does not.
    let evidence = |times: [f64; 9]| {
        let alike = times.map(|seconds| (100.0, seconds));
        Fit::new(&points(&[&alike[..], &[(500.0, 20.0)]].concat())).unwrap().evidence()
    };
    assert_eq!(evidence([4.0; 9]), 10);
    assert_eq!(evidence([3.8, 3.8, 3.8, 4.0, 4.0, 4.0, 4.2, 4.2, 4.2]), 10);
}

#[test]
fn mild_stragglers_that_a_constant_time_would_hide_are_left_out() {
    let mut all: Vec<_> = (1..=20).map(|n| (f64::from(n), 5.0 + 2.0 * f64::from(n))).collect();
    all.extend([(2.0, 45.0), (3.0, 45.0), (4.0, 45.0)]);
    let fit = Fit::new(&points(&all)).unwrap();
    let told = fit.expected(&Point { data: 20.0, ..Point::default() }, false);
    assert!(fit.evidence() == 20 && (told - 45.0).abs() < 1e-6, "{told} {}", fit.evidence());
}

#[test]
fn a_line_that_stragglers_lifted_as_a_whole_still_keeps_those_that_lie_along_it() {
    let mut all: Vec<_> = (1..=20).map(|n| (f64::from(n), 5.0 + 2.0 * f64::from(n))).collect();
    all.extend([(10.0, 200.0), (11.0, 202.0)]);
    let fit = Fit::new(&points(&all)).unwrap();
    assert_eq!(fit.evidence(), 20);
}

#[test]
fn a_task_of_the_fit_is_expected_to_take_what_the_others_alone_let_expect() {
    let all: Vec<_> = (1..=10).map(|n| (f64::from(n), 5.0 + 2.0 * f64::from(n) + f64::from(n % 3))).collect();
    let (fit, others) = (Fit::new(&points(&all)).unwrap(), Fit::new(&points(&all[..9])).unwrap());
    assert_eq!((fit.evidence(), others.evidence()), (10, 9));
    let last = points(&all)[9];
    let [own, any, without] = [fit.expected(&last, true), fit.expected(&last, false), others.expected(&last, false)];
    assert!((own - without).abs() < 1e-9 && (own - any).abs() > 1e-3, "{own} {any} {without}");
    // One that the line does not rest on changes nothing.
    let straggler = Point { seconds: 90.0, ..last };
    assert_eq!(fit.expected(&straggler, true), any);
}

#[test]
fn where_more_data_seems_to_take_less_time_the_mean_is_expected() {
    let times = [12.0, 12.0, 12.0, 12.0, 10.0, 10.0, 10.0, 8.0];
    let all: Vec<_> = (1..).map(f64::from).zip(times).collect();
    assert!((expected(&all, 5.0) - 10.75).abs() < 1e-9, "the median is 11: {}", expected(&all, 5.0));
}

#[test]
fn a_task_that_does_not_tell_its_traffic_is_judged_by_its_data_alone() {
    // 1 s a unit of data, and 3 s more for each that crossed a rack: 4.5 s on average.
    let all: Vec<Point> = (0..24)
        .map(|n| {
            let (data, crossed) = (f64::from(4 + n % 7), f64::from(n % 4));
            Point { seconds: data + 3.0 * crossed, data, crossed: Some(crossed) }
        })
        .collect();
    let fit = Fit::new(&all).unwrap();
    let told = |crossed| fit.expected(&Point { seconds: 0.0, data: 8.0, crossed }, false);
    assert!((told(Some(0.0)) - 8.0).abs() < 0.01 && (told(None) - 12.5).abs() < 0.5, "{}", told(None));
}

/// Maps of equal data, of which the first few read theirs over racks, in half as much again of the 10 s of the others.
fn remote(few: usize, all: usize) -> Vec<Point> {
    let point = |n: usize| {
        let (crossed, jitter) = (if n < few { 100.0 } else { 0.0 }, 0.1 * (n % 3) as f64);
        Point { seconds: 10.0 + 0.05 * crossed + jitter, data: 100.0, crossed: Some(crossed) }
    };
    (0..all).map(point).collect()
}

#[test]
fn equal_splits_tell_what_reading_over_racks_costs_and_how_long_a_task_elsewhere_would_take() {
    let fit = Fit::new(&remote(4, 16)).unwrap();
    let expected = |crossed| fit.expected(&Point { seconds: 0.0, data: 100.0, crossed: Some(crossed) }, false);
    assert!((expected(0.0) - 10.1).abs() < 0.1 && (expected(100.0) - 15.1).abs() < 0.1, "{}", expected(100.0));
    assert!((expected(50.0) - 12.6).abs() < 0.1);
    let (usual, here) = fit.path(1.0).unwrap();
    assert!(usual == 0.0 && (here - 0.5).abs() < 0.01, "most read theirs nearby: {usual} {here}");
    assert_eq!(fit.path(0.0), Some((0.0, 0.0)));
    let (usual, here) = Fit::new(&remote(12, 16)).unwrap().path(0.0).unwrap();
    assert!((usual - 1.0 / 3.0).abs() < 0.01 && here == 0.0, "a third of a typical task's time: {usual} {here}");
}

#[test]
fn what_reading_over_racks_costs_is_told_as_a_share_of_a_typical_tasks_time_and_not_of_the_median_one() {
    // A second for each byte and one more where it crossed: 17 s for a typical task, of the medians 11 and 6, where half of all take 13 s.
    let of = |data: u32, crossed: f64| Point {
        seconds: f64::from(data) + crossed,
        data: data.into(),
        crossed: Some(crossed),
    };
    let all: Vec<Point> = (0..5).flat_map(|n| [of(10 + n, 0.0), of(4 + n, 6.0), of(10 + n, 6.0)]).collect();
    let (usual, here) = Fit::new(&all).unwrap().path(1.0).unwrap();
    assert!((usual - 6.0 / 17.0).abs() < 1e-9 && (here - 11.0 / 17.0).abs() < 1e-9, "{usual} {here}");
}

#[test]
fn tasks_are_as_much_alike_whatever_unit_their_data_is_counted_in() {
    for unit in [1e-3, 1.0, 1e6] {
        let mut gram = Gram::default();
        for n in 0..9 {
            add(&mut gram, &[1.0, unit * (1.0 + 3e-6 * f64::from(n % 3)), 0.0, 1.0], 1.0);
        }
        assert!(solve(&gram, STRAIGHT).is_none(), "{unit}");
    }
}

#[test]
fn where_none_or_all_cross_racks_or_some_do_not_say_no_path_is_told() {
    for few in [0, 16] {
        assert_eq!(Fit::new(&remote(few, 16)).unwrap().path(1.0), None, "{few}");
    }
    let mut some = remote(4, 16);
    some[9].crossed = None;
    assert_eq!(Fit::new(&some).unwrap().path(1.0), None);
}

#[test]
fn two_slow_tasks_that_crossed_racks_are_stragglers_and_three_tell_of_the_racks() {
    let elsewhere = |few| Fit::new(&remote(few, 16)).unwrap().path(1.0);
    assert_eq!(elsewhere(2), None);
    assert!((elsewhere(3).unwrap().1 - 0.5).abs() < 0.02);
}
