//! A policy as its paper has it.

use super::EngineParams;
use crate::estimate::Estimator;
use crate::govern::GovernParams;
use crate::policy::late::SPECULATIVE_CAP;
use crate::policy::{BlacklistParams, DollyParams, LateParams, MantriParams, PolicyName, TailParams};

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
            govern: GovernParams { cluster_cap, ..uncapped },
            ..EngineParams::default()
        }
    }
}
