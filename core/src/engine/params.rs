//! How the engine decides: every room's parameters.

use crate::estimate::Estimator;
use crate::govern::GovernParams;
use crate::model::Millis;
use crate::policy::hadoop_0_20::Hadoop020Params;
use crate::policy::view::Patience;
use crate::policy::{
    BlacklistParams, DollyParams, LateParams, MantriParams, MeasureParams, PolicyName, TailParams, Thresholds,
};
use serde::{Deserialize, Serialize};

/// How the engine decides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EngineParams {
    /// The policy in force.
    pub policy: PolicyName,
    /// Estimate of time left.
    pub estimator: Estimator,
    /// Take another for the jobs of a kind for which it has proved better.
    pub choose_estimator: bool,
    /// LATE's thresholds.
    pub late: LateParams,
    /// When the end of a phase is near, to `mapreduce` and `dryad`.
    pub tail: TailParams,
    /// When a task is a straggler to `hadoop-0.20`. Nobody sets it but the reproduction, so that recordings do not tell of it.
    #[serde(skip)]
    pub hadoop_0_20: Hadoop020Params,
    /// Mantri's constants.
    pub mantri: MantriParams,
    /// Those of what it wants beside copies.
    pub measures: MeasureParams,
    /// Dolly's constants.
    pub dolly: DollyParams,
    /// Which machines are blacklisted.
    pub blacklist: BlacklistParams,
    /// Modes and budgets.
    pub govern: GovernParams,
    /// From a decision to the copy's launch: container and JVM.
    pub start_lag: Millis,
    /// How long what was not reported may only be late.
    pub patience: Patience,
    /// A running job is looked at again after this long though nothing was heard of it.
    pub look_again: Millis,
    /// Seed of sampled copy times.
    pub seed: u64,
}

impl Default for EngineParams {
    fn default() -> Self {
        EngineParams {
            policy: PolicyName::default(),
            estimator: Estimator::default(),
            choose_estimator: false,
            late: LateParams::default(),
            tail: TailParams::default(),
            hadoop_0_20: Hadoop020Params::default(),
            mantri: MantriParams::default(),
            measures: MeasureParams::default(),
            dolly: DollyParams::default(),
            blacklist: BlacklistParams::default(),
            govern: GovernParams::default(),
            // Measured on Hadoop 3.4.3: 0.3–0.6 s to a container and 0.1 s to its launch, at 100 ms heartbeats.
            start_lag: Millis(1_000),
            patience: Patience::default(),
            // Time left moves by as much as time passes; a second of it decides nothing.
            look_again: Millis(1_000),
            seed: 1,
        }
    }
}

impl EngineParams {
    pub(crate) fn thresholds(&self) -> Thresholds<'_> {
        Thresholds { late: &self.late, tail: &self.tail, mantri: &self.mantri, hadoop_0_20: &self.hadoop_0_20 }
    }

    /// Is a task found ordinary by its own progress and the ended ones alone?
    pub(crate) fn judges_alone(&self) -> bool {
        self.policy.judges_alone(&self.thresholds())
    }
}
