//! Constants of what Mantri wants beside copies.

use crate::model::Millis;
use serde::{Deserialize, Serialize};

/// Constants of §5.2 and §5.3.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MeasureParams {
    /// A reduce phase that could be moved within so long finds the links as they are at its start, a longer one finds them equal (§5.2). The paper names no bound: ours.
    pub short_phase: Millis,
}

impl Default for MeasureParams {
    fn default() -> Self {
        MeasureParams { short_phase: Millis(60_000) }
    }
}
