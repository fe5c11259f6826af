//! Jobs of a trace: what each task did there is done again here.

use super::draw::Draw;
use crate::model::{Bytes, Millis, Resources};

/// A job of a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedJob {
    /// Its name, by which Drover knows earlier runs.
    pub name: String,
    /// Its user.
    pub user: String,
    /// Its queue.
    pub queue: String,
    /// When it was submitted, from the trace's first.
    pub arrives: Millis,
    /// Its maps and its reduces.
    pub phases: [TracedPhase; 2],
}

/// Tasks of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedPhase {
    /// The tasks.
    pub tasks: TracedTasks,
    /// What a container of theirs asks for.
    pub size: Resources,
}

/// As much as the trace tells of them.
#[derive(Debug, Clone, PartialEq)]
pub enum TracedTasks {
    /// The trace tells of the job only: so many that are alike.
    Alike(u32, TracedTask),
    /// Each by itself.
    Each(Vec<TracedTask>),
}

/// A task.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TracedTask {
    /// What an attempt of ordinary luck has to do: milliseconds of reading, sorting and its own work. Maps have the last only.
    pub work: [f64; 3],
    /// How many times longer its first attempt took.
    pub first: f64,
    /// Its input.
    pub input: Bytes,
}

impl TracedTasks {
    /// How many.
    pub fn count(&self) -> u32 {
        match self {
            TracedTasks::Alike(count, _) => *count,
            TracedTasks::Each(tasks) => tasks.len() as u32,
        }
    }

    /// One of them.
    pub fn task(&self, index: u32) -> Option<&TracedTask> {
        match self {
            TracedTasks::Alike(count, task) => (index < *count).then_some(task),
            TracedTasks::Each(tasks) => tasks.get(index as usize),
        }
    }

    /// How many times longer an attempt takes: the first as it did, any other as the first of another task did, drawn. What the trace's own copy of the task took is not
    /// asked: a policy that copies at another time would not have had it.
    pub fn luck(&self, index: u32, is_first: bool, draw: &mut Draw) -> f64 {
        match self {
            TracedTasks::Alike(_, task) => task.first,
            TracedTasks::Each(tasks) if is_first || tasks.len() < 2 => {
                tasks.get(index as usize).map_or(1.0, |task| task.first)
            }
            TracedTasks::Each(tasks) => {
                let nth = draw.below(tasks.len() - 1);
                tasks[nth + usize::from(nth >= index as usize)].first
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::draw::{Draws, Purpose};
    use super::*;

    #[test]
    fn a_first_attempt_has_the_luck_it_had_and_a_copy_that_of_another_task() {
        let task = |first| TracedTask { work: [0.0, 0.0, 1_000.0], first, input: Bytes(0) };
        let tasks = TracedTasks::Each(vec![task(1.0), task(7.0), task(2.0)]);
        let luck = |index, is_first, seed| tasks.luck(index, is_first, &mut Draws::new(seed).of(Purpose::Luck, [0; 3]));
        assert_eq!([0, 1, 2].map(|index| luck(index, true, 1)), [1.0, 7.0, 2.0]);
        let mut drawn: Vec<f64> = (0..50).map(|seed| luck(1, false, seed)).collect();
        drawn.sort_by(f64::total_cmp);
        drawn.dedup();
        assert_eq!(drawn, [1.0, 2.0]);
        let alone = TracedTasks::Each(vec![task(3.0)]);
        assert_eq!(alone.luck(0, false, &mut Draws::new(1).of(Purpose::Luck, [0; 3])), 3.0, "there is no other");
    }
}
