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

/// Tasks of a job that have succeeded, beside so many that run.
fn succeeded_beside(tasks: u32) -> u32 {
    tasks / 10
}

/// Every fifth job is at its reduces.
fn kind(job: u32) -> TaskKind {
    if job % 5 == 4 { TaskKind::Reduce } else { TaskKind::Map }
}

/// A host for a job's task: jobs lie on the nodes one after the other.
fn host(job: u32, index: u32, nodes: u32) -> String {
    format!("node{}", (job * 7 + index) % nodes)
}

/// One in fifty is left from the wave before, eight times slower than the others.
fn is_slow(index: u32) -> bool {
    index % 50 == 7
}

/// When a running task began.
fn began(index: u32) -> f64 {
    if is_slow(index) { -200.0 } else { 0.0 }
}

/// A running task of a job, and what its counters tell where it is suspected.
fn runs(job: u32, index: u32, tasks: u32, second: u32, nodes: u32) -> AttemptFact {
    let (id, kind) = (job_id(job + 1), kind(job));
    let whole = if is_slow(index) { 2_400.0 } else { 300.0 };
    let share = (f64::from(second) - began(index)) / whole;
    let score = if kind == TaskKind::Reduce { (2.0 + share) / 3.0 } else { share };
    let task = id.task(kind, succeeded_beside(tasks) + index);
    let read = Bytes((share * 128e6) as u64);
    AttemptFact {
        phase: (kind == TaskKind::Reduce).then_some(Phase::Reduce),
        counters: Counters { read: is_slow(index).then_some(read), ..Counters::default() },
        ..running(task, then(began(index)), score as f32, &host(job, index, nodes))
    }
}

/// The running tasks of a job.
fn all_runs(job: u32, tasks: u32, second: u32, nodes: u32) -> Vec<AttemptFact> {
    (0..tasks).map(|index| runs(job, index, tasks, second, nodes)).collect()
}

/// Jobs of so many running tasks.
fn cluster(policy: PolicyName, jobs: u32, tasks: u32, nodes: u32) -> Script {
    let mut script = Script::new(EngineParams { policy, ..EngineParams::default() });
    for job in 0..jobs {
        let (id, kind, done) = (job_id(job + 1), kind(job), succeeded_beside(tasks));
        let reduces = if kind == TaskKind::Reduce { tasks + done } else { 0 };
        let maps = if reduces > 0 { done } else { tasks + done };
        script.open_job(id, maps, reduces, then(-330.0));
        // Over REST inputs would be asked for before a copy is decided on.
        script.say(then(-330.0), Fact::ShimSession(id, true));
        script.say(then(-330.0), Fact::Can(id, Capabilities { prefer: true, ..Capabilities::NONE }));
        let mut ended_kinds = vec![TaskKind::Map];
        ended_kinds.extend((kind == TaskKind::Reduce).then_some(kind));
        let ended = ended_kinds.into_iter().flat_map(|ended| (0..done).map(move |index| (ended, index)));
        let ended = ended.map(|(ended, index)| {
            // Maps are over before reduces begin.
            let [from, to] = if ended == kind { [-320.0, -20.0] } else { [-330.0, -321.0] };
            let (task, mut attempt) = succeeded(id.task(ended, index), then(from), then(to));
            attempt.host = Some(host(job, index, nodes).into());
            (task, attempt)
        });
        let (ended, winners): (Vec<_>, Vec<_>) = ended.unzip();
        let runs = |index| TaskFact {
            state: Some(TaskState::Running),
            started: Some(then(began(index))),
            ..TaskFact::of(id.task(kind, done + index))
        };
        script.tasks(id, then(180.0), (0..tasks).map(runs).chain(ended).collect());
        script.attempts(id, then(180.0), winners);
        for second in [170, 180] {
            script.attempts(id, then(f64::from(second)), all_runs(job, tasks, second, nodes));
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

/// What is heard between two passes: the attempts of each job heard of.
type News = Vec<(JobId, Vec<AttemptFact>)>;

/// All attempts; those of one job in a hundred; one attempt in a hundred, all over the jobs.
fn news(jobs: u32, tasks: u32, second: u32, nodes: u32) -> [News; 3] {
    let whole = |job| (job_id(job + 1), all_runs(job, tasks, second, nodes));
    let of = |job: u32, indices: Vec<u32>| {
        (job_id(job + 1), indices.into_iter().map(|index| runs(job, index, tasks, second, nodes)).collect())
    };
    let picked = |job: u32| (0..tasks).filter(|index| (job * tasks + index) % 100 == second % 100).collect::<Vec<_>>();
    let spread = (0..jobs).map(|job| (job, picked(job))).filter(|(_, indices)| !indices.is_empty());
    [
        (0..jobs).map(whole).collect(),
        (0..jobs.div_ceil(100)).map(whole).collect(),
        spread.map(|(job, indices)| of(job, indices)).collect(),
    ]
}

/// Milliseconds of the passes, and nanoseconds of an observation.
#[derive(Default)]
struct Times {
    passes: [Vec<f64>; 3],
    observe: Vec<f64>,
    decided: usize,
}

fn rounds(script: &mut Script, [jobs, tasks, nodes]: [u32; 3], full: bool) -> Times {
    let mut times = Times::default();
    for round in 0..7 {
        let second = 190 + 10 * round;
        for (which, news) in news(jobs, tasks, second, nodes).into_iter().enumerate() {
            // Jobs that were not heard of are not due yet within the quantum.
            let now = then(f64::from(second)) + Millis(30 * which as u64);
            tell_room(script, nodes, full, now);
            times.decided += script.decide(now).decisions.len();
            let (heard, attempts) = (news.len(), news.iter().map(|(_, attempts)| attempts.len()).sum::<usize>());
            let started = Instant::now();
            for (id, facts) in news {
                script.attempts(id, now + Millis(10), facts);
            }
            times.observe.push(started.elapsed().as_secs_f64() * 1e9 / attempts as f64);
            let started = Instant::now();
            let pass = script.decide(now + Millis(20));
            times.passes[which].push(started.elapsed().as_secs_f64() * 1e3);
            assert_eq!(pass.jobs_evaluated, heard);
            times.decided += pass.decisions.len();
        }
    }
    times
}

fn run(policy: PolicyName, jobs: u32, tasks: u32, full: bool) {
    let nodes = (jobs * tasks).div_ceil(ON_A_NODE);
    let before = resident();
    let mut script = cluster(policy, jobs, tasks, nodes);
    tell_room(&mut script, nodes, full, then(180.0));
    let started = Instant::now();
    let decided = script.decide(then(185.0)).decisions.len();
    let first = started.elapsed().as_secs_f64() * 1e3;
    // With what the pass keeps, and what it has used and freed; later the news would be in it.
    let held = resident().saturating_sub(before) as f64;
    let known: usize =
        script.engine.cluster().jobs().flat_map(|job| TaskKind::ALL.map(|kind| job.tasks(kind).count())).sum();
    let times = rounds(&mut script, [jobs, tasks, nodes], full);
    let mut verdicts: BTreeMap<&str, u32> = BTreeMap::new();
    let tasks_of = |job: &'_ Job| {
        TaskKind::ALL.map(|kind| job.tasks(kind).filter_map(|(_, task)| task.verdict).collect::<Vec<_>>())
    };
    for verdict in script.engine.cluster().jobs().flat_map(tasks_of).flatten() {
        *verdicts.entry(verdict.label()).or_default() += 1;
    }
    let [all, jobs_changed, attempts_changed] = times.passes.map(|millis| {
        let (best, median) = best_and_median(millis);
        format!("{median:.1} ms (best {best:.1})")
    });
    let (_, observe) = best_and_median(times.observe);
    println!(
        "{}: {jobs} jobs x {tasks} tasks on {nodes} {} nodes: first pass {first:.1} ms, with all changed {all}, \
         with 1 in 100 jobs changed {jobs_changed}, with 1 in 100 attempts changed all over the jobs {attempts_changed}; \
         {} copies decided on, at last {verdicts:?}; observe {observe:.0} ns an attempt; \
         after the first pass {:.0} bytes of state an attempt, {:.0} for each that runs",
        policy.label(),
        if full { "full" } else { "half full" },
        decided + times.decided,
        held / known as f64,
        held / f64::from(jobs * tasks),
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
