//! Host names, kept once each.

use indexmap::{IndexMap, IndexSet};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A name that many hold: of a host, a rack, a state.
pub type Name = Arc<str>;

/// The same in each run, and quick: names are the cluster's own, and bounded.
type Hashed = rustc_hash::FxBuildHasher;

/// A map by names, found by hash, as clusters have 10,000 hosts. It is gone through in the order in which names came, or were sorted.
pub type ByName<T> = IndexMap<Name, T, Hashed>;

/// A name's place in its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NameId(std::num::NonZeroU32);

impl NameId {
    fn at(place: usize) -> Option<NameId> {
        std::num::NonZeroU32::new(place as u32 + 1).map(NameId)
    }
}

/// Names, each with a small number. Bounded: a table that is full knows no new names.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub struct Names {
    names: IndexSet<String, Hashed>,
}

/// More hosts than YARN's largest clusters, ten times over.
const NAMES_MAX: usize = 500_000;

impl Names {
    /// The number of a name, new or known; `None` when the table is full.
    pub fn intern(&mut self, name: &str) -> Option<NameId> {
        if let Some(id) = self.find(name) {
            return Some(id);
        }
        if self.names.len() >= NAMES_MAX {
            return None;
        }
        NameId::at(self.names.insert_full(name.to_owned()).0)
    }

    /// The number of a known name.
    pub fn find(&self, name: &str) -> Option<NameId> {
        NameId::at(self.names.get_index_of(name)?)
    }

    /// How many names.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// The name of a number.
    pub fn name(&self, id: NameId) -> &str {
        self.names.get_index(id.0.get() as usize - 1).map_or("?", String::as_str)
    }
}

impl From<Vec<String>> for Names {
    fn from(names: Vec<String>) -> Names {
        let mut table = Names::default();
        for name in names {
            table.intern(&name);
        }
        table
    }
}

impl From<Names> for Vec<String> {
    fn from(table: Names) -> Vec<String> {
        table.names.into_iter().collect()
    }
}
