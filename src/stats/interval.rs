//! Numbers with their intervals: means over seeds, and what is read off a whole sample.

use drover_core::estimate::stats::{mixed, uniform_draw};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A mean over seeds, and the interval that holds the true one with 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// Lower end; the mean itself where there is one seed only, of which nothing follows.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Of a number without chance.
    pub fn sure(value: f64) -> Interval {
        Interval { mean: value, low: value, high: value }
    }

    /// Student's, of independent values. `None` where there are none.
    pub fn of(values: &[f64]) -> Option<Interval> {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        if values.len() < 2 {
            return values.first().map(|only| Interval::sure(*only));
        }
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let quantile = StudentsT::new(0.0, 1.0, count - 1.0).ok()?.inverse_cdf(0.975);
        let half = quantile * (variance / count).sqrt();
        Some(Interval { mean, low: mean - half, high: mean + half })
    }

    /// The same of what each seed came to, where chance is to be ruled out: of one seed nothing follows, so that its interval holds every number.
    pub fn of_seeds(values: &[f64]) -> Option<Interval> {
        let [only] = values else { return Interval::of(values) };
        Some(Interval { mean: *only, low: f64::NEG_INFINITY, high: f64::INFINITY })
    }

    /// One mean less another, as of independent ones: where both met the same luck, the difference is surer than this has it.
    pub fn less(self, other: Interval) -> Interval {
        let mean = self.mean - other.mean;
        let low = mean - (self.mean - self.low).hypot(other.high - other.mean);
        let high = mean + (self.high - self.mean).hypot(other.mean - other.low);
        Interval { mean, low, high }
    }

    /// What is read off a sample of so many, with the bootstrap's percentile interval: of a thousand samples as large, drawn from it with replacement. A quantile of
    /// few is biased where it stands in a long tail; so one of many is taken here, not the mean of many. `None` where nothing is read off it.
    pub fn of_sample(count: usize, read: impl Fn(&[usize]) -> Option<f64>) -> Option<Interval> {
        const SAMPLES: u64 = 1_000;
        let mean = read(&(0..count).collect::<Vec<_>>())?;
        let drawn = |sample: u64| -> Vec<usize> {
            let one = |nth: usize| uniform_draw(sample, nth as u64) * count as f64;
            (0..count).map(|nth| one(nth) as usize).collect()
        };
        let again: Vec<f64> = (1..=SAMPLES).filter_map(|sample| read(&drawn(mixed(sample)))).collect();
        Some(Interval { mean, low: quantile(&again, 0.025)?, high: quantile(&again, 0.975)? })
    }
}

/// The `share` quantile (0–1) of values; `None` where there are none.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    drover_core::estimate::stats::quantile(&mut values.to_vec(), share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_students() {
        // The values 1 to 5: mean 3, standard error √(2.5 / 5), t at 4 degrees of freedom 2.776445.
        let Interval { mean, low, high } = Interval::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let half = 2.776_445_1 * 0.5_f64.sqrt();
        assert!((mean - 3.0).abs() < 1e-12 && (high - 3.0 - half).abs() < 1e-6 && (3.0 - low - half).abs() < 1e-6);
    }

    #[test]
    fn a_samples_median_has_the_interval_that_order_statistics_give_it() {
        // Of 1 to 400 the 95 % interval of the median is from the 180th to the 221st: 200 ± 1.96 √400 / 2.
        let read = |chosen: &[usize]| quantile(&chosen.iter().map(|nth| *nth as f64 + 1.0).collect::<Vec<_>>(), 0.5);
        let Interval { mean, low, high } = Interval::of_sample(400, read).unwrap();
        assert!((mean - 200.5).abs() <= 0.5 && (low - 180.0).abs() < 5.0 && (high - 221.0).abs() < 5.0, "{low} {high}");
        assert_eq!(Interval::of_sample(0, read), None);
    }

    #[test]
    fn one_value_has_no_width_and_none_no_mean() {
        assert_eq!(Interval::of(&[7.0]), Some(Interval { mean: 7.0, low: 7.0, high: 7.0 }));
        assert_eq!(Interval::of(&[]), None);
    }

    #[test]
    fn of_one_seed_nothing_is_ruled_out_and_of_several_what_students_interval_does_not_hold() {
        let Interval { mean, low, high } = Interval::of_seeds(&[7.0]).unwrap();
        assert_eq!((mean, low, high), (7.0, f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!((Interval::of_seeds(&[]), Interval::of_seeds(&[7.0, 8.0])), (None, Interval::of(&[7.0, 8.0])));
    }

    #[test]
    fn a_difference_is_as_unsure_as_both_together() {
        let of = |mean, low, high| Interval { mean, low, high };
        assert_eq!(of(9.0, 6.0, 13.0).less(of(5.0, 2.0, 9.0)), of(4.0, -1.0, 9.0));
        assert!(of(9.0, 6.0, 13.0).less(Interval::of_seeds(&[5.0]).unwrap()).low.is_infinite());
    }
}
