//! Who has listed all of a job's tasks, and whether that still holds.

use crate::model::observation::Channel;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The newest complete listing of each source that speaks for the job: how many maps and reduces the job had then.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Listings(BTreeMap<Channel, [u32; 2]>);

impl Listings {
    /// A source has listed all tasks of a job of so many.
    pub(in crate::model) fn listed(&mut self, source: Channel, size: [u32; 2]) {
        self.0.insert(source, size);
    }

    /// A source speaks for the job no more: what it listed, nobody keeps up to date.
    pub(in crate::model) fn lose(&mut self, source: Channel) {
        self.0.remove(&source);
    }

    /// All sources do: another AM lists anew.
    pub(in crate::model) fn clear(&mut self) {
        self.0.clear();
    }

    /// Is there one that is of all tasks of a job of so many?
    pub fn cover(&self, totals: Option<[u32; 2]>) -> bool {
        let grown =
            |size: &[u32; 2]| totals.is_some_and(|totals| totals.iter().zip(size).any(|(now, then)| now > then));
        self.0.values().any(|size| !grown(size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_holds_until_the_job_has_grown_or_its_source_is_lost_whatever_became_of_the_others() {
        let mut listings = Listings::default();
        assert!(!listings.cover(None) && !listings.cover(Some([0, 0])));
        listings.listed(Channel::Am, [4, 2]);
        let covered = |listings: &Listings| [[4, 2], [5, 2], [4, 3]].map(|totals| listings.cover(Some(totals)));
        assert_eq!((covered(&listings), listings.cover(None)), ([true, false, false], true));
        listings.listed(Channel::Shim, [5, 2]);
        assert_eq!(covered(&listings), [true, true, false]);
        listings.lose(Channel::Shim);
        assert_eq!(covered(&listings), [true, false, false]);
        listings.clear();
        assert_eq!(covered(&listings), [false; 3]);
    }
}
