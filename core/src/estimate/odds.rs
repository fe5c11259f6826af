//! How likely a machine, or any machine, is to make a task straggle: Dolly, HotCloud'12 §3.2 and NSDI'13 §2.1.2 and §3.2.

use super::lost::outputs;
use super::machine::{Machine, Windows};
use super::pace::{Pace, paces};
pub use super::windows::{Idle, Odds};
use crate::model::{Job, Millis, Name, NameId, Names, TaskKind, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Tasks of one job that count for one machine in a window: no job alone decides what a machine is taken for. The cluster's p is of all tasks.
const OF_ONE_JOB: u32 = 32;

/// Machines that are told apart: twice as many as names that no ResourceManager lists could take.
const MACHINES_MAX: usize = 20_000;

/// Those of each machine, and of the cluster as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StragglerOdds {
    /// Length of a machine's window. NSDI'13 §2.1.2: 5 minutes or an hour.
    machine_window: Millis,
    /// What such a window without tasks says.
    #[serde(default)]
    idle: Idle,
    #[serde(with = "crate::model::pairs")]
    machines: BTreeMap<NameId, Machine>,
    cluster: Odds,
    /// Fewer tasks than these are few for an hour of the cluster's.
    #[serde(default)]
    few: f64,
    /// The machines' window when they were last rolled.
    rolled: u64,
}

/// The same without the numbers that hosts have in one process alone: what outlasts it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamedOdds {
    odds: StragglerOdds,
    machines: Vec<(Name, Machine)>,
}

/// NSDI'13 §3.2: "The probability of a straggler, p, is calculated every hour"; §2.1.2 tries that for machines, too. That an hour's p is averaged with those before is printed of machines (§2.1.2)
/// and ours for the cluster.
const HOUR: Millis = Millis(3_600_000);

/// Mantri §5.3: the probability of loss "is estimated for a machine over a long period of time"; which machines lose most is "steady over days but varies over weeks" (§4.2).
const DAY: Millis = Millis(86_400_000);

impl StragglerOdds {
    /// None known yet.
    pub fn new(machine_window: Millis) -> StragglerOdds {
        StragglerOdds {
            machine_window,
            idle: Idle::default(),
            machines: BTreeMap::new(),
            cluster: Odds::default(),
            few: 0.0,
            rolled: 0,
        }
    }

    /// The cluster's p is to come to rest on so many tasks, however few an hour has. With hours of half as many it rests on half as many more.
    pub fn rest_on(&mut self, tasks: f64) {
        self.few = tasks / 2.0;
    }

    /// None known yet, where a machine's window without tasks says that.
    pub fn with_idle(machine_window: Millis, idle: Idle) -> StragglerOdds {
        StragglerOdds { idle, ..StragglerOdds::new(machine_window) }
    }

    /// Learns from a job that has ended well, at `now` on the service's clock. One pass over its tasks.
    pub fn learn(&mut self, job: &Job, now: Time) {
        let mut counted: BTreeMap<NameId, u32> = BTreeMap::new();
        for pace in TaskKind::ALL.into_iter().flat_map(|kind| paces(job, kind)) {
            self.add_to_cluster(&pace, &job.user, now);
            if counts(&mut counted, pace.host) {
                self.add_to_machine(&pace, &job.user, now);
            }
        }
    }

    /// Counts one task of a user's that ended at `now` on the service's clock.
    pub fn add(&mut self, pace: &Pace, user: &str, now: Time) {
        self.add_to_cluster(pace, user, now);
        self.add_to_machine(pace, user, now);
    }

    fn add_to_cluster(&mut self, pace: &Pace, user: &str, now: Time) {
        let hour = self.windows(now).hour;
        self.cluster.keep_until(hour, self.few);
        self.cluster.add(hour, pace.straggled, user);
    }

    fn add_to_machine(&mut self, pace: &Pace, user: &str, now: Time) {
        let (windows, idle) = (self.windows(now), self.idle);
        if let Some(machine) = self.machine_mut(pace.host) {
            machine.add(&windows, idle, pace, user);
        }
    }

    /// Learns which outputs were lost from a job that has ended, whatever its end: a machine that dies may take the job with it.
    pub fn learn_losses(&mut self, job: &Job, now: Time) {
        let windows = self.windows(now);
        let mut counted: BTreeMap<NameId, u32> = BTreeMap::new();
        for (host, lost) in outputs(job) {
            if counts(&mut counted, host)
                && let Some(machine) = self.machine_mut(host)
            {
                machine.add_output(&windows, lost, &job.user);
            }
        }
    }

    fn windows(&self, now: Time) -> Windows {
        Windows { machine: now.0 / self.machine_window.0.max(1), hour: now.0 / HOUR.0, day: now.0 / DAY.0 }
    }

    /// The machine, made if it is new; `None` for one too many.
    fn machine_mut(&mut self, host: NameId) -> Option<&mut Machine> {
        let may_grow = self.machines.len() < MACHINES_MAX;
        match self.machines.entry(host) {
            Entry::Occupied(known) => Some(known.into_mut()),
            Entry::Vacant(free) => may_grow.then(|| free.insert(Machine::default())),
        }
    }

    /// Ends the windows that are over at `now` on the service's clock, and forgets machines of which nothing is left.
    pub fn roll(&mut self, now: Time) {
        let windows = self.windows(now);
        if windows.machine > self.rolled {
            self.machines.retain(|_, machine| {
                machine.close_until(&windows, self.idle);
                !machine.is_spent()
            });
            self.rolled = windows.machine;
        }
        self.cluster.keep_until(windows.hour, self.few);
    }

    /// With machines by their names.
    pub fn named(&self, names: &Names) -> NamedOdds {
        let StragglerOdds { machine_window, idle, machines, cluster, few, rolled } = self;
        let (machine_window, idle, few, rolled) = (*machine_window, *idle, *few, *rolled);
        let named = machines.iter().filter_map(|(host, machine)| Some((names.shared(*host)?, machine.clone())));
        let machines = BTreeMap::new();
        NamedOdds {
            odds: StragglerOdds { machine_window, idle, machines, cluster: cluster.clone(), few, rolled },
            machines: named.collect(),
        }
    }

    /// Goes on from those, whose hosts get new numbers. Machines whose windows had another length, or another meaning, are left out.
    pub fn resume(&mut self, told: NamedOdds, names: &mut Names) {
        let NamedOdds { odds, machines } = told;
        if (odds.machine_window, odds.idle) == (self.machine_window, self.idle) {
            let numbered = machines.into_iter().take(MACHINES_MAX);
            self.machines = numbered.filter_map(|(host, machine)| Some((names.intern(&host)?, machine))).collect();
            self.rolled = odds.rolled;
        }
        (self.cluster, self.few) = (odds.cluster, odds.few);
    }

    /// p: that of any task.
    pub fn cluster(&self) -> &Odds {
        &self.cluster
    }

    /// What is known of the machine.
    pub fn machine(&self, host: NameId) -> Option<&Machine> {
        self.machines.get(&host)
    }

    /// Every machine of which anything is known.
    pub fn machines(&self) -> impl Iterator<Item = (NameId, &Machine)> {
        self.machines.iter().map(|(host, machine)| (*host, machine))
    }
}

/// May one more of a job's tasks count for that machine?
fn counts(counted: &mut BTreeMap<NameId, u32>, host: NameId) -> bool {
    let of_job = counted.entry(host).or_default();
    *of_job += 1;
    *of_job <= OF_ONE_JOB
}

#[cfg(test)]
mod tests {
    use super::super::pace::tests::{host, job};
    use super::*;
    use proptest::prelude::*;

    const MINUTES: u64 = 60_000;

    #[test]
    fn a_job_moves_the_cluster_by_all_of_its_tasks_and_no_job_alone_fills_a_machines_window() {
        let mut odds = StragglerOdds::new(Millis(5 * MINUTES));
        let mut maps = vec![(1, 10, 1); 100];
        maps.extend([(2, 100, 1); 4]);
        odds.learn(&job(&maps), Time(10 * MINUTES));
        let of = |number: u32| odds.machine(host(number)).and_then(|machine| machine.straggles().probability());
        assert_eq!((of(1), of(2), of(3)), (Some(0.0), Some(1.0), None));
        assert_eq!(odds.cluster().probability(), Some(4.0 / 104.0));
        odds.roll(Time(16 * MINUTES));
        assert_eq!(odds.machine(host(1)).unwrap().straggles().evidence(), f64::from(OF_ONE_JOB) / 2.0);
    }

    #[test]
    fn the_clusters_odds_lose_nothing_by_hours_that_pass_while_a_machines_do() {
        let mut odds = StragglerOdds::new(Millis(5 * MINUTES));
        odds.rest_on(100.0);
        let maps: Vec<_> = (0..90).map(|n| (n % 9, if n < 9 { 90 } else { 10 }, 1)).collect();
        for hour in [0, 1, 5] {
            odds.learn(&job(&maps), Time((60 * hour + 10) * MINUTES));
        }
        odds.roll(Time(30 * 60 * MINUTES));
        assert!((odds.cluster().probability().unwrap() - 0.1).abs() < 1e-9);
        assert!((odds.cluster().evidence() - 240.0).abs() < 1e-6, "{}", odds.cluster().evidence());
        assert!(odds.machine(host(1)).is_none_or(|machine| machine.hourly().evidence() < 0.1));
    }

    #[test]
    fn what_a_machines_idle_windows_say_holds_whether_it_is_rolled_or_given_a_task() {
        let straggles = |idle, rolled: bool| {
            let mut odds = StragglerOdds::with_idle(Millis(5 * MINUTES), idle);
            odds.add(&Pace { host: host(1), straggled: true, factor: 3.0 }, "ann", Time(0));
            // Two windows without any, and then one with an ordinary task.
            if rolled {
                odds.roll(Time(15 * MINUTES));
            }
            odds.add(&Pace { host: host(1), straggled: false, factor: 1.0 }, "ann", Time(15 * MINUTES));
            odds.machine(host(1)).unwrap().straggles().probability()
        };
        for (idle, expected) in [(Idle::Nothing, 1.0), (Idle::Zero, 0.25)] {
            assert_eq!([false, true].map(|rolled| straggles(idle, rolled)), [Some(expected); 2], "{idle:?}");
        }
    }

    #[test]
    fn a_machines_factor_is_the_mean_of_its_tasks_times_for_their_data_over_the_phases_median() {
        let mut odds = StragglerOdds::new(Millis(5 * MINUTES));
        // Per unit of data 10, 10, 10, 15 and 10 seconds: the median is 10.
        odds.learn(&job(&[(0, 10, 1), (1, 20, 2), (2, 10, 1), (3, 15, 1), (3, 10, 1)]), Time(10 * MINUTES));
        let of = |number: u32| odds.machine(host(number)).and_then(Machine::location_factor);
        assert_eq!((of(0), of(1), of(3), of(4)), (Some(1.0), Some(1.0), Some(1.25), None));
    }

    #[test]
    fn a_machines_factor_forgets_by_half_with_each_hour_that_has_tasks() {
        let mut odds = StragglerOdds::new(Millis(5 * MINUTES));
        odds.learn(&job(&[(0, 10, 1), (1, 10, 1), (2, 30, 1)]), Time(10 * MINUTES));
        odds.roll(Time(61 * MINUTES));
        odds.learn(&job(&[(0, 10, 1), (1, 10, 1), (2, 10, 1)]), Time(70 * MINUTES));
        let of = |odds: &StragglerOdds| {
            let machine = odds.machine(host(2)).unwrap();
            (machine.location_factor(), machine.last_location_factor(), machine.hourly().evidence())
        };
        assert_eq!(of(&odds), (Some(3.0), Some(3.0), 0.5));
        odds.roll(Time(121 * MINUTES));
        assert_eq!(of(&odds), (Some(2.0), Some(1.0), 0.75));
    }

    #[test]
    fn a_machine_of_which_nothing_is_left_is_forgotten_and_there_are_never_too_many() {
        let mut odds = StragglerOdds::new(Millis(5 * MINUTES));
        odds.learn(&job(&[(1, 10, 1), (2, 10, 1)]), Time(10 * MINUTES));
        odds.roll(Time(4 * 60 * MINUTES));
        assert_eq!(odds.machines().count(), 2);
        odds.roll(Time(12 * 60 * MINUTES));
        assert_eq!(odds.machines().count(), 0);
        for number in 0..MACHINES_MAX as u32 + 5 {
            odds.machine_mut(ids(number))
                .into_iter()
                .for_each(|machine| machine.add_output(&Windows { machine: 0, hour: 0, day: 0 }, false, "alice"));
        }
        assert_eq!(odds.machines().count(), MACHINES_MAX);
    }

    /// A host's number without a table of names.
    fn ids(number: u32) -> NameId {
        serde_json::from_value((number + 1).into()).unwrap()
    }

    #[test]
    fn one_users_claims_about_a_machine_are_seen_to_be_one_users() {
        let mut odds = StragglerOdds::new(Millis(5 * MINUTES));
        let mut claims = job(&[(1, 10, 1), (2, 90, 1), (3, 10, 1)]);
        (0..9).for_each(|_| odds.learn(&claims, Time(10 * MINUTES)));
        let principals = |odds: &StragglerOdds| odds.machine(host(2)).unwrap().hourly().principals();
        assert_eq!(principals(&odds), 1);
        claims.user = "bob".into();
        odds.learn(&claims, Time(10 * MINUTES));
        assert_eq!(principals(&odds), 2);
    }

    #[test]
    fn odds_serialised_before_machines_had_more_than_one_are_still_read() {
        let one = r#"{"window":2,"tasks":4,"stragglers":1,"predicted":null,"evidence":0.0,"counted":["ann"],"principals":[]}"#;
        let old = format!(r#"{{"machine_window":300000,"machines":[[3,{one}]],"cluster":{one},"rolled":2}}"#);
        let odds: StragglerOdds = serde_json::from_str(&old).unwrap();
        let machine = odds.machine(ids(2)).unwrap();
        assert_eq!((machine.straggles().probability(), machine.location_factor()), (Some(0.25), None));
        let again: StragglerOdds = serde_json::from_str(&serde_json::to_string(&odds).unwrap()).unwrap();
        assert_eq!(again, odds);
    }

    proptest! {
        #[test]
        fn with_all_times_scaled_alike_the_odds_and_factors_are_the_same_and_the_order_of_tasks_is_none_of_theirs(
            maps in prop::collection::vec((0u32..4, 1u64..100, 1u64..9), 2..30),
            scale in 2u64..9,
        ) {
            let learnt = |maps: &[(u32, u64, u64)]| {
                let mut odds = StragglerOdds::new(Millis(5 * MINUTES));
                odds.learn(&job(maps), Time(10 * MINUTES));
                (0..4).map(|n| {
                    let machine = odds.machine(host(n))?;
                    Some((machine.straggles().probability()?, machine.location_factor()?))
                }).collect::<Vec<_>>()
            };
            let plain = learnt(&maps);
            let scaled: Vec<_> = maps.iter().map(|(host, seconds, input)| (*host, seconds * scale, *input)).collect();
            let mut turned = maps;
            turned.reverse();
            for (one, other) in plain.iter().zip(learnt(&scaled).iter().chain(&learnt(&turned))) {
                prop_assert_eq!(one.is_some(), other.is_some());
                let Some((one, other)) = one.zip(*other) else { continue };
                prop_assert!((one.0 - other.0).abs() < 1e-9 && (one.1 - other.1).abs() < 1e-9, "{one:?} {other:?}");
            }
        }
    }
}
