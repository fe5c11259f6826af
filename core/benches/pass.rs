//! Time of an engine's pass and memory of its state, printed: `cargo bench -p drover-core --bench pass [-- POLICY]`.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock and its own memory")]

#[path = "../tests/whole/common/mod.rs"]
mod common;

use common::*;
use drover_core::engine::EngineParams;
use drover_core::model::*;
use drover_core::policy::PolicyName;
use std::collections::BTreeMap;
use std::time::Instant;

/// Resident memory of this process, bytes.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}

/// Milliseconds of the best of some runs, and of the middle one.
fn best_and_median(mut millis: Vec<f64>) -> (f64, f64) {
    millis.sort_by(f64::total_cmp);
    (millis[0], millis[millis.len() / 2])
}

/// Long after the scripted cluster's first instant, so that there is a time before.
fn then(seconds: f64) -> Time {
    at(1_000.0 + seconds)
}

/// Attempts on one node.
const ON_A_NODE: u32 = 100;

/// Maps of a job that have succeeded, beside so many that run.
fn succeeded_beside(tasks: u32) -> u32 {
    tasks / 10
}

/// A host for a job's map: jobs lie on the nodes one after the other.
fn host(job: u32, index: u32, nodes: u32) -> String {
    format!("node{}", (job * 7 + index) % nodes)
}

/// When a running map began: one in fifty is left from the wave before, eight times slower than the others.
fn began(index: u32) -> f64 {
    if index % 50 == 7 { -200.0 } else { 0.0 }
}

/// The running maps of a job.
fn maps(job: u32, tasks: u32, second: u32, nodes: u32) -> Vec<AttemptFact> {
    let id = job_id(job + 1);
    let map = |index: u32| {
        let whole = if began(index) < 0.0 { 2_400.0 } else { 300.0 };
        let score = ((f64::from(second) - began(index)) / whole) as f32;
        running(
            id.task(TaskKind::Map, succeeded_beside(tasks) + index),
            then(began(index)),
            score,
            &host(job, index, nodes),
        )
    };
    (0..tasks).map(map).collect()
}

/// Jobs of so many running maps.
fn cluster(policy: PolicyName, jobs: u32, tasks: u32, nodes: u32) -> Script {
    let mut script = Script::new(EngineParams { policy, ..EngineParams::default() });
    for job in 0..jobs {
        let id = job_id(job + 1);
        script.open_job(id, tasks + succeeded_beside(tasks), 0, then(-330.0));
        // Over REST inputs would be asked for before a copy is decided on.
        script.say(then(-330.0), Fact::ShimSession(id, true));
        let ended = (0..succeeded_beside(tasks))
            .map(|index| succeeded(id.task(TaskKind::Map, index), then(-320.0), then(-20.0)));
        let (ended, winners): (Vec<_>, Vec<_>) = ended.unzip();
        let runs = |index| TaskFact {
            state: Some(TaskState::Running),
            started: Some(then(began(index))),
            ..TaskFact::of(id.task(TaskKind::Map, succeeded_beside(tasks) + index))
        };
        script.tasks(id, then(180.0), (0..tasks).map(runs).chain(ended).collect());
        script.attempts(id, then(180.0), winners);
        for second in [170, 180] {
            script.attempts(id, then(f64::from(second)), maps(job, tasks, second, nodes));
        }
    }
    script
}

/// What the ResourceManager tells.
fn tell_room(script: &mut Script, nodes: u32, full: bool, now: Time) {
    let memory = |attempts: u32| Resources { memory_mb: u64::from(attempts) * 128, vcores: attempts };
    let (used, each) = (memory(ON_A_NODE), memory(if full { ON_A_NODE } else { ON_A_NODE * 2 }));
    script.say(now, Fact::Nodes((0..nodes).map(|n| NodeFact::usable(&format!("node{n}"), each, used)).collect()));
    let [total, allocated] =
        [each, used].map(|one| Resources { memory_mb: one.memory_mb * u64::from(nodes), vcores: one.vcores * nodes });
    script.say(now, Fact::Cluster(ClusterFact { total, allocated, active_nodes: nodes, ..ClusterFact::default() }));
}

fn run(policy: PolicyName, jobs: u32, tasks: u32, full: bool) {
    let nodes = (jobs * tasks).div_ceil(ON_A_NODE);
    let before = resident();
    let mut script = cluster(policy, jobs, tasks, nodes);
    tell_room(&mut script, nodes, full, then(180.0));
    let held = |attempts: u32| resident().saturating_sub(before) as f64 / f64::from(jobs * attempts);
    let bytes = held(tasks + succeeded_beside(tasks));
    let (mut all, mut hundredth, mut observe) = (Vec::new(), Vec::new(), Vec::new());
    let mut decided = 0;
    let started = Instant::now();
    decided += script.decide(then(185.0)).decisions.len();
    let first = started.elapsed().as_secs_f64() * 1e3;
    // With what a pass keeps, and what it leaves unused, of the attempts that run.
    let live = held(tasks);
    for round in 0..7 {
        let now = then(190.0 + 10.0 * f64::from(round));
        for (changed, times) in [(jobs, &mut all), (jobs.div_ceil(100), &mut hundredth)] {
            tell_room(&mut script, nodes, full, now);
            // Jobs that were not heard of are not due yet within the quantum.
            decided += script.decide(now).decisions.len();
            let facts: Vec<_> =
                (0..changed).map(|job| (job_id(job + 1), maps(job, tasks, 190 + 10 * round, nodes))).collect();
            let started = Instant::now();
            for (id, facts) in facts {
                script.attempts(id, now + Millis(10), facts);
            }
            observe.push(started.elapsed().as_secs_f64() * 1e9 / f64::from(changed * tasks));
            let started = Instant::now();
            let pass = script.decide(now + Millis(20));
            times.push(started.elapsed().as_secs_f64() * 1e3);
            assert_eq!(pass.jobs_evaluated, changed as usize);
            decided += pass.decisions.len();
        }
    }
    let mut verdicts: BTreeMap<&str, u32> = BTreeMap::new();
    for (_, task) in script.engine.cluster().jobs().flat_map(|job| job.tasks(TaskKind::Map)) {
        task.verdict.into_iter().for_each(|verdict| *verdicts.entry(verdict.label()).or_default() += 1);
    }
    let (best_all, median_all) = best_and_median(all);
    let (best_some, median_some) = best_and_median(hundredth);
    let (_, observe) = best_and_median(observe);
    println!(
        "{}: {jobs} jobs x {tasks} tasks on {nodes} {} nodes: first pass {first:.1} ms, with all changed {median_all:.1} ms (best {best_all:.1}), \
         with 1 in 100 jobs changed {median_some:.2} ms (best {best_some:.2}); {decided} copies decided on, at last {verdicts:?}; \
         observe {observe:.0} ns an attempt; {bytes:.0} bytes of state an attempt, after the first pass {live:.0} for each that runs",
        policy.label(),
        if full { "full" } else { "half full" },
    );
}

fn policy(label: &str) -> PolicyName {
    PolicyName::ALL.into_iter().find(|policy| policy.label() == label).expect("a policy's name")
}

/// Each case in a process of its own, whose memory no earlier one has used.
fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let [_, case, name, jobs, tasks, full, ..] = args.as_slice()
        && case == "case"
    {
        return run(policy(name), jobs.parse().expect("jobs"), tasks.parse().expect("tasks"), full == "true");
    }
    // Cargo's own options begin with a dash.
    let asked = args.iter().skip(1).find(|word| !word.starts_with('-'));
    let policy = asked.map_or_else(PolicyName::default, |name| policy(name)).label();
    let me = std::env::current_exe().expect("the path of this program");
    // Growth at fifty tasks a job, and a million attempts in jobs ten times as large.
    for (jobs, tasks) in [(200, 50), (2_000, 50), (20_000, 50), (2_000, 500)] {
        for full in [false, true] {
            let case = ["case".to_owned(), policy.to_owned(), jobs.to_string(), tasks.to_string(), full.to_string()];
            let status = std::process::Command::new(&me).args(case).status().expect("a second process of this program");
            assert!(status.success(), "{jobs} jobs x {tasks} tasks: {status}");
        }
    }
}
