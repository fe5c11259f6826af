//! LATE's example of a task whose progress slows down (OSDI'08, §4.2, Fig. 2).

use super::exact;
use crate::simulation::reproduce::{Effort, Finding};
use drover_core::estimate::calibration::Spreads;
use drover_core::estimate::phase::{PhaseTimes, Shape};
use drover_core::estimate::{Estimator, Sample};
use drover_core::model::{Millis, Time, Track};
use drover_core::sim::Stuck;

const SHAPE: Shape = Shape { ends: &[0.5, 1.0] };
const NOW: u64 = 20;

/// Half of its progress at 5 % a second, the rest at 1 %; looked at at 20 s, having started at that second and told its score each second since.
fn looked_at(started: u64) -> Sample {
    let at = |second: u64| Time(1_000 * second);
    let mut track = Track::default();
    for second in started + 1..=NOW {
        let age = (second - started) as f32;
        track.add((0.05 * age).min(0.5 + 0.01 * (age - 10.0).max(0.0)), at(second));
    }
    Sample {
        launched: at(started),
        started: at(started),
        track,
        phase: None,
        entered: [(NOW > started + 10).then_some(at(started + 10)), None],
        heard: at(NOW),
        rhythm: Millis(1_000),
        reading: None,
    }
}

/// Seconds left; earlier tasks of the job have been through both phases.
fn left(estimator: Estimator, started: u64) -> Option<f64> {
    let times = PhaseTimes { typical: [Some(Millis(10_000)), Some(Millis(50_000)), None] };
    let left = estimator.time_left(&looked_at(started), SHAPE, &times, Spreads::UNMEASURED, Time(1_000 * NOW));
    left.map(|left| left.mean.as_secs_f64())
}

pub(super) fn fig2(_: Effort) -> Result<Vec<Finding>, Stuck> {
    let of = |quantity: &str, published, estimator, started, decimals| {
        exact("late.fig2", quantity, published, left(estimator, started), "s", decimals)
    };
    Ok(vec![
        of("time left of the first, which has 40 s, as LATE has it", 13.3, Estimator::Late, 0, 1),
        of("time left of the second, which has 50 s, as LATE has it", 10.0, Estimator::Late, 10, 1),
        of("time left of the first, phase by phase", 40.0, Estimator::PhaseAware, 0, 0),
        of("time left of the second, phase by phase: the right order", 50.0, Estimator::PhaseAware, 10, 0),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_has_the_two_in_the_wrong_order_and_phase_by_phase_they_are_in_the_right_one() {
        let longest = |estimator| left(estimator, 0) > left(estimator, 10);
        assert!(longest(Estimator::Late) && !longest(Estimator::PhaseAware));
    }
}
