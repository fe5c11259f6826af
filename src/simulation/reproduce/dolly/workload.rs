//! Workloads like the paper's two traces. Every seed meets the same jobs at the same times; only luck differs.

use crate::simulation::reproduce::assumed::{sets, workload};
use drover_core::model::{Bytes, Millis, Resources};
use drover_core::sim::draw::{Draw, Draws, Purpose};
use drover_core::sim::{Dist, Scenario, Stuck, TracedJob, TracedPhase, TracedTask, TracedTasks};
use serde::Serialize;
use serde_json::{Value, json};

/// One of the two traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mix {
    /// Facebook's Hadoop cluster.
    Facebook,
    /// Bing's Dryad cluster.
    Bing,
}

/// What the paper leaves open and is varied.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Assumed {
    /// Probability that an attempt straggles, in Facebook's cluster.
    pub p: f64,
    /// How many times as probable it is in Bing's.
    pub bing: f64,
    /// A task's work, seconds.
    pub task: f64,
    /// Share of the containers that are in use on average, 0–1.
    pub load: f64,
    /// α.
    pub contention: f64,
    /// Jobs that are denied cloning get copies by Drover's own policy.
    pub beside: bool,
    /// What all jobs gain is read off their mean times, not averaged over jobs.
    pub by_times: bool,
}

impl Assumed {
    /// The main set.
    pub const MAIN: Assumed =
        Assumed { p: 0.08, bing: 0.65, task: 1.5, load: 0.15, contention: 0.5, beside: false, by_times: false };

    /// The others.
    pub const OTHERS: [Assumed; 9] = [
        Assumed { p: 0.15, ..Assumed::MAIN },
        Assumed { task: 8.0, ..Assumed::MAIN },
        Assumed { p: 0.25, task: 8.0, ..Assumed::MAIN },
        Assumed { bing: 1.0, ..Assumed::MAIN },
        Assumed { load: 0.05, ..Assumed::MAIN },
        Assumed { load: 0.3, ..Assumed::MAIN },
        Assumed { contention: 1.0, ..Assumed::MAIN },
        Assumed { beside: true, ..Assumed::MAIN },
        Assumed { by_times: true, ..Assumed::MAIN },
    ];

    /// What holds of a mix, with its own p.
    pub fn of(self, mix: Mix) -> Assumed {
        match mix {
            Mix::Facebook => self,
            Mix::Bing => Assumed { p: self.p * self.bing, bing: 1.0, ..self },
        }
    }
}

/// The bins of Table 3 by the names of their jobs, with the fewest and the most tasks.
pub const BINS: [(&str, f64, f64); 5] = [
    ("tiny", 4.0, 10.0),
    ("small", 11.0, 50.0),
    ("middle", 51.0, 150.0),
    ("large", 151.0, 500.0),
    ("huge", 501.0, 12_000.0),
];

const JOBS: f64 = 160.0;
/// Machines.
pub const NODES: u32 = 150;
const SLOTS: u32 = 12;
/// Containers that fit the cluster.
pub const SLOTS_IN_ALL: u32 = NODES * SLOTS;
/// What each of them is of memory.
pub const SLOT_MB: u64 = 2048;
/// Share of a reduce's work that is reading.
pub const READING: f64 = 0.3125;
/// What a task reads.
pub const SPLIT: Bytes = Bytes(64 << 20);

impl Mix {
    fn shares(self) -> [f64; 5] {
        match self {
            Mix::Facebook => [0.82, 0.08, 0.04, 0.035, 0.025],
            Mix::Bing => [0.61, 0.22, 0.08, 0.06, 0.03],
        }
    }

    /// How many times longer an attempt takes that does not straggle.
    pub fn ordinary() -> serde_json::Value {
        json!({"uniform": {"low": 0.92, "high": 1.08}})
    }

    /// How many times longer one takes that does.
    pub fn straggling() -> serde_json::Value {
        json!({"pareto": {"least": 2.5, "shape": 0.6, "most": 8}})
    }

    /// How many times longer an attempt takes.
    fn luck(p: f64) -> serde_json::Value {
        json!({"mixture": [[1.0 - p, Mix::ordinary()], [p, Mix::straggling()]]})
    }

    /// Names of bins and numbers of tasks, in order of arrival.
    pub fn jobs(self) -> Vec<(&'static str, u32)> {
        let of_bin = |((name, least, most), share): ((&'static str, f64, f64), f64)| {
            let count = (share * JOBS).round();
            (0..count as u32).map(move |nth| (name, size(name, least, most, (f64::from(nth) + 0.5) / count)))
        };
        let all = BINS.into_iter().zip(self.shares()).flat_map(of_bin);
        let mut drawn: Vec<(f64, (&str, u32))> =
            all.enumerate().map(|(nth, job)| (self.draw(nth, 1).uniform(), job)).collect();
        drawn.sort_by(|a, b| a.0.total_cmp(&b.0));
        drawn.into_iter().map(|(_, job)| job).collect()
    }

    /// The same draws for every seed.
    fn draw(self, nth: usize, what: u64) -> Draw {
        Draws::new(1).of(Purpose::Arrival, [self as u64, nth as u64, what])
    }
}

/// The number of tasks below which that share of a bin's jobs lies.
fn size(name: &str, least: f64, most: f64, share: f64) -> u32 {
    let power = |exponent: f64| {
        let of = |size: f64| size.powf(1.0 - exponent);
        (of(least) + share * (of(most) - of(least))).powf(1.0 / (1.0 - exponent))
    };
    let size = match name {
        "tiny" => least + share * (most + 1.0 - least),
        "huge" => least * (most / least).powf(share),
        _ => power(1.9),
    };
    size as u32
}

/// The scenario; `ideal`: with every attempt's luck the median one.
pub fn scenario(mix: Mix, assumed: Assumed, ideal: bool) -> Result<Scenario, Stuck> {
    let luck = if ideal { json!(1.0) } else { Mix::luck(assumed.p) };
    let can = json!({
        "duplicate": true, "restart": true, "withdraw": true, "place": true, "copy_waiting": true, "reads": true, "job_clones": true,
    });
    let read: Result<Scenario, _> = serde_json::from_value(json!({
        "about": "Dolly §5",
        "cluster": {"nodes": NODES, "memory_mb": u64::from(SLOTS) * SLOT_MB, "vcores": SLOTS, "order": "fair"},
        "hadoop": {
            "allocate": 0, "start_up": 0, "commit": 0, "report": 10, "exchange": 1, "last_words": true, "poll": 0.01, "slow_start": 1.0,
            "contention": assumed.contention, "can": can,
        },
        "slowness": {"attempt": luck},
        "jobs": [],
    }));
    let scenario = read.map_err(|error| Stuck::Miscounted(error.to_string()))?;
    Ok(Scenario { traced: traced(mix, assumed)?, ..scenario })
}

/// What both mixes are.
pub fn assumed() -> Result<Value, Stuck> {
    let of = |mix: Mix| Ok(json!([workload(&scenario(mix, Assumed::MAIN.of(mix), false)?), mix.jobs()]));
    Ok(sets(Assumed::MAIN, Assumed::OTHERS, vec![of(Mix::Facebook)?, of(Mix::Bing)?]))
}

fn traced(mix: Mix, assumed: Assumed) -> Result<Vec<TracedJob>, Stuck> {
    let jobs = mix.jobs();
    let tasks: u32 = jobs.iter().map(|(_, tasks)| tasks).sum();
    let work = f64::from(tasks) * assumed.task * mean_luck(mix, assumed.p)?;
    let every = work / (f64::from(NODES * SLOTS) * assumed.load) / jobs.len() as f64;
    let mut at = 0.0;
    let job = |(nth, (name, tasks)): (usize, (&'static str, u32))| {
        at += -every * (1.0 - mix.draw(nth, 2).uniform()).ln();
        TracedJob {
            name: name.to_owned(),
            user: "ann".into(),
            queue: "default".into(),
            arrives: Millis::from_secs_f64(at),
            phases: [phase(tasks.div_ceil(2), assumed.task, 0.0), phase(tasks / 2, assumed.task, READING)],
        }
    };
    Ok(jobs.into_iter().enumerate().map(job).collect())
}

fn phase(tasks: u32, seconds: f64, reading: f64) -> TracedPhase {
    let work = [seconds * reading * 1e3, 0.0, seconds * (1.0 - reading) * 1e3];
    TracedPhase {
        tasks: TracedTasks::Alike(tasks, TracedTask { work, first: 1.0, input: SPLIT, host: None }),
        size: Resources { memory_mb: SLOT_MB, vcores: 1 },
        reads_after_maps: false,
    }
}

fn mean_luck(mix: Mix, p: f64) -> Result<f64, Stuck> {
    const DRAWS: usize = 10_000;
    let luck: Dist = serde_json::from_value(Mix::luck(p)).map_err(|error| Stuck::Miscounted(error.to_string()))?;
    Ok((0..DRAWS).map(|nth| luck.sample(&mut mix.draw(nth, 3))).sum::<f64>() / DRAWS as f64)
}

/// Share (0–1) of the tasks that the smallest `share` of the jobs have: what they use, as all tasks are alike.
pub fn used_by_smallest(mix: Mix, share: f64) -> f64 {
    let mut sizes: Vec<u32> = mix.jobs().into_iter().map(|(_, tasks)| tasks).collect();
    sizes.sort_unstable();
    let smallest: u32 = sizes[..(sizes.len() as f64 * share) as usize].iter().sum();
    f64::from(smallest) / f64::from(sizes.iter().sum::<u32>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jobs_are_as_the_paper_has_them_of_small_and_large_ones() {
        for (mix, small, used) in [(Mix::Facebook, 0.82, 0.06), (Mix::Bing, 0.61, 0.11)] {
            let jobs = mix.jobs();
            let tiny = jobs.iter().filter(|(_, tasks)| *tasks <= 10).count() as f64 / jobs.len() as f64;
            assert!((tiny - small).abs() < 0.01 && (used_by_smallest(mix, 0.9) - used).abs() < 0.02, "{mix:?} {tiny}");
            let fits = |(name, tasks): &(&str, u32)| {
                BINS.iter().any(|(bin, least, most)| bin == name && (*least..=*most).contains(&f64::from(*tasks)))
            };
            assert!(jobs.iter().all(fits), "{jobs:?}");
            assert_eq!(scenario(mix, Assumed::MAIN, false).unwrap().faults(), []);
        }
    }
}
