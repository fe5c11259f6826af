//! What is remembered of jobs that are run again and again, by their kind.

use crate::model::{JobKind, pairs};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Kinds of jobs that are remembered; then the one longest not heard of is forgotten.
pub const KINDS_MAX: usize = 2_048;

/// What is remembered of a job's kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Kept<V> {
    #[serde(rename = "record")]
    value: V,
    /// The number of its newest addition.
    used: u64,
}

/// A bounded memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "V: Serialize", deserialize = "V: Deserialize<'de>"))]
pub struct ByKind<V> {
    #[serde(with = "pairs")]
    kinds: BTreeMap<JobKind, Kept<V>>,
    additions: u64,
}

impl<V> Default for ByKind<V> {
    fn default() -> Self {
        ByKind { kinds: BTreeMap::new(), additions: 0 }
    }
}

impl<V: Default> ByKind<V> {
    /// What is kept of a kind, made if it is new: it was heard of now.
    pub fn entry(&mut self, kind: JobKind) -> &mut V {
        self.additions += 1;
        if self.kinds.len() >= KINDS_MAX && !self.kinds.contains_key(&kind) {
            self.evict();
        }
        let kept = self.kinds.entry(kind).or_default();
        kept.used = self.additions;
        &mut kept.value
    }
}

impl<V> ByKind<V> {
    /// What is kept of a kind.
    pub fn get(&self, kind: &JobKind) -> Option<&V> {
        self.kinds.get(kind).map(|kept| &kept.value)
    }

    /// Kinds that are kept.
    pub fn count(&self) -> usize {
        self.kinds.len()
    }

    /// No more than are remembered, whatever another build kept.
    pub fn bounded(mut self) -> ByKind<V> {
        while self.kinds.len() > KINDS_MAX {
            self.evict();
        }
        self
    }

    /// All that is kept, of the kind last heard of first.
    pub fn newest_first(&self) -> Vec<(&JobKind, &V)> {
        let mut kinds: Vec<_> = self.kinds.iter().collect();
        kinds.sort_by_key(|(_, kept)| std::cmp::Reverse(kept.used));
        kinds.into_iter().map(|(kind, kept)| (kind, &kept.value)).collect()
    }

    /// Drops a kind of the user with the most of them, the one not heard of for longest: no user takes the others' room.
    fn evict(&mut self) {
        let mut of_user: BTreeMap<&str, usize> = BTreeMap::new();
        self.kinds.keys().for_each(|kind| *of_user.entry(&kind.user).or_default() += 1);
        let most = of_user.values().copied().max().unwrap_or(0);
        let theirs = self.kinds.iter().filter(|(kind, _)| of_user.get(kind.user.as_str()) == Some(&most));
        let oldest = theirs.min_by_key(|(_, kept)| kept.used).map(|(kind, _)| kind.clone());
        oldest.and_then(|oldest| self.kinds.remove(&oldest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(user: &str, n: usize) -> JobKind {
        JobKind { user: user.into(), name: n.to_string() }
    }

    #[test]
    fn the_kind_longest_not_heard_of_gives_way_and_no_user_takes_anothers_place() {
        let mut kept = ByKind::<u32>::default();
        *kept.entry(kind("bob", 0)) = 7;
        for n in (0..KINDS_MAX - 1).chain([0, KINDS_MAX]) {
            *kept.entry(kind("alice", n)) += 1;
        }
        assert_eq!((kept.get(&kind("bob", 0)), kept.get(&kind("alice", 0))), (Some(&7), Some(&2)));
        assert_eq!((kept.get(&kind("alice", 1)), kept.get(&kind("alice", KINDS_MAX))), (None, Some(&1)));
        let newest = kept.newest_first();
        assert_eq!((newest.len(), newest[0].0.clone(), *newest[1].1), (KINDS_MAX, kind("alice", KINDS_MAX), 2));
    }
}
