//! NodeManagers that report every so often: a ResourceManager gives one container at most at a report, on the node that reports (CapacityScheduler without asynchronous
//! scheduling: `yarn.scheduler.capacity.per-node-heartbeat.maximum-offswitch-assignments` is 1, or `multiple-assignments-enabled` turned off there). So tasks that ask together are
//! spread over the nodes in turn, and a copy goes to the next that reports and has room.

use super::draw::{Draws, Purpose};
use super::job::START;
use super::scenario::Scenario;
use super::world::{Event, World};
use crate::model::{Millis, Time};

/// Whose turn it is. Each node reports at instants of its own, drawn by the seed.
#[derive(Debug)]
pub(super) struct Beats {
    every: Millis,
    /// Nodes in the order in which they report, and when, from the start.
    order: Vec<(Millis, u32)>,
    /// The report in the calendar: when, and of which in that order.
    next: Option<(Time, usize)>,
    /// The last report.
    last: Option<(Time, usize)>,
    /// Nodes that report now, out of turn.
    told: Vec<u32>,
    /// The node that reports now.
    node: Option<u32>,
    /// Reports in a row, of nodes with room for the smallest container, at which nothing was given.
    idle: usize,
}

impl Beats {
    pub(super) fn new(scenario: &Scenario, draws: &Draws) -> Beats {
        let every = scenario.hadoop.node_heartbeat();
        let first = |node: u32| {
            let share = draws.of(Purpose::Heartbeat, [node.into(), 0, 0]).uniform();
            (Millis((share * every.0 as f64) as u64), node)
        };
        let nodes = if every == Millis(0) { 0..0 } else { 0..scenario.cluster.nodes };
        let mut order: Vec<_> = nodes.map(first).collect();
        order.sort_unstable();
        Beats { every, order, next: None, last: None, told: Vec::new(), node: None, idle: 0 }
    }

    /// Are containers given at reports alone?
    pub(super) fn are_awaited(&self) -> bool {
        !self.order.is_empty()
    }

    /// A container has ended on a node, which is told at once (NodeStatusUpdaterImpl, sendOutofBandHeartBeat).
    pub(super) fn speaks_up(&mut self, node: u32) {
        if self.are_awaited() && !self.told.contains(&node) {
            self.told.push(node);
        }
    }

    /// May a container be put on a node now?
    pub(super) fn lets(&self, node: u32) -> bool {
        self.node.is_none_or(|reports| reports == node)
    }

    /// The node that reports now, where containers are given at reports.
    pub(super) fn node(&self) -> Option<u32> {
        self.node
    }

    /// The next report of a node that `may`, from the nth of a round on.
    fn from(&self, nth: usize, round: Time, may: impl Fn(u32) -> bool) -> Option<(Time, usize)> {
        let many = self.order.len();
        (nth..nth + many).find_map(|nth| {
            let (after, node) = self.order[nth % many];
            may(node).then(|| (round + after + Millis(self.every.0 * (nth / many) as u64), nth % many))
        })
    }

    /// The first report of all that is still to come, and when its round began.
    fn at(&self, now: Time) -> (usize, Time) {
        let into = Millis(now.since(START).0 % self.every.0);
        let passed = self.last.filter(|(at, _)| *at == now).map_or(0, |(_, nth)| nth + 1);
        (self.order.partition_point(|(after, _)| *after < into).max(passed), Time(now.0 - into.0))
    }
}

impl World<'_> {
    /// Room or requests have changed: nodes whose containers have ended report, and the next report at which a container may be given is awaited.
    pub(super) fn await_beat(&mut self, now: Time) {
        loop {
            for node in std::mem::take(&mut self.beats.told) {
                self.give_one(node, now);
            }
            if !self.make_way(now) {
                break;
            }
        }
        self.beats.idle = 0;
        let (nth, round) = self.beats.at(now);
        self.await_from(nth, round);
    }

    fn await_from(&mut self, nth: usize, round: Time) {
        let next = self.beats.from(nth, round, |node| self.yarn.is_open(node)).filter(|_| self.yarn.is_busy());
        let is_sooner = |next: &(Time, usize)| self.beats.next.is_none_or(|known| *next < known);
        if let Some(next) = next.filter(is_sooner) {
            self.beats.next = Some(next);
            self.calendar.enter(next.0, Event::Beat(next.1 as u32));
        }
    }

    /// A node that reports is given a container, if there is one for it. How many were there?
    fn give_one(&mut self, node: u32, now: Time) -> usize {
        self.beats.node = Some(node);
        let given = self.serve_some(1, now);
        self.beats.node = None;
        given
    }

    /// A node reports. After a round of reports at which nothing was given nothing will be until something changes.
    pub(super) fn beat(&mut self, nth: u32, now: Time) {
        let nth = nth as usize;
        if self.beats.next != Some((now, nth)) {
            return;
        }
        self.beats.last = self.beats.next.take();
        let node = self.beats.order[nth].1;
        let is_open = self.yarn.is_open(node);
        if self.give_one(node, now) > 0 {
            self.beats.idle = 0;
            // What has been given may have been the last place that a map could have had.
            self.make_way(now);
        } else {
            self.beats.idle += usize::from(is_open);
        }
        if self.beats.idle < self.yarn.open() {
            self.await_from(nth + 1, Time(now.0 - self.beats.order[nth].0.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_of_which_several_containers_end_at_once_reports_once() {
        let told = |every: f64| {
            let json = format!(r#"{{"hadoop": {{"node_heartbeat": {every}}}}}"#);
            let mut beats = Beats::new(&serde_json::from_str(&json).unwrap(), &Draws::new(1));
            [2, 1, 2].into_iter().for_each(|node| beats.speaks_up(node));
            beats.told
        };
        assert_eq!((told(1.0), told(0.0)), (vec![2, 1], vec![]));
    }
}
