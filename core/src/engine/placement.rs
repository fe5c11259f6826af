//! Where a copy would do no good, and where it would do best.

use super::Engine;
use crate::estimate::machine::drawn_odds;
use crate::govern::free::FreeByNode;
use crate::model::*;
use crate::policy::dolly::{Chosen, by_odds, machines_for_a_task};
use crate::policy::{Budget, Judged};
use std::collections::BTreeSet;

impl Engine {
    /// The hosts that a copy of this task is to keep off, those that matter most first: where an attempt of it runs or ran, where the job's attempts are slow, where the
    /// user's copies came to nothing lately, and what is blacklisted where that is asked for; as far as any other host is left. A cluster of one host leaves no choice. At most as many as a shim takes.
    pub(super) fn avoid(&self, job: &Job, task: TaskId, slow: &[NameId], free: &FreeByNode) -> Vec<NameId> {
        let own = job.task(task).into_iter().flat_map(|task| &task.attempts).filter_map(|attempt| attempt.host);
        let listed = if self.params.blacklist.beside { self.blacklist(job) } else { &[] };
        let (mut avoid, mut seen) = (Vec::new(), BTreeSet::new());
        let mut ends = Vec::new();
        let kinds: [Vec<NameId>; 4] = [
            own.collect(),
            slow.to_vec(),
            self.node_rests.resting(&job.user, &self.params.govern).take(Decision::HOSTS_MAX).collect(),
            listed.iter().take(Decision::HOSTS_MAX).map(|one| one.host).collect(),
        ];
        for kind in kinds {
            avoid.extend(kind.into_iter().filter(|host| seen.insert(*host)));
            ends.push(avoid.len());
        }
        let most =
            ends.into_iter().rev().map(|end| end.min(Decision::HOSTS_MAX)).find(|end| free.leave_some(&avoid[..*end]));
        avoid.truncate(most.unwrap_or(0));
        avoid
    }

    /// The usable machines in order of their odds for a user's jobs; none where no odds are known. What few tasks have shown of a machine is drawn towards `p`, any task's.
    pub(super) fn machines_by_odds(&self, user: &str, p: f64) -> Vec<(NameId, f64)> {
        let known = |host| drawn_odds(self.odds.machine(host)?.straggles(), user, p);
        let hosts: Vec<NameId> =
            self.cluster.usable_nodes().filter_map(|node| self.cluster.hosts.find(&node.host)).collect();
        if !hosts.iter().any(|host| known(*host).is_some()) {
            return Vec::new();
        }
        by_odds(hosts.into_iter().map(|host| (host, known(host).unwrap_or(p))).collect())
    }

    /// Where the clones of a task go best (HotCloud'12, Pseudocode 1), as many as are proposed at most; `None` for what is no clone.
    pub(super) fn prefer(
        &self,
        job: &Job,
        judged: &Judged,
        machines: &[(NameId, f64)],
        has_room: impl Fn(NameId) -> bool,
    ) -> Option<Chosen> {
        let plan = self.clones.of(job.id, judged.task.kind).filter(|_| judged.budget == Budget::Clones)?;
        let p = self.straggler_probability(&job.user);
        let of = |host| machines.iter().find(|(known, _)| *known == host).map(|(_, odds)| *odds);
        let copies = job.task(judged.task).into_iter().flat_map(Task::unended);
        let odds = copies.map(|attempt| attempt.host.and_then(of).unwrap_or(p));
        // Of a task that REST alone tells of no attempt may be known.
        let has = odds.reduce(|a, b| a * b).unwrap_or(p);
        let with_room = machines.iter().copied().filter(|(host, _)| has_room(*host));
        Some(machines_for_a_task(has, p, plan.clones, with_room, judged.copies as usize))
    }
}
