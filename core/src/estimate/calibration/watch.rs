//! The sampled tasks of a live job.

use super::note::{Note, Point};
use crate::estimate::Estimator;
use crate::estimate::stats::uniform_draw;
use crate::model::{Stamp, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Sampled tasks of each job and kind: 496 pairs to order, and enough for the choice of an estimator from one job on.
pub const SAMPLED: u32 = 32;

/// The same of jobs like those that so much is known of already: what more would tell is less than what it costs.
pub const SAMPLED_OF_KNOWN: u32 = 4;

/// A sampled task.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Watched {
    pub(super) index: u32,
    /// The attempt that the notes are about.
    pub(super) attempt: u32,
    /// It has ended, well or not.
    pub(super) closed: bool,
    /// When that attempt succeeded, the AM's clock.
    pub(super) ended: Stamp,
    /// At most one for each point.
    pub(super) notes: Vec<Note>,
}

impl Watched {
    /// Its index within its kind.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// What it is to be noted for, at that score of that attempt, 0–1; `None` if for nothing.
    pub fn due(&self, attempt: u32, score: f64) -> Option<Point> {
        let point = Point::of(score).filter(|_| !self.closed)?;
        let noted = self.attempt == attempt && self.notes.iter().any(|note| note.point() >= point);
        (!noted).then_some(point)
    }

    fn noted(&self, point: Point) -> Option<&Note> {
        self.notes.iter().find(|note| note.point() == point)
    }
}

/// The sampled tasks of a job's maps or reduces.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Watch {
    /// In order of index. Empty once all that can be learnt from them was.
    pub tasks: Vec<Watched>,
    /// Attempts whose notes were dropped, as another took over.
    pub censored: u64,
}

impl Watch {
    /// Draws at most so many from tasks 0 to `total`, each as likely as any, late ones as early ones.
    pub fn draw(total: u32, most: u32, seed: u64) -> Watch {
        let watched = |index| Watched { index, attempt: 0, closed: false, ended: Stamp::default(), notes: Vec::new() };
        Watch { tasks: draw(total, most, seed).into_iter().map(watched).collect(), censored: 0 }
    }

    /// Takes note of predictions for a task's attempt; those for an earlier attempt are never put to the test.
    pub fn note(&mut self, index: u32, attempt: u32, note: Note) {
        let Ok(at) = self.tasks.binary_search_by_key(&index, |task| task.index) else { return };
        let task = &mut self.tasks[at];
        if task.attempt != attempt {
            self.censored += u64::from(!task.notes.is_empty());
            (task.attempt, task.notes) = (attempt, Vec::new());
        }
        if task.due(attempt, note.point().score()).is_some() {
            task.notes.reserve_exact(1);
            task.notes.push(note);
        }
    }

    /// Each pair of succeeded tasks that both had a prediction of the same estimator at the same point, made while both ran: was their order another? Ties are left out.
    pub fn pairs(&self) -> Vec<(Point, Estimator, Pairs)> {
        let (mut all, mut noted, mut runs) = (Vec::new(), Vec::with_capacity(self.tasks.len()), Vec::new());
        for point in Point::ALL {
            noted.clear();
            noted.extend(self.tasks.iter().filter_map(|task| Some((task.ended.get()?, task.noted(point)?))));
            for estimator in Estimator::ALL {
                runs.clear();
                runs.extend(noted.iter().filter_map(|(end, note)| {
                    Some(Predicted { at: note.at(), end: *end, predicted: note.end(estimator)? })
                }));
                let pairs = Pairs::among(&runs);
                all.extend((pairs.all > 0).then_some((point, estimator, pairs)));
            }
        }
        all
    }
}

/// Pairs of tasks whose order of ending was predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Pairs {
    pub all: u32,
    /// Those whose order was another.
    pub wrong: u32,
}

/// When a task's end was predicted, when it was, and when it was to be.
struct Predicted {
    at: Time,
    end: Time,
    predicted: Time,
}

impl Pairs {
    fn among(runs: &[Predicted]) -> Pairs {
        let mut pairs = Pairs::default();
        for (n, a) in runs.iter().enumerate() {
            for b in &runs[n + 1..] {
                let told = a.end != b.end && a.at.max(b.at) < a.end.min(b.end) && a.predicted != b.predicted;
                pairs.all += u32::from(told);
                pairs.wrong += u32::from(told && (a.predicted < b.predicted) != (a.end < b.end));
            }
        }
        pairs
    }
}

/// At most so many numbers from 0 to below `total`, every such set as likely (Floyd's algorithm; Bentley and Floyd, CACM 30(9), 1987): as many steps as numbers,
/// whatever total is claimed.
fn draw(total: u32, most: u32, seed: u64) -> BTreeSet<u32> {
    let mut drawn = BTreeSet::new();
    for last in total.saturating_sub(most)..total {
        let any = (uniform_draw(seed, last.into()) * (f64::from(last) + 1.0)) as u32;
        if !drawn.insert(any.min(last)) {
            drawn.insert(last);
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn late_tasks_are_drawn_as_often_as_early_ones() {
        let drawn: Vec<u32> = (0..400).flat_map(|seed| draw(1_000, SAMPLED, seed)).collect();
        let early = drawn.iter().filter(|index| **index < 500).count() as f64 / drawn.len() as f64;
        assert!((early - 0.5).abs() < 0.03, "{early}");
    }

    proptest! {
        #[test]
        fn never_more_than_the_bound_is_drawn_nor_a_task_that_is_none(total: u32, most in 0..=SAMPLED, seed: u64) {
            let drawn = draw(total, most, seed);
            prop_assert_eq!(drawn.len() as u32, total.min(most));
            prop_assert!(drawn.iter().all(|index| *index < total));
        }
    }

    #[test]
    fn each_task_of_a_few_more_than_are_drawn_is_left_out_as_often_as_any() {
        let mut left_out = [0; SAMPLED as usize + 1];
        for seed in 0..3_300 {
            let drawn = draw(SAMPLED + 1, SAMPLED, seed);
            (0..=SAMPLED).filter(|index| !drawn.contains(index)).for_each(|index| left_out[index as usize] += 1);
        }
        assert!(left_out.iter().all(|times| (60..=140).contains(times)), "{left_out:?}");
    }
}
