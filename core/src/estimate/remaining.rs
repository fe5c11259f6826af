//! Mantri's time left of a running task, from the bytes it has read (Mantri, OSDI'10, §5.5).

use super::outlook::{later_seconds, phase_aware_seconds};
use super::phase::{PhaseTimes, Shape};
use super::sample::{Reading, Sample, seconds_left};
use crate::model::{Bytes, Millis, Time};

/// Mantri §5.5, eq. 2: t_rem in seconds. Printed is t_elapsed · d/d_read + t_wrapup, which is the task's projected *whole* time; what is left of it, the paper's "remaining
/// time to process data", is t_elapsed · (d − d_read)/d_read + t_wrapup. `None` before anything was read. A counter beyond the input's size leaves the wrap-up.
pub fn mantri_seconds(elapsed: Millis, size: Bytes, read: Bytes, wrap_up: Millis) -> Option<f64> {
    let (to_read, read) = (size.0.saturating_sub(read.0) as f64, read.0 as f64);
    (read > 0.0).then(|| elapsed.as_secs_f64() * to_read / read + wrap_up.as_secs_f64())
}

/// What a t_rem rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Bytes read.
    Bytes,
    /// The progress score.
    Score,
}

impl Basis {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Basis::Bytes => "t_rem by bytes read",
            Basis::Score => "t_rem by progress score, where bytes do not tell",
        }
    }
}

impl Reading {
    /// t_rem in seconds by eq. 2, counted over the newest reports: tasks speed up and slow down. `None` where the score tells of more than the bytes do: once it has
    /// left its reading phase, or where the counters are older than the score.
    fn seconds_left(&self, sample: &Sample, shape: Shape, times: &PhaseTimes, now: Time) -> Option<f64> {
        let (read, at) = self.newest;
        let outdated = sample.track.at().is_some_and(|scored| scored.since(at) > sample.rhythm);
        if outdated || shape.current(sample.phase, sample.track.score()) > 0 {
            return None;
        }
        let oldest = self.oldest.or_else(|| self.by_first_score(sample, shape));
        let (before, since) = oldest.unwrap_or((Bytes(0), sample.started));
        let stood = sample.stood(self.since);
        let until = if stood.is_some() { sample.heard.max(at) } else { at };
        let (size, read) = (Bytes(self.size.0 - before.0), Bytes(read.0 - before.0));
        let to_read = mantri_seconds(until.since(since), size, read, Millis(0)).filter(|_| until > since)?;
        let whole = until.since(since).as_secs_f64() * self.size.0 as f64 / read.0 as f64;
        let wrap_up = later_seconds(shape, times, 0, whole);
        Some(seconds_left(to_read + wrap_up, stood, now.since(at)))
    }

    /// Where counters were told once only: what had been read by the first report, as its score has it. Counted from the launch on, the pace would have the start-up in it.
    fn by_first_score(&self, sample: &Sample, shape: Shape) -> Option<(Bytes, Time)> {
        let (read, at) = self.newest;
        let (score, first) = sample.track.first()?;
        let before = Bytes((self.size.0 as f64 * shape.done(0, score)) as u64);
        (first < at && before < read).then_some((before, first))
    }
}

/// Mantri §5.5: t_rem in seconds at `now` on the AM's clock. By bytes; where they do not tell, the share of its phase that an attempt's score shows stands for
/// d_read/d, and the typical length of the phases to come for the wrap-up. `None` while there is no progress.
pub fn t_rem(sample: &Sample, shape: Shape, times: &PhaseTimes, now: Time) -> Option<(f64, Basis)> {
    let by_bytes = sample.reading.and_then(|reading| reading.seconds_left(sample, shape, times, now));
    let by_score = || phase_aware_seconds(sample, shape, times, now).map(|left| (left, Basis::Score));
    by_bytes.map(|left| (left, Basis::Bytes)).or_else(by_score)
}

#[cfg(test)]
mod tests {
    use super::super::phase::{MAP_AND_SORT, MAP_ONLY};
    use super::*;
    use crate::model::{Intake, Phase, Track};
    use proptest::prelude::*;

    fn left(elapsed: u64, size: u64, read: u64, wrap_up: u64) -> Option<f64> {
        mantri_seconds(Millis(elapsed), Bytes(size), Bytes(read), Millis(wrap_up))
    }

    #[test]
    fn what_is_left_is_read_at_the_pace_so_far_and_then_wrapped_up() {
        assert_eq!(left(60_000, 100, 25, 5_000), Some(185.0));
        assert_eq!(left(60_000, 100, 100, 5_000), Some(5.0));
        assert_eq!(left(60_000, 100, 130, 5_000), Some(5.0), "a counter may run past the split");
        assert_eq!(left(60_000, 100, 0, 5_000), None);
    }

    const LAUNCH: u64 = 1_000_000;

    /// A map of 100 bytes that told of these, (second, bytes), looked at and heard of at `now`.
    fn seen(told: &[(u64, u64)], now: u64, scores: &[(u64, f32)]) -> (Sample, Time) {
        let at = |second: u64| Time(LAUNCH + second * 1_000);
        let mut track = Track::default();
        scores.iter().for_each(|(second, score)| track.add(*score, at(*second)));
        let report = |(second, bytes): &(u64, u64)| {
            let mut intake = Intake { bytes: Bytes(*bytes), ..Intake::default() };
            intake.at.latest(Some(at(*second)));
            intake
        };
        let reports: Vec<Intake> = told.iter().rev().map(report).collect();
        let sample = Sample {
            launched: at(0),
            started: at(0),
            track,
            phase: Some(Phase::Map),
            entered: [None; 2],
            heard: at(now),
            rhythm: Millis(2_000),
            reading: Reading::of(Bytes(100), reports.iter()),
        };
        (sample, at(now))
    }

    fn seconds(told: &[(u64, u64)], now: u64, scores: &[(u64, f32)]) -> Option<(f64, Basis)> {
        let (sample, now) = seen(told, now, scores);
        t_rem(&sample, MAP_ONLY, &PhaseTimes::default(), now)
    }

    #[test]
    fn bytes_that_were_told_once_are_set_against_the_first_score_and_not_against_the_launch() {
        let scores = [(10, 0.2), (12, 0.3)];
        assert_eq!(seconds(&[(12, 30)], 12, &scores), Some((14.0, Basis::Bytes)), "its start took 8 s");
        let behind = [(10, 0.35), (12, 0.4)];
        assert_eq!(seconds(&[(12, 30)], 12, &behind), Some((28.0, Basis::Bytes)), "where these do not agree");
        assert_eq!(seconds(&[(12, 30)], 12, &[(12, 0.3)]), Some((28.0, Basis::Bytes)));
        assert_eq!(seconds(&[(12, 30)], 12, &[(12, 0.2)]), Some((28.0, Basis::Bytes)), "no time since the first");
        let still = [(10, 0.3), (12, 0.4)];
        assert_eq!(seconds(&[(12, 30)], 12, &still), Some((28.0, Basis::Bytes)), "nothing read since the first");
    }

    #[test]
    fn a_first_report_is_set_against_the_whole_life_and_later_ones_against_the_oldest_kept() {
        assert_eq!(seconds(&[(10, 20)], 10, &[]), Some((40.0, Basis::Bytes)));
        // Its start took 8 s of the 10.
        assert_eq!(seconds(&[(10, 20), (20, 60)], 20, &[]), Some((10.0, Basis::Bytes)));
    }

    #[test]
    fn a_task_that_turns_slow_is_judged_by_its_newest_reports() {
        let told = [(10, 50), (12, 52), (14, 54), (16, 56)];
        assert_eq!(seconds(&told, 16, &[]), Some((44.0, Basis::Bytes)), "and not 12.6 by its whole life");
    }

    #[test]
    fn beyond_its_rhythm_it_is_taken_to_stand_still_since_its_last_report() {
        let left = |now| seconds(&[(10, 20), (12, 40)], now, &[]).unwrap().0;
        assert_eq!((left(12), left(14)), (6.0, 4.0), "in its rhythm it goes on");
        assert_eq!((left(15), left(20)), (15.0, 30.0));
        let (mut sample, now) = seen(&[(10, 97), (12, 99)], 100, &[]);
        let left = |sample: &Sample| t_rem(sample, MAP_ONLY, &PhaseTimes::default(), now).unwrap().0;
        assert_eq!(left(&sample), 88.0, "nobody knows when it reads what it lacks");
        sample.reading = sample.reading.map(|reading| Reading { newest: (Bytes(99), now), ..reading });
        assert_eq!(left(&sample), 88.0, "that it has read no more was told again and again");
    }

    #[test]
    fn the_wrap_up_is_what_earlier_tasks_took_after_their_reading() {
        let (sample, now) = seen(&[(10, 20), (12, 40)], 12, &[]);
        let left = |times| t_rem(&sample, MAP_AND_SORT, &times, now).unwrap().0;
        assert_eq!(left(PhaseTimes { typical: [None, Some(Millis(5_000)), None] }), 11.0);
        assert!((left(PhaseTimes::default()) - (6.0 + 10.0 * 0.333 / 0.667)).abs() < 1e-9, "at its own pace");
    }

    #[test]
    fn without_bytes_the_score_stands_for_the_share_that_is_read() {
        let halves = [(5, 0.25), (10, 0.5)];
        for told in [&[][..], &[(10, 0)], &[(10, 100)], &[(2, 20)]] {
            assert_eq!(seconds(told, 10, &halves).unwrap().1, Basis::Score, "{told:?}");
        }
        assert!((seconds(&[], 10, &halves).unwrap().0 - 10.0).abs() < 1e-3);
        assert_eq!(seconds(&[], 10, &[]), None);
        let (sample, now) = seen(&[(10, 90)], 10, &[(10, 0.7)]);
        let left = t_rem(&sample, MAP_AND_SORT, &PhaseTimes::default(), now);
        assert_eq!(left.unwrap().1, Basis::Score, "it sorts, and reads no more");
    }

    proptest! {
        #[test]
        fn with_the_time_gone_it_is_the_whole_that_the_paper_prints(elapsed in 1..10_000_000_u64, size in 1..1_000_000_000_u64, share in 1..100_u64) {
            let read = (size * share / 100).max(1);
            let whole = elapsed as f64 / 1000.0 * size as f64 / read as f64;
            prop_assert!((left(elapsed, size, read, 0).unwrap() + elapsed as f64 / 1000.0 - whole).abs() <= 1e-9 * whole);
        }

        #[test]
        fn more_read_is_less_left_and_slower_is_more(elapsed in 1..10_000_000_u64, size in 2..1_000_000_000_u64, share in 1..99_u64) {
            let read = (size * share / 100).max(1);
            prop_assert!(left(elapsed, size, read + 1, 7) <= left(elapsed, size, read, 7));
            prop_assert!(left(elapsed * 2, size, read, 7) >= left(elapsed, size, read, 7));
        }
    }

    #[test]
    fn reports_that_show_no_bytes_or_no_time_or_are_older_than_the_score_by_more_than_a_report_tell_nothing() {
        let none = Intake::default();
        assert_eq!(Reading::of(Bytes(100), [none].iter()), None);
        assert_eq!(seconds(&[(0, 20)], 0, &[]), None, "no time has passed");
        // Its score came a whole rhythm later, and no more.
        assert_eq!(seconds(&[(10, 20)], 12, &[(12, 0.3)]).unwrap().1, Basis::Bytes);
        assert_eq!(seconds(&[(10, 20)], 13, &[(13, 0.3)]).unwrap().1, Basis::Score);
        // Its counter stood still between its two reports: 12 s for a fifth.
        assert_eq!(seconds(&[(10, 20), (12, 20)], 12, &[]), Some((48.0, Basis::Bytes)));
    }

    #[test]
    fn the_estimator_of_that_name_is_the_same_function() {
        use crate::estimate::{Estimator, calibration::Spreads};
        for (told, scores) in [(&[(10, 20), (12, 40)][..], &[][..]), (&[], &[(5, 0.25), (10, 0.5)])] {
            let (sample, now) = seen(told, 12, scores);
            let times = PhaseTimes::default();
            let left = Estimator::Mantri.time_left(&sample, MAP_ONLY, &times, Spreads::UNMEASURED, now).unwrap();
            assert_eq!(left.mean, Millis::from_secs_f64(seconds(told, 12, scores).unwrap().0));
        }
    }
}
