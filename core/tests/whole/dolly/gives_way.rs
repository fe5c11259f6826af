//! Clones that give way: to a fuller cluster, to a fair share, to smaller jobs.

use super::*;

/// Use of the cluster rises to so many slots of 64 after a job's clones were given.
pub fn crowded(script: &mut Script, slots: u64, can: Capabilities) -> Pass {
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
    let plan = ClonePlan::given(CloneScheme::Task, 3, 10);
    for (admission, withdraw, cloned, first) in [
        (Admission::Preempt, true, 4, ClonePlan { gives_way: true, ..plan }),
        (Admission::Preempt, false, 0, ClonePlan { gives_way: false, ..plan }),
        (Admission::AllOrNothing, true, 0, ClonePlan { gives_way: false, ..plan }),
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
