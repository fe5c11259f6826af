//! Dolly's constants.

use serde::{Deserialize, Serialize};

/// What is done where not all that are wanted fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Admission {
    /// All of a phase's clones or none (NSDI'13 §3.3).
    #[default]
    AllOrNothing,
    /// As many for each task as fit: "a job could be partially cloned" (§3.3).
    Partial,
    /// Clones of larger jobs make room for those of smaller ones (§3.3, §5.5). Needs that copies can be withdrawn.
    Preempt,
    /// Whoever comes first, clone by clone, until the budget is spent: "pure-FCFS" (§5.5).
    FirstCome,
}

impl Admission {
    /// Every one.
    pub const ALL: [Admission; 4] =
        [Admission::AllOrNothing, Admission::Partial, Admission::Preempt, Admission::FirstCome];

    /// Stable label.
    pub fn label(self) -> &'static str {
        match self {
            Admission::AllOrNothing => "all-or-nothing",
            Admission::Partial => "partial",
            Admission::Preempt => "preempt",
            Admission::FirstCome => "first-come",
        }
    }
}

/// Dolly's constants.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DollyParams {
    /// epsilon: acceptable probability (0–1) that a phase straggles. NSDI'13 §3.2: 5 %.
    pub epsilon: f64,
    /// beta: share (0–1) of the cluster's memory that cloned phases may take in all. §5.1: 5 %.
    pub beta: f64,
    /// tau: share (0–1) of the cluster's memory in use above which nothing is cloned. §5.1: 80 %.
    pub tau: f64,
    /// Where not all fit.
    pub admission: Admission,
    /// Each task's clones are counted by the odds of the machines they are to run on (HotCloud'12, Pseudocode 1), at most as many as for machines like any other.
    pub by_machine: bool,
    /// p, the probability (0–1) that a task straggles, while too few tasks have shown it.
    pub prior: f64,
    /// Tasks that p is to rest on before the prior gives way.
    pub min_evidence: f64,
}

impl DollyParams {
    /// NSDI'13's own constants. §3.2 counts p anew each hour, from however many tasks; before the first there is none in print.
    pub fn paper() -> DollyParams {
        DollyParams {
            epsilon: 0.05,
            beta: 0.05,
            tau: 0.8,
            admission: Admission::AllOrNothing,
            by_machine: false,
            min_evidence: 1.0,
            ..DollyParams::default()
        }
    }
}

impl Default for DollyParams {
    fn default() -> Self {
        DollyParams {
            epsilon: 0.05,
            beta: 0.05,
            tau: 0.8,
            admission: Admission::AllOrNothing,
            by_machine: false,
            // With three clones of ten tasks Fig. 5 shows what a p of .08 gives; a round number near it.
            prior: 0.1,
            // A p of a tenth is known to within a third or so from a hundred tasks.
            min_evidence: 100.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_admission_has_its_own_label_which_is_its_serialised_form() {
        for admission in Admission::ALL {
            assert_eq!(serde_json::to_string(&admission).unwrap(), format!("\"{}\"", admission.label()));
        }
    }
}
