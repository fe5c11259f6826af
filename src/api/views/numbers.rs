//! The numbers that verdicts and decisions rest on.

use drover_core::model::Numbers;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The numbers of a decision or verdict; what a policy does not use is `null`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NumbersView {
    /// Progress score, 0–1.
    pub score: f64,
    /// How long the attempt has run.
    pub elapsed_ms: u64,
    /// Since its last report.
    pub silent_ms: u64,
    /// Progress rate, score per second.
    pub rate_per_second: f64,
    /// Rate below which a task counts as slow, score per second.
    pub slow_below_per_second: Option<f64>,
    /// Estimated time left.
    pub time_left_ms: Option<u64>,
    /// Its spread, one standard deviation.
    pub time_left_spread_ms: Option<u64>,
    /// Expected time of a fresh copy.
    pub fresh_copy_ms: Option<u64>,
    /// Its spread, one standard deviation.
    pub fresh_copy_spread_ms: Option<u64>,
    /// Probability that a copy started then would finish first, 0–1.
    pub win_probability: Option<f64>,
    /// Probability that one more copy would save resources (Mantri §5.1), 0–1.
    pub saves_probability: Option<f64>,
    /// Expected gain.
    pub gain_ms: Option<u64>,
    /// Cost of the copy.
    pub cost_container_seconds: Option<f64>,
    /// Copies that the tightest budget counts: in flight, or decided on within a minute; for clones, where `dolly.beta` is the tightest, the containers of cloned phases.
    pub copies_in_flight: Option<u32>,
    /// That cap.
    pub copies_cap: Option<u32>,
}

impl NumbersView {
    /// The numbers with their units.
    pub fn of(n: &Numbers) -> NumbersView {
        NumbersView {
            score: n.score,
            elapsed_ms: n.elapsed.0,
            silent_ms: n.silent.0,
            rate_per_second: n.rate,
            slow_below_per_second: n.slow_below,
            time_left_ms: n.time_left.map(|ms| ms.0),
            time_left_spread_ms: n.time_left_spread.map(|ms| ms.0),
            fresh_copy_ms: n.fresh_copy.map(|ms| ms.0),
            fresh_copy_spread_ms: n.fresh_copy_spread.map(|ms| ms.0),
            win_probability: n.win_probability,
            saves_probability: n.saves_probability,
            gain_ms: n.gain.map(|ms| ms.0),
            cost_container_seconds: n.cost_container_seconds,
            copies_in_flight: n.budget.map(|(used, _)| used),
            copies_cap: n.budget.map(|(_, cap)| cap),
        }
    }
}
