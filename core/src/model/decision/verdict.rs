//! The reason for what was decided of a candidate.

use serde::{Deserialize, Serialize};

/// One row a verdict: what it is, its label, its words for a person.
macro_rules! verdicts {
    ($($(#[$doc:meta])+ $name:ident = $label:literal: $words:literal,)+) => {
        /// Why a candidate was or was not acted on. One stable label each: API value, log field and metric label.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Verdict {
            $($(#[$doc])+ $name,)+
        }

        impl Verdict {
            /// Every verdict, for metrics that start at zero.
            pub const ALL: [Verdict; [$($label),+].len()] = [$(Verdict::$name),+];

            /// Stable snake_case label.
            pub fn label(self) -> &'static str {
                match self {
                    $(Verdict::$name => $label,)+
                }
            }

            /// One sentence for a person.
            pub fn words(self) -> &'static str {
                match self {
                    $(Verdict::$name => $words,)+
                }
            }
        }
    };
}

verdicts! {
    /// A copy, or what else its decision says, was decided on now.
    Decided = "decided": "a copy is worth starting",
    /// Its advised or sent copy is still counted as in flight.
    CopyInFlight = "copy_in_flight": "the copy decided on earlier still counts as in flight",
    /// A copy of it was advised before, and would have ended by now.
    AlreadyAdvised = "already_advised": "a copy of it was advised before, and would have ended by now",
    /// Copies of it, or of the job's other tasks, came to nothing lately.
    CoolDown = "cool_down": "copies of it, or of the job's other tasks, came to nothing lately",
    /// It has not looked slow for long enough to be decided on.
    Debouncing = "debouncing": "it has not looked slow for as long as it must before a copy is decided on",
    /// As many copies as may wait for a container already do.
    CopiesWaiting = "copies_waiting": "as many copies as may wait for a container already do",
    /// More than one attempt is running already.
    AlreadyCopied = "already_copied": "more than one attempt of it is running already",
    /// It has not run long enough to be judged (LATE §4: one minute).
    TooYoung = "too_young": "it has not run long enough to be judged",
    /// It has not reported often enough.
    TooFewReports = "too_few_reports": "it has reported its progress too few times to be judged",
    /// It has not reported, and its reporting rhythm does not expect it to have.
    Silent = "silent": "it has not reported yet, and at its reporting interval it need not have",
    /// Too few of its phase have finished to compare with.
    TooFewFinished = "too_few_finished": "too few tasks of its kind have finished to compare it with",
    /// Its rate is not below SlowTaskThreshold.
    NotSlow = "not_slow": "its progress rate is not among the slowest of its kind",
    /// Its score is not far enough below the average (Hadoop 0.20).
    NotBehind = "not_behind": "its progress is not far enough behind the average of its kind",
    /// By Hadoop's estimate it should have ended by now, which its speculator takes for good progress.
    ProgressIsGood = "progress_is_good": "by Hadoop's estimate it should have ended by now, which Hadoop takes for good progress",
    /// A copy would not finish sooner.
    NoGain = "no_gain": "a copy started now would not finish sooner",
    /// A copy would gain too little to be worth its cost.
    GainTooSmall = "gain_too_small": "a copy started now would gain too little to be worth its cost",
    /// Another task's copy would gain more, and the policy takes one at a time.
    Outranked = "outranked": "a copy of another task would gain more, and the policy takes one at a time",
    /// The policy has decided on a copy lately, and does not look again yet.
    BetweenScans = "between_scans": "the policy waits for some time after each copy before it looks for the next",
    /// A reduce waits for maps: slowness is not its own.
    WaitsForMaps = "waits_for_maps": "it waits for maps to finish, so its slowness is not its own",
    /// Its data explains its time.
    MoreData = "more_data": "it has more data than its peers, which explains its time",
    /// It is slow, and how much data it has is still being asked.
    InputUnknown = "input_unknown": "it is slow, but whether it has more data than its peers is still being asked",
    /// Its AM's clock was set, and attempts which were launched before look older or younger than they are.
    ClockSet = "clock_set": "its ApplicationMaster's clock was set, and attempts that were launched before look older or younger than they are",
    /// It is committing, or about to.
    Committing = "committing": "it is committing its output",
    /// It has been killed and started anew as often as it may (Mantri §5.1: three times).
    RestartsSpent = "restarts_spent": "it has been killed and started anew as often as it may",
    /// Were its copies to fail, so would the task, and its job.
    FailuresSpent = "failures_spent": "so many of its attempts have failed, or may, that a copy which fails could fail its job",
    /// Nobody can start another attempt beside one that runs.
    CannotDuplicate = "cannot_duplicate": "a copy is worth starting, which cannot be done in its job",
    /// Nobody can kill an attempt of the job for it.
    CannotRestart = "cannot_restart": "it is worth killing and starting anew, which cannot be done to its job, or not beside its reduces",
    /// Nobody can withdraw a copy of the job's tasks.
    CannotWithdraw = "cannot_withdraw": "it has a copy too many, which cannot be withdrawn from its job",
    /// The job's cap of copies is reached.
    JobCap = "job_cap": "the job already has as many copies in flight as it may",
    /// As many copies as may be in flight for attempts of its node already are.
    NodeCap = "node_cap": "its node's tasks already have as many copies in flight as they may",
    /// The cluster's cap of copies is reached.
    ClusterCap = "cluster_cap": "the cluster already has as many copies in flight as it may",
    /// The user's cap of copies is reached.
    UserCap = "user_cap": "the user's jobs already have as many copies in flight as they may",
    /// The queue's cap of copies is reached.
    QueueCap = "queue_cap": "the queue's jobs already have as many copies in flight as they may",
    /// As many copies as may be decided on in a minute already were.
    MinuteCap = "minute_cap": "as many copies as may be decided on in a minute already were",
    /// The cluster is fuller than copies may find it.
    ClusterBusy = "cluster_busy": "the cluster is fuller than copies may find it",
    /// The job is one of those left to Hadoop's own speculator to compare with.
    HeldOut = "held_out": "the job is left to Hadoop's own speculator, to compare with",
    /// No free container for a copy.
    NoHeadroom = "no_headroom": "there is no free container for a copy",
    /// The job has maps or reduces waiting for containers itself.
    ContainersWaiting = "containers_waiting": "the job itself waits for containers",
    /// Every node that could take a copy is below SlowNodeThreshold.
    NoFastNode = "no_fast_node": "no node that is fast enough could take a copy",
    /// What is known of the job, or of free room in the cluster, is too old to decide on.
    StaleData = "stale_data": "what is known of the job, or of free room in the cluster, is too old to decide on",
    /// What is known of the job is incomplete.
    IncompleteData = "incomplete_data": "not all of the job's tasks are known yet",
    /// The job, its user, its queue or the cluster is in mode `off`.
    ModeOff = "mode_off": "Drover is switched off for it",
    /// The job's configuration is not known yet.
    SettingsUnknown = "settings_unknown": "the job's configuration has not been read yet",
    /// The job has speculation switched off for this kind of task.
    SpeculationOff = "speculation_off": "the job has speculation switched off for tasks of this kind",
    /// Its output committer or format is not known to arbitrate between attempts.
    UnsafeOutput = "unsafe_output": "its output committer or format is not known to cope with two attempts",
    /// Runs inside its AM: nothing can be copied.
    Uber = "uber": "the job runs its tasks inside its ApplicationMaster",
    /// What is needed to settle its phase's clones is not known yet.
    PlanPending = "plan_pending": "whether its phase is cloned is not settled yet",
    /// Too few tasks have shown how often tasks straggle here, and no prior stands for it.
    OddsUnknown = "odds_unknown": "too few tasks have shown how often tasks straggle here, so none is cloned",
    /// Its phase straggles too rarely for clones, or what it reads from is not cloned.
    NoCloneNeeded = "no_clone_needed": "tasks like it straggle too rarely for clones, or what it reads from is not cloned",
    /// Tasks of its phase had ended before its clones could be settled.
    PhaseUnderWay = "phase_under_way": "tasks of its phase had ended before its clones could be settled",
    /// Clones of its whole phase do not fit the budget of clones (Dolly's beta).
    CloneBudget = "clone_budget": "clones of its whole phase do not fit the budget of clones",
    /// With clones of its whole phase the cluster would be fuller than clones may make it (Dolly's tau).
    CloneCeiling = "clone_ceiling": "with clones of its whole phase the cluster would be fuller than clones may make it",
    /// The clones of its phase have given way to others.
    GaveWay = "gave_way": "the clones of its phase have given way to others",
    /// It is to be cloned, and nobody can add a copy to a task that waits.
    CannotCloneWaiting = "cannot_clone_waiting": "it is to be cloned, which cannot be done before it runs",
    /// The whole job is to be cloned, and nobody can do that.
    CannotCloneJobs = "cannot_clone_jobs": "its whole job is to be run several times over, which cannot be done to it",
    /// The whole job is cloned.
    ClonedWithJob = "cloned_with_job": "its whole job is run several times over, so it has no copies of its own",
    /// Nobody can say which clone's output a copy reads.
    CannotChooseOutput = "cannot_choose_output": "which clone's output a copy reads cannot be chosen: each reads the one that is committed first",
    /// Delay assignment's ω rests on samples that there are none of.
    OmegaUnknown = "omega_unknown": "how long to wait for an output of its own before sharing one is not known, so each copy waits until it has its own",
    /// Its machine is not one that makes tasks straggle (Dolly §2.1.2).
    MachineNotListed = "machine_not_listed": "its machine is not one of those that make tasks straggle",
    /// Its machine is: no more tasks are to go there for now.
    MachineListed = "machine_listed": "its machine makes tasks straggle, so no more are to go there for now",
    /// Its machine is, and nobody can keep the job's tasks off it.
    CannotAvoid = "cannot_avoid": "its machine makes tasks straggle, and the job's tasks cannot be kept off it",
    /// Outputs of its job are out of reach, and nobody can have them made again.
    CannotRerun = "cannot_rerun": "outputs are out of reach of its job's reduces, and its maps cannot be run again for that",
    /// Nobody can choose which of the job's waiting tasks starts first.
    CannotOrder = "cannot_order": "its tasks that wait are best started with the largest first, which cannot be done to its job",
    /// Nobody can choose the racks of the job's reduces.
    CannotPlace = "cannot_place": "its reduces are best spread over racks by the links between them, which cannot be done to its job",
    /// Nobody can keep outputs of the job's tasks twice.
    CannotReplicate = "cannot_replicate": "outputs like its tasks' have been lost and may be worth keeping twice, which cannot be done to its job",
    /// Nobody can run a task of the job that has succeeded once more.
    CannotPrecompute = "cannot_precompute": "outputs of its tasks were lost, and others of their machines may be worth computing anew, which cannot be done to its job",
    /// It would cost more than measures of its kind may.
    MeasureBudget = "measure_budget": "it would cost more of what the job has read or worked than such measures may",
    /// How much data there is, or how fast it moves, is not known.
    DataUnknown = "data_unknown": "how much data there is, or how fast it moves, is not known",
    /// The measure would gain nothing.
    NothingGained = "nothing_gained": "nothing would be gained by it",
    /// Its job has ended since it was decided on.
    JobEnded = "job_ended": "its job has ended since a copy was decided on",
    /// It has ended since it was decided on.
    TaskEnded = "task_ended": "it has ended since a copy was decided on",
    /// The attempt that was decided on has ended since.
    AttemptEnded = "attempt_ended": "the attempt that was to be copied has ended since",
    /// A copy is not withdrawn that is the only one left.
    LastAttempt = "last_attempt": "without the attempt that was to be withdrawn it would have none left",
    /// The decision was not acted on before its deadline.
    TooLate = "too_late": "what was decided has not been done in time, and may not be true any more",
    /// Drover has stopped acting on its job since it was decided on.
    NotActing = "not_acting": "Drover has stopped acting on its job since a copy was decided on",
    /// The policy proposes nothing.
    PolicyNone = "policy_none": "the policy in force proposes nothing",
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
}
