//! The attempts of a task, in little room.

use super::{Attempt, AttemptState};
use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut};

/// A task's attempts in order of their numbers. Nearly every task has one, which is kept without an allocation of its own: state is kept for a million attempts.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Vec<Attempt>", into = "Vec<Attempt>")]
pub enum Attempts {
    /// None is known.
    #[default]
    None,
    /// One is.
    One(Attempt),
    /// Several are.
    Several(Vec<Attempt>),
}

impl Attempts {
    /// The attempt with that number, made if it is new.
    pub fn of_number(&mut self, number: u32) -> &mut Attempt {
        let place = self.binary_search_by_key(&number, |attempt| attempt.number);
        let at = place.unwrap_or_else(|at| self.insert(at, Attempt::new(number)));
        &mut self[at]
    }

    /// Forgets the oldest that came to nothing, for a newer one than all that are known. Told of again it would be none, and so it stays forgotten. Was there one?
    pub fn make_room(&mut self, number: u32) -> bool {
        let is_newest = self.last().is_none_or(|last| last.number < number);
        let nothing = |one: &Attempt| matches!(one.state, AttemptState::Failed | AttemptState::Killed);
        match (self.iter().position(nothing).filter(|_| is_newest), self) {
            (Some(at), Attempts::Several(all)) => _ = all.remove(at),
            _ => return false,
        }
        true
    }

    fn insert(&mut self, at: usize, attempt: Attempt) -> usize {
        *self = match std::mem::take(self) {
            Attempts::None => Attempts::One(attempt),
            Attempts::One(only) => {
                let mut both = Vec::with_capacity(2);
                both.push(only);
                both.insert(at, attempt);
                Attempts::Several(both)
            }
            Attempts::Several(mut all) => {
                all.insert(at, attempt);
                Attempts::Several(all)
            }
        };
        at
    }
}

impl Deref for Attempts {
    type Target = [Attempt];

    fn deref(&self) -> &[Attempt] {
        match self {
            Attempts::None => &[],
            Attempts::One(only) => std::slice::from_ref(only),
            Attempts::Several(all) => all,
        }
    }
}

impl DerefMut for Attempts {
    fn deref_mut(&mut self) -> &mut [Attempt] {
        match self {
            Attempts::None => &mut [],
            Attempts::One(only) => std::slice::from_mut(only),
            Attempts::Several(all) => all,
        }
    }
}

impl<'a> IntoIterator for &'a Attempts {
    type Item = &'a Attempt;
    type IntoIter = std::slice::Iter<'a, Attempt>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl PartialEq for Attempts {
    fn eq(&self, other: &Attempts) -> bool {
        **self == **other
    }
}

impl From<Vec<Attempt>> for Attempts {
    fn from(all: Vec<Attempt>) -> Attempts {
        let mut attempts = Attempts::None;
        for attempt in all {
            let number = attempt.number;
            *attempts.of_number(number) = attempt;
        }
        attempts
    }
}

impl From<Attempts> for Vec<Attempt> {
    fn from(attempts: Attempts) -> Vec<Attempt> {
        attempts.to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(attempts: &Attempts) -> Vec<u32> {
        attempts.iter().map(|attempt| attempt.number).collect()
    }

    #[test]
    fn attempts_are_kept_in_order_each_once_whatever_order_they_come_in() {
        let mut attempts = Attempts::default();
        for (number, expected) in
            [(1, vec![1]), (0, vec![0, 1]), (1, vec![0, 1]), (5, vec![0, 1, 5]), (3, vec![0, 1, 3, 5])]
        {
            attempts.of_number(number).speculative = true;
            assert_eq!(numbers(&attempts), expected);
        }
        assert!(attempts.iter_mut().all(|attempt| attempt.speculative));
    }

    #[test]
    fn written_and_read_again_they_are_the_same() {
        for count in 0..4 {
            let mut attempts = Attempts::default();
            (0..count).for_each(|number| attempts.of_number(number).speculative = number > 0);
            let read: Attempts = serde_json::from_str(&serde_json::to_string(&attempts).unwrap()).unwrap();
            assert_eq!((numbers(&read).len(), read == attempts), (count as usize, true));
        }
    }

    #[test]
    fn others_are_not_the_same() {
        let (one, mut two) = (Attempts::One(Attempt::new(0)), Attempts::One(Attempt::new(0)));
        assert_eq!(one, two);
        two[0].speculative = true;
        assert_ne!(one, two);
        assert_ne!(one, Attempts::None);
    }
}
