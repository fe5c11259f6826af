//! A small job for tests: ten maps, of which the fourth needs 77 s and the others 10.

use super::Desk;
use crate::telemetry::Metrics;
use drover_core::engine::{Engine, EngineParams, Pass};
use drover_core::govern::GovernParams;
use drover_core::model::*;
use std::sync::Arc;

/// So long a decision on the slow map is put off in tests: until the other nine have ended, on which it then rests.
pub const PUT_OFF: Millis = Millis(8_000);

/// A desk that has watched job 1 for twenty seconds.
pub fn watched() -> Desk {
    watched_under(EngineParams::default())
}

/// The same under other parameters.
pub fn watched_under(mut params: EngineParams) -> Desk {
    params.govern.debounce = PUT_OFF;
    let metrics = Arc::new(Metrics::new(&prometheus::Registry::new()).unwrap());
    let mut desk = Desk::new(params, 100, None, metrics);
    for second in 0..=20 {
        facts(job(1), second).into_iter().for_each(|fact| desk.observe(fact));
        desk.decide(Time(100_000 + second * 1_000));
    }
    desk
}

/// A job's id.
pub fn job(n: u32) -> JobId {
    JobId(AppId { cluster: 1, seq: n })
}

/// A fact from the job's ApplicationMaster.
pub fn seen(job: JobId, seq: u64, at: u64, fact: Fact) -> Observation {
    let source = Source { channel: Channel::Shim, app: Some(job.0), principal: None, incarnation: 1 };
    Observation { source, seq, at: Time(at), received: Time(at), fact }
}

/// The summary of a job of ten maps.
pub fn summary(job: JobId) -> JobFact {
    JobFact {
        job,
        attempt: AppAttemptId { app: job.0, number: 1 },
        name: "slow".into(),
        user: "ann".into(),
        queue: "root.default".into(),
        state: Some(JobPhase::Running),
        started: Time(100_000),
        maps: 10,
        reduces: 0,
        uber: false,
    }
}

/// Ten maps of which one falls behind: what an ApplicationMaster tells second by second.
pub fn facts(job: JobId, second: u64) -> Vec<Observation> {
    let at = 100_000 + second * 1_000;
    let mut out = Vec::new();
    if second == 0 {
        let summary = JobFact { started: Time(at), ..summary(job) };
        let settings = JobSettings { report_interval: Millis(500), ..JobSettings::default() };
        out.push(seen(job, 1, at, Fact::Job(summary)));
        out.push(seen(job, 2, at, Fact::Settings(job, settings)));
    }
    let task = |index: u32| {
        let pace = if index == 3 { 0.013 } else { 0.1 };
        let done = pace * second as f32 >= 1.0;
        TaskFact {
            state: Some(if done { TaskState::Succeeded } else { TaskState::Running }),
            score: Some((pace * second as f32).min(1.0)),
            started: Some(Time(100_000)),
            input: Some(Bytes(1 << 20)),
            finished: done.then(|| Time(100_000 + (1.0 / pace) as u64 * 1_000)),
            winner: done.then_some(0),
            ..TaskFact::of(job.task(TaskKind::Map, index))
        }
    };
    let tasks = Fact::Tasks { job, complete: true, tasks: (0..10).map(task).collect() };
    out.push(seen(job, 3 + second, at, tasks));
    // Said twice: the engine drops the second.
    out.push(seen(job, 3 + second, at, Fact::Needs { job, maps: 0, reduces: 0, native_copies: 0 }));
    out
}

/// Facts about the job at a second, with room in the cluster, and a pass.
pub fn tell(engine: &mut Engine, second: u64) -> Pass {
    let at = Time(100_000 + second * 1_000);
    let total = Resources { memory_mb: 65_536, vcores: 64 };
    let source = Source { channel: Channel::Rm, app: None, principal: None, incarnation: 1 };
    let fact = Fact::Cluster(ClusterFact { total, active_nodes: 4, ..ClusterFact::default() });
    engine.observe(&Observation { source, seq: second + 1, at, received: at, fact }).unwrap();
    for fact in facts(job(1), second) {
        let _ = engine.observe(&fact);
    }
    engine.decide(at)
}

/// A fact of the service's own.
pub fn own(engine: &mut Engine, seq: u64, fact: Fact) {
    let app = fact.job().map(|job| job.0);
    let source = Source { channel: Channel::Own, app, principal: None, incarnation: 1 };
    let at = Time(100_000);
    engine.observe(&Observation { source, seq, at, received: at, fact }).unwrap();
}

/// An engine in mode `act` that has just decided on a copy, the second of that, and the order, which nobody has taken yet. Of a job whose shim is heard, or of one where it is not.
pub fn decided(is_heard: bool) -> (Engine, u64, Pass) {
    let govern = GovernParams { mode: Mode::Act, ..GovernParams::default() };
    let mut engine = Engine::new(EngineParams { govern, ..EngineParams::default() });
    let mut passes = (0..40).map(|second| {
        let pass = tell(&mut engine, second);
        if second == 0 {
            let can = Capabilities { duplicate: true, restart: true, ..Capabilities::default() };
            own(&mut engine, 1, Fact::ShimSession(job(1), is_heard));
            own(&mut engine, 2, Fact::Can(job(1), can));
        }
        (second, pass)
    });
    let (second, pass) = passes.find(|(_, pass)| pass.decisions.len() == 1).expect("a copy is ordered");
    (engine, second, pass)
}
