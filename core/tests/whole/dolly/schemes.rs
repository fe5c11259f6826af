//! Whole jobs run several times over, and what clones of reduces read: told in the plan, and refused by name where the job's cluster cannot do it.

use super::*;
use drover_core::policy::dolly::Reads;

const BOTH: Capabilities = Capabilities { job_clones: true, reads: true, ..Capabilities::NONE };

/// The plans of a job of four maps and two reduces, by then; nothing more is known of it but what can be done to it.
fn whole_job(can: Capabilities, tell: impl Fn(&mut Script)) -> (Script, [Option<ClonePlan>; 2]) {
    let mut script = dolly(Admission::AllOrNothing);
    let dolly = DollyParams { scheme: CloneScheme::Job, ..script.engine.params().dolly };
    script.engine.set_params(EngineParams { dolly, ..script.engine.params().clone() });
    script.open_job(job_id(1), 4, 2, at(0.0));
    script.say(at(0.0), Fact::Can(job_id(1), can));
    tell(&mut script);
    let _ = script.decide(at(1.1));
    let plans = TaskKind::ALL.map(|kind| script.engine.clone_plan(job_id(1), kind));
    (script, plans)
}

fn runs(script: &mut Script) {
    let id = job_id(1).task(TaskKind::Map, 0);
    script.tasks(
        job_id(1),
        at(1.0),
        vec![TaskFact { state: Some(TaskState::Running), started: Some(at(0.5)), ..TaskFact::of(id) }],
    );
    script.attempts(job_id(1), at(1.0), vec![running(id, at(0.5), 0.1, "nm1")]);
    script.say(at(1.0), Fact::Tasks { job: job_id(1), complete: true, tasks: Vec::new() });
}

#[test]
fn a_job_is_cloned_whole_in_all_of_its_phases_at_once_before_any_task_is_there() {
    // 1 − .9⁶ is .47, whose fourth power is .048: 24 of 32 slots.
    let (script, plans) = whole_job(BOTH, |_| {});
    assert_eq!(plans, [4, 2].map(|tasks| Some(ClonePlan::given(CloneScheme::Job, 4, tasks))));
    assert_eq!(script.engine.copies_in_flight(), 0);
}

#[test]
fn no_task_of_a_job_that_is_cloned_whole_gets_copies_of_its_own() {
    let (script, _) = whole_job(BOTH, runs);
    assert_eq!((verdicts(&script, 1), script.engine.copies_in_flight()), (vec![Verdict::ClonedWithJob], 0));
}

#[test]
fn where_a_job_cannot_be_cloned_whole_it_is_not_cloned_at_all_and_holds_no_budget() {
    let (mut script, plans) = whole_job(Capabilities { reads: true, ..Capabilities::NONE }, runs);
    assert_eq!(plans, [Some(ClonePlan::refused(CloneScheme::Job, Verdict::CannotCloneJobs)); 2]);
    assert_eq!(verdicts(&script, 1), [Verdict::CannotCloneJobs]);
    script.open_job(job_id(2), 4, 2, at(2.0));
    script.say(at(2.0), Fact::Can(job_id(2), BOTH));
    let _ = script.decide(at(2.1));
    assert_eq!(script.engine.clone_plan(job_id(2), TaskKind::Map), Some(ClonePlan::given(CloneScheme::Job, 4, 4)));
}

#[test]
fn a_second_job_has_as_many_clones_as_the_first_has_left_room_for() {
    let (mut script, _) = whole_job(BOTH, |_| {});
    let mut opened = |number, maps| {
        script.open_job(job_id(number), maps, 0, at(2.0));
        script.say(at(2.0), Fact::Can(job_id(number), BOTH));
        let _ = script.decide(at(2.1));
        script.engine.clone_plan(job_id(number), TaskKind::Map).unwrap()
    };
    assert_eq!(opened(2, 3), ClonePlan::given(CloneScheme::Job, 2, 3), "8 slots are left, and three clones are wanted");
    assert_eq!(opened(3, 2).refused, Some(Verdict::CloneBudget), "2 are left");
}

/// How the clones of a job's two reduces read, where an earlier run of it with those reduces has ended.
fn reading(can: Capabilities, reads: Reads, network: [Option<f64>; 2], earlier: bool) -> Option<Reading> {
    let mut script = dolly(Admission::AllOrNothing);
    let [contention, exclusive] = network;
    let dolly = DollyParams { reads, contention, exclusive, beta: 1.0, tau: 1.0, ..script.engine.params().dolly };
    script.engine.set_params(EngineParams { dolly, ..script.engine.params().clone() });
    if earlier {
        earlier_run(&mut script);
    }
    let id = job_id(2);
    script.open_job(id, 4, 4, at(60.0));
    script.say(at(60.0), Fact::Can(id, can));
    let _ = script.decide(at(60.1));
    let of = TaskFact::of(id.task(TaskKind::Reduce, 0));
    let tasks = vec![TaskFact { state: Some(TaskState::Running), started: Some(at(61.0)), ..of }];
    script.say(at(61.0), Fact::Tasks { job: id, complete: true, tasks });
    let _ = script.decide(at(61.1));
    assert_eq!(script.engine.clone_plan(id, TaskKind::Map).unwrap().reading, None, "maps read no clones' outputs");
    script.engine.clone_plan(id, TaskKind::Reduce).unwrap().reading
}

/// Four maps until 10 s, and a reduce that reads 400 bytes in 4 s and computes for 5.
fn earlier_run(script: &mut Script) {
    let id = job_id(1);
    script.open_job(id, 4, 1, at(0.0));
    let maps = (0..4).map(|index| succeeded(id.task(TaskKind::Map, index), at(1.0), at(10.0)));
    let (mut tasks, mut attempts): (Vec<_>, Vec<_>) = maps.unzip();
    let reduce = id.task(TaskKind::Reduce, 0);
    let copied = AttemptFact { phase: Some(Phase::Sort), ..running(reduce, at(5.0), 0.4, "nm1") };
    script.attempts(id, at(14.0), vec![copied]);
    let (task, attempt) = succeeded(reduce, at(5.0), at(19.0));
    tasks.push(task);
    attempts.push(AttemptFact { counters: Counters { shuffled: Some(Bytes(400)), ..Counters::default() }, ..attempt });
    script.tasks(id, at(19.0), tasks);
    script.attempts(id, at(19.0), attempts);
    let _ = script.decide(at(19.5));
    let end = EndFact {
        job: id,
        state: Some(JobPhase::Succeeded),
        started: Some(at(0.0)),
        finished: Some(at(19.0)),
        attempts: Vec::new(),
    };
    script.say(at(20.0), Fact::Ended(end));
    let _ = script.decide(at(20.5));
}

const MEASURED: [Option<f64>; 2] = [Some(0.6), Some(0.8)];

#[test]
fn delay_assignment_waits_for_omega_from_the_jobs_last_run_and_the_measured_network() {
    // 100 bytes of each map at 100 a second: clones that compute alike read one after the other.
    let delay = Assignment::Delay { omega: Millis(1_000) };
    let whole = Reading { wanted: delay, done: delay, instead: None };
    assert_eq!(reading(BOTH, Reads::Delay, MEASURED, true), Some(whole));
    assert_eq!(reading(BOTH, Reads::Delay, [None, Some(0.8)], true), Some(whole), "at half of the bandwidth each");
}

#[test]
fn without_a_sample_of_each_term_omega_is_unknown_and_each_clone_reads_an_output_of_its_own() {
    let exclusive = Assignment::Avoidance;
    let unknown = Some(Reading { wanted: exclusive, done: exclusive, instead: Some(Verdict::OmegaUnknown) });
    for (network, earlier) in [(MEASURED, false), ([Some(0.6), None], true)] {
        assert_eq!(reading(BOTH, Reads::Delay, network, earlier), unknown, "{network:?}");
    }
}

#[test]
fn where_outputs_cannot_be_chosen_all_read_the_first_and_the_plan_says_that_this_was_not_asked_for() {
    let (delay, first) = (Assignment::Delay { omega: Millis(1_000) }, Assignment::Contention);
    let of = |reads| reading(Capabilities::NONE, reads, MEASURED, true).unwrap();
    let instead = Some(Verdict::CannotChooseOutput);
    assert_eq!(of(Reads::Delay), Reading { wanted: delay, done: first, instead });
    assert_eq!(of(Reads::Cac), Reading { wanted: Assignment::Avoidance, done: first, instead });
    assert_eq!(of(Reads::Cc), Reading { wanted: first, done: first, instead: None }, "that is what Hadoop does");
    let of = |reads| reading(BOTH, reads, MEASURED, true).unwrap();
    assert_eq!([of(Reads::Cac), of(Reads::Cc)].map(|one| (one.wanted == one.done, one.instead)), [(true, None); 2]);
}

#[test]
fn a_job_that_is_cloned_whole_has_no_plan_for_a_phase_without_tasks() {
    let (mut script, _) = whole_job(BOTH, |_| {});
    script.open_job(job_id(2), 3, 0, at(2.0));
    script.say(at(2.0), Fact::Can(job_id(2), BOTH));
    let _ = script.decide(at(2.1));
    let planned = TaskKind::ALL.map(|kind| script.engine.clone_plan(job_id(2), kind).is_some());
    assert_eq!(planned, [true, false]);
}

#[test]
fn reduces_that_have_no_clones_read_as_ever() {
    let mut script = dolly(Admission::AllOrNothing);
    script.open_job(job_id(1), 4, 2, at(0.0));
    let known = script.engine.cluster().job(job_id(1)).unwrap().settings.clone().unwrap();
    script.say(at(0.0), Fact::Settings(job_id(1), JobSettings { reduce_speculation: false, ..known }));
    let of = TaskFact::of(job_id(1).task(TaskKind::Reduce, 0));
    let tasks = vec![TaskFact { state: Some(TaskState::Running), started: Some(at(1.0)), ..of }];
    script.say(at(1.0), Fact::Tasks { job: job_id(1), complete: true, tasks });
    let _ = script.decide(at(1.1));
    let plan = script.engine.clone_plan(job_id(1), TaskKind::Reduce).unwrap();
    assert_eq!((plan.clones, plan.reading), (1, None));
}
