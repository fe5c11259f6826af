//! Copies that are asked for, not only advised: what was sent, what was answered, what became of it; and what holds all of that back.

use super::decision::Action;
use super::id::{JobId, TaskId};
use super::landed::Landed;
use super::names::NameId;
use super::units::{Millis, Time};
use serde::{Deserialize, Serialize};

/// The AM's answer to an action. One stable label each, the protocol's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The copies were added.
    Applied,
    /// A copy was given a node to avoid, or an attempt was restarted, and another stands for it now.
    Moved,
    /// Drover did not own the job's speculation.
    NotLeased,
    /// It came too late.
    PastDeadline,
    /// The job has no such task.
    UnknownTask,
    /// The task was not running.
    NotRunning,
    /// The task had succeeded.
    TaskEnded,
    /// An attempt was committing.
    Committing,
    /// The task had more attempts than the decision assumed.
    TooManyAttempts,
    /// Had its copies failed, the task would have, and the job with it.
    FailuresSpent,
    /// The attempt that was to be killed did not run any more.
    AttemptEnded,
    /// It had come so far that a new one would end no sooner.
    TooFar,
    /// Another attempt of the task was ahead of it.
    AnotherAhead,
    /// The task had been restarted more often than the decision knew of.
    RestartsSpent,
    /// So many machines to avoid that Hadoop would drop, or has dropped, its whole list.
    TooManyNodes,
    /// No reduce of the job had outputs left to fetch.
    NotRead,
    /// None of the outputs that were to be made again stood, or might be taken away.
    NoOutput,
    /// The job itself waited for containers.
    NoHeadroom,
    /// The job has speculation switched off.
    SpeculationOff,
    /// The shim could not read it.
    MalformedAction,
    /// The shim does not know it.
    UnsupportedAction,
    /// Hadoop's own code threw.
    Failed,
}

impl Answer {
    /// Every answer, for metrics that start at zero.
    pub const ALL: [Answer; 22] = [
        Answer::Applied,
        Answer::Moved,
        Answer::NotLeased,
        Answer::PastDeadline,
        Answer::UnknownTask,
        Answer::NotRunning,
        Answer::TaskEnded,
        Answer::Committing,
        Answer::TooManyAttempts,
        Answer::FailuresSpent,
        Answer::AttemptEnded,
        Answer::TooFar,
        Answer::AnotherAhead,
        Answer::RestartsSpent,
        Answer::TooManyNodes,
        Answer::NotRead,
        Answer::NoOutput,
        Answer::NoHeadroom,
        Answer::SpeculationOff,
        Answer::MalformedAction,
        Answer::UnsupportedAction,
        Answer::Failed,
    ];

    /// Stable snake_case label.
    pub fn label(self) -> &'static str {
        match self {
            Answer::Applied => "applied",
            Answer::Moved => "moved",
            Answer::NotLeased => "not_leased",
            Answer::PastDeadline => "past_deadline",
            Answer::UnknownTask => "unknown_task",
            Answer::NotRunning => "not_running",
            Answer::TaskEnded => "task_ended",
            Answer::Committing => "committing",
            Answer::TooManyAttempts => "too_many_attempts",
            Answer::FailuresSpent => "failures_spent",
            Answer::AttemptEnded => "attempt_ended",
            Answer::TooFar => "too_far",
            Answer::AnotherAhead => "another_ahead",
            Answer::RestartsSpent => "restarts_spent",
            Answer::TooManyNodes => "too_many_nodes",
            Answer::NotRead => "not_read",
            Answer::NoOutput => "no_output",
            Answer::NoHeadroom => "no_headroom",
            Answer::SpeculationOff => "speculation_off",
            Answer::MalformedAction => "malformed_action",
            Answer::UnsupportedAction => "unsupported_action",
            Answer::Failed => "failed",
        }
    }

    /// The answer of that label.
    pub fn parse(label: &str) -> Option<Answer> {
        Answer::ALL.into_iter().find(|answer| answer.label() == label)
    }

    /// Are there copies because of it?
    pub fn is_applied(self) -> bool {
        matches!(self, Answer::Applied | Answer::Moved)
    }

    /// Would asking again be answered the same?
    pub fn is_for_good(self) -> bool {
        use Answer::{Failed, MalformedAction, SpeculationOff, UnknownTask, UnsupportedAction};
        matches!(self, UnknownTask | SpeculationOff | MalformedAction | UnsupportedAction | Failed)
    }
}

/// An answer to an action, as the shim gave it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AckFact {
    /// The job.
    pub job: JobId,
    /// The decision that the action carries out.
    pub decision: u64,
    /// The answer.
    pub answer: Answer,
    /// Numbers of the attempts that are its copies.
    pub attempts: Vec<u32>,
}

impl AckFact {
    /// Does it add nothing to an earlier answer, with the attempts that one named? Each move of a copy gets a higher number, so a lower one is a repeated word; and what was applied is not
    /// refused afterwards.
    pub fn is_stale_after(&self, before: Option<Answer>, named: &[u32]) -> bool {
        let older = self.attempts.iter().max() < named.iter().max();
        before.is_some_and(Answer::is_applied) && (older || !self.answer.is_applied())
    }
}

/// What became of copies that were decided on in mode `act`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CopyEnd {
    /// A copy finished first.
    Won,
    /// Another attempt finished first.
    Lost,
    /// The copies failed or were killed while the task went on.
    Died,
    /// The shim refused.
    Refused,
    /// It was never sent: no session called in time.
    Unsent,
    /// It was sent, no answer came, and no copy was seen.
    Unanswered,
    /// The job was over, or lost from sight, before anybody could tell.
    Unknown,
}

impl CopyEnd {
    /// Every end, for metrics that start at zero.
    pub const ALL: [CopyEnd; 7] = [
        CopyEnd::Won,
        CopyEnd::Lost,
        CopyEnd::Died,
        CopyEnd::Refused,
        CopyEnd::Unsent,
        CopyEnd::Unanswered,
        CopyEnd::Unknown,
    ];

    /// Stable snake_case label.
    pub fn label(self) -> &'static str {
        match self {
            CopyEnd::Won => "won",
            CopyEnd::Lost => "lost",
            CopyEnd::Died => "died",
            CopyEnd::Refused => "refused",
            CopyEnd::Unsent => "unsent",
            CopyEnd::Unanswered => "unanswered",
            CopyEnd::Unknown => "unknown",
        }
    }

    /// Did a copy that came to be win? `None` where the end says nothing of how it fared.
    pub fn won(self) -> Option<bool> {
        match self {
            CopyEnd::Won => Some(true),
            CopyEnd::Lost | CopyEnd::Died => Some(false),
            CopyEnd::Refused | CopyEnd::Unsent | CopyEnd::Unanswered | CopyEnd::Unknown => None,
        }
    }

    /// With its task, which has succeeded by that attempt where it is known: of an action that was sent or not, so answered, with those attempts as its copies.
    pub fn with_task(answer: Option<Answer>, sent: bool, copies: &[u32], winner: Option<u32>) -> CopyEnd {
        match winner {
            _ if copies.is_empty() => match answer {
                Some(answer) if !answer.is_applied() => CopyEnd::Refused,
                None if !sent => CopyEnd::Unsent,
                _ => CopyEnd::Unanswered,
            },
            None => CopyEnd::Unknown,
            Some(winner) if copies.contains(&winner) => CopyEnd::Won,
            Some(_) => CopyEnd::Lost,
        }
    }
}

/// The end of copies that were really asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CopyOutcome {
    /// The decision.
    pub decision: u64,
    /// The policy that proposed them.
    #[serde(default)]
    pub policy: String,
    /// What was to be done.
    #[serde(default)]
    pub action: Action,
    /// They were clones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clones: bool,
    /// Their end says something of the policy: clones are there to lose, and with their AM every copy ends.
    #[serde(default)]
    pub telling: bool,
    /// The task.
    pub task: TaskId,
    /// What became of them.
    pub end: CopyEnd,
    /// The shim's last answer, where there was one.
    pub answer: Option<Answer>,
    /// Numbers of the attempts that were the copies.
    pub attempts: Vec<u32>,
    /// The attempt that succeeded, where known.
    pub winner: Option<u32>,
    /// Host the winner ran on, where known.
    pub host: Option<String>,
    /// Hosts on which copies were launched, one for each, where known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// The hosts that its decision had named to keep off, and those to prefer.
    #[serde(skip)]
    pub named: [Vec<NameId>; 2],
    /// Where the copies ran beside these.
    #[serde(default)]
    pub landed: Landed,
    /// Of a restart, how many that made of its task: 1 for the first; `None` of a copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<u32>,
    /// When it ended, the AM's clock.
    pub at: Time,
    /// What the copies held, launch to end, summed.
    pub cost: Millis,
    /// Of that, what the one that won held.
    #[serde(default)]
    pub winner_cost: Millis,
    /// Of clones that won, where the original had told anything of its progress: the end that it was heading for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outran: Option<PredictedEnd>,
}

/// When an attempt that something else has outrun would have ended, as predicted then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PredictedEnd {
    /// That end, the AM's clock.
    pub at: Time,
    /// One standard deviation, as past predictions have shown it.
    pub spread: Millis,
}

/// A policy's breaker for a user opened or closed: copies of it that were counted, and how many of them won.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakerTurn {
    /// The policy.
    pub policy: String,
    /// Whose jobs it was about.
    pub user: String,
    /// It opened: the policy only advises on the user's jobs from here on.
    pub open: bool,
    /// Copies that won.
    pub won: u32,
    /// Of so many.
    pub copies: u32,
}

/// A policy that is left to advice because its copies kept losing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenBreaker {
    /// Since when, the service's clock.
    pub since: Time,
    /// What it was opened for.
    pub told: BreakerTurn,
}

/// What an operator's hold covers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "of", content = "name")]
pub enum Scope {
    /// Every job.
    Cluster,
    /// Jobs of a queue, by path or by the last part of it.
    Queue(String),
    /// Jobs of a user.
    User(String),
    /// One job.
    Job(JobId),
}

/// An operator's word that Drover is not to act: it goes on advising, and Hadoop's own speculator gets the jobs back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// What it covers; a later hold of the same scope replaces an earlier one.
    pub scope: Scope,
    /// Why, in the operator's words.
    pub reason: String,
    /// Who said so.
    pub by: String,
    /// Since when, the service's clock.
    pub since: Time,
    /// Until when, the service's clock; `None`: until it is lifted.
    pub until: Option<Time>,
}

impl Hold {
    /// Whether it is not over at `now`, the service's clock.
    pub fn stands(&self, now: Time) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_and_end_has_its_own_label_which_is_its_serialised_form() {
        for answer in Answer::ALL {
            assert_eq!(serde_json::to_string(&answer).unwrap(), format!("\"{}\"", answer.label()));
            assert_eq!(Answer::parse(answer.label()), Some(answer));
        }
        for end in CopyEnd::ALL {
            assert_eq!(serde_json::to_string(&end).unwrap(), format!("\"{}\"", end.label()));
        }
        assert_eq!(Answer::parse("sure"), None);
    }
}
