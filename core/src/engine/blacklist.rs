//! Machines that make tasks straggle.

use super::Engine;
use crate::model::{Job, NameId};
use crate::policy::blacklist::{self, Listed};
use crate::policy::{PolicyName, View};
use std::collections::BTreeSet;

impl Engine {
    /// Lists the machines for the users who have jobs, where anybody asks for it.
    pub(super) fn list_machines(&mut self) {
        self.listed.clear();
        if self.params.policy != PolicyName::Blacklist && !self.params.blacklist.beside {
            return;
        }
        // As an AM counts them: lost ones stay on the RM's list for long.
        let nodes = || self.cluster.usable_nodes();
        let (count, hosts) = (nodes().count(), &self.cluster.hosts);
        let known: BTreeSet<NameId> = nodes().filter_map(|node| hosts.find(&node.host)).collect();
        let is_node = |host| known.contains(&host);
        for job in self.cluster.jobs() {
            if !self.listed.contains_key(&job.user) {
                let listed = blacklist::listed(&self.odds, &job.user, count, is_node, &self.params.blacklist);
                self.listed.insert(job.user.clone(), listed);
            }
        }
    }

    /// The machines that no task of the job should be given in this window, the worst first.
    pub fn blacklist(&self, job: &Job) -> &[Listed] {
        self.listed.get(&job.user).map_or(&[], Vec::as_slice)
    }

    /// Those of the machines of a view's tasks that are listed, for the policy that asks.
    pub(super) fn listed_of(&self, view: &View<'_>) -> BTreeSet<NameId> {
        if self.params.policy != PolicyName::Blacklist || self.blacklist(view.job).is_empty() {
            return BTreeSet::new();
        }
        let of_tasks = view.contenders.iter().filter_map(|contender| contender.task.original()?.host);
        let of_tasks: BTreeSet<NameId> = of_tasks.collect();
        self.blacklist(view.job).iter().map(|machine| machine.host).filter(|host| of_tasks.contains(host)).collect()
    }
}
