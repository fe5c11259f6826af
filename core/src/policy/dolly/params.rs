//! Dolly's constants.

use crate::model::CloneScheme;
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

/// Which output each clone of a reduce reads, where that can be chosen (NSDI'13, §4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    /// Delay assignment (§4.4): one of its own, or after ω any; one of its own where ω is not known.
    #[default]
    Delay,
    /// Contention-avoidance cloning (§4.1): one of its own.
    Cac,
    /// Contention cloning (§4.1): the first.
    Cc,
}

impl Reads {
    /// Every one.
    pub const ALL: [Reads; 3] = [Reads::Delay, Reads::Cac, Reads::Cc];

    /// Stable label.
    pub fn label(self) -> &'static str {
        match self {
            Reads::Delay => "delay",
            Reads::Cac => "cac",
            Reads::Cc => "cc",
        }
    }
}

/// Dolly's constants. [`DollyParams::paper`] has NSDI'13's; the default trusts p only once more tasks have shown it, and takes no other network's contention for this one's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DollyParams {
    /// What is run several times over. NSDI'13 §3.1: each task; HotCloud'12 §3.1: each task, or the whole job.
    pub scheme: CloneScheme,
    /// epsilon: acceptable probability (0–1) that a phase straggles. NSDI'13 §3.2: 5 %.
    pub epsilon: f64,
    /// beta: share (0–1) of the cluster's memory that cloned phases may take in all. §5.2: 5 %.
    pub beta: f64,
    /// tau: share (0–1) of the cluster's memory in use above which nothing is cloned. §5.2: 80 %.
    pub tau: f64,
    /// Where not all fit.
    pub admission: Admission,
    /// Each task's clones are counted by the odds of the machines they are to run on (HotCloud'12, Pseudocode 1), at most as many as for machines like any other.
    pub by_machine: bool,
    /// p, the probability (0–1) that a task straggles, while too few tasks have shown it; 0: nothing is cloned until they have.
    pub prior: f64,
    /// Tasks that p is to rest on before the prior gives way.
    pub min_evidence: f64,
    /// Which output each clone of a reduce reads.
    pub reads: Reads,
    /// alpha: the share (above 0, to 1) of its bandwidth that a read gets beside another of the same output; `None`: what earlier runs show, and half before any does. §4.3, Fig. 6:
    /// transfers of small jobs take 32 % longer, which is .76.
    pub contention: Option<f64>,
    /// 1 − p_c: the probability (0–1) that a clone finds an output of its own within the time of one read; `None`: what earlier runs show.
    pub exclusive: Option<f64>,
}

impl DollyParams {
    /// NSDI'13's own constants: ε of 5 % (§3.2), β of 5 % and τ of 80 % (§5.2), all or nothing (§3.3), task by task (§3.1), p from the first task on (§3.2), delay assignment (§4.4) with
    /// the contention of §4.3. p_c it does not print.
    pub fn paper() -> DollyParams {
        DollyParams {
            scheme: CloneScheme::Task,
            epsilon: 0.05,
            beta: 0.05,
            tau: 0.8,
            admission: Admission::AllOrNothing,
            by_machine: false,
            // With three clones of ten tasks Fig. 5 shows what a p of .08 gives; a round number near it.
            prior: 0.1,
            min_evidence: 1.0,
            reads: Reads::Delay,
            contention: Some(0.76),
            exclusive: None,
        }
    }

    /// HotCloud'12's: ε of 5 % and τ of 70 % ("Evaluation"), no budget but that ceiling, clones counted by the odds of their machines and started one by one as long as there is room below it (Pseudocode 1).
    pub fn paper_hotcloud() -> DollyParams {
        DollyParams { beta: 1.0, tau: 0.7, admission: Admission::FirstCome, by_machine: true, ..DollyParams::paper() }
    }
}

impl Default for DollyParams {
    fn default() -> Self {
        DollyParams {
            contention: None,
            // A clone in a cluster where nothing straggles is a container lost.
            prior: 0.0,
            // A p of a tenth is known to within a third or so from a hundred tasks.
            min_evidence: 100.0,
            ..DollyParams::paper()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_has_its_own_label_which_is_its_serialised_form() {
        for admission in Admission::ALL {
            assert_eq!(serde_json::to_string(&admission).unwrap(), format!("\"{}\"", admission.label()));
        }
        for reads in Reads::ALL {
            assert_eq!(serde_json::to_string(&reads).unwrap(), format!("\"{}\"", reads.label()));
        }
        for scheme in CloneScheme::ALL {
            assert_eq!(serde_json::to_string(&scheme).unwrap(), format!("\"{}\"", scheme.label()));
        }
    }

    #[test]
    fn the_papers_constants_are_those_it_prints() {
        let paper = DollyParams::paper();
        assert_eq!((paper.epsilon, paper.beta, paper.tau), (0.05, 0.05, 0.8), "§3.2, §5.2");
        assert_eq!(
            (paper.admission, paper.scheme, paper.reads),
            (Admission::AllOrNothing, CloneScheme::Task, Reads::Delay)
        );
        assert_eq!(paper.contention.map(|alpha| (100.0 / alpha - 100.0).round()), Some(32.0), "Fig. 6");
        let first = DollyParams::paper_hotcloud();
        assert_eq!((first.epsilon, first.tau, first.by_machine), (0.05, 0.7, true), "HotCloud'12, Evaluation");
        assert_eq!((first.beta, first.admission), (1.0, Admission::FirstCome), "nothing but the ceiling, Pseudocode 1");
    }
}
