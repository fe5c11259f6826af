//! The budget of clones and the ceiling of use.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

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

#[test]
fn a_clones_decision_names_the_clones_own_budget_where_that_is_the_tightest() {
    let mut script = dolly(Admission::AllOrNothing);
    script.open_job(job_id(1), 10, 0, at(0.0));
    let decisions = pass(&mut script, &[(1, 10, 0.0)], 1.0).decisions;
    let told: Vec<_> = decisions.iter().map(|decision| decision.numbers.budget).collect();
    assert_eq!(told, [Some((30, 32)); 10], "three attempts of each task, of half of 64 slots");
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
    assert_eq!([0, 5].map(|used| second_of_one_pass(1.0, used)), [None; 2], "and 5 + 20 + 20 are not");
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
fn whoever_comes_first_is_cloned_task_by_task_until_the_budget_is_spent() {
    let mut script = dolly(Admission::FirstCome);
    script.open_job(job_id(1), 16, 0, at(0.0));
    let first = tasks_of(&pass(&mut script, &[(1, 16, 0.0)], 1.0), 1);
    assert_eq!(first, (0..10).map(|index| (index, 2)).collect::<Vec<_>>(), "32 slots, three for each task");
    assert_eq!(verdicts(&script, 1), [Verdict::Decided, Verdict::CloneBudget]);
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
