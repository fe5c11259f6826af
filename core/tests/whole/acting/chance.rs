//! Whatever words are lost or repeated: a property.

mod rules;

use super::world::{BEGIN, JOBS, World, jobs};
use super::*;
use drover_core::policy::PolicyName;
use proptest::prelude::*;
use rules::{Caps, Rules, rules};
use std::collections::{BTreeMap, BTreeSet};

/// Decisions on copies and restarts whose end was not told yet.
type Open = BTreeMap<u64, Decision>;

/// Copies of a task, and whether they are its clones.
#[derive(Debug, Clone, Copy)]
struct Copies {
    of: TaskId,
    count: u32,
    clones: bool,
}

/// Checks the caps against such copies. Clones are no matter of a job's own.
fn within(caps: Caps, all: &[Copies]) -> Result<(), TestCaseError> {
    let count = |of: &dyn Fn(&Copies) -> bool| all.iter().filter(|one| of(one)).map(|one| one.count).sum::<u32>();
    prop_assert!(count(&|_| true) <= caps.cluster, "{} in the cluster", count(&|_| true));
    let at_place = |one: &Copies| JOBS[jobs().position(|job| job == one.of.job).unwrap()];
    for (user, queue) in JOBS {
        let (of_user, of_queue) = (count(&|one| at_place(one).0 == user), count(&|one| at_place(one).1 == queue));
        prop_assert!(of_user <= caps.user, "{of_user} of {user}");
        prop_assert!(of_queue <= caps.queue, "{of_queue} of {queue}");
    }
    for id in jobs() {
        let of_job = count(&|one| one.of.job == id && !one.clones);
        prop_assert!(of_job <= caps.job, "{of_job} of {id}");
    }
    Ok(())
}

/// Is the decision one that may be taken in this world, beside those that are open?
fn allowed(decision: &Decision, open: &Open, rules: Rules, world: &World<'_>) -> Result<(), TestCaseError> {
    let task = decision.task;
    let can = world.script.engine.cluster().job(decision.job).unwrap().can;
    let able = [can.duplicate, can.restart, can.withdraw][decision.action as usize];
    prop_assert_eq!((decision.mode, able), (Mode::Act, true), "{:?}", decision);
    prop_assert!(!world.told.contains(&task), "{} has ended", task);
    let told = world.told_of(task);
    let together = rules.weighs_copies() && (decision.action == Action::Restart || told.len() < 3);
    match decision.action {
        Action::Withdraw => prop_assert!(told.iter().any(|number| *number != decision.attempt.number), "{told:?}"),
        _ => prop_assert!(together || open.values().all(|other| other.task != task), "{} twice at once", task),
    }
    let avoid: BTreeSet<&String> = decision.avoid.iter().collect();
    prop_assert_eq!((avoid.len(), avoid.len() <= Decision::HOSTS_MAX), (decision.avoid.len(), true));
    prop_assert!(decision.prefer.iter().all(|host| !avoid.contains(host)), "{:?}", decision);
    // A task that has been on every host leaves no choice.
    let known = world.known_hosts_of(task);
    let spared = decision.host.iter().chain(&known).all(|host| avoid.contains(host));
    prop_assert!(spared || known.len() == 4 || world.hosts_of(task).len() == 4, "{:?}", decision);
    prop_assert!(avoid.len() < 4, "no host is left");
    Ok(())
}

/// Checks that cloned phases hold no more slots than beta, first attempts and clones that are still asked for included.
fn within_beta(rules: Rules, open: &Open, world: &World<'_>) -> Result<(), TestCaseError> {
    let cloned = |id: JobId| {
        let plan = world.script.engine.clone_plan(id, TaskKind::Map).filter(|plan| plan.refused.is_none());
        let tasks = plan.map_or(0, |plan| plan.tasks);
        (0..tasks).map(move |index| id.task(TaskKind::Map, index)).filter(|task| !world.told.contains(task))
    };
    let asked = |task| open.values().filter(|one| one.task == task && one.clones).map(|one| one.copies).sum::<u32>();
    let held: u32 = jobs().flat_map(cloned).map(|task| 1 + asked(task)).sum();
    prop_assert!(held <= rules.beta, "{held} of {}", rules.beta);
    Ok(())
}

/// Checks that of no job more is asked for at once than may wait for its containers; all clones of a task are.
fn within_waiting(rules: Rules, decided: &[Decision]) -> Result<(), TestCaseError> {
    for id in jobs() {
        let mut asked =
            decided.iter().filter(|one| one.job == id && one.action == Action::Duplicate).map(|one| one.copies);
        let last = asked.next_back().unwrap_or(0);
        let before: u32 = asked.sum();
        prop_assert!(last == 0 || before < rules.unplaced, "{before} and {last} more of {id}");
    }
    Ok(())
}

/// Checks what was really done: of no task more restarts than gamma, nor more attempts at once than may be, and to none the last attempt taken.
fn done(rules: Rules, world: &World<'_>) -> Result<(), TestCaseError> {
    let mut restarts: BTreeMap<TaskId, u32> = BTreeMap::new();
    for restart in world.done.iter().filter(|decision| decision.action == Action::Restart) {
        *restarts.entry(restart.task).or_default() += 1;
    }
    prop_assert!(restarts.values().all(|times| *times <= rules.gamma), "{restarts:?}");
    prop_assert_eq!(&world.robbed, &vec![]);
    let most = if rules.weighs_copies() { 3 } else { 2 };
    let cloned: BTreeSet<TaskId> = world.done.iter().filter(|one| one.clones).map(|one| one.task).collect();
    let at_once = world.most_at_once(|task| !cloned.contains(&task));
    prop_assert!(at_once <= most, "{at_once} at once");
    Ok(())
}

/// Lets the jobs run. What was carried out.
fn run(rules: Rules, dice: &[u8]) -> Result<Vec<Decision>, TestCaseError> {
    let caps = rules.caps;
    let mut world = World::new(rules.params(), dice);
    let (mut open, mut decided, mut ended, mut clones) = (Open::new(), Vec::new(), Vec::new(), BTreeSet::new());
    for second in 1..44 {
        let second = BEGIN + f64::from(second);
        world.turn(second);
        open.retain(|_, decision| !world.has_replaced(decision));
        let pass = world.look(second);
        ended.extend(pass.copies.iter().map(|end| end.decision));
        pass.copies.iter().for_each(|end| drop(open.remove(&end.decision)));
        prop_assert!(pass.copies.iter().all(|end| world.are_its_own(end)), "{:?}", pass.copies);
        for decision in &pass.decisions {
            allowed(decision, &open, rules, &world)?;
            clones.extend(Some(decision.id).filter(|_| decision.clones));
            if decision.action != Action::Withdraw {
                open.insert(decision.id, decision.clone());
                decided.push((decision.id, decision.copies));
            }
            world.ask(second, decision);
        }
        world.send(second);
        let asked = open.values().map(|one| Copies { of: one.task, count: one.copies, clones: one.clones });
        within(caps, &asked.collect::<Vec<_>>())?;
        let live = world.live().map(|(of, decision)| Copies { of, count: 1, clones: clones.contains(&decision) });
        within(caps, &live.collect::<Vec<_>>())?;
        done(rules, &world)?;
        within_beta(rules, &open, &world)?;
        within_waiting(rules, &pass.decisions)?;
        for host in ["nm1", "nm2", "nm3", "nm4"] {
            let from = open.values().filter(|one| one.host.as_deref() == Some(host) && !one.clones).count();
            prop_assert!(from <= caps.node as usize, "{from} for attempts on {host}");
        }
        prop_assert!(decided.iter().map(|(_, copies)| copies).sum::<u32>() <= caps.minute, "{decided:?} within 44 s");
    }
    ended.extend(world.close(BEGIN + 45.0).copies.iter().map(|end| end.decision));
    ended.sort_unstable();
    prop_assert_eq!(ended, decided.into_iter().map(|(id, _)| id).collect::<Vec<_>>());
    Ok(world.done)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn whatever_words_are_lost_or_repeated_budgets_hold_each_order_is_one_that_may_be_and_every_copy_and_restart_has_one_end(
        dice in prop::collection::vec(any::<u8>(), 1..400),
        rules in rules(),
    ) {
        run(rules, &dice)?;
    }
}

/// What was carried out in the run of that number, with room for much.
fn run_of(seed: u32, policy: PolicyName) -> Vec<Decision> {
    let dice: Vec<u8> = (1..400_u32).map(|n| (n.wrapping_mul(seed * 2 + 2_654_435_769) >> 16) as u8).collect();
    let caps = Caps { cluster: 19, user: 19, queue: 19, job: 8, node: 8, minute: 59 };
    let (alpha, gamma) = (1 + seed % 2, 1 + seed % 3);
    let (beside, by_machine, beta, prior, unplaced) = (false, false, 64, 0.1, 8);
    let rules = Rules { policy, caps, together: true, alpha, gamma, beside, by_machine, beta, prior, unplaced };
    run(rules, &dice).unwrap_or_else(|why| panic!("{} with seed {seed}: {why}", policy.label()))
}

#[test]
fn by_chance_tasks_are_copied_twice_over_and_restarted_and_copies_withdrawn() {
    let mut seen: BTreeMap<Action, usize> = BTreeMap::new();
    let mut twice = 0;
    for seed in 0..40 {
        let done = run_of(seed, PolicyName::Mantri);
        done.iter().for_each(|decision| *seen.entry(decision.action).or_default() += 1);
        twice += done.iter().filter(|decision| decision.action == Action::Duplicate && decision.live > 1).count();
    }
    assert!(Action::ALL.iter().all(|action| seen.get(action).is_some_and(|times| *times > 10)), "{seen:?}");
    assert!(twice > 10, "{twice} beside another");
}

#[test]
fn by_chance_tasks_are_cloned_under_each_policy_that_clones() {
    for policy in [PolicyName::Dolly, PolicyName::Drover] {
        let all = (0..40).flat_map(|seed| run_of(seed, policy));
        let clones = all.filter(|decision| decision.clones).count();
        assert!(clones > 10, "{clones} under {}", policy.label());
    }
}
