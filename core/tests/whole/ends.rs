//! What comes after a decision and after a job: charges, outcomes, facts that come too late.

use crate::common::*;
use drover_core::engine::{EngineParams, EstimateError};
use drover_core::estimate::Estimator;
use drover_core::estimate::calibration::Point;
use drover_core::model::*;

#[test]
fn advice_is_charged_until_the_copy_would_have_ended_and_then_judged() {
    let mut script = Script::new(EngineParams::default());
    let decisions = play(&mut script, 4, 4.0, &one_node_in_four, 30);
    assert_eq!(decisions.len(), 1);
    assert_eq!(script.engine.copies_in_flight(), 0, "its sampled end has passed");
    let id = job_id(1);
    assert_eq!(script.engine.candidates(id)[0].verdict, Verdict::AlreadyAdvised);
    let (tasks, attempts) = equal_maps(id, 4, 4.0, &one_node_in_four, 40.0, 0);
    script.tasks(id, at(40.0), tasks);
    script.attempts(id, at(40.0), attempts);
    let pass = script.decide(at(40.0));
    let [outcome] = &pass.outcomes[..] else { panic!("{pass:?}") };
    assert!(outcome.would_have_won > 0.99 && outcome.gain > Millis(20_000), "{outcome:?}");
    let halves: Vec<_> = pass.errors.iter().filter(|e| e.point == Point::Half).collect();
    assert_eq!(
        halves.iter().map(|e| e.estimator).collect::<Vec<_>>(),
        Estimator::ALL,
        "each estimator is put to the test"
    );
    let worked = |e: &&&EstimateError| [Estimator::Late, Estimator::PhaseAware].contains(&e.estimator);
    assert!(
        halves.iter().filter(worked).all(|e| e.actual.as_secs_f64() > 15.0 && e.predicted.mean.as_secs_f64() > 15.0)
    );
}

#[test]
fn asking_again_before_the_named_instant_adds_nothing() {
    let mut script = Script::new(EngineParams::default());
    let id = job_id(1);
    script.open_job(id, 16, 0, at(0.0));
    let (tasks, attempts) = equal_maps(id, 16, 4.0, &one_node_in_four, 12.0, 0);
    script.tasks(id, at(12.0), tasks);
    script.attempts(id, at(12.0), attempts);
    let pass = script.decide(at(12.0));
    assert!(!pass.decisions.is_empty());
    let next = pass.next.unwrap();
    let again = script.decide(next - Millis(1));
    assert_eq!((again.decisions.len(), again.jobs_evaluated, again.next), (0, 0, Some(next)));
    assert_eq!(script.decide(next).jobs_evaluated, 1);
}

#[test]
fn attempts_of_a_dead_application_master_run_no_more() {
    let id = job_id(1);
    let mut script = Script::new(EngineParams::default());
    script.open_job(id, 4, 0, at(0.0));
    let (tasks, attempts) = equal_maps(id, 4, 400.0, &|_| 1.0, 10.0, 0);
    script.tasks(id, at(10.0), tasks);
    script.attempts(id, at(10.0), attempts);
    let second = JobFact { attempt: AppAttemptId { app: id.0, number: 2 }, ..job_fact(id, 4, 0) };
    script.say(at(20.0), Fact::Job(second));
    assert_eq!(script.engine.cluster().job(id).unwrap().tasks(TaskKind::Map).flat_map(|(_, t)| t.live()).count(), 0);
    script.attempts(
        id,
        at(21.0),
        vec![AttemptFact {
            state: Some(AttemptState::Running),
            started: Some(at(20.5)),
            ..AttemptFact::of(id.task(TaskKind::Map, 0).attempt(1000))
        }],
    );
    let task = script.engine.cluster().job(id).unwrap().task(id.task(TaskKind::Map, 0)).unwrap();
    assert_eq!(task.original().unwrap().number, 1000);
}

#[test]
fn advice_of_a_dead_application_masters_time_neither_bars_the_next_one_nor_is_told_as_a_win() {
    let mut script = Script::new(EngineParams::default());
    let task = play(&mut script, 4, 4.0, &one_node_in_four, 30)[0].1.task;
    let id = job_id(1);
    let verdict = |script: &Script| {
        let all = script.engine.candidates(id);
        all.iter().find(|judged| judged.attempt.task == task).map(|judged| judged.verdict)
    };
    assert_eq!(verdict(&script), Some(Verdict::AlreadyAdvised));
    let second = JobFact { attempt: AppAttemptId { app: id.0, number: 2 }, ..job_fact(id, 4, 0) };
    script.say(at(31.0), Fact::Job(second));
    let anew = AttemptFact { number: 1000, ..running(task, at(31.5), 0.1, "nm3") };
    script.tasks(id, at(32.0), vec![TaskFact { state: Some(TaskState::Running), ..TaskFact::of(task) }]);
    script.attempts(id, at(32.0), vec![anew]);
    assert_eq!(script.decide(at(32.0)).outcomes, []);
    let judged = verdict(&script);
    assert!(judged.is_some() && judged != Some(Verdict::AlreadyAdvised), "{judged:?}");
    let (done, attempt) = succeeded(task, at(31.5), at(34.0));
    script.tasks(id, at(34.0), vec![TaskFact { winner: Some(1000), ..done }]);
    script.attempts(id, at(34.0), vec![AttemptFact { number: 1000, ..attempt }]);
    assert_eq!(script.decide(at(34.0)).outcomes, [], "what it gained since the first one's time is no copy's");
}

#[test]
fn in_advice_a_task_that_hadoop_copied_is_judged_all_the_same_and_marked() {
    for labelled in [true, false] {
        let id = job_id(1);
        let mut script = Script::new(EngineParams::default());
        script.open_job(id, 16, 0, at(0.0));
        let slow = id.task(TaskKind::Map, 1);
        let (tasks, mut attempts) = equal_maps(id, 16, 4.0, &|i| if i == 1 { 10.0 } else { 1.0 }, 10.0, 0);
        attempts.push(AttemptFact {
            number: 1,
            speculative: labelled.then_some(true),
            ..running(slow, at(9.0), 0.1, "nm3")
        });
        script.tasks(id, at(10.0), tasks);
        script.attempts(id, at(10.0), attempts);
        let decisions = script.decide(at(10.0)).decisions;
        let [decision] = &decisions[..] else { panic!("{decisions:?}") };
        assert_eq!((decision.attempt, decision.natively_copied), (slow.attempt(0), true));
    }
}

fn end(id: JobId, state: JobPhase, finished: f64, attempts: Vec<AttemptFact>) -> Fact {
    Fact::Ended(EndFact { job: id, state: Some(state), started: Some(at(0.0)), finished: Some(at(finished)), attempts })
}

#[test]
fn a_task_whose_end_only_history_tells_is_settled_at_its_own_end() {
    let mut script = Script::new(EngineParams::default());
    assert_eq!(play(&mut script, 4, 4.0, &one_node_in_four, 30).len(), 1);
    let id = job_id(1);
    let (_, winner) = succeeded(id.task(TaskKind::Map, 1), at(0.0), at(40.0));
    script.say(at(60.0), end(id, JobPhase::Succeeded, 55.0, vec![winner]));
    let pass = script.decide(at(60.0));
    assert_eq!(pass.outcomes.iter().map(|o| o.ended).collect::<Vec<_>>(), [at(40.0)]);
    assert_eq!(pass.errors.iter().filter(|e| e.point == Point::Half).count(), Estimator::ALL.len());
    assert_eq!(script.engine.cluster().job_count(), 0);
}

#[test]
fn a_job_that_was_killed_proves_nothing_about_advice() {
    let mut script = Script::new(EngineParams::default());
    assert_eq!(play(&mut script, 4, 4.0, &one_node_in_four, 30).len(), 1);
    script.say(at(9_000.0), end(job_id(1), JobPhase::Killed, 9_000.0, vec![]));
    let pass = script.decide(at(9_000.0));
    assert_eq!((pass.outcomes, script.engine.copies_in_flight()), (vec![], 0));
}

#[test]
fn a_fact_that_comes_after_a_jobs_end_does_not_bring_it_back() {
    let mut script = Script::new(EngineParams::default());
    let id = job_id(1);
    script.open_job(id, 4, 0, at(0.0));
    script.say(at(9.0), end(id, JobPhase::Succeeded, 9.0, vec![]));
    script.decide(at(9.0));
    let fact = Fact::Tasks { job: id, complete: true, tasks: vec![] };
    let late = script.observation(Channel::Am, Some(id.0), at(10.0), fact);
    assert_eq!(script.engine.observe(&late), Err(Dropped::UnknownJob));
    assert_eq!(script.engine.cluster().job_count(), 0);
}

#[test]
fn owner_and_queue_are_the_resource_managers_word_and_not_the_jobs() {
    let mut script = Script::new(EngineParams::default());
    let id = job_id(1);
    let app = AppFact {
        app: id.0,
        user: "mallory".into(),
        queue: "root.locked".into(),
        name: "job".into(),
        started: at(0.0),
        containers: 1,
        allocated: Resources::default(),
        label: None,
    };
    script.say(at(0.0), Fact::Apps(vec![app]));
    script.open_job(id, 4, 0, at(0.0));
    let job = script.engine.cluster().job(id).unwrap();
    assert_eq!((job.user.as_str(), job.queue.as_str()), ("mallory", "root.locked"));
}
