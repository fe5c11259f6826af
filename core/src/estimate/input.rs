//! How much input a task has, where nobody tells the length of its split: from what it has read so far.

use super::phase::Shape;
use super::split::share;
use super::stats::median;
use crate::model::{Bytes, Intake, TaskKind, Track};
use serde::{Deserialize, Serialize};

/// Bytes and records, each zero where unknown.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Whole {
    /// Bytes.
    pub bytes: f64,
    /// Records.
    pub records: f64,
}

/// What a phase's tasks typically have: the length of their splits, zero where none is told, or else what counters tell.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Typical {
    /// Median length of the splits.
    pub split: Bytes,
    /// Median input by counters; `None` before any was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Whole>,
}

impl From<Bytes> for Typical {
    fn from(split: Bytes) -> Typical {
        Typical { split, input: None }
    }
}

impl Typical {
    /// How many times the other it is: 1 where that is not known.
    pub fn share_of(self, other: Typical) -> f64 {
        match (self.split.0, other.split.0) {
            (0, 0) => self.input.zip(other.input).map_or(1.0, |(own, other)| own.ratio_to(other)),
            _ => share(self.split, other.split).unwrap_or(1.0),
        }
    }
}

impl Whole {
    /// All of a finished task's input: what it has read.
    pub fn of_finished(intake: Intake) -> Whole {
        Whole { bytes: intake.bytes.0 as f64, records: intake.records as f64 }
    }

    /// A running task has read only part of its input, so what compares with finished peers is what it will have read: the amount so far over
    /// the share of its reading phase that its score shows, the same projection by which LATE §4 takes a task's whole time from its score
    /// (ProgressScore / T). `None` while too little is done to tell.
    pub fn projected(intake: Intake, kind: TaskKind, shape: Shape, track: &Track) -> Option<Whole> {
        // A score is known to a report's width: below this share that width decides.
        const LEAST: f64 = 0.05;
        let score = track.score_at(intake.at.get()?)?;
        let by_share = |amount: f64, share: f64| if share < LEAST { 0.0 } else { amount / share };
        // A map reads in its first phase; a reduce shuffles bytes in its first and takes records in its last.
        let records_in = if kind == TaskKind::Reduce { shape.phases() - 1 } else { 0 };
        let whole = Whole {
            bytes: by_share(intake.bytes.0 as f64, shape.done(0, score)),
            records: by_share(intake.records as f64, shape.done(records_in, score)),
        };
        (shape.done(0, score) >= LEAST).then_some(whole)
    }

    /// The typical input of tasks: medians, of bytes and of records.
    pub fn typical(all: &[Whole]) -> Whole {
        let of = |amount: fn(&Whole) -> f64| median(&mut all.iter().map(amount).collect::<Vec<_>>()).unwrap_or(0.0);
        Whole { bytes: of(|whole| whole.bytes), records: of(|whole| whole.records) }
    }

    /// How many times the other it is: by bytes where both know them, else by records; 1 where neither does.
    pub fn ratio_to(self, other: Whole) -> f64 {
        match (self, other) {
            (a, b) if a.bytes > 0.0 && b.bytes > 0.0 => a.bytes / b.bytes,
            (a, b) if a.records > 0.0 && b.records > 0.0 => a.records / b.records,
            _ => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::phase::{MAP_AND_SORT, REDUCE};
    use super::*;
    use crate::model::{Stamp, Time};

    fn intake(bytes: u64, records: u64, at: u64) -> Intake {
        let mut stamp = Stamp::default();
        stamp.earliest(Some(Time(at)));
        Intake { bytes: Bytes(bytes), records, at: stamp, ..Intake::default() }
    }

    fn track(samples: &[(f32, u64)]) -> Track {
        let mut track = Track::default();
        samples.iter().for_each(|(score, at)| track.add(*score, Time(*at)));
        track
    }

    #[test]
    fn a_map_that_has_read_forty_of_its_hundred_records_is_seen_to_have_a_hundred() {
        // tests/recorded/3.4.3/am: 40 records at a score of 0.26 of a map with reduces.
        let whole = Whole::projected(intake(0, 40, 20), TaskKind::Map, MAP_AND_SORT, &track(&[(0.267, 20)])).unwrap();
        assert!((whole.records - 100.0).abs() < 1.0 && whole.bytes == 0.0, "{whole:?}");
    }

    #[test]
    fn counters_read_before_the_newest_score_are_set_against_the_score_of_their_time() {
        let seen = track(&[(0.2, 10), (0.6, 30)]);
        let whole = Whole::projected(intake(400, 0, 20), TaskKind::Map, MAP_AND_SORT, &seen).unwrap();
        assert!((whole.bytes - 400.0 / (0.4 / 0.667)).abs() < 1.0, "{whole:?}");
    }

    #[test]
    fn a_reduce_past_its_copying_has_shuffled_all_of_its_bytes() {
        let whole = Whole::projected(intake(900, 30, 20), TaskKind::Reduce, REDUCE, &track(&[(0.8, 20)])).unwrap();
        assert_eq!(whole.bytes, 900.0);
        assert!((whole.records - 75.0).abs() < 0.1, "{whole:?}");
    }

    #[test]
    fn too_little_read_tells_nothing() {
        assert_eq!(Whole::projected(intake(9, 9, 20), TaskKind::Map, MAP_AND_SORT, &track(&[(0.01, 20)])), None);
        assert_eq!(Whole::projected(intake(9, 9, 20), TaskKind::Map, MAP_AND_SORT, &Track::default()), None);
    }

    #[test]
    fn bytes_are_compared_with_bytes_and_records_with_records() {
        let whole = |bytes, records| Whole { bytes, records };
        let typical = Whole::typical(&[whole(100.0, 10.0), whole(120.0, 30.0), whole(110.0, 20.0)]);
        assert_eq!(typical, whole(110.0, 20.0));
        assert_eq!(whole(550.0, 0.0).ratio_to(typical), 5.0);
        assert_eq!(whole(0.0, 60.0).ratio_to(typical), 3.0);
        assert_eq!(whole(0.0, 0.0).ratio_to(typical), 1.0);
        assert_eq!(whole(500.0, 0.0).ratio_to(whole(0.0, 7.0)), 1.0);
    }

    #[test]
    fn a_reduce_that_has_only_begun_to_reduce_does_not_tell_its_records() {
        // A third of a per cent, and a twentieth of its last phase.
        let whole = |score: f32| {
            Whole::projected(intake(90, 30, 10), TaskKind::Reduce, REDUCE, &track(&[(score, 10)])).unwrap()
        };
        assert_eq!(whole(0.667), Whole { bytes: 90.0, records: 0.0 });
        assert!((whole(0.7).records - 300.0).abs() < 0.1, "a tenth is taken");
    }

    #[test]
    fn where_only_one_of_two_knows_its_records_nothing_is_known_of_their_ratio() {
        let records = Whole { bytes: 0.0, records: 5.0 };
        assert_eq!((records.ratio_to(Whole::default()), Whole::default().ratio_to(records)), (1.0, 1.0));
    }
}
