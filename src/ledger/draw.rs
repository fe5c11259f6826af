//! What a job's side of the hold-out is drawn under.

/// The share that is held out, and the salt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Draw {
    /// 0 to 1.
    pub share: f64,
    /// Another one draws anew.
    pub salt: u64,
}

impl Draw {
    /// As an enrolment has it; `None` in one of before the third version of the schema.
    pub fn kept(share: Option<f64>, salt: Option<String>) -> Option<Draw> {
        Some(Draw { share: share?, salt: salt?.parse().ok()? })
    }

    /// Could the job have come to either side?
    pub fn is_by_chance(&self) -> bool {
        self.share > 0.0 && self.share < 1.0
    }
}
