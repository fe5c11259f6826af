//! The service as a whole.

use super::{ConfigView, LearnedView, LedgerView};
use crate::api::health::StragglingView;
use crate::api::holds::HoldView;
use drover_core::model::{Millis, OpenBreaker};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The service as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Status {
    /// Version of Drover.
    pub version: String,
    /// Source revision of this build; null where it was not told any.
    pub revision: Option<String>,
    /// This process.
    pub incarnation: String,
    /// Start of this process, Unix milliseconds.
    pub started_ms: u64,
    /// The service's clock, Unix milliseconds.
    pub now_ms: u64,
    /// The cluster has been polled once, completely.
    pub ready: bool,
    /// How the ResourceManager is.
    #[serde(default)]
    pub rm: RmView,
    /// Mode of the cluster: `off`, `advise` or `act`.
    pub mode: String,
    /// Policy in force.
    pub policy: String,
    /// Estimator in force.
    pub estimator: String,
    /// Nodes the ResourceManager lists.
    pub nodes: u64,
    /// Of these, usable ones.
    pub usable_nodes: u64,
    /// Jobs known and not ended.
    pub jobs: u64,
    /// Of these, jobs for which a shim speaks.
    pub jobs_with_shim: u64,
    /// Jobs whose tasks Drover's user may not view.
    #[serde(default)]
    pub blocked_jobs: u64,
    /// Tasks known.
    pub tasks: u64,
    /// Attempts that run.
    pub attempts: u64,
    /// Running tasks by verdict; verdicts of no task are left out.
    pub verdicts: BTreeMap<String, u64>,
    /// How often tasks straggle anywhere, on which clones rest.
    #[serde(default)]
    pub straggling: StragglingView,
    /// Copies in flight, those only advised included.
    pub copies_in_flight: u64,
    /// Number of the newest decision.
    pub decisions: u64,
    /// Epoch of another, younger service that this cluster's shims also speak to; while there is one, this service does not act.
    pub higher_epoch: Option<u64>,
    /// Jobs whose speculation is Drover's to own.
    pub jobs_owned: u64,
    /// Jobs whose shims hold a lease for it.
    pub leases: u64,
    /// Live sessions of shims that cannot start copies.
    pub shims_unable: u64,
    /// Live sessions of shims that could, and come over plain HTTP from the network, so that they get no lease.
    pub shims_over_plain_http: u64,
    /// Live sessions by the version of their shim; beyond eight versions the others are told together, as `other`.
    #[serde(default)]
    pub shim_versions: BTreeMap<String, u64>,
    /// Operators' holds in force.
    pub holds: Vec<HoldView>,
    /// Why these would not hold after a restart, where they should: they cannot be written, and are tried to be again; `null` where they are kept, or there is no `state.dir`.
    #[serde(default)]
    pub holds_unkept: Option<String>,
    /// Policies that only advise because their copies keep losing.
    #[serde(default)]
    pub breakers: Vec<BreakerView>,
    /// How the ledger is.
    #[serde(default)]
    pub ledger: LedgerView,
    /// What is known over jobs.
    #[serde(default)]
    pub learned: LearnedView,
    /// What came of reading the configuration again.
    #[serde(default)]
    pub config: ConfigView,
}

impl Status {
    /// Versions of shims other than the service's own, each with how many speak.
    pub fn other_shims(&self) -> impl Iterator<Item = (&str, u64)> {
        let others = self.shim_versions.iter().filter(|(version, _)| **version != self.version);
        others.map(|(version, count)| (version.as_str(), *count))
    }

    /// Tasks that run: each has a verdict, while attempts are known of suspects only where no shim speaks.
    pub fn running_tasks(&self) -> u64 {
        self.verdicts.values().sum()
    }
}

/// How the ResourceManager is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RmView {
    /// One answers; of several, the active one.
    pub answers: bool,
    /// When it last told of applications, totals, nodes or queues, the service's clock, Unix milliseconds; `null` where it never has.
    pub told_ms: Option<u64>,
}

/// A policy that only advises on a user's jobs because its copies keep losing there, whatever its mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BreakerView {
    /// The policy.
    pub policy: String,
    /// Whose jobs.
    pub user: String,
    /// Since when, the service's clock, Unix milliseconds.
    pub since_ms: u64,
    /// Until when, likewise, unless an operator lifts a hold of the whole cluster before.
    pub until_ms: u64,
    /// Copies of it that won.
    pub won: u32,
    /// Of so many.
    pub copies: u32,
}

impl BreakerView {
    /// A breaker that is open, and rests so long.
    pub fn of(open: &OpenBreaker, rest: Millis) -> BreakerView {
        let until_ms = (open.since + rest).0;
        let told = &open.told;
        BreakerView {
            policy: told.policy.clone(),
            user: told.user.clone(),
            since_ms: open.since.0,
            until_ms,
            won: told.won,
            copies: told.copies,
        }
    }
}
