//! Decisions about a job of one map, and what comes of them.

use super::super::job::{Job, Origin, START};
use super::super::scenario::Scenario;
use super::super::whole::JobCopy;
use super::*;
use crate::engine::EngineParams;
use crate::govern::flight::tests::decision;
use crate::model::{Millis, TaskKind};

/// Of so many nodes with a place each.
fn scenario(nodes: u32, can: &str) -> Scenario {
    let json = format!(
        r#"{{"cluster": {{"nodes": {nodes}, "memory_mb": 1024}}, "hadoop": {{"can": {{"duplicate": true{can}}}}},
            "jobs": [{{"name": "a", "maps": {{"tasks": 1, "work": 10}}}}]}}"#
    );
    serde_json::from_str(&json).unwrap()
}

/// The job has come, and its map has a container that is on its way.
fn begun(scenario: &Scenario) -> World<'_> {
    let mut world = World::new(scenario, EngineParams::default().into(), 1);
    let job = Job::new(scenario, &world.draws, 0, Origin::Group(0, 0), 0, START);
    world.jobs.insert(0, job);
    world.begin_phases(0, START);
    world.serve(START);
    world
}

/// The map is so far that its stages have ended at these instants: launched at 0.5 s, at work at 2 s, at its commit at 12 s.
fn at(world: &mut World, ends: &[u64]) {
    let key = *world.jobs[&0].live.first().unwrap();
    ends.iter().for_each(|at| world.stage_ends(key, START + Millis(*at)));
}

fn of(world: &World, action: Action, number: u32) -> Decision {
    let task = world.jobs[&0].id.task(TaskKind::Map, 0);
    Decision { action, attempt: task.attempt(number), ..decision(1, task, Mode::Act) }
}

/// Nodes of the map's attempts, and how many more have been asked for.
fn stands(world: &World) -> (Vec<u32>, u32) {
    let task = world.jobs[&0].task(TaskKind::Map, 0);
    (task.live.iter().map(|key| world.attempts.get(*key).node).collect(), task.asked)
}

#[test]
fn a_copy_is_refused_where_the_task_is_not_what_was_decided_about() {
    let scenario = scenario(2, "");
    let barred = |ends: &[u64], change: &dyn Fn(&mut World)| {
        let mut world = begun(&scenario);
        let copy = of(&world, Action::Duplicate, 0);
        at(&mut world, ends);
        change(&mut world);
        world.bar(0, &copy)
    };
    let nothing = |_: &mut World| {};
    assert_eq!(barred(&[500, 2_000], &nothing), Option::None);
    assert_eq!(barred(&[], &nothing), Some(Answer::NotRunning), "its container is on its way");
    assert_eq!(barred(&[500, 2_000, 12_000], &nothing), Some(Answer::Committing));
    let ended =
        |world: &mut World| world.jobs.get_mut(&0).unwrap().task_mut(TaskKind::Map, 0).state = TaskState::Succeeded;
    assert_eq!(barred(&[500, 2_000], &ended), Some(Answer::TaskEnded));
    assert_eq!(barred(&[500, 2_000, 12_000, 12_100], &nothing), Some(Answer::UnknownTask), "the job is over");
    let asked = |world: &mut World| {
        world.jobs.get_mut(&0).unwrap().ask(TaskKind::Map, Ask::of(0, START), false);
    };
    assert_eq!(barred(&[500, 2_000], &asked), Some(Answer::TooManyAttempts), "another has been asked for meanwhile");
    let cloned = |world: &mut World| world.jobs.get_mut(&0).unwrap().copies = vec![JobCopy::default()];
    assert_eq!(barred(&[500, 2_000], &cloned), Some(Answer::TooManyAttempts), "the whole job is cloned");
}

#[test]
fn a_map_that_sorts_for_reduces_is_copied_and_one_that_commits_is_not() {
    for (reduces, answer) in [("", Some(Answer::Committing)), (r#", "reduces": {"tasks": 1, "work": 1}"#, Option::None)]
    {
        let json = format!(
            r#"{{"cluster": {{"nodes": 2, "memory_mb": 1024}}, "hadoop": {{"can": {{"duplicate": true}}}},
                "jobs": [{{"name": "a", "maps": {{"tasks": 1, "work": 10}}{reduces}}}]}}"#
        );
        let scenario = serde_json::from_str(&json).unwrap();
        let mut world = begun(&scenario);
        let copy = of(&world, Action::Duplicate, 0);
        at(&mut world, &[500, 2_000, 12_000]);
        assert_eq!(world.bar(0, &copy), answer);
    }
}

#[test]
fn a_task_that_waits_is_copied_where_that_can_be_done_and_what_is_refused_is_counted_as_in_vain() {
    for (can, in_vain, stand) in [("", 1, 1), (r#", "copy_waiting": true"#, 0, 2)] {
        let scenario = scenario(2, can);
        let mut world = begun(&scenario);
        let copy = of(&world, Action::Duplicate, 0);
        world.carry_out(&copy, START);
        assert_eq!((world.driver.decided.in_vain, stands(&world).0.len()), (in_vain, stand));
    }
}

#[test]
fn a_copy_goes_to_the_first_node_with_room_of_those_it_prefers_and_else_to_any_but_those_it_avoids() {
    let scenario = scenario(4, "");
    let copied = |prefer: &[u32], avoid: &[u32]| {
        let mut world = begun(&scenario);
        at(&mut world, &[500, 2_000]);
        let first = stands(&world).0[0];
        // Counted from the node of the first attempt, which is full.
        let hosts = |nodes: &[u32]| nodes.iter().map(|nth| format!("n{}", (first + nth) % 4)).collect::<Vec<_>>();
        let copy = Decision { prefer: hosts(prefer), avoid: hosts(avoid), ..of(&world, Action::Duplicate, 0) };
        world.carry_out(&copy, START + Millis(2_000));
        (stands(&world).0[1] + 4 - first) % 4
    };
    assert_eq!([copied(&[1], &[]), copied(&[2], &[]), copied(&[0, 3, 1], &[])], [1, 2, 3]);
    assert_eq!([copied(&[1], &[1, 3]), copied(&[0], &[2, 3])], [2, 1]);
}

#[test]
fn a_copy_is_withdrawn_while_its_container_is_on_its_way_and_cannot_be_while_it_is_asked_for() {
    for (nodes, answer, stand) in [(2, Ok(vec![]), 1), (1, Err(Answer::NotRunning), 1)] {
        let scenario = scenario(nodes, r#", "withdraw": true"#);
        let mut world = begun(&scenario);
        at(&mut world, &[500, 2_000]);
        let [copy, withdrawal] =
            [(Action::Duplicate, 0), (Action::Withdraw, 1)].map(|(what, number)| of(&world, what, number));
        assert_eq!(world.act(0, &copy, START + Millis(2_000)), Ok(vec![1]));
        assert_eq!(world.act(0, &withdrawal, START + Millis(2_300)), answer);
        let tally = world.jobs[&0].tally;
        assert_eq!((stands(&world).0.len(), tally.withdrawn), (stand, u32::from(answer.is_ok())));
        // Its container was held for 0.3 s, and nothing was launched in it.
        assert_eq!((world.outcome.waiting_ms, tally.wasted_ms), (if answer.is_ok() { 300 } else { 0 }, 0));
        assert_eq!(stands(&world).1, u32::from(answer.is_err()), "no other is asked for in its place");
    }
}

#[test]
fn who_does_not_run_any_more_cannot_be_started_anew() {
    let scenario = scenario(2, r#", "restart": true"#);
    let mut world = begun(&scenario);
    at(&mut world, &[500, 2_000]);
    let of_another = of(&world, Action::Restart, 7);
    assert_eq!(world.act(0, &of_another, START + Millis(2_000)), Err(Answer::NotRunning));
    let restart = of(&world, Action::Restart, 0);
    assert_eq!(world.act(0, &restart, START + Millis(2_000)), Ok(vec![1]));
    assert_eq!((world.jobs[&0].tally.restarts, stands(&world)), (1, (vec![], 1)));
}
