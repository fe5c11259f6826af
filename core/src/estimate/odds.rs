//! How likely a machine, or any machine, is to make a task straggle: Dolly, HotCloud'12 §3.2 and NSDI'13 §2.1.2 and §3.2.

use super::phase::maps_done_at;
use super::stats::median;
use crate::model::{Attempt, Job, Millis, NameId, Task, TaskKind, TaskState, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A task straggles whose progress rate is below this share of the median rate of its phase (NSDI'13 §2.1.2; HotCloud'12 prints "less than 2×").
pub const STRAGGLES_BELOW: f64 = 0.5;

/// Tasks of one job that count for one machine in a window: no job alone decides what a machine is taken for.
const OF_ONE_JOB: u32 = 32;

/// Users that are told apart; more than two need not be.
const PRINCIPALS_MAX: usize = 8;

/// Probability of straggling, learned window by window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Odds {
    /// Number of the window that is being counted.
    window: u64,
    /// Tasks in it, and those of them that straggled.
    tasks: u32,
    stragglers: u32,
    /// p after the last window with any task.
    predicted: Option<f64>,
    /// Tasks that it rests on, halved with each window.
    evidence: f64,
    /// Users whose tasks are counted, and those whose tasks p rests on.
    counted: BTreeSet<String>,
    principals: BTreeSet<String>,
}

impl Odds {
    fn add(&mut self, window: u64, straggled: bool, user: &str) {
        self.close_until(window);
        self.tasks += 1;
        self.stragglers += u32::from(straggled);
        if self.counted.len() < PRINCIPALS_MAX && !self.counted.contains(user) {
            self.counted.insert(user.to_owned());
        }
    }

    /// HotCloud'12 §3.2: p_{t+1} = (p_t + p[t]) / 2, where p[t] is the share of stragglers in window t: "equally dependent on its straggler probability in the previous
    /// window and its long-term average" (NSDI'13 §2.1.2). A window without tasks says nothing of p.
    fn close_until(&mut self, window: u64) {
        if window <= self.window {
            return;
        }
        if let Some(share) = self.share() {
            self.predicted = Some(self.predicted.map_or(share, |before| (before + share) / 2.0));
            self.evidence += f64::from(self.tasks);
            self.principals = std::mem::take(&mut self.counted);
        }
        // Halved so often it is none.
        const GONE: u64 = 64;
        self.evidence *= 0.5_f64.powi((window - self.window).min(GONE) as i32);
        (self.window, self.tasks, self.stragglers) = (window, 0, 0);
    }

    fn share(&self) -> Option<f64> {
        (self.tasks > 0).then(|| f64::from(self.stragglers) / f64::from(self.tasks))
    }

    /// p for the window that has begun; before the first has ended, what it shows so far. `None` without any task.
    pub fn probability(&self) -> Option<f64> {
        self.predicted.or(self.share())
    }

    /// Tasks that it rests on, older windows counting less.
    pub fn evidence(&self) -> f64 {
        if self.predicted.is_some() { self.evidence } else { f64::from(self.tasks) }
    }

    fn users(&self) -> &BTreeSet<String> {
        if self.predicted.is_some() { &self.principals } else { &self.counted }
    }

    /// How many users' tasks its last window had, up to eight.
    pub fn principals(&self) -> usize {
        self.users().len()
    }

    /// May it decide about jobs of that user? What one user's jobs claim decides about that user's jobs alone.
    pub fn holds_for(&self, user: &str) -> bool {
        self.users().len() > 1 || self.users().contains(user)
    }
}

/// Those of each machine, and of the cluster as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StragglerOdds {
    /// Length of a machine's window. NSDI'13 §2.1.2: 5 minutes or an hour.
    machine_window: Millis,
    #[serde(with = "crate::model::pairs")]
    machines: BTreeMap<NameId, Odds>,
    cluster: Odds,
    /// The machines' window when they were last rolled.
    rolled: u64,
}

/// NSDI'13 §3.2: "The probability of a straggler, p, is calculated every hour".
const CLUSTER_WINDOW: Millis = Millis(3_600_000);

impl StragglerOdds {
    /// None known yet.
    pub fn new(machine_window: Millis) -> StragglerOdds {
        StragglerOdds { machine_window, machines: BTreeMap::new(), cluster: Odds::default(), rolled: 0 }
    }

    /// Learns from a job that has ended, at `now` on the service's clock. One pass over its tasks.
    pub fn learn(&mut self, job: &Job, now: Time) {
        let mut counted: BTreeMap<NameId, u32> = BTreeMap::new();
        for (host, straggled) in TaskKind::ALL.into_iter().flat_map(|kind| stragglers(job, kind)) {
            let of_job = counted.entry(host).or_default();
            *of_job += 1;
            if *of_job <= OF_ONE_JOB {
                self.add(host, straggled, &job.user, now);
            }
        }
    }

    /// Counts one task of a user's on a machine, ended at `now` on the service's clock.
    pub fn add(&mut self, host: NameId, straggled: bool, user: &str, now: Time) {
        let window = now.0 / self.machine_window.0.max(1);
        self.machines.entry(host).or_default().add(window, straggled, user);
        self.cluster.add(now.0 / CLUSTER_WINDOW.0, straggled, user);
    }

    /// Ends the windows that are over at `now` on the service's clock.
    pub fn roll(&mut self, now: Time) {
        let window = now.0 / self.machine_window.0.max(1);
        if window > self.rolled {
            self.machines.values_mut().for_each(|odds| odds.close_until(window));
            self.rolled = window;
        }
        self.cluster.close_until(now.0 / CLUSTER_WINDOW.0);
    }

    /// p: that of any task.
    pub fn cluster(&self) -> &Odds {
        &self.cluster
    }

    /// p_m: that of a task on the machine.
    pub fn machine(&self, host: NameId) -> Option<&Odds> {
        self.machines.get(&host)
    }

    /// Every machine of which anything is known.
    pub fn machines(&self) -> impl Iterator<Item = (NameId, &Odds)> {
        self.machines.iter().map(|(host, odds)| (*host, odds))
    }
}

/// Each succeeded task's first attempt with a host: did it straggle? A rate is input per second where inputs are known, so that more data is no straggling (NSDI'13 §2.1.1).
/// Copies are left out: they start late, and most are killed before they are up. A phase of one task has no other to straggle behind.
pub fn stragglers(job: &Job, kind: TaskKind) -> Vec<(NameId, bool)> {
    let maps_done = if kind == TaskKind::Reduce { maps_done_at(job) } else { None };
    let succeeded = job.tasks(kind).filter(|(_, task)| task.state == TaskState::Succeeded);
    let firsts = succeeded.filter_map(|(_, task)| Some((first(task)?, task)));
    let rates: Vec<(NameId, f64)> =
        firsts.filter_map(|(attempt, task)| Some((attempt.host?, rate(attempt, task, maps_done)?))).collect();
    let Some(typical) = median(&mut rates.iter().map(|(_, rate)| *rate).collect::<Vec<_>>()) else { return Vec::new() };
    if rates.len() < 2 {
        return Vec::new();
    }
    rates.into_iter().map(|(host, rate)| (host, rate < STRAGGLES_BELOW * typical)).collect()
}

/// The attempt that was launched first.
fn first(task: &Task) -> Option<&Attempt> {
    task.attempts.iter().filter(|attempt| attempt.was_launched()).min_by_key(|attempt| attempt.number)
}

/// Its progress rate over its whole life, by input where that is known.
fn rate(attempt: &Attempt, task: &Task, maps_done: Option<Time>) -> Option<f64> {
    let started = attempt.started.get()?.max(maps_done.unwrap_or_default());
    let won = task.won().is_some_and(|won| won.number == attempt.number);
    let ended = attempt.finished.get().or(task.ended())?;
    let took = ended.since(started).as_secs_f64();
    let score = if won { 1.0 } else { attempt.track.score() };
    (took > 0.0).then(|| score * task.input.0.max(1) as f64 / took)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AttemptFact, AttemptState, Bytes, JobId, Names, TaskFact};
    use proptest::prelude::*;

    const MINUTES: u64 = 60_000;

    #[test]
    fn a_window_counts_as_much_as_all_before_it() {
        let mut odds = Odds::default();
        assert_eq!(odds.probability(), None);
        for n in 0..10 {
            odds.add(7, n < 4, "alice");
        }
        assert_eq!(odds.probability(), Some(0.4), "the first window speaks as long as it is the only one");
        odds.add(8, false, "bob");
        assert_eq!(odds.probability(), Some(0.4));
        odds.close_until(9);
        assert_eq!(odds.probability(), Some(0.2), "(.4 + 0) / 2");
        odds.add(12, true, "bob");
        odds.close_until(13);
        assert_eq!(odds.probability(), Some(0.6), "(.2 + 1) / 2: empty windows say nothing");
        assert!(odds.evidence() < 2.0 && odds.principals() == 1, "of the last window with any task: {odds:?}");
    }

    #[test]
    fn a_window_that_is_still_counted_lends_its_tasks_to_no_earlier_probability() {
        let mut odds = Odds::default();
        (0..2).for_each(|n| odds.add(1, n == 0, "alice"));
        (0..200).for_each(|_| odds.add(2, false, "bob"));
        assert_eq!((odds.probability(), odds.evidence()), (Some(0.5), 1.0));
        assert!(!odds.holds_for("bob"));
        odds.close_until(3);
        assert_eq!((odds.probability(), odds.holds_for("bob")), (Some(0.25), true));
    }

    #[test]
    fn what_one_user_claims_decides_about_that_users_jobs_alone() {
        let mut odds = Odds::default();
        odds.add(1, true, "mallory");
        assert!(odds.holds_for("mallory") && !odds.holds_for("alice"));
        odds.add(1, true, "bob");
        assert!(odds.holds_for("alice"));
    }

    fn host(number: u32) -> NameId {
        let mut names = Names::default();
        (0..=number).filter_map(|n| names.intern(&n.to_string())).last().unwrap()
    }

    /// A job of succeeded maps: (host, seconds, input).
    fn job(maps: &[(u32, u64, u64)]) -> Job {
        let id: JobId = "job_1_0001".parse().unwrap();
        let mut job = Job::new(id);
        job.user = "alice".into();
        job.totals = Some([maps.len() as u32, 0]);
        for (index, (number, seconds, input)) in (0..).zip(maps) {
            let task = id.task(TaskKind::Map, index);
            let (started, finished) = (Some(Time(1_000)), Some(Time(1_000 + seconds * 1_000)));
            let (state, winner, input) = (Some(TaskState::Succeeded), Some(0), Some(Bytes(*input)));
            let fact = TaskFact { state, started, finished, winner, input, ..TaskFact::of(task) };
            assert!(job.learn_task(&fact, Time(1_000_000), 1_000));
            let state = Some(AttemptState::Succeeded);
            let fact = AttemptFact { state, started, finished, ..AttemptFact::of(task.attempt(0)) };
            assert!(job.learn_attempt(&fact, Some(host(*number)), Time(1_000_000), 1_000));
        }
        job
    }

    #[test]
    fn a_task_straggles_at_less_than_half_the_median_rate_and_more_data_is_no_straggling() {
        let straggled = |maps: &[(u32, u64, u64)]| {
            stragglers(&job(maps), TaskKind::Map).iter().map(|(_, straggled)| *straggled).collect::<Vec<_>>()
        };
        assert_eq!(
            straggled(&[(0, 10, 1), (1, 10, 1), (4, 10, 1), (2, 20, 1), (3, 21, 1)]),
            [false, false, false, false, true]
        );
        assert_eq!(straggled(&[(0, 10, 1), (1, 10, 1), (2, 10, 1), (3, 50, 5)]), [false; 4]);
        assert_eq!(straggled(&[(0, 10, 1)]), [false; 0], "of one task nobody can tell");
    }

    #[test]
    fn a_job_moves_its_machines_and_the_cluster_and_no_job_alone_fills_a_window() {
        let mut odds = StragglerOdds::new(Millis(5 * MINUTES));
        let mut maps = vec![(1, 10, 1); 100];
        maps.extend([(2, 100, 1); 4]);
        odds.learn(&job(&maps), Time(10 * MINUTES));
        let of = |number: u32| odds.machine(host(number)).and_then(Odds::probability);
        assert_eq!((of(1), of(2), of(3)), (Some(0.0), Some(1.0), None));
        assert_eq!(odds.cluster().probability(), Some(4.0 / f64::from(OF_ONE_JOB + 4)));
        odds.roll(Time(16 * MINUTES));
        assert_eq!(odds.machine(host(1)).map(Odds::evidence), Some(f64::from(OF_ONE_JOB) / 2.0));
    }

    proptest! {
        #[test]
        fn a_probability_stays_one(seen in prop::collection::vec((0u64..40, any::<bool>()), 1..60)) {
            let mut odds = Odds::default();
            let mut seen = seen;
            seen.sort();
            for (window, straggled) in seen {
                odds.add(window, straggled, "alice");
                prop_assert!((0.0..=1.0).contains(&odds.probability().unwrap()) && odds.evidence() > 0.0);
            }
        }
    }
}
