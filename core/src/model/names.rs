//! Host names, kept once each.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A name that many hold: of a host, a rack, a state.
pub type Name = Arc<str>;

/// A map by names that the ResourceManager tells, found by hash, as clusters have 10,000 hosts. It is gone through in the order in which names came, or were sorted.
///
/// The hash is the same in each run, and anybody can find names that collide in it: so nothing that a job names is ever put into one.
pub type ByName<T> = IndexMap<Name, T, rustc_hash::FxBuildHasher>;

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
///
/// Jobs name hosts, too: those that nobody else lists are found by comparing, which costs what their length and the table's do, whatever names a job chooses.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub struct Names {
    names: Vec<Name>,
    listed: ByName<NameId>,
    others: BTreeMap<Name, NameId>,
    /// Of the others those that jobs of this process alone have named.
    of_jobs: BTreeSet<NameId>,
}

/// More hosts than YARN's largest clusters, ten times over.
const NAMES_MAX: usize = 500_000;
/// Names that jobs alone tell, which must not fill the table for all.
const OF_JOBS_MAX: usize = 10_000;

impl Names {
    /// The number of a name, new or known; `None` when the table is full.
    pub fn intern(&mut self, name: &str) -> Option<NameId> {
        self.find(name).or_else(|| {
            let (id, name) = self.add(name.into())?;
            self.others.insert(name, id);
            Some(id)
        })
    }

    /// The same of a name that only a job has told so far; `None` where jobs have told too many such, too.
    pub(super) fn intern_of_job(&mut self, name: &str) -> Option<NameId> {
        self.find(name).or_else(|| {
            let id = if self.of_jobs.len() < OF_JOBS_MAX { self.intern(name) } else { None }?;
            self.of_jobs.insert(id);
            Some(id)
        })
    }

    /// The same of a name that the ResourceManager lists, so that no job has thought of it. It is kept where the list has it: of ten thousand none need be looked for in two places.
    pub(super) fn intern_listed(&mut self, name: &Name) -> Option<NameId> {
        self.find(name).or_else(|| {
            let (id, name) = self.add(name.clone())?;
            self.listed.insert(name, id);
            Some(id)
        })
    }

    /// The ResourceManager lists that name: where it has a number already, as one that an earlier process learned of, it is found by hash from now on.
    pub(super) fn list(&mut self, name: &Name) {
        if let Some(id) = self.others.remove(name) {
            self.of_jobs.remove(&id);
            self.listed.insert(name.clone(), id);
        }
    }

    fn add(&mut self, name: Name) -> Option<(NameId, Name)> {
        let id = NameId::at(self.names.len()).filter(|_| self.names.len() < NAMES_MAX)?;
        self.names.push(name.clone());
        Some((id, name))
    }

    /// The number of a known name.
    pub fn find(&self, name: &str) -> Option<NameId> {
        self.listed.get(name).or_else(|| self.others.get(name)).copied()
    }

    /// The name of a number, to be held; `None` for a number of another table's.
    pub fn shared(&self, id: NameId) -> Option<Name> {
        self.names.get(id.0.get() as usize - 1).cloned()
    }

    /// The name of a number.
    pub fn name(&self, id: NameId) -> &str {
        self.names.get(id.0.get() as usize - 1).map_or("?", |name| name)
    }
}

impl PartialEq for Names {
    fn eq(&self, other: &Names) -> bool {
        self.names == other.names
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
        table.names.iter().map(|name| (**name).to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_jobs_tell_are_bounded_whatever_the_cluster_lists_and_those_that_it_lists_later_make_room() {
        let mut names = Names::default();
        let of = |kind: &str, n: usize| format!("{kind}{n}");
        (0..2 * OF_JOBS_MAX).for_each(|n| assert!(names.intern_listed(&of("listed", n).into()).is_some()));
        (0..OF_JOBS_MAX).for_each(|n| assert!(names.intern_of_job(&of("told", n)).is_some()));
        assert_eq!(names.intern_of_job("one more"), None);
        assert!(names.intern_of_job("told7").is_some(), "a known one");
        names.list(&"told7".into());
        assert!(names.intern_of_job("one more").is_some());
    }

    #[test]
    fn a_name_keeps_its_number_whatever_comes_later_and_through_a_recording() {
        let mut names = Names::default();
        let ids = ["b", "a", "b", "c"]
            .map(|name| (if name == "b" { names.intern_listed(&name.into()) } else { names.intern(name) }).unwrap());
        assert_eq!((ids[0], names.names.len()), (ids[2], 3));
        names.list(&"a".into());
        assert_eq!((names.find("a"), names.others.len()), (Some(ids[1]), 1), "one that is listed is found by hash");
        let again: Names = serde_json::from_str(&serde_json::to_string(&names).unwrap()).unwrap();
        assert_eq!(again, names);
        assert_eq!(["a", "b", "c", "d"].map(|name| again.find(name)), [Some(ids[1]), Some(ids[0]), Some(ids[3]), None]);
        assert_eq!(ids.map(|id| again.name(id).to_owned()), ["b", "a", "b", "c"]);
    }
}
