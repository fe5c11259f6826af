//! What becomes of the policy's choice: restarts, withdrawals and advice.

use super::*;

const COPIES_ONLY: Capabilities = Capabilities { duplicate: true, ..Capabilities::NONE };
const ALL: Capabilities = Capabilities { duplicate: true, restart: true, withdraw: true, ..Capabilities::NONE };

#[test]
fn a_restart_is_advised_and_never_decided_on_where_it_cannot_be_done() {
    // 10 s are left: more than E(t_new) = 6 s and a period, less than twice as much.
    let phase = |params, can| Phase::under(params, 6, beside_four_of_5_s(alone(18.0))).can(can).decided();
    assert_eq!(phase(EngineParams::default(), Capabilities::default()).0, [(Action::Restart, Mode::Advise)]);
    assert_eq!(phase(acting(), COPIES_ONLY), (vec![], Verdict::CannotRestart));
    assert_eq!(phase(acting(), ALL), (vec![(Action::Restart, Mode::Act)], Verdict::CopyInFlight));
}

#[test]
fn what_cannot_be_restarted_has_a_copy_where_line_7_holds() {
    let copy = (vec![(Action::Duplicate, Mode::Act)], Verdict::CopyInFlight);
    assert_eq!(Phase::under(acting(), 6, beside_four_of_5_s(alone(40.0))).can(COPIES_ONLY).decided(), copy);
    let advised = Phase::new(6, beside_four_of_5_s(alone(40.0))).can(COPIES_ONLY).decided();
    assert_eq!(advised.0, [(Action::Restart, Mode::Advise)], "whoever is advised may kill it");
}

/// As a shim can, or REST.
const HADOOPS: Capabilities = Capabilities { duplicate: true, restart: true, ..Capabilities::NONE };

/// What is decided of a map of which so much is left, while another of six waits, beside a reduce in that state.
fn beside_a_reduce(
    params: EngineParams,
    can: Capabilities,
    takes: f64,
    state: TaskState,
) -> (Vec<(Action, Mode)>, Verdict) {
    let mut phase = Phase::as_set(params, 6, beside_four_of_5_s(alone(takes))).can(can);
    let (id, reduce) = (phase.id, phase.id.task(TaskKind::Reduce, 0));
    phase.script.say(at(0.5), Fact::Job(JobFact { started: at(0.0), ..job_fact(id, 6, 1) }));
    phase.script.tasks(id, at(0.5), vec![TaskFact { state: Some(state), ..TaskFact::of(reduce) }]);
    phase.decided()
}

#[test]
fn beside_a_reduce_that_runs_hadoops_maps_are_not_restarted_and_line_7_has_its_turn() {
    let of = |params: EngineParams, can, takes, state| {
        beside_a_reduce(EngineParams { policy: PolicyName::Mantri, ..params }, can, takes, state)
    };
    let restart = |mode| (vec![(Action::Restart, mode)], Verdict::CopyInFlight);
    let copy = (vec![(Action::Duplicate, Mode::Act)], Verdict::CopyInFlight);
    assert_eq!(of(acting(), HADOOPS, 18.0, TaskState::Scheduled), restart(Mode::Act));
    assert_eq!(of(acting(), HADOOPS, 18.0, TaskState::Running), (vec![], Verdict::CannotRestart));
    assert_eq!(of(acting(), HADOOPS, 40.0, TaskState::Running), copy);
    assert_eq!(of(acting(), ALL, 18.0, TaskState::Running), restart(Mode::Act), "the papers' reduces stay");
    let advised = of(EngineParams::default(), HADOOPS, 18.0, TaskState::Running);
    assert_eq!(advised.0, [(Action::Restart, Mode::Advise)], "nothing is killed");
}

#[test]
fn what_mantri_would_restart_beside_a_reduce_drover_leaves_to_late() {
    let params = EngineParams { policy: PolicyName::Drover, ..acting() };
    let restart = (vec![(Action::Restart, Mode::Act)], Verdict::CopyInFlight);
    assert_eq!(beside_a_reduce(params.clone(), HADOOPS, 18.0, TaskState::Scheduled), restart);
    let (decided, verdict) = beside_a_reduce(params, HADOOPS, 18.0, TaskState::Running);
    assert!(decided.iter().all(|(action, _)| *action == Action::Duplicate), "{decided:?}");
    assert_ne!(verdict, Verdict::CannotRestart);
}

#[test]
fn a_copy_that_saves_resources_is_started_while_the_job_waits_where_it_can_go_first_and_else_refused_by_name() {
    let waiting = |params: EngineParams, can| {
        let mut phase = Phase::under(params, 7, bimodal(alone(20.0))).can(can);
        let needs = Fact::Needs { job: phase.id, maps: 2, reduces: 0, native_copies: 0 };
        phase.script.say(at(0.5), needs);
        phase.decided()
    };
    for params in [EngineParams::default(), acting()] {
        let mode = params.govern.mode;
        let first = Capabilities { copy_first: true, ..COPIES_ONLY };
        assert_eq!(waiting(params.clone(), first).0, [(Action::Duplicate, mode)]);
        assert_eq!(waiting(params, COPIES_ONLY), (vec![], Verdict::ContainersWaiting));
    }
}

#[test]
fn a_restart_asks_for_no_container_beyond_the_one_it_gives_back() {
    let waiting = |maps| {
        let mut phase = Phase::new(7, maps);
        let needs = Fact::Needs { job: phase.id, maps: 1, reduces: 0, native_copies: 0 };
        phase.script.say(at(0.5), needs);
        phase.decided()
    };
    let restarted = [beside_four_of_5_s(alone(5.0)), vec![alone(40.0)]].concat();
    assert_eq!(waiting(restarted).0, [(Action::Restart, Mode::Advise)]);
    assert_eq!(waiting(bimodal(alone(20.0))), (vec![], Verdict::ContainersWaiting), "a copy does");
}

#[test]
fn a_restart_makes_a_busy_cluster_no_busier() {
    let busy = |total| {
        let govern = GovernParams { busy_above: 0.5, ..Default::default() };
        let params = EngineParams { govern, ..Default::default() };
        let mut phase = Phase::under(params, total, beside_four_of_5_s(alone(40.0)));
        let [total, allocated] = [8192, 6144].map(|memory_mb| Resources { memory_mb, vcores: 32 });
        let told = ClusterFact { total, allocated, active_nodes: 4, ..ClusterFact::default() };
        phase.script.say(at(0.5), Fact::Cluster(told));
        phase.decided()
    };
    assert_eq!(busy(6).0, [(Action::Restart, Mode::Advise)]);
    assert_eq!(busy(5), (vec![], Verdict::ClusterBusy), "a copy does");
}

#[test]
fn a_copy_too_many_is_withdrawn_once_where_it_can_be_and_else_refused_by_name() {
    for params in [EngineParams::default(), acting()] {
        let mode = params.govern.mode;
        let refused = Phase::under(params.clone(), 5, three(3.0)).can(COPIES_ONLY).decided();
        assert_eq!(refused, (vec![], Verdict::CannotWithdraw));
        let mut phase = Phase::under(params, 5, three(3.0)).can(ALL);
        assert_eq!(phase.decided(), (vec![(Action::Withdraw, mode)], Verdict::AlreadyCopied));
        assert_eq!(phase.script.engine.copies_in_flight(), 0, "it is no copy");
    }
}

#[test]
fn advice_names_the_line_the_attempt_and_the_numbers() {
    let mut phase = Phase::new(6, beside_four_of_5_s(alone(40.0)));
    (1..8).for_each(|second| phase.tell(second));
    let decision = phase.script.decide(at(8.0)).decisions.pop().unwrap();
    assert_eq!(
        (decision.policy.as_str(), decision.attempt.number, decision.host.as_deref()),
        ("mantri", 0, Some("nm1"))
    );
    assert!(decision.rule.starts_with("Mantri §5.1, Pseudocode 1 line 6: t_rem > E(t_new) + Delta; t_rem by"));
    let numbers = decision.numbers;
    assert_eq!((numbers.win_probability, numbers.saves_probability), (Some(1.0), Some(1.0)));
}

#[test]
fn a_restart_that_was_decided_on_counts_though_its_attempts_show_none() {
    assert_eq!((restarts(1, 0), restarts(2, 0)), (1, 2));
}

#[test]
fn the_last_of_several_attempts_that_a_task_may_be_given_is_a_copy() {
    assert_eq!([1, 2, 3, 4].map(|copies_per_task| restarts(9, copies_per_task)), [1, 1, 2, 3]);
}

/// How often a task is restarted that may be given so many attempts in all, each of which fails, while the first goes on.
fn restarts(restarts_max: u32, copies_per_task: u32) -> u32 {
    let govern = GovernParams { copies_per_task, futile_copies: 0, ..acting().govern };
    let mantri = MantriParams { restarts_max, ..MantriParams::default() };
    let params = EngineParams { mantri, govern, ..acting() };
    let mut phase = Phase::under(params, 6, beside_four_of_5_s(alone(200.0))).can(ALL);
    let mut restarts = 0;
    for second in 1..60 {
        phase.tell(second);
        let (id, now) = (phase.id, at(second.into()));
        for decision in phase.script.decide(now).decisions.iter().filter(|one| one.action == Action::Restart) {
            restarts += 1;
            let attempts = vec![restarts];
            let ack = Fact::Acked(AckFact { job: id, decision: decision.id, answer: Answer::Applied, attempts });
            let seen = phase.script.observation(Channel::Own, Some(id.0), now, ack);
            phase.script.engine.observe(&seen).unwrap();
            // What came in its place fails, and the first was not killed after all.
            let (state, ended) = (Some(AttemptState::Failed), Some(at(f64::from(second) + 0.5)));
            let fact = AttemptFact::of(decision.task.attempt(restarts));
            let failed = AttemptFact { state, started: Some(now), finished: ended, ..fact };
            phase.script.attempts(id, at(f64::from(second) + 0.6), vec![failed]);
        }
    }
    restarts
}
