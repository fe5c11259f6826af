//! §5.3, Fig. 12: what cloning gains in small jobs of several phases.
//!
//! Not the paper's: its jobs are Dryad's, whose clones read clones' outputs from each phase to the next. Here such a job is a chain of MapReduce jobs, each of which clones for itself: clones of reduces read
//! clones of maps, and the maps of the next job read what has been committed. So of five edges between six phases three have clones on both sides.
//!
//! Assumed, with reasons, before the first run; all that is not here is as in the room's own table:
//!
//! | what | value | why |
//! |---|---|---|
//! | jobs | Bing's, but for those of the first bin; in their place 16 each of one to six phases | Fig. 12 is of bin 1 in the Bing workload, of at most 6 phases |
//! | tasks | 3 in each phase | the mean of the first bin's two phases is 3.5; that of 91 % of small jobs has equally many in each (§3.2). The same in all, so that nothing but the number of phases varies |
//! | arrivals | exponential, over the time that the others take to arrive | as the others' |
//! | between jobs of a chain | nothing | Dryad's phases follow at once |
//! | a job's time | from its first arrival to its last end | |
//! | what counts | all but the first of each kind | ω is learned from it, kind by kind |

use super::runs::{Runs, readings};
use super::workload::{self, Assumed, BINS, Mix, READING, SLOT_MB, SPLIT, scenario};
use crate::simulation::grid::Progress;
use crate::simulation::reproduce::assumed;
use crate::simulation::reproduce::rows::{Row, compare, row};
use crate::simulation::reproduce::{Effort, Finding};
use crate::stats::Interval;
use drover_core::sim::{Outcome, Scenario, Stuck};
use serde_json::{Value, json};

/// Name of the rows.
pub(super) const FIG12: &str = "dolly.fig12";
const COUNT: u32 = 16;
const TASKS: u32 = 3;
const MOST: u32 = 6;

/// Those that mean something here.
fn others() -> impl Iterator<Item = Assumed> {
    Assumed::OTHERS.into_iter().filter(|assumed| !assumed.by_times)
}

/// Name of the last job of a chain of so many phases.
fn last(phases: u32) -> String {
    format!("{phases} phases")
}

/// The jobs of a chain, in order; they come at random every so many seconds.
fn chain(assumed: Assumed, phases: u32, every: f64) -> Vec<Value> {
    let jobs = phases.div_ceil(2);
    let name = |nth: u32| if nth == jobs { last(phases) } else { format!("{phases} phases, job {nth}") };
    let task = |reading: f64| {
        json!({
            "tasks": TASKS, "copy": reading * assumed.task, "work": (1.0 - reading) * assumed.task,
            "memory_mb": SLOT_MB, "input_mb": SPLIT.0 >> 20,
        })
    };
    let job = |nth: u32| {
        let mut job = json!({"name": name(nth), "user": "ann", "count": COUNT, "maps": task(0.0)});
        if 2 * nth <= phases {
            job["reduces"] = task(READING);
        }
        if nth == 1 {
            job["arrive"] = json!({"every": {"exponential": {"mean": every}}});
        } else {
            job["after"] = json!(name(nth - 1));
        }
        job
    };
    (1..=jobs).map(job).collect()
}

/// Bing's larger jobs and the chains.
fn chains(assumed: Assumed) -> Result<Scenario, Stuck> {
    let mut scenario = scenario(Mix::Bing, assumed, false)?;
    let span = scenario.traced.last().map_or(0.0, |job| job.arrives.as_secs_f64());
    scenario.traced.retain(|job| job.name != BINS[0].0);
    let all: Vec<Value> = (1..=MOST).flat_map(|phases| chain(assumed, phases, span / f64::from(COUNT))).collect();
    scenario.jobs = serde_json::from_value(Value::from(all)).map_err(|error| Stuck::Miscounted(error.to_string()))?;
    Ok(scenario)
}

/// As of the room's others, and the chains.
pub(super) fn assumed() -> Result<Value, Stuck> {
    Ok(json!([workload::assumed()?, assumed::workload(&chains(Assumed::MAIN.of(Mix::Bing))?)]))
}

/// Mean seconds of those of so many phases.
fn seconds(run: &Outcome, phases: u32) -> Option<f64> {
    let name = last(phases);
    let alone = run.jobs.iter().filter(|_| phases <= 2).map(|job| (&job.name, job.nth, job.took));
    let joined = run.workflows.iter().map(|flow| (&flow.name, flow.nth, flow.took));
    let all = alone.chain(joined).filter(|(of, nth, _)| **of == name && *nth > 0);
    let (sum, count) = all.fold((0.0, 0.0), |(sum, count), (.., took)| (sum + took.as_secs_f64(), count + 1.0));
    (count > 0.0).then(|| sum / count)
}

/// Runs with chains of one to six phases.
struct Chains(Runs);

impl Chains {
    fn of(assumed: Assumed, seeds: u64, progress: &dyn Progress) -> Result<Chains, Stuck> {
        let assumed = assumed.of(Mix::Bing);
        Runs::play(|_| chains(assumed), false, readings(assumed), seeds, progress).map(Chains)
    }

    /// Of each seed by how many percent those of so many phases are faster than under LATE.
    fn gains(&self, name: &str, phases: u32) -> Vec<f64> {
        let pairs = self.0.outcomes(name).iter().zip(self.0.outcomes("late"));
        let gain =
            |(own, late): (&Outcome, &Outcome)| Some(100.0 * (1.0 - seconds(own, phases)? / seconds(late, phases)?));
        pairs.filter_map(gain).collect()
    }

    fn gain(&self, name: &str, phases: u32) -> Option<Interval> {
        Interval::of_seeds(&self.gains(name, phases))
    }

    /// By how many points one gains more than another, each with so many phases, seed by seed.
    fn ahead(&self, own: (&str, u32), other: (&str, u32)) -> Option<Interval> {
        let [own, other] = [own, other].map(|(name, phases)| self.gains(name, phases));
        Interval::of_seeds(&own.iter().zip(other).map(|(own, other)| own - other).collect::<Vec<_>>())
    }

    /// By how many points more one's gain falls from two phases to six than another's.
    fn falls_more(&self, name: &str, than: &str) -> Option<Interval> {
        let fall = |name| {
            let [few, many] = [2, MOST].map(|phases| self.gains(name, phases));
            few.into_iter().zip(many).map(|(few, many)| few - many).collect::<Vec<_>>()
        };
        Interval::of_seeds(&fall(name).iter().zip(fall(than)).map(|(own, other)| own - other).collect::<Vec<_>>())
    }
}

fn gains() -> Vec<Row<Chains>> {
    let of = |quantity, published: Option<f64>, measure: fn(&Chains) -> Option<Interval>| {
        row(FIG12, quantity, published, "%", measure, |gain| gain > 5.0)
    };
    vec![
        of("CAC, 1 phase: faster than LATE", None, |runs| runs.gain("cac", 1)),
        of("CAC, 2 phases", None, |runs| runs.gain("cac", 2)),
        of("CAC, 3 phases", None, |runs| runs.gain("cac", 3)),
        of("CAC, 4 phases", None, |runs| runs.gain("cac", 4)),
        of("CAC, 5 phases", None, |runs| runs.gain("cac", 5)),
        of("CAC, 6 phases", None, |runs| runs.gain("cac", 6)),
        of("CC, 1 phase: faster than LATE", None, |runs| runs.gain("cc", 1)),
        of("CC, 2 phases", None, |runs| runs.gain("cc", 2)),
        of("CC, 3 phases", None, |runs| runs.gain("cc", 3)),
        of("CC, 4 phases", None, |runs| runs.gain("cc", 4)),
        of("CC, 5 phases", None, |runs| runs.gain("cc", 5)),
        of("CC, 6 phases", None, |runs| runs.gain("cc", 6)),
        of("delay assignment, 1 phase: faster than LATE", None, |runs| runs.gain("delay", 1)),
        of("delay assignment, 2 phases", None, |runs| runs.gain("delay", 2)),
        of("delay assignment, 3 phases", None, |runs| runs.gain("delay", 3)),
        of("delay assignment, 4 phases", None, |runs| runs.gain("delay", 4)),
        of("delay assignment, 5 phases", None, |runs| runs.gain("delay", 5)),
        of("delay assignment, 6 phases", Some(31.0), |runs| runs.gain("delay", 6)),
    ]
}

/// "CAC's gains drop quickly while CC's performance drops at a moderate rate", delay assignment's little.
fn falls() -> Vec<Row<Chains>> {
    let of = |quantity, measure: fn(&Chains) -> Option<Interval>, holds: fn(f64) -> bool| {
        row(FIG12, quantity, None, "points", measure, holds)
    };
    let more = |points: f64| points > 0.0;
    vec![
        of("CAC: gain at 2 phases beyond that at 6", |runs| runs.ahead(("cac", 2), ("cac", 6)), more),
        of("CAC: it falls more than CC's", |runs| runs.falls_more("cac", "cc"), more),
        of("CC: it falls more than delay assignment's", |runs| runs.falls_more("cc", "delay"), more),
        of(
            "delay assignment: gain at 2 phases beyond that at 6, little",
            |runs| runs.ahead(("delay", 2), ("delay", 6)),
            |points| points <= 10.0,
        ),
        of(
            "6 phases: delay assignment ahead of CC",
            |runs| runs.ahead(("delay", 6), ("cc", 6)),
            |points| points >= 0.0,
        ),
        of(
            "6 phases: delay assignment ahead of CAC",
            |runs| runs.ahead(("delay", 6), ("cac", 6)),
            |points| points >= 0.0,
        ),
    ]
}

pub(super) fn run(effort: Effort) -> Result<Vec<Finding>, Stuck> {
    let played = effort.under(Assumed::MAIN, others(), Chains::of)?;
    Ok(compare(&gains().into_iter().chain(falls()).collect::<Vec<_>>(), &played))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::Silent;

    #[test]
    fn chains_take_the_place_of_bings_small_jobs() {
        let scenario = chains(Assumed::MAIN).unwrap();
        assert_eq!(scenario.faults(), []);
        let phases = |name: &str| scenario.jobs.iter().find(|group| group.name == name).unwrap().phases();
        assert_eq!((phases("1 phases"), phases("2 phases"), phases("3 phases"), scenario.jobs.len()), (1, 2, 1, 12));
        assert!(scenario.traced.iter().all(|job| job.name != BINS[0].0) && scenario.traced.len() > 50);
    }

    #[test]
    fn the_time_of_a_chain_is_that_of_all_its_jobs() {
        let mut scenario = chains(Assumed::MAIN).unwrap();
        scenario.traced.clear();
        let runs = Chains(Runs::play(|_| Ok(scenario.clone()), false, readings(Assumed::MAIN), 1, &Silent).unwrap());
        let late = &runs.0.outcomes("late")[0];
        let flow = late.workflows.iter().find(|flow| flow.name == last(5)).unwrap();
        assert_eq!((late.workflows.len() as u32, flow.jobs, flow.phases), (4 * COUNT, 3, 5));
        let of = |phases| seconds(late, phases).unwrap();
        assert!((1..MOST).all(|phases| of(phases) < of(phases + 1)), "{} {}", of(1), of(MOST));
        for row in gains().into_iter().chain(falls()) {
            assert!((row.measure)(&runs).is_some(), "{}", row.quantity);
        }
    }
}
