//! The listed machines, for the job's own new containers as well.

use super::{Engine, MACHINE_WINDOW, Pass};
use crate::govern::avoiding::Avoiding;
use crate::model::*;
use crate::policy::PolicyName;

impl Engine {
    /// Has a job's new containers kept off the machines that are listed for its user, where that is asked for beside the policy and can be done; says so anew when the list changes.
    pub(super) fn avoid_listed(&mut self, id: JobId, now: Time, pass: &mut Pass) {
        let Some(job) = self.cluster.job(id).filter(|job| job.can.avoid && self.avoids(job, now)) else { return };
        let mode = self.mode_of(job);
        let listed = self.blacklist(job).iter().map(|machine| machine.host).take(Decision::AVOID_MAX);
        let hosts: Vec<NameId> = listed.collect();
        let known = self.measures.of(id).and_then(|taken| taken.avoiding.as_ref());
        let is_over = |known: &Avoiding| known.is_over(&hosts, mode, job, &self.params.govern, now);
        if !known.map_or(!hosts.is_empty(), is_over) {
            return;
        }
        let (deadline, incarnation) = (now + self.params.govern.deadline, job.incarnation);
        let names = hosts.iter().map(|host| self.cluster.hosts.name(*host).to_owned()).collect();
        self.decisions += 1;
        let decision = self.decisions;
        let order = (mode == Mode::Act).then_some(MeasureOrder { decision, deadline });
        let plan = Some(MeasurePlan::Avoid { hosts: names, lasts: MACHINE_WINDOW });
        let measure = Measure { order, ..Measure::new(id, MeasureKind::Avoid, Verdict::Decided, mode, plan) };
        let until = now + MACHINE_WINDOW;
        let mut taken = self.measures.take(id);
        taken.avoiding = Some(Avoiding { decision, hosts, mode, incarnation, deadline, until, answer: None });
        taken.note(measure.clone());
        self.measures.put(id, taken);
        pass.measures.push(measure);
    }

    /// Are a job's new containers to be kept off listed machines? Under the policy that does nothing else the job is Hadoop's, and nothing is asked of its AM.
    pub(super) fn avoids(&self, job: &Job, now: Time) -> bool {
        let asked_for = self.params.blacklist.beside && self.params.policy != PolicyName::Blacklist;
        asked_for && self.mode_of(job) != Mode::Off && !self.params.govern.leaves_alone(job, now)
    }
}
