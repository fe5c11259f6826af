//! Where inputs lie: sets of racks, kept once each.

use indexmap::{Equivalent, IndexMap};
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU16;

/// A set's place in its table. Two bytes, for one is kept for each map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Place(NonZeroU16);

/// The sets, each with a small number. Bounded: beyond so many pairs of racks an input is told to lie on the first alone, and a table that is full knows no new ones.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<Vec<String>>", into = "Vec<Vec<String>>")]
pub struct Places {
    sets: Vec<Vec<String>>,
    /// By the first rack and the second, of a set of one no name. The ResourceManager names racks, so that no job can think of such as collide.
    ids: IndexMap<(String, String), Place, FxBuildHasher>,
}

/// Such a key, to be looked for.
#[derive(Hash)]
struct Racks<'a>(&'a str, &'a str);

impl Equivalent<(String, String)> for Racks<'_> {
    fn equivalent(&self, (first, second): &(String, String)) -> bool {
        self.0 == first && self.1 == second
    }
}

impl Places {
    /// HDFS puts a block's replicas on two racks; the first two that are told are kept.
    const RACKS_MAX: usize = 2;
    /// Of 360 racks every two. The rest of the numbers is for racks alone.
    const PAIRS_MAX: usize = 60_000;

    /// The number of a set of racks, new or known; `None` for an empty one, and when the table is full.
    pub fn intern<'a>(&mut self, racks: impl Iterator<Item = &'a str>) -> Option<Place> {
        let mut set: Vec<&str> = Vec::new();
        for rack in racks {
            if set.len() < Self::RACKS_MAX && !set.contains(&rack) {
                set.push(rack);
            }
        }
        set.sort_unstable();
        let (first, second) = (*set.first()?, set.get(1).copied().unwrap_or_default());
        if let Some(known) = self.ids.get(&Racks(first, second)) {
            return Some(*known);
        }
        if !second.is_empty() && self.sets.len() >= Self::PAIRS_MAX {
            return self.intern([first].into_iter());
        }
        let id = Place(NonZeroU16::new(u16::try_from(self.sets.len() + 1).ok()?)?);
        self.sets.push(set.iter().map(|rack| (*rack).to_owned()).collect());
        self.ids.insert((first.to_owned(), second.to_owned()), id);
        Some(id)
    }

    /// The racks of a set.
    pub fn racks(&self, place: Place) -> &[String] {
        self.sets.get(usize::from(place.0.get()) - 1).map_or(&[], Vec::as_slice)
    }

    /// None known yet.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }
}

impl From<Vec<Vec<String>>> for Places {
    fn from(sets: Vec<Vec<String>>) -> Places {
        let mut table = Places::default();
        for set in sets {
            table.intern(set.iter().map(String::as_str));
        }
        table
    }
}

impl From<Places> for Vec<Vec<String>> {
    fn from(table: Places) -> Vec<Vec<String>> {
        table.sets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_the_pairs_that_are_kept_an_input_lies_on_the_first_of_its_racks() {
        let racks: Vec<String> = (0..400).map(|n| format!("r{n:03}")).collect();
        let mut places = Places::default();
        for (nth, first) in racks.iter().enumerate() {
            for second in &racks[nth + 1..] {
                let place = places.intern([first.as_str(), second].into_iter()).unwrap();
                let kept = places.racks(place);
                assert!(kept == [first.clone(), second.clone()] || kept == [first.clone()], "{kept:?}");
            }
        }
        let last = places.intern(["r398", "r399"].into_iter()).unwrap();
        assert_eq!(places.racks(last), ["r398"]);
    }

    #[test]
    fn a_set_of_racks_has_one_number_in_whatever_order_and_however_often_they_are_told() {
        let mut places = Places::default();
        let one = places.intern(["b", "a", "b"].into_iter()).unwrap();
        assert_eq!(places.intern(["a", "b"].into_iter()), Some(one));
        assert_eq!(places.racks(one), ["a", "b"]);
        assert_ne!(places.intern(["a"].into_iter()), Some(one));
        assert_eq!(places.intern(["c", "c", "d", "e"].into_iter()), places.intern(["c", "d"].into_iter()));
        assert_eq!(places.intern(std::iter::empty()), None);
        let json = serde_json::to_string(&places).unwrap();
        assert_eq!(serde_json::from_str::<Places>(&json).unwrap(), places);
    }

    #[test]
    fn a_table_that_is_full_knows_no_new_set_and_keeps_the_old_ones() {
        let mut places = Places::default();
        for number in 0..u32::from(u16::MAX) {
            assert!(places.intern([number.to_string().as_str()].into_iter()).is_some());
        }
        assert_eq!(places.intern(["more"].into_iter()), None);
        assert!(places.intern(["7"].into_iter()).is_some());
    }

    #[test]
    fn a_table_is_empty_until_a_set_is_known() {
        let mut places = Places::default();
        assert!(places.is_empty());
        assert!(places.intern(["a"].into_iter()).is_some());
        assert!(!places.is_empty());
    }
}
