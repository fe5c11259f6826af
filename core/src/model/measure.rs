//! What a policy wants of a job beside copies of its running tasks.

use super::action::Answer;
use super::capability::Capabilities;
use super::decision::{Mode, Verdict};
use super::id::{AttemptId, JobId, TaskKind};
use super::units::{Bytes, Millis, Time};
use serde::{Deserialize, Serialize};

/// Kinds of measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeasureKind {
    /// Which waiting task is started first (Mantri §5.1, Pseudocode 1 line 8; §5.4).
    Order,
    /// The racks of reduces (Mantri §5.2).
    Place,
    /// Outputs that are kept twice (Mantri §5.3).
    Replicate,
    /// Outputs that are computed anew before they are missed (Mantri §5.3).
    Precompute,
    /// Machines that a job's new containers are kept off (Dolly, NSDI'13 §2.1.2).
    Avoid,
    /// Outputs that reduces cannot fetch, made again.
    Rerun,
}

/// One that was considered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// The job.
    pub job: JobId,
    /// What it is.
    pub kind: MeasureKind,
    /// [`Verdict::Decided`], or why not.
    pub verdict: Verdict,
    /// Only said, or to be done.
    pub mode: Mode,
    /// What is to be done, with the numbers it rests on; `None` where it was refused before these were reckoned.
    pub plan: Option<MeasurePlan>,
    /// The order to the job's AM that carries it out, where one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<MeasureOrder>,
    /// The AM's newest answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
}

/// An order by which an AM carries a measure out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasureOrder {
    /// Number among the engine's decisions.
    pub decision: u64,
    /// When it is too late to begin, the service's clock.
    pub deadline: Time,
}

impl Measure {
    /// One that no order carries out.
    pub fn new(job: JobId, kind: MeasureKind, verdict: Verdict, mode: Mode, plan: Option<MeasurePlan>) -> Measure {
        Measure { job, kind, verdict, mode, plan, order: None, answer: None }
    }
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeasurePlan {
    /// Start the waiting tasks of a phase in this order.
    Order {
        /// Maps or reduces.
        kind: TaskKind,
        /// Their indices, the one with the most data first.
        first: Vec<u32>,
    },
    /// Run the reduces that wait on these racks.
    Place {
        /// Each rack with the indices of its reduces.
        racks: Vec<(String, Vec<u32>)>,
        /// What they read over racks in all.
        moves: Bytes,
        /// The longest transfer over any rack's link, seconds; `None` where no links are measured.
        seconds: Option<f64>,
        /// No placement takes less, seconds.
        bound: Option<f64>,
    },
    /// Copy an output to another machine of its rack.
    Replicate {
        /// The attempt that wrote it.
        output: AttemptId,
        /// Its size.
        bytes: Bytes,
        /// r: probability (0–1) that it is lost.
        lost: f64,
        /// t_redo: what its loss would cost on average.
        redo: Millis,
        /// t_rep: how long the copy takes.
        replicate: Millis,
    },
    /// Compute the outputs anew that are on a machine which has begun to lose outputs.
    Precompute {
        /// The machine.
        host: String,
        /// The attempts that wrote them, the longest first.
        outputs: Vec<AttemptId>,
        /// How long these took in all.
        takes: Millis,
    },
    /// Give the job no new container on these machines.
    Avoid {
        /// The machines, the worst first, in place of all that were named before; none: those may be used again.
        hosts: Vec<String>,
        /// For how long, if nothing else is said.
        lasts: Millis,
    },
    /// Run maps again whose outputs are out of reach: kill the attempts that have succeeded, all at once.
    Rerun {
        /// The machine they lie on.
        host: String,
        /// The attempts that wrote them.
        outputs: Vec<AttemptId>,
        /// Indices of the reduces that could not fetch outputs there.
        missed_by: Vec<u32>,
        /// All that lies on the machine is out of reach; else only what the reduces have named.
        whole: bool,
        /// The ResourceManager has given the machine up, too.
        unusable: bool,
    },
}

impl MeasureKind {
    /// All of them, in the order in which a job meets them.
    pub const ALL: [MeasureKind; 6] = [
        MeasureKind::Order,
        MeasureKind::Place,
        MeasureKind::Replicate,
        MeasureKind::Precompute,
        MeasureKind::Avoid,
        MeasureKind::Rerun,
    ];

    /// Stable label.
    pub fn label(self) -> &'static str {
        match self {
            MeasureKind::Order => "order",
            MeasureKind::Place => "place",
            MeasureKind::Replicate => "replicate",
            MeasureKind::Precompute => "precompute",
            MeasureKind::Avoid => "avoid",
            MeasureKind::Rerun => "rerun",
        }
    }

    /// What is decided, for a person.
    pub fn words(self) -> &'static str {
        match self {
            MeasureKind::Order => "its tasks that wait are to start with the largest first",
            MeasureKind::Place => "its reduces are to be spread over racks by the links between them",
            MeasureKind::Replicate => "outputs of its tasks are to be kept twice",
            MeasureKind::Precompute => "outputs on a machine that begins to lose them are to be computed anew",
            MeasureKind::Avoid => "its new containers are to keep off machines that make tasks straggle",
            MeasureKind::Rerun => {
                "outputs that its reduces cannot fetch are to be made again, all of a machine's at once"
            }
        }
    }

    /// The name of what cannot be done to a job; `None` where it can.
    pub fn lack(self, can: Capabilities) -> Option<Verdict> {
        let (able, refused) = match self {
            MeasureKind::Order => (can.order, Verdict::CannotOrder),
            MeasureKind::Place => (can.place_reduces, Verdict::CannotPlace),
            MeasureKind::Replicate => (can.replicate, Verdict::CannotReplicate),
            MeasureKind::Precompute => (can.precompute, Verdict::CannotPrecompute),
            MeasureKind::Avoid => (can.avoid, Verdict::CannotAvoid),
            MeasureKind::Rerun => (can.rerun, Verdict::CannotRerun),
        };
        (!able).then_some(refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measure_has_its_own_label_which_is_its_serialised_form_and_its_own_refusal() {
        let mut refusals: Vec<_> =
            MeasureKind::ALL.iter().filter_map(|kind| kind.lack(Capabilities::default())).collect();
        refusals.dedup();
        assert_eq!(refusals.len(), MeasureKind::ALL.len());
        for (kind, refusal) in MeasureKind::ALL.into_iter().zip(refusals) {
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{}\"", kind.label()));
            assert_eq!(refusal.label(), format!("cannot_{}", kind.label()));
        }
    }

    #[test]
    fn what_can_be_done_to_a_job_is_not_refused() {
        let can = Capabilities { order: true, place_reduces: true, replicate: true, ..Capabilities::default() };
        let lacks = MeasureKind::ALL.map(|kind| kind.lack(can));
        let [precompute, avoid, rerun] = [Verdict::CannotPrecompute, Verdict::CannotAvoid, Verdict::CannotRerun];
        assert_eq!(lacks, [None, None, None, Some(precompute), Some(avoid), Some(rerun)]);
    }

    #[test]
    fn every_measure_is_told_to_a_person_in_words_of_its_own() {
        let words = MeasureKind::ALL.map(MeasureKind::words);
        assert!(words.iter().all(|said| said.contains(' ')));
        assert_eq!(std::collections::BTreeSet::from(words).len(), words.len());
    }
}
