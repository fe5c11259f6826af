//! Hadoop's own estimators of an attempt's run time (3.4.3, org.apache.hadoop.mapreduce.v2.app.speculate) as they are, faults included, to compare with.

mod durations;
mod runtime;

pub use durations::{Durations, enough_finished};

use super::sample::Sample;
use crate::model::{Millis, Time};

/// Hadoop's `TaskRuntimeEstimator`s: a job names one in `yarn.app.mapreduce.am.job.task.estimator.class`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuntimeEstimator {
    /// LegacyTaskRuntimeEstimator, Hadoop's default.
    Legacy,
    /// ExponentiallySmoothedTaskRuntimeEstimator, which smooths the rate by default.
    Smoothed,
    /// SimpleExponentialTaskRuntimeEstimator.
    SimpleExponential,
}

/// A status update, as an estimator takes it in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Update {
    /// How long after the attempt's launch, the AM's clock.
    pub after: Millis,
    /// Progress score, 0–1; Hadoop reckons with single precision.
    pub progress: f32,
}

/// The updates of one attempt.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Updates {
    /// Those that are known, in order of time, no two at once.
    kept: Vec<Update>,
    /// How many there were: the last one's number, from 1.
    reads: u32,
}

impl Updates {
    /// What the model keeps of them: the earliest above zero, those with which the attempt entered the two latest eighths of its way, and the newest that moved it.
    /// Hadoop's estimators see every one. To Legacy the missing ones matter only while the score stands still; the two others smooth over fewer and longer steps.
    pub fn kept(sample: &Sample) -> Updates {
        let track = &sample.track;
        let newest = track.at().map(|at| (track.score(), at));
        let mut seen: Vec<(f64, Time)> = track.first().into_iter().chain(track.moments()).chain(newest).collect();
        // A score of zero does not prove an update: REST shows it before the first.
        seen.retain(|(score, at)| *score > 0.0 && *at > sample.launched);
        seen.sort_by(|a, b| a.1.cmp(&b.1).then(b.0.total_cmp(&a.0)));
        seen.dedup_by_key(|(_, at)| *at);
        let update = |(score, at): (f64, Time)| Update { after: at.since(sample.launched), progress: score as f32 };
        let kept: Vec<Update> = seen.into_iter().map(update).collect();
        let reads = if kept.is_empty() { 0 } else { track.reports().max(kept.len() as u32) };
        Updates { kept, reads }
    }

    /// The newest; `None` before the first.
    pub fn newest(&self) -> Option<Update> {
        self.kept.last().copied()
    }

    /// How many there were.
    pub fn reads(&self) -> u32 {
        self.reads
    }

    /// Adds that the newest was repeated so many times, the last time at `after`. For each of the estimators the ones between change nothing: their rates are zero.
    pub fn repeat(&mut self, times: u32, after: Millis) {
        self.kept.push(Update { after, progress: self.newest().map_or(0.0, |newest| newest.progress) });
        self.reads = self.reads.saturating_add(times);
    }
}

impl RuntimeEstimator {
    /// Time left at `now` on the AM's clock, nothing once the estimated end has passed; `None` where Hadoop has no estimate either.
    pub fn time_left(self, sample: &Sample, now: Time) -> Option<Millis> {
        Some((sample.launched + self.runtime(&Updates::kept(sample))?).since(now))
    }

    /// `estimatedRuntime`: from the attempt's launch to its end. `None` before the first update, where Hadoop says −1, and where it says something else below zero.
    pub fn runtime(self, updates: &Updates) -> Option<Millis> {
        match self {
            RuntimeEstimator::Legacy => updates.newest().map(runtime::legacy),
            RuntimeEstimator::Smoothed => runtime::smoothed(&updates.kept, updates.reads),
            RuntimeEstimator::SimpleExponential => runtime::simple_exponential(&updates.kept, updates.reads),
        }
    }

    /// `estimatedNewAttemptRuntime`: how long a fresh attempt takes, without any time to start it; zero before anything has finished.
    pub fn fresh_attempt(self, finished: &Durations) -> Millis {
        match self {
            RuntimeEstimator::Legacy | RuntimeEstimator::Smoothed => Millis(finished.mean() as u64),
            RuntimeEstimator::SimpleExponential => Millis(finished.cautious() as u64),
        }
    }

    /// `hasStagnatedProgress` of an attempt that has been read so often. SimpleExponentialSmoothing#isDataStagnated compares the wrong way round, so that what is
    /// fresher than six minutes passes for stagnated; an attempt that is looked at each second is never older.
    pub fn has_stagnated(self, reads: u32) -> bool {
        self == RuntimeEstimator::SimpleExponential && reads > runtime::SKIP_INITIALS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Track;

    fn sample(updates: &[(u64, f32)]) -> Sample {
        let mut track = Track::default();
        for (ms, score) in updates {
            track.add(*score, Time(1_000_000 + ms));
        }
        Sample {
            launched: Time(1_000_000),
            started: Time(1_000_000),
            track,
            phase: None,
            entered: [None; 2],
            heard: Time(1_000_000),
            rhythm: Millis(0),
            reading: None,
        }
    }

    #[test]
    fn legacys_estimate_needs_nothing_that_the_model_does_not_keep() {
        let now = Time(1_030_000);
        let left = |updates| RuntimeEstimator::Legacy.time_left(&sample(updates), now);
        assert_eq!(left(&[]), None);
        assert_eq!(left(&[(3_000, 0.0)]), None, "a score of zero is no update");
        assert_eq!(left(&[(6_000, 0.1), (12_000, 0.25), (18_000, 0.4), (24_000, 0.45)]), Some(Millis(23_333)));
        assert_eq!(left(&[(6_000, 0.5)]), Some(Millis(0)), "past its estimated end");
    }

    #[test]
    fn of_more_updates_than_are_kept_the_steps_into_the_two_latest_eighths_remain() {
        let steady: Vec<(u64, f32)> = (1..=20).map(|n| (n * 1_000, n as f32 / 25.0)).collect();
        let updates = Updates::kept(&sample(&steady));
        assert_eq!(updates.kept.iter().map(|u| u.after.0).collect::<Vec<_>>(), [1_000, 16_000, 19_000, 20_000]);
        let left = |estimator: RuntimeEstimator| estimator.time_left(&sample(&steady), Time(1_020_000)).unwrap();
        assert!(left(RuntimeEstimator::Smoothed).0.abs_diff(5_000) < 10, "{:?}", left(RuntimeEstimator::Smoothed));
    }

    #[test]
    fn an_update_at_the_very_launch_is_none_and_the_others_are_counted() {
        assert_eq!(Updates::kept(&sample(&[(0, 0.5)])).newest(), None);
        let updates = Updates::kept(&sample(&[(0, 0.1), (6_000, 0.25), (12_000, 0.5)]));
        assert_eq!((updates.reads(), updates.newest().map(|newest| newest.after)), (2, Some(Millis(12_000))));
    }

    #[test]
    fn only_simple_exponential_calls_an_attempt_stagnated_and_that_beyond_the_reads_it_skips() {
        let stagnated = |estimator: RuntimeEstimator| [0, 24, 25].map(|reads| estimator.has_stagnated(reads));
        assert_eq!(stagnated(RuntimeEstimator::SimpleExponential), [false, false, true]);
        assert_eq!(stagnated(RuntimeEstimator::Smoothed), [false; 3]);
        assert_eq!(stagnated(RuntimeEstimator::Legacy), [false; 3]);
    }
}
