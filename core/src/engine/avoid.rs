//! The listed machines, and those on which a job's own tasks straggle, for the job's own new containers as well.

use super::proposal::Proposals;
use super::{Engine, MACHINE_WINDOW, Pass};
use crate::govern::avoiding::Avoiding;
use crate::model::*;
use crate::policy::{PolicyName, blacklist};
use std::collections::BTreeSet;

impl Engine {
    /// Has a job's new containers kept off machines that make its tasks straggle, where that is asked for beside the policy and can be done; says so anew when the list changes, as it
    /// does to none where it is asked for no more.
    pub(super) fn avoid_machines(&mut self, id: JobId, now: Time, proposals: &mut Proposals, pass: &mut Pass) {
        self.note_straggling(id, now, proposals);
        let Some(job) = self.cluster.job(id).filter(|job| job.can.avoid && !self.is_left(job, now)) else { return };
        let mode = self.mode_of(job);
        let hosts = if self.avoids_beside() { self.to_avoid(job, now) } else { Vec::new() };
        let known = self.measures.of(id).and_then(|taken| taken.avoiding.as_ref());
        let is_over = |known: &Avoiding| known.is_over(&hosts, mode, job, &self.params.govern, now);
        if !known.map_or(!hosts.is_empty(), is_over) {
            return;
        }
        let refused = known.map_or(0, |known| known.refusals(&hosts));
        let (deadline, incarnation) = (now + self.params.govern.deadline, job.incarnation);
        let names = hosts.iter().map(|host| self.cluster.hosts.name(*host).to_owned()).collect();
        self.decisions += 1;
        let decision = self.decisions;
        let order = (mode == Mode::Act).then_some(MeasureOrder { decision, deadline });
        let plan = Some(MeasurePlan::Avoid { hosts: names, lasts: MACHINE_WINDOW });
        let measure = Measure { order, ..Measure::new(id, MeasureKind::Avoid, Verdict::Decided, mode, plan) };
        let until = now + MACHINE_WINDOW;
        let mut taken = self.measures.take(id);
        taken.avoiding = Some(Avoiding { decision, hosts, mode, incarnation, deadline, until, answer: None, refused });
        taken.note(measure.clone());
        self.measures.put(id, taken);
        pass.measures.push(measure);
    }

    /// Machines on which so many of a job's runs straggle, and on which something is proposed because of it: for a window it does without them, as with those that earlier windows list.
    fn note_straggling(&mut self, id: JobId, now: Time, proposals: &mut Proposals) {
        let Some(hosts) = proposals.straggling.remove(&id) else { return };
        let Some(job) = self.cluster.job(id) else { return };
        // The job has just been looked at, so what is proposed of it stands last.
        let newest = proposals.all.iter().rev().map(|proposal| proposal.judged.attempt);
        let own = newest.take_while(|attempt| attempt.task.job == id);
        let proposed: BTreeSet<NameId> = own.filter_map(|attempt| job.host_of(attempt)).collect();
        let shown = hosts.into_iter().filter(|host| proposed.contains(host));
        let shown: Vec<_> = shown.map(|host| (host, now + MACHINE_WINDOW)).collect();
        if shown.is_empty() {
            return;
        }
        let mut taken = self.measures.take(id);
        taken.straggling.extend(shown);
        self.measures.put(id, taken);
    }

    /// The machines that a job's new containers are to keep off: those that are listed for its user, then those that the job itself has shown.
    pub(super) fn to_avoid(&self, job: &Job, now: Time) -> Vec<NameId> {
        let mut hosts: Vec<NameId> = self.blacklist(job).iter().map(|machine| machine.host).collect();
        let taken = self.measures.of(job.id).into_iter();
        let shown = taken.flat_map(|taken| &taken.straggling).filter(|(_, until)| **until > now).map(|(host, _)| *host);
        let node = |host: &NameId| self.cluster.nodes.get(self.cluster.hosts.name(*host));
        let is_node = |host: &NameId| node(host).is_some_and(|node| node.usable);
        let more: Vec<NameId> = shown.filter(|host| !hosts.contains(host) && is_node(host)).collect();
        hosts.extend(more);
        let most = blacklist::most(self.cluster.usable_nodes().count(), &self.params.blacklist);
        hosts.truncate(most.min(Decision::HOSTS_MAX));
        hosts
    }

    /// Are a job's new containers to be kept off machines? Under the policy that does nothing else the job is Hadoop's, and nothing is asked of its AM.
    pub(super) fn avoids(&self, job: &Job, now: Time) -> bool {
        self.avoids_beside() && !self.is_left(job, now)
    }

    fn avoids_beside(&self) -> bool {
        self.params.blacklist.beside && self.params.policy != PolicyName::Blacklist
    }

    /// It is Hadoop's for good, and what was asked of its AM ends with its lease.
    fn is_left(&self, job: &Job, now: Time) -> bool {
        self.mode_of(job) == Mode::Off || self.params.govern.leaves_alone(job, now)
    }
}
