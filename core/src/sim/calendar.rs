//! What is still to happen, in order of time.

use crate::model::Time;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Events to come. Of those at one instant the one that was entered first comes first, so that a run is the same every time.
///
/// Most are a minute away, and of ten thousand nodes there are a hundred thousand: one heap of all would be gone through from end to end of memory for each. So only those of
/// the next second or so are put in order, and the others wait in a heap for each second until it is theirs.
#[derive(Debug)]
pub struct Calendar<E> {
    /// Those of all slots up to `slot`; empty only where no event is to come.
    near: BinaryHeap<Reverse<Entry<E>>>,
    /// Those of each later slot, in no order.
    far: BTreeMap<u64, Vec<Reverse<Entry<E>>>>,
    slot: u64,
    entered: u64,
    now: Time,
}

/// Which stretch of time an instant lies in.
fn slot(at: Time) -> u64 {
    const MILLIS: u64 = 1_000;
    at.0 / MILLIS
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
        Calendar { near: BinaryHeap::new(), far: BTreeMap::new(), slot: slot(start), entered: 0, now: start }
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
        let entry = Reverse(Entry { at, nth: self.entered, event });
        if self.near.is_empty() {
            self.slot = slot(at);
        }
        if slot(at) <= self.slot {
            self.near.push(entry);
        } else {
            self.far.entry(slot(at)).or_default().push(entry);
        }
    }

    /// Is any such event to come, at its instant? One pass over all.
    pub fn any(&self, of: impl Fn(Time, &E) -> bool) -> bool {
        self.near.iter().chain(self.far.values().flatten()).any(|Reverse(entry)| of(entry.at, &entry.event))
    }

    /// The instant of the next event.
    pub fn next_at(&self) -> Option<Time> {
        self.near.peek().map(|Reverse(entry)| entry.at)
    }

    /// The next event, whose instant is now.
    pub fn next(&mut self) -> Option<(Time, E)> {
        let Reverse(Entry { at, event, .. }) = self.near.pop()?;
        self.now = at;
        if self.near.is_empty()
            && let Some((slot, entries)) = self.far.pop_first()
        {
            self.slot = slot;
            self.near = entries.into();
        }
        Some((at, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn events_come_in_order_of_time_and_those_of_one_instant_as_they_were_entered(
            times in prop::collection::vec((0..20_u64, prop::sample::select(vec![1, 300, 900])), 0..60),
            later in prop::collection::vec(0..4_000_u64, 0..60),
        ) {
            let mut calendar = Calendar::new(Time(0));
            let mut entered: Vec<Time> = times.iter().map(|(at, each)| Time(at * each)).collect();
            entered.iter().enumerate().for_each(|(nth, at)| calendar.enter(*at, nth));
            let (mut came, mut later) = (Vec::new(), later.into_iter());
            while let Some((at, nth)) = calendar.next() {
                prop_assert_eq!((calendar.now(), entered[nth]), (at, at));
                came.push((at, nth));
                // Each has another come some time after it.
                if let Some(after) = later.next() {
                    entered.push(Time(at.0 + after));
                    calendar.enter(Time(at.0 + after), entered.len() - 1);
                }
                let left = (0..entered.len()).filter(|nth| came.iter().all(|(_, came)| came != nth));
                prop_assert_eq!(calendar.next_at(), left.clone().map(|nth| entered[nth]).min());
                prop_assert!(left.clone().all(|nth| calendar.any(|_, event| *event == nth)));
            }
            prop_assert_eq!(came.len(), entered.len());
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
