//! A task and its attempts, as they are known.

use super::{Attempt, Attempts, Marks};
use crate::model::decision::Verdict;
use crate::model::observation::TaskFact;
use crate::model::places::Place;
use crate::model::state::{AttemptState, Phase, TaskState};
use crate::model::track::{Stamp, Track};
use crate::model::units::{Bytes, Millis, Time};
use serde::{Deserialize, Serialize};

/// A task and its attempts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// State.
    pub state: TaskState,
    /// Verdict of the last pass.
    pub verdict: Option<Verdict>,
    /// What the engine keeps in mind of it.
    #[serde(default)]
    pub marks: Marks,
    /// Phase, as a status text of the task tells it.
    pub phase: Option<Phase>,
    /// Racks that hold its input split, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// AM time at which `state` held.
    pub as_of: Stamp,
    /// Attempt that succeeded.
    pub winner: Option<u32>,
    /// Launch of its first attempt, the AM's clock.
    pub started: Stamp,
    /// End, the AM's clock.
    pub finished: Stamp,
    /// Progress of its best attempt: all that REST tells of most tasks.
    pub track: Track,
    /// Input split's length; zero where unknown, too: see [`Task::is_empty`].
    pub input: Bytes,
    /// Attempts known, by number.
    pub attempts: Attempts,
}

impl Default for Task {
    fn default() -> Self {
        Task {
            state: TaskState::New,
            verdict: None,
            marks: Marks::default(),
            phase: None,
            place: None,
            as_of: Stamp::default(),
            winner: None,
            started: Stamp::default(),
            finished: Stamp::default(),
            track: Track::default(),
            input: Bytes(0),
            attempts: Attempts::None,
        }
    }
}

impl Task {
    /// All that is known of itself but how far it is.
    pub(super) fn standing(&self) -> impl PartialEq + use<> {
        let input = (self.input, self.is_empty());
        (self.state, self.winner, self.phase, input, [self.started, self.finished])
    }

    /// Folds in what a fact tells, which held at `at` on the AM's clock.
    pub(super) fn learn(&mut self, fact: &TaskFact, at: Time) {
        self.marks = self.marks.heard(self.marks.told() || fact.score.is_some());
        // A map whose output was lost runs again, so the newest state counts, not the furthest.
        if let Some(state) = fact.state
            && (Some(at), state) >= (self.as_of.get(), self.state)
        {
            // It runs anew.
            let anew = self.state.is_final() && !state.is_final();
            self.marks = self.marks.skewing(self.marks.skewed() && !anew);
            self.state = state;
            self.as_of.latest(Some(at));
            self.finished = Stamp::default();
            self.winner = None;
        }
        self.started.earliest(fact.started);
        if fact.state.is_some_and(TaskState::is_final) {
            if self.state.is_final() {
                self.finished.latest(fact.finished);
                self.winner = fact.winner.or(self.winner);
            }
        } else if let Some(score) = fact.score {
            self.track.add(score, at);
        }
        self.phase = self.phase.max(fact.phase);
        self.input = self.input.max(fact.input.unwrap_or_default());
        let told = self.is_empty() || fact.input == Some(Bytes(0));
        self.marks = self.marks.emptied(told && self.input == Bytes(0));
    }

    /// It is known to have no input: its split is that of an empty file, say.
    pub fn is_empty(&self) -> bool {
        self.marks.empty()
    }

    /// Attempts that hold a container.
    pub fn live(&self) -> impl Iterator<Item = &Attempt> {
        self.attempts
            .iter()
            .filter(|attempt| matches!(attempt.state, AttemptState::Running | AttemptState::CommitPending))
    }

    /// Attempts that have not ended, those that wait for a container included.
    pub fn unended(&self) -> impl Iterator<Item = &Attempt> {
        self.attempts.iter().filter(|attempt| !attempt.state.is_final())
    }

    /// The attempt to judge the task by: the oldest that runs. `None` while only the task itself is known.
    pub fn original(&self) -> Option<&Attempt> {
        self.live().min_by_key(|attempt| (attempt.started.get(), attempt.number))
    }

    /// All that is known of the progress of the attempt to judge it by.
    pub fn progress(&self) -> Track {
        let mut track = self.original().map_or_else(Track::default, |attempt| attempt.track);
        // A task's own score is that of its best attempt: the original's only while it is alone.
        if self.live().count() <= 1 && self.attempts.len() <= 1 {
            track.join(&self.track);
        }
        track
    }

    /// The attempt that succeeded, where it is known: the one that the task tells of or, where it tells of none, as the attempts do. `None` also while that one was not read: another that
    /// is told to have succeeded is one whose output was lost.
    pub fn won(&self) -> Option<&Attempt> {
        self.attempts.iter().find(|attempt| match self.winner {
            Some(number) => attempt.number == number,
            None => attempt.state == AttemptState::Succeeded,
        })
    }

    /// When it ended, the AM's clock; `None` while it runs, and where it is not known.
    pub fn ended(&self) -> Option<Time> {
        if !self.state.is_final() {
            return None;
        }
        let last = || self.attempts.iter().max_by_key(|attempt| attempt.finished.get());
        self.finished.get().or_else(|| self.won().or_else(last)?.finished.get())
    }

    /// The number of the attempt that succeeded, where it is known.
    pub fn winner(&self) -> Option<u32> {
        self.winner.or_else(|| self.won().map(|attempt| attempt.number))
    }

    /// How long its successful run took, the AM's clock; `None` where it is not known.
    pub fn run_time(&self) -> Option<Millis> {
        if self.state != TaskState::Succeeded {
            return None;
        }
        let won = self.won();
        if won.is_none() && self.attempts.iter().any(|attempt| attempt.state == AttemptState::Succeeded) {
            // It ran again after that one, and when it did was not read.
            return None;
        }
        let started = won.map_or(self.started, |attempt| attempt.started).get()?;
        let finished = won.and_then(|attempt| attempt.finished.get()).or_else(|| self.ended())?;
        Some(finished.since(started))
    }

    /// How often it was started anew: its only attempt was killed after its launch, and another came in its place. A copy that was withdrawn, that gave way or that lost is
    /// none such: beside it the task went on.
    pub fn restarts(&self) -> u32 {
        let killed = |attempt: &&Attempt| attempt.state == AttemptState::Killed && attempt.was_launched();
        self.attempts.iter().filter(killed).filter(|killed| self.began_anew(killed)).count() as u32
    }

    /// Was that attempt, which has ended, the only one then, and is there one that was launched since or waits for its container?
    fn began_anew(&self, ended: &Attempt) -> bool {
        let Some(end) = ended.finished.get() else { return false };
        let others = || self.attempts.iter().filter(|other| other.number != ended.number);
        // Of those that were killed at once the last stands for all; one that succeeded meanwhile is why this one was.
        let outlasts = |other: &Attempt| match other.finished.get().filter(|_| other.state.is_final()) {
            Some(finished) if other.state == AttemptState::Succeeded => Some(finished) > ended.started.get(),
            Some(finished) => (finished, other.number) > (end, ended.number),
            None => !other.state.is_final(),
        };
        let beside = |other: &Attempt| other.started.get().is_some_and(|started| started < end) && outlasts(other);
        let after = |other: &Attempt| other.started.get().map_or(!other.state.is_final(), |started| started >= end);
        !others().any(beside) && others().any(after)
    }

    /// A speculator of Hadoop's started a copy of it at some time: an attempt is labelled so, or, where REST shows no labels, two ran at once.
    pub fn natively_copied(&self) -> bool {
        let labelled = self.attempts.iter().any(|attempt| attempt.speculative);
        labelled || self.attempts.windows(2).any(|pair| pair[0].overlaps(&pair[1]))
    }
}
