//! Why tasks are slow, and how healthy nodes are, from facts to answers.

use crate::common::*;
use drover_core::engine::EngineParams;
use drover_core::estimate::health::NodeHealth;
use drover_core::model::*;

/// Sixteen maps of 4 s each, watched for so long, with inputs; some slower. What was decided, and the script.
fn watched(slow: &dyn Fn(u32) -> f64, input: &dyn Fn(u32) -> u64, until: u32) -> (Vec<Decision>, Script) {
    let id = job_id(1);
    let mut script = Script::new(EngineParams::default());
    script.open_job(id, 16, 0, at(0.0));
    let mut decisions = Vec::new();
    for second in 0..until {
        let (mut tasks, mut attempts) = equal_maps(id, 16, 4.0, slow, second.into(), 0);
        tasks.iter_mut().for_each(|task| task.input = Some(Bytes(input(task.index))));
        attempts.iter_mut().for_each(|attempt| attempt.host = Some(format!("nm{}", attempt.index % 4 + 1)));
        script.tasks(id, at(second.into()), tasks);
        script.attempts(id, at(second.into()), attempts);
        decisions.extend(script.decide(at(second.into())).decisions);
    }
    (decisions, script)
}

#[test]
fn a_task_with_five_times_the_data_on_a_healthy_node_is_explained_by_it_as_the_policy_finds() {
    let more = |index: u32| if index == 3 { 5.0 } else { 1.0 };
    let (decisions, script) = watched(&more, &|index| 100 * more(index) as u64, 16);
    let candidates = script.engine.candidates(job_id(1));
    let cause = candidates[0].cause.unwrap();
    assert_eq!((decisions.len(), candidates.len(), candidates[0].verdict), (0, 1, Verdict::MoreData));
    assert_eq!((cause.kind, cause.explained, cause.evidence), (CauseKind::Data, true, 15));
    assert!((cause.data - 16.0).abs() < 0.5 && cause.node == 0.0, "four typical tasks of 4 s more: {cause:?}");
    assert_eq!(script.engine.causes(job_id(1)).keys().map(|task| task.index).collect::<Vec<_>>(), [3]);
}

#[test]
fn tasks_that_are_slow_on_one_node_are_laid_to_it_and_the_decision_says_so() {
    let (decisions, script) = watched(&one_node_in_four, &|_| 100, 16);
    let causes: Vec<_> = decisions.iter().filter_map(|decision| decision.cause.as_deref().copied()).collect();
    assert_eq!((decisions.len(), causes.len()), (4, 4));
    for cause in causes {
        assert_eq!((cause.kind, cause.explained, cause.others), (CauseKind::Node, false, 3));
        assert!(cause.node > 0.8 * (cause.seconds - cause.typical), "{cause:?}");
    }
    let slow: Vec<_> =
        script.engine.causes(job_id(1)).into_iter().map(|(task, cause)| (task.index, cause.kind)).collect();
    assert_eq!(slow, [1, 5, 9, 13].map(|index| (index, CauseKind::Node)));
}

#[test]
fn tasks_of_a_hung_node_that_never_reported_are_laid_to_it_once_they_have_lasted_too_long() {
    let (_, script) = watched(&|index| if index % 4 == 1 { 1e9 } else { 1.0 }, &|_| 100, 12);
    let causes = script.engine.causes(job_id(1));
    assert_eq!(causes.len(), 4);
    assert!(causes.values().all(|cause| cause.kind == CauseKind::Node && cause.others == 3), "{causes:?}");
}

#[test]
fn a_slow_task_whose_peers_on_the_same_node_are_healthy_has_no_known_cause_also_after_its_end() {
    let slow = |index: u32| if index == 6 { 4.0 } else { 1.0 };
    let (_, running) = watched(&slow, &|_| 100, 12);
    let (_, ended) = watched(&slow, &|_| 100, 20);
    for script in [running, ended] {
        let causes = script.engine.causes(job_id(1));
        let cause = causes[&job_id(1).task(TaskKind::Map, 6)];
        assert_eq!((causes.len(), cause.kind, cause.explained), (1, CauseKind::Unknown, false));
        assert!((cause.rest - 12.0).abs() < 0.5, "{cause:?}");
    }
}

fn health(script: &Script, host: &str) -> NodeHealth {
    let id = script.engine.cluster().hosts.find(host).unwrap();
    script.engine.health()[&id]
}

#[test]
fn a_node_that_was_slow_and_lost_an_output_is_known_by_its_numbers_and_by_whose_tasks_told() {
    let (_, mut script) = watched(&one_node_in_four, &|_| 100, 41);
    let end =
        |job| EndFact { job, state: Some(JobPhase::Succeeded), started: None, finished: None, attempts: Vec::new() };
    let work = health(&script, "nm2").work.unwrap();
    assert_eq!((work.value, work.evidence, work.principals), (4.0, 4.0, 1), "four succeeded tasks of one user");
    script.say(at(42.0), Fact::Ended(end(job_id(1))));
    script.decide(at(42.0));
    let (slow, fast) = (health(&script, "nm2"), health(&script, "nm1"));
    let factor = slow.location_factor.unwrap();
    assert_eq!((factor.value, factor.evidence, factor.principals), (10.0, 4.0, 1));
    assert_eq!((slow.straggles.unwrap().value, fast.straggles.unwrap().value), (1.0, 0.0));
    assert_eq!((fast.location_factor.unwrap().value, fast.loses_output), (1.0, None));

    // A job of bob's with reduces: the map on nm1 succeeds, its output is lost, and it runs again on nm3.
    let id = job_id(2);
    script.open_job_of("bob", "root.default", id, 1, 1, at(50.0));
    let map = id.task(TaskKind::Map, 0);
    let (task, first) = succeeded(map, at(50.0), at(52.0));
    script.attempts(id, at(52.0), vec![first.clone()]);
    script.attempts(id, at(60.0), vec![AttemptFact { state: Some(AttemptState::Failed), ..first.clone() }]);
    let (started, finished) = (Some(at(60.0)), Some(at(62.0)));
    let again = AttemptFact { number: 1, host: Some("nm3".into()), started, finished, ..first };
    script.attempts(id, at(62.0), vec![again]);
    script.tasks(id, at(62.0), vec![TaskFact { winner: Some(1), finished, ..task }]);
    script.say(at(70.0), Fact::Ended(end(id)));
    script.decide(at(70.0));
    let lost = |host| health(&script, host).loses_output.map(|lost| (lost.value, lost.evidence, lost.principals));
    assert_eq!((lost("nm1"), lost("nm2"), lost("nm3")), (Some((1.0, 1.0, 1)), None, Some((0.0, 1.0, 1))));
    assert_eq!((health(&script, "nm1").cost(), health(&script, "nm2").cost()), (2.0, 10.0));
}

#[test]
fn an_engine_that_was_cut_knows_its_nodes_as_before() {
    let (_, mut script) = watched(&one_node_in_four, &|_| 100, 41);
    let end =
        EndFact { job: job_id(1), state: Some(JobPhase::Succeeded), started: None, finished: None, attempts: vec![] };
    script.say(at(42.0), Fact::Ended(end));
    script.decide(at(42.0));
    let cut = serde_json::to_string(&script.engine).unwrap();
    let again: drover_core::engine::Engine = serde_json::from_str(&cut).unwrap();
    assert_eq!(again.health(), script.engine.health());
    assert_eq!(serde_json::to_string(&again).unwrap(), cut);
}
