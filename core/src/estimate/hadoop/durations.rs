//! How long finished tasks took: Hadoop's DataStatistics, and what StartEndTimesBase makes of them.

use crate::model::Millis;

/// Run times of finished tasks, milliseconds, as sums.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Durations {
    count: u32,
    sum: f64,
    squares: f64,
}

impl FromIterator<Millis> for Durations {
    fn from_iter<I: IntoIterator<Item = Millis>>(all: I) -> Durations {
        let mut sums = Durations::default();
        for took in all {
            let ms = took.0 as f64;
            sums = Durations { count: sums.count + 1, sum: sums.sum + ms, squares: sums.squares + ms * ms };
        }
        sums
    }
}

impl Durations {
    /// `mean`, milliseconds. Of nothing it is zero, so that a copy would take no time: after an AM has restarted, tasks that it recovered count as finished and are
    /// not among these.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum / f64::from(self.count) }
    }

    /// `std`, of the whole and not of a sample, milliseconds.
    fn deviation(&self) -> f64 {
        if self.count <= 1 {
            return 0.0;
        }
        (self.squares / f64::from(self.count) - self.mean() * self.mean()).max(0.0).sqrt()
    }

    /// `meanCI`: the upper end of the mean's 95 % confidence interval, milliseconds; zero of fewer than two.
    fn upper_mean(&self) -> f64 {
        const FACTOR: f64 = 1.96;
        if self.count <= 1 { 0.0 } else { self.mean() + FACTOR * self.deviation() / f64::from(self.count).sqrt() }
    }

    /// SimpleExponentialTaskRuntimeEstimator#estimatedNewAttemptRuntime: that, and half a standard deviation or a quarter of it, milliseconds.
    pub fn cautious(&self) -> f64 {
        let upper = self.upper_mean();
        upper + (upper * 0.25).min(self.deviation() / 2.0)
    }
}

/// StartEndTimesBase#thresholdRuntime: one task and a twentieth of the kind have finished. The run time that it then names, slowtaskthreshold standard deviations
/// above the mean, is compared with nothing.
pub fn enough_finished(finished: u32, total: u32) -> bool {
    const SHARE: f32 = 0.05;
    finished >= 1 && finished as f32 / total as f32 >= SHARE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::hadoop::RuntimeEstimator;

    // What Hadoop 3.4.3's classes answered under Java 17 for tasks that took 10, 12, 20 and 11 s.
    const TOOK: [u64; 4] = [10_000, 12_000, 20_000, 11_000];

    fn fresh(estimator: RuntimeEstimator) -> [u64; 5] {
        let first = |n: usize| TOOK[..n].iter().copied().map(Millis).collect::<Durations>();
        [0, 1, 2, 3, 4].map(|n| estimator.fresh_attempt(&first(n)).0)
    }

    #[test]
    fn a_fresh_attempt_takes_as_long_as_hadoop_says() {
        assert_eq!(fresh(RuntimeEstimator::Legacy), [0, 10_000, 11_000, 14_000, 13_250]);
        assert_eq!(fresh(RuntimeEstimator::Smoothed), fresh(RuntimeEstimator::Legacy));
        assert_eq!(fresh(RuntimeEstimator::SimpleExponential), [0, 0, 12_885, 21_049, 19_111]);
    }

    #[test]
    fn a_task_is_judged_once_a_twentieth_of_its_kind_has_finished() {
        let answers = [(0, 20), (1, 20), (4, 100), (5, 100), (1, 19), (1, 21)];
        assert_eq!(answers.map(|(done, all)| enough_finished(done, all)), [false, true, false, true, true, false]);
    }

    #[test]
    fn a_fresh_attempt_is_given_no_more_than_a_quarter_beyond_the_upper_mean() {
        // Mean 2.9 s, deviation 5.7 s: the upper mean is 2.9 + 1.96 · 5.7 / √10 s, and half of the deviation is more than a quarter of that.
        let took: Durations = [1_000; 9].into_iter().chain([20_000]).map(Millis).collect();
        assert!((took.cautious() - 1.25 * (2_900.0 + 1.96 * 5_700.0 / 10.0_f64.sqrt())).abs() < 1e-6);
    }
}
