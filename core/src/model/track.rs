//! What is known of an attempt's progress.

use super::units::{Millis, Time};
use serde::{Deserialize, Serialize};

/// An optional instant in six bytes: state is kept for a million attempts. Later than 2^48 ms, some 8,900 years after 1970, is taken for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "u64", into = "u64")]
pub struct Stamp([u16; 3]);

impl From<u64> for Stamp {
    fn from(millis: u64) -> Stamp {
        let millis = millis.min((1 << 48) - 1);
        Stamp([(millis >> 32) as u16, (millis >> 16) as u16, millis as u16])
    }
}

impl From<Stamp> for u64 {
    fn from(Stamp([high, middle, low]): Stamp) -> u64 {
        u64::from(high) << 32 | u64::from(middle) << 16 | u64::from(low)
    }
}

impl Stamp {
    /// The instant, if one is known.
    pub fn get(self) -> Option<Time> {
        let millis = u64::from(self);
        (millis != 0).then_some(Time(millis))
    }

    /// Keeps the earlier of the known instants.
    pub fn earliest(&mut self, at: Option<Time>) {
        if let Some(at) = at.filter(|at| at.0 != 0)
            && self.get().is_none_or(|known| at < known)
        {
            *self = at.0.into();
        }
    }

    /// Keeps the later of the known instants.
    pub fn latest(&mut self, at: Option<Time>) {
        *self = u64::from(*self).max(at.map_or(0, |at| at.0)).into();
    }
}

/// Progress samples, folded. Joining is commutative, associative and idempotent, so samples may come in any order, from any source, repeated.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Track {
    /// Highest score seen, 0–1. Progress does not go backwards.
    score: f32,
    /// Score of the earliest sample above zero, in 65,535ths; zero while there is none.
    first_score: u16,
    /// Status updates, as a shim counts them.
    reports: u16,
    /// When the highest score was first seen, the AM's clock.
    at: Stamp,
    /// How long before that the earliest score above zero was seen, milliseconds.
    first_before: u32,
    /// The earliest sample in the step that the highest score lies in.
    step: Entry,
    /// The earliest sample in the step before that one.
    before: Entry,
}

/// A sample, told from the track's newest, in six bytes.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[repr(Rust, packed(2))]
struct Entry {
    /// How long before it, milliseconds and one more, at most 24 days. Zero: none was seen.
    ago: i32,
    /// Its score, in 65,535ths.
    score: u16,
}

impl Entry {
    fn new(sample: Option<(u64, u16)>, at: u64) -> Entry {
        let Some((when, score)) = sample else { return Entry::default() };
        let ago = at as i64 - when as i64;
        // Scores out of order can make it younger than the newest.
        let ago = if ago >= 0 { ago + 1 } else { ago };
        Entry { ago: ago.clamp(i32::MIN.into(), i32::MAX.into()) as i32, score }
    }

    /// When it was, and its score.
    fn sample(self, at: u64) -> Option<(u64, u16)> {
        let ago = i64::from(if self.ago > 0 { self.ago - 1 } else { self.ago });
        (self.ago != 0).then(|| (at.saturating_add_signed(-ago), self.score))
    }
}

/// Steps that the way to a score of 1 is cut into. Within one the pace is that of the moment, whatever it was before; with a healthy run in it for an eighth of its
/// time, an attempt that stays for a quarter is slow now.
const STEPS: f32 = 8.0;

const WHOLE: f32 = u16::MAX as f32;

fn step_of(score: f32) -> i32 {
    // Scores are not below zero, so this is the floor, without a call for it.
    (score * STEPS) as i32
}

impl Track {
    /// Adds a sample; a score outside 0–1 or NaN is the caller's to refuse.
    pub fn add(&mut self, score: f32, at: Time) {
        let kept = (score * WHOLE + 0.5) as u16;
        if self.first_score > 0 && score > self.score && self.at.get().is_some_and(|known| known < at) {
            return self.move_on(score, kept, at);
        }
        let mut sample = Track { score, ..Track::default() };
        sample.at.earliest(Some(at));
        sample.step = Entry::new(Some((at.0, kept)), at.0);
        if score > 0.0 {
            sample.first_score = kept.max(1);
        }
        self.join(&sample);
    }

    /// Adds a sample that is higher and later than all before it, which nearly all are: what [`Track::join`] would make of it.
    fn move_on(&mut self, score: f32, kept: u16, at: Time) {
        let known = self.at.get().unwrap_or_default().0;
        let (first, at) = (known - u64::from(self.first_before), u64::from(Stamp::from(at.0)));
        let (entered, new) = (self.step.sample(known), Some((at, kept)));
        let (now, before) = match step_of(score) - step_of(self.score) {
            0 => (entered.min(new), self.before.sample(known)),
            1 => (new, entered),
            _ => (new, None),
        };
        // An entry that is not known is less than one that is.
        let now = now.or(new);
        (self.step, self.before) = (Entry::new(now, at), Entry::new(before, at));
        (self.score, self.at) = (score, at.into());
        self.first_before = (at - first).min(u32::MAX.into()) as u32;
    }

    /// Adds a count of status updates.
    pub fn add_reports(&mut self, reports: u32) {
        self.reports = self.reports.max(reports.min(u16::MAX.into()) as u16);
    }

    /// The earliest sample known of a step: time and score.
    fn entry(&self, step: i32) -> Option<(u64, u16)> {
        let at = self.at.get()?.0;
        match step - step_of(self.score) {
            0 => self.step.sample(at),
            -1 => self.before.sample(at),
            _ => None,
        }
    }

    /// Adds all that another track knows.
    pub fn join(&mut self, other: &Track) {
        self.reports = self.reports.max(other.reports);
        if other.at.get().is_none() {
            return;
        }
        let highest = if self.at.get().is_some() { self.score.max(other.score) } else { other.score };
        let step = step_of(highest);
        let earliest = |step| self.entry(step).into_iter().chain(other.entry(step)).min();
        let (now, before) = (earliest(step), earliest(step - 1));
        let first = self.first_sample().into_iter().chain(other.first_sample()).min();
        if other.score > self.score || self.at.get().is_none() {
            (self.score, self.at) = (other.score, other.at);
        } else if other.score == self.score {
            self.at.earliest(other.at.get());
        }
        let at = self.at.get().map_or(0, |at| at.0);
        (self.step, self.before) = (Entry::new(now, at), Entry::new(before, at));
        if let Some((when, score)) = first {
            self.first_score = score;
            self.first_before = at.saturating_sub(when).min(u32::MAX.into()) as u32;
        }
    }

    fn first_sample(&self) -> Option<(u64, u16)> {
        let at = self.at.get().filter(|_| self.first_score > 0)?;
        Some((at.0 - u64::from(self.first_before), self.first_score))
    }

    /// Highest score seen, 0–1.
    pub fn score(&self) -> f64 {
        f64::from(self.score)
    }

    /// When that score was first seen; `None` before the first sample.
    pub fn at(&self) -> Option<Time> {
        self.at.get()
    }

    /// The score at an instant: on the line between the earliest sample above zero and the highest; `None` before the first.
    pub fn score_at(&self, at: Time) -> Option<f64> {
        let (last, (first_score, first)) = (self.at.get()?, self.first()?);
        if at >= last || last == first {
            return (at >= first).then(|| self.score());
        }
        let share = at.since(first).0 as f64 / last.since(first).0 as f64;
        (at >= first).then(|| first_score + share * (self.score() - first_score))
    }

    /// A kept sample, with a score that is no more than the highest for being rounded.
    fn told(&self, (when, score): (u64, u16)) -> (f64, Time) {
        ((f64::from(score) / f64::from(u16::MAX)).min(self.score()), Time(when))
    }

    /// The earliest sample above zero.
    pub fn first(&self) -> Option<(f64, Time)> {
        self.first_sample().map(|sample| self.told(sample))
    }

    /// For how long it has been seen to progress: from the earliest sample above zero to the highest.
    pub fn shown_for(&self) -> Millis {
        self.first().zip(self.at()).map_or(Millis(0), |((_, first), last)| last.since(first))
    }

    /// The earliest samples in the eighth of the score that the highest lies in, and in the one before: since when the pace of the moment can be told.
    pub fn moments(&self) -> impl Iterator<Item = (f64, Time)> {
        let at = self.at.get().map_or(0, |at| at.0);
        [self.step, self.before].into_iter().filter_map(move |entry| entry.sample(at)).map(|sample| self.told(sample))
    }

    /// Status updates that tell of work: what the samples prove, and a shim's count once they prove a pace. Updates without progress count for nothing.
    pub fn reports(&self) -> u32 {
        let proven = match (self.first_score, self.first_before) {
            (0, _) => 0,
            (_, 0) => 1,
            _ => 2,
        };
        if proven < 2 { proven } else { u32::from(self.reports).max(proven) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn track(samples: &[(f32, u64)]) -> Track {
        let mut track = Track::default();
        for (score, at) in samples {
            track.add(*score, Time(*at));
        }
        track
    }

    #[test]
    fn the_score_at_an_instant_lies_between_the_first_and_the_highest_and_stays_there() {
        let track = track(&[(0.25, 10), (0.5, 20)]);
        let at = [9, 10, 12, 20, 30].map(|at| track.score_at(Time(at)));
        let near = |told: Option<f64>, score: f64| told.is_some_and(|told| (told - score).abs() < 1e-4);
        assert!(
            at[0].is_none() && near(at[1], 0.25) && near(at[2], 0.3) && near(at[3], 0.5) && near(at[4], 0.5),
            "{at:?}"
        );
    }

    #[test]
    fn a_stamp_is_the_instant_it_was_made_of_or_the_last_there_is_and_zero_is_none() {
        for millis in [1, 65_535, 65_536, 1_795_000_000_123, (1 << 48) - 1] {
            assert_eq!(Stamp::from(millis).get(), Some(Time(millis)));
            let json = serde_json::to_string(&Stamp::from(millis)).unwrap();
            assert_eq!(
                (json.as_str(), serde_json::from_str(&json).unwrap()),
                (&*millis.to_string(), Stamp::from(millis))
            );
        }
        assert_eq!(Stamp::from(u64::MAX).get(), Some(Time((1 << 48) - 1)));
        assert_eq!((Stamp::from(0).get(), Stamp::default().get()), (None, None));
        let mut stamp = Stamp::default();
        [Some(Time(70_000)), None, Some(Time(65_536)), Some(Time(0))].into_iter().for_each(|at| stamp.earliest(at));
        assert_eq!(stamp.get(), Some(Time(65_536)));
        [None, Some(Time(65_537)), Some(Time(3))].into_iter().for_each(|at| stamp.latest(at));
        assert_eq!(stamp.get(), Some(Time(65_537)));
    }

    #[test]
    fn progress_never_goes_backwards() {
        let track = track(&[(0.2, 10), (0.5, 20), (0.3, 30)]);
        assert_eq!((track.score(), track.at()), (0.5, Some(Time(20))));
        assert_eq!(track.first().unwrap().1, Time(10));
        assert_eq!(track.reports(), 2);
    }

    #[test]
    fn a_repeated_score_keeps_the_time_it_was_first_seen() {
        assert_eq!(track(&[(0.4, 10), (0.4, 60)]).at(), Some(Time(10)));
    }

    #[test]
    fn a_score_of_zero_is_a_sample_but_no_report_of_work() {
        let track = track(&[(0.0, 10)]);
        assert_eq!((track.at(), track.first(), track.reports()), (Some(Time(10)), None, 0));
    }

    #[test]
    fn updates_without_progress_do_not_make_a_first_score_a_pace() {
        let mut track = track(&[(0.0, 10), (0.35, 20)]);
        track.add_reports(9);
        assert_eq!(track.reports(), 1);
        track.add(0.5, Time(30));
        assert_eq!(track.reports(), 9);
    }

    #[test]
    fn the_pace_of_the_moment_is_told_from_the_step_the_score_is_in() {
        let track = track(&[(0.1, 10), (0.5, 20), (0.55, 60), (0.6, 100)]);
        let moments: Vec<_> = track.moments().collect();
        assert!((moments[0].0 - 0.5).abs() < 1e-4 && moments[0].1 == Time(20), "{moments:?}");
        assert_eq!(std::mem::size_of::<Track>(), 32, "one is kept for each of a million attempts");
        assert_eq!(std::mem::size_of::<Stamp>(), 6);
    }

    #[test]
    fn an_attempt_that_has_just_entered_a_step_still_shows_when_it_entered_the_one_before() {
        let moments = |samples: &[(f32, u64)]| track(samples).moments().map(|(_, at)| at.0).collect::<Vec<_>>();
        assert_eq!(moments(&[(0.1, 10), (0.3, 20), (0.35, 60), (0.4, 100)]), [100, 20]);
        assert_eq!(moments(&[(0.1, 10), (0.9, 20)]), [20], "a step that was jumped over shows nothing");
    }

    proptest! {
        #[test]
        fn a_sample_that_is_higher_and_later_is_added_as_any_other_would_be(
            samples in prop::collection::vec((0u8..20, 1u64..60), 0..12),
        ) {
            let (mut added, mut joined) = (Track::default(), Track::default());
            for (score, at) in samples {
                let (score, at) = (f32::from(score) / 20.0, Time(at));
                added.add(score, at);
                // The first of a track is never higher than one before.
                let mut alone = Track::default();
                alone.add(score, at);
                joined.join(&alone);
                prop_assert_eq!(added, joined);
            }
        }

        #[test]
        fn samples_fold_to_the_same_in_any_order(
            samples in prop::collection::vec((0u8..10, 1u64..50), 0..12).prop_shuffle(),
        ) {
            let scored: Vec<_> = samples.iter().map(|(s, at)| (f32::from(*s) / 10.0, *at)).collect();
            let mut sorted = scored.clone();
            sorted.sort_by(|a, b| a.partial_cmp(b).unwrap());
            let once = track(&scored);
            prop_assert_eq!(once, track(&sorted));
            let twice: Vec<_> = scored.iter().chain(&scored).copied().collect();
            prop_assert_eq!(once, track(&twice));
        }
    }
}
