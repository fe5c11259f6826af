//! What was settled about clones.

use super::decision::Verdict;
use super::units::Millis;
use serde::{Deserialize, Serialize};

/// What was settled about the clones of a phase before its first task ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClonePlan {
    /// What is run several times over.
    #[serde(default)]
    pub scheme: CloneScheme,
    /// Copies of each of its tasks, the first attempt included, or of the whole job; one where it is not cloned.
    pub clones: u32,
    /// How many of its tasks have them, from the first on.
    pub tasks: u32,
    /// Why it is not cloned.
    pub refused: Option<Verdict>,
    /// Its clones are to give way to others.
    pub gives_way: bool,
    /// How its clones read what the clones of the phase before it have written; `None` where they read no clones' outputs, and where the whole job is cloned: each of
    /// its clones reads its own.
    #[serde(default)]
    pub reading: Option<Reading>,
}

/// What is run several times over (Dolly, NSDI'13, §3.1; HotCloud'12, §3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CloneScheme {
    /// Each task; the first of its clones counts.
    #[default]
    Task,
    /// The whole job; the first of its clones counts.
    Job,
}

/// Which output of an upstream task's clones each clone of a downstream task reads, and when (NSDI'13, §4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Assignment {
    /// CAC, §4.1: each upstream clone, as it finishes, feeds one clone of each downstream group.
    Avoidance,
    /// CC, §4.1: all read the upstream clone that finishes first.
    Contention,
    /// §4.4: wait ω for an exclusive output, then share.
    Delay {
        /// ω.
        omega: Millis,
    },
}

/// How a phase's clones read what the clones before them have written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// What Dolly would have them do.
    pub wanted: Assignment,
    /// What they do.
    pub done: Assignment,
    /// Why it is not what was asked for.
    pub instead: Option<Verdict>,
}

impl ClonePlan {
    /// So many clones for so many tasks.
    pub const fn given(scheme: CloneScheme, clones: u32, tasks: u32) -> ClonePlan {
        ClonePlan { scheme, clones, tasks, refused: None, gives_way: false, reading: None }
    }

    /// None, and why.
    pub const fn refused(scheme: CloneScheme, verdict: Verdict) -> ClonePlan {
        ClonePlan { refused: Some(verdict), ..ClonePlan::given(scheme, 1, 0) }
    }
}

impl CloneScheme {
    /// Every one.
    pub const ALL: [CloneScheme; 2] = [CloneScheme::Task, CloneScheme::Job];

    /// Stable label.
    pub fn label(self) -> &'static str {
        match self {
            CloneScheme::Task => "task",
            CloneScheme::Job => "job",
        }
    }
}

impl Assignment {
    /// Stable label.
    pub fn label(self) -> &'static str {
        match self {
            Assignment::Avoidance => "cac",
            Assignment::Contention => "cc",
            Assignment::Delay { .. } => "delay",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assignment_goes_by_the_papers_name_for_it() {
        let all = [Assignment::Avoidance, Assignment::Contention, Assignment::Delay { omega: Millis(7) }];
        assert_eq!(all.map(Assignment::label), ["cac", "cc", "delay"]);
    }
}
