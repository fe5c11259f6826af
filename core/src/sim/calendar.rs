//! What is still to happen, in order of time.

use crate::model::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Events to come. Of those at one instant the one that was entered first comes first, so that a run is the same every time.
#[derive(Debug)]
pub struct Calendar<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    entered: u64,
    now: Time,
}

#[derive(Debug)]
struct Entry<E> {
    at: Time,
    nth: u64,
    event: E,
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.nth) == (other.at, other.nth)
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.nth).cmp(&(other.at, other.nth))
    }
}

impl<E> Calendar<E> {
    /// An empty one that begins at `start`.
    pub fn new(start: Time) -> Calendar<E> {
        Calendar { heap: BinaryHeap::new(), entered: 0, now: start }
    }

    /// The instant of the event that came last.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Enters an event.
    ///
    /// # Panics
    /// On one in the past: a simulation that goes back in time is wrong from there on.
    pub fn enter(&mut self, at: Time, event: E) {
        assert!(at >= self.now, "an event at {at:?}, before {:?}", self.now);
        self.entered += 1;
        self.heap.push(Reverse(Entry { at, nth: self.entered, event }));
    }

    /// Is any event to come of that kind? One pass over all.
    pub fn any(&self, of: impl Fn(&E) -> bool) -> bool {
        self.heap.iter().any(|Reverse(entry)| of(&entry.event))
    }

    /// The instant of the next event.
    pub fn next_at(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse(entry)| entry.at)
    }

    /// The next event, whose instant is now.
    pub fn next(&mut self) -> Option<(Time, E)> {
        let Reverse(Entry { at, event, .. }) = self.heap.pop()?;
        self.now = at;
        Some((at, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn events_come_in_order_of_time_and_those_of_one_instant_as_they_were_entered(times in prop::collection::vec(0..20_u64, 0..60)) {
            let mut calendar = Calendar::new(Time(0));
            times.iter().enumerate().for_each(|(nth, at)| calendar.enter(Time(*at), nth));
            let mut came = Vec::new();
            while let Some((at, nth)) = calendar.next() {
                prop_assert_eq!((calendar.now(), times[nth]), (at, at.0));
                came.push((at, nth));
            }
            prop_assert_eq!(came.len(), times.len());
            prop_assert!(came.is_sorted());
        }
    }

    #[test]
    #[should_panic(expected = "before")]
    fn nothing_can_be_entered_in_the_past() {
        let mut calendar = Calendar::new(Time(5));
        calendar.enter(Time(4), ());
    }
}
