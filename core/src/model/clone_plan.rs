//! What was settled about clones.

use super::decision::Verdict;
use serde::{Deserialize, Serialize};

/// What was settled about the clones of a phase before its first task ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClonePlan {
    /// Copies of each of its tasks, the first attempt included; one where it is not cloned.
    pub clones: u32,
    /// How many of its tasks have them, from the first on.
    pub tasks: u32,
    /// Why it is not cloned.
    pub refused: Option<Verdict>,
    /// Its clones are to give way to others.
    pub gives_way: bool,
}
