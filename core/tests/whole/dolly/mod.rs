//! Dolly in whole passes: clones settled once for each phase, charged to a budget of their own, and given from the first moment on.

mod budget;
mod gives_way;
mod machines;
mod owns;
mod plans;
mod schemes;
mod sequences;

use crate::common::*;
use drover_core::engine::{EngineParams, Pass};
use drover_core::govern::GovernParams;
use drover_core::model::*;
use drover_core::policy::dolly::Admission;
use drover_core::policy::{DollyParams, PolicyName};

/// Half of a cluster of 64 slots for clones: a job of ten tasks, of which three clones each are wanted, takes 30.
fn dolly(admission: Admission) -> Script {
    let dolly = DollyParams { beta: 0.5, prior: 0.1, admission, ..DollyParams::default() };
    let govern = GovernParams { cluster_cap: 1.0, ..GovernParams::default() };
    Script::new(EngineParams { policy: PolicyName::Dolly, dolly, govern, ..EngineParams::default() })
}

/// The pass at a second of jobs of so many equal maps of 8 s, each with its number and the second it began at.
fn pass(script: &mut Script, jobs: &[(u32, u32, f64)], second: f64) -> Pass {
    for (number, maps, began) in jobs.iter().filter(|(_, _, began)| *began <= second) {
        let id = job_id(*number);
        let (mut tasks, mut attempts) = equal_maps(id, *maps, 8.0, &|_| 1.0, second - began, 0);
        let later = |at: &mut Option<Time>| *at = at.map(|at| at + Millis::from_secs_f64(*began));
        tasks.iter_mut().for_each(|task| [&mut task.started, &mut task.finished].into_iter().for_each(later));
        attempts.iter_mut().for_each(|one| [&mut one.started, &mut one.finished].into_iter().for_each(later));
        script.tasks(id, at(second), tasks);
        script.attempts(id, at(second), attempts);
    }
    script.decide(at(second))
}

fn tasks_of(pass: &Pass, number: u32) -> Vec<(u32, u32)> {
    let of_job = pass.decisions.iter().filter(|decision| decision.job == job_id(number));
    let mut found: Vec<_> = of_job.map(|decision| (decision.task.index, decision.copies)).collect();
    found.sort_unstable();
    found
}

fn verdicts(script: &Script, number: u32) -> Vec<Verdict> {
    let mut all: Vec<_> = script.engine.candidates(job_id(number)).iter().map(|one| one.verdict).collect();
    all.dedup();
    all
}

#[test]
fn every_task_of_a_small_job_gets_its_clones_at_once_and_no_more_later() {
    let mut script = dolly(Admission::AllOrNothing);
    script.open_job(job_id(1), 10, 0, at(0.0));
    let first = pass(&mut script, &[(1, 10, 0.0)], 1.0);
    assert_eq!(tasks_of(&first, 1), (0..10).map(|index| (index, 2)).collect::<Vec<_>>());
    assert_eq!(script.engine.copies_in_flight(), 20);
    for second in 2..8 {
        assert_eq!(pass(&mut script, &[(1, 10, 0.0)], second.into()).decisions, vec![]);
    }
}

#[test]
fn a_job_that_is_met_when_some_of_its_tasks_have_ended_is_left_alone() {
    let mut script = dolly(Admission::AllOrNothing);
    script.open_job(job_id(1), 10, 0, at(0.0));
    let id = job_id(1);
    let (tasks, attempts) = equal_maps(id, 10, 8.0, &|index| if index == 0 { 0.5 } else { 1.0 }, 5.0, 0);
    script.tasks(id, at(5.0), tasks);
    script.attempts(id, at(5.0), attempts);
    assert_eq!(script.decide(at(5.0)).decisions, vec![]);
    assert_eq!(verdicts(&script, 1), [Verdict::PhaseUnderWay]);
}

#[test]
fn nothing_is_cloned_before_tasks_have_shown_how_often_they_straggle_unless_a_prior_says() {
    let told = |prior| {
        let mut script = dolly(Admission::AllOrNothing);
        let params = script.engine.params().clone();
        script.engine.set_params(EngineParams { dolly: DollyParams { prior, ..params.dolly }, ..params });
        script.open_job(job_id(1), 10, 0, at(0.0));
        let clones = pass(&mut script, &[(1, 10, 0.0)], 1.0).decisions.len();
        (clones, script.engine.clone_plan(job_id(1), TaskKind::Map).unwrap().refused)
    };
    assert_eq!((told(0.0), told(0.1)), ((0, Some(Verdict::OddsUnknown)), (10, None)));
}

#[test]
fn where_tasks_have_been_seen_not_to_straggle_nothing_is_cloned() {
    let mut script = dolly(Admission::AllOrNothing);
    script.open_job(job_id(1), 200, 0, at(0.0));
    for second in 1..10 {
        let _ = pass(&mut script, &[(1, 200, 0.0)], second.into());
    }
    let (state, finished) = (Some(JobPhase::Succeeded), Some(at(9.0)));
    let end = EndFact { job: job_id(1), state, started: Some(at(0.0)), finished, attempts: Vec::new() };
    script.say(at(10.0), Fact::Ended(end));
    let _ = script.decide(at(10.5));
    let odds = script.engine.odds().cluster();
    assert_eq!((odds.probability(), odds.principals()), (Some(0.0), 1));
    script.open_job(job_id(2), 10, 0, at(11.0));
    let _ = pass(&mut script, &[(2, 10, 11.0)], 12.0);
    assert_eq!(verdicts(&script, 2), [Verdict::NoCloneNeeded]);
    script.open_job_of("bob", "root.default", job_id(3), 4, 0, at(12.0));
    assert_eq!(
        tasks_of(&pass(&mut script, &[(3, 4, 12.0)], 13.0), 3).len(),
        4,
        "alice's word alone says nothing of bob's jobs"
    );
}

#[test]
fn reduces_are_settled_when_the_first_runs_and_have_no_more_clones_than_maps() {
    let id = job_id(1);
    let mut script = dolly(Admission::AllOrNothing);
    script.open_job(id, 4, 10, at(0.0));
    let _ = pass(&mut script, &[(1, 4, 0.0)], 1.0);
    assert_eq!(script.engine.clone_plan(id, TaskKind::Map).map(|plan| plan.clones), Some(2));
    assert_eq!(script.engine.clone_plan(id, TaskKind::Reduce), None);
    let reduce = id.task(TaskKind::Reduce, 0);
    let (state, started) = (Some(TaskState::Running), Some(at(2.0)));
    script.say(
        at(2.0),
        Fact::Tasks { job: id, complete: false, tasks: vec![TaskFact { state, started, ..TaskFact::of(reduce) }] },
    );
    let _ = script.decide(at(2.5));
    assert_eq!(
        script.engine.clone_plan(id, TaskKind::Reduce).map(|plan| plan.clones),
        Some(2),
        "ten would ask for three"
    );
}

#[test]
fn advised_clones_last_as_long_as_their_tasks_and_say_nothing_of_what_they_would_have_won() {
    let mut script = dolly(Admission::AllOrNothing);
    script.open_job(job_id(1), 10, 0, at(0.0));
    for second in 1..8 {
        let _ = pass(&mut script, &[(1, 10, 0.0)], second.into());
        assert_eq!(script.engine.copies_in_flight(), 20, "{second}");
    }
    let last = pass(&mut script, &[(1, 10, 0.0)], 8.5);
    assert_eq!((script.engine.copies_in_flight(), last.outcomes), (0, vec![]));
}
