//! How copies of one job have fared: one whose copies come to nothing gets none for a while.

use super::GovernParams;
use crate::model::{CopyEnd, Time};
use serde::{Deserialize, Serialize};

/// How copies of one job have fared.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Fortune {
    /// Copies lost since the last that won.
    pub lost_in_a_row: u32,
    /// No copies before then, the AM's clock.
    pub rests_until: Time,
    /// The AM under which the newest ended; zero where that was not kept.
    #[serde(default)]
    pub incarnation: u64,
}

impl Fortune {
    /// One of them has ended, by `am_now` on the AM's clock.
    pub(super) fn note(&mut self, end: CopyEnd, params: &GovernParams, am_now: Time) {
        match end.won() {
            Some(true) => (self.lost_in_a_row, self.rests_until) = Default::default(),
            Some(false) => self.lost_in_a_row += 1,
            None => {}
        }
        if params.futile_copies > 0 && self.lost_in_a_row >= params.futile_copies {
            (self.lost_in_a_row, self.rests_until) = (0, am_now + params.cool_down);
        }
    }
}
