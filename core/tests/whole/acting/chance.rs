//! Whatever words are lost or repeated: a property.

use super::world::{BEGIN, JOBS, World, jobs};
use super::*;
use drover_core::policy::{BlacklistParams, DollyParams, PolicyName};
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
    prop::sample::select(vec![Late, Late, Mantri, HadoopTuned, MapReduce, Dryad, Dolly, Drover])
}

/// Decisions whose end was not told yet.
type Open = BTreeMap<u64, Decision>;

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
fn allowed(decision: &Decision, open: &Open, world: &World<'_>) -> Result<(), TestCaseError> {
    prop_assert_eq!((decision.mode, decision.action), (Mode::Act, Action::Duplicate));
    prop_assert!(!world.told.contains(&decision.task), "{} has ended", decision.task);
    prop_assert!(open.values().all(|other| other.task != decision.task), "{} twice at once", decision.task);
    let avoid: BTreeSet<&String> = decision.avoid.iter().collect();
    prop_assert_eq!((avoid.len(), avoid.len() <= Decision::AVOID_MAX), (decision.avoid.len(), true));
    prop_assert!(decision.prefer.iter().all(|host| !avoid.contains(host)), "{:?}", decision);
    prop_assert!(decision.host.as_ref().is_none_or(|host| avoid.contains(host)), "{:?}", decision);
    prop_assert!(avoid.len() < 4, "no host is left");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn whatever_words_are_lost_or_repeated_budgets_hold_each_copy_is_one_that_may_be_and_every_decision_has_one_end(
        dice in prop::collection::vec(any::<u8>(), 1..400),
        caps in caps(),
        policy in policies(),
        beside in any::<bool>(),
        by_machine in any::<bool>(),
    ) {
        let blacklist = BlacklistParams { beside, ..BlacklistParams::default() };
        let dolly = DollyParams { beta: 1.0, tau: 1.0, by_machine, ..DollyParams::default() };
        let params = EngineParams { policy, govern: caps.govern(), blacklist, dolly, ..acting() };
        let mut world = World::new(params, &dice);
        let clones = matches!(policy, PolicyName::Dolly | PolicyName::Drover);
        let (mut open, mut decided, mut ended) = (Open::new(), Vec::new(), Vec::new());
        for second in 1..44 {
            let second = BEGIN + f64::from(second);
            world.turn(second);
            let pass = world.look(second);
            ended.extend(pass.copies.iter().map(|end| end.decision));
            pass.copies.iter().for_each(|end| drop(open.remove(&end.decision)));
            for decision in &pass.decisions {
                allowed(decision, &open, &world)?;
                open.insert(decision.id, decision.clone());
                decided.push((decision.id, decision.copies));
                world.ask(second, decision);
            }
            within(caps, clones, |of| open.values().filter(|one| of(one.task)).map(|one| one.copies).sum())?;
            within(caps, clones, |of| world.live(of))?;
            for host in ["nm1", "nm2", "nm3", "nm4"] {
                let from = open.values().filter(|one| one.host.as_deref() == Some(host)).count();
                prop_assert!(clones || from <= caps.node as usize, "{from} for attempts on {host}");
            }
            prop_assert!(decided.iter().map(|(_, copies)| copies).sum::<u32>() <= caps.minute, "{decided:?} within 44 s");
        }
        ended.extend(world.close(BEGIN + 45.0).copies.iter().map(|end| end.decision));
        ended.sort_unstable();
        prop_assert_eq!(ended, decided.into_iter().map(|(id, _)| id).collect::<Vec<_>>());
    }
}
