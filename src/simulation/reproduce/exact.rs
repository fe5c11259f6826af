//! Worked examples and formulas, to the printed digits.

use super::{Effort, Experiment, Finding, Verdict};
use crate::stats::Interval;
use drover_core::estimate::lpt;
use drover_core::estimate::straggle::{Scheme, clones_per_task};
use drover_core::estimate::time_left::late_seconds;
use drover_core::model::Millis;
use drover_core::policy::hadoop_0_20::BEHIND;
use drover_core::sim::Stuck;

pub(super) fn experiments() -> Vec<Experiment> {
    vec![
        Experiment {
            name: "late.fig2", about: "LATE §4.2: a two-phase task, whose time left is misjudged", run: fig2
        },
        Experiment {
            name: "late.s32", about: "LATE §3.2, §4.1: which of two slow tasks is copied first", run: first
        },
        Experiment {
            name: "mantri.theorem1",
            about: "Mantri §5.4: the longest first against the best",
            run: lpt_bound,
        },
        Experiment { name: "dolly.clones", about: "Dolly NSDI'13 §3.2: clones where logarithms meet", run: clones },
        Experiment { name: "dolly.fig5", about: "Dolly NSDI'13 §4.2: CAC against CC", run: fig5 },
    ]
}

/// A number that is printed with so many decimals.
pub(super) fn exact(
    experiment: &str,
    quantity: &str,
    published: f64,
    measured: Option<f64>,
    unit: &str,
    decimals: i32,
) -> Finding {
    let measured = measured.unwrap_or(f64::NAN);
    let digits = |value: f64| (value * 10_f64.powi(decimals)).round();
    let verdict = if digits(published) == digits(measured) { Verdict::Exact } else { Verdict::NotReproduced };
    Finding::new(experiment, quantity, Some(published), Interval::sure(measured), unit, verdict)
}

/// Half of its progress at 5 % a second, the rest at 1 %; looked at at 20 s, copies having started at 0 s and at 10 s.
fn fig2(_: Effort) -> Result<Vec<Finding>, Stuck> {
    let left = |score, seconds| late_seconds(score, Millis::from_secs_f64(seconds));
    Ok(vec![
        exact("late.fig2", "time left of the first, which has 40 s, as LATE has it", 13.3, left(0.6, 20.0), "s", 1),
        exact("late.fig2", "time left of the second, which has 50 s, as LATE has it", 10.0, left(0.5, 10.0), "s", 1),
    ])
}

/// Tasks so many times slower than the average with so much progress, the average being at 70 % in the first example.
fn first(_: Effort) -> Result<Vec<Finding>, Stuck> {
    const AVERAGE: f64 = 0.7;
    let of = |quantity: &str, published, measured, unit| exact("late.s32", quantity, published, measured, unit, 0);
    let behind = [0.35, 0.07].into_iter().filter(|score| *score < AVERAGE - BEHIND).count() as f64;
    let example = [slowest_to_end(&[(2.0, 0.35), (10.0, 0.07)]), slowest_to_end(&[(5.0, 0.9), (2.0, 0.1)])];
    Ok(vec![
        of(
            "of the tasks at 35 % and at 7 % those that Hadoop 0.20 finds slow, and equally so",
            2.0,
            Some(behind),
            "tasks",
        ),
        of("of these LATE's first is so many times slower", 10.0, example[0], "times"),
        of("of one 5 times slower at 90 % and one twice at 10 % LATE's first is so many", 2.0, example[1], "times"),
    ])
}

/// Of tasks so many times slower than one that takes a second and with so much progress, the one with the longest time left by LATE's estimate: how many times slower.
fn slowest_to_end(tasks: &[(f64, f64)]) -> Option<f64> {
    let left = |slower: f64, score: f64| late_seconds(score, Millis::from_secs_f64(slower * score));
    let ranked = tasks.iter().filter_map(|(slower, score)| Some((left(*slower, *score)?, *slower)));
    ranked.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, slower)| slower)
}

/// 4/3 − 1/(3 s).
fn lpt_bound(_: Effort) -> Result<Vec<Finding>, Stuck> {
    let of = |slots: u32, published| {
        let quantity = format!("time on {slots} slots over the best");
        exact("mantri.theorem1", &quantity, published, lpt::bound(slots), "ratio", 3)
    };
    Ok(vec![of(1, 1.0), of(2, 7.0 / 6.0), of(100, 1.33)])
}

/// Where floating point has a clone too many.
fn clones(_: Effort) -> Result<Vec<Finding>, Stuck> {
    let of = |tasks, p, epsilon, published| {
        let quantity = format!("clones of each of {tasks} tasks at p = {p}, ε = {epsilon}");
        exact("dolly.clones", &quantity, published, clones_per_task(tasks, p, epsilon).map(f64::from), "clones", 0)
    };
    Ok(vec![of(1, 0.1, 0.1, 1.0), of(10, 0.1, 0.05, 3.0)])
}

/// "increases by over 10% and 30%" with three clones, for 10 and 20 tasks. p is not printed; .078 gives both.
fn fig5(_: Effort) -> Result<Vec<Finding>, Stuck> {
    let of = |tasks, published| {
        let straggles = |scheme: Scheme| scheme.straggle_probability(tasks, 3, 0.078);
        let points = straggles(Scheme::Cac).zip(straggles(Scheme::Cc)).map(|(cac, cc)| 100.0 * (cac - cc));
        exact("dolly.fig5", &format!("more often with CAC, {tasks} tasks, p = .078"), published, points, "points", 0)
    };
    Ok(vec![of(10, 13.0), of(20, 30.0)])
}
