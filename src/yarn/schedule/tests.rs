use super::*;
use crate::yarn::facts::cluster::AppSeen;
use drover_core::model::{AppFact, AppId, Resources, TaskKind};
use proptest::prelude::*;
use std::collections::{BTreeSet, HashMap};

#[derive(Default)]
struct Knows {
    shims: BTreeSet<JobId>,
    settings: bool,
    suspects: u32,
    counters: u32,
}

impl Wants for Knows {
    fn suspects(&self, job: JobId, limit: usize) -> Vec<TaskId> {
        (0..self.suspects).take(limit).map(|i| job.task(TaskKind::Map, i)).collect()
    }
    fn counters(&self, job: JobId, limit: usize) -> Vec<AttemptId> {
        (0..self.counters).take(limit).map(|i| job.task(TaskKind::Map, i).attempt(0)).collect()
    }
    fn has_shim(&self, job: JobId) -> bool {
        self.shims.contains(&job)
    }
    fn settings_known(&self, _: JobId) -> bool {
        self.settings
    }
}

fn job(seq: u32) -> JobId {
    JobId(AppId { cluster: 1, seq })
}

fn app(seq: u32, attempt: Option<u32>) -> AppSeen {
    let none = Resources::default();
    let fact = AppFact {
        app: job(seq).0,
        user: String::new(),
        queue: String::new(),
        name: String::new(),
        started: Time(0),
        containers: 0,
        allocated: none,
    };
    AppSeen { fact, attempt, rm_now: None }
}

fn apps(jobs: u32) -> Vec<AppSeen> {
    (1..=jobs).map(|seq| app(seq, Some(1))).collect()
}

/// Runs a schedule in simulated time, a call through the proxy every so many milliseconds, each answered at once.
struct Sim {
    schedule: Schedule,
    wants: Knows,
    now: Time,
    proxy_every: u64,
    log: Vec<(Time, Call)>,
}

impl Sim {
    fn new(jobs: u32) -> Sim {
        let mut schedule = Schedule::new(ScheduleParams::default(), Time(0));
        schedule.apps(&apps(jobs), Time(0));
        Sim { schedule, wants: Knows::default(), now: Time(0), proxy_every: 50, log: Vec::new() }
    }

    fn run(&mut self, seconds: u64, mut answer: impl FnMut(Call) -> Outcome) {
        let end = self.now + Millis(seconds * 1_000);
        while self.now < end {
            for class in [Class::Rm, Class::Proxy, Class::History] {
                if let Some(call) = self.schedule.pick(class, self.now, &self.wants) {
                    self.schedule.start(call, self.now);
                    self.log.push((self.now, call));
                    self.schedule.done(call, answer(call), Millis(5), self.now);
                }
            }
            self.now = self.now + Millis(self.proxy_every);
        }
    }

    fn count(&self, pick: impl Fn(&Call) -> bool) -> usize {
        self.log.iter().filter(|(_, call)| pick(call)).count()
    }

    /// Gaps between two listings of one job's tasks, milliseconds.
    fn gaps(&self, from: Time, only: impl Fn(JobId) -> bool) -> Vec<u64> {
        let mut last: HashMap<JobId, Time> = HashMap::new();
        let mut gaps = Vec::new();
        for (at, call) in &self.log {
            if let Call::Tasks(job) = call
                && only(*job)
                && let Some(before) = last.insert(*job, *at)
                && before >= from
            {
                gaps.push(at.since(before).0);
            }
        }
        gaps
    }
}

fn fine(_: Call) -> Outcome {
    Outcome::Told(500)
}

fn is_side(call: &Call) -> bool {
    matches!(call, Call::Summary(_) | Call::Settings(_) | Call::Attempts(_) | Call::Counters(_))
}

#[test]
fn two_hundred_jobs_at_twenty_a_second_are_each_listed_within_fifteen_seconds() {
    let mut sim = Sim::new(200);
    sim.wants.suspects = 8;
    sim.run(300, fine);
    let gaps = sim.gaps(Time(60_000), |_| true);
    assert!(gaps.len() > 2_000);
    assert!(*gaps.iter().max().unwrap() <= 15_000, "{:?}", gaps.iter().max());
    let (tasks, side) = (sim.count(|c| matches!(c, Call::Tasks(_))), sim.count(is_side));
    let share = tasks as f64 / (tasks + side) as f64;
    assert!((0.78..=0.82).contains(&share), "{share}");
}

#[test]
fn a_lane_with_nothing_due_leaves_its_share_to_the_other() {
    let mut sim = Sim::new(200);
    sim.wants.settings = true;
    sim.run(300, fine);
    let used = sim.count(|c| matches!(c, Call::Tasks(_)) || is_side(c));
    assert!(used >= 300 * 20 - 20, "no turn is wasted while tasks wait: {used}");
    let mut one = Sim::new(1);
    one.wants.suspects = 8;
    one.run(60, |_| Outcome::Told(10));
    assert!(one.count(is_side) > one.count(|c| matches!(c, Call::Tasks(_))) * 4, "attempts may go beyond 20 % then");
}

#[test]
fn small_and_new_jobs_are_listed_sooner_than_large_old_ones() {
    let mut sim = Sim::new(4);
    let tasks = |call: Call| Outcome::Told(if call.job() == Some(job(1)) { 10 } else { 5_000 });
    sim.run(200, tasks);
    let mean = |gaps: Vec<u64>| gaps.iter().sum::<u64>() / gaps.len() as u64;
    let small = mean(sim.gaps(Time(100_000), |id| id == job(1)));
    let large = mean(sim.gaps(Time(100_000), |id| id == job(2)));
    assert!(small < 2_500 && large > 4_500, "{small} {large}");
    assert!(mean(sim.gaps(Time(0), |id| id == job(2))) < large, "a large job was sooner while it was new");
}

#[test]
fn a_job_that_fails_is_asked_less_and_less_and_takes_no_turn_from_others() {
    let mut sim = Sim::new(3);
    sim.run(120, |call| if call.job() == Some(job(2)) { Outcome::Failed } else { Outcome::Told(10) });
    let of = |id: JobId| sim.count(|c| c.job() == Some(id) && matches!(c, Call::Tasks(_) | Call::Master(_)));
    assert!(of(job(2)) <= 9, "{}", of(job(2)));
    assert!(of(job(1)) >= 50, "{}", of(job(1)));
}

#[test]
fn after_an_error_the_run_of_the_master_is_made_sure_of_before_anything_is_believed() {
    let mut sim = Sim::new(1);
    let mut failed = false;
    sim.run(20, |call| match call {
        Call::Tasks(_) if !std::mem::replace(&mut failed, true) => Outcome::Failed,
        Call::Master(_) => Outcome::Told(2),
        _ => Outcome::Told(10),
    });
    let calls: Vec<_> = sim.log.iter().map(|(_, call)| *call).collect();
    let first = calls.iter().position(|c| matches!(c, Call::Tasks(_))).unwrap();
    let next = calls[first + 1..].iter().find(|c| c.job().is_some()).unwrap();
    assert!(matches!(next, Call::Master(_)), "{next:?}");
    assert_eq!(sim.schedule.attempt(job(1)), Some(2));
}

#[test]
fn a_listing_that_tells_a_new_run_of_the_master_has_its_summary_read_again() {
    let mut sim = Sim::new(1);
    sim.run(10, fine);
    assert_eq!(sim.count(|c| matches!(c, Call::Summary(_))), 1);
    sim.schedule.apps(&[app(1, Some(2))], sim.now);
    sim.run(10, fine);
    assert_eq!(sim.schedule.attempt(job(1)), Some(2));
    assert_eq!(sim.count(|c| matches!(c, Call::Summary(_))), 2);
    sim.schedule.apps(&[app(1, Some(1))], sim.now);
    assert_eq!(sim.schedule.attempt(job(1)), Some(2), "a stale listing does not bring back an old run");
}

#[test]
fn a_pause_asked_for_by_the_server_is_not_held_against_the_job() {
    let mut sim = Sim::new(1);
    sim.run(2, |call| if call.job().is_some() { Outcome::Paused } else { Outcome::Done });
    sim.log.clear();
    sim.run(2, fine);
    assert!(sim.count(|c| matches!(c, Call::Tasks(_))) >= 1);
    assert_eq!(sim.count(|c| matches!(c, Call::Master(_))), 0);
}

#[test]
fn with_no_resource_manager_only_the_listing_is_asked_for_with_growing_pauses_until_it_answers() {
    let mut sim = Sim::new(50);
    sim.run(5, fine);
    sim.log.clear();
    let down = |_| Outcome::RmDown;
    sim.run(300, down);
    let after = &sim.log[4..];
    assert!(after.iter().all(|(_, call)| *call == Call::Apps), "{after:?}");
    assert!(after.len() < 14, "{}", after.len());
    sim.log.clear();
    sim.run(90, fine);
    let back = sim.log.iter().position(|(_, call)| *call == Call::Apps).unwrap();
    assert_eq!(back, 0, "the listing comes first");
    assert!(sim.count(|c| matches!(c, Call::Tasks(_))) > 50);
}

#[test]
fn a_job_with_a_shim_is_asked_for_nothing_but_settings_nobody_told() {
    let mut sim = Sim::new(2);
    sim.wants.shims.insert(job(1));
    sim.wants.suspects = 3;
    sim.run(30, fine);
    let calls: Vec<_> = sim.log.iter().map(|(_, call)| *call).filter(|c| c.job() == Some(job(1))).collect();
    assert_eq!(calls, [Call::Settings(job(1))]);
    sim.wants.shims.clear();
    sim.run(30, fine);
    assert!(sim.count(|c| *c == Call::Tasks(job(1))) >= 4, "a job whose shim has gone is watched over REST again");
}

#[test]
fn counters_are_read_after_each_listing_within_the_share_of_what_is_beside_tasks() {
    let mut one = Sim::new(1);
    one.wants.counters = 3;
    one.run(20, fine);
    let (listed, read) = (one.count(|c| matches!(c, Call::Tasks(_))), one.count(|c| matches!(c, Call::Counters(_))));
    assert!(read > 2 * listed && read <= 3 * listed, "{read} {listed}");
    let mut many = Sim::new(200);
    (many.wants.suspects, many.wants.counters) = (8, 8);
    many.run(300, fine);
    let of = |is: fn(&Call) -> bool| many.count(is);
    let read = [
        of(|c| matches!(c, Call::Summary(_))),
        of(|c| matches!(c, Call::Attempts(_))),
        of(|c| matches!(c, Call::Counters(_))),
    ];
    assert!(read.iter().all(|n| *n > 100), "none waits for ever behind another: {read:?}");
    let (tasks, side) = (many.count(|c| matches!(c, Call::Tasks(_))), many.count(is_side));
    assert!((0.18..=0.22).contains(&(side as f64 / (tasks + side) as f64)), "{side} {tasks}");
}

#[test]
fn counters_that_cannot_be_had_are_asked_for_once_a_minute_and_put_nothing_in_doubt() {
    let mut sim = Sim::new(1);
    sim.wants.counters = 3;
    sim.run(100, |call| if matches!(call, Call::Counters(_)) { Outcome::Failed } else { Outcome::Told(10) });
    assert_eq!(sim.count(|c| matches!(c, Call::Counters(_))), 2);
    assert_eq!(sim.count(|c| matches!(c, Call::Master(_))), 0);
    assert!(sim.count(|c| matches!(c, Call::Tasks(_))) >= 45);
}

#[test]
fn large_configurations_are_read_one_at_a_time() {
    let mut schedule = Schedule::new(ScheduleParams::default(), Time(0));
    schedule.apps(&apps(20), Time(0));
    let wants = Knows::default();
    let mut settings = 0;
    for step in 0..2_000 {
        let now = Time(step * 10);
        if let Some(call) = schedule.pick(Class::Proxy, now, &wants) {
            schedule.start(call, now);
            match call {
                // Never answered.
                Call::Settings(_) => settings += 1,
                call => schedule.done(call, Outcome::Told(1), Millis(5), now),
            }
        }
    }
    assert_eq!(settings, 1);
}

#[test]
fn a_configuration_that_cannot_be_had_does_not_keep_attempts_and_tasks_from_being_read() {
    for outcome in [Outcome::Refused, Outcome::Failed] {
        let mut sim = Sim::new(1);
        sim.wants.suspects = 2;
        sim.run(120, |call| match call {
            Call::Settings(_) => outcome,
            Call::Master(_) => Outcome::Told(1),
            _ => Outcome::Told(10),
        });
        assert!(sim.count(|c| matches!(c, Call::Settings(_))) < 60);
        assert!(sim.count(|c| matches!(c, Call::Attempts(_))) > 30, "{outcome:?}");
        assert!(sim.count(|c| matches!(c, Call::Tasks(_))) > 30, "{outcome:?}");
    }
}

#[test]
fn an_answer_that_takes_long_is_asked_for_less_often() {
    let mut schedule = Schedule::new(ScheduleParams::default(), Time(0));
    schedule.apps(&apps(1), Time(0));
    schedule.start(Call::Tasks(job(1)), Time(0));
    schedule.done(Call::Tasks(job(1)), Outcome::Told(10), Millis(1_500), Time(0));
    assert!(schedule.tasks.next().unwrap() >= Time(27_000), "1.5 s under way is 5 % of 30 s");
}

#[test]
fn a_job_gone_from_the_listing_is_read_from_history_and_one_that_comes_back_is_watched_again() {
    let mut sim = Sim::new(2);
    sim.run(5, fine);
    sim.schedule.apps(&[app(1, Some(1))], sim.now);
    sim.log.clear();
    sim.run(2, |call| if matches!(call, Call::End { .. }) { Outcome::Failed } else { Outcome::Told(10) });
    assert!(sim.count(|c| matches!(c, Call::End { job: id, is_last: false } if *id == job(2))) >= 1);
    assert_eq!(sim.count(|c| matches!(c, Call::Tasks(id) if *id == job(2))), 0);
    sim.schedule.apps(&apps(2), sim.now);
    sim.log.clear();
    sim.run(20, fine);
    assert!(sim.count(|c| matches!(c, Call::Tasks(id) if *id == job(2))) > 3);
    assert_eq!(sim.count(|c| matches!(c, Call::End { .. })), 0);
}

#[test]
fn an_end_once_read_is_not_undone_by_a_listing_from_before() {
    let mut sim = Sim::new(1);
    sim.run(2, |call| if matches!(call, Call::Tasks(_)) { Outcome::Finished } else { Outcome::Done });
    sim.schedule.apps(&apps(1), sim.now);
    sim.run(3, |_| Outcome::Done);
    assert_eq!(sim.count(|c| matches!(c, Call::End { .. })), 1);
    sim.schedule.apps(&apps(1), sim.now);
    sim.run(20, fine);
    assert_eq!(sim.count(|c| matches!(c, Call::End { .. })), 1);
    assert_eq!(sim.schedule.counts(), (0, 0));
}

#[test]
fn history_that_never_comes_is_given_up_after_a_last_try() {
    let mut sim = Sim::new(1);
    sim.schedule.apps(&[], sim.now);
    sim.run(400, |call| if matches!(call, Call::End { .. }) { Outcome::Failed } else { Outcome::Done });
    let ends: Vec<_> = sim.log.iter().filter(|(_, call)| matches!(call, Call::End { .. })).collect();
    assert!(ends.len() <= 12, "{}", ends.len());
    assert!(matches!(ends.last(), Some((at, Call::End { is_last: true, .. })) if *at >= Time(180_000)));
    assert_eq!(sim.schedule.counts(), (0, 0));
}

#[test]
fn no_more_jobs_are_watched_than_the_limit() {
    let params = ScheduleParams { max_jobs: 10, ..ScheduleParams::default() };
    let mut schedule = Schedule::new(params, Time(0));
    assert_eq!(schedule.apps(&apps(25), Time(0)), 15);
    assert_eq!(schedule.counts().0, 10);
}

#[test]
fn one_seed_gives_one_schedule() {
    let run = |seed| {
        let mut sim = Sim::new(20);
        sim.schedule = Schedule::new(ScheduleParams { seed, ..ScheduleParams::default() }, Time(0));
        sim.schedule.apps(&apps(20), Time(0));
        sim.run(60, fine);
        sim.log
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_the_answers_no_running_job_is_ever_lost(outcomes in proptest::collection::vec(0..8u8, 1..200)) {
        let mut sim = Sim::new(5);
        sim.wants.suspects = 2;
        let mut next = outcomes.iter().cycle();
        sim.run(60, |_| match next.next() {
            Some(0) => Outcome::Done,
            Some(1) => Outcome::Told(100),
            Some(2) => Outcome::Paused,
            Some(3) => Outcome::RmDown,
            Some(4) => Outcome::StillRuns,
            Some(5) => Outcome::Refused,
            Some(6) => Outcome::Failed,
            _ => Outcome::Told(0),
        });
        sim.schedule.apps(&apps(5), sim.now);
        sim.log.clear();
        sim.run(200, fine);
        for seq in 1..=5 {
            prop_assert!(sim.count(|c| *c == Call::Tasks(job(seq))) >= 5, "job {}", seq);
        }
    }
}
