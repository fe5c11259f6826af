//! Dolly in whole passes: clones settled once for each phase, charged to a budget of their own, and given from the first moment on.

use crate::common::*;
use drover_core::engine::{EngineParams, Pass};
use drover_core::govern::GovernParams;
use drover_core::model::*;
use drover_core::policy::dolly::Admission;
use drover_core::policy::{DollyParams, PolicyName};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Half of a cluster of 64 slots for clones: a job of ten tasks, of which three clones each are wanted, takes 30.
fn dolly(admission: Admission) -> Script {
    let dolly = DollyParams { beta: 0.5, admission, ..DollyParams::default() };
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
fn a_job_for_which_the_budget_has_no_room_gets_no_clone_at_all() {
    let mut script = dolly(Admission::AllOrNothing);
    let jobs = [(1, 10, 0.0), (2, 10, 2.0)];
    script.open_job(job_id(1), 10, 0, at(0.0));
    let _ = pass(&mut script, &jobs[..1], 1.0);
    script.open_job(job_id(2), 10, 0, at(2.0));
    assert_eq!(tasks_of(&pass(&mut script, &jobs, 3.0), 2), vec![]);
    assert_eq!(verdicts(&script, 2), [Verdict::CloneBudget]);
}

/// Two jobs of ten tasks that are met in one pass, when so many slots are in use, theirs included: why the second is not cloned.
fn second_of_one_pass(beta: f64, used: u64) -> Option<Verdict> {
    let mut script = dolly(Admission::AllOrNothing);
    let params = script.engine.params().clone();
    script.engine.set_params(EngineParams { dolly: DollyParams { beta, ..params.dolly }, ..params });
    for number in [1, 2] {
        let id = job_id(number);
        script.open_job(id, 10, 0, at(0.0));
        let (tasks, attempts) = equal_maps(id, 10, 8.0, &|_| 1.0, 1.0, 0);
        script.tasks(id, at(1.0), tasks);
        script.attempts(id, at(1.0), attempts);
    }
    let [total, allocated] = [64, used].map(|slots| Resources { memory_mb: slots * 128, vcores: 32 });
    script.say(at(1.0), Fact::Cluster(ClusterFact { total, allocated, active_nodes: 4, ..ClusterFact::default() }));
    let _ = script.decide_alone(at(1.0));
    let plan = |number| script.engine.clone_plan(job_id(number), TaskKind::Map).unwrap();
    assert_eq!(plan(1).refused, None);
    plan(2).refused
}

#[test]
fn of_two_jobs_met_in_one_pass_the_second_finds_what_the_first_was_promised_taken() {
    assert_eq!(second_of_one_pass(0.5, 20), Some(Verdict::CloneBudget), "30 of 32 slots are the first's");
    assert_eq!(second_of_one_pass(1.0, 30), Some(Verdict::CloneCeiling), "30 + 20 + 20 of 64 slots are more than .8");
    assert_eq!(second_of_one_pass(1.0, 0), None, "and 20 + 20 are not");
}

#[test]
fn plans_outlast_a_change_of_constants_and_not_one_of_policy() {
    let mut script = dolly(Admission::AllOrNothing);
    script.open_job(job_id(1), 10, 0, at(0.0));
    let _ = pass(&mut script, &[(1, 10, 0.0)], 1.0);
    let (params, plan) = (script.engine.params().clone(), script.engine.clone_plan(job_id(1), TaskKind::Map));
    script.engine.set_params(EngineParams { look_again: Millis(500), ..params.clone() });
    assert!(plan.is_some());
    assert_eq!(script.engine.clone_plan(job_id(1), TaskKind::Map), plan);
    script.engine.set_params(EngineParams { policy: PolicyName::Late, ..params });
    assert_eq!(script.engine.clone_plan(job_id(1), TaskKind::Map), None);
}

#[test]
fn clones_of_a_job_that_has_ended_give_their_budget_back() {
    let mut script = dolly(Admission::AllOrNothing);
    script.open_job(job_id(1), 10, 0, at(0.0));
    let _ = pass(&mut script, &[(1, 10, 0.0)], 1.0);
    let _ = pass(&mut script, &[(1, 10, 0.0)], 8.5);
    script.open_job(job_id(2), 10, 0, at(9.0));
    assert_eq!(tasks_of(&pass(&mut script, &[(1, 10, 0.0), (2, 10, 9.0)], 10.0), 2).len(), 10);
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

/// Use of the cluster rises to so many slots of 64 after a job's clones were given.
fn crowded(script: &mut Script, slots: u64, can: Capabilities) -> Pass {
    script.open_job(job_id(1), 10, 0, at(0.0));
    let _ = pass(script, &[(1, 10, 0.0)], 1.0);
    script.say(at(1.5), Fact::Can(job_id(1), can));
    // Two clones of each task have come up beside its first attempt.
    let clones = (0..10).flat_map(|index| {
        let task = job_id(1).task(TaskKind::Map, index);
        (1..3).map(move |number| AttemptFact {
            state: Some(AttemptState::Running),
            started: Some(at(1.5)),
            host: Some("nm1".into()),
            ..AttemptFact::of(task.attempt(number))
        })
    });
    script.attempts(job_id(1), at(1.6), clones.collect());
    let total = Resources { memory_mb: 8192, vcores: 32 };
    let allocated = Resources { memory_mb: slots * 128, vcores: 0 };
    script.say(at(1.7), Fact::Cluster(ClusterFact { total, allocated, active_nodes: 4, ..ClusterFact::default() }));
    pass(script, &[(1, 10, 0.0)], 2.0)
}

#[test]
fn clones_give_way_first_when_the_cluster_fills_where_they_can_be_withdrawn() {
    let can = Capabilities { withdraw: true, ..Capabilities::default() };
    let mut script = dolly(Admission::AllOrNothing);
    let withdrawn = crowded(&mut script, 60, can).decisions;
    assert_eq!(withdrawn.len(), 10);
    assert!(withdrawn.iter().all(|one| one.action == Action::Withdraw && one.attempt.number == 2), "{withdrawn:?}");
    assert_eq!(crowded(&mut dolly(Admission::AllOrNothing), 51, can).decisions, vec![], "51 of 64 is below .8");
    let mut script = dolly(Admission::AllOrNothing);
    assert_eq!(crowded(&mut script, 60, Capabilities::default()).decisions, vec![]);
    assert_eq!(verdicts(&script, 1), [Verdict::CannotWithdraw]);
}

/// How many of a job's clones give way to bob, who holds and waits for so many of the 64 slots of a cluster that may be filled, when so many are in use in all.
fn withdrawn_for_bob(held: u32, waiting: u32, used: u64, can: Capabilities) -> usize {
    let mut script = dolly(Admission::AllOrNothing);
    let dolly = DollyParams { tau: 1.0, ..script.engine.params().dolly };
    script.engine.set_params(EngineParams { dolly, ..script.engine.params().clone() });
    script.open_job_of("bob", "root.default", job_id(2), 40, 0, at(0.0));
    let runs = (0..held).map(|index| running(job_id(2).task(TaskKind::Map, index), at(0.1), 0.1, "nm1"));
    script.attempts(job_id(2), at(0.4), runs.collect());
    script.say(at(0.5), Fact::Needs { job: job_id(2), maps: waiting, reduces: 0, native_copies: 0 });
    let decisions = crowded(&mut script, used, can).decisions;
    decisions.iter().filter(|one| one.action == Action::Withdraw && one.job == job_id(1)).count()
}

#[test]
fn clones_give_way_to_who_waits_for_the_fair_share_of_a_full_cluster() {
    let can = Capabilities { withdraw: true, ..Capabilities::default() };
    let withdrawn = |held, waiting, used| withdrawn_for_bob(held, waiting, used, can);
    assert_eq!([withdrawn(0, 5, 64), withdrawn(0, 0, 64)], [10, 0]);
    assert_eq!([withdrawn(0, 7, 58), withdrawn(0, 6, 58)], [10, 0], "six are free");
    assert_eq!([withdrawn(31, 5, 64), withdrawn(32, 5, 64)], [10, 0], "half of 64 slots is bob's");
    assert_eq!(withdrawn_for_bob(0, 5, 64, Capabilities::default()), 0);
}

#[test]
fn under_preemption_a_small_job_takes_the_budget_of_a_larger_one() {
    let jobs = [(1, 10, 0.0), (2, 4, 2.0)];
    for (admission, withdraw, cloned, first) in [
        (Admission::Preempt, true, 4, ClonePlan { clones: 3, tasks: 10, refused: None, gives_way: true }),
        (Admission::Preempt, false, 0, ClonePlan { clones: 3, tasks: 10, refused: None, gives_way: false }),
        (Admission::AllOrNothing, true, 0, ClonePlan { clones: 3, tasks: 10, refused: None, gives_way: false }),
    ] {
        let mut script = dolly(admission);
        script.open_job(job_id(1), 10, 0, at(0.0));
        assert_eq!(tasks_of(&pass(&mut script, &jobs[..1], 1.0), 1).len(), 10);
        script.say(at(1.5), Fact::Can(job_id(1), Capabilities { withdraw, ..Capabilities::default() }));
        script.open_job(job_id(2), 4, 0, at(2.0));
        assert_eq!(tasks_of(&pass(&mut script, &jobs, 3.0), 2).len(), cloned, "two each: 8 slots, 2 are left");
        assert_eq!(script.engine.clone_plan(job_id(1), TaskKind::Map), Some(first));
    }
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
fn a_job_that_may_have_no_copies_holds_none_of_the_clones_budget() {
    let mut script = dolly(Admission::AllOrNothing);
    let unsafe_output = JobSettings { output_format: Some("com.example.Own".into()), ..JobSettings::default() };
    script.open_job(job_id(1), 10, 0, at(0.0));
    script.say(at(0.0), Fact::Settings(job_id(1), unsafe_output));
    assert_eq!(pass(&mut script, &[(1, 10, 0.0)], 1.0).decisions, vec![]);
    assert_eq!(verdicts(&script, 1), [Verdict::UnsafeOutput]);
    script.open_job(job_id(2), 10, 0, at(1.0));
    assert_eq!(tasks_of(&pass(&mut script, &[(1, 10, 0.0), (2, 10, 1.0)], 2.0), 2).len(), 10);
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
fn whoever_comes_first_is_cloned_task_by_task_until_the_budget_is_spent() {
    let mut script = dolly(Admission::FirstCome);
    script.open_job(job_id(1), 16, 0, at(0.0));
    let first = tasks_of(&pass(&mut script, &[(1, 16, 0.0)], 1.0), 1);
    assert_eq!(first, (0..10).map(|index| (index, 2)).collect::<Vec<_>>(), "32 slots, three for each task");
    assert_eq!(verdicts(&script, 1), [Verdict::Decided, Verdict::CloneBudget]);
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

/// Slots of 64 are in use when that is told; ten tasks began half a second before or after.
fn begun_beside_the_telling(told: f64) -> Option<ClonePlan> {
    let (mut script, id) = (dolly(Admission::AllOrNothing), job_id(1));
    script.open_job(id, 10, 0, at(0.0));
    let (tasks, attempts) = equal_maps(id, 10, 8.0, &|_| 1.0, 1.0, 500);
    script.tasks(id, at(1.0), tasks);
    script.attempts(id, at(1.0), attempts);
    let [total, allocated] = [64, 30].map(|slots| Resources { memory_mb: slots * 128, vcores: 32 });
    script.say(at(told), Fact::Cluster(ClusterFact { total, allocated, active_nodes: 4, ..ClusterFact::default() }));
    let _ = script.decide_alone(at(1.5));
    script.engine.clone_plan(id, TaskKind::Map)
}

#[test]
fn what_began_after_the_use_was_told_is_not_taken_from_it() {
    assert_eq!(begun_beside_the_telling(1.0).map(|plan| (plan.clones, plan.refused)), Some((3, None)), "30 - 10 + 30");
    assert_eq!(begun_beside_the_telling(0.0).and_then(|plan| plan.refused), Some(Verdict::CloneCeiling), "30 + 30");
}

/// The hosts preferred for the clones of four maps, one on each node, where so much is free on each.
fn prefer_where_there_is_room(free: impl Fn(&str) -> Resources) -> Vec<Vec<String>> {
    let told = beside_a_slow_second_node_with(false, |node| {
        node.total = free(&node.host);
    });
    told.into_iter().map(|(_, prefer)| prefer).collect()
}

/// The clones of four maps, one on each node of a cluster whose second is known to be slow: (copies, hosts preferred), by task.
fn beside_a_slow_second_node(by_machine: bool) -> Vec<(u32, Vec<String>)> {
    beside_a_slow_second_node_with(by_machine, |_| {})
}

fn beside_a_slow_second_node_with(by_machine: bool, change: impl Fn(&mut NodeFact)) -> Vec<(u32, Vec<String>)> {
    let dolly =
        DollyParams { beta: 1.0, tau: 1.0, by_machine, prior: 0.3, min_evidence: 1e6, ..DollyParams::default() };
    let govern = GovernParams { waiting_copies: 12, cluster_cap: 1.0, ..GovernParams::default() };
    let params = EngineParams { policy: PolicyName::Dolly, dolly, govern, ..EngineParams::default() };
    let mut script = with_a_slow_second_node(params);
    let id = job_id(2);
    script.open_job(id, 4, 0, at(42.0));
    script.say(at(42.0), Fact::Can(id, Capabilities { place: true, ..Capabilities::default() }));
    let tasks = (0..4).map(|index| id.task(TaskKind::Map, index));
    let of = |task| TaskFact { state: Some(TaskState::Running), started: Some(at(42.0)), ..TaskFact::of(task) };
    script.tasks(id, at(43.0), tasks.clone().map(of).collect());
    let on = |task: TaskId| running(task, at(42.0), 0.1, &format!("nm{}", task.index + 1));
    script.attempts(id, at(43.0), tasks.map(on).collect());
    let mut nodes: Vec<NodeFact> = script.engine.cluster().nodes.values().cloned().collect();
    nodes.iter_mut().for_each(change);
    script.say(at(43.0), Fact::Nodes(nodes));
    let mut all = script.decide(at(43.0)).decisions;
    all.sort_by_key(|decision| decision.task);
    all.into_iter().map(|decision| (decision.copies, decision.prefer)).collect()
}

#[test]
fn clones_are_said_to_go_to_reliable_machines_and_what_runs_on_the_bad_one_has_more_where_they_are_counted_by_machine()
{
    // Of sixteen tasks each: .73 for the second, .12 for the others, when ten of .3 are added.
    let [first, second, third, fourth] = ["nm1", "nm2", "nm3", "nm4"].map(str::to_owned);
    let prefer = [[&third, &fourth], [&first, &fourth], [&first, &third]].map(|two| two.map(String::clone).to_vec());
    let [of_first, of_third, of_fourth] = prefer;
    let of_second = vec![first, third, fourth];
    let told = [of_first, of_second, of_third, of_fourth];
    assert!(told.iter().all(|prefer| !prefer.contains(&second)));
    let with = |copies: [u32; 4]| copies.into_iter().zip(told.clone()).collect::<Vec<_>>();
    assert_eq!(beside_a_slow_second_node(false), with([3; 4]), "1 - (1 - .3^4)^4 is .03");
    assert_eq!(beside_a_slow_second_node(true), with([2, 3, 2, 2]), ".12^3 is below .3^4, .73 * .12^2 is not");
}

#[test]
fn room_for_one_clone_is_promised_to_one() {
    let one = Resources { memory_mb: 128, vcores: 1 };
    let rooms = |host: &str| match host {
        "nm1" => one,
        "nm2" => Resources { memory_mb: 2048, vcores: 8 },
        _ => Resources::default(),
    };
    let told = prefer_where_there_is_room(rooms);
    assert_eq!(told.iter().filter(|prefer| prefer.contains(&"nm1".to_owned())).count(), 1, "{told:?}");
}

/// Slots that the cloned ones of these jobs hold at a second: each runs for eight seconds.
fn slots_of_clones(script: &Script, jobs: &[(u32, u32, f64)], second: f64) -> u32 {
    let runs = jobs.iter().filter(|(_, _, began)| *began <= second && second < began + 8.0);
    let plans = runs.filter_map(|(number, ..)| script.engine.clone_plan(job_id(*number), TaskKind::Map));
    plans.filter(|plan| plan.refused.is_none()).map(|plan| plan.clones * plan.tasks).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn whatever_jobs_come_clones_stay_within_their_budget_and_a_phase_has_all_of_its_or_none(
        sizes in prop::collection::vec((1u32..20, 0u32..20), 1..8),
        beta in 0.05f64..1.0,
        prior in 0.05f64..0.4,
        admission in prop::sample::select(Admission::ALL.to_vec()),
        policy in prop::sample::select(vec![PolicyName::Dolly, PolicyName::Drover]),
    ) {
        let dolly = DollyParams { beta, prior, admission, ..DollyParams::default() };
        let mut script = Script::new(EngineParams { policy, dolly, ..EngineParams::default() });
        let numbered = (1..).zip(&sizes).map(|(number, (maps, began))| (number, *maps, f64::from(*began)));
        let jobs: Vec<(u32, u32, f64)> = numbered.collect();
        let mut given = BTreeMap::new();
        for second in 0..30 {
            let now = f64::from(second);
            for (number, maps, _) in jobs.iter().filter(|(_, _, began)| *began == now) {
                script.open_job(job_id(*number), *maps, 0, at(now));
            }
            for decision in pass(&mut script, &jobs, now).decisions {
                *given.entry(decision.task).or_insert(0) += decision.copies;
                let plan = script.engine.clone_plan(decision.job, TaskKind::Map).unwrap();
                prop_assert!(given[&decision.task] < plan.clones, "{:?} of {:?}", decision, plan);
            }
            let held = slots_of_clones(&script, &jobs, now);
            prop_assert!(f64::from(held) <= beta * 64.0, "{} slots at {} s", held, second);
        }
        let whole = matches!(admission, Admission::AllOrNothing | Admission::Preempt | Admission::Partial);
        for (number, maps, _) in jobs.iter().filter(|_| whole) {
            let plan = script.engine.clone_plan(job_id(*number), TaskKind::Map);
            let whole = plan.is_none_or(|plan| plan.tasks == if plan.refused.is_none() { *maps } else { 0 });
            prop_assert!(whole, "{:?} of {}", plan, maps);
        }
    }
}
