//! Worked examples, to the printed digits, and formulas, as far as the papers say what comes of them.

mod cloned;
mod longest;
mod twophase;

use super::{Effort, Experiment, Finding, Ground, Verdict, judge};
use crate::stats::Interval;
use drover_core::estimate::time_left::late_seconds;
use drover_core::model::Millis;
use drover_core::policy::hadoop_0_20::Hadoop020Params;
use drover_core::sim::Stuck;
use serde_json::Value;

pub(super) fn experiments() -> Vec<Experiment> {
    let by_hand = |name, about, calibrated, run| Experiment {
        name,
        ground: Ground::ByHand,
        about,
        slowness: "No slowness is drawn: it is worked out by hand.",
        calibrated,
        rows: &[],
        times: 1,
        assumed: || Ok(Value::Null),
        run,
    };
    const NOTHING: &str = "Nothing is calibrated.";
    vec![
        by_hand("late.fig2", "LATE §4.2: a two-phase task, whose time left is misjudged", NOTHING, twophase::fig2),
        by_hand("late.s32", "LATE §3.1, §4.1: which of two slow tasks is copied first", NOTHING, first),
        by_hand(
            "mantri.theorem1",
            "Mantri §5.4: the longest first against the best, which is searched for",
            NOTHING,
            longest::theorem,
        ),
        by_hand(
            "dolly.clones",
            "Dolly NSDI'13 §3.1, §3.2: clones of tasks against clones of whole jobs, and the risk that they leave",
            NOTHING,
            cloned::clones,
        ),
        by_hand(
            "dolly.fig5",
            "Dolly NSDI'13 §4.2: how often jobs straggle with CAC, and with CC",
            "p, which is not printed, is calibrated on both numbers, which are therefore not independent of it.",
            cloned::fig5,
        ),
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

/// A number without chance of which the paper says that it is on one side of a bound, which it may print.
fn bound(
    experiment: &str,
    quantity: &str,
    published: Option<f64>,
    measured: Option<f64>,
    unit: &str,
    holds: impl Fn(f64) -> bool,
) -> Finding {
    let measured = measured.unwrap_or(f64::NAN);
    let ours = Interval::sure(measured);
    Finding::new(experiment, quantity, published, ours, unit, judge(published, ours, holds(measured)))
}

/// Tasks so many times slower than the average with so much progress, the average being at 70 % in the first example.
fn first(_: Effort) -> Result<Vec<Finding>, Stuck> {
    const AVERAGE: f64 = 0.7;
    let of = |quantity: &str, published, measured, unit| exact("late.s32", quantity, published, measured, unit, 0);
    let behind =
        [0.35, 0.07].into_iter().filter(|score| *score < AVERAGE - Hadoop020Params::LATE.behind).count() as f64;
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
