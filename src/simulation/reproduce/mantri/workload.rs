//! Phases like those of the paper's logs (§3.1, §4). A seed is a sample of them.

use crate::stats::quantile;
use drover_core::model::{Bytes, Millis, Resources};
use drover_core::sim::draw::{Draw, Draws, Purpose};
use drover_core::sim::{Scenario, Stuck, TracedJob, TracedPhase, TracedTask, TracedTasks};
use serde::Serialize;
use serde_json::json;

/// What the paper leaves open and is varied.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Assumed {
    /// Share of the outliers that their data explain; of each phase its own (Fig. 4) where it is `None`.
    pub explained: Option<f64>,
    /// Longest time between two reports, seconds.
    pub report: f64,
    /// The median phase's tasks, seconds.
    pub task: f64,
    /// A JVM's start, seconds.
    pub start_up: f64,
    /// May a scheme have tasks begun in the order of their data (§5.4)? Mantri wants it, and Drover.
    pub order: bool,
    /// Is Hadoop's own scheduler as LATE describes it (§2.1), which waits a minute and for a fifth, and not as Mantri does (§7)?
    pub waits: bool,
}

impl Assumed {
    /// The main set.
    pub const MAIN: Assumed =
        Assumed { explained: None, report: 10.0, task: 40.0, start_up: START_UP, order: true, waits: false };

    /// The others.
    pub const OTHERS: [Assumed; 9] = [
        Assumed { explained: Some(0.0), ..Assumed::MAIN },
        Assumed { explained: Some(1.0), ..Assumed::MAIN },
        Assumed { report: 1.0, ..Assumed::MAIN },
        Assumed { task: 120.0, ..Assumed::MAIN },
        Assumed { start_up: 5.0, ..Assumed::MAIN },
        Assumed { start_up: 1.0, ..Assumed::MAIN },
        Assumed { start_up: 0.2, ..Assumed::MAIN },
        Assumed { order: false, ..Assumed::MAIN },
        Assumed { waits: true, ..Assumed::MAIN },
    ];
}

/// From a container to the work of its attempt, seconds; in all of the paper's experiments.
pub const START_UP: f64 = 0.5;

/// An outlier takes so many times the median (§4.1).
pub const OUTLIER: f64 = 1.5;

/// What an ordinary task reads.
const SPLIT: f64 = (256 << 20) as f64;

/// A phase: its slots, and its tasks.
#[derive(Debug, Clone)]
pub struct Phase {
    slots: u32,
    /// An ordinary task's time, seconds.
    task: f64,
    tasks: Vec<Task>,
}

/// What the paper prints of phases, of one.
#[derive(Debug, Clone)]
pub struct Shape {
    /// Tasks for each slot.
    pub waves: f64,
    /// How many times the median the outliers take, each.
    pub outliers: Vec<f64>,
    /// Their share (0–1) of the tasks.
    pub outlying: f64,
    /// Standard deviation over mean of its tasks' data.
    pub variation: f64,
}

/// How many times an ordinary task's time one takes.
#[derive(Debug, Clone, Copy)]
struct Task {
    /// For its data.
    data: f64,
    /// For what its first attempt met.
    luck: f64,
}

impl Task {
    fn takes(&self) -> f64 {
        self.data * self.luck
    }
}

impl Phase {
    /// The `nth` of a seed's.
    pub fn drawn(assumed: Assumed, seed: u64, nth: u64) -> Phase {
        let draw = |purpose, task| Draws::new(seed).of(purpose, [nth, task, 0]);
        let mut of_phase = draw(Purpose::Tasks, 0);
        let slots = lognormal(&mut of_phase, 24.0, 1.2).clamp(2.0, 100.0).round();
        let waves = lognormal(&mut of_phase, 2.11, 1.36).min(20.0);
        let task = lognormal(&mut of_phase, assumed.task, 1.0);
        let outliers = (-0.108 * (1.0 - of_phase.uniform()).ln()).min(0.45);
        let explained = explained(of_phase.uniform());
        let tasks = (0..(slots * waves).round().max(2.0) as u64).map(|task| {
            let mut own = draw(Purpose::Work, task);
            let ordinary = Task { data: 0.47 + 1.06 * own.uniform(), luck: 0.9 + 0.2 * own.uniform() };
            let (is_outlier, by_data) =
                (own.uniform() < outliers, own.uniform() < assumed.explained.unwrap_or(explained));
            let factor = outlier(&mut own);
            match (is_outlier, by_data) {
                (false, _) => ordinary,
                (true, true) => Task { data: factor, ..ordinary },
                (true, false) => Task { luck: factor, ..ordinary },
            }
        });
        Phase { slots: slots as u32, task, tasks: tasks.collect() }
    }

    /// The same tasks, which each meet what another met.
    pub fn with_other_luck(&self) -> Phase {
        let others = self.tasks.iter().cycle().skip(self.tasks.len() / 2);
        let tasks = self.tasks.iter().zip(others).map(|(task, other)| Task { luck: other.luck, ..*task });
        Phase { tasks: tasks.collect(), ..self.clone() }
    }

    /// How many tasks it has.
    pub fn tasks(&self) -> usize {
        self.tasks.len()
    }

    /// What it is like.
    pub fn shape(&self) -> Shape {
        let count = self.tasks.len() as f64;
        let takes: Vec<f64> = self.tasks.iter().map(Task::takes).collect();
        let typical = quantile(&takes, 0.5).unwrap_or(1.0);
        let outliers: Vec<f64> = takes.iter().map(|one| one / typical).filter(|ratio| *ratio > OUTLIER).collect();
        Shape {
            waves: count / f64::from(self.slots),
            outlying: outliers.len() as f64 / count,
            outliers,
            variation: self.variation(),
        }
    }

    fn variation(&self) -> f64 {
        let count = self.tasks.len() as f64;
        let mean = self.tasks.iter().map(|task| task.data).sum::<f64>() / count;
        let variance = self.tasks.iter().map(|task| (task.data - mean).powi(2)).sum::<f64>() / count;
        variance.sqrt() / mean
    }

    /// It, alone on its slots.
    pub fn scenario(&self, assumed: Assumed) -> Result<Scenario, Stuck> {
        let can = json!({"duplicate": true, "restart": true, "withdraw": true, "place": true, "copy_first": true, "order": assumed.order});
        let read: Result<Scenario, _> = serde_json::from_value(json!({
            "about": "Mantri §6.3",
            "cluster": {"nodes": self.slots, "racks": self.slots.div_ceil(40), "memory_mb": 1024, "vcores": 1},
            "hadoop": {
                "allocate": 0, "start_up": assumed.start_up, "commit": 0, "report": assumed.report.min(self.task / 10.0),
                "exchange": 1, "last_words": true, "poll": 1, "can": can,
            },
            "jobs": [],
        }));
        let scenario = read.map_err(|error| Stuck::Miscounted(error.to_string()))?;
        Ok(Scenario { traced: vec![self.job()], ..scenario })
    }

    fn job(&self) -> TracedJob {
        let task = |one: &Task| TracedTask {
            work: [0.0, 0.0, one.data * self.task * 1e3],
            first: one.luck,
            input: Bytes((one.data * SPLIT) as u64),
            host: None,
        };
        let size = Resources { memory_mb: 1024, vcores: 1 };
        let of = |tasks| TracedPhase { tasks: TracedTasks::Each(tasks), size, reads_after_maps: false };
        TracedJob {
            name: "phase".into(),
            user: "ann".into(),
            queue: "default".into(),
            arrives: Millis(0),
            phases: [of(self.tasks.iter().map(task).collect()), of(vec![])],
        }
    }
}

/// One draw of that law.
pub fn lognormal(draw: &mut Draw, median: f64, sigma: f64) -> f64 {
    median * (sigma * draw.normal()).exp()
}

/// Fig. 4(a): the share of its outliers that data explain, in the phase below which that share of the phases is.
fn explained(share: f64) -> f64 {
    const NONE: f64 = 0.18;
    const ALL: f64 = 0.6;
    ((share - NONE) / (ALL - NONE)).clamp(0.0, 1.0)
}

/// Fig. 3: how many times the median an outlier takes.
pub fn outlier(draw: &mut Draw) -> f64 {
    let between = |least: f64, most: f64, share: f64| least * (most / least).powf(share);
    match draw.uniform() {
        most if most < 0.8 => OUTLIER + most / 0.8,
        some if some < 0.89 => between(2.5, 10.0, (some - 0.8) / 0.09),
        few => between(10.0, 25.0, (few - 0.89) / 0.11),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn many() -> Vec<Phase> {
        (0..2_000).map(|nth| Phase::drawn(Assumed::MAIN, 1, nth)).collect()
    }

    #[test]
    fn phases_are_as_the_paper_has_them_in_what_it_prints() {
        let shapes: Vec<Shape> = many().iter().map(Phase::shape).collect();
        let waves = quantile(&shapes.iter().map(|one| one.waves).collect::<Vec<_>>(), 0.5).unwrap();
        assert!((waves - 2.11).abs() < 0.2, "§3.1: {waves}");
        let many_outliers = shapes.iter().filter(|one| one.outlying > 0.15).count() as f64 / 2e3;
        assert!((many_outliers - 0.25).abs() < 0.05, "Fig. 2: {many_outliers}");
        let variation = quantile(&shapes.iter().map(|one| one.variation).collect::<Vec<_>>(), 0.5).unwrap();
        assert!((variation - 0.34).abs() < 0.05, "§4.2: {variation}");
        let all: Vec<f64> = shapes.into_iter().flat_map(|one| one.outliers).collect();
        let of_all =
            |of: &dyn Fn(f64) -> bool| all.iter().filter(|ratio| of(**ratio)).count() as f64 / all.len() as f64;
        let (short, long) = (of_all(&|ratio| ratio < 2.5), of_all(&|ratio| ratio > 10.0));
        assert!((short - 0.8).abs() < 0.05 && (long - 0.1).abs() < 0.03, "Fig. 3: {short}, {long}");
    }

    #[test]
    fn what_explains_outliers_can_be_the_data_alone_or_the_attempt_alone() {
        let of = |explained| Phase::drawn(Assumed { explained: Some(explained), ..Assumed::MAIN }, 1, 7);
        let (by_luck, by_data) = (of(0.0), of(1.0));
        assert!(by_luck.tasks.iter().all(|task| task.data < 2.5) && by_data.tasks.iter().all(|task| task.luck <= 1.1));
        assert_eq!(by_luck.tasks.len(), by_data.tasks.len());
        let at = [0.1, 0.18, 0.39, 0.6, 0.9].map(explained);
        let off = at.into_iter().zip([0.0, 0.0, 0.5, 1.0, 1.0]).map(|(ours, figure)| (ours - figure).abs());
        assert!(off.fold(0.0, f64::max) < 1e-9, "{at:?}");
    }

    #[test]
    fn a_phase_can_be_played() {
        for phase in many().iter().take(50) {
            assert_eq!(phase.scenario(Assumed::MAIN).unwrap().faults(), []);
        }
    }
}
