//! What a pass proposes, and what is counted once for all of it.

use super::causes::Shows;
use super::location::ByRack;
use crate::estimate::node::NodeWork;
use crate::govern::tally::Tally;
use crate::model::{JobId, Mode, NameId, Resources, TaskKind};
use crate::policy::Judged;
use crate::policy::dolly::Supply;
use std::collections::BTreeMap;

/// A proposal with what govern needs to know of it.
pub(super) struct Proposal {
    pub judged: Judged,
    pub mode: Mode,
}

/// Those of a pass.
#[derive(Default)]
pub(super) struct Proposals {
    pub all: Vec<Proposal>,
    /// Hosts on which the attempts of jobs with any are slow, by what the job's own tasks show.
    pub slow_hosts: BTreeMap<JobId, Vec<NameId>>,
    /// Those of them on which the job's tasks straggle by enough of its own runs, where its new containers are to keep off such.
    pub straggling: BTreeMap<JobId, Vec<NameId>>,
    /// What the tasks of phases with any show of those proposed, where it was looked at.
    pub shows: BTreeMap<(JobId, TaskKind), Shows>,
}

/// What one pass that has any proposal counts once; of what depends on the proposal, when the first asks for it.
#[derive(Default)]
pub(super) struct Counted {
    /// Copies and room in the whole cluster.
    pub tally: Tally,
    /// What cloned phases hold; of none where the ResourceManager has not told of any room.
    pub cloning: Option<Option<Supply>>,
    /// What is promised on each host to the clones of this pass.
    pub promised: BTreeMap<NameId, Resources>,
    /// Machines in order of their odds by user.
    pub machines: BTreeMap<String, Vec<(NameId, f64)>>,
    /// Nodes' work by user, with the SlowNodeThreshold it comes to: what a user's jobs claim decides about that user's jobs alone.
    pub work: BTreeMap<String, (NodeWork, f64)>,
    /// The jobs of each user.
    pub jobs: BTreeMap<String, Vec<JobId>>,
    /// What the tasks of a phase show: why they are slow, and where their inputs lie.
    pub shows: BTreeMap<(JobId, TaskKind), Shows>,
    /// Usable machines with their factors, by user.
    pub by_rack: BTreeMap<String, ByRack>,
}
