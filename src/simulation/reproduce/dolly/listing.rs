//! What blacklisting would have done to a trace (§2.1.2): which machines are predicted to make tasks straggle window by window, and how much sooner jobs would end had no task straggled on these.
//! The prediction and the list are the policy's own ([`StragglerOdds`], [`listed`]).

use super::spells::{Phases, Ran};
use crate::stats::quantile;
use drover_core::estimate::odds::{Idle, StragglerOdds};
use drover_core::estimate::pace::{Pace, STRAGGLES_BELOW};
use drover_core::model::{Millis, NameId, Names, Time};
use drover_core::policy::BlacklistParams;
use drover_core::policy::blacklist::listed;
use std::collections::{BTreeMap, BTreeSet};

/// What came of it, percent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Listing {
    /// Of all machines those listed, the average window.
    pub machines: f64,
    /// Of all stragglers those on listed machines.
    pub stragglers: f64,
    /// What the mean job would take less without these.
    pub jobs: f64,
}

/// Who a trace belongs to.
const USER: &str = "ann";

/// An attempt in its phase: the job, the attempt, and the phase's median seconds.
struct Placed {
    job: usize,
    phase: usize,
    ran: Ran,
    median: f64,
}

impl Placed {
    /// Its rate is below half of the median one, all having as much to do.
    fn straggled(&self) -> bool {
        self.median < STRAGGLES_BELOW * self.ran.seconds
    }
}

fn placed(trace: &[Phases]) -> Vec<Placed> {
    let of_phase = |job: usize, phase: usize, all: &[Ran]| -> Vec<Placed> {
        let seconds: Vec<f64> = all.iter().map(|ran| ran.seconds).collect();
        let median = quantile(&seconds, 0.5).unwrap_or_default();
        all.iter().map(|ran| Placed { job, phase, ran: *ran, median }).collect()
    };
    let phases =
        trace.iter().enumerate().flat_map(|(job, phases)| phases.iter().enumerate().map(move |one| (job, one)));
    let mut all: Vec<Placed> = phases.flat_map(|(job, (phase, all))| of_phase(job, phase, all)).collect();
    all.sort_by_key(|placed| placed.ran.at);
    all
}

/// Seconds of the mean job: its phases' slowest attempts, of which stragglers that are `healed` take the median time.
fn mean_job(all: &[Placed], jobs: usize, healed: &dyn Fn(usize) -> bool) -> f64 {
    let mut slowest: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for (nth, placed) in all.iter().enumerate() {
        let seconds = if placed.straggled() && healed(nth) { placed.median } else { placed.ran.seconds };
        let most = slowest.entry((placed.job, placed.phase)).or_default();
        *most = most.max(seconds);
    }
    slowest.values().sum::<f64>() / jobs as f64
}

/// What the mean job would take less had no task straggled at all, percent.
pub fn potential(trace: &[Phases]) -> f64 {
    let all = placed(trace);
    let of = |healed: &dyn Fn(usize) -> bool| mean_job(&all, trace.len(), healed);
    100.0 * (1.0 - of(&|_| true) / of(&|_| false))
}

/// What comes of listing, for each window, the machines whose predicted probability is above one of these, where a machine's window without attempts says that.
pub fn listings(trace: &[Phases], machines: u32, (window, idle): (Millis, Idle), above: &[f64]) -> Vec<Listing> {
    let mut names = Names::default();
    let hosts: Vec<NameId> = (0..machines).filter_map(|number| names.intern(&format!("n{number}"))).collect();
    let all = placed(trace);
    let of = |above: f64| {
        let params = BlacklistParams { above, ..BlacklistParams::paper() };
        let (mut odds, mut now, mut on, mut counts) =
            (StragglerOdds::with_idle(window, idle), None, BTreeSet::new(), (0, 0));
        let mut healed = BTreeSet::new();
        for (nth, placed) in all.iter().enumerate() {
            let (of, host) = (placed.ran.at.0 / window.0, hosts[placed.ran.machine as usize]);
            // Windows without any attempt count, too.
            for begun in now.map_or(of, |now| now + 1)..=of {
                odds.roll(Time(begun * window.0));
                let list = listed(&odds, USER, hosts.len(), |_| true, &params);
                counts = (counts.0 + 1, counts.1 + list.len());
                on = list.into_iter().map(|machine| machine.host).collect();
            }
            now = Some(of);
            if placed.straggled() && on.contains(&host) {
                healed.insert(nth);
            }
            let factor = placed.ran.seconds / placed.median;
            odds.add(&Pace { host, factor, straggled: placed.straggled() }, USER, Time(placed.ran.at.0));
        }
        let took = |healed: &dyn Fn(usize) -> bool| mean_job(&all, trace.len(), healed);
        let stragglers = all.iter().filter(|placed| placed.straggled()).count();
        Listing {
            machines: 100.0 * counts.1 as f64 / (counts.0 * machines as usize).max(1) as f64,
            stragglers: 100.0 * healed.len() as f64 / stragglers.max(1) as f64,
            jobs: 100.0 * (1.0 - took(&|nth| healed.contains(&nth)) / took(&|_| false)),
        }
    };
    above.iter().map(|above| of(*above)).collect()
}

/// Standard deviation over mean of machines' shares of stragglers within an hour, the median hour.
pub fn variation(trace: &[Phases]) -> Option<f64> {
    let mut hours: BTreeMap<u64, BTreeMap<u32, (f64, f64)>> = BTreeMap::new();
    for placed in placed(trace) {
        let of_hour = hours.entry(placed.ran.at.0 / 3_600_000).or_default();
        let (slow, tasks) = of_hour.entry(placed.ran.machine).or_default();
        *slow += f64::from(u8::from(placed.straggled()));
        *tasks += 1.0;
    }
    let of = |machines: &BTreeMap<u32, (f64, f64)>| {
        let shares: Vec<f64> = machines.values().map(|(slow, tasks)| slow / tasks).collect();
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        let variance = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / shares.len() as f64;
        (mean > 0.0).then(|| variance.sqrt() / mean)
    };
    quantile(&hours.values().filter_map(of).collect::<Vec<_>>(), 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job of one phase that began in that window of a minute: attempts by machine and seconds.
    fn job(window: u64, attempts: &[(u32, f64)]) -> Phases {
        vec![
            attempts
                .iter()
                .map(|(machine, seconds)| Ran { machine: *machine, at: Millis(window * 60_000), seconds: *seconds })
                .collect(),
        ]
    }

    #[test]
    fn a_machine_is_listed_for_the_window_after_it_made_tasks_straggle_and_let_in_again_by_what_it_does_then() {
        // Machine 0 straggles in windows 0 and 1 and not in 2 and 3: its p is 1, 1, .5, .25 from windows 1, 2, 3, 4 on. The others never do.
        let (bad, fine) = ([(0, 30.0), (1, 10.0), (2, 10.0)], [(0, 10.0), (1, 10.0), (2, 10.0)]);
        let trace = [job(0, &bad), job(1, &bad), job(2, &fine), job(3, &fine), job(4, &bad)];
        let of = |above| listings(&trace, 4, (Millis(60_000), Idle::Nothing), &[above])[0];
        // One machine of four in windows 1 to 3 of 5; of three stragglers that of window 1; it would have saved 20 of 110 s.
        let expected = Listing { machines: 100.0 * 3.0 / 20.0, stragglers: 100.0 / 3.0, jobs: 100.0 * 20.0 / 110.0 };
        let near = |a: Listing, b: Listing| {
            [(a.machines, b.machines), (a.stragglers, b.stragglers), (a.jobs, b.jobs)]
                .iter()
                .all(|(a, b)| (a - b).abs() < 1e-9)
        };
        assert!(near(of(0.3), expected), "{:?}", of(0.3));
        let strict = Listing { machines: 10.0, ..expected };
        assert!(near(of(0.5), strict), ".5 is not above it: {:?}", of(0.5));
        // .25 in window 4, whose straggler is gone, too.
        let all = Listing { machines: 20.0, stragglers: 200.0 / 3.0, jobs: 100.0 * 40.0 / 110.0 };
        assert!(near(of(0.2), all), "{:?}", of(0.2));
        assert!((potential(&trace) - 100.0 * 60.0 / 110.0).abs() < 1e-9);
    }

    #[test]
    fn windows_without_attempts_are_counted_and_end_a_listing_where_they_say_that_none_straggled() {
        let trace = [job(0, &[(0, 30.0), (1, 10.0), (2, 10.0)]), job(3, &[(0, 10.0), (1, 10.0), (2, 10.0)])];
        // Machine 0 straggles in window 0: it is listed in 1 to 3, or in 1 alone, of four.
        for (idle, windows) in [(Idle::Nothing, 3.0), (Idle::Zero, 1.0)] {
            let of = listings(&trace, 4, (Millis(60_000), idle), &[0.5])[0];
            assert_eq!((of.machines, of.stragglers, of.jobs), (100.0 * windows / 16.0, 0.0, 0.0), "{idle:?}");
        }
    }

    #[test]
    fn the_variation_over_machines_is_that_of_the_median_hour() {
        // Shares of 1, 0 and 0: mean 1/3, deviation √2/3.
        let trace = [job(0, &[(0, 30.0), (1, 10.0), (2, 10.0)])];
        assert!((variation(&trace).unwrap() - 2_f64.sqrt()).abs() < 1e-9);
    }
}
