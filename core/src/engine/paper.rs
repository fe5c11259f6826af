//! A policy as its paper has it.

use super::EngineParams;
use crate::estimate::Estimator;
use crate::govern::GovernParams;
use crate::policy::late::SPECULATIVE_CAP;
use crate::policy::{BlacklistParams, DollyParams, LateParams, MantriParams, MeasureParams, PolicyName, TailParams};

impl EngineParams {
    /// The papers' own constants, under that policy: of the budgets only its own, SpeculativeCap where LATE decides (with `drover`, whose guards are LATE's, too).
    pub fn paper(policy: PolicyName) -> EngineParams {
        let uncapped = GovernParams::paper();
        let cluster_cap = if policy.spares_slow_nodes() { SPECULATIVE_CAP } else { uncapped.cluster_cap };
        EngineParams {
            policy,
            // LATE §4: (1 − ProgressScore) / ProgressRate.
            estimator: Estimator::Late,
            late: LateParams::paper(),
            tail: TailParams::paper(),
            mantri: MantriParams::paper(),
            dolly: DollyParams::paper(),
            blacklist: BlacklistParams::paper(),
            measures: MeasureParams::paper(),
            govern: GovernParams { cluster_cap, ..uncapped },
            ..EngineParams::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_has_the_papers_constants_and_no_budget_but_speculative_cap_where_late_decides() {
        for policy in PolicyName::ALL {
            let paper = EngineParams::paper(policy);
            let capped = ["late", "late-early", "drover"].contains(&policy.label());
            assert_eq!((paper.policy, paper.estimator), (policy, Estimator::Late));
            assert_eq!((&paper.late, &paper.tail), (&LateParams::paper(), &TailParams::paper()));
            assert_eq!((&paper.mantri, &paper.dolly), (&MantriParams::paper(), &DollyParams::paper()));
            assert_eq!((paper.blacklist, paper.measures), (BlacklistParams::paper(), MeasureParams::paper()));
            let cluster_cap = if capped { 0.1 } else { 1.0 };
            assert_eq!(paper.govern, GovernParams { cluster_cap, ..GovernParams::paper() }, "{}", policy.label());
        }
    }
}
