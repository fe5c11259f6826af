//! Whose the speculation is: a job that has no clones stays with Hadoop's own.

use super::*;

/// In mode act, with jobs that a shim can duplicate tasks of.
fn acts(policy: PolicyName, prior: f64) -> Script {
    let mut script = dolly(Admission::AllOrNothing);
    let params = script.engine.params().clone();
    let govern = GovernParams { mode: Mode::Act, ..params.govern };
    let dolly = DollyParams { prior, ..params.dolly };
    script.engine.set_params(EngineParams { policy, govern, dolly, ..params });
    script
}

const COPIES: Capabilities = Capabilities { duplicate: true, ..Capabilities::NONE };

fn opens(script: &mut Script, number: u32, tasks: [u32; 2], second: f64) {
    script.open_job(job_id(number), tasks[0], tasks[1], at(second));
    script.say(at(second), Fact::Can(job_id(number), COPIES));
}

fn owned(script: &Script) -> Vec<JobId> {
    script.engine.owned()
}

#[test]
fn a_job_whose_clones_are_refused_stays_hadoops_where_nothing_else_would_be_done_for_it() {
    for (policy, prior, expected) in [
        (PolicyName::Dolly, 0.1, vec![job_id(1)]),
        (PolicyName::Dolly, 0.0, vec![]),
        (PolicyName::Drover, 0.1, vec![job_id(1), job_id(2)]),
    ] {
        let mut script = acts(policy, prior);
        opens(&mut script, 1, [10, 0], 0.0);
        opens(&mut script, 2, [10, 0], 0.0);
        for second in 1..4 {
            let _ = pass(&mut script, &[(1, 10, 0.0), (2, 10, 0.0)], second.into());
            assert_eq!(owned(&script), expected, "{policy:?} with {prior} at {second} s");
            let soon = [1, 2].map(|number| script.engine.clones_at_start(job_id(number)));
            assert_eq!(soon, [prior > 0.0, false], "whose starts are told at once under {policy:?}");
        }
    }
}

#[test]
fn a_job_of_which_nothing_is_settled_is_drovers_while_it_is_new() {
    let mut script = acts(PolicyName::Dolly, 0.1);
    opens(&mut script, 2, [1, 0], 0.0);
    let _ = script.decide(at(0.5));
    opens(&mut script, 1, [10, 0], 0.7);
    assert!(script.engine.owns(job_id(1)), "its turn is with the next pass");
    let mut script = acts(PolicyName::Dolly, 0.1);
    opens(&mut script, 1, [10, 0], 0.0);
    let _ = script.decide(at(30.1));
    assert_eq!(script.engine.clone_plan(job_id(1), TaskKind::Map), None, "no task of it was told, and it is not new");
    assert_eq!(owned(&script), []);
}

#[test]
fn a_job_whose_tasks_are_never_all_told_of_is_given_back_to_hadoop() {
    let mut script = acts(PolicyName::Drover, 0.1);
    opens(&mut script, 1, [10, 0], 0.0);
    opens(&mut script, 2, [10, 0], 0.0);
    for second in 1..60 {
        let now = at(f64::from(second));
        let of = |job: JobId, index| {
            let (state, started) = (Some(TaskState::Running), Some(at(0.5)));
            TaskFact { state, started, ..TaskFact::of(job.task(TaskKind::Map, index)) }
        };
        for (number, told) in [(1, 9), (2, 10)] {
            let (job, complete) = (job_id(number), false);
            let tasks = (0..told).map(|index| of(job, index)).collect();
            script.say(now, Fact::Tasks { job, complete, tasks });
        }
        let _ = script.decide(now);
        let expected = if second <= 30 { vec![job_id(1), job_id(2)] } else { vec![job_id(2)] };
        assert_eq!(owned(&script), expected, "at {second} s");
    }
}

/// Tasks of one kind are in that state, the second after.
fn tell(script: &mut Script, kind: TaskKind, tasks: u32, state: TaskState, second: f64) {
    let (started, finished) = (Some(at(second - 0.5)), state.is_final().then(|| at(second)));
    let of = |index| TaskFact { state: Some(state), started, finished, ..TaskFact::of(job_id(1).task(kind, index)) };
    script.tasks(job_id(1), at(second), (0..tasks).map(of).collect());
    let _ = script.decide(at(second));
}

#[test]
fn a_cloned_job_is_drovers_from_one_phase_to_the_next_and_as_long_as_one_that_was_admitted_lasts() {
    for reduces_are_cloned in [true, false] {
        let mut script = acts(PolicyName::Dolly, 0.1);
        opens(&mut script, 1, [4, 4], 0.0);
        let known = script.engine.cluster().job(job_id(1)).unwrap().settings.clone().unwrap();
        let settings = JobSettings { reduce_speculation: reduces_are_cloned, ..known };
        script.say(at(0.0), Fact::Settings(job_id(1), settings));
        let mut owns = Vec::new();
        for (kind, state, second) in [
            (TaskKind::Reduce, TaskState::Scheduled, 1.0),
            (TaskKind::Map, TaskState::Running, 2.0),
            (TaskKind::Map, TaskState::Succeeded, 3.0),
            (TaskKind::Reduce, TaskState::Running, 4.0),
            (TaskKind::Reduce, TaskState::Succeeded, 5.0),
        ] {
            tell(&mut script, kind, 4, state, second);
            owns.push(script.engine.owns(job_id(1)));
            assert_eq!(script.engine.clones_at_start(job_id(1)), owns[owns.len() - 1], "{kind:?} {state:?}");
        }
        assert_eq!(owns, [true, true, true, reduces_are_cloned, false]);
    }
}

#[test]
fn a_job_whose_clones_gave_way_is_drovers_where_they_are_to_be_withdrawn() {
    for withdraw in [true, false] {
        let mut script = acts(PolicyName::Dolly, 0.1);
        let _ = gives_way::crowded(&mut script, 60, Capabilities { withdraw, ..COPIES });
        assert!(script.engine.clone_plan(job_id(1), TaskKind::Map).unwrap().gives_way);
        assert_eq!(script.engine.owns(job_id(1)), withdraw);
    }
}

#[test]
fn an_order_for_clones_is_called_off_once_they_are_to_give_way() {
    for (slots, expected) in [(60, Err(Verdict::GaveWay)), (31, Ok(()))] {
        let mut script = acts(PolicyName::Dolly, 0.1);
        opens(&mut script, 1, [10, 0], 0.0);
        let order = pass(&mut script, &[(1, 10, 0.0)], 1.0).decisions.remove(0);
        assert_eq!(script.engine.revalidate(&order), Ok(()));
        let total = Resources { memory_mb: 8192, vcores: 32 };
        let allocated = Resources { memory_mb: slots * 128, vcores: 0 };
        let told = ClusterFact { total, allocated, active_nodes: 4, ..ClusterFact::default() };
        script.say(at(1.7), Fact::Cluster(told));
        let _ = pass(&mut script, &[(1, 10, 0.0)], 2.0);
        assert_eq!(script.engine.revalidate(&order), expected, "{slots} of 64 slots in use, and twenty promised");
    }
}

#[test]
fn a_cloned_job_without_reduces_is_hadoops_again_once_its_maps_have_ended() {
    let mut script = acts(PolicyName::Dolly, 0.1);
    opens(&mut script, 1, [4, 0], 0.0);
    let owns = [(TaskState::Running, 1.0), (TaskState::Succeeded, 2.0)].map(|(state, second)| {
        tell(&mut script, TaskKind::Map, 4, state, second);
        script.engine.owns(job_id(1))
    });
    assert_eq!(owns, [true, false]);
}

#[test]
fn a_job_whose_maps_are_cloned_is_drovers_for_as_long_as_its_reduces_have_not_had_their_turn() {
    let mut script = acts(PolicyName::Dolly, 0.1);
    opens(&mut script, 1, [4, 4], 0.0);
    for second in [1.0, 31.0, 61.0] {
        tell(&mut script, TaskKind::Map, 4, TaskState::Running, second);
        assert!(script.engine.owns(job_id(1)), "{second}");
    }
}
