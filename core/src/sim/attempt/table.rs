//! Attempts, found by their places.

use super::Attempt;

/// Where an attempt stands in [`Attempts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AttemptKey(pub u32);

/// All attempts that have not ended. Places of those that have are used again.
#[derive(Debug, Default)]
pub struct Attempts {
    all: Vec<Attempt>,
    free: Vec<AttemptKey>,
}

impl Attempts {
    /// Adds one.
    pub fn add(&mut self, mut attempt: Attempt) -> AttemptKey {
        if let Some(key) = self.free.pop() {
            // Events of the one before it must not be taken for its own.
            attempt.version = self.get(key).version + 1;
            self.all[key.0 as usize] = attempt;
            return key;
        }
        self.all.push(attempt);
        AttemptKey(self.all.len() as u32 - 1)
    }

    /// One that has not ended.
    pub fn get(&self, key: AttemptKey) -> &Attempt {
        &self.all[key.0 as usize]
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, key: AttemptKey) -> &mut Attempt {
        &mut self.all[key.0 as usize]
    }

    /// It has ended.
    pub fn remove(&mut self, key: AttemptKey) {
        self.get_mut(key).version += 1;
        self.free.push(key);
    }
}
