//! How long a copy started now would take.

use super::input::Typical;
use super::prior::{ENOUGH, Prior};
use super::runs::{Run, Runs, SHARE_MIN};
use super::split;
use super::stats::{probability_positive, robust_mean_spread};
use super::time_left::Left;
use crate::model::{Bytes, Millis};
use serde::{Deserialize, Serialize};

/// A fresh copy's time from the decision to its end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FreshCopy {
    /// Expected.
    pub mean: Millis,
    /// What of that goes by before its work begins: a task with more data takes no longer to start.
    #[serde(default)]
    pub start: Millis,
    /// One standard deviation.
    pub spread: Millis,
    /// How many finished tasks it rests on, those of earlier runs included.
    pub evidence: usize,
}

/// What a fresh copy's time rests on beside its phase, as Mantri's t_new does (Mantri, OSDI'10, §5.5).
#[derive(Debug, Clone, Copy)]
pub struct Beside<'a> {
    /// locationFactor (eq. 3) of the machine that it would get.
    pub location: f64,
    /// How long such tasks took in earlier runs of the job: they speak while the phase has too few finished tasks.
    pub earlier: Option<&'a Prior>,
    /// The phase's tasks can tell their start-up from their work: they are maps.
    pub told: bool,
    /// What the phase's tasks typically have.
    pub data: Typical,
}

impl Beside<'_> {
    /// A machine like any other, and no earlier run.
    pub const NOTHING: Beside<'static> =
        Beside { location: 1.0, earlier: None, told: false, data: Typical { split: Bytes(0), input: None } };
}

impl FreshCopy {
    /// By how much it ends before an attempt with so much time left, zero where it does not; and with what probability (0–1) it does, both times being normal.
    pub fn ahead_of(&self, left: Left) -> (Millis, f64) {
        let ahead = left.mean.0 as f64 - self.mean.0 as f64;
        let spread = (left.spread.0 as f64).hypot(self.spread.0 as f64);
        (Millis(ahead.max(0.0) as u64), probability_positive(ahead, spread))
    }

    /// From the phase's finished tasks: their time at work and the start-up of the latest launches (Mantri §5.5, eq. 3, likewise takes a copy's time from the tasks' rate of
    /// work, and adds the lag of its start), or where reports do not tell those apart their whole run times; plus the time a copy waits for its container and JVM.
    /// The spread is never below a tenth of the mean: few or equal samples do not make the future certain.
    pub fn learn(runs: &Runs, start_lag: Millis) -> Option<FreshCopy> {
        FreshCopy::beside(runs, start_lag, &Beside::NOTHING)
    }

    /// The same with what is known beside the phase. The machine slows the work, and neither the start-up nor the wait.
    pub fn beside(runs: &Runs, start_lag: Millis, known: &Beside<'_>) -> Option<FreshCopy> {
        const LEAST_SPREAD: f64 = 0.1;
        // As each would be over a typical split, where those are told; its first steps, too, are no measure where others are there.
        let most = if runs.told() { f64::INFINITY } else { 1.0 };
        let share =
            |run: &Run| split::share(run.input, known.data.split).map_or(1.0, |share| share.clamp(SHARE_MIN, most));
        let own = split::telling(runs.own_runs(), known.data.split, false);
        let mut times: Vec<f64> = own.map(|(seconds, run)| seconds / share(run)).collect();
        let (mut start_up, unsure) = runs.before_own();
        let mut evidence = runs.finished.len();
        let earlier = known.earlier.filter(|_| evidence < ENOUGH);
        let told = known.told && runs.told();
        if let Some((theirs, tasks, seconds)) = earlier.and_then(|earlier| earlier.beside(runs, told, known.data)) {
            (start_up, evidence) = (theirs, evidence + tasks);
            times.extend(seconds);
        }
        let (typical, spread) = robust_mean_spread(&mut times)?;
        let mean = typical * known.location + start_up;
        let spread = (spread * known.location).hypot(unsure);
        Some(FreshCopy {
            mean: Millis::from_secs_f64(mean) + start_lag,
            start: Millis::from_secs_f64(start_up) + start_lag,
            spread: Millis::from_secs_f64(spread.max(mean * LEAST_SPREAD)),
            evidence,
        })
    }

    /// For a task whose input is `ratio` times the typical one, which its work is, too.
    pub fn scaled(self, ratio: f64) -> FreshCopy {
        FreshCopy {
            mean: (self.mean - self.start).scaled(ratio) + self.start,
            spread: self.spread.scaled(ratio),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::runs::tests::{attempt, runs};
    use super::*;

    #[test]
    fn equal_tasks_still_leave_a_copys_time_uncertain() {
        let copy = FreshCopy::learn(&runs(&[4.0, 4.0, 4.0]), Millis(500)).unwrap();
        assert_eq!((copy.mean, copy.spread, copy.evidence), (Millis(4500), Millis(400), 3));
        assert_eq!(FreshCopy::learn(&runs(&[]), Millis(500)), None);
    }

    #[test]
    fn earlier_runs_speak_while_fewer_than_three_tasks_have_finished_and_the_machine_slows_the_work_alone() {
        let earlier = Prior::new(vec![30.0; 4], Bytes(0), 5.0).unwrap();
        let copy = |whole: &[f64], location, told| {
            let known = Beside { location, earlier: Some(&earlier), told, data: Bytes(0).into() };
            let copy = FreshCopy::beside(&runs(whole), Millis(500), &known).unwrap();
            (copy.mean, copy.evidence)
        };
        assert_eq!(copy(&[], 1.0, true), (Millis(35_500), 4), "before any has finished");
        assert_eq!(copy(&[8.0, 8.0], 1.0, true), (Millis(35_500), 6), "whole times beside whole times");
        assert_eq!(copy(&[8.0, 8.0, 8.0], 1.0, true), (Millis(8_500), 3));
        assert_eq!(copy(&[8.0, 8.0, 8.0], 1.5, true), (Millis(12_500), 3));
        assert_eq!(copy(&[], 2.0, true).0, Millis(65_500), "two times thirty of work, five to start");
        assert_eq!(copy(&[], 2.0, false).0, Millis(70_500), "where start-up is not told from work it is slowed, too");
        let spread = |location| {
            let known = Beside { location, ..Beside::NOTHING };
            FreshCopy::beside(&runs(&[6.0, 8.0, 12.0]), Millis(0), &known).unwrap().spread
        };
        assert_eq!(spread(2.0), spread(1.0) + spread(1.0));
    }

    #[test]
    fn the_crowd_of_the_first_wave_does_not_make_a_copy_slow() {
        let mut seen = runs(&[16.0; 7]);
        for index in 0..7 {
            let (launched, track, finished) = attempt(0.0, 8.0);
            seen.finished[index].work = seen.add(launched, &track, Some(finished));
        }
        assert_eq!(FreshCopy::learn(&seen, Millis(1_000)).unwrap().mean, Millis(17_000));
        for _ in 0..6 {
            let (launched, track, _) = attempt(16.0, 1.5);
            seen.add(launched, &track, None);
        }
        assert_eq!(FreshCopy::learn(&seen, Millis(1_000)).unwrap().mean, Millis(10_500));
    }

    #[test]
    fn half_of_what_a_crowd_of_starts_takes_longer_than_one_alone_might_is_laid_to_the_crowd() {
        let mut seen = runs(&[12.0; 4]);
        for index in 0..4 {
            let (launched, track, finished) = attempt(0.5 * index as f64, 4.0);
            seen.finished[index].work = seen.add(launched, &track, Some(finished));
        }
        seen.count_crowds((0..4).map(|half| attempt(0.5 * f64::from(half), 0.0).0).chain([attempt(60.0, 0.0).0]));
        let copy = FreshCopy::learn(&seen, Millis(0)).unwrap();
        assert_eq!(copy.mean, Millis(10_500), "8 of work, and between 1 and 4 to start");
        assert!(copy.spread > Millis(860), "three seconds over the root of twelve: {copy:?}");
    }

    #[test]
    fn a_task_of_so_many_times_the_data_takes_a_copy_so_many_times_as_long_to_work_and_no_longer_to_start() {
        let copy = FreshCopy { mean: Millis(21_000), start: Millis(11_000), spread: Millis(500), evidence: 3 };
        let of = |mean, spread| FreshCopy { mean: Millis(mean), spread: Millis(spread), ..copy };
        assert_eq!([copy.scaled(5.0), copy.scaled(0.5)], [of(61_000, 2_500), of(16_000, 250)]);
    }
}
