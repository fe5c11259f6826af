//! How ends are told in rows, by whoever tells them.

use drover_core::model::CopyEnd;

/// The word for an end: what never came to be is moot.
pub fn word(end: CopyEnd) -> &'static str {
    match end {
        CopyEnd::Won => "won",
        CopyEnd::Lost => "lost",
        CopyEnd::Died => "failed",
        CopyEnd::Refused => "refused",
        CopyEnd::Unsent | CopyEnd::Unanswered => "moot",
        CopyEnd::Unknown => "unknown",
    }
}

/// Did the slow attempt itself end the task? Of another's end its prediction said nothing.
pub fn ended_itself(winner: Option<u32>, slow: Option<u32>) -> bool {
    slow.is_some_and(|slow| winner == Some(slow))
}

/// Numbers as a column of text has them.
pub fn spaced(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}
