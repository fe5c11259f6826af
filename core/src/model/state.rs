//! Life cycles as Hadoop reports them.

use serde::{Deserialize, Serialize};

/// State of a job, in the words of Hadoop's `JobState`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobPhase {
    /// Set up, no task has run.
    Preparing,
    /// Tasks may run.
    Running,
    /// Succeeded.
    Succeeded,
    /// Failed, or in Hadoop's ERROR.
    Failed,
    /// Killed.
    Killed,
}

/// State of a task. Ordered: a later state never gives way to an earlier one, but for a map whose output was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// Known, not asked for.
    New,
    /// No attempt has launched yet.
    Scheduled,
    /// At least one attempt has launched.
    Running,
    /// An attempt succeeded.
    Succeeded,
    /// Gave up.
    Failed,
    /// Killed with its job.
    Killed,
}

/// State of an attempt. Ordered by its life: a later state never gives way to an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptState {
    /// Known, no container asked for.
    New,
    /// Waits for its container, or for its launch.
    Starting,
    /// Launched.
    Running,
    /// Work done, waits for leave to commit, or commits.
    CommitPending,
    /// Succeeded.
    Succeeded,
    /// Failed.
    Failed,
    /// Killed.
    Killed,
}

/// Where an attempt is in its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Launched, nothing reported.
    Starting,
    /// Map work.
    Map,
    /// A reduce copying map outputs; Hadoop's SHUFFLE.
    Copy,
    /// A map's or a reduce's sort.
    Sort,
    /// Reduce work.
    Reduce,
    /// Cleaning up.
    Cleanup,
}

impl JobPhase {
    /// Has it ended?
    pub fn is_final(self) -> bool {
        matches!(self, JobPhase::Succeeded | JobPhase::Failed | JobPhase::Killed)
    }

    /// Stable label.
    pub fn label(self) -> &'static str {
        match self {
            JobPhase::Preparing => "preparing",
            JobPhase::Running => "running",
            JobPhase::Succeeded => "succeeded",
            JobPhase::Failed => "failed",
            JobPhase::Killed => "killed",
        }
    }

    /// From Hadoop's JobState, or YARN's FinalApplicationStatus; `None` for a word Hadoop 3.5 does not know.
    pub fn parse(word: &str) -> Option<JobPhase> {
        Some(match word {
            "NEW" | "INITED" | "SETUP" | "PREP" => JobPhase::Preparing,
            "RUNNING" | "COMMITTING" | "FAIL_WAIT" | "FAIL_ABORT" | "KILL_WAIT" | "KILL_ABORT" | "REBOOT" => {
                JobPhase::Running
            }
            "SUCCEEDED" => JobPhase::Succeeded,
            "FAILED" | "ERROR" => JobPhase::Failed,
            "KILLED" => JobPhase::Killed,
            _ => return None,
        })
    }
}

impl TaskState {
    /// Has it ended, for now?
    pub fn is_final(self) -> bool {
        self >= TaskState::Succeeded
    }

    /// From Hadoop's TaskState, internal states included; `None` for an unknown word.
    pub fn parse(word: &str) -> Option<TaskState> {
        Some(match word {
            "NEW" => TaskState::New,
            "SCHEDULED" => TaskState::Scheduled,
            "RUNNING" | "KILL_WAIT" => TaskState::Running,
            "SUCCEEDED" => TaskState::Succeeded,
            "FAILED" => TaskState::Failed,
            "KILLED" => TaskState::Killed,
            _ => return None,
        })
    }
}

impl AttemptState {
    /// Has it ended?
    pub fn is_final(self) -> bool {
        self >= AttemptState::Succeeded
    }

    /// Do the two together tell that the attempt succeeded and that this was taken back, in either order?
    pub fn takes_back(self, other: AttemptState) -> bool {
        let both_final = self.is_final() && other.is_final();
        both_final && self != other && (self == AttemptState::Succeeded || other == AttemptState::Succeeded)
    }

    /// Does it hold a container and work? Its progress is to be trusted only then (Hadoop sets it to 1 at the end, whatever the end).
    pub fn is_running(self) -> bool {
        self == AttemptState::Running
    }

    /// From Hadoop's TaskAttemptState; `None` for an unknown word.
    pub fn parse(word: &str) -> Option<AttemptState> {
        Some(match word {
            "NEW" => AttemptState::New,
            "STARTING" | "UNASSIGNED" | "ASSIGNED" => AttemptState::Starting,
            "RUNNING" => AttemptState::Running,
            "COMMIT_PENDING" => AttemptState::CommitPending,
            "SUCCEEDED" => AttemptState::Succeeded,
            "FAILED" => AttemptState::Failed,
            "KILLED" => AttemptState::Killed,
            _ => return None,
        })
    }
}

impl Phase {
    /// From Hadoop's Phase; `None` for an unknown word.
    pub fn parse(word: &str) -> Option<Phase> {
        Some(match word {
            "STARTING" => Phase::Starting,
            "MAP" => Phase::Map,
            "SHUFFLE" => Phase::Copy,
            "SORT" => Phase::Sort,
            "REDUCE" => Phase::Reduce,
            "CLEANUP" => Phase::Cleanup,
            _ => return None,
        })
    }

    /// From the status text that AM REST shows (`reduce > copy(17 of 30 at 2.1 MB/s)`, `map > sort`, `reduce > sort`); `None` when it tells nothing.
    pub fn from_status(status: &str) -> Option<Phase> {
        let (kind, rest) = status.split_once('>').unwrap_or((status, ""));
        match (kind.trim(), rest.trim_start()) {
            ("reduce", rest) if rest.starts_with("copy") => Some(Phase::Copy),
            ("reduce", rest) if rest.starts_with("sort") => Some(Phase::Sort),
            ("reduce", _) => Some(Phase::Reduce),
            ("map", rest) if rest.starts_with("sort") => Some(Phase::Sort),
            ("map", _) => Some(Phase::Map),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of Hadoop's words with what it means.
    fn all<T: Copy + PartialEq + std::fmt::Debug>(parse: fn(&str) -> Option<T>, words: &[(&str, T)]) {
        for (some, state) in words {
            for word in some.split(' ') {
                assert_eq!(parse(word), Some(*state), "{word}");
            }
        }
        assert_eq!((parse("RUNNING_AWAY"), parse("running"), parse("")), (None, None, None));
    }

    #[test]
    fn every_word_of_hadoops_for_a_state_has_its_meaning() {
        let job = [
            ("NEW INITED SETUP PREP", JobPhase::Preparing),
            ("RUNNING COMMITTING FAIL_WAIT FAIL_ABORT KILL_WAIT KILL_ABORT REBOOT", JobPhase::Running),
            ("SUCCEEDED", JobPhase::Succeeded),
            ("FAILED ERROR", JobPhase::Failed),
            ("KILLED", JobPhase::Killed),
        ];
        all(JobPhase::parse, &job);
        let task = [
            ("NEW", TaskState::New),
            ("SCHEDULED", TaskState::Scheduled),
            ("RUNNING KILL_WAIT", TaskState::Running),
            ("SUCCEEDED", TaskState::Succeeded),
            ("FAILED", TaskState::Failed),
            ("KILLED", TaskState::Killed),
        ];
        all(TaskState::parse, &task);
        let attempt = [
            ("NEW", AttemptState::New),
            ("STARTING UNASSIGNED ASSIGNED", AttemptState::Starting),
            ("RUNNING", AttemptState::Running),
            ("COMMIT_PENDING", AttemptState::CommitPending),
            ("SUCCEEDED", AttemptState::Succeeded),
            ("FAILED", AttemptState::Failed),
            ("KILLED", AttemptState::Killed),
        ];
        all(AttemptState::parse, &attempt);
        let phase = [
            ("STARTING", Phase::Starting),
            ("MAP", Phase::Map),
            ("SHUFFLE", Phase::Copy),
            ("SORT", Phase::Sort),
            ("REDUCE", Phase::Reduce),
            ("CLEANUP", Phase::Cleanup),
        ];
        all(Phase::parse, &phase);
    }

    #[test]
    fn a_job_has_ended_that_succeeded_failed_or_was_killed() {
        use JobPhase::{Failed, Killed, Preparing, Running, Succeeded};
        assert!([Succeeded, Failed, Killed].into_iter().all(JobPhase::is_final));
        assert!(![Preparing, Running].into_iter().any(JobPhase::is_final));
    }

    #[test]
    fn an_attempt_works_while_it_runs_and_not_while_it_starts_commits_or_has_ended() {
        use AttemptState::{CommitPending, Failed, Killed, New, Running, Starting, Succeeded};
        let works = [New, Starting, Running, CommitPending, Succeeded, Failed, Killed].map(AttemptState::is_running);
        assert_eq!(works, [false, false, true, false, false, false, false]);
    }

    #[test]
    fn the_status_that_rest_shows_tells_the_phase() {
        for (status, phase) in [
            ("reduce > copy(17 of 30 at 2.1 MB/s)", Some(Phase::Copy)),
            ("reduce > sort", Some(Phase::Sort)),
            ("reduce > reduce", Some(Phase::Reduce)),
            ("reduce", Some(Phase::Reduce)),
            ("map > sort", Some(Phase::Sort)),
            ("map > map", Some(Phase::Map)),
            ("map", Some(Phase::Map)),
            ("copy", None),
            ("", None),
        ] {
            assert_eq!(Phase::from_status(status), phase, "{status}");
        }
    }
}
