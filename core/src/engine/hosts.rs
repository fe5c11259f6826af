//! On which hosts a copy is to run, and on which it is not.

use super::Engine;
use super::location::{WORTH_ASKING, fastest};
use super::proposal::Counted;
use crate::estimate::node::NodeWork;
use crate::estimate::{FreshCopy, Left};
use crate::govern::free::FreeByNode;
use crate::govern::sizes::container;
use crate::model::*;
use crate::policy::dolly::Chosen;
use crate::policy::{Budget, Judged};
use std::collections::BTreeMap;

impl Engine {
    /// Where clones are counted by machine, no more of them than that asks for. Why there are none, if so.
    pub(super) fn count_by_machine(
        &self,
        job: &Job,
        judged: &mut Judged,
        avoid: &[NameId],
        counted: &mut Counted,
    ) -> Option<Verdict> {
        // Where nobody can place them, fewer would not do.
        if !self.params.dolly.by_machine || !job.can.place {
            return None;
        }
        let chosen = self.preferred(job, judged, avoid, counted)?;
        judged.copies = chosen.machines.len() as u32;
        (judged.copies == 0).then_some(if chosen.enough { Verdict::NoCloneNeeded } else { Verdict::NoHeadroom })
    }

    /// Is a copy put on a named host, or asked for there?
    pub(super) fn asks_for_hosts(&self, job: &Job, judged: &Judged) -> bool {
        judged.action == Action::Duplicate && self.params.policy.places() && (job.can.place || job.can.prefer)
    }

    /// The machines where its clones go best; `None` for what is no clone, and where no machine's odds are known.
    fn preferred(&self, job: &Job, judged: &Judged, avoid: &[NameId], counted: &mut Counted) -> Option<Chosen> {
        if judged.budget != Budget::Clones || judged.action != Action::Duplicate {
            return None;
        }
        let by_odds = || self.machines_by_odds(&job.user, self.straggler_probability(&job.user));
        let machines = counted.machines.entry(job.user.clone()).or_insert_with(by_odds);
        let free = counted.tally.partitions.of(&self.cluster, job, judged.task.kind);
        let has_room = has_room(container(&self.cluster, job, judged.task.kind), avoid, &counted.promised, free);
        if machines.is_empty() { None } else { self.prefer(job, judged, machines, has_room) }
    }

    /// The hosts on which its clones would straggle least; where another may be given only those that are worth asking for.
    pub(super) fn least_odds(
        &self,
        job: &Job,
        judged: &Judged,
        avoid: &[NameId],
        counted: &mut Counted,
    ) -> Vec<NameId> {
        let Some(Chosen { mut machines, .. }) = self.preferred(job, judged, avoid, counted) else { return Vec::new() };
        if !job.can.place {
            let most = WORTH_ASKING * self.straggler_probability(&job.user);
            let all = counted.machines.get(&job.user);
            let odds = |host| all?.iter().find(|(known, _)| *known == host).map(|(_, odds)| *odds);
            machines.retain(|host| odds(*host).is_some_and(|odds| odds <= most));
        }
        machines
    }

    /// The hosts where the copies of a slow task would take least time, by each one's own locationFactor.
    pub(super) fn nearest(
        &self,
        job: &Job,
        judged: &mut Judged,
        avoid: &[NameId],
        counted: &mut Counted,
    ) -> Vec<NameId> {
        let has_paths = self.shown(job, judged.task.kind, counted).fit.is_some();
        if !job.can.place && !has_paths && self.odds.machines().next().is_none() {
            return Vec::new();
        }
        let Counted { shows, by_rack, promised, tally, .. } = counted;
        let by_rack = by_rack.entry(job.user.clone()).or_insert_with(|| self.machines_by_rack(&job.user));
        let free = tally.partitions.of(&self.cluster, job, judged.task.kind);
        let has_room = has_room(container(&self.cluster, job, judged.task.kind), avoid, promised, free);
        let shown = shows.get(&(job.id, judged.task.kind));
        let mut best =
            shown.map_or_else(Vec::new, |shown| self.nearest_in(by_rack, job, judged.task, shown, &has_room));
        best.truncate(judged.copies as usize);
        // What is only asked for may come to run anywhere, and is reckoned so.
        if let Some((factor, host)) = best.first().filter(|_| job.can.place) {
            // Its time was reckoned for the fastest machine with room, wherever the input lies.
            takes(&mut judged.numbers, longer(*factor, fastest(by_rack, &has_room)));
            let rule = judged.rule.get_or_insert_with(|| self.params.policy.rule().to_owned());
            rule.push_str(&format!("; locationFactor {factor:.2} on {} (§5.5, eq. 3)", self.cluster.hosts.name(*host)));
        }
        best.into_iter().map(|(_, host)| host).collect()
    }

    /// LATE §4: no copy on a node below SlowNodeThreshold. Hadoop chooses the node, so: is every node with room for the copy that slow?
    pub(super) fn no_fast_node(&self, job: &Job, judged: &Judged, avoid: &[NameId], counted: &mut Counted) -> bool {
        if !self.params.policy.spares_slow_nodes() || self.cluster.nodes.is_empty() {
            return false;
        }
        let (work, threshold, free) = self.work_of(job, judged.task.kind, counted);
        let mut with_room = free.with_room(asks_for(container(&self.cluster, job, judged.task.kind), judged, free));
        with_room.all(|host| {
            let slow = |host| work.of(host).is_some_and(|done| done < threshold);
            host.is_some_and(|host| avoid.contains(&host) || slow(host))
        })
    }

    /// LATE §4, of one copy: of the nodes with room none below SlowNodeThreshold. There is another, or there were no copy.
    pub(super) fn shun_slow_nodes(&self, job: &Job, judged: &Judged, avoid: &mut Vec<NameId>, counted: &mut Counted) {
        let (work, threshold, free) = self.work_of(job, judged.task.kind, counted);
        let with_room =
            free.with_room(asks_for(container(&self.cluster, job, judged.task.kind), judged, free)).flatten();
        let slow = with_room.filter(|host| work.of(*host).is_some_and(|done| done < threshold));
        let more: Vec<NameId> = slow.filter(|host| !avoid.contains(host)).collect();
        avoid.extend(more);
        avoid.truncate(Decision::HOSTS_MAX);
    }

    /// What each node has done for a job's user, SlowNodeThreshold of it, and where there is room for the job's tasks of that kind. Counted once a pass.
    fn work_of<'c>(&self, job: &Job, kind: TaskKind, counted: &'c mut Counted) -> (&'c NodeWork, f64, &'c FreeByNode) {
        let Counted { tally, work, jobs, .. } = counted;
        let (work, threshold) = work.entry(job.user.clone()).or_insert_with(|| {
            // None has done less than the least.
            if self.params.late.slow_node_percentile <= 0.0 {
                return (NodeWork::default(), 0.0);
            }
            if jobs.is_empty() {
                self.cluster.jobs().for_each(|job| jobs.entry(job.user.clone()).or_default().push(job.id));
            }
            let mut work = NodeWork::default();
            let theirs = jobs.get(&job.user).into_iter().flatten();
            theirs.filter_map(|id| self.cluster.job(*id)).for_each(|job| work.add(job, self.fading()));
            let threshold = work.threshold(self.params.late.slow_node_percentile).unwrap_or(0.0);
            (work, threshold)
        });
        (work, *threshold, tally.partitions.of(&self.cluster, job, kind))
    }
}

/// How many times longer a copy takes on a machine of such a locationFactor than was reckoned by that one.
fn longer(factor: f64, reckoned: Option<f64>) -> f64 {
    factor / reckoned.unwrap_or(factor)
}

/// A copy takes so many times as long as was reckoned.
fn takes(numbers: &mut Numbers, times: f64) {
    let Some((mean, spread)) = numbers.fresh_copy.zip(numbers.fresh_copy_spread) else { return };
    let fresh = FreshCopy { mean: mean.scaled(times), start: Millis(0), spread: spread.scaled(times), evidence: 0 };
    (numbers.fresh_copy, numbers.fresh_copy_spread) = (Some(fresh.mean), Some(fresh.spread));
    numbers.cost_container_seconds = numbers.cost_container_seconds.map(|cost| cost * times);
    if let Some((mean, spread)) = numbers.time_left.zip(numbers.time_left_spread) {
        let (gain, probability) = fresh.ahead_of(Left { mean, spread });
        (numbers.gain, numbers.win_probability) = (Some(gain), Some(probability));
    }
}

/// Hosts with room for a container of that size beside what was promised there, but for those to avoid.
fn has_room<'a>(
    size: Resources,
    avoid: &'a [NameId],
    promised: &'a BTreeMap<NameId, Resources>,
    free: &'a FreeByNode,
) -> impl Fn(NameId) -> bool + 'a {
    move |host| {
        free.of(host).holds(size.and(promised.get(&host).copied().unwrap_or_default())) && !avoid.contains(&host)
    }
}

/// How much room a node must have for a copy: none where none has it, and the copy has the next container that falls free.
fn asks_for(size: Resources, judged: &Judged, free: &FreeByNode) -> Resources {
    let is_next = judged.early && free.with_room(size).next().is_none();
    if is_next { Resources::default() } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_takes_longer_gains_less_costs_more_and_may_gain_nothing() {
        let reckoned = Numbers {
            time_left: Some(Millis(30_000)),
            time_left_spread: Some(Millis(3_000)),
            fresh_copy: Some(Millis(10_000)),
            fresh_copy_spread: Some(Millis(2_000)),
            cost_container_seconds: Some(10.0),
            ..Numbers::default()
        };
        let after = |times| {
            let mut numbers = reckoned;
            takes(&mut numbers, times);
            (numbers.fresh_copy, numbers.fresh_copy_spread, numbers.gain, numbers.cost_container_seconds)
        };
        let of =
            |fresh, spread, gain, cost| (Some(Millis(fresh)), Some(Millis(spread)), Some(Millis(gain)), Some(cost));
        assert_eq!(after(2.0), of(20_000, 4_000, 10_000, 20.0));
        assert_eq!(after(3.0), of(30_000, 6_000, 0, 30.0));
        assert_eq!(after(4.0), of(40_000, 8_000, 0, 40.0));
        let mut even = reckoned;
        takes(&mut even, 3.0);
        assert!(even.win_probability.is_some_and(|p| (p - 0.5).abs() < 1e-6), "{even:?}");
        assert_eq!([longer(3.0, Some(2.0)), longer(3.0, None)], [1.5, 1.0]);
        let mut unknown = Numbers { time_left: reckoned.time_left, ..Numbers::default() };
        takes(&mut unknown, 2.0);
        assert_eq!(unknown, Numbers { time_left: reckoned.time_left, ..Numbers::default() });
    }
}
