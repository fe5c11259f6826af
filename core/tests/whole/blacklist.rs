//! Machines that made tasks straggle, in whole passes: named to whom they were shown, and kept off by copies where that is asked for.

use crate::common::*;
use drover_core::engine::EngineParams;
use drover_core::model::*;
use drover_core::policy::{BlacklistParams, PolicyName};

/// The first second of a job of four maps, one on each node: the tasks' verdicts, in their order.
fn first_second(script: &mut Script, number: u32, user: &str) -> Vec<Verdict> {
    let id = job_id(number);
    script.open_job_of(user, "root.default", id, 4, 0, at(42.0));
    let tasks = (0..4).map(|index| id.task(TaskKind::Map, index));
    let of = |task| TaskFact { state: Some(TaskState::Running), started: Some(at(42.0)), ..TaskFact::of(task) };
    script.tasks(id, at(43.0), tasks.clone().map(of).collect());
    let on = |task: TaskId| running(task, at(42.0), 0.1, &format!("nm{}", task.index + 1));
    script.attempts(id, at(43.0), tasks.map(on).collect());
    assert_eq!(script.decide(at(43.0)).decisions, vec![]);
    script.engine.candidates(id).iter().map(|one| one.verdict).collect()
}

#[test]
fn a_machine_that_made_a_users_tasks_straggle_is_listed_for_that_users_jobs_and_what_cannot_be_done_is_said() {
    let mut script = with_a_slow_second_node(EngineParams { policy: PolicyName::Blacklist, ..EngineParams::default() });
    let other = Verdict::MachineNotListed;
    assert_eq!(first_second(&mut script, 2, "alice"), [other, Verdict::CannotAvoid, other, other]);
    let job = script.engine.cluster().job(job_id(2)).unwrap();
    let listed = script.engine.blacklist(job);
    assert_eq!(listed.iter().map(|one| script.engine.cluster().hosts.name(one.host)).collect::<Vec<_>>(), ["nm2"]);
    assert_eq!(listed[0].probability, 1.0);
    assert_eq!(first_second(&mut script, 3, "bob"), [other; 4], "one user's tasks say nothing to another's");
}

#[test]
fn a_job_under_the_blacklist_alone_keeps_hadoops_own_speculator() {
    let mut script = with_a_slow_second_node(EngineParams { policy: PolicyName::Blacklist, ..EngineParams::default() });
    let _ = first_second(&mut script, 2, "alice");
    assert!(!script.engine.owns(job_id(2)));
}

#[test]
fn copies_of_every_policy_keep_off_the_listed_machines_where_that_is_asked_for() {
    for beside in [false, true] {
        let blacklist = BlacklistParams { beside, ..BlacklistParams::default() };
        let mut script = with_a_slow_second_node(EngineParams { blacklist, ..EngineParams::default() });
        let id = job_id(2);
        script.open_job(id, 4, 0, at(42.0));
        let mut avoided = Vec::new();
        for second in 43..62 {
            // On the first node one task is slow; nothing of the job has run on the second.
            let now = f64::from(second);
            let (mut tasks, mut attempts) = (Vec::new(), Vec::new());
            for index in 0..4 {
                let (task, whole) = (id.task(TaskKind::Map, index), if index == 0 { 60.0 } else { 4.0 });
                let (of_task, of_attempts) = runs_of(task, &[Run { launched: 42.0, takes: whole }], now);
                tasks.push(of_task);
                let host = format!("nm{}", if index == 1 { 3 } else { index + 1 });
                attempts
                    .extend(of_attempts.into_iter().map(|one| AttemptFact { host: Some(host.as_str().into()), ..one }));
            }
            let nodes = script.engine.cluster().nodes.values().cloned().collect();
            script.say(at(now), Fact::Nodes(nodes));
            script.tasks(id, at(now), tasks);
            script.attempts(id, at(now), attempts);
            avoided.extend(script.decide(at(now)).decisions.into_iter().flat_map(|decision| decision.avoid));
        }
        avoided.sort();
        avoided.dedup();
        assert_eq!(avoided, if beside { vec!["nm1", "nm2"] } else { vec!["nm1"] });
    }
}

/// The first second of a job of alice's under a blacklist beside the policy, by an AM that can or cannot avoid, acting or not: what was weighed, by the pass and by whoever asks.
fn beside(avoid: bool, mode: Mode) -> (Script, Vec<Measure>, Vec<Measure>) {
    let blacklist = BlacklistParams { beside: true, ..BlacklistParams::default() };
    let govern = drover_core::govern::GovernParams { mode, ..Default::default() };
    let mut script = with_a_slow_second_node(EngineParams { blacklist, govern, ..EngineParams::default() });
    let id = job_id(2);
    script.open_job(id, 1, 0, at(42.0));
    script.say(at(42.0), Fact::Can(id, Capabilities { duplicate: true, avoid, ..Capabilities::default() }));
    let task = id.task(TaskKind::Map, 0);
    let runs = TaskFact { state: Some(TaskState::Running), started: Some(at(42.0)), ..TaskFact::of(task) };
    script.tasks(id, at(43.0), vec![runs]);
    script.attempts(id, at(43.0), vec![running(task, at(42.0), 0.1, "nm1")]);
    let weighed = script.decide(at(43.0)).measures;
    let told = script.engine.measures(id);
    (script, weighed, told)
}

/// The machines of each measure, and whether it is ordered.
fn avoided(measures: &[Measure]) -> Vec<(Vec<String>, bool)> {
    let of = |measure: &Measure| match &measure.plan {
        Some(MeasurePlan::Avoid { hosts, .. }) => (hosts.clone(), measure.order.is_some()),
        other => panic!("{other:?}"),
    };
    measures.iter().map(of).collect()
}

#[test]
fn a_jobs_new_containers_keep_off_listed_machines_where_its_am_can_have_it_so_and_else_that_is_refused_by_name() {
    let (_, ordered, told) = beside(true, Mode::Act);
    assert_eq!(avoided(&ordered), [(vec!["nm2".to_owned()], true)]);
    assert_eq!(told, ordered);
    let (_, advised, _) = beside(true, Mode::Advise);
    assert_eq!(avoided(&advised), [(vec!["nm2".to_owned()], false)], "it is only said");
    let (_, none, told) = beside(false, Mode::Act);
    assert_eq!(none, vec![]);
    let refused: Vec<_> = told.iter().map(|measure| (measure.kind, measure.verdict)).collect();
    assert!(refused.contains(&(MeasureKind::Avoid, Verdict::CannotAvoid)), "{refused:?}");
}

#[test]
fn machines_are_let_in_again_at_once_when_nobody_asks_for_the_blacklist_any_more_whatever_the_policy_is_by_then() {
    for policy in [PolicyName::Drover, PolicyName::Late] {
        let (mut script, first, _) = beside(true, Mode::Act);
        let (id, decision) = (job_id(2), first[0].order.unwrap().decision);
        let answer = AckFact { job: id, decision, answer: Answer::Applied, attempts: vec![] };
        script.say(at(44.0), Fact::Acked(answer));
        assert_eq!(script.decide(at(44.0)).measures, vec![]);
        let blacklist = BlacklistParams { beside: false, ..BlacklistParams::default() };
        script.engine.set_params(EngineParams { blacklist, policy, ..script.engine.params().clone() });
        let lifted = script.decide(at(45.0)).measures;
        assert_eq!(avoided(&lifted), [(vec![], true)], "{policy:?}");
        let answer =
            AckFact { job: id, decision: lifted[0].order.unwrap().decision, answer: Answer::Applied, attempts: vec![] };
        script.say(at(46.0), Fact::Acked(answer));
        assert_eq!(script.decide(at(46.0)).measures, vec![], "which is said once");
    }
}

#[test]
fn another_policy_leaves_machines_avoided_that_are_listed_still_and_tells_of_them() {
    let (mut script, ordered, _) = beside(true, Mode::Act);
    script.engine.set_params(EngineParams { policy: PolicyName::Late, ..script.engine.params().clone() });
    assert_eq!(script.decide(at(45.0)).measures, vec![], "nothing is said twice");
    assert_eq!(script.engine.measures(job_id(2)), ordered);
}

#[test]
fn an_order_to_avoid_is_given_once_and_again_when_its_answer_is_lost() {
    let (mut script, first, _) = beside(true, Mode::Act);
    let of = |script: &mut Script, second: f64| script.decide(at(second)).measures;
    assert_eq!(of(&mut script, 44.0), vec![]);
    let again = of(&mut script, 57.0);
    assert_eq!(avoided(&again), [(vec!["nm2".to_owned()], true)], "deadline and grace are over");
    let decision = |of: &[Measure]| of[0].order.unwrap().decision;
    let ack = |decision| AckFact { job: job_id(2), decision, answer: Answer::Applied, attempts: Vec::new() };
    assert!(decision(&again) > decision(&first));
    script.say(at(57.0), Fact::Acked(ack(decision(&first))));
    assert_eq!(script.engine.measures(job_id(2))[0].answer, None, "the word on another");
    script.say(at(58.0), Fact::Acked(ack(decision(&again))));
    assert_eq!(script.engine.measures(job_id(2))[0].answer, Some(Answer::Applied));
    assert_eq!(of(&mut script, 75.0), vec![], "it is in force");
}

/// By one pass: the machines of each measure and whether it is ordered, and the hosts on which attempts are acted on.
type Told = (Vec<(Vec<String>, bool)>, Vec<Option<String>>);

/// What an AM that restarts, copies and avoids is told of a job of twenty maps on four nodes, sixteen of which run at once. Of the second node's four maps so many take a minute, all others four seconds.
fn by_its_own_runs(slow: u32, blacklist: BlacklistParams) -> Vec<Told> {
    let govern = drover_core::govern::GovernParams { mode: Mode::Act, ..Default::default() };
    let (mut script, id) = (
        Script::new(EngineParams { blacklist, govern, policy: PolicyName::Mantri, ..EngineParams::default() }),
        job_id(1),
    );
    let can = Capabilities { duplicate: true, restart: true, avoid: true, ..Capabilities::default() };
    let total = Resources { memory_mb: 4096, vcores: 8 };
    let nodes: Vec<_> =
        (1..=4).map(|node| NodeFact::usable(&format!("nm{node}"), total, Resources::default())).collect();
    script.open_job(id, 20, 0, at(0.0));
    script.say(at(0.0), Fact::Can(id, can));
    let mut told = Vec::new();
    for second in 1..12 {
        let now = f64::from(second);
        let (mut tasks, mut attempts) = (Vec::new(), Vec::new());
        for index in 0..16 {
            let (node, takes) = (index % 4 + 1, if index % 4 == 1 && index / 4 < slow { 60.0 } else { 4.0 });
            let (of_task, of_attempts) = runs_of(id.task(TaskKind::Map, index), &[Run { launched: 0.0, takes }], now);
            tasks.push(of_task);
            let host = format!("nm{node}");
            attempts.extend(of_attempts.into_iter().map(|one| AttemptFact { host: Some(host.as_str().into()), ..one }));
        }
        let waits =
            |index| TaskFact { state: Some(TaskState::Scheduled), ..TaskFact::of(id.task(TaskKind::Map, index)) };
        tasks.extend((16..20).map(waits));
        script.say(at(now), Fact::Nodes(nodes.clone()));
        script.tasks(id, at(now), tasks);
        script.attempts(id, at(now), attempts);
        let pass = script.decide(at(now));
        let acted_on = pass.decisions.iter().map(|decision| decision.host.clone()).collect();
        let avoids: Vec<_> = pass.measures.into_iter().filter(|one| one.kind == MeasureKind::Avoid).collect();
        told.push((avoided(&avoids), acted_on));
    }
    told
}

#[test]
fn a_machine_on_which_a_jobs_own_tasks_straggle_is_avoided_with_the_first_that_is_acted_on_there() {
    let beside = BlacklistParams { beside: true, ..BlacklistParams::default() };
    let told = by_its_own_runs(4, beside);
    let acted = told.iter().position(|(_, acted)| !acted.is_empty()).expect("something is acted on");
    let avoided = told.iter().position(|(avoided, _)| !avoided.is_empty());
    assert_eq!(avoided, Some(acted), "{told:?}");
    assert_eq!(told[acted].0, [(vec!["nm2".to_owned()], true)]);
    assert!(told.iter().flat_map(|(_, acted)| acted).all(|host| host.as_deref() == Some("nm2")), "{told:?}");

    let too_few = by_its_own_runs(1, beside);
    assert!(too_few.iter().any(|(_, acted)| !acted.is_empty()), "the one is acted on: {too_few:?}");
    assert!(
        too_few.iter().all(|(avoided, _)| avoided.is_empty()),
        "one straggler of four is no machine's: {too_few:?}"
    );
    let unasked = by_its_own_runs(4, BlacklistParams::default());
    assert!(unasked.iter().all(|(avoided, _)| avoided.is_empty()), "{unasked:?}");
    let scant = by_its_own_runs(4, BlacklistParams { min_evidence: 5.0, ..beside });
    assert!(scant.iter().all(|(avoided, _)| avoided.is_empty()), "four runs of five: {scant:?}");
}
