//! An attempt's outlook phase by phase (LATE, OSDI'08, §4.2).

use super::phase::{PhaseTimes, Shape};
use super::sample::{Sample, seconds_left};
use crate::model::{Millis, Time};

/// LATE §4.2: the current phase at the attempt's own rate in it, each later one at the typical length of the job's other attempts, or where none has shown it at
/// this attempt's own rate. Counted from the last report ([`seconds_left`]).
pub(super) fn phase_aware_seconds(sample: &Sample, shape: Shape, times: &PhaseTimes, now: Time) -> Option<f64> {
    let score = sample.track.score();
    let at = sample.track.at().filter(|_| score > 0.0)?;
    let phase = shape.current(sample.phase, score);
    let done = shape.done(phase, score);
    let whole = phase_seconds(sample, shape, phase, at, times)?;
    let left = whole * (1.0 - done) + later_seconds(shape, times, phase, whole);
    Some(seconds_left(left, sample.stood(at), now.since(at)))
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
    let mut lasted = sample.track.moments().filter(|(from, since)| {
        let long = times.typical[phase].is_some_and(|typical| until.since(*since) > typical.scaled(MOMENT));
        // Before its first progress an attempt starts up.
        long && *from > 0.0 && *from >= shape.begin(phase)
    });
    // One that stood still from the first report of a step on has the pace of the step before, and of its standing.
    if let Some(moment) = lasted.find_map(|(from, since)| pace(from, since)) {
        return Some(moment);
    }
    let whole = entered.and_then(|entered| pace(shape.begin(phase), entered));
    let since_first = sample.track.first().and_then(|(first, when)| {
        // At a phase's change Hadoop reports the new phase with the old score.
        let in_phase = first >= shape.begin(phase) && entered.is_some_and(|entered| when >= entered);
        in_phase.then(|| pace(first, when)).flatten()
    });
    // Where it has not moved it takes longer than it has been there.
    let been = entered.map_or(Millis(0), |entered| until.since(entered));
    let typical = || times.typical[phase].map(|typical| typical.max(been).as_secs_f64());
    match (whole, since_first) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b).or_else(typical).or_else(|| pace(0.0, sample.started)),
    }
}
