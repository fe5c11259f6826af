//! A scripted cluster: facts as the service's rooms would send them.
#![allow(dead_code, reason = "the benchmark, which includes it too, uses a part")]

use drover_core::engine::{Engine, EngineParams, Pass};
use drover_core::govern::GovernParams;
use drover_core::model::*;
use drover_core::policy::PolicyName;

pub const T0: u64 = 1_795_000_000_000;

pub fn job_id(n: u32) -> JobId {
    format!("job_1795000000000_{n:04}").parse().unwrap()
}

pub fn at(seconds: f64) -> Time {
    Time(T0 + (seconds * 1000.0).round() as u64)
}

/// The defaults, in mode `act`.
pub fn acting() -> EngineParams {
    EngineParams { govern: GovernParams { mode: Mode::Act, ..Default::default() }, ..Default::default() }
}

/// A job of Alice's, from its AM.
pub fn job_fact(id: JobId, maps: u32, reduces: u32) -> JobFact {
    JobFact {
        job: id,
        attempt: AppAttemptId { app: id.0, number: 1 },
        name: "job".into(),
        user: "alice".into(),
        queue: "root.default".into(),
        state: Some(JobPhase::Running),
        started: at(0.0),
        maps,
        reduces,
        uber: false,
    }
}

/// Sends facts with rising sequence numbers; the AM's clock runs `skew_ms` ahead of the service's.
pub struct Script {
    pub seq: u64,
    pub skew_ms: i64,
    /// Who tells of jobs: their AMs over REST, or their shims. What can be done, and who speaks, only shims tell here.
    pub jobs_by: Channel,
    pub engine: Engine,
}

impl Script {
    pub fn new(params: EngineParams) -> Script {
        Script { seq: 0, skew_ms: 0, jobs_by: Channel::Am, engine: Engine::new(params) }
    }

    pub fn observation(&mut self, channel: Channel, app: Option<AppId>, now: Time, fact: Fact) -> Observation {
        self.seq += 1;
        Observation {
            source: Source { channel, app, principal: None, incarnation: 1 },
            seq: self.seq,
            at: now.shifted(self.skew_ms),
            received: now,
            fact,
        }
    }

    pub fn say(&mut self, now: Time, fact: Fact) {
        let app = fact.job().map(|job| job.0);
        let has_shim = fact.job().and_then(|id| self.engine.cluster().job(id)).is_some_and(|job| job.shim);
        let channel = match fact {
            Fact::Can(..) | Fact::ShimSession(..) => Channel::Shim,
            Fact::Tasks { .. } | Fact::Attempts { .. } | Fact::Needs { .. } if has_shim => Channel::Shim,
            _ if app.is_some() => self.jobs_by,
            _ => Channel::Rm,
        };
        let seen = self.observation(channel, app, now, fact);
        self.engine.observe(&seen).unwrap();
    }

    /// A cluster of four nodes with room for 64 maps, and a job of `maps` maps and `reduces` reduces whose settings are known.
    pub fn open_job(&mut self, id: JobId, maps: u32, reduces: u32, now: Time) {
        self.open_job_of("alice", "root.default", id, maps, reduces, now);
    }

    pub fn open_job_of(&mut self, user: &str, queue: &str, id: JobId, maps: u32, reduces: u32, now: Time) {
        let total = Resources { memory_mb: 8192, vcores: 32 };
        self.say(now, Fact::Cluster(ClusterFact { total, active_nodes: 4, ..ClusterFact::default() }));
        let am = now.shifted(self.skew_ms);
        let job = JobFact { user: user.into(), queue: queue.into(), started: am, ..job_fact(id, maps, reduces) };
        self.say(now, Fact::Job(job));
        let container = Resources { memory_mb: 128, vcores: 1 };
        let settings = JobSettings {
            report_interval: Millis(1000),
            map_container: container,
            reduce_container: container,
            ..JobSettings::default()
        };
        self.say(now, Fact::Settings(id, settings));
    }

    pub fn attempts(&mut self, id: JobId, now: Time, attempts: Vec<AttemptFact>) {
        self.say(now, Fact::Attempts { job: id, attempts });
    }

    pub fn tasks(&mut self, id: JobId, now: Time, tasks: Vec<TaskFact>) {
        self.say(now, Fact::Tasks { job: id, complete: true, tasks });
    }

    /// After the ResourceManager has told of its room anew, where it ever has.
    pub fn decide(&mut self, now: Time) -> Pass {
        if let Some(totals) = self.engine.cluster().totals {
            self.say(now, Fact::Cluster(totals));
        }
        let queues: Vec<_> = self.engine.cluster().queues.values().cloned().collect();
        if !queues.is_empty() {
            self.say(now, Fact::Queues(queues));
        }
        self.decide_alone(now)
    }

    /// While nothing is heard of the ResourceManager.
    pub fn decide_alone(&mut self, now: Time) -> Pass {
        self.engine.decide(now)
    }
}

pub fn running(id: TaskId, started: Time, score: f32, host: &str) -> AttemptFact {
    AttemptFact {
        state: Some(AttemptState::Running),
        started: Some(started),
        score: Some(score),
        host: Some(host.into()),
        ..AttemptFact::of(id.attempt(0))
    }
}

pub fn succeeded(id: TaskId, started: Time, finished: Time) -> (TaskFact, AttemptFact) {
    let task = TaskFact {
        state: Some(TaskState::Succeeded),
        started: Some(started),
        finished: Some(finished),
        winner: Some(0),
        ..TaskFact::of(id)
    };
    let attempt = AttemptFact {
        state: Some(AttemptState::Succeeded),
        started: Some(started),
        finished: Some(finished),
        host: Some("nm1".into()),
        ..AttemptFact::of(id.attempt(0))
    };
    (task, attempt)
}

/// The state of a job of equal maps of `secs` seconds started at 0, four hosts in turn, some slower by a factor: what is to be seen of it at `now_s`.
pub fn equal_maps(
    id: JobId,
    maps: u32,
    secs: f64,
    slow: &dyn Fn(u32) -> f64,
    now_s: f64,
    skew_ms: i64,
) -> (Vec<TaskFact>, Vec<AttemptFact>) {
    let (mut tasks, mut attempts) = (Vec::new(), Vec::new());
    for index in 0..maps {
        let task = id.task(TaskKind::Map, index);
        let started = at(0.0).shifted(skew_ms);
        let whole = secs * slow(index);
        if now_s >= whole {
            let (t, a) = succeeded(task, started, at(whole).shifted(skew_ms));
            tasks.push(t);
            attempts.push(a);
        } else {
            let state = Some(TaskState::Running);
            tasks.push(TaskFact { state, started: Some(started), ..TaskFact::of(task) });
            attempts.push(running(task, started, (now_s / whole) as f32, &format!("nm{}", index % 4 + 1)));
        }
    }
    (tasks, attempts)
}

/// Plays a job of equal maps a second at a time; returns the decisions with the second they were taken at.
pub fn play(script: &mut Script, maps: u32, secs: f64, slow: &dyn Fn(u32) -> f64, until: u32) -> Vec<(u32, Decision)> {
    let id = job_id(1);
    script.open_job(id, maps, 0, at(0.0));
    let mut decisions = Vec::new();
    for second in 0..until {
        let (tasks, attempts) = equal_maps(id, maps, secs, slow, second.into(), script.skew_ms);
        let now = at(second.into());
        script.tasks(id, now, tasks);
        script.attempts(id, now, attempts);
        decisions.extend(script.decide(now).decisions.into_iter().map(|decision| (second, decision)));
    }
    decisions
}

pub fn one_node_in_four(index: u32) -> f64 {
    if index % 4 == 1 { 10.0 } else { 1.0 }
}

/// When each policy names each task of a job of sixteen maps of 4 s, four of them ten times slower: (task, second).
pub fn named_by(policy: PolicyName) -> Vec<(u32, u32)> {
    let govern = GovernParams { job_cap: 1.0, ..GovernParams::default() };
    let mut script = Script::new(EngineParams { policy, govern, ..EngineParams::default() });
    let mut named: Vec<_> = play(&mut script, 16, 4.0, &one_node_in_four, 20)
        .iter()
        .map(|(second, decision)| (decision.task.index, *second))
        .collect();
    named.sort_unstable();
    named
}

/// An attempt that works evenly from its launch on, seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    pub launched: f64,
    pub takes: f64,
}

/// What is to be seen at `now` of a task's attempts, one after the other; the first to be done succeeds, and the others are killed then.
pub fn runs_of(task: TaskId, runs: &[Run], now: f64) -> (TaskFact, Vec<AttemptFact>) {
    let ends = |run: &Run| run.launched + run.takes;
    let (number, first) = runs.iter().enumerate().min_by(|a, b| ends(a.1).total_cmp(&ends(b.1))).unwrap();
    let (done, started) = (ends(first) <= now, runs[0].launched <= now);
    let state =
        [TaskState::Scheduled, TaskState::Running, TaskState::Succeeded][usize::from(started) + usize::from(done)];
    let of_task = TaskFact {
        state: Some(state),
        started: started.then(|| at(runs[0].launched)),
        finished: done.then(|| at(ends(first))),
        winner: done.then_some(number as u32),
        ..TaskFact::of(task)
    };
    let launched = runs.iter().enumerate().filter(|(_, run)| run.launched <= now);
    let attempts = launched.map(|(n, run)| {
        let end = match n {
            _ if !done => AttemptState::Running,
            _ if n == number => AttemptState::Succeeded,
            _ => AttemptState::Killed,
        };
        AttemptFact {
            state: Some(end),
            started: Some(at(run.launched)),
            finished: done.then(|| at(ends(first))),
            score: Some((((now - run.launched) / run.takes) as f32).min(1.0)),
            host: Some(format!("nm{}", n + 1).into()),
            ..AttemptFact::of(task.attempt(n as u32))
        }
    });
    (of_task, attempts.collect())
}

/// A cluster of four nodes where a job of Alice's has shown the second to be ten times slower.
pub fn with_a_slow_second_node(params: EngineParams) -> Script {
    let mut script = Script::new(params);
    let total = Resources { memory_mb: 2048, vcores: 8 };
    script.say(
        at(0.0),
        Fact::Nodes(
            ["nm1", "nm2", "nm3", "nm4"].map(|host| NodeFact::usable(host, total, Resources::default())).to_vec(),
        ),
    );
    play(&mut script, 64, 4.0, &one_node_in_four, 41);
    let end = EndFact {
        job: job_id(1),
        state: Some(JobPhase::Succeeded),
        started: Some(at(0.0)),
        finished: Some(at(41.0)),
        attempts: vec![],
    };
    script.say(at(41.0), Fact::Ended(end));
    script.decide(at(41.0));
    script
}
