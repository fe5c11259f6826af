//! Policies: a view of one job's tasks of one kind in, a verdict with its numbers for each candidate out. They know nothing of budgets.

pub mod blacklist;
mod contender;
pub mod dolly;
pub mod drover;
pub mod hadoop;
pub mod hadoop_0_20;
pub mod late;
pub mod mantri;
pub mod rerun;
pub mod slow_hosts;
pub mod tail;
#[cfg(test)]
mod tests;
pub mod view;

use crate::model::{Action, AttemptId, Numbers, TaskId, Time, Verdict};
pub use blacklist::BlacklistParams;
pub use contender::Contender;
pub use dolly::DollyParams;
use hadoop::HadoopParams;
use hadoop_0_20::Hadoop020Params;
pub use late::LateParams;
pub use mantri::{MantriParams, MeasureParams};
use serde::{Deserialize, Serialize};
pub use tail::TailParams;
pub use view::{Past, View};

/// The policies, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyName {
    /// Longest Approximate Time to End (LATE, OSDI'08, §4).
    Late,
    /// LATE that does not wait for the phase's last tasks to start, as Mantri §6.3 compares with.
    LateEarly,
    /// Hadoop's own speculator of today (DefaultSpeculator, 3.4.3), with its faults.
    Hadoop,
    /// The same, ready for the next copy after one second.
    HadoopTuned,
    /// Hadoop's scheduler of 2008, as LATE §2.1 describes it.
    #[serde(rename = "hadoop-0.20")]
    Hadoop020,
    /// MapReduce's back-up tasks (OSDI'04, §3.6).
    #[serde(rename = "mapreduce")]
    MapReduce,
    /// Dryad's duplicates (EuroSys'07), as Mantri §7 tells of them.
    Dryad,
    /// Mantri (OSDI'10, §5.1).
    Mantri,
    /// Dolly (NSDI'13, §3).
    Dolly,
    /// Dolly for small jobs, Mantri with LATE's guards for the rest.
    #[default]
    Drover,
    /// Keeps tasks off machines that make them straggle (NSDI'13, §2.1.2).
    Blacklist,
    /// Proposes nothing.
    None,
}

/// The policies' thresholds.
#[derive(Debug, Clone, Copy)]
pub struct Thresholds<'a> {
    /// LATE's.
    pub late: &'a LateParams,
    /// Those of `mapreduce` and `dryad`.
    pub tail: &'a TailParams,
    /// Mantri's.
    pub mantri: &'a MantriParams,
    /// Those of `hadoop-0.20`.
    pub hadoop_0_20: &'a Hadoop020Params,
}

/// What a policy says of one candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The task.
    pub task: TaskId,
    /// [`Verdict::Decided`] proposes the action; anything else is the reason why not.
    pub verdict: Verdict,
    /// What is proposed.
    pub action: Action,
    /// How many copies.
    pub copies: u32,
    /// What they are charged to.
    pub budget: Budget,
    /// The attempt it is about: the one to copy, to kill or to withdraw.
    pub attempt: AttemptId,
    /// The rule that proposes it, where the policy has several.
    pub rule: Option<String>,
    /// What it rests on.
    pub numbers: Numbers,
    /// Order among proposals: the highest first.
    pub rank: f64,
    /// When the answer could change though nothing is heard, the AM's clock; `None`: only with the passing of time in general.
    pub recheck: Option<Time>,
    /// A copy is worth a container even while tasks of its kind still wait for theirs.
    pub early: bool,
    /// Attempts that run and that it is weighed against, Mantri's c; 0 where the policy wants one copy at a time.
    pub weighed: u32,
}

impl Judged {
    /// Several copies cost several times one's time; what only ends an attempt starts none that could cost, gain or win anything.
    fn price(&mut self) {
        let Numbers { fresh_copy, fresh_copy_spread, gain, win_probability, cost_container_seconds, .. } =
            &mut self.numbers;
        match self.action {
            Action::Withdraw => {
                (*fresh_copy, *fresh_copy_spread, *gain) = (None, None, None);
                (*win_probability, *cost_container_seconds) = (None, None);
            }
            Action::Duplicate if self.copies > 1 => {
                *cost_container_seconds = cost_container_seconds.map(|one| one * f64::from(self.copies));
            }
            Action::Duplicate | Action::Restart => {}
        }
    }
}

/// What copies are charged to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Budget {
    /// The caps of copies.
    #[default]
    Copies,
    /// The clones of a phase that was admitted whole.
    Clones,
}

impl PolicyName {
    /// Every policy.
    pub const ALL: [PolicyName; 12] = [
        PolicyName::Late,
        PolicyName::LateEarly,
        PolicyName::Hadoop,
        PolicyName::HadoopTuned,
        PolicyName::Hadoop020,
        PolicyName::MapReduce,
        PolicyName::Dryad,
        PolicyName::Mantri,
        PolicyName::Dolly,
        PolicyName::Drover,
        PolicyName::Blacklist,
        PolicyName::None,
    ];

    /// Stable label.
    pub fn label(self) -> &'static str {
        match self {
            PolicyName::Late => "late",
            PolicyName::LateEarly => "late-early",
            PolicyName::Hadoop => "hadoop",
            PolicyName::HadoopTuned => "hadoop-tuned",
            PolicyName::Hadoop020 => "hadoop-0.20",
            PolicyName::MapReduce => "mapreduce",
            PolicyName::Dryad => "dryad",
            PolicyName::Mantri => "mantri",
            PolicyName::Dolly => "dolly",
            PolicyName::Drover => "drover",
            PolicyName::Blacklist => "blacklist",
            PolicyName::None => "none",
        }
    }

    /// The rule by which it proposes, in the words of its paper.
    pub fn rule(self) -> &'static str {
        match self {
            PolicyName::Late => "LATE §4: longest approximate time to end, progress rate below SlowTaskThreshold",
            PolicyName::LateEarly => "Mantri §6.3: LATE §4, before all tasks of the phase have started",
            PolicyName::Hadoop => {
                "Hadoop 3.4.3, DefaultSpeculator: each 1 s, or 15 s after a copy, the one of most gain"
            }
            PolicyName::HadoopTuned => "Hadoop 3.4.3, DefaultSpeculator: each 1 s the one of most gain",
            PolicyName::Hadoop020 => "LATE §2.1: progress score below the category's average less 0.2 after a minute",
            PolicyName::MapReduce => "MapReduce §3.6: near the end of a phase whatever remains gets a copy",
            PolicyName::Dryad => {
                "Mantri §7, Dryad: near the end of a phase what has run longer than the 75th percentile"
            }
            PolicyName::Mantri => "Mantri §5.1, Pseudocode 1",
            // Where Mantri decides it names its rule; its guard stands in where Mantri would do what cannot be done.
            PolicyName::Drover => "Mantri §5.1 by LATE §4: longest approximate time to end",
            PolicyName::Dolly => dolly::RULE,
            PolicyName::Blacklist => blacklist::RULE,
            PolicyName::None => "none",
        }
    }

    /// Does it settle clones before a phase's first task runs?
    pub fn clones(self) -> bool {
        matches!(self, PolicyName::Dolly | PolicyName::Drover)
    }

    /// Does it do nothing else?
    pub fn only_clones(self) -> bool {
        self == PolicyName::Dolly
    }

    /// Does it copy tasks, or do anything to them?
    pub fn acts_on_tasks(self) -> bool {
        !matches!(self, PolicyName::Blacklist | PolicyName::None)
    }

    /// Does it want anything of a job beside copies of its running tasks?
    pub fn takes_measures(self) -> bool {
        matches!(self, PolicyName::Mantri | PolicyName::Drover)
    }

    /// Does it say where its copies are to be put, and where not? Those of the systems that it is compared with do not.
    pub fn places(self) -> bool {
        use PolicyName::{Dryad, Hadoop, Hadoop020, HadoopTuned, MapReduce};
        !matches!(self, Hadoop | HadoopTuned | Hadoop020 | MapReduce | Dryad)
    }

    /// Has it LATE's bounds on where and how often it copies, SlowNodeThreshold and SpeculativeCap?
    pub fn spares_slow_nodes(self) -> bool {
        matches!(self, PolicyName::Late | PolicyName::LateEarly | PolicyName::Drover)
    }

    /// Must none of its copies run on a node below SlowNodeThreshold, even where others have room, too? Drover's own goes by the pace of hosts.
    pub fn shuns_slow_nodes(self) -> bool {
        matches!(self, PolicyName::Late | PolicyName::LateEarly)
    }

    /// Does it weigh what is left of a task against the time of a new copy by all that is known of that: the job's earlier runs, and the machines with room?
    pub fn weighs_new_copies(self) -> bool {
        use PolicyName::{Drover, Late, LateEarly, Mantri};
        matches!(self, Late | LateEarly | Mantri | Drover)
    }

    /// Does it say with this verdict no more than that the task is an ordinary one?
    pub fn is_ordinary(self, verdict: Verdict) -> bool {
        use Verdict::{NoGain, NotBehind, NotSlow, ProgressIsGood, TooYoung, WaitsForMaps};
        if self == PolicyName::Dolly {
            return verdict != Verdict::Decided;
        }
        if self == PolicyName::Blacklist {
            return verdict == Verdict::MachineNotListed;
        }
        // Mantri and Hadoop look at every task for what a new copy would gain; the others only at slow ones.
        let all =
            matches!(self, PolicyName::Mantri | PolicyName::Drover | PolicyName::Hadoop | PolicyName::HadoopTuned);
        matches!(verdict, NotSlow | NotBehind | ProgressIsGood | TooYoung | WaitsForMaps) || (all && verdict == NoGain)
    }

    /// Does it find a task ordinary by the task's own progress and the ended ones of its phase alone, whatever the others that run do? Not where slow is what is slower than
    /// a share of them.
    pub fn judges_alone(self, params: &Thresholds<'_>) -> bool {
        use PolicyName::{Drover, Late, LateEarly, None};
        self == None || (matches!(self, Drover | Late | LateEarly) && params.late.slow_factor > 0.0)
    }

    /// Judges every candidate of the view.
    pub fn judge(self, view: &View<'_>, params: &Thresholds<'_>) -> Vec<Judged> {
        let mut all = self.judge_each(view, params);
        all.iter_mut().for_each(Judged::price);
        all
    }

    fn judge_each(self, view: &View<'_>, params: &Thresholds<'_>) -> Vec<Judged> {
        match self {
            PolicyName::Late => late::judge(view, params.late),
            PolicyName::LateEarly => late::judge_early(view, params.late),
            PolicyName::Hadoop => hadoop::judge(view, &HadoopParams::SHIPPED),
            PolicyName::HadoopTuned => hadoop::judge(view, &HadoopParams::TUNED),
            PolicyName::Hadoop020 => hadoop_0_20::judge(view, params.hadoop_0_20),
            PolicyName::MapReduce => tail::mapreduce(view, params.tail),
            PolicyName::Dryad => tail::dryad(view, params.tail),
            PolicyName::Mantri => mantri::judge(view, params.mantri),
            PolicyName::Dolly => dolly::judge(view),
            PolicyName::Drover => drover::judge(view, params.late, params.mantri),
            PolicyName::Blacklist => blacklist::judge(view),
            PolicyName::None => view.contenders.iter().map(|c| c.judged(view, Verdict::PolicyNone)).collect(),
        }
    }
}
