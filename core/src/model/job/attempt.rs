//! An attempt at a task, as it is known.

use crate::model::names::NameId;
use crate::model::observation::AttemptFact;
use crate::model::state::{AttemptState, Phase};
use crate::model::track::{Stamp, Track};
use crate::model::units::{Millis, Time};
use serde::{Deserialize, Serialize};

/// One attempt at a task. Every field only ever grows towards the truth, so one AM's facts may come in any order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Number within its task.
    pub number: u32,
    /// Host, where known.
    pub host: Option<NameId>,
    /// State.
    pub state: AttemptState,
    /// Phase of its work, where known.
    pub phase: Option<Phase>,
    /// Hadoop calls it a speculative attempt.
    pub speculative: bool,
    /// When it was first heard of while it ran, and not only at its end, the AM's clock.
    #[serde(default)]
    pub watched: Stamp,
    /// Launch, the AM's clock.
    pub started: Stamp,
    /// End, the AM's clock.
    pub finished: Stamp,
    /// When a reduce was last seen in its first phase, the AM's clock.
    #[serde(default)]
    copying: Stamp,
    /// When it was past its first phase, by its node's clock as it tells, or by the AM's as it was first seen. See [`Attempt::copied`].
    second_phase: Stamp,
    /// The same of its second phase. See [`Attempt::sorted`].
    third_phase: Stamp,
    /// Its progress.
    pub track: Track,
}

impl Attempt {
    /// An attempt of which only the number is known.
    pub(super) fn new(number: u32) -> Attempt {
        Attempt {
            number,
            host: None,
            state: AttemptState::New,
            phase: None,
            speculative: false,
            watched: Stamp::default(),
            started: Stamp::default(),
            finished: Stamp::default(),
            copying: Stamp::default(),
            second_phase: Stamp::default(),
            third_phase: Stamp::default(),
            track: Track::default(),
        }
    }

    /// Did its JVM come to run? Hadoop gives an attempt that is killed with its container just assigned a launch at the moment of its end (TaskAttemptImpl,
    /// sendJHStartEventForAssignedFailTask). It calls an attempt killed before it says when that was; one that was seen to run was launched.
    pub fn was_launched(&self) -> bool {
        // Less than any JVM takes to start.
        const AT_ONCE: Millis = Millis(100);
        let ran = self.lived().map_or(self.watched.get().is_some(), |lived| lived > AT_ONCE);
        self.state != AttemptState::Killed || ran
    }

    /// Had it ended so long before its task did that it was not killed for the one that won?
    pub fn ended_before(&self, task_ended: Time) -> bool {
        // As long as Hadoop may take to kill a task's other attempts.
        const CLEARLY: Millis = Millis(1_000);
        self.finished.get().is_some_and(|at| at + CLEARLY <= task_ended)
    }

    /// From its launch to its end, where both are known.
    pub fn lived(&self) -> Option<Millis> {
        self.started.get().zip(self.finished.get()).map(|(started, finished)| finished.since(started))
    }

    /// From its launch to its end; either is taken to be `at` where it is not known.
    pub fn held_until(&self, at: Time) -> Millis {
        self.finished.get().unwrap_or(at).since(self.started.get().unwrap_or(at))
    }

    /// When it was past its first phase, the AM's clock. Its node's may be behind: it was not before it was launched, nor while the AM saw it copy.
    pub fn copied(&self) -> Option<Time> {
        let least = self.started.get().max(self.copying.get()).unwrap_or_default();
        self.second_phase.get().map(|told| told.max(least))
    }

    /// When it was past its second phase: by as much later than its node tells as it was past its first, for both are told by one clock; no later than its end.
    pub fn sorted(&self) -> Option<Time> {
        let (told, copied) = (self.third_phase.get()?, self.copied());
        let behind = copied.zip(self.second_phase.get()).map_or(Millis(0), |(copied, told)| copied.since(told));
        let at = told + behind;
        Some(self.finished.get().map_or(at, |end| at.min(end)))
    }

    /// Was it still running when the other was launched?
    pub(super) fn overlaps(&self, later: &Attempt) -> bool {
        let Some(launched) = later.started.get() else { return false };
        let launched_before = self.started.get().is_some_and(|started| started < launched);
        launched_before && self.finished.get().map_or(!self.state.is_final(), |finished| launched < finished)
    }

    /// The AM that followed its own tells that it had succeeded: that it was killed was only presumed where nobody has told when.
    pub(super) fn revive(&mut self) {
        if self.state == AttemptState::Killed && self.finished.get().is_none() {
            self.state = AttemptState::Succeeded;
        }
    }

    /// All that is known of it but how far it is.
    fn standing(&self) -> (Option<NameId>, AttemptState, Option<Phase>, bool, [Stamp; 4]) {
        let stamps = [self.started, self.finished, self.second_phase, self.third_phase];
        (self.host, self.state, self.phase, self.speculative, stamps)
    }

    /// Folds in what a fact tells, which held at `at` on the AM's clock. Is any of it more than how far the attempt is?
    pub(super) fn learn(&mut self, fact: &AttemptFact, host: Option<NameId>, at: Time) -> bool {
        let before = self.standing();
        self.host = self.host.or(host);
        self.state = self.state.max(fact.state.unwrap_or(self.state));
        self.speculative |= fact.speculative == Some(true);
        let runs = matches!(fact.state, Some(AttemptState::Running | AttemptState::CommitPending));
        self.watched.earliest(runs.then_some(at));
        self.started.earliest(fact.started);
        self.finished.earliest(fact.finished);
        // Hadoop sets the score of an ended attempt to 1, whatever its end.
        let seen = fact.scored_at.unwrap_or(at);
        let over = self.state.is_final() && self.finished.get().is_none_or(|finished| seen >= finished);
        let ended = over || fact.state.is_some_and(AttemptState::is_final);
        if let Some(score) = fact.score.filter(|_| !ended) {
            self.track.add(score, seen);
        }
        self.track.add_reports(fact.reports.unwrap_or(0));
        if let Some(phase) = fact.phase {
            self.phase = self.phase.max(Some(phase));
            let entered = Some(seen);
            match phase {
                // The words that REST has the phase from are as old as the last report; that it has copied is told at once (Shuffle.run).
                Phase::Copy if fact.copied.is_none() => self.copying.latest(entered),
                Phase::Sort => self.second_phase.earliest(entered),
                Phase::Reduce => {
                    self.second_phase.earliest(entered);
                    self.third_phase.earliest(entered);
                }
                _ => {}
            }
        }
        // The task tells by its node's clock; none tells of what is to come.
        self.second_phase.earliest(fact.copied.filter(|at| *at <= seen));
        self.third_phase.earliest(fact.sorted.filter(|at| *at <= seen));
        before != self.standing()
    }
}
