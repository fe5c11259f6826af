//! Where inputs lie, in whole passes: what crossed racks explains tasks, and copies go where less will.

use crate::common::*;
use drover_core::engine::EngineParams;
use drover_core::govern::GovernParams;
use drover_core::model::*;

const MAPS: u32 = 16;
const PLACED: Capabilities = Capabilities { place: true, ..Capabilities::NONE };
const ASKED_FOR: Capabilities = Capabilities { prefer: true, ..Capabilities::NONE };

/// Four maps in sixteen read splits of the other rack and take twice as long.
fn is_remote(index: u32) -> bool {
    index % 4 == 3
}

/// Two nodes on each of two racks, with room, and a job's maps on all four in turn, watched for so many seconds. A map's split lies on its own rack, but for the remote ones; where racks are not told
/// of by hosts, counters tell what crossed them, if they are `counted`. Map 0 is ten times slower than the others, and its split lies on the second rack.
fn watched(hosts_told: bool, counted: bool, place: bool, until: u32) -> (Vec<Decision>, Script) {
    watched_while([hosts_told, counted], Capabilities { place, ..Capabilities::default() }, until, None, &|_| 1)
}

/// The same while one node has no room, and of maps that are so many times larger than the others and take as much longer.
fn watched_while(
    [hosts_told, counted]: [bool; 2],
    can: Capabilities,
    until: u32,
    full: Option<u32>,
    times: &dyn Fn(u32) -> u32,
) -> (Vec<Decision>, Script) {
    let id = job_id(1);
    // The copy of the slow one is decided on once the remote ones have shown what racks cost.
    let govern = GovernParams { debounce: Millis(8_000), ..GovernParams::default() };
    let mut script = Script::new(EngineParams { govern, ..EngineParams::default() });
    script.open_job(id, MAPS, 0, at(0.0));
    script.say(at(0.0), Fact::Can(id, can));
    let slow = |index| {
        let alone = if index == 0 {
            10.0
        } else if is_remote(index) {
            2.0
        } else {
            1.0
        };
        alone * f64::from(times(index))
    };
    let mut decisions = Vec::new();
    for second in 0..until {
        let now = at(second.into());
        let node = |n: u32| {
            let total = Resources { memory_mb: 4096, vcores: 8 };
            let used = if full == Some(n) { total } else { Resources::default() };
            NodeFact { rack: format!("/r{}", n / 2).into(), ..NodeFact::usable(&format!("nm{n}"), total, used) }
        };
        script.say(now, Fact::Nodes((0..4).map(node).collect()));
        let (mut tasks, mut attempts) = equal_maps(id, MAPS, 4.0, &slow, second.into(), 0);
        for task in &mut tasks {
            task.input = Some(Bytes(100 * u64::from(times(task.index))));
            // The nodes of its own rack, or of the other.
            let rack = (task.index % 4 / 2 + u32::from(is_remote(task.index) || task.index == 0)) % 2;
            if hosts_told {
                task.hosts = [2 * rack, 2 * rack + 1].map(|node| format!("nm{node}").into()).to_vec();
            }
        }
        for attempt in &mut attempts {
            attempt.host = Some(format!("nm{}", attempt.index % 4).into());
            if counted {
                attempt.counters.read = Some(Bytes(100));
                attempt.counters.crossed = Some(Bytes(if is_remote(attempt.index) { 100 } else { 0 }));
            }
        }
        script.tasks(id, now, tasks);
        script.attempts(id, now, attempts);
        decisions.extend(script.decide(now).decisions);
    }
    (decisions, script)
}

fn causes(script: &Script) -> Vec<(u32, CauseKind, bool)> {
    let causes = script.engine.causes(job_id(1)).into_iter();
    causes
        .filter(|(task, _)| is_remote(task.index))
        .map(|(task, cause)| (task.index, cause.kind, cause.explained))
        .collect()
}

#[test]
fn tasks_that_read_over_racks_are_explained_by_it_from_the_splits_hosts_or_from_a_source_that_counts() {
    for (hosts_told, counted) in [(true, false), (false, true)] {
        let (_, script) = watched(hosts_told, counted, false, 12);
        let explained = [3, 7, 11, 15].map(|index| (index, CauseKind::Data, true));
        assert_eq!(causes(&script), explained, "{hosts_told} {counted}");
    }
    let (_, script) = watched(false, false, false, 12);
    let laid_to_the_node = [3, 7, 11, 15].map(|index| (index, CauseKind::Node, false));
    assert_eq!(causes(&script), laid_to_the_node, "they share one");
}

#[test]
fn a_copy_that_can_be_placed_goes_to_the_rack_of_its_tasks_input() {
    let (decisions, _) = watched(true, false, true, 14);
    let of_slow: Vec<_> = decisions.iter().filter(|decision| decision.task.index == 0).collect();
    assert_eq!(of_slow.len(), 1, "{decisions:?}");
    // It runs on the first rack; of the second's nodes the job's tasks are slow on nm3.
    assert_eq!((of_slow[0].prefer.as_slice(), of_slow[0].host.as_deref()), (&["nm2".to_owned()][..], Some("nm0")));
    assert!(of_slow[0].rule.ends_with("; locationFactor 1.00 on nm2 (§5.5, eq. 3)"), "{}", of_slow[0].rule);
    let (blind, _) = watched(false, false, true, 14);
    assert_eq!(blind.iter().find(|decision| decision.task.index == 0).unwrap().prefer, ["nm1"], "any other will do");
    let (decisions, _) = watched(true, false, false, 14);
    assert!(decisions.iter().all(|decision| decision.prefer.is_empty()), "nobody can place it");
}

#[test]
fn a_copy_that_can_only_be_asked_for_on_a_host_names_the_rack_of_its_input_and_is_reckoned_to_run_anywhere() {
    let of_slow = |hosts_told, can| {
        let (decisions, _) = watched_while([hosts_told, false], can, 14, None, &|_| 1);
        decisions.into_iter().find(|decision| decision.task.index == 0).unwrap()
    };
    let (asked, anywhere) = (of_slow(true, ASKED_FOR), of_slow(true, Capabilities::NONE));
    assert_eq!(asked.prefer, ["nm2"]);
    assert_eq!((asked.numbers, &asked.rule), (anywhere.numbers, &anywhere.rule), "another host may be given");
    assert!(of_slow(false, ASKED_FOR).prefer.is_empty(), "none is known to be better than any other");
}

#[test]
fn a_copy_does_not_go_to_a_node_without_room_though_it_is_the_nearest() {
    let (decisions, _) = watched_while([true, false], PLACED, 14, Some(2), &|_| 1);
    let of_slow: Vec<_> = decisions.iter().filter(|decision| decision.task.index == 0).collect();
    assert_eq!(of_slow.len(), 1, "{decisions:?}");
    assert!(!of_slow[0].prefer.is_empty() && of_slow[0].prefer != ["nm2"], "{:?}", of_slow[0].prefer);
    let (near, _) = watched(true, false, true, 14);
    let [far, near] = [&decisions, &near].map(|decisions| {
        let numbers = decisions.iter().find(|decision| decision.task.index == 0).unwrap().numbers;
        (numbers.fresh_copy.unwrap().as_secs_f64(), numbers.gain.unwrap().as_secs_f64())
    });
    assert!(far.0 > 1.5 * near.0 && far.1 < near.1 - 0.4 * near.0, "remote tasks take twice as long: {far:?} {near:?}");
}

#[test]
fn what_crosses_racks_of_a_split_twice_as_large_explains_twice_as_much() {
    // The latter half of the maps has such splits: of these the remote ones take four times as long as the typical one.
    let (_, script) = watched_while([true, false], Capabilities::NONE, 24, None, &|index| 1 + index / 8);
    assert_eq!(causes(&script), [11, 15].map(|index| (index, CauseKind::Data, true)));
}

#[test]
fn a_copy_is_asked_for_on_a_machine_that_is_known_to_be_fast_and_on_none_that_is_like_any_other() {
    let asked_for = |fast: f64| {
        let mut script = Script::new(EngineParams::default());
        // Sixty maps have shown what nm1 is; of the next job's the second hangs on nm2.
        for (job, maps, hangs) in [(job_id(1), 60, None), (job_id(2), 16, Some(1))] {
            let begins = f64::from(job.0.seq - 1) * 50.0;
            script.open_job(job, maps, 0, at(begins));
            script.say(at(begins), Fact::Can(job, ASKED_FOR));
            let total = Resources { memory_mb: 4096, vcores: 8 };
            let node = |n: u32| NodeFact::usable(&format!("nm{n}"), total, Resources::default());
            for second in 0..20 {
                let now = begins + f64::from(second);
                let pace = |index: u32| match index {
                    index if Some(index) == hangs => 20.0,
                    index if index % 4 == 0 => fast,
                    _ => 1.0,
                };
                script.say(at(now), Fact::Nodes((1..5).map(node).collect()));
                let (tasks, mut attempts) = equal_maps(job, maps, 4.0, &pace, second.into(), (begins * 1e3) as i64);
                let host = |index: u32| format!("nm{}", index % 4 + 1);
                attempts.iter_mut().for_each(|attempt| attempt.host = Some(host(attempt.index).into()));
                script.tasks(job, at(now), tasks);
                script.attempts(job, at(now), attempts);
                if let Some(copy) = script.decide(at(now)).decisions.into_iter().find(|one| one.job == job_id(2)) {
                    return copy.prefer;
                }
            }
            let (state, attempts) = (Some(JobPhase::Succeeded), Vec::new());
            script.say(at(begins + 20.0), Fact::Ended(EndFact { job, state, started: None, finished: None, attempts }));
        }
        panic!("no copy");
    };
    assert_eq!(asked_for(0.5), ["nm1"]);
    assert_eq!(asked_for(0.9), [""; 0], "a little faster may be chance");
}
