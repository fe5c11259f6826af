//! LATE §4's SlowNodeThreshold: no copy where every node with room for it has done too little.

use crate::common::*;
use drover_core::engine::EngineParams;
use drover_core::model::*;
use drover_core::policy::{LateParams, PolicyName};

const NODES: u32 = 5;

/// What is to be seen at `now` of so many maps that take 4 s each from that second on, on five nodes in turn, some slower.
fn on_five_nodes(
    id: JobId,
    maps: u32,
    from: f64,
    slow: &dyn Fn(u32) -> f64,
    now: f64,
) -> (Vec<TaskFact>, Vec<AttemptFact>) {
    let run = |index| {
        let task = id.task(TaskKind::Map, index);
        let (of_task, mut attempts) = runs_of(task, &[Run { launched: from, takes: 4.0 * slow(index) }], now);
        attempts.iter_mut().for_each(|one| one.host = Some(format!("nm{}", index % NODES + 1)));
        (of_task, attempts)
    };
    let (tasks, attempts): (Vec<_>, Vec<_>) = (0..maps).map(run).unzip();
    (tasks, attempts.concat())
}

/// A job of Alice's of four tasks on each node, on the second so many times slower, and one of that user's with a task on each, of which the first straggles, while only the
/// second node has room: what is said of the straggler once it is slow.
fn where_only_the_second_has_room(slow: f64, user: &str) -> Verdict {
    let late = LateParams { slow_node_percentile: 0.25, ..LateParams::default() };
    let mut script = Script::new(EngineParams { policy: PolicyName::Late, late, ..EngineParams::default() });
    let room = |n: u32| Resources { memory_mb: if n == 2 { 2_048 } else { 0 }, vcores: 8 };
    let (first, second) = (job_id(1), job_id(2));
    script.open_job(first, 4 * NODES, 0, at(0.0));
    script.open_job_of(user, "root.default", second, NODES, 0, at(30.0));
    let mut said = Verdict::NotSlow;
    for now in (30..50).map(f64::from) {
        for (id, maps, from, slower, factor) in [(first, 4 * NODES, 0.0, 1, slow), (second, NODES, 30.0, 0, 15.0)] {
            let slow = |index: u32| if index % NODES == slower { factor } else { 1.0 };
            let (tasks, attempts) = on_five_nodes(id, maps, from, &slow, now);
            script.tasks(id, at(now), tasks);
            script.attempts(id, at(now), attempts);
        }
        let nodes = (1..=NODES).map(|n| NodeFact::usable(&format!("nm{n}"), room(n), Resources::default()));
        script.say(at(now), Fact::Nodes(nodes.collect()));
        script.decide(at(now));
        let verdict = script.engine.cluster().job(second).unwrap().task(second.task(TaskKind::Map, 0)).unwrap().verdict;
        said = verdict.unwrap_or(said);
        if matches!(said, Verdict::Decided | Verdict::NoFastNode) {
            break;
        }
    }
    said
}

#[test]
fn a_straggler_is_not_copied_where_only_a_node_below_the_threshold_has_room() {
    assert_eq!(where_only_the_second_has_room(100.0, "alice"), Verdict::NoFastNode);
}

#[test]
fn a_node_that_has_done_as_much_as_the_threshold_is_not_slow() {
    // Four of the five have done the same, and the straggler's less.
    assert_eq!(where_only_the_second_has_room(1.0, "alice"), Verdict::Decided);
}

#[test]
fn what_one_users_tasks_have_done_keeps_no_other_users_copies_off_a_node() {
    assert_eq!(where_only_the_second_has_room(100.0, "bob"), Verdict::Decided);
}
