//! Starting the longest tasks first against the best order there is (Mantri, OSDI'10, §5.4, Theorem 1), which is searched for.

use crate::simulation::reproduce::tail::job_time;
use crate::simulation::reproduce::{Effort, Finding};
use drover_core::estimate::lpt::bound;
use drover_core::sim::Stuck;

const NAME: &str = "mantri.theorem1";

/// When the last task ends where the longest start first.
fn longest_first(tasks: &[u32], slots: u32) -> u32 {
    let mut longest: Vec<f64> = tasks.iter().copied().map(f64::from).collect();
    longest.sort_by(|a, b| b.total_cmp(a));
    job_time(&longest, slots) as u32
}

/// The search for the best of all assignments of tasks, the longest first, to slots.
struct Search<'a> {
    tasks: &'a [u32],
    busy: Vec<u32>,
    best: u32,
    /// No assignment ends sooner.
    least: u32,
}

impl Search<'_> {
    fn optimum(tasks: &[u32], slots: u32) -> u32 {
        let mut longest = tasks.to_vec();
        longest.sort_unstable_by(|a, b| b.cmp(a));
        let least = longest.iter().sum::<u32>().div_ceil(slots).max(longest.first().copied().unwrap_or(0));
        let mut search = Search { tasks: &longest, busy: vec![0; slots as usize], best: u32::MAX, least };
        search.from(0);
        search.best
    }

    fn from(&mut self, task: usize) {
        let Some(takes) = self.tasks.get(task) else {
            self.best = self.best.min(self.busy.iter().copied().max().unwrap_or(0));
            return;
        };
        for slot in 0..self.busy.len() {
            // Slots that are busy for as long are one another's like.
            let alike = self.busy[..slot].contains(&self.busy[slot]);
            if self.best > self.least && !alike && self.busy[slot] + takes < self.best {
                self.busy[slot] += takes;
                self.from(task + 1);
                self.busy[slot] -= takes;
            }
        }
    }
}

fn ratio(tasks: &[u32], slots: u32) -> f64 {
    f64::from(longest_first(tasks, slots)) / f64::from(Search::optimum(tasks, slots))
}

/// The instance known to reach the bound (Graham): two each of 2s − 1 to s + 1, and three of s.
fn worst(slots: u32) -> Vec<u32> {
    let twice = (slots + 1..2 * slots).flat_map(|takes| [takes; 2]);
    twice.chain([slots; 3]).collect()
}

/// The largest ratio of all instances of so many tasks of at most `most` each, and fewer.
fn largest(slots: u32, tasks: usize, most: u32) -> f64 {
    fn beside(instance: &mut Vec<u32>, slots: u32, tasks: usize, most: u32) -> f64 {
        let own = if instance.is_empty() { 1.0 } else { ratio(instance, slots) };
        if instance.len() == tasks {
            return own;
        }
        (1..=most).fold(own, |largest, takes| {
            instance.push(takes);
            let found = beside(instance, slots, tasks, takes);
            instance.pop();
            largest.max(found)
        })
    }
    beside(&mut Vec::new(), slots, tasks, most)
}

/// 4/3 − 1/(3 s), and how near to it one comes.
pub(super) fn theorem(_: Effort) -> Result<Vec<Finding>, Stuck> {
    let of = |slots: u32, what: &str, measured| {
        let most = bound(slots).unwrap_or(f64::NAN);
        let quantity = format!("{slots} slots: time over the best there is, {what}; at most 4/3 − 1/(3 s) = {most:.3}");
        super::bound(NAME, &quantity, None, Some(measured), "ratio", |ratio| ratio <= most + 1e-12)
    };
    let all = |slots: u32| {
        let (tasks, most) = (2 * slots + 1, 2 * slots - 1);
        let what = format!("the most of all instances of up to {tasks} tasks of 1–{most} s");
        of(slots, &what, largest(slots, tasks as usize, most))
    };
    let known = |slots: u32| of(slots, "the worst instance that is known", ratio(&worst(slots), slots));
    Ok(vec![all(1), all(2), all(3), known(4), known(5), known(6)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use drover_core::sim::draw::{Draws, Purpose};

    #[test]
    fn the_best_is_found_where_the_longest_first_misses_it() {
        // By hand: 3 + 3 and 2 + 2 + 2.
        assert_eq!((Search::optimum(&[3, 3, 2, 2, 2], 2), longest_first(&[3, 3, 2, 2, 2], 2)), (6, 7));
        assert_eq!((Search::optimum(&[9, 1, 1], 3), Search::optimum(&[4], 2)), (9, 4));
        assert_eq!(worst(2), [3, 3, 2, 2, 2]);
    }

    #[test]
    fn the_worst_instances_reach_the_bound_and_no_small_one_is_beyond_it() {
        for slots in 1..=6 {
            assert!((ratio(&worst(slots), slots) - bound(slots).unwrap()).abs() < 1e-12, "{slots}");
        }
        assert_eq!((largest(2, 5, 3), largest(1, 3, 1)), (7.0 / 6.0, 1.0));
    }

    #[test]
    fn no_instance_that_is_drawn_is_worse_than_the_bound() {
        for nth in 0..300 {
            let mut draw = Draws::new(1).of(Purpose::Work, [nth, 0, 0]);
            let slots = 2 + draw.below(4) as u32;
            let tasks: Vec<u32> = (0..3 + draw.below(8)).map(|_| 1 + draw.below(40) as u32).collect();
            assert!(ratio(&tasks, slots) <= bound(slots).unwrap() + 1e-12, "{tasks:?} {slots}");
        }
    }
}
