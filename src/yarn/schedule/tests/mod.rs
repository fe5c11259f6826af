//! The schedule over simulated time.

mod beside;
mod contended;
mod hung;
mod left;
mod lives;
mod turns;

use super::*;
use crate::yarn::facts::cluster::AppSeen;
use drover_core::model::{AppFact, AppId, Resources, TaskKind};
use proptest::prelude::*;
use std::collections::{BTreeSet, HashMap};

#[derive(Default)]
struct Knows {
    shims: BTreeSet<JobId>,
    /// Known beside those of which a shim tells.
    known: Vec<JobId>,
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
    fn known(&self) -> Vec<JobId> {
        self.shims.iter().chain(&self.known).copied().collect()
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
        label: None,
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
    /// How long a call takes, as its answer says.
    took: fn(&Call) -> Millis,
    log: Vec<(Time, Call)>,
}

/// The history server knows no end; the ResourceManager does.
fn without_history(call: Call) -> Outcome {
    match call {
        Call::End { of: EndTry::History, .. } => Outcome::Failed,
        _ => Outcome::Done,
    }
}

impl Sim {
    fn new(jobs: u32) -> Sim {
        let mut schedule = Schedule::new(ScheduleParams::default(), Time(0));
        schedule.apps(&apps(jobs), &Knows::default(), Time(0));
        Sim { schedule, wants: Knows::default(), now: Time(0), proxy_every: 50, took: |_| Millis(5), log: Vec::new() }
    }

    fn run(&mut self, seconds: u64, mut answer: impl FnMut(Call) -> Outcome) {
        let end = self.now + Millis(seconds * 1_000);
        while self.now < end {
            for class in [Class::Rm, Class::Proxy, Class::History] {
                if let Some(call) = self.schedule.pick(class, self.now, &self.wants) {
                    self.schedule.start(call, self.now);
                    self.log.push((self.now, call));
                    self.schedule.done(call, answer(call), (self.took)(&call), self.now);
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
fn one_seed_gives_one_schedule() {
    let run = |seed| {
        let mut sim = Sim::new(20);
        sim.schedule = Schedule::new(ScheduleParams { seed, ..ScheduleParams::default() }, Time(0));
        sim.schedule.apps(&apps(20), &Knows::default(), Time(0));
        sim.run(60, fine);
        sim.log
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]
    #[test]
    fn whatever_the_answers_no_running_job_is_ever_lost(outcomes in proptest::collection::vec(0..9u8, 1..200)) {
        let mut sim = Sim::new(5);
        sim.wants.suspects = 2;
        let mut next = outcomes.iter().cycle();
        sim.run(60, |_| match next.next() {
            Some(0) => Outcome::Done,
            Some(1) => Outcome::Told(100),
            Some(2) => Outcome::Paused(Millis(3_000)),
            Some(3) => Outcome::RmDown,
            Some(4) => Outcome::StillRuns,
            Some(5) => Outcome::Refused,
            Some(6) => Outcome::Failed,
            Some(7) => Outcome::Silent,
            _ => Outcome::Told(0),
        });
        sim.schedule.apps(&apps(5), &Knows::default(), sim.now);
        sim.log.clear();
        sim.run(200, fine);
        for seq in 1..=5 {
            prop_assert!(sim.count(|c| *c == Call::Tasks(job(seq))) >= 5, "job {}", seq);
        }
    }
}
