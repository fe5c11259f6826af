//! Outputs that are out of reach of a job's reduces, in whole passes: made again once, by an order or only said, and refused by name.

use crate::common::*;
use drover_core::engine::EngineParams;
use drover_core::govern::GovernParams;
use drover_core::model::*;

const JOB: u32 = 2;

/// A job of eight maps that have succeeded, four of them on one node, and of three reduces that copy on others, two of which could not fetch outputs of that node.
fn missed(mode: Mode, rerun: bool) -> Script {
    let govern = GovernParams { mode, ..Default::default() };
    let mut script = Script::new(EngineParams { govern, ..EngineParams::default() });
    let id = job_id(JOB);
    script.open_job(id, 8, 3, at(0.0));
    script.say(at(0.0), Fact::Can(id, Capabilities { duplicate: true, rerun, ..Capabilities::default() }));
    let (mut tasks, mut attempts) = (Vec::new(), Vec::new());
    for index in 0..8 {
        let (task, attempt) = succeeded(id.task(TaskKind::Map, index), at(0.0), at(10.0));
        let host = if index < 4 { "nm1" } else { "nm2" };
        tasks.push(task);
        attempts.push(AttemptFact { host: Some(host.into()), ..attempt });
    }
    for index in 0..3 {
        let task = id.task(TaskKind::Reduce, index);
        let runs = TaskFact { state: Some(TaskState::Running), started: Some(at(11.0)), ..TaskFact::of(task) };
        let on = running(task, at(11.0), 0.1, &format!("nm{}", index + 2));
        tasks.push(runs);
        attempts.push(AttemptFact { phase: Some(Phase::Copy), scored_at: Some(at(12.0)), ..on });
    }
    script.tasks(id, at(12.0), tasks);
    script.attempts(id, at(12.0), attempts);
    for (reduce, map) in [(0, 0), (0, 1), (1, 1), (1, 2)] {
        let told = AttemptFact {
            missed: vec![Miss { reduce, at: at(13.0) }],
            ..AttemptFact::of(id.task(TaskKind::Map, map).attempt(0))
        };
        script.attempts(id, at(13.0), vec![told]);
    }
    script
}

fn reruns(pass: &drover_core::engine::Pass) -> Vec<Measure> {
    pass.measures.iter().filter(|measure| measure.kind == MeasureKind::Rerun).cloned().collect()
}

#[test]
fn the_outputs_of_a_node_that_reduces_cannot_reach_are_asked_for_again_at_once_and_once() {
    let mut script = missed(Mode::Act, true);
    let pass = script.decide(at(14.0));
    let [measure] = &reruns(&pass)[..] else { panic!("{pass:?}") };
    let Some(MeasurePlan::Rerun { host, outputs, missed_by, whole, unusable }) = &measure.plan else { panic!() };
    assert_eq!((host.as_str(), &missed_by[..], *whole, *unusable), ("nm1", &[0, 1][..], true, false));
    assert_eq!(outputs.iter().map(|output| output.task.index).collect::<Vec<_>>(), [0, 1, 2, 3]);
    let decision = measure.order.expect("it is ordered").decision;
    assert_eq!(reruns(&script.decide(at(15.0))), vec![]);
    let again = AttemptFact {
        missed: vec![Miss { reduce: 1, at: at(16.0) }],
        ..AttemptFact::of(job_id(JOB).task(TaskKind::Map, 3).attempt(0))
    };
    script.attempts(job_id(JOB), at(16.0), vec![again]);
    assert_eq!(reruns(&script.decide(at(60.0))), vec![], "though nobody has answered");
    script
        .say(at(60.0), Fact::Acked(AckFact { job: job_id(JOB), decision, answer: Answer::Applied, attempts: vec![] }));
    let told = script.engine.measures(job_id(JOB));
    let answers: Vec<_> = told.iter().filter(|one| one.kind == MeasureKind::Rerun).map(|one| one.answer).collect();
    assert_eq!(answers, [Some(Answer::Applied)]);
}

#[test]
fn what_an_order_left_standing_is_ordered_again_when_its_reduces_still_miss_it() {
    let (mut script, id) = (missed(Mode::Act, true), job_id(JOB));
    let [first] = &reruns(&script.decide(at(14.0)))[..] else { panic!() };
    let ack = AckFact { job: id, decision: first.order.unwrap().decision, answer: Answer::Applied, attempts: vec![] };
    script.say(at(15.0), Fact::Acked(ack));
    for index in 0..3 {
        let task = id.task(TaskKind::Map, index);
        let killed = AttemptFact { state: Some(AttemptState::Killed), ..AttemptFact::of(task.attempt(0)) };
        script.attempts(id, at(15.0), vec![killed]);
        script.tasks(id, at(15.0), vec![TaskFact { state: Some(TaskState::Scheduled), ..TaskFact::of(task) }]);
    }
    let mut told = |seconds: f64| {
        let missed = [0, 1].map(|reduce| Miss { reduce, at: at(seconds) }).to_vec();
        let output = id.task(TaskKind::Map, 3).attempt(0);
        script.attempts(id, at(seconds), vec![AttemptFact { missed, ..AttemptFact::of(output) }]);
        reruns(&script.decide(at(seconds + 1.0)))
    };
    assert_eq!(told(24.0), vec![], "it may only just have been told");
    let [again] = &told(25.0)[..] else { panic!("it is not ordered again") };
    let Some(MeasurePlan::Rerun { outputs, .. }) = &again.plan else { panic!() };
    assert_eq!(outputs.iter().map(|output| output.task.index).collect::<Vec<_>>(), [3]);
    assert_ne!(again.order.unwrap().decision, first.order.unwrap().decision);
}

#[test]
fn it_is_only_said_in_advise_and_refused_by_name_where_it_cannot_be_done() {
    let advised = missed(Mode::Advise, true).decide(at(14.0));
    assert_eq!(
        reruns(&advised).iter().map(|one| (one.verdict, one.order)).collect::<Vec<_>>(),
        [(Verdict::Decided, None)]
    );
    let mut script = missed(Mode::Act, false);
    assert_eq!(reruns(&script.decide(at(14.0))), vec![]);
    let told = script.engine.measures(job_id(JOB));
    let refused: Vec<_> = told.iter().map(|measure| (measure.kind, measure.verdict)).collect();
    assert!(refused.contains(&(MeasureKind::Rerun, Verdict::CannotRerun)), "{refused:?}");
}

#[test]
fn nothing_is_asked_while_the_job_is_hadoops_and_it_comes_when_it_is_drovers() {
    let mut script = missed(Mode::Act, true);
    let hold = Hold { scope: Scope::Cluster, reason: "test".into(), until: None, by: "ann".into(), since: at(13.0) };
    script.say(at(13.0), Fact::Held(hold));
    let said = reruns(&script.decide(at(14.0)));
    assert!(said.len() == 1 && said[0].order.is_none(), "a hold leaves it to advice: {said:?}");
    script.say(at(15.0), Fact::Lifted(Scope::Cluster));
    let ordered = reruns(&script.decide(at(15.0)));
    assert!(ordered.len() == 1 && ordered[0].order.is_some(), "{ordered:?}");
}
