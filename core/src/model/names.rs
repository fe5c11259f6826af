//! Host names, kept once each.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A name's place in its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NameId(std::num::NonZeroU32);

/// Names, each with a small number. Bounded: a table that is full knows no new names.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub struct Names {
    names: Vec<String>,
    ids: BTreeMap<String, NameId>,
}

/// More hosts than YARN's largest clusters, ten times over.
const NAMES_MAX: usize = 500_000;

impl Names {
    /// The number of a name, new or known; `None` when the table is full.
    pub fn intern(&mut self, name: &str) -> Option<NameId> {
        if let Some(id) = self.ids.get(name) {
            return Some(*id);
        }
        if self.names.len() >= NAMES_MAX {
            return None;
        }
        self.names.push(name.to_owned());
        let id = NameId(std::num::NonZeroU32::new(self.names.len() as u32)?);
        self.ids.insert(name.to_owned(), id);
        Some(id)
    }

    /// The number of a known name.
    pub fn find(&self, name: &str) -> Option<NameId> {
        self.ids.get(name).copied()
    }

    /// How many names.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// The name of a number.
    pub fn name(&self, id: NameId) -> &str {
        self.names.get(id.0.get() as usize - 1).map_or("?", String::as_str)
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
        table.names
    }
}
