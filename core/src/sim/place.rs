//! Where one of a job's requests can be served: on a node that it names, of maps on one with their split, or on any.

use super::asks::{Asks, Turn};
use super::draw::Purpose;
use super::job::Job;
use super::task::{Ask, Tasks, task_key};
use super::world::World;
use crate::model::{Millis, TaskKind, Time};
use std::cell::OnceCell;

/// How many of a job's requests are looked through, and for how many of the nodes with room one whose split lies there is looked for.
pub(super) const LOOKED_THROUGH: usize = 64;
/// How many are passed over, besides, that keep off all nodes with room: those behind are not to wait for these.
pub(super) const PASSED_OVER: usize = 1024;

/// Where a request can be served.
pub(super) struct Place {
    /// Of which kind it is.
    pub kind: TaskKind,
    /// Which of these requests.
    pub turn: Turn,
    /// On which node.
    pub node: u32,
}

/// What is looked through.
pub(super) struct Search<'a> {
    /// The cluster.
    world: &'a World<'a>,
    /// The job.
    job: &'a Job,
    /// The kind of its tasks.
    kind: TaskKind,
    /// Only what hurries?
    hurrying: bool,
    /// The time.
    now: Time,
    /// The first of the nodes with room for such a task.
    roomy: OnceCell<Vec<u32>>,
}

impl<'a> Search<'a> {
    /// Through a job's requests of a kind.
    pub fn new(world: &'a World<'a>, job: &'a Job, kind: TaskKind, now: Time) -> Search<'a> {
        Search { world, job, kind, hurrying: false, now, roomy: OnceCell::new() }
    }

    /// Through those alone that hurry.
    pub fn hurrying(self) -> Search<'a> {
        Search { hurrying: true, ..self }
    }

    /// The first that can be served. A node that has room takes a map whose split it holds before any other, as an ApplicationMaster gives containers to its maps
    /// (RMContainerAllocator, assignMapsWithLocality). In `wakes` the first instant at which one is heard, or one that waits for the nodes that it names, or keeps off
    /// some, may go anywhere.
    pub fn place(&self, wakes: &mut Option<Time>) -> Option<Place> {
        if self.hurrying || !self.asks().look_for_splits() {
            return self
                .look(wakes, |turn, ask, wakes| self.by_name(turn, ask).or_else(|| self.by_chance(turn, ask, wakes)));
        }
        let named = self.look(wakes, |turn, ask, _| self.by_name(turn, ask));
        let near = named.or_else(|| self.near(wakes));
        near.or_else(|| self.look(wakes, |turn, ask, wakes| self.by_chance(turn, ask, wakes)))
    }

    fn tasks(&self) -> &Tasks {
        self.job.of(self.kind)
    }

    fn asks(&self) -> &Asks {
        &self.tasks().asks
    }

    /// What is found of the first of those that are heard.
    fn look(
        &self,
        wakes: &mut Option<Time>,
        found: impl Fn(Turn, &Ask, &mut Option<Time>) -> Option<Place>,
    ) -> Option<Place> {
        let waits =
            |ask: &Ask| self.kind == TaskKind::Reduce && self.job.is_whole() && self.job.has_waiting_maps(ask.copy);
        let mut left = LOOKED_THROUGH;
        let meant = self.asks().turns().take_while(|(_, ask)| ask.hurries || !self.hurrying);
        for (turn, ask) in meant.take(LOOKED_THROUGH + PASSED_OVER) {
            if left == 0 {
                break;
            }
            if self.keeps_off_all(ask) {
                self.wake_when_any_will_do(ask, wakes);
                continue;
            }
            left -= 1;
            if waits(ask) {
                continue;
            }
            let heard = self.world.heard_at(ask);
            if self.now < heard {
                wake(wakes, heard);
            } else if let Some(place) = found(turn, ask, wakes) {
                return Some(place);
            }
        }
        None
    }

    fn by_name(&self, turn: Turn, ask: &Ask) -> Option<Place> {
        let named = ask.prefer.iter().chain(&ask.split).copied().find(|node| self.fits(*node, ask));
        named.map(|node| self.on(turn, node))
    }

    /// One whose split lies on a node with room.
    fn near(&self, wakes: &mut Option<Time>) -> Option<Place> {
        for node in self.roomy().iter().take(LOOKED_THROUGH) {
            for (turn, ask) in self.asks().near(*node).take(LOOKED_THROUGH) {
                let heard = self.world.heard_at(ask);
                if self.now < heard {
                    wake(wakes, heard);
                } else if ask.keeps_off(*node, self.now) {
                    self.wake_when_any_will_do(ask, wakes);
                } else {
                    return Some(self.on(turn, *node));
                }
            }
        }
        None
    }

    fn by_chance(&self, turn: Turn, ask: &Ask, wakes: &mut Option<Time>) -> Option<Place> {
        let from = self.goes_anywhere_from(ask);
        if self.now < from {
            wake(wakes, from);
            return None;
        }
        let fits = |node: u32, ask: &Ask| self.fits(node, ask);
        let node = self.world.anywhere(self.job, self.kind, ask, &fits);
        if node.is_none() {
            self.wake_when_any_will_do(ask, wakes);
        }
        node.map(|node| self.on(turn, node))
    }

    /// Each node reports before a request that names some goes anywhere; and each map that gets to its split has the others wait anew for theirs (delay scheduling).
    fn goes_anywhere_from(&self, ask: &Ask) -> Time {
        let (hadoop, awaited) = (&self.world.scenario.hadoop, self.world.beats.are_awaited());
        let heard = self.world.heard_at(ask);
        if ask.split.is_empty() && (ask.prefer.is_empty() || !awaited) {
            return heard;
        }
        let wait = Millis::from_secs_f64(hadoop.locality_wait);
        let alone = heard + wait.max(hadoop.node_heartbeat());
        let near = self.asks().last_near().filter(|_| !ask.split.is_empty());
        near.map_or(alone, |near| alone.max(near + wait))
    }

    fn on(&self, turn: Turn, node: u32) -> Place {
        Place { kind: self.kind, turn, node }
    }

    fn has_room(&self, node: u32) -> bool {
        self.world.beats.lets(node) && self.world.nodes[node as usize].fits(self.tasks().size)
    }

    fn fits(&self, node: u32, ask: &Ask) -> bool {
        self.has_room(node) && !ask.keeps_off(node, self.now)
    }

    /// The first of the nodes with room, one more than are looked at.
    fn roomy(&self) -> &[u32] {
        self.roomy.get_or_init(|| {
            let roomy = self.world.yarn.open_nodes().filter(|node| self.has_room(*node));
            roomy.take(LOOKED_THROUGH + 1).collect()
        })
    }

    /// Must it not be put on any node with room, of which there are a few?
    fn keeps_off_all(&self, ask: &Ask) -> bool {
        if ask.avoid.is_empty() {
            return false;
        }
        let roomy = self.roomy();
        (1..=LOOKED_THROUGH).contains(&roomy.len()) && roomy.iter().all(|node| ask.keeps_off(*node, self.now))
    }

    fn wake_when_any_will_do(&self, ask: &Ask, wakes: &mut Option<Time>) {
        if ask.avoid.iter().any(|node| self.has_room(*node)) {
            ask.takes_any_from().into_iter().for_each(|at| wake(wakes, at));
        }
    }
}

fn wake(wakes: &mut Option<Time>, at: Time) {
    *wakes = Some(wakes.map_or(at, |known| known.min(at)));
}

impl World<'_> {
    /// A node with room: the one that reports, or one drawn for that attempt.
    fn anywhere(&self, job: &Job, kind: TaskKind, ask: &Ask, fits: &dyn Fn(u32, &Ask) -> bool) -> Option<u32> {
        if let Some(node) = self.beats.node() {
            return fits(node, ask).then_some(node);
        }
        // Each that fits is as likely as any other: the next one in line would be so much the likelier for those before it that do not fit.
        let (of_job, key) = (job.of.key(), task_key(kind, ask.index));
        let mut draw = self.draws.of(Purpose::Place, [of_job, key, u64::from(ask.number) + 1]);
        let drawn = self.yarn.nth_open(draw.below(self.yarn.open()));
        drawn.filter(|node| fits(*node, ask)).or_else(|| {
            let fitting: Vec<u32> = self.yarn.open_nodes().filter(|node| fits(*node, ask)).collect();
            fitting.get(draw.below(fitting.len())).copied()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::ideal::{Actor, Ideal};
    use super::super::job::{Origin, START};
    use super::super::replicas::replicas;
    use super::super::scenario::Scenario;
    use super::super::watch::{AttemptRow, Watch};
    use super::super::world::run_watching;
    use super::*;
    use crate::engine::EngineParams;
    use crate::policy::PolicyName;

    #[test]
    fn of_the_nodes_with_room_each_is_as_likely_and_not_the_one_that_follows_many_without() {
        let json = r#"{"cluster": {"nodes": 20}, "jobs": [{"name": "a", "maps": {"tasks": 1}}]}"#;
        let scenario: Scenario = serde_json::from_str(json).unwrap();
        let world = World::new(&scenario, Actor::Ideal(Ideal::NoSkew), 1);
        let job = Job::new(&scenario, &world.draws, 0, Origin::Group(0, 0), 0, START);
        let of = |number, fits: &dyn Fn(u32, &Ask) -> bool| {
            world.anywhere(&job, TaskKind::Map, &Ask { number, ..Ask::of(0, START) }, fits)
        };
        let first = (0..200).filter(|number| of(*number, &|node, _| node < 2) == Some(0)).count();
        assert!((70..=130).contains(&first), "{first} of 200 on the first of two");
        assert_eq!(of(0, &|_, _| false), None);
    }

    /// The share of the maps' attempts that ran on nodes with their splits, of 400 on 40 nodes with a container each.
    fn near_their_splits(hadoop: &str) -> f64 {
        let json = format!(
            r#"{{"cluster": {{"nodes": 40, "memory_mb": 1024}}, "hadoop": {{"remote_slower": 2, {hadoop}}},
                "jobs": [{{"name": "a", "maps": {{"tasks": 400, "work": {{"uniform": {{"low": 5, "high": 15}}}}}}}}]}}"#
        );
        let scenario: Scenario = serde_json::from_str(&json).unwrap();
        let world = World::new(&scenario, Actor::Ideal(Ideal::NoSkew), 1);
        let job = Job::new(&scenario, &world.draws, 0, Origin::Group(0, 0), 0, START);
        let mut watch = Watch::new("a", 0, 1000);
        let none = EngineParams { policy: PolicyName::None, ..EngineParams::default() };
        run_watching(&scenario, none, 1, &mut watch).unwrap();
        let is_near = |row: &&AttemptRow| replicas(&scenario, &world.draws, &job, row.task).contains(&row.node);
        watch.rows().filter(is_near).count() as f64 / watch.rows().count() as f64
    }

    #[test]
    fn a_node_that_falls_free_takes_a_map_whose_split_it_holds_wherever_that_stands_in_line() {
        // Without delay, as much as a free node's choice alone makes of it: of 400 maps 30 lie on each node.
        for (hadoop, least) in
            [(r#""locality_wait": 0"#, 0.8), (r#""node_heartbeat": 1"#, 0.8), (r#""locality_wait": 5"#, 0.95)]
        {
            let near = near_their_splits(hadoop);
            assert!((least..=1.0).contains(&near), "{near} with {hadoop}");
        }
    }

    #[test]
    fn requests_that_keep_off_all_nodes_with_room_do_not_hold_up_those_behind() {
        let json = r#"{"cluster": {"nodes": 1}, "jobs": [{"name": "a", "maps": {"tasks": 100}}]}"#;
        let scenario: Scenario = serde_json::from_str(json).unwrap();
        let mut world = World::new(&scenario, Actor::Ideal(Ideal::NoSkew), 1);
        world.jobs.insert(0, Job::new(&scenario, &world.draws, 0, Origin::Group(0, 0), 0, START));
        world.begin_phases(0, START);
        let asks = &mut world.jobs.get_mut(&0).unwrap().of_mut(TaskKind::Map).asks;
        asks.iter_mut().take(99).for_each(|ask| (ask.avoid, ask.is_copy) = (vec![0], true));
        world.serve(START);
        let placed: Vec<u32> = world.jobs[&0].live.iter().map(|key| world.attempts.get(*key).index).collect();
        assert_eq!(placed, [99]);
    }

    #[test]
    fn reduces_come_before_the_maps_behind_one_that_hurries() {
        let json = r#"{"cluster": {"nodes": 1, "memory_mb": 2048}, "hadoop": {"slow_start": 0},
            "jobs": [{"name": "a", "maps": {"tasks": 3}, "reduces": {"tasks": 1}}]}"#;
        let scenario: Scenario = serde_json::from_str(json).unwrap();
        let mut world = World::new(&scenario, Actor::Ideal(Ideal::NoSkew), 1);
        let mut job = Job::new(&scenario, &world.draws, 0, Origin::Group(0, 0), 0, START);
        for (kind, index, hurries) in
            [(TaskKind::Map, 0, false), (TaskKind::Map, 1, true), (TaskKind::Reduce, 0, false)]
        {
            job.ask(kind, Ask { hurries, ..Ask::of(index, START) }, false);
        }
        job.of_mut(TaskKind::Map).finished = 3;
        world.jobs.insert(0, job);
        world.yarn.seat(&world.jobs[&0]);
        world.serve(START);
        let placed = world.jobs[&0].live.iter().map(|key| world.attempts.get(*key)).map(|one| (one.kind, one.index));
        assert_eq!(placed.collect::<Vec<_>>(), [(TaskKind::Map, 1), (TaskKind::Reduce, 0)]);
    }
}
