//! Who is slow, in whole passes over scripted jobs.

use crate::common::*;
use drover_core::engine::EngineParams;
use drover_core::govern::GovernParams;
use drover_core::model::*;
use drover_core::policy::{PolicyName, TailParams};
use std::collections::BTreeSet;

#[test]
fn every_task_of_a_slow_node_is_advised_on_and_no_other_before_half_its_time() {
    let mut script = Script::new(EngineParams::default());
    let decisions = play(&mut script, 16, 4.0, &one_node_in_four, 40);
    let mut tasks: Vec<u32> = decisions.iter().map(|(_, d)| d.task.index).collect();
    tasks.sort_unstable();
    assert_eq!(tasks, [1, 5, 9, 13]);
    assert!(decisions.iter().all(|(second, d)| *second < 20 && d.host.as_deref() == Some("nm2")), "{decisions:?}");
}

#[test]
fn two_slow_nodes_of_four_are_found_though_half_of_the_tasks_are_slow() {
    let mut script = Script::new(EngineParams::default());
    let slow = |index: u32| if index % 4 < 2 { 8.0 } else { 1.0 };
    let decisions = play(&mut script, 16, 4.0, &slow, 32);
    let mut tasks: Vec<u32> = decisions.iter().map(|(_, d)| d.task.index).collect();
    tasks.sort_unstable();
    assert_eq!(tasks, [0, 1, 4, 5, 8, 9, 12, 13]);
}

#[test]
fn nothing_slow_means_no_advice() {
    let mut script = Script::new(EngineParams::default());
    let jitter = |index: u32| 1.0 + 0.04 * f64::from(index % 8);
    assert_eq!(play(&mut script, 32, 20.0, &jitter, 30), vec![]);
}

#[test]
fn a_service_clock_that_is_off_by_ten_minutes_decides_the_same() {
    let plain = play(&mut Script::new(EngineParams::default()), 16, 4.0, &one_node_in_four, 40);
    for skew_ms in [600_000, -600_000] {
        let mut script = Script::new(EngineParams::default());
        script.skew_ms = skew_ms;
        let skewed = play(&mut script, 16, 4.0, &one_node_in_four, 40);
        let of = |all: &[(u32, Decision)]| all.iter().map(|(s, d)| (*s, d.task, d.numbers)).collect::<Vec<_>>();
        assert_eq!(of(&plain), of(&skewed));
    }
}

/// Which maps are decided on of a job of twelve maps of empty files, over in two seconds, and four of data that take twenty, the last ten times as long where it is `slow`.
fn beside_empty_maps(policy: PolicyName, slow: bool) -> Vec<u32> {
    let id = job_id(1);
    let mut script = Script::new(EngineParams { policy, ..EngineParams::default() });
    script.open_job(id, 16, 0, at(0.0));
    let takes = |index: u32| match index {
        0..12 => 1.0,
        15 if slow => 100.0,
        _ => 10.0,
    };
    let mut named = BTreeSet::new();
    for second in 0..60 {
        let (mut tasks, attempts) = equal_maps(id, 16, 2.0, &takes, second.into(), 0);
        for task in &mut tasks {
            task.input = Some(Bytes(if task.index < 12 { 0 } else { 128 << 20 }));
        }
        script.tasks(id, at(second.into()), tasks);
        script.attempts(id, at(second.into()), attempts);
        named.extend(script.decide(at(second.into())).decisions.iter().map(|decision| decision.task.index));
    }
    named.into_iter().collect()
}

#[test]
fn maps_with_data_are_no_stragglers_beside_empty_ones_and_one_that_is_slow_is_still_found() {
    for policy in [PolicyName::Late, PolicyName::Mantri, PolicyName::Drover] {
        assert_eq!(beside_empty_maps(policy, false), [0; 0], "{}", policy.label());
        assert_eq!(beside_empty_maps(policy, true), [15], "{}", policy.label());
    }
}

#[test]
fn a_task_with_five_times_the_data_is_told_from_a_slow_one() {
    let id = job_id(1);
    let mut script = Script::new(EngineParams::default());
    script.open_job(id, 16, 0, at(0.0));
    let more = |index: u32| if index == 3 { 5.0 } else { 1.0 };
    for second in 0..20 {
        let (mut tasks, attempts) = equal_maps(id, 16, 4.0, &more, second.into(), 0);
        for task in &mut tasks {
            task.input = Some(Bytes(if task.index == 3 { 500 } else { 100 }));
        }
        script.tasks(id, at(second.into()), tasks);
        script.attempts(id, at(second.into()), attempts);
        assert_eq!(script.decide(at(second.into())).decisions, vec![]);
    }
    let verdicts: Vec<_> = script.engine.candidates(id).iter().map(|c| c.verdict).collect();
    assert_eq!(verdicts, [Verdict::MoreData]);
}

#[test]
fn reduces_that_wait_for_maps_are_not_called_slow() {
    for policy in [PolicyName::Late, PolicyName::Mantri] {
        reduces_that_wait_are_told_apart(policy);
    }
}

fn reduces_that_wait_are_told_apart(policy: PolicyName) {
    let id = job_id(1);
    let mut script = Script::new(EngineParams { policy, ..EngineParams::default() });
    script.open_job(id, 2, 4, at(0.0));
    let (maps, map_attempts) = equal_maps(id, 2, 4.0, &|i| if i == 0 { 20.0 } else { 1.0 }, 60.0, 0);
    script.tasks(id, at(60.0), maps);
    script.attempts(id, at(60.0), map_attempts);
    for index in 0..4 {
        let task = id.task(TaskKind::Reduce, index);
        let fact = TaskFact { state: Some(TaskState::Running), started: Some(at(5.0)), ..TaskFact::of(task) };
        script.tasks(id, at(60.0), vec![fact]);
        script.attempts(id, at(60.0), vec![running(task, at(5.0), 0.16, "nm1")]);
    }
    script.decide(at(60.0));
    let reduces = script.engine.candidates(id).into_iter().filter(|c| c.attempt.task.kind == TaskKind::Reduce);
    assert!(reduces.map(|c| c.verdict).all(|v| v == Verdict::WaitsForMaps));
}

#[test]
fn late_section_4_1_picks_b_and_not_the_nearly_finished_a() {
    // A is 5 times slower than the mean with 90 % progress, B 2 times slower with 10 %.
    let mut script = Script::new(EngineParams::paper(PolicyName::Late));
    let id = job_id(1);
    script.open_job(id, 12, 0, at(0.0));
    let (mean, now) = (1.0 / 1000.0, 5000.0);
    let at_pace = |index, score: f64, rate: f64, host| {
        running(id.task(TaskKind::Map, index), at(now - score / rate), score as f32, host)
    };
    let mut attempts = vec![at_pace(0, 0.9, mean / 5.0, "nm1"), at_pace(1, 0.1, mean / 2.0, "nm2")];
    attempts.extend((2..12).map(|index| at_pace(index, 0.7, mean, "nm3")));
    let tasks = attempts.iter().map(|a| TaskFact { state: Some(TaskState::Running), ..TaskFact::of(a.id(id).task) });
    script.tasks(id, at(now), tasks.collect());
    script.attempts(id, at(now), attempts);
    let decided = script.decide(at(now)).decisions;
    let left = |index| {
        let candidates = script.engine.candidates(id);
        let one = candidates.into_iter().find(|one| one.attempt.task.index == index);
        one.and_then(|one| one.numbers.time_left).map(|left| left.as_secs_f64().round())
    };
    assert_eq!((decided[0].task.index, left(0), left(1)), (1, Some(500.0), Some(1800.0)));
}

#[test]
fn late_section_3_2_picks_the_ten_times_slower_task_that_hadoop_may_miss() {
    // A 2x slow task at 35 % and a 10x slow one at 7 %: both behind the mean by more than 0.2.
    let play = |policy: PolicyName| {
        let mut script = Script::new(EngineParams::paper(policy));
        let id = job_id(1);
        script.open_job(id, 10, 0, at(0.0));
        let mut attempts = vec![
            running(id.task(TaskKind::Map, 0), at(0.0), 0.35, "nm1"),
            running(id.task(TaskKind::Map, 1), at(0.0), 0.07, "nm2"),
        ];
        for index in 2..10 {
            attempts.push(running(id.task(TaskKind::Map, index), at(0.0), 0.7, "nm3"));
        }
        let tasks =
            attempts.iter().map(|a| TaskFact { state: Some(TaskState::Running), ..TaskFact::of(a.id(id).task) });
        script.tasks(id, at(70.0), tasks.collect());
        script.attempts(id, at(70.0), attempts);
        script.decide(at(70.0)).decisions[0].task.index
    };
    assert_eq!(play(PolicyName::Late), 1);
    assert_eq!(play(PolicyName::Hadoop020), 0, "all stragglers are equally slow to Hadoop 0.20");
}

#[test]
fn near_the_end_mapreduce_copies_all_that_remains_and_dryad_what_outlasts_three_quarters() {
    assert_eq!(named_by(PolicyName::MapReduce), [(1, 4), (5, 4), (9, 4), (13, 4)]);
    assert_eq!(named_by(PolicyName::Dryad), [(1, 5), (5, 5), (9, 5), (13, 5)]);
    let share = |near_end: f64| {
        let tail = TailParams { near_end, ..TailParams::default() };
        let mut script = Script::new(EngineParams { policy: PolicyName::MapReduce, tail, ..EngineParams::default() });
        play(&mut script, 16, 4.0, &one_node_in_four, 20).len()
    };
    assert_eq!(share(0.76), 0, "twelve of sixteen are not enough");
}

/// When the slow map of a job of sixteen, ten times slower, is decided on by LATE, second. Each begins its work, four seconds of it, as long after its launch as `start_up` says.
fn decided_beside_starts(launched: f64, start_up: &dyn Fn(u32) -> f64) -> Option<u32> {
    let id = job_id(1);
    let mut script = Script::new(EngineParams { policy: PolicyName::Late, ..EngineParams::default() });
    script.open_job(id, 16, 0, at(0.0));
    (0..60).find(|second| {
        let (now, mut tasks, mut attempts) = (f64::from(*second), Vec::new(), Vec::new());
        for index in 0..16 {
            let task = id.task(TaskKind::Map, index);
            let (launch, work) = if index == 1 { (launched, 80.0) } else { (0.0, 4.0) };
            let (start, begun) = (launch + start_up(index), at(launch));
            if now >= start + work {
                let (task, attempt) = succeeded(task, begun, at(start + work));
                tasks.push(task);
                attempts.push(attempt);
            } else if now >= launch {
                let (state, started) = (Some(TaskState::Running), Some(begun));
                tasks.push(TaskFact { state, started, ..TaskFact::of(task) });
                let score = ((now - start) / work).max(0.0) as f32;
                attempts.push(running(task, begun, score, &format!("nm{}", index % 4 + 1)));
            }
        }
        tasks.iter_mut().for_each(|task| task.input = Some(Bytes(100)));
        script.tasks(id, at(now), tasks);
        script.attempts(id, at(now), attempts);
        let decisions = script.decide(at(now)).decisions;
        assert!(decisions.iter().all(|decision| decision.task.index == 1), "{decisions:?}");
        !decisions.is_empty()
    })
}

#[test]
fn a_crowd_of_starting_jvms_does_not_hide_for_how_long_a_task_of_the_next_wave_has_worked() {
    // A whole run of the first wave took 16 s, its work 4: so does that of the next before it is judged, from its first report at 22 on.
    assert_eq!(decided_beside_starts(20.0, &|index| if index == 1 { 1.0 } else { 12.0 }), Some(26));
}

#[test]
fn a_task_that_has_only_begun_to_work_when_it_is_as_old_as_its_peers_were_is_given_half_of_their_work_to_show_its_pace()
{
    // Its peers took 8 s in all, 4 of them work; its first report is seen at 9.
    assert_eq!(decided_beside_starts(0.0, &|index| if index == 1 { 8.0 } else { 4.0 }), Some(11));
}

#[test]
fn one_small_fast_peer_does_not_make_all_others_slow() {
    // The last split is short, as a file's last one is: done after 3 s, when the others are at a seventh of their 20.
    let slow = |index: u32| if index == 15 { 0.15 } else { 1.0 };
    assert_eq!(play(&mut Script::new(EngineParams::default()), 16, 20.0, &slow, 20), vec![]);
}

#[test]
fn a_small_job_may_have_copies_for_half_of_its_tasks_and_a_large_one_for_a_quarter() {
    let copied = |maps: u32, slow_of_four: u32| {
        let slow = |index: u32| if index % 4 < slow_of_four { 10.0 } else { 1.0 };
        let govern = GovernParams { cluster_cap: 1.0, ..GovernParams::default() };
        let mut script = Script::new(EngineParams { govern, ..EngineParams::default() });
        play(&mut script, maps, 4.0, &slow, 12).len()
    };
    assert_eq!((copied(16, 2), copied(48, 2)), (8, 12));
}

#[test]
fn copies_keep_off_every_host_on_which_the_job_is_slow_also_where_all_that_runs_is_copied() {
    let govern = GovernParams { job_cap: 1.0, ..GovernParams::default() };
    let mut script = Script::new(EngineParams { govern, ..EngineParams::default() });
    let nodes = ["nm1", "nm2", "nm3", "nm4"]
        .map(|host| NodeFact::usable(host, Resources { memory_mb: 2_048, vcores: 8 }, Resources::default()));
    script.say(at(0.0), Fact::Nodes(nodes.to_vec()));
    let two_of_four = |index: u32| if index % 4 == 1 || index % 4 == 2 { 10.0 } else { 1.0 };
    let decisions = play(&mut script, 16, 4.0, &two_of_four, 20);
    assert_eq!(decisions.len(), 8);
    for (_, decision) in decisions {
        let mut avoid = decision.avoid;
        avoid.sort();
        assert_eq!(avoid, ["nm2", "nm3"]);
    }
}
