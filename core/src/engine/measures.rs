//! What a policy wants of a job beside copies: settled when its moment comes, and only where it can be done. What cannot is refused by name to whoever asks.

use super::{Engine, Pass};
use crate::estimate::losses::Losses;
use crate::estimate::lost::was_made_again;
use crate::govern::measures::Taken;
use crate::model::*;
use crate::policy::mantri::precompute::precompute;
use crate::policy::mantri::recompute::{Lineage, Replication, stalled_seconds};
use crate::policy::mantri::replicate::{Output, Risk, are_read, outputs, weigh};
use crate::policy::mantri::{order, spread};
use crate::policy::rerun::Asked;
use std::collections::BTreeSet;

/// What one look at a job came to.
type Settled = Result<MeasurePlan, Verdict>;

/// Users with the machines on which their outputs have begun to be lost.
pub(super) type Onsets = BTreeSet<(String, NameId)>;

impl Engine {
    /// Settles the measures of one job whose moment has come. Where nothing of the kind can be done its losses tell of machines all the same.
    pub(super) fn take_measures(&mut self, id: JobId, now: Time, onsets: &mut Onsets, pass: &mut Pass) {
        let Some(job) = self.cluster.job(id) else { return };
        let able: Vec<MeasureKind> = MeasureKind::ALL.into_iter().filter(|kind| kind.lack(job.can).is_none()).collect();
        if (able.is_empty() && job.lost.is_empty()) || !self.may_take_measures(job, now) {
            return;
        }
        let mut taken = self.measures.take(id);
        let (hosts, user) = (lost_anew(job, &mut taken), &job.user);
        let begun = self.measures.recomputed(user, hosts, now, &self.params.measures);
        onsets.extend(begun.into_iter().map(|host| (user.clone(), host)));
        for kind in able {
            let all = match kind {
                MeasureKind::Order => order_anew(job, &mut taken),
                MeasureKind::Place => self.place_once(job, &mut taken).into_iter().collect(),
                MeasureKind::Replicate => self.replicate_new(job, &mut taken),
                // Once all jobs have told what they have lost; and whatever the policy.
                MeasureKind::Precompute | MeasureKind::Avoid | MeasureKind::Rerun => continue,
            };
            self.tell_measures(job, kind, all, &mut taken, pass);
        }
        self.measures.put(id, taken);
    }

    /// Has what else lies on machines that have begun to lose outputs computed anew, of all jobs of the user whose jobs have shown it.
    pub(super) fn precompute(&mut self, onsets: &Onsets, now: Time, pass: &mut Pass) {
        if onsets.is_empty() {
            return;
        }
        let able = |job: &&Job| job.can.precompute && are_read(job) && self.may_take_measures(job, now);
        let jobs: Vec<JobId> = self.cluster.jobs().filter(able).map(|job| job.id).collect();
        for id in jobs {
            let mut taken = self.measures.take(id);
            let Some(job) = self.cluster.job(id) else { continue };
            let hosts = onsets.iter().filter(|(user, _)| *user == job.user).map(|(_, host)| *host);
            let all = hosts.map(|host| self.precompute_on(job, host, &mut taken)).collect();
            self.tell_measures(job, MeasureKind::Precompute, all, &mut taken, pass);
            self.measures.put(id, taken);
        }
    }

    fn tell_measures(&self, job: &Job, kind: MeasureKind, mut all: Vec<Settled>, taken: &mut Taken, pass: &mut Pass) {
        // What was decided is the newest that is known of a kind, whatever was refused beside it.
        all.sort_by_key(Result::is_ok);
        for settled in all {
            let verdict = settled.as_ref().err().copied().unwrap_or(Verdict::Decided);
            let measure = Measure::new(job.id, kind, verdict, self.mode_of(job), settled.ok());
            pass.measures.push(measure.clone());
            taken.note(measure);
        }
    }

    fn may_take_measures(&self, job: &Job, now: Time) -> bool {
        let off = || self.mode_of(job) == Mode::Off || self.params.govern.leaves_alone(job, now);
        self.params.policy.takes_measures() && !off()
    }

    /// What the policy, or what stands beside it, wants of a job beside copies: of each kind the newest that was decided, or why not; and what would be wanted and cannot be done to the
    /// job.
    pub fn measures(&self, id: JobId) -> Vec<Measure> {
        let Some(job) = self.cluster.job(id) else { return Vec::new() };
        let by_policy = self.may_take_measures(job, self.last_pass);
        let asked_for = |kind: &MeasureKind| match kind {
            MeasureKind::Avoid => self.avoids(job, self.last_pass),
            MeasureKind::Rerun => self.reruns(job, self.last_pass),
            _ => by_policy,
        };
        let mode = self.mode_of(job);
        let of = |kind: MeasureKind| match kind.lack(job.can) {
            Some(lack) => self.missed(job, kind).map(|plan| Measure::new(id, kind, lack, mode, plan)),
            None => self.measures.of(id)?.newest(kind).cloned(),
        };
        MeasureKind::ALL.into_iter().filter(asked_for).filter_map(of).collect()
    }

    /// What a measure that cannot be taken would do, with its plan where somebody else could go by it; `None` where it would do the job no good.
    fn missed(&self, job: &Job, kind: MeasureKind) -> Option<Option<MeasurePlan>> {
        let bare = |wanted: bool| wanted.then_some(None);
        match kind {
            MeasureKind::Order => {
                let other = |kind| {
                    let first = order::order(job, kind).ok().filter(|first| !order::is_hadoops(first))?;
                    Some(MeasurePlan::Order { kind, first })
                };
                TaskKind::ALL.into_iter().find_map(other).map(Some)
            }
            MeasureKind::Place if !spread::is_due(job) => None,
            MeasureKind::Place => {
                spread::spread(job, &spread::Racks::of(&self.cluster), &self.params.measures).ok().map(Some)
            }
            MeasureKind::Replicate => {
                let is_lost = || Losses::of(&self.odds, &job.user).of_any().is_some_and(|lost| lost > 0.0);
                bare(are_read(job) && is_lost())
            }
            MeasureKind::Avoid => bare(!self.to_avoid(job, self.last_pass).is_empty()),
            MeasureKind::Rerun => bare(!self.out_of_reach(job, &Asked::new(), self.last_pass).is_empty()),
            MeasureKind::Precompute => bare(are_read(job) && job.lost.iter().any(|id| was_made_again(job, id))),
        }
    }

    /// The racks of a job's reduces, when they are about to be placed.
    fn place_once(&self, job: &Job, taken: &mut Taken) -> Option<Settled> {
        if taken.placed || !spread::is_due(job) {
            return None;
        }
        let settled = spread::spread(job, &spread::Racks::of(&self.cluster), &self.params.measures);
        taken.placed = settled != Err(Verdict::DataUnknown);
        Some(settled)
    }

    /// Outputs that have been written since the job was last looked at, each replicated or not.
    fn replicate_new(&self, job: &Job, taken: &mut Taken) -> Vec<Settled> {
        let wanted = [are_read(job), self.params.measures.reduces_too];
        let kinds = TaskKind::ALL.into_iter().filter(|kind| wanted[*kind as usize]);
        let new = |id| !taken.weighed.contains(&id);
        let (all, untold): (Vec<Output>, Vec<Output>) =
            kinds.flat_map(|kind| outputs(job, kind, new)).partition(|output| output.wrote.0 > 0);
        if all.is_empty() {
            let first = !untold.is_empty() && taken.newest(MeasureKind::Replicate).is_none();
            return Vec::from_iter(first.then_some(Err(Verdict::DataUnknown)));
        }
        taken.weighed.extend(all.iter().map(|output| output.attempt));
        let losses = Losses::of(&self.odds, &job.user);
        let is_reduce = |output: &Output| output.attempt.task.kind == TaskKind::Reduce;
        let upstream = if all.iter().any(is_reduce) { self.stalled(job, &losses, taken) } else { 0.0 };
        let mut tokens = taken.tokens.unwrap_or_else(|| Replication::new(self.params.measures.replicated));
        let settle = |output: &Output| {
            let stalled = if is_reduce(output) { upstream } else { 0.0 };
            let risk = Risk { lost: losses.on(output.host), stalled, within: self.within_rack(output.host) };
            let settled = weigh(output, &risk, &mut tokens);
            taken.replicated.extend(settled.is_ok().then_some(output.attempt));
            settled
        };
        let settled = all.iter().map(settle).collect();
        taken.tokens = Some(tokens);
        settled
    }

    /// How long a reduce that is repeated waits for maps whose outputs are lost, on average, seconds. Of an output that is kept twice both must be.
    fn stalled(&self, job: &Job, losses: &Losses<'_>, taken: &Taken) -> f64 {
        let of_any = losses.of_any().unwrap_or(0.0);
        let lineage = |map: Output| {
            let other = if taken.replicated.contains(&map.attempt) { of_any } else { 1.0 };
            let lost = losses.on(map.host).unwrap_or(0.0) * other;
            Lineage { lost, takes: map.took.as_secs_f64(), inputs: Vec::new() }
        };
        stalled_seconds(&outputs(job, TaskKind::Map, |_| true).into_iter().map(lineage).collect::<Vec<_>>())
    }

    /// Bandwidth between two machines of a host's rack, bytes per second.
    fn within_rack(&self, host: NameId) -> Option<f64> {
        Some(self.cluster.racks.get(self.cluster.rack_of(host)?)?.within_bytes_per_second)
    }

    /// The outputs of maps on a machine that are neither kept twice nor computed anew already.
    fn precompute_on(&self, job: &Job, host: NameId, taken: &mut Taken) -> Settled {
        let spared = [&taken.replicated, &taken.precomputed, &taken.lost];
        let mut there = outputs(job, TaskKind::Map, |id| !spared.iter().any(|of| of.contains(&id)));
        there.retain(|output| output.host == host);
        let worked = TaskKind::ALL.into_iter().flat_map(|kind| job.tasks(kind)).filter_map(|(_, task)| task.run_time());
        let budget = worked.fold(Millis(0), |sum, took| sum + took).scaled(self.params.measures.precomputed);
        let settled = precompute(self.cluster.hosts.name(host), there, budget - taken.precomputing);
        if let Ok(MeasurePlan::Precompute { outputs, takes, .. }) = &settled {
            taken.precomputed.extend(outputs);
            taken.precomputing = taken.precomputing + *takes;
        }
        settled
    }
}

/// The order of each phase of which more is known than when it was last ordered. That nothing is known of any is said once.
fn order_anew(job: &Job, taken: &mut Taken) -> Vec<Settled> {
    let mut anew = Vec::new();
    for kind in TaskKind::ALL {
        let told = order::told(job, kind);
        let is_new = told != std::mem::replace(&mut taken.ordered[kind as usize], told);
        let unsaid = told == 0 && taken.newest(MeasureKind::Order).is_none();
        if is_new || unsaid {
            let settled = order::order(job, kind).map(|first| MeasurePlan::Order { kind, first });
            anew.extend(Some(settled).filter(|settled| is_new || *settled == Err(Verdict::DataUnknown)));
        }
    }
    anew
}

/// The machines of outputs that have had to be made again since the job was last looked at. What was computed anew in good time is no loss.
fn lost_anew(job: &Job, taken: &mut Taken) -> Vec<NameId> {
    // Each is looked at closely once: a job may have lost a thousand.
    let unheeded = job.lost.iter().filter(|id| !taken.lost.contains(id) && !taken.precomputed.contains(id));
    let anew: Vec<AttemptId> = unheeded.filter(|id| was_made_again(job, *id)).collect();
    taken.lost.extend(&anew);
    anew.into_iter().filter_map(|id| job.host_of(id)).collect()
}
