//! Jobs of a trace: what each task did there is done again here.

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
    /// Of reduces: what they read is counted from the end of all maps, and none of it is done before.
    pub reads_after_maps: bool,
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
    /// Where that attempt ran: place among the trace's hosts, where that is told.
    pub host: Option<u32>,
}

impl TracedTask {
    /// What its first attempt took, milliseconds.
    pub fn takes(&self) -> f64 {
        self.work.iter().sum::<f64>() * self.first
    }
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
}
