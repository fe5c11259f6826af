//! What it takes the engine's thread to hand over what a room has learned, where each is as large as it gets, and what that comes to as text: `cargo bench -p drover-core --bench learned`.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

#[path = "../tests/whole/common/mod.rs"]
mod common;

use common::*;
use drover_core::engine::{Engine, EngineParams, Learned, Room};
use drover_core::model::*;
use serde_json::{Value, json};
use std::time::Instant;

const MAPS: u32 = 40;
/// Bounds of the rooms: machines, kinds of jobs, users with a breaker and copies of each, hosts that rest.
const MACHINES: usize = 20_000;
const KINDS: usize = 2_048;
const USERS: usize = 4_096;
const COPIES: usize = 200;
const HOSTS: usize = 4_096;
/// Users that are told apart where something rests on more than one's tasks.
const PRINCIPALS: usize = 8;
const RUNS: usize = 9;

/// A job that has run on ten hosts, of one of as many users as are told apart.
fn run(script: &mut Script, number: u32) {
    let (id, user) = (job_id(number + 1), format!("user-{:04}", number as usize % PRINCIPALS));
    let begun = at(f64::from(number) * 60.0);
    let second = |second: u32| begun + Millis(u64::from(second) * 1_000);
    script.open_job_of(&user, "root.default", id, MAPS, 0, begun);
    for now in 0..=26 {
        let told = (0..MAPS).map(|index| {
            let (task, lasts, host) = (id.task(TaskKind::Map, index), 12 + index % 13, format!("nm{}", index % 10));
            if now >= lasts {
                let (task, attempt) = succeeded(task, begun, second(lasts));
                return (task, AttemptFact { host: Some(host.into()), ..attempt });
            }
            let runs = TaskFact { state: Some(TaskState::Running), started: Some(begun), ..TaskFact::of(task) };
            (runs, running(task, begun, now as f32 / lasts as f32, &host))
        });
        let (tasks, attempts) = told.collect::<(Vec<_>, Vec<_>)>();
        script.tasks(id, second(now), tasks);
        script.attempts(id, second(now), attempts);
        script.decide(second(now));
    }
    let (started, finished) = (Some(begun), Some(second(26)));
    let end = EndFact { job: id, state: Some(JobPhase::Succeeded), started, finished, attempts: Vec::new() };
    script.say(second(27), Fact::Ended(end));
    script.decide(second(28));
}

fn told(engine: &Engine, room: Room) -> Value {
    serde_json::to_value(engine.learned(room)).unwrap_or_default()
}

/// The first of a list of pairs, as often as wanted, each under a name of its own.
fn often(list: &mut Value, times: usize, name: impl Fn(usize) -> Value) {
    let one = list[0][1].clone();
    *list = (0..times).map(|n| json!([name(n), one])).collect();
}

/// What a room may have learned at most, of the kind that it has.
fn full(engine: &Engine, room: Room) -> Value {
    let mut all = told(engine, room);
    let kind =
        |n: usize| json!({ "user": format!("user-{:04}", n % 97), "name": format!("etl-of-some-length-{n:04}-#") });
    let job = |n: usize| format!("job_1795000000000_{n:04}");
    match room {
        Room::Odds => often(&mut all["odds"]["machines"], MACHINES, |n| json!(format!("node-{n:05}.rack.example.com"))),
        Room::Calibration => often(&mut all["calibration"]["kinds"], KINDS, kind),
        Room::Priors => often(&mut all["priors"]["kinds"], KINDS, kind),
        Room::Shuffles => {
            let values: Vec<f64> = (0..8).map(|n| 1e8 / (3.0 + f64::from(n))).collect();
            let shuffle = json!({ "size": 1e9, "bandwidths": values, "compute": values });
            all["shuffles"]["kinds"] = json!([[kind(0), { "record": shuffle, "used": 1 }]]);
            often(&mut all["shuffles"]["kinds"], KINDS, kind);
        }
        Room::Breakers => {
            let recent: Vec<Value> = (0..COPIES).map(|n| json!([job(n), n % 3 == 0])).collect();
            let one = json!({ "recent": recent, "opened": null, "counted": T0 });
            let users: serde_json::Map<String, Value> =
                (0..USERS).map(|n| (format!("user-{n:04}"), one.clone())).collect();
            all["breakers"]["by_policy"] = json!({ "drover": users });
        }
        Room::NodeRests => {
            let row = |n: usize| json!([format!("user-{:04}", n % 97), format!("node-{n:05}.rack.example.com"), { "futile": 3, "last": T0 + 2_490_000 }]);
            all["node_rests"] = (0..HOSTS).map(row).collect();
        }
    }
    all
}

/// Milliseconds of the middle one of some runs.
fn median(of: impl Fn()) -> f64 {
    let run = |_| {
        let begun = Instant::now();
        of();
        begun.elapsed().as_secs_f64() * 1e3
    };
    let mut millis: Vec<f64> = (0..RUNS).map(run).collect();
    millis.sort_by(f64::total_cmp);
    millis[RUNS / 2]
}

fn main() {
    let mut script = Script::new(EngineParams::default());
    (0..40).for_each(|number| run(&mut script, number));
    println!("{:<12} {:>12} {:>12} {:>12}", "room", "copied, ms", "as text, ms", "MB");
    for room in Room::ALL {
        let full = full(&script.engine, room);
        match serde_json::from_value::<Learned>(full) {
            Ok(learned) => script.engine.resume(learned, at(2_500.0)),
            Err(error) => return println!("{}: {error}", room.label()),
        }
        let copied = median(|| drop(script.engine.learned(room)));
        let learned = script.engine.learned(room);
        let text = || serde_json::to_string(&learned).unwrap_or_default();
        let (as_text, bytes) = (median(|| drop(text())), text().len());
        println!("{:<12} {copied:>12.1} {as_text:>12.1} {:>12.1}", room.label(), bytes as f64 / 1e6);
    }
}
