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
