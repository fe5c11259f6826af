use super::*;
use crate::model::Names;
use proptest::prelude::*;

fn host(number: u32) -> NameId {
    let mut names = Names::default();
    (0..=number).filter_map(|n| names.intern(&n.to_string())).last().unwrap()
}

fn shown(on: u32, seconds: f64, data: f64) -> Shown {
    let point = Point { seconds, data, crossed: None };
    Shown { point, finished: true, host: Some(host(on)), ..Shown::default() }
}

/// Twelve tasks of 10 s on four hosts, and others.
fn phase(others: &[Shown]) -> Vec<Shown> {
    (0..12).map(|n| shown(n % 4, 10.0, 100.0)).chain(others.iter().copied()).collect()
}

fn cause(others: &[Shown]) -> Cause {
    Causes::learn(&phase(others)).unwrap().of(&others[0])
}

#[test]
fn five_times_the_data_explains_five_times_the_time_and_not_ten_times() {
    let task = |seconds| Shown { finished: false, ..shown(1, seconds, 500.0) };
    let slow = cause(&[task(52.0)]);
    assert_eq!((slow.kind, slow.explained), (CauseKind::Data, true));
    assert!((slow.data - 40.0).abs() < 1e-9 && (slow.rest - 2.0).abs() < 1e-9, "{slow:?}");
    let slower = cause(&[task(100.0)]);
    assert_eq!((slower.kind, slower.explained), (CauseKind::Unknown, false));
    assert!((slower.data - 40.0).abs() < 1e-9 && (slower.rest - 50.0).abs() < 1e-9, "{slower:?}");
}

#[test]
fn a_node_on_which_others_are_slow_as_well_is_the_cause_and_one_other_is_too_few_to_tell() {
    let slow = [30.0, 28.0, 34.0].map(|seconds| Shown { finished: false, ..shown(7, seconds, 100.0) });
    let found = cause(&slow);
    assert_eq!((found.kind, found.explained, found.others), (CauseKind::Node, false, 2));
    assert!(
        (found.node - 20.0).abs() < 1e-9 && found.rest.abs() < 1e-9,
        "the others take 3.1 times as long: {found:?}"
    );
    assert_eq!(cause(&slow[..2]).kind, CauseKind::Unknown);
    // On a healthy node.
    assert_eq!(cause(&[shown(1, 30.0, 100.0)]).kind, CauseKind::Unknown);
}

#[test]
fn of_a_task_that_is_slower_than_its_slow_node_makes_it_the_rest_is_told() {
    let slow = [80.0, 15.0, 15.0].map(|seconds| shown(7, seconds, 100.0));
    let found = cause(&slow);
    assert_eq!((found.kind, found.node, found.rest), (CauseKind::Unknown, 5.0, 65.0));
}

#[test]
fn a_reduce_that_copies_for_long_is_held_up_by_the_network() {
    let reduce = |seconds, copied, finished| Shown { copied: Some(copied), finished, ..shown(9, seconds, 100.0) };
    let mut all: Vec<Shown> = (0..8).map(|_| Shown { host: None, ..reduce(10.0, 4.0, true) }).collect();
    let slow = reduce(30.0, 22.0, false);
    all.push(slow);
    let found = Causes::learn(&all).unwrap().of(&slow);
    assert_eq!((found.kind, found.network, found.rest), (CauseKind::Network, 18.0, 2.0));
    let sorts = reduce(30.0, 5.0, false);
    all.push(sorts);
    assert_eq!(Causes::learn(&all).unwrap().of(&sorts).kind, CauseKind::Unknown);
}

#[test]
fn tasks_that_have_not_lasted_long_say_nothing_of_their_node_and_those_that_have_do() {
    let task = |seconds, open| Shown { finished: false, open, ..shown(7, seconds, 100.0) };
    let slow = task(40.0, false);
    assert_eq!(cause(&[slow, task(1.0, true), task(1.0, true)]).others, 0);
    let found = cause(&[slow, task(30.0, true), task(30.0, true), task(1.0, true)]);
    assert_eq!((found.kind, found.node, found.others), (CauseKind::Node, 20.0, 2));
}

#[test]
fn a_task_like_the_others_has_no_cause_and_without_inputs_data_explains_nothing() {
    assert_eq!(cause(&[shown(1, 11.0, 100.0)]).kind, CauseKind::None);
    let blind: Vec<Shown> = phase(&[shown(1, 50.0, 500.0)])
        .iter()
        .map(|one| Shown { point: Point { data: 0.0, ..one.point }, ..*one })
        .collect();
    let found = Causes::learn(&blind).unwrap().of(&blind[12]);
    assert_eq!((found.kind, found.data, found.rest, found.evidence), (CauseKind::Unknown, 0.0, 40.0, 0));
    assert_eq!(Causes::learn(&[Shown { finished: false, ..blind[0] }]), None);
}

proptest! {
    #[test]
    fn the_shares_add_up_and_neither_a_common_scale_nor_the_order_of_the_tasks_changes_them(
        tasks in prop::collection::vec((0u32..5, 1u32..100, 0u32..9, any::<bool>()), 3..40),
        turn in 0usize..40,
    ) {
        let make = |scale: f64| tasks.iter().map(|(on, seconds, data, finished)| {
            let one = shown(*on, f64::from(*seconds) * scale, f64::from(*data));
            Shown { finished: *finished, copied: Some(f64::from(*seconds) * scale / 2.0), ..one }
        }).collect::<Vec<_>>();
        let (plain, scaled) = (make(1.0), make(4.0));
        let mut turned = plain.clone();
        turned.rotate_left(turn % plain.len());
        let Some(causes) = Causes::learn(&plain) else { return Ok(()) };
        let (of_scaled, of_turned) = (Causes::learn(&scaled).unwrap(), Causes::learn(&turned).unwrap());
        for (one, scaled) in plain.iter().zip(&scaled) {
            let cause = causes.of(one);
            let sum = cause.data + cause.node + cause.network + cause.rest;
            prop_assert!((sum - (cause.seconds - cause.typical)).abs() < 1e-6, "{cause:?}");
            prop_assert_eq!(cause, of_turned.of(one));
            let other = of_scaled.of(scaled);
            prop_assert_eq!((cause.kind, cause.explained), (other.kind, other.explained));
            prop_assert!((4.0 * cause.data - other.data).abs() < 1e-6 && (4.0 * cause.node - other.node).abs() < 1e-6);
        }
    }
}

#[test]
fn the_bounds_themselves_are_not_beyond_the_bounds() {
    // A fifth more than its data lets expect is explained; one and a half median times are not yet high.
    let of = |seconds, data| cause(&[Shown { finished: false, ..shown(1, seconds, data) }]);
    assert_eq!([(12.0, 100.0), (15.0, 150.0), (15.0, 100.0)].map(|(s, d)| of(s, d).explained), [true, true, false]);
    let kind = |seconds, data| of(seconds, data).kind;
    assert_eq!((kind(12.0, 100.0), kind(12.1, 100.0)), (CauseKind::None, CauseKind::Unknown));
    assert_eq!((kind(15.0, 150.0), kind(15.1, 151.0)), (CauseKind::None, CauseKind::Data));
}

#[test]
fn a_node_is_slow_from_more_than_a_fifth_on() {
    let node = |others| {
        let task = |seconds| Shown { finished: false, ..shown(7, seconds, 100.0) };
        cause(&[task(30.0), task(others), task(others)]).node
    };
    assert_eq!([11.0, 12.0].map(node), [0.0; 2]);
    assert!((node(13.0) - 3.0).abs() < 1e-9);
}

#[test]
fn a_nodes_slowness_is_the_median_of_its_other_tasks_whether_those_are_even_or_odd_in_number() {
    let node = |others: &[f64]| {
        let all: Vec<Shown> =
            [100.0].iter().chain(others).map(|s| Shown { finished: false, ..shown(7, *s, 100.0) }).collect();
        (cause(&all).others, cause(&all).node)
    };
    assert_eq!(node(&[15.0, 20.0, 30.0, 50.0, 60.0, 70.0]), (6, 30.0), "four times as long");
    assert_eq!(node(&[15.0, 20.0, 30.0, 50.0, 60.0]), (5, 20.0));
}

/// A reduce of 100 units of data and others like it, of 10 s with 4 s of copying.
fn reduce(seconds: f64, copied: f64, data: f64, others_on_its_node: &[f64]) -> Cause {
    let task = |seconds, copied, data| Shown { copied: Some(copied), ..shown(9, seconds, data) };
    let mut all = vec![Shown { host: None, ..task(10.0, 4.0, 100.0) }; 8];
    let slow = Shown { finished: false, ..task(seconds, copied, data) };
    all.push(slow);
    all.extend(others_on_its_node.iter().map(|s| Shown { finished: false, ..task(*s, 4.0, 100.0) }));
    Causes::learn(&all).unwrap().of(&slow)
}

#[test]
fn the_network_is_told_of_where_copying_takes_more_than_half_of_what_is_left_to_explain() {
    assert_eq!(reduce(30.0, 5.0, 100.0, &[]).network, 0.0);
    assert_eq!(reduce(30.0, 14.0, 100.0, &[]).network, 0.0, "just half of it");
    assert_eq!(reduce(30.0, 14.5, 100.0, &[]).network, 10.5);
    assert_eq!(reduce(30.0, 29.0, 100.0, &[]).network, 20.0, "no more than is left");
    // Twice the data takes 20 s, 8 of them copying.
    assert_eq!(reduce(30.0, 14.0, 200.0, &[]).network, 6.0);
    // Its node makes for ten of its twenty seconds.
    let found = reduce(30.0, 10.0, 100.0, &[20.0, 20.0]);
    assert_eq!((found.node, found.network, found.rest), (10.0, 6.0, 4.0));
}

#[test]
fn a_task_without_progress_tells_of_its_node_once_it_has_lasted_a_fifth_too_long() {
    let others = |seconds| {
        let task = |seconds, open| Shown { finished: false, open, ..shown(7, seconds, 100.0) };
        cause(&[task(40.0, false), task(seconds, true)]).others
    };
    assert_eq!([9.0, 11.0, 12.0, 12.1].map(others), [0, 0, 0, 1]);
}
