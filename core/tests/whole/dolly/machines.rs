//! On which machines clones are to run.

use super::*;

/// The hosts preferred for the clones of four maps, one on each node, where so much is free on each.
fn prefer_where_there_is_room(free: impl Fn(&str) -> Resources) -> Vec<Vec<String>> {
    let told = beside_a_slow_second_node_with(false, |node| {
        node.total = free(&node.host);
    });
    told.into_iter().map(|(_, prefer)| prefer).collect()
}

/// The clones of four maps, one on each node of a cluster whose second is known to be slow: (copies, hosts preferred), by task.
fn beside_a_slow_second_node(by_machine: bool) -> Vec<(u32, Vec<String>)> {
    beside_a_slow_second_node_with(by_machine, |_| {})
}

fn beside_a_slow_second_node_with(by_machine: bool, change: impl Fn(&mut NodeFact)) -> Vec<(u32, Vec<String>)> {
    let mut script = clones_by_machine(by_machine);
    let mut nodes: Vec<NodeFact> = script.engine.cluster().nodes.values().cloned().collect();
    nodes.iter_mut().for_each(change);
    script.say(at(43.0), Fact::Nodes(nodes));
    let mut all = script.decide(at(43.0)).decisions;
    all.sort_by_key(|decision| decision.task);
    all.into_iter().map(|decision| (decision.copies, decision.prefer)).collect()
}

/// Four maps, one on each node of a cluster whose second is known to be slow, just before they are first looked at.
fn clones_by_machine(by_machine: bool) -> Script {
    let dolly =
        DollyParams { beta: 1.0, tau: 1.0, by_machine, prior: 0.3, min_evidence: 1e6, ..DollyParams::default() };
    let govern = GovernParams { waiting_copies: 12, cluster_cap: 1.0, ..GovernParams::default() };
    let params = EngineParams { policy: PolicyName::Dolly, dolly, govern, ..EngineParams::default() };
    let mut script = with_a_slow_second_node(params);
    let id = job_id(2);
    script.open_job(id, 4, 0, at(42.0));
    script.say(at(42.0), Fact::Can(id, Capabilities { place: true, ..Capabilities::default() }));
    let tasks = (0..4).map(|index| id.task(TaskKind::Map, index));
    let of = |task| TaskFact { state: Some(TaskState::Running), started: Some(at(42.0)), ..TaskFact::of(task) };
    script.tasks(id, at(43.0), tasks.clone().map(of).collect());
    let on = |task: TaskId| running(task, at(42.0), 0.1, &format!("nm{}", task.index + 1));
    script.attempts(id, at(43.0), tasks.map(on).collect());
    let nodes = script.engine.cluster().nodes.values().cloned().collect();
    script.say(at(43.0), Fact::Nodes(nodes));
    script
}

#[test]
fn clones_are_said_to_go_to_reliable_machines_and_what_runs_on_the_bad_one_has_more_where_they_are_counted_by_machine()
{
    // Of sixteen tasks each: .73 for the second, .12 for the others, when ten of .3 are added.
    let [first, second, third, fourth] = ["nm1", "nm2", "nm3", "nm4"].map(str::to_owned);
    let prefer = [[&third, &fourth], [&first, &fourth], [&first, &third]].map(|two| two.map(String::clone).to_vec());
    let [of_first, of_third, of_fourth] = prefer;
    let of_second = vec![first, third, fourth];
    let told = [of_first, of_second, of_third, of_fourth];
    assert!(told.iter().all(|prefer| !prefer.contains(&second)));
    let with = |copies: [u32; 4]| copies.into_iter().zip(told.clone()).collect::<Vec<_>>();
    assert_eq!(beside_a_slow_second_node(false), with([3; 4]), "1 - (1 - .3^4)^4 is .03");
    assert_eq!(beside_a_slow_second_node(true), with([2, 3, 2, 2]), ".12^3 is below .3^4, .73 * .12^2 is not");
}

#[test]
fn where_clones_are_counted_by_machine_a_task_needs_room_for_so_many_and_no_more() {
    // The first task, on nm1, needs nm3 and nm4, and nm1 is what they leave to the second. Three clones have room beside that second alone, which is on nm2.
    let one = Resources { memory_mb: 128, vcores: 1 };
    let told = |by_machine| {
        let all = beside_a_slow_second_node_with(by_machine, |node| {
            node.total = if &*node.host == "nm2" { Resources::default() } else { one };
        });
        all.into_iter().map(|(copies, _)| copies).collect::<Vec<_>>()
    };
    assert_eq!((told(true), told(false)), (vec![2, 1], vec![3]));
}

#[test]
fn copies_that_a_task_has_count_by_their_machines_too() {
    let mut script = clones_by_machine(true);
    let id = job_id(2).task(TaskKind::Map, 0);
    let other = running(id, at(42.5), 0.1, "nm3");
    script.attempts(job_id(2), at(43.0), vec![AttemptFact { number: 1, ..other }]);
    let all = script.decide(at(43.0)).decisions;
    let first: Vec<_> = all.iter().filter(|one| one.task == id).map(|one| (one.copies, one.prefer.clone())).collect();
    assert_eq!(first, [(1, vec!["nm4".to_owned()])], ".12^2 is above .3^4, .12^3 is not");
}

#[test]
fn clones_are_asked_for_on_machines_that_straggle_less_than_others_and_named_no_host_where_nobody_can_ask() {
    let named = |can: Capabilities, has_room: fn(&str) -> bool| {
        let mut script = clones_by_machine(false);
        script.say(at(43.0), Fact::Can(job_id(2), can));
        let mut nodes: Vec<NodeFact> = script.engine.cluster().nodes.values().cloned().collect();
        nodes.iter_mut().filter(|node| !has_room(&node.host)).for_each(|node| node.total = Resources::default());
        script.say(at(43.0), Fact::Nodes(nodes));
        let all = script.decide(at(43.0)).decisions;
        assert!(!all.is_empty());
        all.into_iter().flat_map(|decision| decision.prefer).collect::<std::collections::BTreeSet<_>>()
    };
    let [placed, asked_for] = [true, false].map(|place| Capabilities { place, prefer: !place, ..Capabilities::NONE });
    let [all, second]: [fn(&str) -> bool; 2] = [|_| true, |host| host == "nm2"];
    let fast = ["nm1", "nm3", "nm4"].map(str::to_owned).into();
    assert_eq!((named(asked_for, all), named(Capabilities::NONE, all)), (fast, [].into()));
    assert_eq!((named(placed, second), named(asked_for, second)), (["nm2".to_owned()].into(), [].into()));
}

#[test]
fn room_for_one_clone_is_promised_to_one() {
    let one = Resources { memory_mb: 128, vcores: 1 };
    let rooms = |host: &str| match host {
        "nm1" => one,
        "nm2" => Resources { memory_mb: 2048, vcores: 8 },
        _ => Resources::default(),
    };
    let told = prefer_where_there_is_room(rooms);
    assert_eq!(told.iter().filter(|prefer| prefer.contains(&"nm1".to_owned())).count(), 1, "{told:?}");
}

#[test]
fn a_copy_that_nobody_can_ask_for_on_a_host_is_told_none_to_prefer() {
    let mut script = with_a_slow_second_node(EngineParams { policy: PolicyName::Late, ..EngineParams::default() });
    let id = job_id(2);
    script.open_job(id, 16, 0, at(51.0));
    let nodes = script.engine.cluster().nodes.values().cloned().collect();
    script.say(at(51.0), Fact::Nodes(nodes));
    let (tasks, attempts) = equal_maps(id, 16, 4.0, &|index| if index == 0 { 20.0 } else { 1.0 }, 52.0, 0);
    script.tasks(id, at(52.0), tasks);
    script.attempts(id, at(52.0), attempts);
    let told: Vec<_> = script.decide(at(52.0)).decisions.into_iter().map(|one| (one.task.index, one.prefer)).collect();
    assert_eq!(told, [(0, vec![])]);
}
