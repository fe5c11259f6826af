//! How ends are told in rows, by whoever tells them.

use crate::span::plausible_ms;
use drover_core::model::{CopyEnd, Time};

/// A copy finished first.
pub const WON: &str = "won";
/// Another attempt did.
pub const LOST: &str = "lost";
/// The copies failed or were killed while the task went on.
pub const FAILED: &str = "failed";
/// The shim refused.
pub const REFUSED: &str = "refused";
/// Nothing came of it.
pub const MOOT: &str = "moot";
/// Nobody could tell.
pub const UNKNOWN: &str = "unknown";

/// The word for an end: what never came to be is moot.
pub fn word(end: CopyEnd) -> &'static str {
    match end {
        CopyEnd::Won => WON,
        CopyEnd::Lost => LOST,
        CopyEnd::Died => FAILED,
        CopyEnd::Refused => REFUSED,
        CopyEnd::Unsent | CopyEnd::Unanswered => MOOT,
        CopyEnd::Unknown => UNKNOWN,
    }
}

/// Did the slow attempt itself end the task? Of another's end its prediction said nothing.
pub fn ended_itself(winner: Option<u32>, slow: Option<u32>) -> bool {
    slow.is_some_and(|slow| winner == Some(slow))
}

/// By how much the task's end was before the predicted end of its slow attempt, milliseconds: what the copy gained where it won, and how far the prediction was off where it lost and the
/// slow attempt itself ended the task.
pub fn reckoned(
    end: CopyEnd,
    winner: Option<u32>,
    slow: Option<u32>,
    predicted: Option<Time>,
    ended: Time,
) -> (Option<i64>, Option<i64>) {
    let ahead = predicted.and_then(|predicted| plausible_ms(predicted.ms_after(ended)));
    let by_itself = end == CopyEnd::Lost && ended_itself(winner, slow);
    (ahead.filter(|_| end == CopyEnd::Won), ahead.filter(|_| by_itself))
}

/// Numbers as a column of text has them.
pub fn spaced(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}
