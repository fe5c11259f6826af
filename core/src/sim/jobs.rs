//! The jobs that are in the cluster, by number.

use super::job::Job;
use std::collections::VecDeque;
use std::ops::Index;

/// Jobs by number, which they are given as they arrive: so they lie in a row, and each is found at once, where a tree's search took a sixth of a simulation without
/// decisions. Between two that are there those that have ended leave gaps.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    /// Number of the first.
    first: u32,
    row: VecDeque<Option<Box<Job>>>,
    len: usize,
}

impl Jobs {
    fn place(&self, number: u32) -> Option<usize> {
        number.checked_sub(self.first).map(|place| place as usize)
    }

    /// That job, if it is there.
    pub(super) fn get(&self, number: &u32) -> Option<&Job> {
        self.row.get(self.place(*number)?)?.as_deref()
    }

    /// That job, if it is there.
    pub(super) fn get_mut(&mut self, number: &u32) -> Option<&mut Job> {
        let place = self.place(*number)?;
        self.row.get_mut(place)?.as_deref_mut()
    }

    /// A job arrives, or comes back.
    pub(super) fn insert(&mut self, number: u32, job: impl Into<Box<Job>>) {
        if self.row.is_empty() {
            self.first = number;
        }
        while self.first > number {
            self.row.push_front(None);
            self.first -= 1;
        }
        let place = (number - self.first) as usize;
        if self.row.len() <= place {
            self.row.resize_with(place + 1, || None);
        }
        self.len += usize::from(self.row[place].replace(job.into()).is_none());
    }

    /// A job leaves for good.
    pub(super) fn remove(&mut self, number: &u32) -> Option<Box<Job>> {
        let job = self.take(*number)?;
        while self.row.front().is_some_and(Option::is_none) {
            self.row.pop_front();
            self.first += 1;
        }
        Some(job)
    }

    /// Takes a job out that will come back.
    pub(super) fn take(&mut self, number: u32) -> Option<Box<Job>> {
        let place = self.place(number)?;
        let job = self.row.get_mut(place)?.take()?;
        self.len -= 1;
        Some(job)
    }

    /// Their numbers, ascending.
    pub(super) fn numbers(&self) -> Vec<u32> {
        self.values().map(|job| job.number).collect()
    }

    /// The jobs, by number.
    pub(super) fn values(&self) -> impl DoubleEndedIterator<Item = &Job> {
        self.row.iter().flatten().map(Box::as_ref)
    }

    /// Is none there?
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many are there?
    pub(super) fn len(&self) -> usize {
        self.len
    }
}

impl Index<&u32> for Jobs {
    type Output = Job;

    fn index(&self, number: &u32) -> &Job {
        self.get(number).expect("a job that is there")
    }
}
