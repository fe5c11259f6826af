//! What the times of attempts say of their tasks' work and of their luck.

use drover_core::model::{Bytes, Millis, Resources};
use drover_core::sim::{Dist, Scenario, TracedPhase, TracedTask, TracedTasks};

/// What a task has to do with ordinary luck, at least, milliseconds. It is done in whole ones, which luck multiplies: of less, rounding would be felt.
const LEAST: f64 = 1_000.0;

/// What of an attempt's time is no work, as the cluster that does it again adds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Overhead {
    /// Before its work: its JVM's start.
    pub start_up: Millis,
    /// After it: its commit.
    pub commit: Millis,
}

impl Overhead {
    /// A scenario's, on average.
    pub fn of(scenario: &Scenario) -> Overhead {
        let [start_up, commit] = [&scenario.hadoop.start_up, &scenario.hadoop.commit];
        let mean = |dist: &Dist| Millis::from_secs_f64(dist.mean());
        Overhead { start_up: mean(start_up), commit: mean(commit) }
    }
}

/// The attempt of a task that succeeded first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Winner {
    pub(super) started: u64,
    pub(super) finished: u64,
    /// End of its shuffle, and of its sort.
    pub(super) stages: [Option<u64>; 2],
    pub(super) input: Option<u64>,
    /// Place of its host among all.
    pub(super) host: Option<u32>,
    /// Which of its job's masters began it.
    pub(super) master: u32,
}

/// What a winner did: milliseconds of reading, of sorting and of its own work.
#[derive(Debug, Clone, Copy)]
struct Done {
    parts: [u64; 3],
    /// It took less than was taken off.
    is_short: bool,
}

impl Done {
    fn millis(&self) -> u64 {
        self.parts.iter().sum()
    }
}

/// A job's maps and reduces.
pub(super) struct Phases {
    pub(super) phases: [TracedPhase; 2],
    /// Of how many of their tasks no work was left.
    pub(super) short: usize,
    /// How many reduces ended before the maps had.
    pub(super) early: usize,
}

/// Those that the winners of their tasks make.
pub(super) fn phases(winners: &[Vec<Option<Winner>>; 2], sizes: [Resources; 2], overhead: Overhead) -> Phases {
    let [maps, reduces] = winners;
    let maps_end = maps.iter().flatten().map(|winner| winner.finished).max().unwrap_or(0);
    let of = |winners: &[Option<Winner>], done: &dyn Fn(&Winner) -> Done, size| {
        let done: Vec<Option<Done>> = winners.iter().map(|winner| winner.as_ref().map(done)).collect();
        let short = done.iter().flatten().filter(|done| done.is_short).count();
        (TracedPhase { tasks: phase(winners, &done), size, reads_after_maps: true }, short)
    };
    let (maps, of_maps) = of(maps, &|winner| map(winner, overhead), sizes[0]);
    let (reduces, of_reduces) = of(reduces, &|winner| reduce(winner, maps_end, overhead), sizes[1]);
    let early = winners[1].iter().flatten().filter(|winner| winner.finished < maps_end).count();
    Phases { phases: [maps, reduces], short: of_maps + of_reduces, early }
}

fn map(winner: &Winner, overhead: Overhead) -> Done {
    let (took, off) = (winner.finished - winner.started, overhead.start_up.0.saturating_add(overhead.commit.0));
    Done { parts: [0, 0, took.saturating_sub(off)], is_short: took < off }
}

/// What a reduce waited for maps is no work: its reading counts from their end on.
fn reduce(winner: &Winner, maps_end: u64, overhead: Overhead) -> Done {
    let up = winner.started.saturating_add(overhead.start_up.0);
    let (reads_from, [shuffled, sorted]) = (maps_end.max(up), winner.stages);
    let works_from = sorted.or(shuffled).unwrap_or(reads_from.min(winner.finished));
    let (reads, sorts) = match (shuffled, sorted) {
        (Some(shuffled), sorted) => (shuffled.saturating_sub(reads_from), sorted.map_or(0, |sorted| sorted - shuffled)),
        // What is told of its sort's end alone is all that it read and sorted.
        (None, Some(sorted)) => (sorted.saturating_sub(reads_from), 0),
        (None, None) => (0, 0),
    };
    let own = winner.finished - works_from;
    let is_short = own < overhead.commit.0 || works_from < up;
    Done { parts: [reads, sorts, own.saturating_sub(overhead.commit.0)], is_short }
}

/// What a phase's tasks take with ordinary luck, and each one's luck: its own time over the phase's median.
fn phase(winners: &[Option<Winner>], done: &[Option<Done>]) -> TracedTasks {
    let mut all: Vec<Done> = done.iter().flatten().copied().collect();
    all.sort_by_key(Done::millis);
    let typical = all.get(all.len() / 2).copied().unwrap_or(Done { parts: [0; 3], is_short: false });
    let ordinary = (typical.millis() as f64).max(LEAST);
    let task = |(winner, done): (&Option<Winner>, &Option<Done>)| {
        let done = done.unwrap_or(typical);
        let first = (done.millis() as f64 / ordinary).max(1e-3);
        // One of which no work is left does as others do, in no time.
        let is_none = done.millis() == 0;
        TracedTask {
            work: if is_none { [0.0, 0.0, ordinary] } else { done.parts.map(|part| part as f64 / first) },
            first,
            input: Bytes(winner.and_then(|winner| winner.input).unwrap_or(0)),
            host: winner.and_then(|winner| winner.host),
        }
    };
    TracedTasks::Each(winners.iter().zip(done).map(task).collect())
}
