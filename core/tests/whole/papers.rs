//! What the papers print, and what can be counted out instead of computed.

use drover_core::estimate::distribution::Distribution;
use drover_core::estimate::straggle::Scheme;
use drover_core::policy::MantriParams;
use drover_core::policy::mantri::{Rule, Running, choose};

/// Probability that a job straggles, summed over every way in which its clones can straggle or not. `fine` is told which of `clones` in all do not.
fn enumerated(clones: u32, p: f64, fine: impl Fn(&dyn Fn(u32) -> bool) -> bool) -> f64 {
    let chance = |ways: u32| {
        let good = (ways.count_ones() as i32, (clones - ways.count_ones()) as i32);
        (1.0 - p).powi(good.0) * p.powi(good.1)
    };
    let straggles = |ways: &u32| !fine(&|clone| ways >> clone & 1 == 1);
    (0..1_u32 << clones).filter(straggles).map(chance).sum()
}

fn computed(scheme: Scheme, n: u32, c: u32, p: f64) -> f64 {
    scheme.straggle_probability(n, c, p).unwrap()
}

#[test]
fn clones_of_one_phase_straggle_as_often_as_counted_out() {
    for (n, c) in (1..=5).flat_map(|n| (1..=5).map(move |c| (n, c))).filter(|(n, c)| n * c <= 10) {
        for p in [0.05, 0.3, 0.8] {
            let task = enumerated(n * c, p, |good| (0..n).all(|task| (0..c).any(|clone| good(task * c + clone))));
            let job = enumerated(n * c, p, |good| (0..c).any(|clone| (0..n).all(|task| good(task * c + clone))));
            assert!((computed(Scheme::Task, n, c, p) - task).abs() < 1e-12, "{n} {c} {p}");
            assert!((computed(Scheme::Job, n, c, p) - job).abs() < 1e-12, "{n} {c} {p}");
        }
    }
}

#[test]
fn clones_of_two_phases_straggle_as_often_as_counted_out() {
    for (n, c) in [(1, 1), (1, 2), (1, 5), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (6, 1)] {
        for p in [0.05, 0.3, 0.8] {
            let phases = |good: &dyn Fn(u32) -> bool, share: bool| {
                let upstream = |task| (0..c).filter(|clone| good(task * c + clone)).count() as u32;
                let served = (0..n).map(upstream).min().unwrap();
                // CAC serves as many clones of each downstream task as the worst upstream task has good ones; CC all of them or none.
                let able = if share && served > 0 { c } else { served };
                (n..2 * n).all(|task| (0..able).any(|clone| good(task * c + clone)))
            };
            let cac = enumerated(2 * n * c, p, |good| phases(good, false));
            let cc = enumerated(2 * n * c, p, |good| phases(good, true));
            assert!((computed(Scheme::Cac, n, c, p) - cac).abs() < 1e-12, "{n} {c} {p}");
            assert!((computed(Scheme::Cc, n, c, p) - cc).abs() < 1e-12, "{n} {c} {p}");
        }
    }
}

#[test]
fn dolly_figure_5_cac_straggles_more_often_than_cc_by_over_10_and_30_points() {
    // "With three clones per task, the probability of the job straggling increases by over 10% and 30%", for 10 and 20 tasks. p is not printed.
    let points = |n, p| 100.0 * (computed(Scheme::Cac, n, 3, p) - computed(Scheme::Cc, n, 3, p));
    for (p, ten, twenty) in [(0.078, 13.0, 30.0), (0.08, 13.0, 31.0), (0.1, 21.0, 45.0)] {
        assert_eq!((points(10, p).round(), points(20, p).round()), (ten, twenty), "{p}");
    }
}

#[test]
fn dolly_hotcloud_three_replicas_keep_small_jobs_within_five_percent() {
    // "for 96% of jobs in the cluster, task-level cloning results in ≤ 5% chance of outliers with just three replicas": so it is for 10 tasks up to p = .17.
    assert!(computed(Scheme::Task, 10, 3, 0.17) <= 0.05 && computed(Scheme::Job, 10, 3, 0.17) > 0.5);
}

#[test]
fn mantri_figure_10_a_duplicate_pays_where_the_outlier_would_take_more_than_3_t_by_itself() {
    // Tasks of t = 10 s, and an outlier that is seen to be one at t: "2t before the original task is killed and t for the duplicate".
    let rule = |outlier: f64, t_new: f64, restarts| {
        let t_new = Distribution::new(vec![t_new]);
        let task = Running {
            t_rem: outlier - 10.0,
            t_new: t_new.times(),
            copies: 1,
            restarts,
            can_restart: true,
            tasks_waiting: true,
        };
        choose(&task, &MantriParams::paper().of_phase(Some(10.0))).unwrap().rule
    };
    assert_eq!(rule(50.0, 10.0, 0), Rule::Restart, "slowed down by its location");
    assert_eq!(rule(50.0, 50.0, 0), Rule::NothingSaved, "it has as much data: letting it be is better");
    // Where it may not be killed any more:
    assert_eq!((rule(30.0, 10.0, 3), rule(30.1, 10.0, 3)), (Rule::RestartsMax, Rule::SavesResources));
}
