//! Whatever words are lost or repeated: a property.

use super::world::{BEGIN, JOBS, World, jobs};
use super::*;
use drover_core::policy::{BlacklistParams, DollyParams, MantriParams, PolicyName};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// How many copies may be: in the cluster of 64 slots, of a user's and a queue's jobs, in a job of sixteen maps, for attempts on one host, and in a minute.
#[derive(Debug, Clone, Copy)]
struct Caps {
    cluster: u32,
    user: u32,
    queue: u32,
    job: u32,
    node: u32,
    minute: u32,
}

impl Caps {
    fn govern(self) -> GovernParams {
        let of_cluster = |copies: u32| f64::from(copies.min(self.cluster)) / f64::from(self.cluster);
        GovernParams {
            cluster_cap: f64::from(self.cluster) / 64.0,
            cluster_floor: 0,
            user_cap: of_cluster(self.user),
            queue_cap: of_cluster(self.queue),
            job_cap: f64::from(self.job) / f64::from(MAPS),
            job_floor: 0,
            node_copies: self.node,
            copies_per_minute: Some(self.minute),
            breaker_below: 0.0,
            ..acting().govern
        }
    }
}

fn caps() -> impl Strategy<Value = Caps> {
    (1u32..20, 1u32..20, 1u32..20, 1u32..9, 1u32..9, 1u32..60)
        .prop_map(|(cluster, user, queue, job, node, minute)| Caps { cluster, user, queue, job, node, minute })
}

fn policies() -> impl Strategy<Value = PolicyName> {
    use PolicyName::{Dolly, Drover, Dryad, HadoopTuned, Late, Mantri, MapReduce};
    // Those that do more than copy come more often.
    prop::sample::select(vec![Late, Late, Mantri, Mantri, Mantri, HadoopTuned, MapReduce, Dryad, Dolly, Drover, Drover])
}

/// Decisions on copies and restarts whose end was not told yet.
type Open = BTreeMap<u64, Decision>;

/// What a run of the world may do.
#[derive(Debug, Clone, Copy)]
struct Rules {
    policy: PolicyName,
    caps: Caps,
    /// Copies of a task need not come one after the other.
    together: bool,
    /// Mantri's alpha and gamma.
    alpha: u32,
    gamma: u32,
    /// A blacklist beside the policy, and clones by machine.
    beside: bool,
    by_machine: bool,
    /// Dolly's beta, in slots of the cluster's 64.
    beta: u32,
    /// Copies of a job that may wait for their containers.
    unplaced: u32,
}

impl Rules {
    fn params(self) -> EngineParams {
        let blacklist = BlacklistParams { beside: self.beside, ..BlacklistParams::default() };
        let by_machine = self.by_machine;
        let dolly = DollyParams { beta: f64::from(self.beta) / 64.0, tau: 1.0, by_machine, ..DollyParams::default() };
        let mantri = MantriParams { alpha: self.alpha, restarts_max: self.gamma, ..MantriParams::default() };
        let govern = GovernParams { waiting_copies: self.unplaced, ..self.caps.govern() };
        let govern =
            if self.together { GovernParams { copies_per_task: 0, futile_copies: 0, ..govern } } else { govern };
        EngineParams { policy: self.policy, govern, blacklist, dolly, mantri, ..acting() }
    }

    fn clones(self) -> bool {
        matches!(self.policy, PolicyName::Dolly | PolicyName::Drover)
    }

    fn weighs_copies(self) -> bool {
        self.together && matches!(self.policy, PolicyName::Mantri | PolicyName::Drover)
    }
}

fn rules() -> impl Strategy<Value = Rules> {
    let more = (any::<bool>(), any::<bool>(), 16u32..=64, 1u32..9);
    (policies(), caps(), any::<bool>(), 1u32..3, 1u32..4, more).prop_map(
        |(policy, caps, together, alpha, gamma, (beside, by_machine, beta, unplaced))| Rules {
            policy,
            caps,
            together,
            alpha,
            gamma,
            beside,
            by_machine,
            beta,
            unplaced,
        },
    )
}

/// Checks the caps against what `count` finds of the jobs' tasks that it is shown.
fn within(caps: Caps, clones: bool, count: impl Fn(&dyn Fn(TaskId) -> bool) -> u32) -> Result<(), TestCaseError> {
    prop_assert!(count(&|_| true) <= caps.cluster, "{} in the cluster", count(&|_| true));
    let at_place = |id: JobId| JOBS[jobs().position(|job| job == id).unwrap()];
    for (user, queue) in JOBS {
        let (of_user, of_queue) =
            (count(&|task| at_place(task.job).0 == user), count(&|task| at_place(task.job).1 == queue));
        prop_assert!(of_user <= caps.user, "{of_user} of {user}");
        prop_assert!(of_queue <= caps.queue, "{of_queue} of {queue}");
    }
    for id in jobs() {
        let of_job = count(&|task| task.job == id);
        prop_assert!(clones || of_job <= caps.job, "{of_job} of {id}");
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
    let asked = |task| open.values().filter(|one| one.task == task).map(|one| one.copies).sum::<u32>();
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
    prop_assert!(rules.clones() || world.most_at_once() <= most, "{} at once", world.most_at_once());
    Ok(())
}

/// Lets the jobs run. What was carried out.
fn run(rules: Rules, dice: &[u8]) -> Result<Vec<Decision>, TestCaseError> {
    let (caps, clones) = (rules.caps, rules.clones());
    let mut world = World::new(rules.params(), dice);
    let (mut open, mut decided, mut ended) = (Open::new(), Vec::new(), Vec::new());
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
            if decision.action != Action::Withdraw {
                open.insert(decision.id, decision.clone());
                decided.push((decision.id, decision.copies));
            }
            world.ask(second, decision);
        }
        world.send(second);
        within(caps, clones, |of| open.values().filter(|one| of(one.task)).map(|one| one.copies).sum())?;
        within(caps, clones, |of| world.live(of))?;
        done(rules, &world)?;
        within_beta(rules, &open, &world)?;
        within_waiting(rules, &pass.decisions)?;
        for host in ["nm1", "nm2", "nm3", "nm4"] {
            let from = open.values().filter(|one| one.host.as_deref() == Some(host)).count();
            prop_assert!(clones || from <= caps.node as usize, "{from} for attempts on {host}");
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

#[test]
fn by_chance_tasks_are_copied_twice_over_and_restarted_and_copies_withdrawn() {
    let caps = Caps { cluster: 19, user: 19, queue: 19, job: 8, node: 8, minute: 59 };
    let mut seen: BTreeMap<Action, usize> = BTreeMap::new();
    let mut twice = 0;
    for seed in 0..40_u32 {
        let dice: Vec<u8> = (1..400_u32).map(|n| (n.wrapping_mul(seed * 2 + 2_654_435_769) >> 16) as u8).collect();
        let (policy, alpha, gamma) = (PolicyName::Mantri, 1 + seed % 2, 1 + seed % 3);
        let (beside, by_machine, beta, unplaced) = (false, false, 64, 8);
        let rules = Rules { policy, caps, together: true, alpha, gamma, beside, by_machine, beta, unplaced };
        let done = run(rules, &dice).unwrap();
        done.iter().for_each(|decision| *seen.entry(decision.action).or_default() += 1);
        twice += done.iter().filter(|decision| decision.action == Action::Duplicate && decision.live > 1).count();
    }
    assert!(Action::ALL.iter().all(|action| seen.get(action).is_some_and(|times| *times > 10)), "{seen:?}");
    assert!(twice > 10, "{twice} beside another");
}
