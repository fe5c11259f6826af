//! How long a copy started now would take.

use super::stats::robust_mean_spread;
use crate::model::Millis;

/// A fresh copy's time from the decision to its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FreshCopy {
    /// Expected.
    pub mean: Millis,
    /// One standard deviation.
    pub spread: Millis,
    /// How many finished tasks it rests on.
    pub evidence: usize,
}

impl FreshCopy {
    /// From the run times of the phase's finished tasks (seconds; sorted on return), plus the time a copy waits for its container and JVM before its clock starts.
    /// The spread is never below a tenth of the mean: few or equal samples do not make the future certain.
    pub fn learn(run_times: &mut [f64], start_lag: Millis) -> Option<FreshCopy> {
        const LEAST_SPREAD: f64 = 0.1;
        let (typical, spread) = robust_mean_spread(run_times)?;
        Some(FreshCopy {
            mean: Millis::from_secs_f64(typical) + start_lag,
            spread: Millis::from_secs_f64(spread.max(typical * LEAST_SPREAD)),
            evidence: run_times.len(),
        })
    }

    /// For a task whose input is `ratio` times the typical one.
    pub fn scaled(self, ratio: f64) -> FreshCopy {
        FreshCopy { mean: self.mean.scaled(ratio), spread: self.spread.scaled(ratio), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_tasks_still_leave_a_copys_time_uncertain() {
        let copy = FreshCopy::learn(&mut [4.0, 4.0, 4.0], Millis(500)).unwrap();
        assert_eq!((copy.mean, copy.spread, copy.evidence), (Millis(4500), Millis(400), 3));
        assert_eq!(FreshCopy::learn(&mut [], Millis(500)), None);
    }
}
