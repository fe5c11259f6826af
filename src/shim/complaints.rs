//! What the log tells of refused exchanges. Whoever reaches the listener brings them about, so each kind is told once in a while; the metrics count all.

use super::reply::{Refusal, Why};
use crate::shown::printable;
use drover_core::model::Millis;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

/// So long after one of a kind was told no other of it is.
const QUIET: Millis = Millis(600_000);

/// When each kind was told last.
#[derive(Default)]
pub struct Complaints(Mutex<HashMap<Why, Millis>>);

impl Complaints {
    /// Tells of a refusal where somebody has to mend something, and not of each.
    pub fn hear(&self, refusal: &Refusal, from: Option<IpAddr>, now: Millis) {
        let (error, message) = (refusal.why.label(), printable(&refusal.message));
        let from = from.map(|address| address.to_canonical().to_string());
        if self.is_due(refusal.why, now) {
            tracing::warn!(
                error,
                message,
                from,
                "an exchange of a shim is refused; others refused like it are only counted for ten minutes (drover_shim_exchanges_total)"
            );
        } else {
            tracing::debug!(error, message, from, "an exchange is refused");
        }
    }

    fn is_due(&self, why: Why, now: Millis) -> bool {
        // The others end by themselves, or the log tells of them where they are found out.
        let mends = [Why::Malformed, Why::ProtocolVersion, Why::SecretOverPlainHttp, Why::TooLarge, Why::WrongMac];
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = mends.contains(&why) && told.get(&why).is_none_or(|at| now - *at >= QUIET);
        if is_due {
            told.insert(why, now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_that_wants_mending_is_told_once_in_ten_minutes_and_the_others_never() {
        let told = Complaints::default();
        assert!(told.is_due(Why::ProtocolVersion, Millis(5)) && told.is_due(Why::Malformed, Millis(5)));
        assert!(!told.is_due(Why::ProtocolVersion, Millis(600_004)));
        assert!(told.is_due(Why::ProtocolVersion, Millis(600_005)));
        assert!(!told.is_due(Why::TooFrequent, Millis(5)), "the shim has only to wait");
    }
}
