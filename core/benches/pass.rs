//! Time of an engine's pass and memory of its state, printed: `cargo bench -p drover-core --bench pass`.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock and its own memory")]

#[path = "../tests/common/mod.rs"]
mod common;

use common::*;
use drover_core::engine::EngineParams;
use drover_core::model::*;
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

fn maps(id: JobId, tasks: u32, second: u32) -> Vec<AttemptFact> {
    let slow = |index: u32| if index % 50 == 7 { 8.0 } else { 1.0 };
    let whole = |index: u32| 300.0 * slow(index);
    (0..tasks)
        .map(|index| {
            let host = format!("node{}", index % 100);
            running(id.task(TaskKind::Map, index), at(0.0), (f64::from(second) / whole(index)) as f32, &host)
        })
        .collect()
}

fn run(jobs: u32, tasks: u32) {
    let mut script = Script::new(EngineParams::default());
    let before = resident();
    for job in 0..jobs {
        let id = job_id(job + 1);
        script.open_job(id, tasks, 0, at(0.0));
        script.attempts(id, at(100.0), maps(id, tasks, 100));
        let listed = (0..tasks)
            .map(|index| TaskFact { state: Some(TaskState::Running), ..TaskFact::of(id.task(TaskKind::Map, index)) });
        script.tasks(id, at(100.0), listed.collect());
    }
    let bytes = resident().saturating_sub(before) as f64 / f64::from(jobs * tasks);
    let (mut all, mut hundredth, mut observe) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..7 {
        let now = at(110.0 + 10.0 * f64::from(round));
        for (changed, times) in [(jobs, &mut all), (jobs.div_ceil(100), &mut hundredth)] {
            // Jobs that were not heard of are not due yet within the quantum.
            script.decide(now);
            let facts: Vec<_> =
                (0..changed).map(|job| (job_id(job + 1), maps(job_id(job + 1), tasks, 110 + round))).collect();
            let started = Instant::now();
            for (id, facts) in facts {
                script.attempts(id, now + Millis(10), facts);
            }
            observe.push(started.elapsed().as_secs_f64() * 1e9 / f64::from(changed * tasks));
            let started = Instant::now();
            let pass = script.decide(now + Millis(20));
            times.push(started.elapsed().as_secs_f64() * 1e3);
            assert_eq!(pass.jobs_evaluated, changed as usize);
        }
    }
    let (best_all, median_all) = best_and_median(all);
    let (best_some, median_some) = best_and_median(hundredth);
    let (_, observe) = best_and_median(observe);
    println!(
        "{jobs} jobs x {tasks} tasks: pass with all changed {median_all:.1} ms (best {best_all:.1}), with 1 in 100 jobs changed {median_some:.2} ms (best {best_some:.2}); \
         observe {observe:.0} ns an attempt; {bytes:.0} bytes of state an attempt"
    );
}

/// Each case in a process of its own, whose memory no earlier one has used.
fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let [_, case, jobs, tasks, ..] = args.as_slice()
        && case == "case"
    {
        return run(jobs.parse().expect("jobs"), tasks.parse().expect("tasks"));
    }
    let me = std::env::current_exe().expect("the path of this program");
    // Growth at fifty tasks a job, and a million attempts in jobs ten times as large.
    for (jobs, tasks) in [(200, 50), (2_000, 50), (20_000, 50), (2_000, 500)] {
        let case = ["case".to_owned(), jobs.to_string(), tasks.to_string()];
        let status = std::process::Command::new(&me).args(case).status().expect("a second process of this program");
        assert!(status.success(), "{jobs} jobs x {tasks} tasks: {status}");
    }
}
