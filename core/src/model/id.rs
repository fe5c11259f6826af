//! Hadoop's identifiers, parsed once and compared as numbers.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// A YARN application: `application_<cluster timestamp>_<sequence>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct AppId {
    /// Start of the ResourceManager that issued it, Unix milliseconds.
    pub cluster: u64,
    /// Sequence number within that ResourceManager.
    pub seq: u32,
}

/// A MapReduce job; YARN gives each its own application of the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct JobId(pub AppId);

/// One run of an application's master: `appattempt_<cluster>_<sequence>_<number from 1>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct AppAttemptId {
    /// The application.
    pub app: AppId,
    /// 1 for the first master.
    pub number: u32,
}

/// Map or reduce.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    /// Reads a split of the input.
    Map,
    /// Copies, sorts and reduces the maps' output.
    Reduce,
}

/// A task: `task_<cluster>_<job>_<m|r>_<index>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct TaskId {
    /// The job.
    pub job: JobId,
    /// Map or reduce.
    pub kind: TaskKind,
    /// Index within its kind, from 0.
    pub index: u32,
}

/// One attempt at a task: `attempt_<cluster>_<job>_<m|r>_<index>_<number>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct AttemptId {
    /// The task.
    pub task: TaskId,
    /// From 0; the second master of an application numbers from 1000.
    pub number: u32,
}

/// Text that is not the identifier it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is no {expected} id")]
pub struct BadId {
    /// What was read, shortened.
    pub text: String,
    /// What it should have been.
    pub expected: &'static str,
}

impl TaskKind {
    /// Both kinds, maps first.
    pub const ALL: [TaskKind; 2] = [TaskKind::Map, TaskKind::Reduce];

    /// The other one.
    pub fn other(self) -> TaskKind {
        match self {
            TaskKind::Map => TaskKind::Reduce,
            TaskKind::Reduce => TaskKind::Map,
        }
    }

    /// `m` or `r`, as in Hadoop's identifiers.
    pub fn letter(self) -> char {
        match self {
            TaskKind::Map => 'm',
            TaskKind::Reduce => 'r',
        }
    }

    /// `map` or `reduce`.
    pub fn label(self) -> &'static str {
        match self {
            TaskKind::Map => "map",
            TaskKind::Reduce => "reduce",
        }
    }
}

impl JobId {
    /// The task of this job with that kind and index.
    pub fn task(self, kind: TaskKind, index: u32) -> TaskId {
        TaskId { job: self, kind, index }
    }

    /// Every task that it can have.
    pub fn all_tasks(self) -> RangeInclusive<TaskId> {
        self.task(TaskKind::Map, 0)..=self.task(TaskKind::Reduce, u32::MAX)
    }
}

impl TaskId {
    /// The attempt of this task with that number.
    pub fn attempt(self, number: u32) -> AttemptId {
        AttemptId { task: self, number }
    }
}

fn bad(text: &str, expected: &'static str) -> BadId {
    BadId { text: text.chars().take(80).collect(), expected }
}

/// The parts behind `prefix_`, when there are exactly `N` of them.
fn parts<'a, const N: usize>(text: &'a str, prefix: &str) -> Option<[&'a str; N]> {
    let rest = text.strip_prefix(prefix)?.strip_prefix('_')?;
    let mut parts = rest.split('_');
    let mut out = [""; N];
    for slot in &mut out {
        *slot = parts.next()?;
    }
    parts.next().is_none().then_some(out)
}

/// A number of digits only: `parse` alone would take `+1`.
fn number<T: FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}

fn app(cluster: &str, seq: &str) -> Option<AppId> {
    Some(AppId { cluster: number(cluster)?, seq: number(seq)? })
}

fn kind(letter: &str) -> Option<TaskKind> {
    match letter {
        "m" => Some(TaskKind::Map),
        "r" => Some(TaskKind::Reduce),
        _ => None,
    }
}

impl FromStr for AppId {
    type Err = BadId;
    fn from_str(s: &str) -> Result<Self, BadId> {
        let id = || parts::<2>(s, "application").and_then(|[c, n]| app(c, n));
        id().ok_or_else(|| bad(s, "application"))
    }
}

impl FromStr for JobId {
    type Err = BadId;
    fn from_str(s: &str) -> Result<Self, BadId> {
        let id = || parts::<2>(s, "job").and_then(|[c, n]| app(c, n)).map(JobId);
        id().ok_or_else(|| bad(s, "job"))
    }
}

impl FromStr for AppAttemptId {
    type Err = BadId;
    fn from_str(s: &str) -> Result<Self, BadId> {
        let id = || {
            let [c, n, a] = parts::<3>(s, "appattempt")?;
            Some(AppAttemptId { app: app(c, n)?, number: number(a)? })
        };
        id().ok_or_else(|| bad(s, "application attempt"))
    }
}

impl FromStr for TaskId {
    type Err = BadId;
    fn from_str(s: &str) -> Result<Self, BadId> {
        let id = || {
            let [c, n, k, i] = parts::<4>(s, "task")?;
            Some(JobId(app(c, n)?).task(kind(k)?, number(i)?))
        };
        id().ok_or_else(|| bad(s, "task"))
    }
}

impl FromStr for AttemptId {
    type Err = BadId;
    fn from_str(s: &str) -> Result<Self, BadId> {
        let id = || {
            let [c, n, k, i, a] = parts::<5>(s, "attempt")?;
            Some(JobId(app(c, n)?).task(kind(k)?, number(i)?).attempt(number(a)?))
        };
        id().ok_or_else(|| bad(s, "attempt"))
    }
}

impl fmt::Display for AppId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "application_{}_{:04}", self.cluster, self.seq)
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "job_{}_{:04}", self.0.cluster, self.0.seq)
    }
}

impl fmt::Display for AppAttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "appattempt_{}_{:04}_{:06}", self.app.cluster, self.app.seq, self.number)
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AppId { cluster, seq } = self.job.0;
        write!(f, "task_{cluster}_{seq:04}_{}_{:06}", self.kind.letter(), self.index)
    }
}

impl fmt::Display for AttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TaskId { job, kind, index } = self.task;
        let AppId { cluster, seq } = job.0;
        write!(f, "attempt_{cluster}_{seq:04}_{}_{index:06}_{}", kind.letter(), self.number)
    }
}

macro_rules! as_string {
    ($($id:ty),*) => {$(
        impl From<$id> for String {
            fn from(id: $id) -> String {
                id.to_string()
            }
        }
        impl TryFrom<String> for $id {
            type Error = BadId;
            fn try_from(text: String) -> Result<Self, BadId> {
                text.parse()
            }
        }
    )*};
}
as_string!(AppId, JobId, AppAttemptId, TaskId, AttemptId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_survive_a_round_trip_and_keep_hadoops_padding() {
        let text = "attempt_1795181650543_0021_m_000003_1001";
        let id: AttemptId = text.parse().unwrap();
        assert_eq!(id.to_string(), text);
        assert_eq!(id.task.to_string(), "task_1795181650543_0021_m_000003");
        assert_eq!(id.task.job.to_string(), "job_1795181650543_0021");
        assert_eq!(id.task.job.0.to_string(), "application_1795181650543_0021");
        let text = "appattempt_1795181650543_12345_000002";
        assert_eq!(text.parse::<AppAttemptId>().unwrap().to_string(), text);
    }

    #[test]
    fn maps_and_reduces_have_hadoops_letter_and_a_label_of_their_own() {
        let told = |text: &str| text.parse::<TaskId>().unwrap().kind;
        let kinds = [told("task_1_0002_m_000003"), told("task_1_0002_r_000003")];
        assert_eq!(kinds, TaskKind::ALL);
        assert_eq!(kinds.map(TaskKind::label), ["map", "reduce"]);
        assert_eq!(
            kinds.map(|kind| "job_1_0002".parse::<JobId>().unwrap().task(kind, 3).to_string()),
            ["task_1_0002_m_000003", "task_1_0002_r_000003"]
        );
    }

    #[test]
    fn text_that_is_no_id_is_refused() {
        for text in
            ["", "job_1", "job_1_2_3", "job_+1_2", "job_1_x", "task_1_2_q_3", "attempt_1_2_m_3", "job_1_99999999999"]
        {
            assert!(text.parse::<JobId>().is_err(), "{text}");
            assert!(text.parse::<TaskId>().is_err(), "{text}");
            assert!(text.parse::<AttemptId>().is_err(), "{text}");
        }
        let long = "j".repeat(10_000);
        assert!(long.parse::<JobId>().unwrap_err().to_string().len() < 120);
    }
}
