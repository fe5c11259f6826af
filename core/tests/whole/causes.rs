//! Why tasks are slow, and how healthy nodes are, from facts to answers.

use crate::common::*;
use drover_core::engine::EngineParams;
use drover_core::estimate::health::NodeHealth;
use drover_core::govern::GovernParams;
use drover_core::model::*;

/// Sixteen maps of 4 s each, watched for so long, with inputs; some slower. What was decided, and the script.
fn watched(slow: &dyn Fn(u32) -> f64, input: &dyn Fn(u32) -> u64, until: u32) -> (Vec<Decision>, Script) {
    let id = job_id(1);
    // Decided on once some have finished: those tell what a slow one owes to what.
    let govern = GovernParams { debounce: Millis(4_000), ..GovernParams::default() };
    let mut script = Script::new(EngineParams { govern, ..EngineParams::default() });
    script.open_job(id, 16, 0, at(0.0));
    let mut decisions = Vec::new();
    for second in 0..until {
        let (mut tasks, mut attempts) = equal_maps(id, 16, 4.0, slow, second.into(), 0);
        tasks.iter_mut().for_each(|task| task.input = Some(Bytes(input(task.index))));
        attempts.iter_mut().for_each(|attempt| attempt.host = Some(format!("nm{}", attempt.index % 4 + 1).into()));
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

/// Sixteen maps, the fourth with five times the time of the others and so many times their bytes, of which REST tells nothing but the attempts' counters.
fn read_over_rest(times: u64, until: u32) -> Script {
    let (mut script, id) = (Script::new(EngineParams::default()), job_id(1));
    script.open_job(id, 16, 0, at(0.0));
    for second in 0..until {
        let now = at(second.into());
        let (tasks, mut attempts) =
            equal_maps(id, 16, 4.0, &|index| if index == 3 { 5.0 } else { 1.0 }, second.into(), 0);
        for attempt in &mut attempts {
            let whole = 100_000 * if attempt.index == 3 { times } else { 1 };
            attempt.counters.read = Some(Bytes((whole as f64 * f64::from(attempt.score.unwrap_or(1.0))) as u64));
        }
        script.tasks(id, now, tasks);
        script.attempts(id, now, attempts);
        script.decide(now);
    }
    script
}

#[test]
fn where_only_counters_tell_of_data_they_tell_it_from_slowness_also_after_the_tasks_end() {
    for until in [12, 25] {
        let kinds = |times| {
            let script = read_over_rest(times, until);
            let causes = script.engine.causes(job_id(1));
            causes.into_iter().map(|(task, cause)| (task.index, cause.kind)).collect::<Vec<_>>()
        };
        assert_eq!(kinds(5), [(3, CauseKind::Data)], "{until}");
        assert_eq!(kinds(1), [(3, CauseKind::Unknown)], "{until}");
    }
}

/// What is said at that second of sixteen maps that take two seconds to begin and eight to run, the seventh of which never does, and the fourth of which takes sixteen.
fn one_never_begins(until: u32) -> Vec<(u32, Option<Cause>)> {
    let (mut script, id) = (Script::new(EngineParams::default()), job_id(1));
    script.open_job(id, 16, 0, at(0.0));
    for second in 0..=until {
        let now = f64::from(second);
        let (mut tasks, mut attempts) = (Vec::new(), Vec::new());
        for index in 0..16 {
            let work = [8.0, 16.0, 1e9][usize::from(index == 3) + 2 * usize::from(index == 6)];
            let (of_task, mut of_attempts) =
                runs_of(id.task(TaskKind::Map, index), &[Run { launched: 0.0, takes: 2.0 + work }], now);
            of_attempts.iter_mut().for_each(|one| {
                one.score = Some(((now - 2.0).max(0.0) / work) as f32).filter(|_| index != 6);
                one.host = Some(format!("nm{index}").into());
            });
            tasks.push(of_task);
            attempts.extend(of_attempts);
        }
        script.tasks(id, at(now), tasks);
        script.attempts(id, at(now), attempts);
        script.decide(at(now));
    }
    let told = script.engine.candidates(id).into_iter();
    told.map(|one| (one.attempt.task.index, one.cause)).collect()
}

#[test]
fn a_task_without_progress_has_a_cause_once_its_work_would_have_lasted_too_long_and_one_with_progress_always() {
    let early = one_never_begins(10);
    assert_eq!(
        early.iter().map(|(index, cause)| (*index, cause.is_some())).collect::<Vec<_>>(),
        [(3, true), (6, false)]
    );
    let late = one_never_begins(20);
    let [(6, Some(cause))] = late[..] else { panic!("{late:?}") };
    assert_ne!(cause.kind, CauseKind::None);
    // One alone takes something between a sixteenth of the two seconds and both to begin.
    assert!((cause.seconds - (20.0 - (2.0 + 2.0 / 16.0) / 2.0)).abs() < 0.1, "{cause:?}");
}

/// One map that ends after ten seconds, and eight reduces that wait for it, copy for two seconds, the last for fourteen, and need four more: what is said at that second.
fn one_reduce_copies_longer(until: u32) -> Vec<(TaskId, CauseKind)> {
    let (mut script, id) = (Script::new(EngineParams::default()), job_id(1));
    script.open_job(id, 1, 8, at(0.0));
    for second in 0..=until {
        let now = f64::from(second);
        let (map, mut attempts) = runs_of(id.task(TaskKind::Map, 0), &[Run { launched: 0.0, takes: 10.0 }], now);
        let mut tasks = vec![map];
        for index in 0..8 {
            let copied = if index == 7 { 24.0 } else { 12.0 };
            let run = Run { launched: 0.0, takes: copied + 4.0 };
            let (of_task, mut of_attempts) = runs_of(id.task(TaskKind::Reduce, index), &[run], now);
            of_attempts.iter_mut().for_each(|one| {
                let copying = ((now - 10.0) / (copied - 10.0)).clamp(0.0, 1.0) / 3.0;
                let beyond = ((now - copied) / 4.0).clamp(0.0, 1.0) / 1.5;
                let phase = [Phase::Copy, Phase::Sort, Phase::Reduce]
                    [usize::from(now >= copied) + usize::from(now >= copied + 1.0)];
                (one.score, one.phase) = (Some((copying + beyond) as f32), Some(phase));
                one.host = Some(format!("nm{}", index % 4 + 1).into());
            });
            tasks.push(of_task);
            attempts.extend(of_attempts);
        }
        script.tasks(id, at(now), tasks);
        script.attempts(id, at(now), attempts);
        script.decide(at(now));
    }
    script.engine.causes(id).into_iter().map(|(task, cause)| (task, cause.kind)).collect()
}

#[test]
fn a_reduce_that_copied_for_longer_than_its_peers_once_the_maps_were_done_was_slowed_by_the_network() {
    let slow = job_id(1).task(TaskKind::Reduce, 7);
    for until in [22, 26, 30] {
        assert_eq!(one_reduce_copies_longer(until), [(slow, CauseKind::Network)], "{until}");
    }
}
