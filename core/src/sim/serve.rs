//! Containers for those who wait.

use super::job::Job;
use super::place::{Place, Search};
use super::replicas::{replicas, splits_matter};
use super::task::{Ask, Task, Tasks};
use super::world::{Event, World};
use super::yarn::Aside;
use crate::model::{Millis, TaskKind, Time};

impl World<'_> {
    /// Gives out containers until nobody can be served any more, or sees to it that they are at nodes' reports. Reduces make way for maps of their job that have to run again:
    /// without these they would wait for ever.
    pub(super) fn serve(&mut self, now: Time) {
        if self.beats.are_awaited() {
            return self.await_beat(now);
        }
        loop {
            self.serve_some(usize::MAX, now);
            if !self.make_way(now) {
                return;
            }
        }
    }

    /// Gives out so many containers at most. How many were there?
    pub(super) fn serve_some(&mut self, most: usize, now: Time) -> usize {
        let (mut aside, mut given) = (Aside::default(), 0);
        while given < most && self.yarn.is_busy() {
            let Some(number) = self.yarn.next(&aside) else { break };
            let mut wakes = None;
            self.learn_splits(number);
            match self.jobs.get(&number).and_then(|job| self.place(job, now, &mut wakes)) {
                Some(place) => {
                    self.give(number, &place, now);
                    given += 1;
                }
                None => {
                    self.yarn.set_aside(number, &mut aside);
                    wakes.into_iter().for_each(|at| self.look_again(at));
                }
            }
        }
        given
    }

    /// Those who wait are looked at then, if not before.
    pub(super) fn look_again(&mut self, at: Time) {
        if self.unwaits.is_none_or(|known| at < known) {
            self.unwaits = Some(at);
            self.calendar.enter(at, Event::Unwait);
        }
    }

    /// When the ResourceManager hears of a request.
    pub(super) fn heard_at(&self, ask: &Ask) -> Time {
        ask.since + Millis::from_secs_f64(self.scenario.hadoop.ask)
    }

    fn give(&mut self, number: u32, place: &Place, now: Time) {
        let Some(job) = self.jobs.get_mut(&number) else { return };
        let asks = &mut job.of_mut(place.kind).asks;
        let Some(ask) = asks.take(place.turn) else { return };
        if ask.split.contains(&place.node) {
            asks.served_near(now);
        }
        self.allocate(number, place.kind, &ask, place.node, now);
        if let Some(job) = self.jobs.get(&number) {
            self.yarn.seat(job);
        }
    }

    /// Looks up where the splits lie of a job's maps that were asked for since.
    fn learn_splits(&mut self, number: u32) {
        let job = self.jobs.get_mut(&number).filter(|job| job.of(TaskKind::Map).asks.has_to_learn());
        let Some(job) = job else { return };
        let mut asks = std::mem::take(&mut job.of_mut(TaskKind::Map).asks);
        let job = &self.jobs[&number];
        asks.learn(|ask| {
            let seeks = !ask.hurries && self.seeks_split(job.task(TaskKind::Map, ask.index));
            if seeks { replicas(self.scenario, &self.draws, job, ask.index) } else { Vec::new() }
        });
        if let Some(job) = self.jobs.get_mut(&number) {
            job.of_mut(TaskKind::Map).asks = asks;
        }
    }

    /// Where one of a job's requests can be served: maps that hurry first, then reduces where they may be, as Hadoop asks for them with priority, then the other maps. In
    /// `wakes` the first instant at which that could be, if it is known.
    fn place(&self, job: &Job, now: Time, wakes: &mut Option<Time>) -> Option<Place> {
        let headroom = self.yarn.headroom_mb(job.queue);
        let is_open = |kind| {
            let tasks: &Tasks = job.of(kind);
            !tasks.asks.is_empty() && tasks.size.memory_mb <= headroom
        };
        let hurries = || job.of(TaskKind::Map).asks.front().is_some_and(|ask| ask.hurries);
        let maps = is_open(TaskKind::Map);
        let reduces = || is_open(TaskKind::Reduce) && self.may_ramp_up(job, headroom);
        let search = |kind| Search::new(self, job, kind, now);
        if maps
            && hurries()
            && let Some(place) = search(TaskKind::Map).hurrying().place(wakes)
        {
            return Some(place);
        }
        if reduces()
            && let Some(place) = search(TaskKind::Reduce).place(wakes)
        {
            return Some(place);
        }
        if maps { search(TaskKind::Map).place(wakes) } else { None }
    }

    /// Is another attempt of a map to run where its split lies, if it can? Where it is all the same to all, no replica is looked up.
    pub(super) fn seeks_split(&self, map: &Task) -> bool {
        !map.hurries && splits_matter(self.scenario, map.input.0 > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::attempt::{Attempt, Stage};
    use super::super::draw::Purpose;
    use super::super::ideal::{Actor, Ideal};
    use super::super::job::{Origin, START};
    use super::super::scenario::Scenario;
    use super::super::task::task_key;
    use super::*;

    /// When those who wait are looked at again, from the start, in the 10th second of a job of so many maps on one node, whose requests are changed first.
    fn looked_at(maps: u32, ask: f64, change: impl Fn(&mut Ask)) -> Option<u64> {
        let json = format!(
            r#"{{"cluster": {{"nodes": 1}}, "hadoop": {{"ask": {ask}}}, "jobs": [{{"name": "a", "maps": {{"tasks": {maps}}}}}]}}"#
        );
        let scenario: Scenario = serde_json::from_str(&json).unwrap();
        let mut world = World::new(&scenario, Actor::Ideal(Ideal::NoSkew), 1);
        world.jobs.insert(0, Job::new(&scenario, &world.draws, 0, Origin::Group(0, 0), 0, START));
        world.begin_phases(0, START);
        world.jobs.get_mut(&0).unwrap().of_mut(TaskKind::Map).asks.iter_mut().for_each(change);
        world.serve(START + Millis(10_000));
        world.unwaits.map(|at| at.since(START).0)
    }

    /// How many times longer the only map of a job takes that is asked for on a node which has its split, or on one of the others; three times elsewhere than with it.
    fn slower_on(nodes: u32, has_split: bool, change: impl Fn(&mut Job, u32)) -> f64 {
        let json = format!(
            r#"{{"cluster": {{"nodes": {nodes}}}, "hadoop": {{"replicas": 1, "remote_slower": 3}}, "jobs": [{{"name": "a", "maps": {{"tasks": 1}}}}]}}"#
        );
        let scenario: Scenario = serde_json::from_str(&json).unwrap();
        let mut world = World::new(&scenario, Actor::Ideal(Ideal::NoSkew), 1);
        world.jobs.insert(0, Job::new(&scenario, &world.draws, 0, Origin::Group(0, 0), 0, START));
        world.begin_phases(0, START);
        let job = world.jobs.get_mut(&0).unwrap();
        let holders = replicas(&scenario, &world.draws, job, 0);
        let node = (0..nodes).find(|node| holders.contains(node) == has_split).unwrap();
        change(job, node);
        world.serve(START);
        let attempt = world.attempts.get(*world.jobs[&0].live.first().unwrap());
        assert_eq!(attempt.node, node);
        attempt.factor
    }

    fn first_of(job: &mut Job) -> &mut Ask {
        job.of_mut(TaskKind::Map).asks.iter_mut().next().unwrap()
    }

    #[test]
    fn a_map_on_a_node_with_its_split_is_not_slower_for_having_been_put_there_by_name_or_by_chance() {
        let by_name = |job: &mut Job, node| first_of(job).prefer = vec![node];
        assert_eq!([slower_on(4, true, by_name), slower_on(4, false, by_name)], [1.0, 3.0]);
        // After a failure it is asked for anywhere, which with one node is there.
        assert_eq!(slower_on(1, true, |job, _| first_of(job).hurries = true), 1.0);
    }

    #[test]
    fn how_long_a_container_is_on_its_way_is_drawn_apart_from_where_that_of_the_attempt_before_was_put() {
        let json = r#"{"hadoop": {"allocate": {"uniform": {"low": 0, "high": 1}}}, "jobs": [{"name": "a", "maps": {"tasks": 50}}]}"#;
        let scenario: Scenario = serde_json::from_str(json).unwrap();
        let world = World::new(&scenario, Actor::Ideal(Ideal::NoSkew), 1);
        let job = Job::new(&scenario, &world.draws, 0, Origin::Group(0, 0), 0, START);
        let is_same = |index: &u32| {
            let second = Attempt::new(0, TaskKind::Map, *index, 1, true, 0, START);
            let of_first = [job.of.key(), task_key(TaskKind::Map, *index), 1];
            let put = world.draws.of(Purpose::Place, of_first).uniform();
            (world.whole(&job, &second, Stage::Waiting) / 1e3 - put).abs() < 1e-3
        };
        assert!((0..50).filter(is_same).count() < 5);
    }

    #[test]
    fn a_phase_without_tasks_says_nothing_of_what_has_to_fit() {
        let json = r#"{"cluster": {"nodes": 1, "memory_mb": 3072}, "jobs": [{"name": "a", "maps": {"tasks": 1, "memory_mb": 2048}}]}"#;
        let scenario: Scenario = serde_json::from_str(json).unwrap();
        let mut world = World::new(&scenario, Actor::Ideal(Ideal::NoSkew), 1);
        world.jobs.insert(0, Job::new(&scenario, &world.draws, 0, Origin::Group(0, 0), 0, START));
        world.begin_phases(0, START);
        world.serve(START);
        assert_eq!(world.yarn.open(), 0, "what is left holds a reduce, of which there is none");
    }

    #[test]
    fn those_who_wait_are_looked_at_when_the_first_of_them_may_be_served_and_not_the_first_in_line() {
        let asked = |ask: &mut Ask| ask.since = START + Millis(9_000 - 2_000 * u64::from(ask.index));
        assert_eq!(looked_at(3, 6.0, asked), Some(11_000));
    }

    #[test]
    fn what_keeps_off_the_only_node_with_room_is_looked_at_when_it_takes_any() {
        assert_eq!(looked_at(1, 0.0, |ask| ask.avoid = vec![0]), Some(3_600_000));
        assert_eq!(looked_at(1, 0.0, |ask| (ask.avoid, ask.is_copy) = (vec![0], true)), None);
        assert_eq!(looked_at(1, 0.0, |_| {}), None);
    }
}
