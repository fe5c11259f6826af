//! Outputs that are out of reach of a job's reduces, made again before each reduce finds that out.

use super::{Engine, Pass};
use crate::model::*;
use crate::policy::rerun::{Ask, Asked, OutOfReach, out_of_reach, within_budget};

impl Engine {
    /// Has maps of a job run again whose outputs are out of reach, where that is asked for and can be done: all of a machine's at once, and each map once, but for what was asked in vain.
    pub(super) fn rerun_missed(&mut self, id: JobId, now: Time, pass: &mut Pass) {
        let able = |job: &&Job| job.can.rerun && !job.missed.is_empty() && self.reruns(job, now);
        let Some(job) = self.cluster.job(id).filter(able) else { return };
        let mode = self.mode_of(job);
        // While Hadoop's own speculator has the job nothing is asked of its AM.
        if mode == Mode::Act && !self.owns(id) {
            return;
        }
        let asked = self.measures.of(id).map(|taken| taken.reruns.clone()).unwrap_or_default();
        let found = self.out_of_reach(job, &asked, now);
        for one in found {
            self.rerun_on(id, &one, mode, now, pass);
        }
    }

    /// Of one machine.
    fn rerun_on(&mut self, id: JobId, found: &OutOfReach, mode: Mode, now: Time, pass: &mut Pass) {
        let Some(job) = self.cluster.job(id) else { return };
        let asked_at = job.am_time(now);
        let mut taken = self.measures.take(id);
        let settled = within_budget(job, &taken.reruns, &found.outputs);
        let was_refused = || taken.newest(MeasureKind::Rerun).is_some_and(|before| settled == Err(before.verdict));
        if was_refused() {
            return self.measures.put(id, taken);
        }
        let plan = Some(found.plan(self.cluster.hosts.name(found.host)));
        let verdict = settled.err().unwrap_or(Verdict::Decided);
        let measure = Measure::new(id, MeasureKind::Rerun, verdict, mode, plan);
        let orders = settled.is_ok() && mode == Mode::Act;
        self.decisions += u64::from(orders);
        let order = MeasureOrder { decision: self.decisions, deadline: now + self.params.govern.deadline };
        let measure = Measure { order: orders.then_some(order), ..measure };
        if settled.is_ok() {
            found.outputs.iter().for_each(|output| Ask::note(&mut taken.reruns, *output, mode, asked_at));
        }
        taken.note(measure.clone());
        self.measures.put(id, taken);
        pass.measures.push(measure);
    }

    /// Those of a job's outputs of which this was not said before.
    pub(super) fn out_of_reach(&self, job: &Job, asked: &Asked, now: Time) -> Vec<OutOfReach> {
        let given_up = |host| {
            let node = self.cluster.nodes.get(self.cluster.hosts.name(host));
            node.is_some_and(NodeFact::is_given_up)
        };
        out_of_reach(job, asked, self.mode_of(job), given_up, job.am_time(now))
    }

    /// May maps of a job run again? Under a policy that acts on no tasks the job is Hadoop's, and nothing is asked of its AM.
    pub(super) fn reruns(&self, job: &Job, now: Time) -> bool {
        let off = || self.mode_of(job) == Mode::Off || self.params.govern.leaves_alone(job, now);
        self.params.policy.acts_on_tasks() && !off()
    }
}
