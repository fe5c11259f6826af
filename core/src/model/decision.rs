//! What the engine says: decisions that were taken, and for every other candidate the reason why not.

use super::cause::Cause;
use super::id::{AttemptId, JobId, TaskId};
use super::units::{Millis, Time};
use serde::{Deserialize, Serialize};

/// How far Drover may go. Ordered by caution: of several that apply the smallest wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Look, say nothing.
    Off,
    /// Say what it would do.
    #[default]
    Advise,
    /// Do it.
    Act,
}

impl Mode {
    /// All modes, most cautious first.
    pub const ALL: [Mode; 3] = [Mode::Off, Mode::Advise, Mode::Act];

    /// `off`, `advise` or `act`.
    pub fn label(self) -> &'static str {
        match self {
            Mode::Off => "off",
            Mode::Advise => "advise",
            Mode::Act => "act",
        }
    }

    /// The mode of that label.
    pub fn parse(label: &str) -> Option<Mode> {
        Mode::ALL.into_iter().find(|mode| mode.label() == label)
    }
}

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
    /// Attempts of the task that had not ended: a copy beside more of them is not what was decided.
    pub live: u32,
    /// Hosts on which a copy would do no good.
    pub avoid: Vec<String>,
    /// Hosts where a copy is least likely to straggle, the best first.
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

impl Decision {
    /// Hosts to keep off that are named at most: an order to a shim takes no more.
    pub const AVOID_MAX: usize = 64;
}

/// The numbers a decision or verdict rests on; what a policy does not use is absent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Numbers {
    /// Progress score, 0–1.
    pub score: f64,
    /// How long the attempt has run, the AM's clock.
    pub elapsed: Millis,
    /// Since its last report.
    pub silent: Millis,
    /// Progress rate: score per second.
    pub rate: f64,
    /// Rate below which a task counts as slow (LATE's SlowTaskThreshold), score per second.
    pub slow_below: Option<f64>,
    /// Estimated time left of the attempt.
    pub time_left: Option<Millis>,
    /// Its spread (one standard deviation).
    pub time_left_spread: Option<Millis>,
    /// Expected time of a fresh copy.
    pub fresh_copy: Option<Millis>,
    /// Its spread (one standard deviation).
    pub fresh_copy_spread: Option<Millis>,
    /// Probability that a copy started now finishes first, 0–1.
    pub win_probability: Option<f64>,
    /// Probability that one more copy ends all of them so soon that they use less in all (Mantri §5.1), 0–1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saves_probability: Option<f64>,
    /// Expected gain: time left less a fresh copy's time.
    pub gain: Option<Millis>,
    /// Cost of the copy, container-seconds.
    pub cost_container_seconds: Option<f64>,
    /// Copies that the tightest budget counts, in flight or of the last minute, and the cap that held.
    pub budget: Option<(u32, u32)>,
}

/// Why a candidate was or was not acted on. One stable label each: API value, log field and metric label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// A copy, or what else its decision says, was decided on now.
    Decided,
    /// Its advised or sent copy is still counted as in flight.
    CopyInFlight,
    /// A copy of it was advised before, and would have ended by now.
    AlreadyAdvised,
    /// Copies of it, or of the job's other tasks, came to nothing lately.
    CoolDown,
    /// It has not looked slow for long enough to be decided on.
    Debouncing,
    /// As many copies as may wait for a container already do.
    CopiesWaiting,
    /// More than one attempt is running already.
    AlreadyCopied,
    /// It has not run long enough to be judged (LATE §4: one minute).
    TooYoung,
    /// It has not reported often enough.
    TooFewReports,
    /// It has not reported, and its reporting rhythm does not expect it to have.
    Silent,
    /// Too few of its phase have finished to compare with.
    TooFewFinished,
    /// Its rate is not below SlowTaskThreshold.
    NotSlow,
    /// Its score is not far enough below the average (Hadoop 0.20).
    NotBehind,
    /// By Hadoop's estimate it should have ended by now, which its speculator takes for good progress.
    ProgressIsGood,
    /// A copy would not finish sooner.
    NoGain,
    /// A copy would gain too little to be worth its cost.
    GainTooSmall,
    /// Another task's copy would gain more, and the policy takes one at a time.
    Outranked,
    /// The policy has decided on a copy lately, and does not look again yet.
    BetweenScans,
    /// A reduce waits for maps: slowness is not its own.
    WaitsForMaps,
    /// Its data explains its time.
    MoreData,
    /// It is slow, and how much data it has is still being asked.
    InputUnknown,
    /// It is committing, or about to.
    Committing,
    /// It has been killed and started anew as often as it may (Mantri §5.1: three times).
    RestartsSpent,
    /// Nobody can kill an attempt of the job for it.
    CannotRestart,
    /// Nobody can withdraw a copy of the job's tasks.
    CannotWithdraw,
    /// The job's cap of copies is reached.
    JobCap,
    /// As many copies as may be in flight for attempts of its node already are.
    NodeCap,
    /// The cluster's cap of copies is reached.
    ClusterCap,
    /// The user's cap of copies is reached.
    UserCap,
    /// The queue's cap of copies is reached.
    QueueCap,
    /// As many copies as may be decided on in a minute already were.
    MinuteCap,
    /// The cluster is fuller than copies may find it.
    ClusterBusy,
    /// The job is one of those left to Hadoop's own speculator to compare with.
    HeldOut,
    /// No free container for a copy.
    NoHeadroom,
    /// The job has maps or reduces waiting for containers itself.
    ContainersWaiting,
    /// Every node that could take a copy is below SlowNodeThreshold.
    NoFastNode,
    /// What is known of the job, or of free room in the cluster, is too old to decide on.
    StaleData,
    /// What is known of the job is incomplete.
    IncompleteData,
    /// The job, its user, its queue or the cluster is in mode `off`.
    ModeOff,
    /// The job's configuration is not known yet.
    SettingsUnknown,
    /// The job has speculation switched off for this kind of task.
    SpeculationOff,
    /// Its output committer or format is not known to arbitrate between attempts.
    UnsafeOutput,
    /// Runs inside its AM: nothing can be copied.
    Uber,
    /// What is needed to settle its phase's clones is not known yet.
    PlanPending,
    /// Its phase straggles too rarely for clones, or what it reads from is not cloned.
    NoCloneNeeded,
    /// Tasks of its phase had ended before its clones could be settled.
    PhaseUnderWay,
    /// Clones of its whole phase do not fit the budget of clones (Dolly's beta).
    CloneBudget,
    /// With clones of its whole phase the cluster would be fuller than clones may make it (Dolly's tau).
    CloneCeiling,
    /// The clones of its phase have given way to others.
    GaveWay,
    /// Its machine is not one that makes tasks straggle (Dolly §2.1.2).
    MachineNotListed,
    /// Its machine is: no more tasks are to go there for now.
    MachineListed,
    /// Its machine is, and nobody can keep the job's tasks off it.
    CannotAvoid,
    /// The policy proposes nothing.
    PolicyNone,
}

impl Verdict {
    /// Every verdict, for metrics that start at zero.
    pub const ALL: [Verdict; 53] = [
        Verdict::Decided,
        Verdict::CopyInFlight,
        Verdict::AlreadyAdvised,
        Verdict::CoolDown,
        Verdict::Debouncing,
        Verdict::CopiesWaiting,
        Verdict::AlreadyCopied,
        Verdict::TooYoung,
        Verdict::TooFewReports,
        Verdict::Silent,
        Verdict::TooFewFinished,
        Verdict::NotSlow,
        Verdict::NotBehind,
        Verdict::ProgressIsGood,
        Verdict::NoGain,
        Verdict::GainTooSmall,
        Verdict::Outranked,
        Verdict::BetweenScans,
        Verdict::WaitsForMaps,
        Verdict::MoreData,
        Verdict::InputUnknown,
        Verdict::Committing,
        Verdict::RestartsSpent,
        Verdict::CannotRestart,
        Verdict::CannotWithdraw,
        Verdict::JobCap,
        Verdict::NodeCap,
        Verdict::ClusterCap,
        Verdict::UserCap,
        Verdict::QueueCap,
        Verdict::MinuteCap,
        Verdict::ClusterBusy,
        Verdict::HeldOut,
        Verdict::NoHeadroom,
        Verdict::ContainersWaiting,
        Verdict::NoFastNode,
        Verdict::StaleData,
        Verdict::IncompleteData,
        Verdict::ModeOff,
        Verdict::SettingsUnknown,
        Verdict::SpeculationOff,
        Verdict::UnsafeOutput,
        Verdict::Uber,
        Verdict::PlanPending,
        Verdict::NoCloneNeeded,
        Verdict::PhaseUnderWay,
        Verdict::CloneBudget,
        Verdict::CloneCeiling,
        Verdict::GaveWay,
        Verdict::MachineNotListed,
        Verdict::MachineListed,
        Verdict::CannotAvoid,
        Verdict::PolicyNone,
    ];

    /// Stable snake_case label.
    pub fn label(self) -> &'static str {
        match self {
            Verdict::Decided => "decided",
            Verdict::CopyInFlight => "copy_in_flight",
            Verdict::AlreadyAdvised => "already_advised",
            Verdict::CoolDown => "cool_down",
            Verdict::Debouncing => "debouncing",
            Verdict::CopiesWaiting => "copies_waiting",
            Verdict::AlreadyCopied => "already_copied",
            Verdict::TooYoung => "too_young",
            Verdict::TooFewReports => "too_few_reports",
            Verdict::Silent => "silent",
            Verdict::TooFewFinished => "too_few_finished",
            Verdict::NotSlow => "not_slow",
            Verdict::NotBehind => "not_behind",
            Verdict::ProgressIsGood => "progress_is_good",
            Verdict::NoGain => "no_gain",
            Verdict::GainTooSmall => "gain_too_small",
            Verdict::Outranked => "outranked",
            Verdict::BetweenScans => "between_scans",
            Verdict::WaitsForMaps => "waits_for_maps",
            Verdict::MoreData => "more_data",
            Verdict::InputUnknown => "input_unknown",
            Verdict::Committing => "committing",
            Verdict::RestartsSpent => "restarts_spent",
            Verdict::CannotRestart => "cannot_restart",
            Verdict::CannotWithdraw => "cannot_withdraw",
            Verdict::JobCap => "job_cap",
            Verdict::NodeCap => "node_cap",
            Verdict::ClusterCap => "cluster_cap",
            Verdict::UserCap => "user_cap",
            Verdict::QueueCap => "queue_cap",
            Verdict::MinuteCap => "minute_cap",
            Verdict::ClusterBusy => "cluster_busy",
            Verdict::HeldOut => "held_out",
            Verdict::NoHeadroom => "no_headroom",
            Verdict::ContainersWaiting => "containers_waiting",
            Verdict::NoFastNode => "no_fast_node",
            Verdict::StaleData => "stale_data",
            Verdict::IncompleteData => "incomplete_data",
            Verdict::ModeOff => "mode_off",
            Verdict::SettingsUnknown => "settings_unknown",
            Verdict::SpeculationOff => "speculation_off",
            Verdict::UnsafeOutput => "unsafe_output",
            Verdict::Uber => "uber",
            Verdict::PlanPending => "plan_pending",
            Verdict::NoCloneNeeded => "no_clone_needed",
            Verdict::PhaseUnderWay => "phase_under_way",
            Verdict::CloneBudget => "clone_budget",
            Verdict::CloneCeiling => "clone_ceiling",
            Verdict::GaveWay => "gave_way",
            Verdict::MachineNotListed => "machine_not_listed",
            Verdict::MachineListed => "machine_listed",
            Verdict::CannotAvoid => "cannot_avoid",
            Verdict::PolicyNone => "policy_none",
        }
    }

    /// One sentence for a person.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Decided => "a copy is worth starting",
            Verdict::CopyInFlight => "the copy decided on earlier still counts as in flight",
            Verdict::AlreadyAdvised => "a copy of it was advised before, and would have ended by now",
            Verdict::CoolDown => "copies of it, or of the job's other tasks, came to nothing lately",
            Verdict::Debouncing => "it has not looked slow for as long as it must before a copy is decided on",
            Verdict::CopiesWaiting => "as many copies as may wait for a container already do",
            Verdict::AlreadyCopied => "more than one attempt of it is running already",
            Verdict::TooYoung => "it has not run long enough to be judged",
            Verdict::TooFewReports => "it has reported its progress too few times to be judged",
            Verdict::Silent => "it has not reported yet, and at its reporting interval it need not have",
            Verdict::TooFewFinished => "too few tasks of its kind have finished to compare it with",
            Verdict::NotSlow => "its progress rate is not among the slowest of its kind",
            Verdict::NotBehind => "its progress is not far enough behind the average of its kind",
            Verdict::ProgressIsGood => {
                "by Hadoop's estimate it should have ended by now, which Hadoop takes for good progress"
            }
            Verdict::NoGain => "a copy started now would not finish sooner",
            Verdict::GainTooSmall => "a copy started now would gain too little to be worth its cost",
            Verdict::Outranked => "a copy of another task would gain more, and the policy takes one at a time",
            Verdict::BetweenScans => "the policy waits for some time after each copy before it looks for the next",
            Verdict::WaitsForMaps => "it waits for maps to finish, so its slowness is not its own",
            Verdict::MoreData => "it has more data than its peers, which explains its time",
            Verdict::InputUnknown => "it is slow, but whether it has more data than its peers is still being asked",
            Verdict::Committing => "it is committing its output",
            Verdict::RestartsSpent => "it has been killed and started anew as often as it may",
            Verdict::CannotRestart => "it is worth killing and starting anew, which cannot be done to its job",
            Verdict::CannotWithdraw => "it has a copy too many, which cannot be withdrawn from its job",
            Verdict::JobCap => "the job already has as many copies in flight as it may",
            Verdict::NodeCap => "its node's tasks already have as many copies in flight as they may",
            Verdict::ClusterCap => "the cluster already has as many copies in flight as it may",
            Verdict::UserCap => "the user's jobs already have as many copies in flight as they may",
            Verdict::QueueCap => "the queue's jobs already have as many copies in flight as they may",
            Verdict::MinuteCap => "as many copies as may be decided on in a minute already were",
            Verdict::ClusterBusy => "the cluster is fuller than copies may find it",
            Verdict::HeldOut => "the job is left to Hadoop's own speculator, to compare with",
            Verdict::NoHeadroom => "there is no free container for a copy",
            Verdict::ContainersWaiting => "the job itself waits for containers",
            Verdict::NoFastNode => "no node that is fast enough could take a copy",
            Verdict::StaleData => "what is known of the job, or of free room in the cluster, is too old to decide on",
            Verdict::IncompleteData => "not all of the job's tasks are known yet",
            Verdict::ModeOff => "Drover is switched off for it",
            Verdict::SettingsUnknown => "the job's configuration has not been read yet",
            Verdict::SpeculationOff => "the job has speculation switched off for tasks of this kind",
            Verdict::UnsafeOutput => "its output committer or format is not known to cope with two attempts",
            Verdict::Uber => "the job runs its tasks inside its ApplicationMaster",
            Verdict::PlanPending => "whether its phase is cloned is not settled yet",
            Verdict::NoCloneNeeded => {
                "tasks like it straggle too rarely for clones, or what it reads from is not cloned"
            }
            Verdict::PhaseUnderWay => "tasks of its phase had ended before its clones could be settled",
            Verdict::CloneBudget => "clones of its whole phase do not fit the budget of clones",
            Verdict::CloneCeiling => {
                "with clones of its whole phase the cluster would be fuller than clones may make it"
            }
            Verdict::GaveWay => "the clones of its phase have given way to others",
            Verdict::MachineNotListed => "its machine is not one of those that make tasks straggle",
            Verdict::MachineListed => "its machine makes tasks straggle, so no more are to go there for now",
            Verdict::CannotAvoid => "its machine makes tasks straggle, and the job's tasks cannot be kept off it",
            Verdict::PolicyNone => "the policy in force proposes nothing",
        }
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_has_its_own_label_which_is_its_serialised_form() {
        let mut labels: Vec<_> = Verdict::ALL.iter().map(|v| v.label()).collect();
        for verdict in Verdict::ALL {
            let json = serde_json::to_string(&verdict).unwrap();
            assert_eq!(json, format!("\"{}\"", verdict.label()));
        }
        labels.sort_unstable();
        labels.dedup();
        assert_eq!(labels.len(), Verdict::ALL.len());
    }

    #[test]
    fn every_action_has_its_own_label_which_is_its_serialised_form() {
        for action in Action::ALL {
            assert_eq!(serde_json::to_string(&action).unwrap(), format!("\"{}\"", action.label()));
        }
    }

    #[test]
    fn the_more_cautious_mode_is_the_smaller() {
        assert_eq!(Mode::Act.min(Mode::Advise).min(Mode::Off), Mode::Off);
        assert!(Mode::ALL.iter().all(|m| Mode::parse(m.label()) == Some(*m)));
        assert_eq!(Mode::parse("ACT"), None);
    }
}
