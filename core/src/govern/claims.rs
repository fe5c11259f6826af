//! What users may claim of the room that clones hold: their fair share (HotCloud'12, "an incoming task can immediately claim its fair share by killing clones in
//! progress").

use super::sizes::container;
use crate::model::{ClusterState, Job, TaskKind};
use std::collections::BTreeMap;

/// What a user's jobs hold and wait for, MiB.
#[derive(Debug, Clone, Copy, Default)]
struct Use {
    held_mb: u64,
    waiting_mb: u64,
}

/// Memory that tasks wait for and that nobody has free, MiB: of users with less than an equal share of the cluster, and up to that. One pass over all attempts.
pub fn claimed_mb(cluster: &ClusterState) -> u64 {
    let Some(totals) = cluster.all() else { return 0 };
    let mut users: BTreeMap<&str, Use> = BTreeMap::new();
    for job in cluster.jobs() {
        let of_user = users.entry(&job.user).or_default();
        for kind in TaskKind::ALL {
            let size = container(cluster, job, kind).memory_mb;
            of_user.held_mb = of_user.held_mb.saturating_add(size * held(job, kind));
            let waiting = size * u64::from(job.needs[kind as usize]);
            of_user.waiting_mb = of_user.waiting_mb.saturating_add(waiting);
        }
    }
    let share = totals.total.memory_mb / (users.len() as u64).max(1);
    let claims = users.values().map(|of_user| of_user.waiting_mb.min(share.saturating_sub(of_user.held_mb)));
    claims.sum::<u64>().saturating_sub(totals.total.memory_mb.saturating_sub(totals.allocated.memory_mb))
}

/// Containers that its attempts hold.
fn held(job: &Job, kind: TaskKind) -> u64 {
    let unended = job.tasks(kind).flat_map(|(_, task)| task.unended());
    unended.filter(|attempt| attempt.started.get().is_some()).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::govern::flight;
    use crate::model::{ClusterFact, JobSettings, Resources};

    #[test]
    fn containers_claimed_beyond_any_machine_are_still_a_number_in_all() {
        let mut job = flight::tests::job();
        let huge = Resources { memory_mb: u64::MAX, vcores: 1 };
        job.settings = Some(JobSettings { map_container: huge, reduce_container: huge, ..JobSettings::default() });
        job.needs = [u32::MAX; 2];
        let mut cluster = flight::tests::cluster([job]);
        let of = |memory_mb| Resources { memory_mb, vcores: 1 };
        cluster.totals = Some(ClusterFact { total: of(1_000), allocated: of(700), ..ClusterFact::default() });
        assert_eq!(claimed_mb(&cluster), 1_000 - 300, "the only user's share is all, of which that is free");
    }
}
