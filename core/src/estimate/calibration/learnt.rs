//! What the tasks of one job have to tell at their ends.

use super::EstimateError;
use super::accuracy::{Cell, Outcome, Record};
use super::watch::{Pairs, Watch, Watched};
use crate::model::{Job, Task, TaskKind, TaskState, Time};

/// What tasks that ended have to add.
#[derive(Debug, Default)]
pub(super) struct Learnt {
    pub errors: Vec<EstimateError>,
    /// What they come to.
    outcomes: Vec<(Cell, Outcome)>,
    /// What predicted the order of pairs.
    pairs: Vec<(Cell, Pairs)>,
    censored: [u64; 2],
}

impl Learnt {
    /// Sets the notes of tasks that have ended against their ends.
    pub fn follow(&mut self, job: &Job, kind: TaskKind, watch: &mut Watch) {
        for watched in watch.tasks.iter_mut().filter(|watched| !watched.closed) {
            let task = job.task(job.id.task(kind, watched.index));
            let Some(task) = task.filter(|task| task.state.is_final()) else { continue };
            let succeeded = task.state == TaskState::Succeeded;
            if succeeded && task.ended().is_none() {
                continue;
            }
            watched.closed = true;
            let end = task.ended().filter(|_| succeeded && won(task, watched) && !task.marks.skewed());
            self.close(kind, watched, end);
        }
    }

    /// A task that has ended, by success of the attempt it was noted for or not.
    fn close(&mut self, kind: TaskKind, watched: &mut Watched, end: Option<Time>) {
        let Some(end) = end else {
            self.censored[kind as usize] += u64::from(!watched.notes.is_empty());
            watched.notes = Vec::new();
            return;
        };
        watched.ended.latest(Some(end));
        for note in &watched.notes {
            let (point, actual) = (note.point(), end.since(note.at()));
            // A look that came after the end, as the end was not told yet, shows nothing.
            let told = note.answers().filter(|_| actual.0 > 0);
            for (estimator, predicted) in told {
                let cell = Cell { tasks: kind, point, estimator };
                self.outcomes.extend(Outcome::of(predicted, actual).map(|outcome| (cell, outcome)));
                self.errors.push(EstimateError { estimator, kind, point, predicted, actual });
            }
        }
    }

    /// Nothing more will be learnt of a sample: its tasks have all ended, or their job has.
    pub fn conclude(&mut self, tasks: TaskKind, watch: Watch) {
        let open = watch.tasks.iter().filter(|watched| !watched.closed && !watched.notes.is_empty()).count();
        self.censored[tasks as usize] += watch.censored + open as u64;
        let pairs = watch.pairs().into_iter();
        self.pairs.extend(pairs.map(|(point, estimator, pairs)| (Cell { tasks, point, estimator }, pairs)));
    }

    pub fn is_empty(&self) -> bool {
        self.errors.is_empty() && self.pairs.is_empty() && self.censored == [0; 2]
    }

    /// Adds it all to a record.
    pub fn add_to(&self, record: &mut Record) {
        for (cell, outcome) in &self.outcomes {
            record.cell(*cell).add(*outcome);
        }
        for (cell, pairs) in &self.pairs {
            record.cell(*cell).add_pairs(*pairs);
        }
        for (sum, more) in record.censored.iter_mut().zip(self.censored) {
            *sum += more;
        }
    }
}

/// Was it the noted attempt that succeeded? Where that is not told, it was if there was no other.
fn won(task: &Task, watched: &Watched) -> bool {
    task.winner().map_or(task.attempts.len() <= 1, |number| number == watched.attempt)
}
