use super::*;
use crate::estimate::prior::ENOUGH;
use crate::estimate::prior::Prior;
use crate::model::{Bytes, TaskFact};
use crate::policy::tests::{Phase, at, secs};

fn fresh(view: &View<'_>) -> NewCopy {
    new_copy(view, &Copies::of(view), ENOUGH as u32, slow_from(view))
}

fn close(times: &[f64], expected: &[f64]) -> bool {
    times.len() == expected.len() && times.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.05)
}

/// Earlier runs took 30 s after 5 s of start-up.
fn earlier() -> Prior {
    Prior::new(vec![30.0; 4], Bytes(0), 5.0).unwrap()
}

#[test]
fn what_is_told_of_a_task_is_told_of_its_only_attempt() {
    let mut phase = Phase::maps(1).runs((0, 0), 0, 0.0, &[]);
    let of = TaskFact::of(phase.job.id.task(TaskKind::Map, 0));
    let told = TaskFact { state: Some(TaskState::Running), score: Some(0.25), ..of };
    assert!(phase.job.learn_task(&told, at(4.0), 1_000));
    assert_eq!(Copies::of(&phase.view(6.0)).of_task(0)[0].t_rem, Some(10.0));
}

#[test]
fn that_a_task_had_done_nothing_while_it_waited_is_no_silence_of_its_attempt() {
    let mut phase = Phase::maps(2);
    let waits = TaskFact {
        state: Some(TaskState::Scheduled),
        score: Some(0.0),
        ..TaskFact::of(phase.job.id.task(TaskKind::Map, 0))
    };
    assert!(phase.job.learn_task(&waits, at(1.0), 1_000));
    let mut phase = phase.runs((0, 0), 0, 60.0, &[]);
    let mut left = |now| Copies::of(&phase.view(now)).of_task(0)[0].t_rem;
    assert_eq!([left(61.0), left(90.0)], [None, Some(f64::INFINITY)]);
}

#[test]
fn the_oldest_copy_has_no_end_once_it_outlasts_its_peers_and_a_younger_one_is_given_time() {
    let mut phase = Phase::maps(2).took(&[3.0]).runs((1, 0), 0, 0.0, &[]).runs((1, 1), 0, 7.0, &[]);
    let at_second = |phase: &mut Phase, now| {
        Copies::of(&phase.view(now)).of_task(0).iter().map(|copy| (copy.number, copy.t_rem)).collect::<Vec<_>>()
    };
    assert_eq!(at_second(&mut phase, 8.0), [(0, None), (1, None)], "twice three seconds, and two");
    assert_eq!(at_second(&mut phase, 8.1), [(1, None), (0, Some(f64::INFINITY))]);
}

#[test]
fn a_copy_whose_report_is_not_due_yet_stands_between_those_that_report_and_one_that_should_have() {
    let mut phase = Phase::maps(2).took(&[3.0]).runs((1, 0), 0, 0.0, &[]).runs((1, 1), 0, 7.0, &[]);
    phase = phase.runs((1, 2), 0, 2.0, &[(5.0, 0.5), (8.0, 0.75)]);
    let numbers = Copies::of(&phase.view(8.1)).of_task(0).iter().map(|copy| copy.number).collect::<Vec<_>>();
    assert_eq!(numbers, [2, 1, 0], "the first never reported");
}

#[test]
fn a_copys_time_holds_what_passes_from_the_decision_to_its_launch() {
    let mut phase = Phase::maps(4).took(&[10.0; 3]);
    let view = View { start_lag: secs(2.0), ..phase.view(20.0) };
    assert!(close(&fresh(&view).times(1.0, None).all(), &[12.0; 3]), "{:?}", fresh(&view));
}

#[test]
fn finished_and_running_tasks_count_with_their_whole_time_for_the_typical_input() {
    let peers = Phase::maps(4).took(&[10.0, 10.0, 40.0]).split(0, 8).split(1, 8).split(2, 32);
    let mut phase = peers.split(3, 16).runs((3, 0), 0, 0.0, &[(4.0, 0.125)]);
    // The median of the splits is 12.
    let new = fresh(&View { slow_factor: 0.0, ..phase.view(6.0) });
    assert!(close(&new.times(1.0, None).all(), &[15.0, 15.0, 15.0, 24.0]), "{new:?}");
    let mut early = Phase::maps(2).took(&[10.0]).runs((1, 0), 0, 0.0, &[(2.0, 0.0625)]);
    assert_eq!(fresh(&early.view(3.0)).evidence(), 1, "a tenth of it is not done");
}

#[test]
fn a_run_that_is_mostly_the_start_of_its_jvm_tells_no_pace_unless_it_is_all_there_is_or_the_start_is_told() {
    let times = |mut phase: Phase| fresh(&phase.view(20.0)).times(1.0, None).all();
    let splits = |phase: Phase| phase.split(0, 1_024).split(1, 1_024).split(2, 1);
    let untold = Phase::maps(3).took(&[8.0, 8.0, 3.0]);
    assert!(close(&times(splits(untold)), &[8.0, 8.0]), "3 s for a thousandth are no 3,000 s for the whole");
    let alone = Phase::maps(3).done(2, 0, [0.0, 3.0]);
    assert_eq!(times(splits(alone)).len(), 1);
    let told = [(0, 8.0), (1, 8.0), (2, 2.5)].into_iter().fold(Phase::maps(3), |phase, (index, end)| {
        let reports = [(2.0 + (end - 2.0) / 4.0, 0.25), (2.0 + (end - 2.0) / 2.0, 0.5)];
        phase.runs((index, 0), index, 0.0, &reports).done(index, index, [0.0, end])
    });
    assert_eq!(times(splits(told)).len(), 3);
}

#[test]
fn of_a_reduce_whose_attempts_both_began_with_the_end_of_the_maps_only_the_first_has_the_tasks_time_left() {
    let mut phase = Phase::reduces(2).runs((0, 0), 0, 0.0, &[(20.0, 0.4)]).runs((0, 1), 1, 5.0, &[(20.0, 0.8)]);
    let map = TaskFact::of(phase.job.id.task(TaskKind::Map, 0));
    let (state, finished) = (Some(TaskState::Succeeded), Some(at(10.0)));
    phase.task(TaskFact { state, started: Some(at(0.0)), finished, ..map });
    let view = View { judge_native_copies: true, ..phase.view(20.0) };
    let copies = Copies::of(&view);
    let left: Vec<_> = copies.of_task(0).iter().map(|copy| (copy.number, copy.t_rem)).collect();
    assert_eq!(left.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 0], "{left:?}");
    assert!(left[0].1 < left[1].1, "{left:?}");
}

#[test]
fn a_running_tasks_time_is_its_fastest_copys_own_and_not_also_what_the_slow_one_has_run() {
    let slow = Phase::maps(4).took(&[10.0; 3]).runs((3, 0), 0, 0.0, &[(40.0, 0.125), (50.0, 0.15625)]);
    let mut phase = slow.runs((3, 1), 1, 50.0, &[(52.5, 0.25), (55.0, 0.5)]);
    let new = fresh(&View { slow_factor: 0.0, ..phase.view(55.0) });
    assert!(close(&new.times(1.0, None).all(), &[10.0; 4]), "{new:?}");
}

#[test]
fn of_a_reduce_start_up_is_not_told_from_work_so_one_report_gives_its_time() {
    let mut phase = Phase::reduces(2).runs((0, 0), 0, 0.0, &[(10.0, 0.5)]);
    let map = TaskFact::of(phase.job.id.task(TaskKind::Map, 0));
    let (state, finished) = (Some(TaskState::Succeeded), Some(at(0.0)));
    phase.task(TaskFact { state, started: finished, finished, ..map });
    assert!(close(&fresh(&phase.view(10.0)).times(1.0, None).all(), &[20.0]));
}

#[test]
fn earlier_runs_speak_while_the_phase_has_shown_fewer_tasks_than_are_enough() {
    let earlier = earlier();
    let words = |finished: usize| {
        let mut phase = Phase::maps(9).took(&vec![10.0; finished]);
        fresh(&View { prior: Some(&earlier), ..phase.view(20.0) }).words()
    };
    assert_eq!((words(2).contains("earlier runs"), words(3).as_str()), (true, ""));
}

#[test]
fn the_start_up_of_earlier_runs_counts_once_and_gives_way_to_what_the_phase_shows_itself() {
    let earlier = earlier();
    let times = |mut phase: Phase| {
        let new = fresh(&View { prior: Some(&earlier), ..phase.view(60.0) });
        let mut times = new.times(1.0, None).all();
        times.dedup();
        times
    };
    assert!(close(&times(Phase::maps(9)), &[35.0]), "{:?}", times(Phase::maps(9)));
    let untold = || Phase::maps(9).took(&[10.0; 2]);
    assert!(close(&times(untold()), &[10.0, 35.0]), "its 10 s hold the start-up: {:?}", times(untold()));
    let told = || {
        let phase = Phase::maps(9).runs((0, 0), 0, 0.0, &[(3.0, 0.1), (11.0, 0.9)]);
        let phase = phase.runs((1, 0), 0, 20.0, &[(23.0, 0.1), (31.0, 0.9)]);
        phase.done(0, 0, [0.0, 12.0]).done(1, 0, [20.0, 32.0])
    };
    let seen = times(told());
    assert!(close(&[seen[0], seen[seen.len() - 1]], &[12.0, 32.0]), "two seconds each: {seen:?}");
}

#[test]
fn of_two_stragglers_in_a_small_phase_neither_is_evidence_of_how_long_the_others_copy_takes() {
    let evidence = |factor| {
        let one = |phase: Phase, index| phase.runs((index, 0), index, 50.0, &[(60.0, 0.25)]);
        let mut phase = (2..4).fold(Phase::maps(4).took(&[10.0; 2]), one);
        let view = View { slow_factor: factor, ..phase.view(60.0) };
        let (copies, new) = (Copies::of(&view), fresh(&view));
        (new.evidence(), own_place(&view, &view.contenders[0], &copies.of_task(0)[0], &new, slow_from(&view)).1)
    };
    assert_eq!(evidence(1.5), (2, 2), "they would take 40 s each");
    assert_eq!(evidence(0.0), (4, 3), "the paper has no such distinction");
}

#[test]
fn once_a_task_is_slow_what_ran_on_slow_hosts_says_nothing_of_a_copy_that_is_kept_off_them() {
    let times = |on, reported, factor| {
        let fine = Phase::maps(6).took(&[10.0; 3]).done(3, 1, [0.0, 40.0]).done(4, 1, [0.0, 40.0]);
        let mut phase = fine.runs((5, 0), on, 50.0, &[(50.0 + reported, 0.125)]);
        let new = fresh(&View { slow_factor: factor, ..phase.view(50.0 + reported) });
        (new.times(1.0, None).all(), new.evidence())
    };
    let all = |run| (vec![10.0, 10.0, 10.0, run, 40.0, 40.0], 6);
    assert_eq!(times(2, 1.875, 1.5), all(15.0), "none runs for longer than 1.5 times 10 s");
    assert_eq!(times(0, 2.0, 1.5), (vec![10.0, 10.0, 10.0, 16.0], 5), "slow as it is it is no evidence");
    assert_eq!(times(1, 2.0, 1.5), (vec![10.0; 3], 5), "it is on the slow host itself");
    assert_eq!(times(1, 2.0, 0.0), all(16.0));
}
