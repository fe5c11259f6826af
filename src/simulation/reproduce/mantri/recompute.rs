//! Outputs that are lost (§4, §5.3, §6.5: Figs. 21–23): jobs of maps and reduces on a cluster whose machines lose outputs now and then, some of them more often than others.
//!
//! Assumed, with reasons, before the first full run:
//!
//! | what | value | why |
//! |---|---|---|
//! | a run | 3,000 jobs on 100 machines of 4 slots each in 5 racks, about ten hours, half busy; the first third is only there to learn from | §5.3: the probability of loss is estimated "over a long period of time"; not thousands of machines and 18 days, so that a run stays short |
//! | a job | maps, a barrier, reduces; arrivals exponential, mean 12 s | §3.2: 47 % of edges are barriers; deeper workflows are not simulated, so only outputs of maps are lost, and a recompute asks for no other |
//! | maps | lognormal, median 20, σ 1, 2–200 | not printed |
//! | reduces | lognormal, median 8, σ .8, 1–60 | not printed |
//! | a task | by phase: lognormal, median 40 s, σ .7; data lognormal, σ .3; luck .9–1.1, one in ten an outlier as in Fig. 3 | as in §6.3's workload, where outliers have a share of their own; Fig. 3: "90% of them are clustered about the median task" |
//! | a recompute's luck | that of another task of its phase, drawn | §6.1 |
//! | data | 8.6 MB a second of a map's work; it writes a tenth of that | Table 2; what is written is not printed |
//! | within a rack | 119 MiB/s between two machines | 1 Gbit/s was usual |
//! | when a machine loses outputs | for a time, exponential, mean 2 min: of all that lie there and are written meanwhile a share, drawn anew each time, 0–1, even | §4.2: "When a machine loses the output of a task, it has a higher chance of losing the output of other tasks"; neither is printed |
//! | how often | each machine once in 150 h, and a twentieth of them once in 8 h, too, exponential | §4.2: "Half of them happen on 5% of the machines"; so that recomputes are as rare as in Fig. 2, where 99 % of phases see none |
//! | a loss | for good, and shows when a reduce begins to read | §3.2; what comes back by itself is not told apart |
//! | baseline | lost maps run again, and nothing else is done | Fig. 21 |
//! | what is done | replication and pre-computation alone: no copies, no order, no placement | Fig. 21 |
//! | an onset | one recompute on a machine | §5.3; §6.5 also tries two, which here have to come within 5 min |
//! | budget of pre-computation | a twentieth of the job's tasks' time so far | §5.3 has one, and prints none; §6.5: "no more than a few percentage" |
//! | jobs that count | those that recompute when nothing is done, weighed by their time then | §6.1: "completion times due to recomputations" |
//! | `IdealRecompute` | nothing is lost | §6.1 |
//!
//! Varied, one at a time: outputs a tenth as large; machines lose all or nothing for ten minutes, a fifth as often; four times the budget of pre-computation; reduces start with the maps and
//! read along.

use super::workload::{START_UP, lognormal, outlier};
use crate::simulation::reproduce::assumed::{sets, workload};
use drover_core::engine::EngineParams;
use drover_core::model::{Bytes, Millis, Resources};
use drover_core::policy::PolicyName;
use drover_core::sim::draw::{Draws, Purpose};
use drover_core::sim::{Actor, Ideal, Scenario, Stuck, TracedJob, TracedPhase, TracedTask, TracedTasks};
use serde::Serialize;
use serde_json::{Value, json};

/// Machines.
pub const MACHINES: u32 = 100;
const SLOTS: u32 = 4;
const JOBS: u64 = 3_000;
/// Jobs from which the probability of loss is learned, and which do not count.
pub const LEARNT_FROM: u32 = 1_000;
/// Table 2: bytes that a task reads in a second of its work.
const BYTES_PER_S: f64 = 8.6e6;
const WITHIN_MB_S: f64 = 119.0;
/// Beyond all seeds: other draws than any of theirs.
pub const OTHER_DRAWS: u64 = 1 << 32;

/// What the paper leaves open and is varied.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Assumed {
    /// What maps write over what they read.
    pub writes: f64,
    /// How long a machine loses outputs, seconds, and how often, times as often as in the main set.
    pub losing: (f64, f64),
    /// All outputs are lost then, not a share that is drawn.
    pub all_lost: bool,
    /// Budget of pre-computation, a share (0–1) of the job's tasks' time.
    pub budget: f64,
    /// Share (0–1) of a job's maps that have ended before its reduces start.
    pub slow_start: f64,
}

impl Assumed {
    /// The main set.
    pub const MAIN: Assumed =
        Assumed { writes: 0.1, losing: (120.0, 1.0), all_lost: false, budget: 0.05, slow_start: 1.0 };

    /// The others.
    pub const OTHERS: [Assumed; 4] = [
        Assumed { writes: 0.01, ..Assumed::MAIN },
        Assumed { losing: (600.0, 0.2), all_lost: true, ..Assumed::MAIN },
        Assumed { budget: 0.2, ..Assumed::MAIN },
        Assumed { slow_start: 0.05, ..Assumed::MAIN },
    ];
}

/// What is done about losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Lost maps run again.
    Nothing,
    /// §5.3.
    Mantri,
    /// Outputs are kept twice, and none is computed anew before it is missed.
    Replication,
    /// The reverse.
    PreComputation,
    /// Both, and two recomputes make an onset.
    AfterTwo,
    /// Nothing is lost.
    Ideal,
    /// Lost maps run again, with other draws: what is no difference at all.
    Null,
}

impl Scheme {
    /// All of them.
    pub const ALL: [Scheme; 7] = [
        Scheme::Nothing,
        Scheme::Mantri,
        Scheme::Replication,
        Scheme::PreComputation,
        Scheme::AfterTwo,
        Scheme::Ideal,
        Scheme::Null,
    ];

    /// The seed that all but its jobs is drawn by.
    pub fn draws(self, seed: u64) -> u64 {
        if self == Scheme::Null { seed + OTHER_DRAWS } else { seed }
    }

    /// Who acts.
    pub fn actor(self, assumed: Assumed) -> Actor {
        let policy = match self {
            Scheme::Ideal => return Actor::Ideal(Ideal::IdealRecompute),
            Scheme::Nothing | Scheme::Null => PolicyName::None,
            _ => PolicyName::Mantri,
        };
        let mut params = EngineParams::paper(policy);
        // No copies: a first run of two seeds had some, as a cap of 0 lets one go at a time, and most of what it found was theirs.
        params.mantri.copies_max = 1;
        params.measures.precomputed = assumed.budget;
        params.measures.onset = if self == Scheme::AfterTwo { 2 } else { 1 };
        params.into()
    }

    fn can(self) -> Value {
        let [replicate, precompute] = [Scheme::PreComputation, Scheme::Replication].map(|but| self != but);
        json!({"duplicate": true, "replicate": replicate, "precompute": precompute})
    }
}

/// The `nth` job of a seed.
fn job(assumed: Assumed, seed: u64, nth: u64, arrives: Millis) -> TracedJob {
    let draw = |purpose, task| Draws::new(seed).of(purpose, [nth, task, 0]);
    let mut of_job = draw(Purpose::Tasks, 0);
    let mut drawn = |median, sigma| lognormal(&mut of_job, median, sigma);
    let counts =
        [drawn(20.0, 1.0).clamp(2.0, 200.0), drawn(8.0, 0.8).clamp(1.0, 60.0)].map(|count| count.round() as u64);
    let seconds = [drawn(40.0, 0.7), drawn(40.0, 0.7)];
    let task = |kind: usize, index: u64| {
        let mut own = draw(Purpose::Work, index << 1 | kind as u64);
        let data = (0.3 * own.normal()).exp();
        let (ordinary, is_outlier) = (0.9 + 0.2 * own.uniform(), own.uniform() < 0.1);
        let first = if is_outlier { outlier(&mut own) } else { ordinary };
        (data * seconds[kind], first)
    };
    let maps = (0..counts[0]).map(|index| task(0, index)).map(|(seconds, first)| TracedTask {
        work: [0.0, 0.0, seconds * 1e3],
        first,
        input: Bytes((seconds * BYTES_PER_S) as u64),
        host: None,
    });
    let maps: Vec<TracedTask> = maps.collect();
    let written = assumed.writes * maps.iter().map(|map| map.input.0 as f64).sum::<f64>();
    let each = written / counts[1] as f64;
    let reduces = (0..counts[1]).map(|index| task(1, index)).map(|(seconds, first)| TracedTask {
        work: [each / (WITHIN_MB_S * f64::from(1 << 20)) * 1e3, 0.0, seconds * 1e3],
        first,
        input: Bytes(each as u64),
        host: None,
    });
    let size = Resources { memory_mb: 1024, vcores: 1 };
    let phase = |tasks| TracedPhase { tasks: TracedTasks::Each(tasks), size, reads_after_maps: false };
    let phases = [phase(maps), phase(reduces.collect())];
    TracedJob { name: "job".into(), user: "ann".into(), queue: "default".into(), arrives, phases }
}

/// The jobs of a seed, as a scheme may treat them.
pub fn scenario(assumed: Assumed, seed: u64, scheme: Scheme) -> Result<Scenario, Stuck> {
    let (lasts, often) = assumed.losing;
    let loses = if assumed.all_lost { json!(1) } else { json!({"uniform": {"low": 0, "high": 1}}) };
    let trouble = |share: f64, hours: f64| {
        let every = json!({"exponential": {"mean": hours * 3_600.0 / often}});
        json!({"share": share, "from": every, "lasts": {"exponential": {"mean": lasts}}, "again": every, "loses": loses})
    };
    let read: Result<Scenario, _> = serde_json::from_value(json!({
        "about": "Mantri §6.5",
        "cluster": {
            "nodes": MACHINES, "racks": 5, "memory_mb": 1024 * SLOTS, "vcores": SLOTS, "network": {"within_mb_s": WITHIN_MB_S},
        },
        "hadoop": {
            "allocate": 0, "start_up": START_UP, "commit": 0, "report": 10, "exchange": 5, "poll": 60,
            "slow_start": assumed.slow_start, "can": scheme.can(),
        },
        "trouble": [trouble(0.05, 8.0), trouble(1.0, 150.0)],
        "jobs": [],
    }));
    let mut at = 0.0;
    let traced = (0..JOBS).map(|nth| {
        at += -12.0 * (1.0 - Draws::new(seed).of(Purpose::Arrival, [nth, 0, 0]).uniform()).ln();
        job(assumed, seed, nth, Millis::from_secs_f64(at))
    });
    let traced = traced.collect();
    read.map(|scenario| Scenario { traced, ..scenario }).map_err(|error| Stuck::Miscounted(error.to_string()))
}

/// What the first seed's jobs are.
pub fn assumed() -> Result<Value, Stuck> {
    Ok(sets(Assumed::MAIN, Assumed::OTHERS, vec![workload(&scenario(Assumed::MAIN, 1, Scheme::Mantri)?)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sets_of_assumptions_can_be_played() {
        for assumed in Assumed::OTHERS.into_iter().chain([Assumed::MAIN]) {
            let scenario = scenario(assumed, 1, Scheme::Mantri).unwrap();
            assert_eq!((scenario.faults(), scenario.traced.len()), (vec![], JOBS as usize));
        }
    }

    #[test]
    fn a_job_writes_as_much_as_its_reduces_read_and_is_the_same_each_time() {
        let [maps, reduces] = job(Assumed::MAIN, 1, 7, Millis(5)).phases;
        let read = |phase: &TracedPhase| {
            let inputs = (0..phase.tasks.count()).filter_map(|index| phase.tasks.task(index));
            inputs.map(|task| task.input.0 as f64).sum::<f64>()
        };
        assert!((read(&reduces) / read(&maps) - 0.1).abs() < 1e-6);
        assert_eq!(job(Assumed::MAIN, 1, 7, Millis(5)).phases, [maps, reduces]);
    }

    #[test]
    fn no_scheme_copies_or_restarts_anything() {
        let mut few = scenario(Assumed::MAIN, 1, Scheme::Mantri).unwrap();
        few.traced.truncate(50);
        let outcome = drover_core::sim::run(&few, Scheme::Mantri.actor(Assumed::MAIN), 1).unwrap();
        assert_eq!((outcome.jobs.len(), outcome.decided), (50, Default::default()));
    }
}
