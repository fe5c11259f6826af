//! Where a copy would do no good.

use super::Engine;
use crate::govern::budget::{Tally, usable_rooms};
use crate::model::*;
use crate::policy::{View, slow_hosts};
use std::collections::BTreeSet;

impl Engine {
    /// Hosts on which the job's attempts are slow, by what its own tasks show.
    pub(super) fn slow_hosts(&self, job: &Job, now: Time) -> Vec<NameId> {
        let view = |kind| View::new(job, kind, job.am_time(now), &self.view_params(job, kind, Mode::Act));
        let of = |kind| slow_hosts::of(&view(kind), self.params.late.slow_factor);
        TaskKind::ALL.into_iter().flat_map(of).collect()
    }

    /// The hosts that a copy of this task is to keep off: where an attempt of it runs or ran, and where the job's attempts are slow; as long as any
    /// other host is left. A cluster of one host leaves no choice.
    pub(super) fn avoid(&self, job: &Job, task: TaskId, slow: &[NameId], tally: &Tally) -> Vec<NameId> {
        let own = job.task(task).into_iter().flat_map(|task| &task.attempts).filter_map(|attempt| attempt.host);
        let own: BTreeSet<NameId> = own.collect();
        let all = own.iter().chain(slow).copied().collect();
        let usable = || usable_rooms(&self.cluster, tally);
        let leaves_some = |avoid: &BTreeSet<NameId>| {
            usable().next().is_none() || usable().any(|(host, _)| host.is_none_or(|host| !avoid.contains(&host)))
        };
        let avoid = [all, own].into_iter().find(leaves_some).unwrap_or_default();
        avoid.into_iter().collect()
    }
}
