//! Time left of a running attempt.

use super::calibration::Spreads;
use super::hadoop::RuntimeEstimator;
use super::outlook::phase_aware_seconds;
use super::phase::{PhaseTimes, Shape};
use super::remaining::t_rem;
use super::sample::Sample;
use crate::model::{Millis, Time};
use serde::{Deserialize, Serialize};

/// Which estimate of time left is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// LATE §4: (1 − ProgressScore) / ProgressRate with ProgressRate = ProgressScore / T.
    Late,
    /// LATE §4.2's outlook: each phase at its own rate, the ones to come at the rate of the job's other tasks.
    #[default]
    PhaseAware,
    /// Hadoop's LegacyTaskRuntimeEstimator.
    HadoopLegacy,
    /// Hadoop's ExponentiallySmoothedTaskRuntimeEstimator.
    HadoopSmoothed,
    /// Hadoop's SimpleExponentialTaskRuntimeEstimator.
    HadoopSimpleExponential,
    /// Mantri's t_rem (§5.5, eq. 2), by the bytes read; where they do not tell, by the score, phase by phase.
    Mantri,
}

/// Time left, with its spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Left {
    /// Expected.
    pub mean: Millis,
    /// One standard deviation.
    pub spread: Millis,
}

impl Estimator {
    /// Every estimator.
    pub const ALL: [Estimator; 6] = [
        Estimator::Late,
        Estimator::PhaseAware,
        Estimator::HadoopLegacy,
        Estimator::HadoopSmoothed,
        Estimator::HadoopSimpleExponential,
        Estimator::Mantri,
    ];

    /// Stable label.
    pub fn label(self) -> &'static str {
        match self {
            Estimator::Late => "late",
            Estimator::PhaseAware => "phase-aware",
            Estimator::HadoopLegacy => "hadoop-legacy",
            Estimator::HadoopSmoothed => "hadoop-smoothed",
            Estimator::HadoopSimpleExponential => "hadoop-simple-exponential",
            Estimator::Mantri => "mantri",
        }
    }

    /// Which of Hadoop's it is, if it is one.
    pub fn of_hadoop(self) -> Option<RuntimeEstimator> {
        match self {
            Estimator::Late | Estimator::PhaseAware | Estimator::Mantri => None,
            Estimator::HadoopLegacy => Some(RuntimeEstimator::Legacy),
            Estimator::HadoopSmoothed => Some(RuntimeEstimator::Smoothed),
            Estimator::HadoopSimpleExponential => Some(RuntimeEstimator::SimpleExponential),
        }
    }

    /// Time left at `now` on the AM's clock, with this estimator's spread; `None` while there is no progress to go by.
    pub fn time_left(
        self,
        sample: &Sample,
        shape: Shape,
        times: &PhaseTimes,
        spreads: Spreads,
        now: Time,
    ) -> Option<Left> {
        let seconds = match self {
            Estimator::Late => late_seconds(sample.track.score(), now.since(sample.started)),
            Estimator::PhaseAware => phase_aware_seconds(sample, shape, times, now),
            Estimator::HadoopLegacy | Estimator::HadoopSmoothed | Estimator::HadoopSimpleExponential => {
                self.of_hadoop().and_then(|of_hadoop| of_hadoop.time_left(sample, now)).map(Millis::as_secs_f64)
            }
            Estimator::Mantri => t_rem(sample, shape, times, now).map(|(seconds, _)| seconds),
        }?;
        Some(spreads.around(seconds, sample.track.score()))
    }
}

/// LATE §4: progress rate, score per second; zero before any time has passed.
pub fn late_rate(score: f64, elapsed: Millis) -> f64 {
    if elapsed.0 == 0 { 0.0 } else { score / elapsed.as_secs_f64() }
}

/// LATE §4: time left in seconds, (1 − ProgressScore) / ProgressRate; `None` at a rate of zero.
pub fn late_seconds(score: f64, elapsed: Millis) -> Option<f64> {
    let rate = late_rate(score, elapsed);
    (rate > 0.0).then(|| (1.0 - score) / rate)
}

#[cfg(test)]
mod tests;
