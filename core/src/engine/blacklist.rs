//! Machines that make tasks straggle.

use super::Engine;
use crate::model::{Job, NameId};
use crate::policy::blacklist::{self, Listed};
use crate::policy::{PolicyName, View};
use std::collections::BTreeSet;

impl Engine {
    /// Lists the machines for this pass, where anybody asks for it.
    pub(super) fn list_machines(&mut self) {
        let asked = self.params.policy == PolicyName::Blacklist || self.params.blacklist.beside;
        let machines = self.cluster.nodes.len();
        self.listed = if asked { blacklist::listed(&self.odds, machines, &self.params.blacklist) } else { Vec::new() };
    }

    /// The machines that no task of the job should be given in this window, the worst first.
    pub fn blacklist(&self, job: &Job) -> impl Iterator<Item = Listed> {
        let holds = |machine: &Listed| blacklist::holds_for(&self.odds, machine.host, &job.user);
        self.listed.iter().copied().filter(holds)
    }

    /// Those of the machines of a view's tasks that are listed.
    pub(super) fn listed_of(&self, view: &View<'_>) -> BTreeSet<NameId> {
        if self.listed.is_empty() {
            return BTreeSet::new();
        }
        let of_tasks = view.contenders.iter().filter_map(|contender| contender.task.original()?.host);
        let of_tasks: BTreeSet<NameId> = of_tasks.collect();
        self.blacklist(view.job).map(|machine| machine.host).filter(|host| of_tasks.contains(host)).collect()
    }
}
