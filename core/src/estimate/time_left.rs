//! Time left of a running attempt.

use super::hadoop::RuntimeEstimator;
use super::phase::{PhaseTimes, Shape};
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
}

/// Time left, with its spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Left {
    /// Expected.
    pub mean: Millis,
    /// One standard deviation.
    pub spread: Millis,
}

impl Left {
    /// With the error that a first estimate from progress has, a quarter of it.
    pub fn of_seconds(seconds: f64) -> Left {
        const RELATIVE_ERROR: f64 = 0.25;
        Left { mean: Millis::from_secs_f64(seconds), spread: Millis::from_secs_f64(seconds * RELATIVE_ERROR) }
    }
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
    pub const ALL: [Estimator; 5] = [
        Estimator::Late,
        Estimator::PhaseAware,
        Estimator::HadoopLegacy,
        Estimator::HadoopSmoothed,
        Estimator::HadoopSimpleExponential,
    ];

    /// Stable label.
    pub fn label(self) -> &'static str {
        match self {
            Estimator::Late => "late",
            Estimator::PhaseAware => "phase-aware",
            Estimator::HadoopLegacy => "hadoop-legacy",
            Estimator::HadoopSmoothed => "hadoop-smoothed",
            Estimator::HadoopSimpleExponential => "hadoop-simple-exponential",
        }
    }

    /// Which of Hadoop's it is, if it is one.
    pub fn of_hadoop(self) -> Option<RuntimeEstimator> {
        match self {
            Estimator::Late | Estimator::PhaseAware => None,
            Estimator::HadoopLegacy => Some(RuntimeEstimator::Legacy),
            Estimator::HadoopSmoothed => Some(RuntimeEstimator::Smoothed),
            Estimator::HadoopSimpleExponential => Some(RuntimeEstimator::SimpleExponential),
        }
    }

    /// Time left at `now` on the AM's clock; `None` while there is no progress to go by.
    pub fn time_left(self, sample: &Sample, shape: Shape, times: &PhaseTimes, now: Time) -> Option<Left> {
        let seconds = match self {
            Estimator::Late => late_seconds(sample.track.score(), now.since(sample.started)),
            Estimator::PhaseAware => phase_aware_seconds(sample, shape, times, now),
            Estimator::HadoopLegacy | Estimator::HadoopSmoothed | Estimator::HadoopSimpleExponential => {
                self.of_hadoop().and_then(|of_hadoop| of_hadoop.time_left(sample, now)).map(Millis::as_secs_f64)
            }
        }?;
        Some(Left::of_seconds(seconds))
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
    let later = phase + 1..shape.len();
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
mod tests {
    use super::*;

    const TWO_PHASES: Shape = Shape { ends: &[0.5, 1.0] };

    /// LATE §4.2, Fig. 2: 5 %/s to half, then 1 %/s; looked at at 20 s.
    fn fig2(started_s: u64) -> Sample {
        let mut track = Track::default();
        let now = 20;
        for second in started_s + 1..=now {
            let age = (second - started_s) as f32;
            let score = if age <= 10.0 { 0.05 * age } else { 0.5 + 0.01 * (age - 10.0) };
            track.add(score, Time(1_000_000 + second * 1000));
        }
        let second = (now > started_s + 10).then_some(Time(1_000_000 + (started_s + 10) * 1000));
        Sample {
            launched: Time(1_000_000 + started_s * 1000),
            started: Time(1_000_000 + started_s * 1000),
            track,
            phase: None,
            entered: [second, None],
            heard: NOW,
            rhythm: Millis(1000),
        }
    }

    const NOW: Time = Time(1_020_000);

    #[test]
    fn late_gives_the_papers_wrong_order_of_13_3_and_10_seconds() {
        let left = |s| {
            let left = Estimator::Late.time_left(&fig2(s), TWO_PHASES, &PhaseTimes::default(), NOW).unwrap();
            left.mean.as_secs_f64()
        };
        assert!((left(0) - 13.333).abs() < 1e-3, "{}", left(0));
        assert!((left(10) - 10.0).abs() < 1e-3, "{}", left(10));
    }

    #[test]
    fn phase_aware_gives_the_right_order_of_40_and_50_seconds() {
        let times = PhaseTimes { typical: [Some(Millis(10_000)), Some(Millis(50_000)), None] };
        let left = |s| Estimator::PhaseAware.time_left(&fig2(s), TWO_PHASES, &times, NOW).unwrap().mean.as_secs_f64();
        assert!((left(0) - 40.0).abs() < 0.01, "{}", left(0));
        assert!((left(10) - 50.0).abs() < 0.01, "{}", left(10));
    }

    #[test]
    fn an_attempt_beyond_its_rhythm_is_taken_to_stand_still() {
        let mut sample = fig2(0);
        sample.rhythm = Millis(3000);
        let times = PhaseTimes::default();
        let at = |later: u64| {
            let now = NOW + Millis(later);
            let sample = Sample { heard: now, ..sample };
            Estimator::PhaseAware.time_left(&sample, TWO_PHASES, &times, now).unwrap().mean
        };
        assert_eq!(at(0) - at(2000), Millis(2000));
        assert!(at(5000) > at(0) && at(9000) > at(5000), "time that passes without progress is lost");
    }

    #[test]
    fn an_attempt_that_turns_slow_late_is_judged_by_the_pace_of_the_moment() {
        let mut track = Track::default();
        let times = PhaseTimes { typical: [Some(Millis(4_000)), None, None] };
        let left = |track: Track, at: u64| {
            let now = Time(1_000_000 + at);
            let sample = Sample {
                launched: Time(1_000_000),
                started: Time(1_000_000),
                track,
                phase: None,
                entered: [None; 2],
                heard: now,
                rhythm: Millis(2_000),
            };
            let shape = super::super::phase::MAP_ONLY;
            Estimator::PhaseAware.time_left(&sample, shape, &times, now).unwrap().mean.as_secs_f64()
        };
        for ms in (500..=2_000).step_by(500) {
            track.add(ms as f32 / 4_000.0, Time(1_000_000 + ms));
        }
        assert!((left(track, 2_000) - 2.0).abs() < 0.01);
        // From half of the way on ten times slower: 20 s are left.
        for ms in (2_500..=5_000).step_by(500) {
            track.add(0.5 + (ms - 2_000) as f32 / 40_000.0, Time(1_000_000 + ms));
        }
        assert!((left(track, 5_000) - 17.0).abs() < 0.1, "{}", left(track, 5_000));
        // It has just entered another eighth of its way, and is as slow as before.
        for ms in (5_500..=8_000).step_by(500) {
            track.add(0.5 + (ms - 2_000) as f32 / 40_000.0, Time(1_000_000 + ms));
        }
        assert!((left(track, 7_500) - 14.5).abs() < 0.6, "{}", left(track, 7_500));
    }

    #[test]
    fn a_late_start_is_not_slowness() {
        let mut track = Track::default();
        track.add(0.1, Time(9_000));
        track.add(0.6, Time(11_000));
        let sample = Sample {
            launched: Time(1_000),
            started: Time(1_000),
            track,
            phase: None,
            entered: [None; 2],
            heard: Time(11_000),
            rhythm: Millis(1000),
        };
        let shape = super::super::phase::MAP_ONLY;
        let left = Estimator::PhaseAware.time_left(&sample, shape, &PhaseTimes::default(), Time(11_000)).unwrap();
        assert!((left.mean.as_secs_f64() - 1.6).abs() < 0.01, "{left:?}");
    }

    #[test]
    fn no_progress_gives_no_estimate() {
        let sample = Sample {
            launched: Time(1),
            started: Time(1),
            track: Track::default(),
            phase: None,
            entered: [None; 2],
            heard: Time(11_000),
            rhythm: Millis(1000),
        };
        for estimator in Estimator::ALL {
            let shape = super::super::phase::MAP_ONLY;
            assert_eq!(estimator.time_left(&sample, shape, &PhaseTimes::default(), Time(99_000)), None);
        }
    }
}
