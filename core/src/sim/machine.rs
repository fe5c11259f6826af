//! Nodes: what they offer, what runs on them, how slow they are now.

use super::attempt::AttemptKey;
use super::links::rack_name;
use crate::model::{Name, Resources, Time};

/// A time in which a node loses outputs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Losing {
    /// Number of the trouble.
    pub which: u32,
    /// Which of its times on the node.
    pub nth: u32,
    /// Share of the outputs, 0–1.
    pub share: f64,
    /// Since when.
    pub from: Time,
    /// Until when; `None` while it lasts.
    pub until: Option<Time>,
}

/// A node.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Host name.
    pub host: Name,
    /// Its rack.
    pub rack: u32,
    /// The same by name.
    pub rack_name: Name,
    /// What it offers.
    pub total: Resources,
    /// What its containers hold.
    pub used: Resources,
    /// Attempts whose containers it has.
    pub attempts: Vec<AttemptKey>,
    /// How many times longer than a healthy node it takes, for good.
    own: f64,
    /// What it takes longer for now: the number of the trouble and its factor.
    troubles: Vec<(u32, f64)>,
    /// Troubles for which it is lost now.
    lost: u32,
    /// Times in which it loses outputs, or lost some that may still be read.
    pub losing: Vec<Losing>,
    /// Containers that came where they did not fit: a fault of the simulator's.
    pub overfilled: u32,
    /// Container-milliseconds up to `since`.
    held_ms: u64,
    since: Time,
}

impl Machine {
    /// A node with nothing on it.
    pub fn new(number: u32, racks: u32, total: Resources, own: f64, start: Time) -> Machine {
        let rack = number % racks.max(1);
        Machine {
            host: format!("n{number}").into(),
            rack,
            rack_name: rack_name(rack).into(),
            total,
            used: Resources::default(),
            attempts: Vec::new(),
            own,
            troubles: Vec::new(),
            lost: 0,
            losing: Vec::new(),
            overfilled: 0,
            held_ms: 0,
            since: start,
        }
    }

    /// How many times longer than on a healthy node work takes here now.
    pub fn slower(&self) -> f64 {
        self.troubles.iter().fold(self.own, |all, (_, factor)| all * factor)
    }

    /// Is it there?
    pub fn is_up(&self) -> bool {
        self.lost == 0
    }

    /// Would a container of that size fit beside those it has?
    pub fn fits(&self, size: Resources) -> bool {
        let beside = |used: u64, asked: u64, total: u64| used + asked <= total;
        self.is_up()
            && beside(self.used.memory_mb, size.memory_mb, self.total.memory_mb)
            && beside(self.used.vcores.into(), size.vcores.into(), self.total.vcores.into())
    }

    /// Memory that no container holds, mebibytes.
    pub fn free_mb(&self) -> u64 {
        if self.is_up() { self.total.memory_mb - self.used.memory_mb } else { 0 }
    }

    /// A container comes.
    pub fn take(&mut self, attempt: AttemptKey, size: Resources, now: Time) {
        self.overfilled += u32::from(!self.fits(size));
        self.count(now);
        self.attempts.push(attempt);
        self.used.memory_mb += size.memory_mb;
        self.used.vcores += size.vcores;
    }

    /// A container goes.
    pub fn give_back(&mut self, attempt: AttemptKey, size: Resources, now: Time) {
        self.count(now);
        if let Some(place) = self.attempts.iter().position(|known| *known == attempt) {
            self.attempts.swap_remove(place);
            self.used.memory_mb -= size.memory_mb;
            self.used.vcores -= size.vcores;
        }
    }

    fn count(&mut self, now: Time) {
        self.held_ms = self.held_ms(now);
        self.since = now;
    }

    /// Container-milliseconds until `now`.
    pub fn held_ms(&self, now: Time) -> u64 {
        self.held_ms + self.attempts.len() as u64 * now.since(self.since).0
    }

    /// A trouble begins.
    pub fn suffer(&mut self, trouble: u32, slower: f64, lost: bool) {
        self.troubles.push((trouble, slower));
        self.lost += u32::from(lost);
    }

    /// A trouble ends.
    pub fn recover(&mut self, trouble: u32, lost: bool) {
        self.troubles.retain(|(known, _)| *known != trouble);
        self.lost -= u32::from(lost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Resources = Resources { memory_mb: 1024, vcores: 1 };

    fn machine() -> Machine {
        Machine::new(5, 2, Resources { memory_mb: 2048, vcores: 8 }, 1.5, Time(0))
    }

    #[test]
    fn containers_fit_up_to_what_it_offers_and_none_while_it_is_lost() {
        let mut node = machine();
        assert!(node.fits(SIZE) && !node.fits(Resources { memory_mb: 1, vcores: 9 }));
        node.take(AttemptKey(0), SIZE, Time(0));
        node.take(AttemptKey(1), SIZE, Time(0));
        assert!(!node.fits(SIZE));
        node.give_back(AttemptKey(0), SIZE, Time(0));
        assert!(node.fits(SIZE));
        node.suffer(3, 1.0, true);
        assert!(!node.fits(SIZE));
        node.recover(3, true);
        assert!(node.fits(SIZE));
    }

    #[test]
    fn a_container_beyond_memory_or_cores_and_one_on_a_lost_node_are_counted() {
        let mut node = machine();
        (0..2).for_each(|key| node.take(AttemptKey(key), SIZE, Time(0)));
        assert_eq!(node.overfilled, 0);
        node.take(AttemptKey(2), SIZE, Time(0));
        assert_eq!(node.overfilled, 1);
        let mut node = machine();
        node.take(AttemptKey(0), Resources { memory_mb: 1, vcores: 9 }, Time(0));
        assert_eq!(node.overfilled, 1);
        let mut node = machine();
        node.suffer(3, 1.0, true);
        node.take(AttemptKey(0), SIZE, Time(0));
        assert_eq!(node.overfilled, 1);
    }

    #[test]
    fn troubles_add_to_what_it_is_for_good_and_go_one_by_one() {
        let mut node = machine();
        node.suffer(1, 2.0, false);
        node.suffer(2, 4.0, false);
        assert_eq!(node.slower(), 12.0);
        node.recover(1, false);
        assert_eq!(node.slower(), 6.0);
    }

    #[test]
    fn each_container_counts_for_as_long_as_it_is_there() {
        let mut node = machine();
        node.take(AttemptKey(0), SIZE, Time(1_000));
        node.take(AttemptKey(1), SIZE, Time(2_000));
        node.give_back(AttemptKey(0), SIZE, Time(5_000));
        assert_eq!(node.held_ms(Time(6_000)), 4_000 + 4_000);
    }
}
