//! §2.1.2, Table 2: how many machines an EWMA of their stragglers blacklists, and how little jobs gain by it.
//!
//! The paper's is an analysis of Facebook's trace, which is not public: which machines would have been listed, and what jobs would have taken had no task straggled there. So it is here, on traces of
//! attempts that are drawn. Assumed, with reasons, before the first full run:
//!
//! | what | value | why |
//! |---|---|---|
//! | jobs | those of the room's Facebook mix, over and over, for 48 hours on 150 machines | Table 1: 375 K jobs in a month on 3,500 machines |
//! | tasks of a machine | 28 an hour | these numbers, and the 190 tasks of the mix's mean job |
//! | what a task takes, how slow stragglers are, p | as in the room's table | Fig. 5, §2.1.1 |
//! | LATE | ends a straggler by a copy 60 s after its start | the trace's cluster had it; the policy itself is not played |
//! | machines | any, evenly | §2.1.2: stragglers are "spread out uniformly through the cluster" |
//! | what is tied to them | .45 of the stragglers, in spells of an hour and a quarter on average that cover 4 % of each machine's time | calibrated on HotCloud'12 §3.2: machines' shares vary by 2.12 in the median hour; and on the table's first row of an hour, 6 % of the machines and 8.4 %. That 12 % of the stragglers are on these is not to be had along with it: it is 24. Shares of .03–.1, .2–.55 tied, spells of .5–2 hours and 6–60 tasks were looked at, sixteen seeds at most, all rows in view |
//! | a machine's window in which it was given no task | one in which none straggled | what is predicted is "the probability of a machine causing a straggler in a time window" (§2.1.2). Where it says nothing instead, as for Drover's own list, the shorter window lists more machines, as it did in the runs before |
//! | when a job ends | its phases' slowest attempts, one after the other | §2.1.1 replaces rates and leaves all else |
//!
//! An attempt counts in the window in which it began. Varied, one at a time: nothing tied to machines; a fifth of the stragglers; spells of half an hour and of two hours; ten tasks an hour; p of .15 and .25; windows without tasks that say nothing.

use super::listing::{Listing, listings, potential, variation};
use super::spells::{HOURS, LATE, Phases, Spells, TASK, trace};
use super::workload::{self, Assumed, NODES};
use crate::simulation::reproduce::assumed::sets;
use crate::simulation::reproduce::rows::{Row, compare_in_order, row};
use crate::simulation::reproduce::{Effort, Finding};
use crate::stats::Interval;
use drover_core::estimate::odds::Idle;
use drover_core::model::Millis;
use drover_core::sim::Stuck;
use serde_json::{Value, json};

const TABLE2: &str = "dolly.table2";
const MAIN: Spells =
    Spells { p: Assumed::MAIN.p, tied: 0.45, share: 0.04, hours: 1.25, tasks: 28.0, idle_counts: true };
const OTHERS: [Spells; 8] = [
    Spells { p: 0.15, ..MAIN },
    Spells { tied: 0.0, ..MAIN },
    Spells { tied: 0.2, ..MAIN },
    Spells { hours: 0.5, ..MAIN },
    Spells { hours: 2.0, ..MAIN },
    Spells { tasks: 10.0, ..MAIN },
    Spells { p: 0.25, ..MAIN },
    Spells { idle_counts: false, ..MAIN },
];
/// Names of the rows.
pub(super) const ROWS: &[&str] = &[TABLE2];
/// p_b.
const ABOVE: [f64; 3] = [0.3, 0.5, 0.7];
const WINDOWS: [Millis; 2] = [Millis(300_000), Millis(3_600_000)];

/// What came of one trace: for each window each p_b, and its marginals.
struct Analysed {
    listings: [Vec<Listing>; 2],
    potential: f64,
    variation: Option<f64>,
}

/// Of several traces.
struct Traces(Vec<Analysed>);

impl Analysed {
    fn of(trace: &[Phases], idle: Idle) -> Analysed {
        Analysed {
            listings: WINDOWS.map(|window| listings(trace, NODES, (window, idle), &ABOVE)),
            potential: potential(trace),
            variation: variation(trace),
        }
    }
}

impl Traces {
    fn each(&self, of: impl Fn(&Analysed) -> Option<f64>) -> Option<Interval> {
        Interval::of_seeds(&self.0.iter().filter_map(of).collect::<Vec<_>>())
    }

    /// One number of a window's list.
    fn list(&self, window: usize, above: usize, of: fn(&Listing) -> f64) -> Option<Interval> {
        self.each(|one| one.listings[window].get(above).map(of))
    }
}

fn lists() -> Vec<Row<Traces>> {
    let machines = |quantity, published: f64, measure: fn(&Traces) -> Option<Interval>| {
        row(TABLE2, quantity, published, "% of machines", measure, |share| share > 0.0 && share <= 12.0)
    };
    let jobs = |quantity, published: f64, measure: fn(&Traces) -> Option<Interval>| {
        row(TABLE2, quantity, published, "%", measure, |gain| gain > 0.0 && gain <= 12.0)
    };
    vec![
        machines("listed, 5 min, p_b .3", 4.0, |traces| traces.list(0, 0, |list| list.machines)),
        machines("listed, 5 min, p_b .5", 1.6, |traces| traces.list(0, 1, |list| list.machines)),
        machines("listed, 5 min, p_b .7", 0.8, |traces| traces.list(0, 2, |list| list.machines)),
        machines("listed, 1 h, p_b .3", 6.0, |traces| traces.list(1, 0, |list| list.machines)),
        machines("listed, 1 h, p_b .5", 2.8, |traces| traces.list(1, 1, |list| list.machines)),
        machines("listed, 1 h, p_b .7", 1.2, |traces| traces.list(1, 2, |list| list.machines)),
        jobs("mean job shorter, 5 min, p_b .3", 7.1, |traces| traces.list(0, 0, |list| list.jobs)),
        jobs("mean job shorter, 5 min, p_b .5", 4.4, |traces| traces.list(0, 1, |list| list.jobs)),
        jobs("mean job shorter, 5 min, p_b .7", 2.3, |traces| traces.list(0, 2, |list| list.jobs)),
        jobs("mean job shorter, 1 h, p_b .3", 8.4, |traces| traces.list(1, 0, |list| list.jobs)),
        jobs("mean job shorter, 1 h, p_b .5", 5.2, |traces| traces.list(1, 1, |list| list.jobs)),
        jobs("mean job shorter, 1 h, p_b .7", 2.8, |traces| traces.list(1, 2, |list| list.jobs)),
    ]
}

fn marginals() -> Vec<Row<Traces>> {
    vec![
        row(
            TABLE2,
            "stragglers on listed machines, 1 h, p_b .3",
            12.0,
            "%",
            |traces| traces.list(1, 0, |list| list.stragglers),
            |share| (9.0..=15.0).contains(&share),
        ),
        row(
            TABLE2,
            "mean job shorter, were no straggler left",
            47.0,
            "%",
            |traces| traces.each(|one| Some(one.potential)),
            |gain| (42.0..=52.0).contains(&gain),
        ),
        row(
            TABLE2,
            "HotCloud'12 §3.2: variation of machines' shares of stragglers, median hour",
            2.12,
            "ratio",
            |traces| traces.each(|one| one.variation),
            |ratio| (1.7..=2.6).contains(&ratio),
        ),
    ]
}

pub(super) fn assumed() -> Result<Value, Stuck> {
    let made = json!([workload::assumed()?, HOURS, TASK, LATE]);
    Ok(sets(MAIN, OTHERS, vec![made]))
}

pub(super) fn run(effort: Effort) -> Result<Vec<Finding>, Stuck> {
    let played = effort.under(MAIN, OTHERS, |spells, seeds, progress| {
        progress.expect(seeds);
        let analysed = |seed| {
            let idle = if spells.idle_counts { Idle::Zero } else { Idle::Nothing };
            let of = Analysed::of(&trace(spells, seed)?, idle);
            progress.done();
            Ok(of)
        };
        (1..=seeds).map(analysed).collect::<Result<_, Stuck>>().map(Traces)
    })?;
    let lists = lists();
    // By window and p_b: the longer window lists more machines and gains more.
    let orders = [0..6, 6..12].map(|kind| lists[kind].iter().map(|row| row.quantity).collect::<Vec<_>>());
    let rows: Vec<_> = lists.into_iter().chain(marginals()).collect();
    Ok(compare_in_order(&rows, &played, &orders))
}
