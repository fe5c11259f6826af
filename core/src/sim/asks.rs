//! The requests for containers that a job's tasks of one kind have out, and where the maps' splits lie that wait.

use super::task::Ask;
use crate::model::Time;
use std::collections::{BTreeMap, BTreeSet};

/// When a request has its turn: what hurries before what was asked for out of turn, the newest first, and that before all that stand in line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Turn(Rank, i64);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Hurries,
    First,
    InLine,
}

impl Turn {
    const FIRST: Turn = Turn(Rank::Hurries, i64::MIN);
    const LAST: Turn = Turn(Rank::InLine, i64::MAX);
}

/// Requests by their turns.
#[derive(Debug, Clone, Default)]
pub struct Asks {
    waiting: BTreeMap<Turn, Ask>,
    /// How many were ever put among these.
    put: i64,
    /// Do they go to their splits, where they can?
    by_split: bool,
    /// Is the newest first of those that hurry? Of reduces it is, of maps not (RMContainerAllocator: pendingReduces.addFirst, earlierFailedMaps.add).
    newest_first: bool,
    /// Those of which it has still to be told where their splits lie.
    unlearnt: Vec<Turn>,
    /// By the nodes that hold their splits.
    near: BTreeSet<(u32, Turn)>,
    /// When one was last served on such a node.
    served_near: Option<Time>,
}

impl Asks {
    /// None, of maps, which may go to their splits where they can.
    pub fn of_maps(by_split: bool) -> Asks {
        Asks { by_split, ..Asks::default() }
    }

    /// None, of reduces.
    pub fn of_reduces() -> Asks {
        Asks { newest_first: true, ..Asks::default() }
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Does none wait?
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// In the order of their turns.
    pub fn iter(&self) -> impl Iterator<Item = &Ask> {
        self.waiting.values()
    }

    /// With these.
    pub fn turns(&self) -> impl Iterator<Item = (Turn, &Ask)> {
        self.waiting.iter().map(|(turn, ask)| (*turn, ask))
    }

    /// To be changed; not in whether they hurry.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Ask> {
        self.waiting.values_mut()
    }

    /// The one whose turn is next.
    pub fn front(&self) -> Option<&Ask> {
        self.waiting.first_key_value().map(|(_, ask)| ask)
    }

    /// Puts one in line, or before it.
    pub fn put(&mut self, ask: Ask, first: bool) {
        self.put += 1;
        let turn = match (ask.hurries, first) {
            (true, _) => Turn(Rank::Hurries, if self.newest_first { -self.put } else { self.put }),
            (false, true) => Turn(Rank::First, -self.put),
            (false, false) => Turn(Rank::InLine, self.put),
        };
        if self.by_split && !ask.hurries {
            self.unlearnt.push(turn);
        }
        self.waiting.insert(turn, ask);
    }

    /// Takes one out.
    pub fn take(&mut self, turn: Turn) -> Option<Ask> {
        let ask = self.waiting.remove(&turn)?;
        for node in &ask.split {
            self.near.remove(&(*node, turn));
        }
        Some(ask)
    }

    /// Takes out all but some.
    pub fn retain(&mut self, stays: impl Fn(&Ask) -> bool) {
        let go: Vec<Turn> = self.turns().filter(|(_, ask)| !stays(ask)).map(|(turn, _)| turn).collect();
        go.into_iter().for_each(|turn| drop(self.take(turn)));
    }

    /// Puts all in another order, those that hurry still before the others.
    pub fn sort_by_key<K: Ord>(&mut self, key: impl Fn(&Ask) -> K) {
        let mut all: Vec<Ask> = std::mem::take(&mut self.waiting).into_values().collect();
        all.sort_by_key(|ask| key(ask));
        self.unlearnt.clear();
        self.near.clear();
        let (mut hurrying, others): (Vec<Ask>, Vec<Ask>) = all.into_iter().partition(|ask| ask.hurries);
        if self.newest_first {
            hurrying.reverse();
        }
        hurrying.into_iter().chain(others).for_each(|ask| self.put(ask, false));
    }

    /// Notes where the splits lie of those that were put there since: nowhere in particular, of some.
    pub fn learn(&mut self, splits: impl Fn(&Ask) -> Vec<u32>) {
        for turn in std::mem::take(&mut self.unlearnt) {
            let Some(ask) = self.waiting.get_mut(&turn) else { continue };
            ask.split = splits(ask);
            self.near.extend(ask.split.iter().map(|node| (*node, turn)));
        }
    }

    /// Is there one of which that has to be told?
    pub fn has_to_learn(&self) -> bool {
        !self.unlearnt.is_empty()
    }

    /// Does any look for its split?
    pub fn look_for_splits(&self) -> bool {
        !self.near.is_empty()
    }

    /// Those whose splits lie on a node.
    pub fn near(&self, node: u32) -> impl Iterator<Item = (Turn, &Ask)> {
        let there = self.near.range((node, Turn::FIRST)..=(node, Turn::LAST));
        there.filter_map(|(_, turn)| Some((*turn, self.waiting.get(turn)?)))
    }

    /// One was served on a node with its split.
    pub fn served_near(&mut self, now: Time) {
        self.served_near = Some(now);
    }

    /// When that was last.
    pub fn last_near(&self) -> Option<Time> {
        self.served_near
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Time = Time(0);

    fn in_turn(asks: &Asks) -> Vec<u32> {
        asks.iter().map(|ask| ask.index).collect()
    }

    fn put(asks: &mut Asks, index: u32, hurries: bool, first: bool) {
        asks.put(Ask { hurries, ..Ask::of(index, AT) }, first);
    }

    #[test]
    fn of_two_that_hurry_the_first_is_first_and_of_two_out_of_turn_the_last() {
        let mut asks = Asks::of_maps(false);
        for (index, hurries, first) in [
            (0, false, false),
            (1, true, false),
            (2, false, true),
            (3, true, true),
            (4, false, true),
            (5, false, false),
        ] {
            put(&mut asks, index, hurries, first);
        }
        assert_eq!(in_turn(&asks), [1, 3, 4, 2, 0, 5]);
        asks.sort_by_key(|ask| std::cmp::Reverse(ask.index));
        assert_eq!(in_turn(&asks), [3, 1, 5, 4, 2, 0]);
        asks.retain(|ask| ask.index % 2 == 0);
        assert_eq!(in_turn(&asks), [4, 2, 0]);
    }

    #[test]
    fn of_two_reduces_that_hurry_the_last_is_first_and_stays_so_in_another_order() {
        let mut asks = Asks::of_reduces();
        (0..3).for_each(|index| put(&mut asks, index, index > 0, false));
        assert_eq!(in_turn(&asks), [2, 1, 0]);
        asks.sort_by_key(|_| 0);
        assert_eq!(in_turn(&asks), [2, 1, 0]);
    }

    #[test]
    fn what_was_served_or_taken_back_is_near_no_node_and_what_was_put_in_another_order_still_is() {
        let mut asks = Asks::of_maps(true);
        (0..4).for_each(|index| put(&mut asks, index, index == 3, false));
        let splits = |ask: &Ask| vec![ask.index, 9];
        asks.learn(splits);
        let near = |asks: &Asks, node| asks.near(node).map(|(_, ask)| ask.index).collect::<Vec<_>>();
        assert_eq!([near(&asks, 9), near(&asks, 1), near(&asks, 3)], [vec![0, 1, 2], vec![1], vec![]]);
        let first = asks.near(9).next().unwrap().0;
        assert_eq!(asks.take(first).unwrap().index, 0);
        asks.retain(|ask| ask.index != 1);
        assert_eq!([near(&asks, 9), near(&asks, 0), near(&asks, 1)], [vec![2], vec![], vec![]]);
        put(&mut asks, 0, false, false);
        asks.sort_by_key(|ask| ask.index);
        asks.learn(splits);
        assert_eq!(near(&asks, 9), [0, 2]);
    }
}
