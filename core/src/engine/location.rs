//! Where a copy might run, and how long its machine takes beside others: Mantri's locationFactor (§5.5, eq. 3).

use super::Engine;
use super::causes::Shows;
use crate::estimate::location::Location;
use crate::estimate::machine::{Machine, drawn};
use crate::govern::sizes::container;
use crate::model::{Job, Name, NameId, TaskId, TaskKind};
use std::collections::BTreeMap;

/// Machines of each rack with their factors, the fastest first.
pub(super) type ByRack = BTreeMap<Name, Vec<(f64, NameId)>>;

/// A machine is asked for where a task takes at most so much of its time on an ordinary one, or straggles as much less often: less may be chance, and a request that names
/// hosts may have to wait for them.
pub(super) const WORTH_ASKING: f64 = 0.9;

/// The machines, as one pass sees them.
#[derive(Debug, Default)]
pub(super) struct Locations {
    /// Usable ones that count for all users alike.
    all: Curve,
    /// Those that only one user's tasks tell of: to the others machines like any other.
    of_one: Curve,
    /// The latter, for that user.
    of_user: BTreeMap<String, Curve>,
}

/// Sums over machines, by the memory that they have free.
#[derive(Debug, Default)]
struct Curve(Vec<Step>);

/// Of all machines with at least so much free.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Step {
    free_mb: u64,
    /// Sum of what their factors are beyond 1.
    excess: f64,
    /// The least of their factors.
    least: f64,
}

impl Curve {
    /// Of machines with so much free and that factor.
    fn new(mut machines: Vec<(u64, f64)>) -> Curve {
        machines.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.total_cmp(&b.1)));
        let mut sum = Step { free_mb: 0, excess: 0.0, least: f64::INFINITY };
        let step = |(free_mb, factor): (u64, f64)| {
            sum = Step { free_mb, excess: sum.excess + factor - 1.0, least: sum.least.min(factor) };
            sum
        };
        Curve(machines.into_iter().map(step).collect())
    }

    /// How many have that much free, with their sums.
    fn with_room(&self, size_mb: u64) -> (usize, Option<Step>) {
        let count = self.0.partition_point(|step| step.free_mb >= size_mb);
        (count, count.checked_sub(1).map(|last| self.0[last]))
    }
}

impl Locations {
    /// The factor of the machine that a user's copy of that size would get, the best of those with room where it can be `placed`, else any of them, over that of all
    /// machines: it is they that a phase's times come from. 1 where none has room.
    fn factor(&self, user: &str, size_mb: u64, placed: bool) -> f64 {
        let of_any = self.mean(user, 0);
        let there = if placed { self.least(user, size_mb) } else { self.mean(user, size_mb) };
        there.zip(of_any).map_or(1.0, |(there, of_any)| there / of_any)
    }

    /// Machines with that much room: how many have a factor for that user, how many are ordinary because only another's tasks tell of them, and the sums of the first.
    fn with_room(&self, user: &str, size_mb: u64) -> (usize, usize, impl Iterator<Item = Step>) {
        let (all, of_all) = self.all.with_room(size_mb);
        let (own, of_own) = self.of_user.get(user).map_or((0, None), |own| own.with_room(size_mb));
        let others = self.of_one.with_room(size_mb).0 - own;
        (all + own, others, of_all.into_iter().chain(of_own))
    }

    fn mean(&self, user: &str, size_mb: u64) -> Option<f64> {
        let (known, others, steps) = self.with_room(user, size_mb);
        let excess: f64 = steps.map(|step| step.excess).sum();
        let count = known + others;
        (count > 0).then(|| 1.0 + excess / count as f64)
    }

    fn least(&self, user: &str, size_mb: u64) -> Option<f64> {
        let (_, others, steps) = self.with_room(user, size_mb);
        let ordinary = (others > 0).then_some(1.0);
        steps.map(|step| step.least).chain(ordinary).min_by(f64::total_cmp)
    }
}

impl Engine {
    /// Sees which machines have room, for policies that weigh a copy's time. One pass over the nodes.
    pub(super) fn see_locations(&mut self) {
        self.locations = Locations::default();
        if !self.params.policy.weighs_new_copies() || self.odds.machines().next().is_none() {
            return;
        }
        let most = self.cluster.nodes.len();
        let (mut all, mut of_one) = (Vec::with_capacity(most), Vec::with_capacity(most));
        let mut of_user = BTreeMap::<&str, Vec<_>>::new();
        for node in self.cluster.usable_nodes() {
            let free_mb = node.total.memory_mb.saturating_sub(node.used.memory_mb);
            let known = self.cluster.hosts.find(&node.host).and_then(|host| self.odds.machine(host));
            let factor = Location::of_machine(known.and_then(shown).unwrap_or(1.0)).factor();
            match known.and_then(|machine| machine.hourly().only_principal()) {
                Some(user) => {
                    of_user.entry(user).or_default().push((free_mb, factor));
                    of_one.push((free_mb, 1.0));
                }
                None => all.push((free_mb, factor)),
            }
        }
        let of_user = of_user.into_iter().map(|(user, machines)| (user.to_owned(), Curve::new(machines))).collect();
        self.locations = Locations { all: Curve::new(all), of_one: Curve::new(of_one), of_user };
    }

    /// The usable machines of each rack with how much slower than others they are for a user's jobs, the fastest first. One pass over the nodes.
    pub(super) fn machines_by_rack(&self, user: &str) -> ByRack {
        let mut by_rack = ByRack::new();
        for node in self.cluster.usable_nodes() {
            let Some(host) = self.cluster.hosts.find(&node.host) else { continue };
            let known = self.odds.machine(host).filter(|machine| machine.hourly().holds_for(user));
            by_rack.entry(node.rack.clone()).or_default().push((known.and_then(shown).unwrap_or(1.0), host));
        }
        by_rack.values_mut().for_each(|machines| machines.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))));
        by_rack
    }

    /// The best machine with room on each rack for that task, with its locationFactor: its own slowness, and the way of this task's input to its rack. The best first.
    /// Where it cannot be put there, and another may be given, only those that are worth asking for.
    pub(super) fn nearest_in(
        &self,
        by_rack: &ByRack,
        job: &Job,
        task: TaskId,
        shown: &Shows,
        has_room: impl Fn(NameId) -> bool,
    ) -> Vec<(f64, NameId)> {
        let way = |rack: &Name| {
            let crossing = shown.inputs.crossing(&self.cluster, job, task, rack);
            let path = crossing.zip(shown.fit.as_ref()).and_then(|(share, fit)| fit.path(share));
            let (transfer, brought) = path.unwrap_or((0.0, 0.0));
            Location { slowness: 1.0, transfer, brought }
        };
        let racks: Vec<_> = by_rack.iter().map(|(rack, machines)| (way(rack), machines.as_slice())).collect();
        let most = if job.can.place { f64::INFINITY } else { WORTH_ASKING * ordinary(&racks) };
        let on_rack = |(way, machines): (Location, &[(f64, NameId)])| {
            let factors =
                machines.iter().map(|(slowness, host)| (Location { slowness: *slowness, ..way }.factor(), *host));
            factors.take_while(|(factor, _)| *factor <= most).find(|(_, host)| has_room(*host))
        };
        let mut best: Vec<_> = racks.into_iter().filter_map(on_rack).collect();
        best.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        best
    }

    /// locationFactor of the machine that a copy of that kind would get.
    pub(super) fn location_factor(&self, job: &Job, kind: TaskKind) -> f64 {
        self.locations.factor(&job.user, container(&self.cluster, job, kind).memory_mb, job.can.place)
    }
}

/// locationFactor of a machine like any other, wherever it is: the mean over the machines of all racks, each with the way of a task's input to it.
fn ordinary(racks: &[(Location, &[(f64, NameId)])]) -> f64 {
    let machines: usize = racks.iter().map(|(_, machines)| machines.len()).sum();
    racks.iter().map(|(way, on_it)| way.factor() * on_it.len() as f64).sum::<f64>() / machines.max(1) as f64
}

/// locationFactor of the fastest machine with room, its input being as far as usual.
pub(super) fn fastest(by_rack: &ByRack, has_room: impl Fn(NameId) -> bool) -> Option<f64> {
    let with_room = by_rack.values().filter_map(|machines| machines.iter().find(|(_, host)| has_room(*host)));
    with_room.map(|(slowness, _)| Location::of_machine(*slowness).factor()).min_by(f64::total_cmp)
}

/// A machine's factor, as far as its tasks show it.
fn shown(machine: &Machine) -> Option<f64> {
    Some(drawn(machine.location_factor()?, machine.hourly().evidence(), 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_machine_is_as_far_away_as_most_are() {
        let host = crate::model::Names::default().intern("a").unwrap();
        let rack = |machines: usize| vec![(0.5, host); machines];
        let (near, far) = (Location::of_machine(1.0), Location { brought: 7.0, ..Location::of_machine(1.0) });
        let (many, one) = (rack(9), rack(1));
        assert!((ordinary(&[(near, many.as_slice()), (far, one.as_slice())]) - 1.7).abs() < 1e-12);
        assert_eq!(ordinary(&[]), 0.0);
    }

    #[test]
    fn the_fastest_machine_is_that_with_room_on_any_rack() {
        let mut hosts = crate::model::Names::default();
        let [a, b, c] = ["a", "b", "c"].map(|name| hosts.intern(name).unwrap());
        let by_rack = ByRack::from([("/1".into(), vec![(0.5, a), (2.0, b)]), ("/2".into(), vec![(1.5, c)])]);
        let of = |full: &[NameId]| fastest(&by_rack, |host| !full.contains(&host));
        assert_eq!(
            [of(&[]), of(&[a]), of(&[a, c])],
            [0.5, 1.5, 2.0].map(|slowness| Some(Location::of_machine(slowness).factor()))
        );
        assert_eq!(of(&[a, b, c]), None);
    }

    fn locations() -> Locations {
        let all = Curve::new(vec![(1_000, 1.0), (4_000, 3.0), (2_000, 0.5)]);
        beside_bobs(all, &[(8_000, 2.0)])
    }

    /// Machines that count for all, and those that only Bob's tasks tell of.
    fn beside_bobs(all: Curve, bobs: &[(u64, f64)]) -> Locations {
        let of_one = Curve::new(bobs.iter().map(|(free_mb, _)| (*free_mb, 1.0)).collect());
        Locations { all, of_one, of_user: BTreeMap::from([("bob".to_owned(), Curve::new(bobs.to_vec()))]) }
    }

    #[test]
    fn where_one_users_tasks_tell_of_all_machines_there_is_no_ordinary_one_beside_them_for_that_user() {
        let both = beside_bobs(Curve::default(), &[(8_000, 2.0), (8_000, 2.0)]);
        assert_eq!(["bob", "ann"].map(|user| both.factor(user, 1_000, true)), [1.0, 1.0]);
        let known = beside_bobs(Curve::new(vec![(8_000, 3.0)]), &[(8_000, 2.0)]);
        assert_eq!(["bob", "ann"].map(|user| known.factor(user, 1_000, true)), [2.0 / 2.5, 1.0 / 2.0]);
    }

    #[test]
    fn a_copy_that_yarn_places_gets_any_machine_with_room() {
        // All four together are 1.375 times as slow as a typical one.
        let factor = |size| locations().factor("ann", size, false) * 1.375;
        assert_eq!([1_000, 2_000, 4_000, 8_000].map(factor), [1.375, 1.5, 2.0, 1.0]);
        assert_eq!(locations().factor("ann", 9_000, false), 1.0, "none has room");
        assert_eq!(Locations::default().factor("ann", 0, false), 1.0);
    }

    #[test]
    fn a_copy_that_can_be_placed_gets_the_best_of_them() {
        let factor = |size| locations().factor("ann", size, true);
        assert_eq!([1_000, 4_000, 9_000].map(factor), [0.5 / 1.375, 1.0 / 1.375, 1.0]);
    }

    #[test]
    fn what_one_users_tasks_tell_of_a_machine_moves_that_users_copies_alone() {
        let factor = |user| locations().factor(user, 8_000, false);
        assert_eq!((factor("bob"), factor("ann")), (2.0 / 1.625, 1.0 / 1.375));
    }
}
