//! What a trace tells, done again.

use super::*;
use drover_core::engine::EngineParams;
use drover_core::model::TaskKind;
use drover_core::policy::PolicyName;
use drover_core::sim::{Actor, Ideal, Watch, run, run_watching};
use std::collections::{BTreeMap, BTreeSet};

/// Milliseconds that tasks took.
type Took = BTreeMap<(TaskKind, u32), u64>;

/// Starts take 1.5 s and commits .1 s, as a scenario's do where nothing else is said.
fn cluster() -> Scenario {
    let json = r#"{"cluster": {"nodes": 6}, "hadoop": {"start_up": 1.5, "commit": 0.1, "slow_start": 1}}"#;
    serde_json::from_str(json).unwrap()
}

fn traced(text: &str, overhead: Overhead) -> Trace {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    read(file.path(), overhead).unwrap()
}

fn scenario(trace: Trace) -> Scenario {
    let scenario = Scenario { traced: trace.jobs, hosts: trace.hosts, ..cluster() };
    assert_eq!(scenario.faults(), []);
    scenario
}

fn policy(policy: PolicyName) -> Actor {
    EngineParams { policy, ..EngineParams::default() }.into()
}

/// Milliseconds from launch to end of each first attempt of its first job without any policy, by its task.
fn took(trace: Trace) -> Took {
    took_under(policy(PolicyName::None), trace)
}

fn took_under(actor: Actor, trace: Trace) -> Took {
    let mut watch = Watch::new("j1", 0, 100);
    run_watching(&scenario(trace), actor, 1, &mut watch).unwrap();
    watch.rows().map(|row| ((row.kind, row.task), row.ended.0 - row.launched.0)).collect()
}

/// Maps of 11.6, 9.6 and 13 s. Reduces, once these have ended: reading for 4 and 2 s, sorting for 1, at work for 5 and 9.
fn healthy() -> (String, Took) {
    let maps = [11_600, 9_600, 13_000];
    let mut text = HEADER.to_owned();
    (0..).zip(maps).for_each(|(nth, takes)| text += &row("MAP", nth, 0, [1_000, 0, 1_000 + takes], "SUCCESS"));
    // Of each 1.5 s are its start, and .1 s its commit.
    for (nth, shuffled, finish) in [(0, 25_500, 31_600), (1, 23_500, 33_600)] {
        let told = row("REDUCE", nth, 0, [20_000, shuffled, finish], "SUCCESS");
        text += &told.replace(",-1\n", &format!(",{}\n", shuffled + 1_000));
    }
    let of = |kind, takes: Vec<u64>| (0..).zip(takes).map(move |(nth, takes)| ((kind, nth), takes));
    (text, of(TaskKind::Map, maps.into()).chain(of(TaskKind::Reduce, vec![11_600, 13_600])).collect())
}

#[test]
fn a_history_with_room_for_all_and_no_policy_takes_the_times_that_it_took() {
    let (text, traced_times) = healthy();
    let again = took(traced(&text, Overhead::of(&cluster())));
    assert_eq!(again.len(), 5);
    for (task, takes) in &traced_times {
        // Each of three stages ends with a whole millisecond.
        assert!((*takes..=takes + 3).contains(&again[task]), "{task:?} took {takes}, and {} again", again[task]);
    }
    let twice = took(traced(&text, Overhead::default()));
    assert!(
        traced_times.iter().all(|(task, takes)| twice[task] >= takes + 1_600),
        "start and commit were counted twice: {twice:?}"
    );
}

#[test]
fn a_task_shorter_than_start_and_commit_has_no_work_left_and_is_counted() {
    let mut text = HEADER.to_owned();
    [1_599, 1_600, 11_600].iter().zip(0..).for_each(|(takes, nth)| {
        text += &row("MAP", nth, 0, [1_000, 0, 1_000 + takes], "SUCCESS");
    });
    let trace = traced(&text, Overhead::of(&cluster()));
    assert_eq!(trace.repairs.values().copied().collect::<Vec<_>>(), [1], "{:?}", trace.repairs);
    let again: Vec<u64> = took(trace).into_values().collect();
    assert!(again[..2].iter().all(|takes| (1_600..1_605).contains(takes)) && again[2] >= 11_600, "{again:?}");
}

#[test]
fn a_reduce_that_started_while_maps_ran_has_no_start_taken_off_its_reading() {
    let mut text = HEADER.to_owned() + &row("MAP", 0, 0, [1_000, 0, 21_000], "SUCCESS");
    text += &row("REDUCE", 0, 0, [10_000, 25_000, 30_100], "SUCCESS");
    let trace = traced(&text, Overhead::of(&cluster()));
    // From the end of the maps at 21 s.
    assert_eq!(trace.jobs[0].phases[1].tasks.task(0).unwrap().work, [4_000.0, 0.0, 5_000.0]);
}

#[test]
fn reduces_that_began_while_maps_ran_read_as_long_after_the_last_of_them_as_they_did() {
    // Maps end at 11, 21, 31 and 41 s; the reduce, begun at 12 s, has read all at 45 s.
    let mut text = HEADER.to_owned();
    (0..4_u32).for_each(|nth| {
        text += &row("MAP", nth, 0, [1_000, 0, 11_000 + 10_000 * u64::from(nth)], "SUCCESS");
    });
    text += &row("REDUCE", 0, 0, [12_000, 45_000, 50_100], "SUCCESS");
    let mut scenario = scenario(traced(&text, Overhead::of(&cluster())));
    scenario.hadoop.slow_start = 0.05;
    let took = run(&scenario, policy(PolicyName::None), 1).unwrap().jobs[0].took.0;
    // From the first launch on 49.1 s, and .5 s until then.
    assert!((49_600..49_605).contains(&took), "{took}");
}

/// Ten maps each of 11.6 s on a and of 31.6 s on b, and one more on a: b makes its tasks take 3 times as long, by ten tasks: twice.
fn two_hosts() -> Vec<String> {
    let times = (0..10).map(|_| ("a", 11_600)).chain((0..10).map(|_| ("b", 31_600))).chain([("a", 11_600)]);
    let rows = (0..).zip(times).map(|(nth, (host, takes))| {
        row("MAP", nth, 0, [1_000, 0, 1_000 + takes], "SUCCESS").replace(",h,", &format!(",{host},"))
    });
    rows.collect()
}

fn of_two_hosts() -> Trace {
    traced(&(HEADER.to_owned() + &two_hosts().concat()), Overhead::of(&cluster()))
}

/// The work of attempts, to ten milliseconds.
fn works(took: Took) -> BTreeSet<u64> {
    took.into_values().map(|takes| (takes - 1_600) / 10 * 10).collect()
}

#[test]
fn nodes_that_stand_for_slow_hosts_are_as_slow_as_these_and_what_is_assumed_is_said() {
    let trace = of_two_hosts();
    assert_eq!(trace.hosts.all().iter().map(|host| host.slower).collect::<Vec<_>>(), [1.0, 2.0]);
    assert!(trace.assumed.iter().any(|said| said.contains("is 1.00 to 2.00 of their time")), "{:?}", trace.assumed);
    assert!(
        trace.assumed.iter().any(|said| said.contains("1.5 s are its JVM's start and 0.1 s")),
        "{:?}",
        trace.assumed
    );
    let said = placed(&scenario(trace.clone())).unwrap();
    assert!(said.contains("6 nodes stand for the trace's 2 hosts") && said.ends_with("0 hosts have no node"), "{said}");
    // On their own hosts 10 and 30 s of work; those of a 20 s on b, those of b 15 s on a.
    assert_eq!(works(took(trace)), [10_000, 15_000, 20_000, 30_000].into());
}

#[test]
fn without_skew_tasks_are_alike_apart_from_hosts_and_hosts_are_as_slow_as_they_are() {
    let even = works(took_under(Actor::Ideal(Ideal::NoSkew), of_two_hosts()));
    // 11 tasks of 10 s and 10 of 15 take 12.381 s on average.
    assert_eq!(even, [12_380, 24_760].into());
}

#[test]
fn the_same_seed_and_trace_give_the_same_run_in_whatever_order_rows_stand() {
    let backwards: String = two_hosts().into_iter().rev().collect();
    let other = traced(&(HEADER.to_owned() + &backwards), Overhead::of(&cluster()));
    assert_eq!(other, of_two_hosts());
    let late = |trace| run(&scenario(trace), policy(PolicyName::Late), 5).unwrap();
    assert_eq!(late(other), late(of_two_hosts()));
}
