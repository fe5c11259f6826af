//! Where reduces are put (§5.2, §6.4: Figs. 19 and 20): reduce phases alone in a cluster whose free slots lie unevenly, and whose links others use, too.
//!
//! Assumed, with reasons, before the first full run:
//!
//! | what | value | why |
//! |---|---|---|
//! | cluster | 50 racks of 40 servers, 119 MiB/s each | §6.1: thousands of servers, roughly 40 to a rack; 1 Gbit/s was usual. Of 12 racks, a first trial, each has so much of what is read that the worst uplink holds all reduces, wherever they are |
//! | a rack's links | a sixteenth of what its servers could send | §5.2 calls them over-subscribed and prints no number; see below |
//! | what others take of them | up to .7 of each, even, anew every 100 s | not printed; "change with time and as a function of other jobs" |
//! | free slots in a rack | lognormal, median 3, σ 1.4, 2–40 | what is free first lies in few racks: §6.2 has 5.5 tasks in each that has any |
//! | reduces | lognormal, median 50, σ .7, 4–150 | the same |
//! | a reduce | reads for as long as its server alone needs: lognormal, median 20 s, σ 1.2, 2–600 s; then works a fifth of that | §6.4 has short phases and long ones |
//! | maps | 400, on servers anywhere, all ended before | a barrier; §4.2: "the maps are spread across the cluster" |
//! | baseline | the first free slot that comes, drawn | §6.4: Dryad's |
//! | what is done | placement alone: no copies | §6.4 |
//! | `Start`, `Equal` | links as they are at the start of the phase, or equal ones | §6.4; Mantri's own takes the first for short phases, within a minute of all uplinks |
//! | `IdealReduce` | links as they will be on average while the phase reads | §6.1: "perfect up-to-date knowledge" |
//!
//! The third calibration. With links a quarter of what servers could send and others anew every 30 s, the first one's, Dryad's slowest reduce was 1.6 times behind its median one (5.25), and no short phase noticed
//! which links it had (§6.4). A quarter, an eighth, a sixteenth and a twentieth, and 60 to 300 s, were looked at, two seeds each, with all of the section's numbers. Both had others take .9 at most, with which
//! Mantri gains 31 % at the median (60), since free machines are drawn evenly. This one looked at .5, .6 and .7, twenty seeds each: 63, 61 and 59 %; with .7 `Start` and `Equal` each win where they do in print, which with the others
//! chance may have made. Nothing that was looked at brings Dryad's unevenness at the median beyond 2.4.
//!
//! Varied, one at a time: others change every 30 s, and every 5 min; they take half at most, and .9; free slots lie evenly (σ .3); a quarter of the over-subscription.

use super::recompute::OTHER_DRAWS;
use super::runs::weighed;
use super::workload::{START_UP, lognormal};
use crate::simulation::grid::{Progress, named};
use crate::simulation::reproduce::assumed::{sets, workload};
use crate::stats::{Interval, quantile};
use drover_core::engine::EngineParams;
use drover_core::model::{Millis, TaskKind};
use drover_core::policy::PolicyName;
use drover_core::sim::draw::{Draws, Purpose};
use drover_core::sim::{Outcome, Scenario, Stuck, Watch, run_watching};
use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const RACKS: u32 = 50;
const SERVERS: u32 = 40;
const SERVER_MB_S: f64 = 119.0;
const PHASES: u64 = 40;

/// What the paper leaves open and is varied.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Assumed {
    /// Seconds between changes of what others take.
    pub every: f64,
    /// The most that they take.
    pub most: f64,
    /// How unevenly free slots lie.
    pub uneven: f64,
    /// What all servers of a rack could send over what its link lets through.
    pub over: f64,
}

impl Assumed {
    /// The main set.
    pub const MAIN: Assumed = Assumed { every: 100.0, most: 0.7, uneven: 1.4, over: 16.0 };

    /// The others.
    pub const OTHERS: [Assumed; 6] = [
        Assumed { every: 30.0, ..Assumed::MAIN },
        Assumed { every: 300.0, ..Assumed::MAIN },
        Assumed { most: 0.5, ..Assumed::MAIN },
        Assumed { most: 0.9, ..Assumed::MAIN },
        Assumed { uneven: 0.3, ..Assumed::MAIN },
        Assumed { over: 4.0, ..Assumed::MAIN },
    ];
}

/// How a phase's racks are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// By whatever slot is free first.
    Dryad,
    /// §5.2.
    Mantri,
    /// By links as they are at the start.
    Start,
    /// As though all links were equal.
    Equal,
    /// By links as they will be.
    Ideal,
    /// By whatever slot is free first, with other draws: what is no difference at all.
    Null,
}

impl Scheme {
    const ALL: [Scheme; 6] = [Scheme::Dryad, Scheme::Mantri, Scheme::Start, Scheme::Equal, Scheme::Ideal, Scheme::Null];

    fn places(self) -> bool {
        !matches!(self, Scheme::Dryad | Scheme::Null)
    }

    fn params(self) -> EngineParams {
        let mut params = EngineParams::paper(if self.places() { PolicyName::Mantri } else { PolicyName::None });
        params.govern.cluster_cap = 0.0;
        match self {
            Scheme::Start | Scheme::Ideal => params.measures.short_phase = Millis(u64::MAX),
            Scheme::Equal => params.measures.short_phase = Millis(0),
            Scheme::Dryad | Scheme::Null | Scheme::Mantri => {}
        }
        params
    }
}

/// A reduce phase.
#[derive(Debug, Clone)]
struct Phase {
    free: Vec<u32>,
    reduces: u32,
    /// How long a server alone reads for a reduce, seconds.
    reads: f64,
}

impl Phase {
    fn drawn(assumed: Assumed, seed: u64, nth: u64) -> Phase {
        let mut draw = Draws::new(seed).of(Purpose::Tasks, [nth, 0, 0]);
        let mut lognormal = |median, sigma| lognormal(&mut draw, median, sigma);
        Phase {
            free: (0..RACKS).map(|_| lognormal(3.0, assumed.uneven).clamp(2.0, SERVERS.into()) as u32).collect(),
            reduces: lognormal(50.0, 0.7).clamp(4.0, 150.0) as u32,
            reads: lognormal(20.0, 1.2).clamp(2.0, 600.0),
        }
    }

    /// Servers stand in racks in turn; those that are taken have no room.
    fn kinds(&self) -> Vec<Value> {
        let room = |node: u32| if node / RACKS < self.free[(node % RACKS) as usize] { 1024 } else { 1 };
        let all: Vec<u32> = (0..RACKS * SERVERS).map(room).collect();
        all.chunk_by(|a, b| a == b).map(|alike| json!({"nodes": alike.len(), "memory_mb": alike[0]})).collect()
    }

    fn scenario(&self, assumed: Assumed, scheme: Scheme) -> Result<Scenario, Stuck> {
        let link = f64::from(SERVERS) * SERVER_MB_S / assumed.over;
        // Others leave half of it on average, and the phase reads for about twice as long as a server alone would.
        let foresight = if scheme == Scheme::Ideal { 2.0 * self.reads } else { 0.0 };
        let others = json!({"every": assumed.every, "share": {"uniform": {"low": 0, "high": assumed.most}}, "foresight": foresight});
        let read: Result<Scenario, _> = serde_json::from_value(json!({
            "about": "Mantri §6.4",
            "cluster": {
                "nodes": RACKS * SERVERS, "racks": RACKS, "vcores": 1, "kinds": self.kinds(),
                "network": {"uplink_mb_s": link, "downlink_mb_s": link, "others": others},
            },
            "hadoop": {
                "allocate": 0, "start_up": START_UP, "commit": 0, "report": 10, "exchange": 10, "poll": 10, "slow_start": 1.0,
                "can": {"duplicate": true, "place_reduces": scheme.places()},
            },
            "jobs": [{
                "name": "phase",
                "maps": {"tasks": 400, "work": 2, "input_mb": 0, "memory_mb": 1},
                "reduces": {
                    "tasks": self.reduces, "copy": self.reads, "work": 0.2 * self.reads,
                    "input_mb": self.reads * SERVER_MB_S,
                },
            }],
        }));
        read.map_err(|error| Stuck::Miscounted(error.to_string()))
    }

    fn play(&self, assumed: Assumed, scheme: Scheme, seed: u64) -> Result<Taken, Stuck> {
        let mut watch = Watch::new("phase", 0, usize::MAX);
        let seed = if scheme == Scheme::Null { seed + OTHER_DRAWS } else { seed };
        let scenario = self.scenario(assumed, scheme)?;
        let outcome = run_watching(&scenario, scheme.params(), seed, &mut watch)
            .map_err(|stuck| named(stuck, &format!("{scheme:?}"), &scenario, seed))?;
        let reduces = watch.rows().filter(|row| row.kind == TaskKind::Reduce);
        let racks: BTreeSet<u32> = reduces.map(|row| row.node % RACKS).collect();
        Taken::of(&outcome, racks.len()).ok_or_else(|| Stuck::Miscounted("a phase did not end".into()))
    }
}

/// What came of a reduce phase.
#[derive(Debug, Clone, Copy)]
pub struct Taken {
    seconds: f64,
    /// The median reduce's throughput over the slowest one's, as all read as much.
    pub behind: f64,
    /// Reduces for each rack that has any.
    pub spread: f64,
}

impl Taken {
    fn of(outcome: &Outcome, racks: usize) -> Option<Taken> {
        let phase = outcome.jobs.first()?.phases.iter().find(|phase| phase.kind == TaskKind::Reduce)?;
        Some(Taken {
            seconds: phase.took.as_secs_f64(),
            behind: phase.slowest.as_secs_f64() / phase.median.as_secs_f64(),
            spread: f64::from(phase.tasks) / racks as f64,
        })
    }
}

/// Phases of one seed, each with how long its reads take alone and what it took under each scheme.
type Sample = Vec<(f64, Vec<Taken>)>;

/// A sample for each seed.
pub struct Runs(Vec<Sample>);

impl Runs {
    /// Plays so many seeds' phases under each scheme.
    pub fn of(assumed: Assumed, seeds: u64, progress: &dyn Progress) -> Result<Runs, Stuck> {
        let one = |(seed, nth): (u64, u64)| {
            let phase = Phase::drawn(assumed, seed, nth);
            let taken = Scheme::ALL.map(|scheme| phase.play(assumed, scheme, seed * PHASES + nth));
            progress.done();
            Ok((phase.reads, taken.into_iter().collect::<Result<Vec<_>, Stuck>>()?))
        };
        progress.expect(seeds * PHASES);
        let all: Vec<(u64, u64)> = (1..=seeds).flat_map(|seed| (0..PHASES).map(move |nth| (seed, nth))).collect();
        let played = all.into_par_iter().map(one).collect::<Result<Vec<_>, Stuck>>()?;
        Ok(Runs(played.chunks(PHASES as usize).map(<[_]>::to_vec).collect()))
    }

    fn each(&self, of: impl Fn(&Sample) -> Option<f64>) -> Option<Interval> {
        Interval::of_seeds(&self.0.iter().filter_map(of).collect::<Vec<_>>())
    }

    /// Of phases weighed by their lifetimes, the median of by how many percent less time one takes than under another scheme.
    pub fn faster(&self, scheme: Scheme, than: Scheme, which: fn(f64) -> bool) -> Option<Interval> {
        let less = |taken: &[Taken]| {
            let [own, other] = [scheme, than].map(|one| taken[one as usize].seconds);
            (100.0 * (1.0 - own / other), taken[Scheme::Dryad as usize].seconds)
        };
        let meant =
            |sample: &Sample| sample.iter().filter(|(reads, _)| which(*reads)).map(|(_, taken)| less(taken)).collect();
        self.each(|sample| weighed(meant(sample), 0.5))
    }

    /// A quantile over phases.
    pub fn quantile(&self, scheme: Scheme, share: f64, of: fn(&Taken) -> f64) -> Option<Interval> {
        self.each(|sample| {
            quantile(&sample.iter().map(|(_, taken)| of(&taken[scheme as usize])).collect::<Vec<_>>(), share)
        })
    }
}

/// What the first seed's first phases are.
pub fn assumed() -> Result<Value, Stuck> {
    let of = |nth| Ok(workload(&Phase::drawn(Assumed::MAIN, 1, nth).scenario(Assumed::MAIN, Scheme::Ideal)?));
    Ok(sets(Assumed::MAIN, Assumed::OTHERS, (0..3).map(of).collect::<Result<_, Stuck>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_servers_of_a_rack_have_room_as_slots_are_free() {
        let phase = Phase { free: (0..RACKS).map(|rack| 1 + rack % SERVERS).collect(), reduces: 30, reads: 5.0 };
        let scenario = phase.scenario(Assumed::MAIN, Scheme::Ideal).unwrap();
        assert_eq!(scenario.faults(), []);
        let free = (0..RACKS * SERVERS).filter(|node| scenario.cluster.offers(*node).memory_mb == 1024);
        let mut in_rack = vec![0; RACKS as usize];
        free.for_each(|node| in_rack[(node % RACKS) as usize] += 1);
        assert_eq!(in_rack, phase.free);
    }

    #[test]
    fn reduces_that_are_placed_leave_no_rack_with_many_while_others_have_none() {
        let phase = Phase::drawn(Assumed::MAIN, 1, 2);
        let of = |scheme| phase.play(Assumed::MAIN, scheme, 1).unwrap();
        assert!(of(Scheme::Equal).spread <= of(Scheme::Dryad).spread);
        assert!(of(Scheme::Ideal).seconds <= 1.1 * of(Scheme::Dryad).seconds);
    }
}
