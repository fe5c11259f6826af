//! `estimatedRuntime` of each of Hadoop's estimators: exact functions of an attempt's updates, in order of time, no two at once.

use super::Update;
use crate::model::Millis;

/// The run time of an attempt that will never end: Hadoop's end is then the largest of its instants.
const NEVER: Millis = Millis(u64::MAX);

/// `yarn.app.mapreduce.am.job.task.estimator.simple.exponential.smooth.skip-initials`: so many reads do not count.
pub const SKIP_INITIALS: u32 = 24;

/// LegacyTaskRuntimeEstimator#updateAttempt: the attempt's age at its newest update by its progress then.
pub fn legacy(newest: Update) -> Millis {
    const LEAST_PROGRESS: f64 = 0.0001;
    Millis((newest.after.0 as f64 / f64::from(newest.progress).max(LEAST_PROGRESS)) as u64)
}

/// ExponentiallySmoothedTaskRuntimeEstimator: its age at its newest update, and what is left at the smoothed rate. `None` where Hadoop's end lies before that.
///
/// Faults kept: the first update's progress is lost (`incorporateReading`), and until the second the end is never; the second is set against the beginning of time
/// and gives no rate; what has been longer ago weighs more, not less, and the newest weighs less than nothing (`EstimateVector#incorporate`), so that an attempt
/// that turns slow seems to turn fast.
/// Where `reads` is more than the updates known, the lost ones are taken to be among those that are not.
pub fn smoothed(updates: &[Update], reads: u32) -> Option<Millis> {
    // yarn.app.mapreduce.am.job.task.estimator.exponential.smooth.lambda-ms.
    const LAMBDA: f64 = 60_000.0;
    if reads == 1 {
        return Some(NEVER);
    }
    let lost = usize::from(reads as usize == updates.len());
    let (mut based, later) = updates.get(lost..)?.split_first()?;
    let mut rate = -1.0;
    for update in later {
        let took = update.after - based.after;
        let weight = if rate < 0.0 { 0.0 } else { (took.0 as f64 / LAMBDA).exp() };
        let read = f64::from((update.progress - based.progress) / took.0 as f32);
        rate = rate * weight + read * (1.0 - weight);
        based = update;
    }
    let left = (1.0 - f64::from(based.progress)) / rate;
    (rate > 0.0).then(|| based.after + Millis(left as u64))
}

/// SimpleExponentialTaskRuntimeEstimator over SimpleExponentialSmoothing: its age at its newest update, and what is left at the smoothed rate.
///
/// Fault kept: while no more than [`SKIP_INITIALS`] updates were read, "no forecast" counts as a rate of almost nothing, and the attempt as one that takes months.
/// Where `reads` is more than the updates known, the others came before them.
pub fn simple_exponential(updates: &[Update], reads: u32) -> Option<Millis> {
    // ….simple.exponential.smooth.lambda-ms.
    const TIME_CONSTANT: f64 = 120_000.0;
    /// Progress per millisecond.
    const LEAST_RATE: f64 = 1e-10;
    let first = updates.first()?;
    let mut based = Update { after: Millis(0), progress: 0.0 };
    let mut forecast = f64::from(first.progress) / first.after.0 as f64;
    let mut before = reads - updates.len() as u32;
    let mut constant = None;
    for update in updates {
        let took = (update.after - based.after).0 as f64;
        let read = (f64::from(update.progress) - f64::from(based.progress)) / took;
        if before >= SKIP_INITIALS {
            // From then on it is as long as the attempt had run by then, if that is longer.
            constant.get_or_insert(TIME_CONSTANT.max(update.after.0 as f64));
        }
        let weight = 1.0 - (-took / constant.unwrap_or(TIME_CONSTANT)).exp();
        forecast = weight * read + (1.0 - weight) * forecast;
        (based, before) = (*update, before + 1);
    }
    let rate = if reads > SKIP_INITIALS { forecast.max(LEAST_RATE) } else { LEAST_RATE };
    let left = (1.0 - f64::from(based.progress)).clamp(0.0, 1.0) / rate;
    Some(based.after + Millis(left as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After each of the updates, what the estimators of Hadoop 3.4.3 answered for them under Java 17, milliseconds. Where Smoothed was below zero: `None`.
    type Answers<'a> = &'a [(u64, f32, u64, Option<u64>, u64)];

    const UNENDING: Option<u64> = Some(u64::MAX);

    const STEADY_THEN_SLOW: Answers<'_> = &[
        (6_000, 0.1, 59_999, UNENDING, 9_000_005_985),
        (12_000, 0.25, 48_000, None, 7_500_012_000),
        (18_000, 0.4, 44_999, Some(41_999), 6_000_017_940),
        (24_000, 0.45, 53_333, Some(44_558), 5_500_024_119),
        (30_000, 0.5, 60_000, Some(47_427), 5_000_030_000),
    ];

    const STALLED: Answers<'_> = &[
        (6_000, 0.1, 59_999, UNENDING, 9_000_005_985),
        (12_000, 0.25, 48_000, None, 7_500_012_000),
        (18_000, 0.4, 44_999, Some(41_999), 6_000_017_940),
        (28_000, 0.4, 69_999, Some(48_315), 6_000_027_940),
        (38_000, 0.4, 94_999, Some(55_196), 6_000_037_940),
    ];

    const SILENT: Answers<'_> = &[
        (9_000, 0.0, 90_000_000, UNENDING, 10_000_009_000),
        (19_000, 0.0, 190_000_000, None, 10_000_019_000),
        (29_000, 0.0, 290_000_000, None, 10_000_029_000),
    ];

    fn check(answers: Answers<'_>) {
        for n in 1..=answers.len() {
            let updates: Vec<Update> = answers[..n]
                .iter()
                .map(|(ms, progress, ..)| Update { after: Millis(*ms), progress: *progress })
                .collect();
            let (_, _, of_legacy, of_smoothed, of_simple) = answers[n - 1];
            assert_eq!(legacy(updates[n - 1]).0, of_legacy);
            assert_eq!(smoothed(&updates, n as u32).map(|runtime| runtime.0), of_smoothed);
            assert_eq!(simple_exponential(&updates, n as u32).unwrap().0, of_simple);
        }
    }

    #[test]
    fn hadoops_own_classes_give_the_same_numbers() {
        check(STEADY_THEN_SLOW);
        check(STALLED);
        check(SILENT);
    }

    /// An update each 6 s: 2 % a time, and after the twentieth half a per cent.
    fn turned_slow(n: u32) -> Vec<Update> {
        let score = |k: u32| if k <= 20 { 0.02 * f64::from(k) } else { 0.4 + 0.005 * f64::from(k - 20) };
        (1..=n).map(|k| Update { after: Millis(u64::from(k) * 6_000), progress: score(k) as f32 }).collect()
    }

    #[test]
    fn what_turns_slow_seems_to_turn_fast_and_simple_exponential_is_blind_for_24_reads() {
        let of = |n: u32| (smoothed(&turned_slow(n), n).unwrap().0, simple_exponential(&turned_slow(n), n).unwrap().0);
        // Java's answers again.
        assert_eq!(of(20).0, 300_000);
        assert_eq!(of(24), (271_112, 5_800_144_131));
        assert_eq!(of(25), (266_041, 355_364));
        assert_eq!(of(30), (252_092, 405_093));
        assert_eq!(legacy(turned_slow(30)[29]), Millis(400_000));
    }

    #[test]
    fn updates_that_are_not_kept_are_taken_to_be_the_first() {
        let all = turned_slow(30);
        let kept = [all[0], all[22], all[28], all[29]];
        assert_eq!(smoothed(&kept[3..], 30), None, "one update shows no rate");
        assert!(smoothed(&kept, 30).is_some() && smoothed(&kept[..2], 2).is_none());
        let runtime = simple_exponential(&kept, 30).unwrap();
        assert!(runtime > Millis(300_000) && runtime < Millis(500_000), "{runtime:?}");
    }

    #[test]
    fn a_rate_of_zero_is_a_rate_and_what_comes_after_it_weighs_less_than_nothing() {
        let told = [(6_000, 0.1), (12_000, 0.2), (18_000, 0.2), (24_000, 0.4)];
        let updates = told.map(|(ms, progress)| Update { after: Millis(ms), progress });
        assert_eq!(smoothed(&updates, 4), None);
    }
}
