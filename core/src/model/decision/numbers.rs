//! What decisions and verdicts rest on.

use crate::model::units::Millis;
use serde::{Deserialize, Serialize};

/// The numbers a decision or verdict rests on; what a policy does not use is absent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Numbers {
    /// Progress score, 0–1.
    pub score: f64,
    /// How long the attempt has run, the AM's clock.
    pub elapsed: Millis,
    /// Since its last report.
    pub silent: Millis,
    /// Progress rate: score per second.
    pub rate: f64,
    /// Rate below which a task counts as slow (LATE's SlowTaskThreshold), score per second.
    pub slow_below: Option<f64>,
    /// Estimated time left of the attempt.
    pub time_left: Option<Millis>,
    /// Its spread (one standard deviation).
    pub time_left_spread: Option<Millis>,
    /// Expected time of a fresh copy.
    pub fresh_copy: Option<Millis>,
    /// Its spread (one standard deviation).
    pub fresh_copy_spread: Option<Millis>,
    /// Probability that a copy started now finishes first, 0–1.
    pub win_probability: Option<f64>,
    /// Probability that one more copy ends all of them so soon that they use less in all (Mantri §5.1), 0–1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saves_probability: Option<f64>,
    /// Expected gain: time left less a fresh copy's time.
    pub gain: Option<Millis>,
    /// Cost of the copy, container-seconds.
    pub cost_container_seconds: Option<f64>,
    /// Copies that the tightest budget counts, in flight or of the last minute, and the cap that held; of the clones' own (Dolly's beta) the containers of cloned phases, first attempts included.
    pub budget: Option<(u32, u32)>,
}

impl Numbers {
    /// Progress score (0–1) from which on what is left to do takes no longer than a fresh attempt does, at the pace that these rest on; 1 where they know no end of it.
    pub fn no_gain_from(&self) -> f64 {
        let Some((left, fresh)) = self.time_left.zip(self.fresh_copy) else { return 1.0 };
        let share = fresh.as_secs_f64() / left.as_secs_f64().max(f64::MIN_POSITIVE);
        1.0 - (1.0 - self.score.clamp(0.0, 1.0)) * share.min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_attempt_gains_nothing_once_what_is_left_takes_no_longer() {
        let from = |score, left: Option<u64>, fresh| {
            let (time_left, fresh_copy) = (left.map(Millis), Some(Millis(fresh)));
            Numbers { score, time_left, fresh_copy, ..Numbers::default() }.no_gain_from()
        };
        assert_eq!(from(0.2, Some(40_000), 10_000), 0.8, "a quarter of what is left");
        assert_eq!(from(0.5, Some(10_000), 20_000), 0.5, "it gains nothing now");
        assert_eq!([from(0.5, Some(0), 20_000), from(0.3, None, 20_000)], [0.5, 1.0]);
    }
}
