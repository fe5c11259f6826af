//! What came of reading the configuration again, for whoever asks later than the log was looked at.

use drover_core::model::Time;
use std::sync::{Mutex, PoisonError};

/// Of what kept a configuration from being taken so many characters are told; the log has all.
const TOLD: usize = 4_000;

/// The last time that it was, and what is still to come of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reread {
    /// When, the service's clock; `None` where it never was.
    pub at: Option<Time>,
    /// Why nothing changed then; `None` where what was read holds.
    pub refused: Option<String>,
    /// Settings, and files that settings name, that hold something else since the start and are heeded after a restart.
    pub waiting: Vec<String>,
}

/// Keeps it.
#[derive(Debug, Default)]
pub struct Rereads(Mutex<Reread>);

impl Rereads {
    /// It was taken, but for what waits.
    pub fn applied(&self, at: Time, waiting: Vec<String>) {
        self.put(Reread { at: Some(at), refused: None, waiting });
    }

    /// It was not: what waited before waits still.
    pub fn refused(&self, at: Time, why: &str) {
        let refused = Some(why.chars().take(TOLD).collect());
        self.put(Reread { at: Some(at), refused, ..self.told() });
    }

    /// As it stands.
    pub fn told(&self) -> Reread {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn put(&self, reread: Reread) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = reread;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_told_until_a_later_reading_is_taken_and_a_refusal_until_then_in_bounds() {
        let rereads = Rereads::default();
        assert_eq!(rereads.told(), Reread::default());
        rereads.applied(Time(1), vec!["rest.user".into()]);
        rereads.refused(Time(2), &"ä".repeat(TOLD + 1));
        let told = rereads.told();
        assert_eq!((told.at, &told.waiting[..]), (Some(Time(2)), &["rest.user".to_owned()][..]));
        assert_eq!(told.refused.map(|why| why.chars().count()), Some(TOLD));
        rereads.applied(Time(3), Vec::new());
        assert_eq!(rereads.told(), Reread { at: Some(Time(3)), ..Reread::default() });
    }
}
