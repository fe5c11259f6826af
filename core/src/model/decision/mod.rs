//! What the engine says: decisions that were taken, and for every other candidate the reason why not.

mod mode;
mod numbers;
mod verdict;

pub use mode::Mode;
pub use numbers::Numbers;
pub use verdict::Verdict;

use super::cause::Cause;
use super::id::{AttemptId, JobId, TaskId};
use super::units::{Millis, Time};
use serde::{Deserialize, Serialize};

/// What can be done about a straggler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Run one more attempt of the task beside those it has.
    #[default]
    Duplicate,
    /// Kill an attempt and start the task anew in its place.
    Restart,
    /// End one of several copies.
    Withdraw,
}

impl Action {
    /// Every action.
    pub const ALL: [Action; 3] = [Action::Duplicate, Action::Restart, Action::Withdraw];

    /// Stable label.
    pub fn label(self) -> &'static str {
        match self {
            Action::Duplicate => "duplicate",
            Action::Restart => "restart",
            Action::Withdraw => "withdraw",
        }
    }

    /// Every word of [`Action::told`].
    pub const TOLD: [&str; 4] = ["duplicate", "clone", "restart", "withdraw"];

    /// The label where clones, which most of the time are meant to lose, are told from copies of what is slow.
    pub fn told(self, clones: bool) -> &'static str {
        if clones { "clone" } else { self.label() }
    }

    /// One sentence for a person: why it was decided on.
    pub fn words(self) -> &'static str {
        match self {
            Action::Duplicate => Verdict::Decided.words(),
            Action::Restart => "it is worth killing and starting anew",
            Action::Withdraw => "this copy of it is worth withdrawing",
        }
    }
}

/// A decision taken about one task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Number within this engine, from 1.
    pub id: u64,
    /// When, the service's clock.
    pub at: Time,
    /// When, the AM's clock.
    pub am_at: Time,
    /// The job.
    pub job: JobId,
    /// The task.
    pub task: TaskId,
    /// The attempt that is slow: the one to copy, to kill or to withdraw.
    pub attempt: AttemptId,
    /// Host the slow attempt runs on, where known.
    pub host: Option<String>,
    /// What to do.
    pub action: Action,
    /// Policy that proposed it.
    pub policy: String,
    /// Rule, by the paper's name.
    pub rule: String,
    /// Mode it was taken in: in `advise` it is said, in `act` done.
    pub mode: Mode,
    /// Hadoop's own speculator had launched a copy of this task before.
    pub natively_copied: bool,
    /// How many copies.
    pub copies: u32,
    /// They are clones: of a task that has not shown to be slow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clones: bool,
    /// Attempts of the task that had not ended: a copy beside more of them is not what was decided.
    pub live: u32,
    /// How often the task had been restarted by decision before.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub restarts: u32,
    /// Hosts on which a copy would do no good.
    pub avoid: Vec<String>,
    /// Hosts on which a copy is to be asked for, the best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prefer: Vec<String>,
    /// When it is too late to start the copies, the service's clock.
    pub deadline: Time,
    /// The numbers it rests on.
    pub numbers: Numbers,
    /// Why the task is slow; `None` before any of its phase has finished, and for clones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Box<Cause>>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Decision {
    /// Hosts to keep off, or to ask for, that are named at most: an order to a shim takes no more.
    pub const HOSTS_MAX: usize = 64;
    /// How often the task of a restart may have been restarted before: an order to a shim names no more.
    pub const RESTARTS_MAX: u32 = 16;

    /// Of a restart, how many it makes of its task: 1 for the first; `None` of a copy.
    pub fn restart(&self) -> Option<u32> {
        (self.action == Action::Restart).then(|| self.restarts.saturating_add(1))
    }

    /// When the slow attempt would have ended, the AM's clock; `None` where nobody said.
    pub fn predicted_end(&self) -> Option<Time> {
        self.numbers.time_left.map(|left| self.am_at + left)
    }
}

/// What became of an advised copy: it never ran, so the end is told with a probability.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VirtualOutcome {
    /// The decision.
    pub decision: u64,
    /// The task.
    pub task: TaskId,
    /// When the original really ended, the AM's clock.
    pub ended: Time,
    /// Probability that the copy would have been first, 0–1.
    pub would_have_won: f64,
    /// What a copy of average luck would have gained; zero when it would have been later.
    pub gain: Millis,
    /// Hadoop's own speculator copied the task too, so this says nothing about Drover alone.
    pub natively_copied: bool,
    /// The attempt that succeeded, where known.
    #[serde(default)]
    pub winner: Option<u32>,
}

impl VirtualOutcome {
    /// The copy would have been first with a probability of a half or more.
    pub const WON: &'static str = "would_have_won";
    /// It would have with less.
    pub const LOST: &'static str = "would_have_lost";
    /// Hadoop's own speculator copied the task too.
    pub const NATIVELY_COPIED: &'static str = "natively_copied";
    /// Every label, for metrics that start at zero.
    pub const LABELS: [&'static str; 3] = [VirtualOutcome::WON, VirtualOutcome::LOST, VirtualOutcome::NATIVELY_COPIED];

    /// Stable label of what the copy came to.
    pub fn label(&self) -> &'static str {
        match self {
            VirtualOutcome { natively_copied: true, .. } => VirtualOutcome::NATIVELY_COPIED,
            VirtualOutcome { would_have_won: p, .. } if *p >= 0.5 => VirtualOutcome::WON,
            _ => VirtualOutcome::LOST,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_has_its_own_label_which_is_its_serialised_form() {
        for action in Action::ALL {
            assert_eq!(serde_json::to_string(&action).unwrap(), format!("\"{}\"", action.label()));
        }
        let told = Action::ALL.map(|action| action.told(false));
        assert_eq!([told[0], Action::Duplicate.told(true), told[1], told[2]], Action::TOLD);
        assert_eq!(Action::Duplicate.words(), Verdict::Decided.words());
        assert!(Action::Restart.words().contains("killing") && Action::Withdraw.words().contains("withdrawing"));
    }
}
