//! What a policy wants of a job beside copies of its running tasks.

use super::capability::Capabilities;
use super::decision::{Mode, Verdict};
use super::id::{JobId, TaskKind};
use super::units::Bytes;
use serde::{Deserialize, Serialize};

/// Kinds of measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeasureKind {
    /// Which waiting task is started first (Mantri §5.1, Pseudocode 1 line 8; §5.4).
    Order,
    /// The racks of reduces (Mantri §5.2).
    Place,
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
}

impl MeasureKind {
    /// All of them, in the order in which a job meets them.
    pub const ALL: [MeasureKind; 2] = [MeasureKind::Order, MeasureKind::Place];

    /// Stable label.
    pub fn label(self) -> &'static str {
        match self {
            MeasureKind::Order => "order",
            MeasureKind::Place => "place",
        }
    }

    /// The name of what cannot be done to a job; `None` where it can.
    pub fn lack(self, can: Capabilities) -> Option<Verdict> {
        let (able, refused) = match self {
            MeasureKind::Order => (can.order, Verdict::CannotOrder),
            MeasureKind::Place => (can.place_reduces, Verdict::CannotPlace),
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
        let can = Capabilities { order: true, ..Capabilities::default() };
        assert_eq!(MeasureKind::Order.lack(can), None);
    }
}
