//! Constants of what Mantri wants beside copies.

use crate::model::Millis;
use serde::{Deserialize, Serialize};

/// Constants of §5.2 and §5.3. [`MeasureParams::paper`] has the paper's; the default waits for a second recompute, of which more of what is computed anew proves needed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MeasureParams {
    /// A reduce phase that could be moved within so long finds the links as they are at its start, a longer one finds them equal (§5.2). The paper names no bound: ours.
    pub short_phase: Millis,
    /// Data that is replicated, as a share (0–1) of what tasks have read. §5.3: 10 %.
    pub replicated: f64,
    /// Outputs of reduces are read by others, and may be lost, too. Not in Hadoop, whose file system keeps replicas of them.
    pub reduces_too: bool,
    /// Recomputes on one machine that make an onset. §5.3: one; §6.5: of what is computed anew 76 % is needed then, and 93 % after two.
    pub onset: usize,
    /// In how quick a succession. The paper names no number: ours.
    pub onset_within: Millis,
    /// Time of tasks that are computed anew before they are needed, as a share (0–1) of that of the job's tasks that have ended. The paper has a budget and names no number; all its
    /// recomputations took "no more than a few percentage extra cluster resources" (§6.5).
    pub precomputed: f64,
}

impl MeasureParams {
    /// The paper's own constants, and ours where it prints none.
    pub fn paper() -> MeasureParams {
        MeasureParams { onset: 1, ..MeasureParams::default() }
    }
}

impl Default for MeasureParams {
    fn default() -> Self {
        MeasureParams {
            short_phase: Millis(60_000),
            replicated: 0.1,
            reduces_too: false,
            onset: 2,
            onset_within: Millis(300_000),
            precomputed: 0.05,
        }
    }
}
