//! What a server has told.

use super::facts::Refused;
use super::http::{Answer, Frame};

/// An answer, checked, with when and how it came.
#[derive(Debug, Clone)]
pub struct Told<T> {
    /// What it says.
    pub what: T,
    /// What of it was refused.
    pub refused: Refused,
    /// When and how it came.
    pub frame: Frame,
}

impl<T> Told<T> {
    /// Checks an answer's document.
    pub(super) fn of<D>(answer: Answer<D>, check: impl FnOnce(&D, &mut Refused) -> T) -> Told<T> {
        let mut refused = Refused::default();
        Told { what: check(&answer.document, &mut refused), refused, frame: answer.frame }
    }
}
