//! Jobs of a scenario.

use super::super::dist::Dist;
use super::super::exact;
use crate::model::TaskKind;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Jobs that are alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobGroup {
    /// Name of the jobs, by which Drover knows earlier runs.
    pub name: String,
    /// How many.
    #[serde(default = "one")]
    pub count: u32,
    /// When they arrive.
    #[serde(default)]
    pub arrive: Arrivals,
    /// Their user.
    #[serde(default = "user")]
    pub user: String,
    /// Their queue.
    #[serde(default = "queue")]
    pub queue: String,
    /// Their maps.
    #[serde(default)]
    pub maps: PhaseSpec,
    /// Their reduces.
    #[serde(default)]
    pub reduces: PhaseSpec,
    /// Names of other groups, one or a list: the nth of these arrives when the nth of each of those has ended, and its arrival counts from there. Its maps read what those wrote.
    #[serde(default, deserialize_with = "names")]
    pub after: Vec<String>,
}

impl JobGroup {
    /// How many phases its jobs have at most.
    pub fn phases(&self) -> u32 {
        TaskKind::ALL.into_iter().filter(|kind| self.phase(*kind).may_have_tasks()).count() as u32
    }

    /// Its tasks of one kind.
    pub fn phase(&self, kind: TaskKind) -> &PhaseSpec {
        match kind {
            TaskKind::Map => &self.maps,
            TaskKind::Reduce => &self.reduces,
        }
    }
}

/// When jobs arrive.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Arrivals {
    /// The first, seconds from the start.
    pub at: f64,
    /// Between one and the next, seconds.
    pub every: Dist,
}

/// Tasks of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PhaseSpec {
    /// How many tasks.
    pub tasks: Dist,
    /// What a task has to do, seconds on a healthy node; of a reduce what follows its sort.
    pub work: Dist,
    /// Of a reduce: how long it reads when all maps have ended, seconds on a healthy node.
    pub copy: Dist,
    /// Of a reduce: its sort, seconds on a healthy node.
    pub sort: Dist,
    /// Processors that a task keeps busy while it works, where the cluster's are shared.
    pub busy: f64,
    /// Input of a task, mebibytes.
    pub input_mb: Dist,
    /// What its container asks for, mebibytes.
    pub memory_mb: u64,
    /// The same, virtual cores.
    pub vcores: u32,
    /// Attempts that take so many times longer, beside what is drawn: index of the task, number of the attempt, and the factor. At most [`PhaseSpec::SLOW_MAX`].
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "exact::each")]
    pub slow: Vec<(u32, u32, f64)>,
}

impl PhaseSpec {
    /// As many attempts may be named.
    pub const SLOW_MAX: usize = 1_000;

    /// Is there a job that has a task of it?
    pub(super) fn may_have_tasks(&self) -> bool {
        self.tasks.range().1 >= 1.0
    }

    /// How many times longer an attempt takes because it is named, whatever is drawn.
    pub fn slower(&self, index: u32, number: u32) -> f64 {
        let named = self.slow.iter().find(|(task, attempt, _)| (*task, *attempt) == (index, number));
        named.map_or(1.0, |(_, _, times)| *times)
    }
}

impl Default for PhaseSpec {
    fn default() -> Self {
        PhaseSpec {
            tasks: Dist::Constant(0.0),
            work: Dist::Constant(10.0),
            copy: Dist::Constant(0.0),
            sort: Dist::Constant(0.0),
            busy: 0.0,
            input_mb: Dist::Constant(128.0),
            memory_mb: 1024,
            vcores: 1,
            slow: Vec::new(),
        }
    }
}

/// One name, or a list of them.
fn names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct Names;
    impl<'de> Visitor<'de> for Names {
        type Value = Vec<String>;

        fn expecting(&self, words: &mut fmt::Formatter<'_>) -> fmt::Result {
            words.write_str("the name of a group of jobs, or a list of such names")
        }

        fn visit_str<E: Error>(self, name: &str) -> Result<Vec<String>, E> {
            Ok(vec![name.to_owned()])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Vec<String>, A::Error> {
            let mut names = Vec::new();
            while let Some(name) = all.next_element()? {
                names.push(name);
            }
            Ok(names)
        }
    }
    deserializer.deserialize_any(Names)
}

fn one() -> u32 {
    1
}

fn user() -> String {
    "alice".into()
}

fn queue() -> String {
    super::QueueSpec::ONLY.into()
}
