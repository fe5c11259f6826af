//! Why a task is slow, as a view.

use crate::words;
use drover_core::model::Cause;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Why a task takes as long as it does: its time less that of a typical task is `data` + `node` + `network` + `rest`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CauseView {
    /// What makes most of it: `data`, `node`, `network`, `unknown`; `none` for a task that is not slow.
    pub cause: String,
    /// Its time, seconds; of a running task as projected.
    pub total_seconds: f64,
    /// That of a task with the phase's typical data, seconds.
    pub typical_seconds: f64,
    /// What its data makes, seconds; below zero for less data than typical.
    pub data_seconds: f64,
    /// What its node makes, seconds.
    pub node_seconds: f64,
    /// What the network makes, seconds.
    pub network_seconds: f64,
    /// What is left, seconds; below zero for a task that is faster than its data lets expect.
    pub rest_seconds: f64,
    /// Its time is within 20 % of what its data lets expect (Mantri §4.2).
    pub explained: bool,
    /// Finished tasks of the phase whose data and time this is told from.
    pub evidence: u32,
    /// Other attempts of the phase on its node.
    pub others: u32,
    /// The same in words; `null` for a task that is not slow.
    pub reason: Option<String>,
}

impl CauseView {
    /// The cause with its units.
    pub fn of(cause: &Cause) -> CauseView {
        CauseView {
            cause: cause.kind.label().into(),
            total_seconds: cause.seconds,
            typical_seconds: cause.typical,
            data_seconds: cause.data,
            node_seconds: cause.node,
            network_seconds: cause.network,
            rest_seconds: cause.rest,
            explained: cause.explained,
            evidence: cause.evidence,
            others: cause.others,
            reason: words::cause(cause),
        }
    }
}
