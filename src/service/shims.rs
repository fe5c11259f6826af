//! The shims' sessions, summed up.

use crate::shim::Shim;
use std::collections::BTreeMap;

/// What the shims' sessions come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shims {
    /// Epoch of another, younger service, where shims report one.
    pub higher_epoch: Option<u64>,
    /// Sessions that hold a lease.
    pub leases: u64,
    /// Live sessions whose shim cannot start copies.
    pub unable: u64,
    /// Live sessions that could, and come over plain HTTP from the network.
    pub over_plain_http: u64,
    /// Live sessions by the version of their shim.
    pub versions: BTreeMap<String, u64>,
}

/// Versions of shims that are told apart: what a shim says of itself its job could choose.
const VERSIONS_MAX: usize = 8;

impl Shims {
    /// Counts sessions.
    pub fn of(shim: &Shim) -> Shims {
        let mut counts = Shims { higher_epoch: shim.higher_epoch(), ..Shims::default() };
        for session in shim.sessions() {
            counts.leases += u64::from(session.leased);
            counts.unable += u64::from(session.live && !session.able);
            counts.over_plain_http += u64::from(session.live && session.able && !session.allowed);
            if session.live {
                counts.count(session.shim);
            }
        }
        counts
    }

    fn count(&mut self, version: String) {
        let is_told = self.versions.contains_key(&version) || self.versions.len() < VERSIONS_MAX;
        *self.versions.entry(if is_told { version } else { "other".into() }).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_versions_that_jobs_make_up_no_more_than_a_few_are_told_apart() {
        let mut counts = Shims::default();
        (0..20).for_each(|n| counts.count(format!("made up {n}")));
        counts.count("made up 0".into());
        assert_eq!((counts.versions.len(), counts.versions["other"], counts.versions["made up 0"]), (9, 12, 2));
    }
}
