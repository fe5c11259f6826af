//! Lengths of time that what a job claims comes to.

use drover_core::model::Millis;

/// No task or job takes longer. One that claims so is wrong, or would have a report's sums be about itself alone.
const LONGEST: Millis = Millis(366 * 86_400_000);

/// A length of time, where one may believe it.
pub fn plausible(span: Millis) -> Option<Millis> {
    Some(span).filter(|span| *span <= LONGEST)
}

/// The same of one that may be below zero.
pub fn plausible_ms(span: i64) -> Option<i64> {
    Some(span).filter(|span| plausible(Millis(span.unsigned_abs())).is_some())
}
