//! A trace of attempts on machines that have bad spells, for what blacklisting can do (§2.1.2): the jobs of Facebook's mix, over and over.

use super::workload::{Assumed, Mix, NODES};
use drover_core::model::Millis;
use drover_core::sim::draw::{Draw, Draws, Purpose};
use drover_core::sim::{Dist, Stuck};
use serde::Serialize;

/// What the paper leaves open.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Spells {
    /// p: share of the attempts that straggle, 0–1.
    pub p: f64,
    /// Of these the share that machines' bad spells have beyond what others have, 0–1.
    pub tied: f64,
    /// Share of a machine's time that it is in a bad spell, 0–1.
    pub share: f64,
    /// How long a spell lasts on average, hours.
    pub hours: f64,
    /// Tasks that a machine is given in an hour, on average.
    pub tasks: f64,
    /// A machine's window in which it was given none is one in which none straggled; else it says nothing.
    pub idle_counts: bool,
}

/// What a trace covers, hours.
pub const HOURS: f64 = 48.0;
/// A task's work, seconds: the room's.
pub const TASK: f64 = Assumed::MAIN.task;
/// After so long LATE has a copy of it, seconds; that is as long as an ordinary task.
pub const LATE: f64 = 60.0;

/// One attempt of a trace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ran {
    /// Which machine.
    pub machine: u32,
    /// When it began.
    pub at: Millis,
    /// How long it took, seconds.
    pub seconds: f64,
}

/// A job: the attempts of its phases, one phase after the other.
pub type Phases = Vec<Vec<Ran>>;

/// Spells of one machine, in order: from when to when, hours.
type Bad = Vec<(f64, f64)>;

/// What is drawn from.
struct Luck {
    draws: Draws,
    ordinary: Dist,
    straggling: Dist,
}

fn exponential(draw: &mut Draw, mean: f64) -> f64 {
    -mean * (1.0 - draw.uniform()).ln()
}

fn dist(json: serde_json::Value) -> Result<Dist, Stuck> {
    serde_json::from_value(json).map_err(|error| Stuck::Miscounted(error.to_string()))
}

/// The spells of every machine.
fn bad(luck: &Luck, spells: Spells) -> Vec<Bad> {
    let of = |machine: u32| {
        let mut draw = luck.draws.of(Purpose::Trouble, [machine.into(), 0, 0]);
        let (mut at, mut all) = (0.0, Vec::new());
        let healthy = spells.hours * (1.0 - spells.share) / spells.share;
        // So that the first hour is like any other.
        if draw.uniform() < spells.share {
            at = exponential(&mut draw, spells.hours);
            all.push((0.0, at));
        }
        while at < HOURS {
            let from = at + exponential(&mut draw, healthy);
            at = from + exponential(&mut draw, spells.hours);
            all.push((from, at));
        }
        all
    };
    (0..NODES).map(of).collect()
}

/// A trace, with a seed's luck.
pub fn trace(spells: Spells, seed: u64) -> Result<Vec<Phases>, Stuck> {
    let luck = Luck { draws: Draws::new(seed), ordinary: dist(Mix::ordinary())?, straggling: dist(Mix::straggling())? };
    let bad = bad(&luck, spells);
    let sizes = Mix::Facebook.jobs();
    let mean = f64::from(sizes.iter().map(|(_, tasks)| tasks).sum::<u32>()) / sizes.len() as f64;
    let every = mean / (spells.tasks * f64::from(NODES));
    let (mut hours, mut jobs) = (0.0, Vec::new());
    for (nth, (_, tasks)) in (0_u64..).zip(sizes.into_iter().cycle()) {
        hours += exponential(&mut luck.draws.of(Purpose::Arrival, [nth, 0, 0]), every);
        if hours >= HOURS {
            break;
        }
        let maps = phase(&luck, spells, &bad, (nth, 0), (hours, tasks.div_ceil(2)));
        let after = maps.iter().map(|map| map.seconds).fold(0.0, f64::max) / 3600.0;
        let reduces = phase(&luck, spells, &bad, (nth, 1), (hours + after, tasks / 2));
        jobs.push(vec![maps, reduces]);
    }
    Ok(jobs)
}

fn phase(luck: &Luck, spells: Spells, bad: &[Bad], (job, kind): (u64, u64), (hours, tasks): (f64, u32)) -> Vec<Ran> {
    // So that p of all straggle: outside of spells what is not tied to them, and in them as much again as is tied.
    let outside = spells.p * (1.0 - spells.tied);
    let inside = (outside + spells.p * spells.tied / spells.share).min(1.0);
    let task = |index: u32| {
        let of = |purpose| luck.draws.of(purpose, [job, kind, index.into()]);
        let machine = of(Purpose::Place).below(bad.len());
        let is_bad = bad[machine].iter().any(|(from, to)| (*from..*to).contains(&hours));
        let mut draw = of(Purpose::Luck);
        let straggles = draw.uniform() < if is_bad { inside } else { outside };
        let times = if straggles { &luck.straggling } else { &luck.ordinary }.sample(&mut draw);
        Ran {
            machine: machine as u32,
            at: Millis::from_secs_f64(hours * 3600.0),
            seconds: (TASK * times).min(LATE + TASK),
        }
    };
    (0..tasks).map(task).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_straggle_as_are_to_and_more_of_them_where_machines_have_spells() {
        for tied in [0.0, 0.2] {
            let spells = Spells { p: 0.15, tied, share: 0.05, hours: 2.0, tasks: 5.0, idle_counts: true };
            let all: Vec<Ran> = trace(spells, 1).unwrap().into_iter().flatten().flatten().collect();
            let tasks = all.len() as f64;
            let straggled = all.iter().filter(|ran| ran.seconds > 2.0 * TASK).count() as f64 / tasks;
            assert!((straggled - 0.15).abs() < 0.03, "{straggled}");
            assert!((tasks / (5.0 * f64::from(NODES) * HOURS) - 1.0).abs() < 0.4, "{tasks}");
            assert_eq!(trace(spells, 1).unwrap().into_iter().flatten().flatten().collect::<Vec<_>>(), all);
        }
    }
}
