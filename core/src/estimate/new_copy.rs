//! Mantri's time of a new copy, as a distribution (Mantri, OSDI'10, §5.5).

use super::stats::median;

/// Mantri §5.5, eq. 3: t_new = processRate · locationFactor · d + schedLag, where processRate, Δtime/Δdata, is drawn from the phase's tasks. locationFactor is 1:
/// Hadoop chooses where a copy runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NewCopy {
    /// Equally likely times of a task with the phase's typical input, seconds; ascending.
    rates: Vec<f64>,
    /// schedLag, seconds.
    lag: f64,
    evidence: usize,
}

impl NewCopy {
    /// As many equally likely times as a phase of any size is summed up in.
    const TIMES_MAX: usize = 100;

    /// From the tasks' times, seconds, each for the phase's typical input; `lag` seconds pass from a decision to what these count.
    pub fn new(mut rates: Vec<f64>, lag: f64) -> NewCopy {
        rates.sort_unstable_by(f64::total_cmp);
        let (all, parts) = (rates.len(), rates.len().min(Self::TIMES_MAX));
        let part = |n: usize| &rates[n * all / parts..(n + 1) * all / parts];
        // Means of equal parts keep the mean of all.
        let means = (0..parts).map(|n| part(n).iter().sum::<f64>() / part(n).len() as f64).collect();
        NewCopy { rates: means, lag, evidence: all }
    }

    /// The median task's time with the phase's typical input, seconds; `None` without any.
    pub fn typical(&self) -> Option<f64> {
        median(&mut self.rates.clone())
    }

    /// How many tasks it rests on.
    pub fn evidence(&self) -> usize {
        self.evidence
    }

    /// t_new: equally likely times, seconds, of a task whose input is `ratio` times the typical one.
    pub fn times(&self, ratio: f64) -> Vec<f64> {
        self.rates.iter().map(|rate| rate * ratio + self.lag).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copys_time_grows_with_its_data_and_its_lag_does_not() {
        let copy = NewCopy::new(vec![6.0, 4.0], 1.5);
        assert_eq!((copy.times(1.0), copy.times(3.0), copy.evidence()), (vec![5.5, 7.5], vec![13.5, 19.5], 2));
        assert_eq!(NewCopy::new(Vec::new(), 1.5).times(1.0), Vec::<f64>::new());
    }

    #[test]
    fn a_large_phase_is_summed_up_with_its_mean_and_its_tail() {
        let rates: Vec<f64> = (1..=1_000).map(f64::from).collect();
        let times = NewCopy::new(rates, 0.0).times(1.0);
        assert_eq!((times.len(), times[0], times[99]), (100, 5.5, 995.5));
        assert!((times.iter().sum::<f64>() / 100.0 - 500.5).abs() < 1e-9);
    }
}
