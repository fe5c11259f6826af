//! Policies: a view of one job's tasks of one kind in, a verdict with its numbers for each candidate out. They know nothing of budgets.

pub mod hadoop;
pub mod hadoop_0_20;
pub mod late;
pub mod mantri;
pub mod slow_hosts;
pub mod tail;
pub mod view;

use crate::model::{Numbers, TaskId, Time, Verdict};
use hadoop::HadoopParams;
pub use late::LateParams;
use serde::{Deserialize, Serialize};
pub use tail::TailParams;
pub use view::{Contender, Past, View};

/// The policies, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyName {
    /// Longest Approximate Time to End (LATE, OSDI'08, §4).
    #[default]
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
    /// Proposes nothing.
    None,
}

/// What a policy says of one candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The task.
    pub task: TaskId,
    /// [`Verdict::Decided`] proposes a copy; anything else is the reason why not.
    pub verdict: Verdict,
    /// What it rests on.
    pub numbers: Numbers,
    /// Order among proposals: the highest first.
    pub rank: f64,
    /// When the answer could change though nothing is heard, the AM's clock; `None`: only with the passing of time in general.
    pub recheck: Option<Time>,
    /// A copy is worth a container even while tasks of its kind still wait for theirs.
    pub early: bool,
}

impl PolicyName {
    /// Every policy.
    pub const ALL: [PolicyName; 8] = [
        PolicyName::Late,
        PolicyName::LateEarly,
        PolicyName::Hadoop,
        PolicyName::HadoopTuned,
        PolicyName::Hadoop020,
        PolicyName::MapReduce,
        PolicyName::Dryad,
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
            PolicyName::None => "none",
        }
    }

    /// Has it LATE's SlowNodeThreshold?
    pub fn spares_slow_nodes(self) -> bool {
        matches!(self, PolicyName::Late | PolicyName::LateEarly)
    }

    /// Judges every candidate of the view.
    pub fn judge(self, view: &View<'_>, late: &LateParams, tail: &TailParams) -> Vec<Judged> {
        match self {
            PolicyName::Late => late::judge(view, late),
            PolicyName::LateEarly => late::judge_early(view, late),
            PolicyName::Hadoop => hadoop::judge(view, &HadoopParams::SHIPPED),
            PolicyName::HadoopTuned => hadoop::judge(view, &HadoopParams::TUNED),
            PolicyName::Hadoop020 => hadoop_0_20::judge(view),
            PolicyName::MapReduce => tail::mapreduce(view, tail),
            PolicyName::Dryad => tail::dryad(view, tail),
            PolicyName::None => view.contenders.iter().map(|c| c.judged(view, Verdict::PolicyNone)).collect(),
        }
    }
}
