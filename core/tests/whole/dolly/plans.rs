//! What is settled before any task is there, and what comes of it once tasks are.

use super::*;

pub fn plan(script: &Script, number: u32, kind: TaskKind) -> Option<ClonePlan> {
    script.engine.clone_plan(job_id(number), kind)
}

fn three_of(tasks: u32) -> Option<ClonePlan> {
    Some(ClonePlan::given(CloneScheme::Task, 3, tasks))
}

/// Tasks of one kind, in a state.
fn told(script: &mut Script, now: f64, kind: TaskKind, indices: std::ops::Range<u32>, state: TaskState) {
    let am = |second: f64| at(second).shifted(script.skew_ms);
    let started = (state >= TaskState::Running).then(|| am(now - 0.5));
    let finished = state.is_final().then(|| am(now - 0.1));
    let of = |index| {
        let of = TaskFact::of(job_id(1).task(kind, index));
        TaskFact { state: Some(state), started, finished, ..of }
    };
    let tasks = indices.map(of).collect();
    script.say(at(now), Fact::Tasks { job: job_id(1), complete: true, tasks });
}

#[test]
fn a_plan_is_ready_before_any_task_of_the_job_is_known() {
    let mut script = dolly(Admission::AllOrNothing);
    script.open_job(job_id(1), 10, 0, at(0.0));
    assert_eq!(script.decide(at(0.1)).decisions, vec![]);
    assert_eq!(plan(&script, 1, TaskKind::Map), three_of(10));
    script.open_job(job_id(2), 10, 0, at(0.2));
    let _ = script.decide(at(0.3));
    let refused = plan(&script, 2, TaskKind::Map).and_then(|plan| plan.refused);
    assert_eq!(
        refused,
        Some(Verdict::CloneBudget),
        "the first job's clones are charged though none of its tasks is there"
    );
}

#[test]
fn no_phase_gets_so_many_clones_that_those_which_fail_could_fail_its_job() {
    let settled = |attempts_max| {
        let mut script = dolly(Admission::AllOrNothing);
        script.open_job(job_id(1), 10, 0, at(0.0));
        let container = Resources { memory_mb: 128, vcores: 1 };
        let settings =
            JobSettings { attempts_max: [attempts_max, 4], map_container: container, ..JobSettings::default() };
        script.say(at(0.1), Fact::Settings(job_id(1), settings));
        let given = tasks_of(&pass(&mut script, &[(1, 10, 0.0)], 1.0), 1).first().map(|(_, copies)| *copies);
        (given, plan(&script, 1, TaskKind::Map).and_then(|plan| plan.refused))
    };
    let found = [4, 3, 2, 1].map(settled);
    let refused = Some(Verdict::FailuresSpent);
    assert_eq!(found, [(Some(2), None), (Some(2), None), (Some(1), None), (None, refused)]);
}

#[test]
fn a_plan_waits_for_the_jobs_settings_and_for_the_clusters_size_and_no_longer() {
    let mut script = dolly(Admission::AllOrNothing);
    let id = job_id(1);
    let fact = |script: &mut Script, fact| {
        let app = Some(id.0);
        let seen = script.observation(Channel::Am, app, at(0.0), fact);
        script.engine.observe(&seen).unwrap();
    };
    let settings = JobSettings { map_container: Resources { memory_mb: 128, vcores: 1 }, ..JobSettings::default() };
    fact(&mut script, Fact::Job(job_fact(id, 10, 0)));
    let _ = script.decide(at(0.1));
    assert_eq!(plan(&script, 1, TaskKind::Map), None, "its containers' size is not known");
    fact(&mut script, Fact::Settings(id, settings));
    let _ = script.decide(at(0.2));
    assert_eq!(plan(&script, 1, TaskKind::Map), None, "nothing is known of the cluster");
    let total = Resources { memory_mb: 8192, vcores: 32 };
    script.say(at(0.3), Fact::Cluster(ClusterFact { total, active_nodes: 4, ..ClusterFact::default() }));
    let _ = script.decide(at(0.3));
    assert_eq!(plan(&script, 1, TaskKind::Map), three_of(10));
}

#[test]
fn a_phase_that_had_begun_before_drover_met_it_is_looked_over_once_its_tasks_are_known() {
    let after = |ended: f64, skew_ms: i64| {
        let mut script = Script { skew_ms, ..dolly(Admission::AllOrNothing) };
        script.open_job(job_id(1), 10, 0, at(0.0));
        let _ = script.decide(at(2.0));
        assert_eq!(plan(&script, 1, TaskKind::Map), three_of(10));
        told(&mut script, ended + 0.1, TaskKind::Map, 0..1, TaskState::Succeeded);
        let _ = script.decide(at(4.0));
        plan(&script, 1, TaskKind::Map).unwrap().refused
    };
    for skew_ms in [0, -3_600_000, 3_600_000] {
        assert_eq!((after(1.9, skew_ms), after(2.1, skew_ms)), (Some(Verdict::PhaseUnderWay), None), "{skew_ms}");
    }
}

#[test]
fn a_job_that_is_met_late_holds_no_budget_before_its_tasks_are_known() {
    let script = dolly(Admission::AllOrNothing);
    let late = at(0.0) + script.engine.params().govern.stale_after;
    for (now, skew_ms, expected) in [
        (late, 0, three_of(10)),
        (late + Millis(1), 0, None),
        (late, -3_600_000, three_of(10)),
        (late + Millis(1), 3_600_000, None),
    ] {
        let mut script = Script { skew_ms, ..dolly(Admission::AllOrNothing) };
        script.open_job(job_id(1), 10, 0, at(0.0));
        let _ = script.decide(now);
        assert_eq!(plan(&script, 1, TaskKind::Map), expected, "{skew_ms}");
    }
}

#[test]
fn tasks_that_wait_have_their_clones_at_once_where_that_can_be_done_and_on_hadoop_once_they_run() {
    let given = |copy_waiting| {
        let mut script = dolly(Admission::AllOrNothing);
        script.open_job(job_id(1), 10, 0, at(0.0));
        script.say(at(0.0), Fact::Can(job_id(1), Capabilities { copy_waiting, ..Capabilities::default() }));
        told(&mut script, 0.1, TaskKind::Map, 0..10, TaskState::Scheduled);
        let waiting = tasks_of(&script.decide(at(0.2)), 1);
        let verdict = script.engine.cluster().job(job_id(1)).unwrap().tasks(TaskKind::Map).last().unwrap().1.verdict;
        told(&mut script, 1.0, TaskKind::Map, 0..10, TaskState::Running);
        (waiting.len(), verdict.unwrap(), tasks_of(&script.decide(at(1.1)), 1).len())
    };
    assert_eq!(given(true), (10, Verdict::Decided, 0));
    assert_eq!(given(false), (0, Verdict::CannotCloneWaiting, 10));
}

#[test]
fn reduces_have_their_turn_when_the_first_can_be_cloned_and_at_once_where_there_are_no_maps() {
    let settled = |maps, state, copy_waiting| {
        let mut script = dolly(Admission::AllOrNothing);
        script.open_job(job_id(1), maps, 4, at(0.0));
        script.say(at(0.0), Fact::Can(job_id(1), Capabilities { copy_waiting, ..Capabilities::default() }));
        if let Some(state) = state {
            told(&mut script, 1.0, TaskKind::Reduce, 0..1, state);
        }
        let _ = script.decide(at(1.1));
        plan(&script, 1, TaskKind::Reduce).is_some()
    };
    use TaskState::{New, Running, Scheduled};
    assert_eq!([None, Some(Scheduled), Some(Running)].map(|state| settled(4, state, false)), [false, false, true]);
    assert_eq!([Some(New), Some(Scheduled)].map(|state| settled(4, state, true)), [false, true]);
    assert!(settled(0, None, false));
}
