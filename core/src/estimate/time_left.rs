//! Time left of a running attempt.

use super::calibration::Spreads;
use super::hadoop::RuntimeEstimator;
use super::phase::{PhaseTimes, Shape};
use super::remaining::{Reading, t_rem};
use crate::model::{Millis, Phase, Time, Track};
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

/// What the estimate is made from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Launch.
    pub launched: Time,
    /// Launch, or for a reduce the end of the maps if that was later.
    pub started: Time,
    /// Progress so far.
    pub track: Track,
    /// Phase it says it is in.
    pub phase: Option<Phase>,
    /// When its second and third phases were entered, where seen.
    pub entered: [Option<Time>; 2],
    /// Newest news of its job, the AM's clock: silence is counted up to here.
    pub heard: Time,
    /// How long an attempt may be silent between two reports before it counts as standing still.
    pub rhythm: Millis,
    /// How far its bytes tell that it has come, where they do.
    pub reading: Option<Reading>,
}

/// Time left, with its spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Left {
    /// Expected.
    pub mean: Millis,
    /// One standard deviation.
    pub spread: Millis,
}

impl Sample {
    /// Has it been silent for longer than its reporting rhythm allows?
    pub fn is_silent(&self) -> bool {
        self.is_silent_since(self.track.at().unwrap_or(self.started))
    }

    /// The same, where its last report came `at` that time.
    pub(super) fn is_silent_since(&self, at: Time) -> bool {
        self.heard.since(at) > self.rhythm
    }
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

/// LATE §4.2: the current phase at the attempt's own rate in it, each later one at the typical length of the job's other attempts, or where none has shown it at
/// this attempt's own rate. Counted from the last report: within its reporting rhythm the attempt is taken to go on as before, beyond it to have stood still since
/// (Mantri §5.5).
pub(super) fn phase_aware_seconds(sample: &Sample, shape: Shape, times: &PhaseTimes, now: Time) -> Option<f64> {
    let score = sample.track.score();
    let at = sample.track.at().filter(|_| score > 0.0)?;
    let phase = shape.current(sample.phase, score);
    let done = shape.done(phase, score);
    let whole = phase_seconds(sample, shape, phase, at, times)?;
    let left = whole * (1.0 - done) + later_seconds(shape, times, phase, whole);
    let gone_on = if sample.is_silent() { Millis(0) } else { now.since(at) };
    Some((left - gone_on.as_secs_f64()).max(0.0))
}

/// How long the phases after this one take an attempt that the whole of this one takes `whole` seconds.
pub(super) fn later_seconds(shape: Shape, times: &PhaseTimes, phase: usize, whole: f64) -> f64 {
    let share = |later: usize| (shape.ends[later] - shape.begin(later)) / (shape.ends[phase] - shape.begin(phase));
    let later = phase + 1..shape.phases();
    later.map(|later| times.typical[later].map_or(whole * share(later), Millis::as_secs_f64)).sum()
}

/// The pace of the moment counts once it has lasted for this share of the phase's typical length: twice what a healthy attempt stays in one step, and longer than a
/// short halt.
const MOMENT: f64 = 0.25;

/// Less progress than this is none: a step's first score is kept in 65,535ths.
const STANDSTILL: f64 = 2.0 / 65_535.0;

/// How long the whole of its current phase takes this attempt: at the pace of the moment where that can be told; else at the pace it has shown in the phase, else as
/// typical of the phase, else at the pace of its whole life. An attempt that stands still is given the time it stands (Mantri §5.5). The time before the first report
/// is start-up, not pace, so the pace is also taken from the first report on, and the better of the two counts: a late start is not slowness.
fn phase_seconds(sample: &Sample, shape: Shape, phase: usize, at: Time, times: &PhaseTimes) -> Option<f64> {
    let score = sample.track.score();
    let width = shape.ends[phase] - shape.begin(phase);
    let until = if sample.is_silent() { sample.heard.max(at) } else { at };
    let entered = if phase == 0 { Some(sample.started) } else { sample.entered[phase - 1] };
    let pace = |from_score: f64, from: Time| {
        let (gained, took) = (score - from_score, until.since(from));
        (gained > STANDSTILL && took.0 > 0).then(|| width * took.as_secs_f64() / gained)
    };
    let now = sample.track.moments().find(|(from, since)| {
        let long = times.typical[phase].is_some_and(|typical| until.since(*since) > typical.scaled(MOMENT));
        // Before its first progress an attempt starts up.
        long && *from > 0.0 && *from >= shape.begin(phase)
    });
    if let Some(moment) = now.and_then(|(from, since)| pace(from, since)) {
        return Some(moment);
    }
    let whole = entered.and_then(|entered| pace(shape.begin(phase), entered));
    let since_first = sample.track.first().and_then(|(first, when)| {
        let in_phase = entered.is_some_and(|entered| when >= entered);
        in_phase.then(|| pace(first, when)).flatten()
    });
    match (whole, since_first) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b).or(times.typical[phase].map(Millis::as_secs_f64)).or_else(|| pace(0.0, sample.started)),
    }
}

#[cfg(test)]
mod tests;
