use super::*;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use statrs::distribution::{ContinuousCDF, Normal};

/// Jobs of one group with those times, seconds, of one map each.
fn jobs<'a>(name: &'a str, acted: &[f64], left: &[f64]) -> Vec<Trial<'a>> {
    let trial = |held_out| {
        move |seconds: &f64| {
            let took = Millis::from_secs_f64(*seconds);
            Trial { name, draw: "", tasks: 1, took, held_out }
        }
    };
    acted.iter().map(trial(false)).chain(left.iter().map(trial(true))).collect()
}

#[test]
fn the_interval_is_that_of_welchs_test_of_two_samples() {
    // Logarithms 1, 2, 3 and 2, 4: means 2 and 3, variances 1 and 2, of the means 1 / 3 and 1, in all 4 / 3 with 32 / 19 degrees of freedom, t = 5.176232.
    let exp = |logs: &[f64]| logs.iter().map(|log| log.exp()).collect::<Vec<_>>();
    let effect = effect(jobs("a", &exp(&[1.0, 2.0, 3.0]), &exp(&[2.0, 4.0])));
    let (found, half) = (effect.log.unwrap(), 5.176_232 * (4.0 / 3.0_f64).sqrt());
    assert!((found.mean + 1.0).abs() < 1e-3 && (found.high - found.mean - half).abs() < 1e-3, "{found:?}");
    assert_eq!((effect.acted, effect.left, effect.strata), (3, 2, 1));
}

#[test]
fn long_jobs_beside_short_ones_are_no_difference_where_each_is_set_against_its_own_kind() {
    let both = [jobs("short", &[10.0, 10.1], &[10.0, 10.05]), jobs("long", &[900.0, 903.0], &[905.0, 890.0])].concat();
    let found = effect(both).log.unwrap();
    assert!(found.mean.abs() < 0.01 && found.high - found.low < 0.1, "{found:?}");
}

#[test]
fn where_no_name_has_two_jobs_on_both_sides_nothing_is_told_and_what_was_compared_is_counted() {
    let counts = |of: Vec<Trial<'_>>| {
        let Effect { log, acted, left, strata } = effect(of);
        (log, [acted, left, strata])
    };
    assert_eq!(counts([jobs("a", &[1.0, 2.0], &[]), jobs("b", &[], &[3.0])].concat()), (None, [0, 0, 0]));
    assert_eq!(counts(jobs("a", &[1.0], &[2.0])), (None, [0, 0, 0]), "of one job a side nobody knows how they scatter");
    let lacking = [jobs("a", &[1.0, 2.0, 3.0], &[2.0]), jobs("b", &[5.0], &[6.0, 7.0])].concat();
    assert_eq!(counts(lacking.clone()), (None, [4, 3, 2]));
    let with = |acted: &[f64], left: &[f64]| {
        counts([lacking.clone(), jobs("c", acted, left), jobs("d", &[1.0], &[9.0])].concat())
    };
    assert_eq!(
        with(&[1.0, 1.2], &[1.1, 1.3]),
        (None, [6, 5, 3]),
        "two a side are too few to tell the ratio for others"
    );
    let (log, found) = with(&[1.0, 1.2, 0.9, 1.3], &[1.1, 1.3, 1.0]);
    assert!(log.is_some_and(|log| log.low.is_finite() && log.high.is_finite()), "{log:?}");
    assert_eq!(found, [8, 6, 3], "c has the ratio for a and b; d is left out");
}

#[test]
fn equal_times_have_no_scatter_and_a_side_of_them_beside_one_that_scatters_tells_nothing() {
    let of = |acted: &[f64], left: &[f64]| effect(jobs("a", acted, left)).log;
    let sure = of(&[20.3; 7], &[10.15; 3]).unwrap();
    assert!((sure.mean - 2.0_f64.ln()).abs() < 1e-9 && sure.low == sure.mean && sure.high == sure.mean, "{sure:?}");
    assert_eq!((of(&[20.3; 7], &[10.0, 11.0]), of(&[20.0, 21.0], &[10.15; 3])), (None, None));
    // A name of equal times beside others takes nothing from them.
    let others = jobs("b", &[10.0, 11.0, 12.0], &[10.5, 13.0]);
    let (alone, beside) = (effect(others.clone()), effect([others, jobs("a", &[20.3; 7], &[20.3; 3])].concat()));
    let width = |of: Effect| of.log.map(|log| log.high - log.low).unwrap();
    assert!(width(beside) > 0.0 && width(beside) < width(alone), "{beside:?} {alone:?}");
}

#[test]
fn where_few_are_left_alone_and_scatter_more_95_in_100_intervals_hold_the_truth_all_the_same() {
    let mut rng = StdRng::seed_from_u64(7);
    let mut drawn = |count: usize, sigma| {
        let logs = Normal::new(4.0, sigma).unwrap();
        (0..count).map(|_| logs.inverse_cdf(rng.random()).exp()).collect::<Vec<f64>>()
    };
    let runs = 2_000;
    let covers = |_: &usize| {
        let found = effect(jobs("a", &drawn(90, 0.2), &drawn(10, 0.5))).log.unwrap();
        found.low <= 0.0 && found.high >= 0.0
    };
    let held = (0..runs).filter(covers).count();
    assert!((1_860..=1_940).contains(&held), "{held} of {runs}; with one scatter for both sides about 1,400");
}

/// Names of one kind: how many, runs of each, and how the logarithms of those that may be acted on and of those left alone scatter.
type Names = (usize, usize, [f64; 2]);

/// How many of so many trials, a tenth of the jobs left alone and none of them acted on, have an interval that holds no change.
fn held(trials: u64, kinds: &[Names]) -> usize {
    let names: Vec<_> = kinds.iter().flat_map(|&(count, runs, sigmas)| vec![(runs, sigmas); count]).collect();
    let names: Vec<_> = names.into_iter().enumerate().map(|(nth, of)| (nth.to_string(), of)).collect();
    let standard = Normal::new(0.0, 1.0).unwrap();
    let covers = |seed: &u64| {
        let mut rng = StdRng::seed_from_u64(*seed);
        let mut job = |sigmas: [f64; 2]| {
            let (held_out, luck) = (rng.random::<f64>() < 0.1, standard.inverse_cdf(rng.random()));
            let took = Millis::from_secs_f64((6.0 + sigmas[usize::from(held_out)] * luck).exp());
            (took, held_out)
        };
        let mut all = Vec::new();
        for (name, (runs, sigmas)) in &names {
            all.extend((0..*runs).map(|_| job(*sigmas)).map(|(took, held_out)| Trial {
                name,
                draw: "",
                tasks: 1,
                took,
                held_out,
            }));
        }
        let found = effect(all).log.unwrap();
        found.low <= 0.0 && found.high >= 0.0
    };
    (1..=trials).filter(covers).count()
}

#[test]
fn rare_names_that_scatter_more_than_frequent_ones_leave_the_interval_true() {
    let found = held(500, &[(2, 168, [0.1; 2]), (40, 7, [0.5; 2])]);
    assert!((458..=496).contains(&found), "{found} of 500; with one scatter for all names about 410");
}

#[test]
fn sides_of_unequal_scatter_leave_it_true_where_names_scatter_unequally_too() {
    for left in [0.5, 2.0] {
        let of = |sigma| [sigma, sigma * left];
        let found = held(500, &[(2, 168, of(0.1)), (40, 7, of(0.5))]);
        assert!((458..=496).contains(&found), "{found} of 500 at {left}; with one scatter for all names about 410");
    }
}

#[test]
fn jobs_drawn_at_one_share_are_not_set_against_those_drawn_at_another() {
    // All are twice as long once a half is held out, on both sides.
    let at = |draw, times: [&'static [f64]; 2]| {
        jobs("a", times[0], times[1]).into_iter().map(move |job| Trial { draw, ..job }).collect::<Vec<_>>()
    };
    let (tenth, half) = (at("0.1", [&[10.0, 10.0, 10.0], &[10.0, 10.0]]), at("0.5", [&[20.0, 20.0], &[20.0, 20.0]]));
    let found = effect([tenth, half].concat());
    assert!(found.strata == 2 && found.log.unwrap().mean.abs() < 1e-9, "{found:?}");
}
