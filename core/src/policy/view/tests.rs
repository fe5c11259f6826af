use super::*;
use crate::model::{AttemptState, Bytes, Counters, JobSettings, TaskFact};
use crate::policy::tests::{Phase, at, secs};

/// What a task's first attempt has read by then.
fn read(phase: &mut Phase, index: u32, bytes: u64, when: f64) {
    let id = phase.job.id.task(TaskKind::Map, index).attempt(0);
    let counters = Counters { read: Some(Bytes(bytes)), ..Counters::default() };
    let fact = crate::model::AttemptFact { counters, ..crate::model::AttemptFact::of(id) };
    phase.job.intakes.learn(id, &fact, at(when));
}

#[test]
fn tasks_wait_that_have_not_begun_and_those_of_the_other_kind_whose_containers_are_asked_for() {
    let wait = |mut phase: Phase, needs| {
        phase.job.needs = needs;
        phase.view(5.0).tasks_wait()
    };
    let maps = || Phase::maps(1).runs((0, 0), 0, 0.0, &[]);
    let reduces = || Phase::reduces(1).runs((0, 0), 0, 0.0, &[]);
    assert_eq!([wait(maps(), [9, 0]), wait(maps(), [0, 1])], [false, true]);
    assert_eq!([wait(reduces(), [0, 9]), wait(reduces(), [1, 0])], [false, true]);
    assert!(wait(Phase::maps(2).runs((0, 0), 0, 0.0, &[]), [0, 0]), "one of two has not begun");
}

#[test]
fn what_is_too_large_for_a_slot_does_not_wait_for_it() {
    let wait = |kind, needs, [map_mb, reduce_mb]: [u64; 2]| {
        let of = |memory_mb| crate::model::Resources { memory_mb, vcores: 1 };
        let mut phase =
            if kind == TaskKind::Map { Phase::maps(1) } else { Phase::reduces(1) }.runs((0, 0), 0, 0.0, &[]);
        phase.job.needs = needs;
        phase.job.settings =
            Some(JobSettings { map_container: of(map_mb), reduce_container: of(reduce_mb), ..JobSettings::default() });
        phase.view(5.0).tasks_wait()
    };
    let reduce_waits = |sizes| wait(TaskKind::Map, [0, 1], sizes);
    assert_eq!([reduce_waits([1_024, 1_024]), reduce_waits([1_024, 1_025])], [true, false]);
    let map_waits = |sizes| wait(TaskKind::Reduce, [1, 0], sizes);
    assert_eq!([map_waits([1_024, 1_024]), map_waits([1_025, 1_024])], [true, false]);
}

#[test]
fn most_splits_being_empty_makes_no_other_task_slow_and_hides_no_split() {
    // Five that are over at once, and two of three others.
    let of = |split: [u64; 2]| {
        let phase = Phase::maps(9).took(&[1.0, 1.0, 1.0, 1.0, 1.0, 10.0, 12.0]);
        let phase = (0..5).fold(phase, |phase, index| phase.split(index, split[0]));
        let phase = (5..8).fold(phase, |phase, index| phase.split(index, split[1]));
        phase.runs((7, 0), 0, 0.0, &[(4.0, 0.5)]).runs((8, 0), 0, 0.0, &[(4.0, 0.1)]).split(8, split[0])
    };
    let mut mixed = of([0, 100]);
    let view = mixed.view(5.0);
    let peers = &view.peers;
    assert_eq!((peers.typical, peers.longest, peers.typical_split), (Some(secs(11.0)), Some(secs(12.0)), Bytes(100)));
    assert_eq!((peers.finished, view.total, view.telling()), (7, 9, (2, 3)));
    assert_eq!((view.run_times().count(), view.rates().len()), (2, 3));
    assert_eq!(view.input_ratio(&view.contenders[0]), 1.0);
    for alike in [[0, 0], [100, 100]] {
        let mut all = of(alike);
        let view = all.view(5.0);
        assert_eq!((view.peers.typical, view.telling()), (Some(secs(1.0)), (7, 9)), "{alike:?}");
        assert_eq!((view.run_times().count(), view.rates().len()), (7, 9), "{alike:?}");
    }
}

#[test]
fn short_splits_that_are_over_first_make_no_longer_one_slow_nor_overdue() {
    // Of eight splits four are of 10 bytes, and have taken 1 s each, and four of 100.
    let of = |done: &[f64]| {
        let split = |phase: Phase, index| phase.split(index, if index < 4 { 10 } else { 100 });
        let phase = (0..8).fold(Phase::maps(8).took(&[1.0; 4]), split);
        let done = (4..).zip(done).fold(phase, |phase, (index, took)| phase.done(index, 0, [0.0, *took]));
        let mut phase = done.runs((7, 0), 0, 0.0, &[]);
        let mut view = phase.view(5.0);
        view.contenders[0].elapsed = secs(46.0);
        let peers = &view.peers;
        assert!(peers.ends_unreported);
        (peers.typical, peers.longest, view.contenders[0].outlasts(&view))
    };
    // A typical split is 55 bytes long, half of the way from the short ones to the others.
    assert_eq!(of(&[]), (Some(secs(5.5)), None, false), "what has not begun tells no long one's time");
    // Nothing tells how much of that was their start, and so it is that of a typical split, too.
    assert_eq!(of(&[10.0, 12.0]), (Some(secs(11.0)), Some(secs(12.0)), true), "twice 12 s for its data, and two more");
    assert_eq!(of(&[10.0, 12.2]), (Some(secs(11.1)), Some(secs(12.2)), false));
}

#[test]
fn a_map_that_runs_again_takes_no_time_from_the_reduces_that_had_ended_before() {
    // Four reduces wait for the map's end at 100 s, and take 40 s from then on.
    let reduces = (0..4).fold(Phase::reduces(6), |phase, index| phase.done(index, 0, [50.0, 140.0]));
    let mut phase = reduces.runs((4, 0), 0, 141.0, &[(160.0, 0.4)]).runs((5, 0), 0, 50.0, &[]);
    phase.job.totals = Some([1, 6]);
    let map = |phase: &mut Phase, state, finished: Option<f64>, when: f64| {
        let of = TaskFact::of(phase.job.id.task(TaskKind::Map, 0));
        let fact = TaskFact { state: Some(state), finished: finished.map(at), ..of };
        assert!(phase.job.learn_task(&fact, at(when), 1_000));
    };
    map(&mut phase, TaskState::Succeeded, Some(100.0), 100.0);
    let typical = |phase: &mut Phase| phase.view(165.0).peers.typical;
    assert_eq!(typical(&mut phase), Some(secs(40.0)));
    let seen = phase.job.maps_done().at;
    phase.job.note_maps_done(seen);
    map(&mut phase, TaskState::Scheduled, None, 142.0);
    assert_eq!(typical(&mut phase), Some(secs(40.0)), "while it runs again");
    map(&mut phase, TaskState::Succeeded, Some(150.0), 150.0);
    let view = phase.view(165.0);
    assert_eq!(view.peers.typical, Some(secs(40.0)));
    let elapsed: Vec<_> = view.contenders.iter().map(|contender| contender.elapsed).collect();
    assert_eq!(elapsed, [secs(15.0); 2], "what has not copied all waited for it");
}

#[test]
fn a_reduce_is_no_older_for_a_clock_of_its_node_that_is_behind() {
    // Both wait for the map's end at 100 s, and copy for ten seconds more. The second's node is a minute behind.
    let runs = |phase: Phase, index| phase.runs((index, 0), index, 50.0, &[(160.0, 0.8)]);
    let mut phase = (0..2).fold(Phase::reduces(6), runs);
    let of = TaskFact::of(phase.job.id.task(TaskKind::Map, 0));
    let (state, finished) = (Some(TaskState::Succeeded), Some(at(100.0)));
    assert!(phase.job.learn_task(&TaskFact { state, finished, ..of }, at(100.0), 1_000));
    for (index, copied) in [(0, 110.0), (1, 51.0)] {
        phase.attempt((index, 0), index, |fact| {
            (fact.phase, fact.scored_at) = (Some(crate::model::Phase::Reduce), Some(at(160.0)));
            (fact.copied, fact.sorted) = (Some(at(copied)), Some(at(copied)));
        });
    }
    let view = phase.view(165.0);
    let elapsed: Vec<_> = view.contenders.iter().map(|contender| contender.elapsed).collect();
    assert_eq!(elapsed, [secs(65.0); 2]);
    let entered: Vec<_> = view.contenders.iter().map(|contender| contender.sample.entered).collect();
    assert_eq!(entered, [[Some(at(110.0)); 2], [Some(at(100.0)); 2]]);
}

#[test]
fn long_splits_that_are_over_first_and_tiny_ones_make_no_typical_time_of_their_own() {
    // Hadoop starts the longest splits first. Nothing tells start-up from work.
    let of = |splits: &[u64], took: &[f64]| {
        let phase = (0..)
            .zip(splits)
            .fold(Phase::maps(splits.len() as u32), |phase, (index, split)| phase.split(index, *split));
        let peers = phase.took(took).view(100.0).peers.clone();
        (peers.typical, peers.longest)
    };
    let long = of(&[800, 800, 100, 100, 100, 100, 100], &[14.0, 14.0]);
    assert_eq!(long, (Some(secs(14.0)), Some(secs(14.0))), "all of it may have been their start");
    let tiny = of(&[1, 1, 1, 100, 100, 100, 100], &[2.0, 2.0, 2.0, 10.0]);
    assert_eq!(tiny, (Some(secs(10.0)), Some(secs(10.0))));
    assert_eq!(of(&[1, 1, 1, 100, 100, 100, 100], &[2.0; 3]), (Some(secs(40.0)), None), "twenty times as much");
}

#[test]
fn reports_of_empty_maps_are_no_measure_for_those_of_others() {
    // All that are empty end without a report; the others report a quarter of their work first.
    let begun = |phase: Phase, index| phase.runs((index, 0), 0, 0.0, &[(4.0, 0.25)]).done(index, 0, [0.0, 10.0]);
    let phase = (5..7).fold(Phase::maps(8).shim().took(&[1.0; 5]), begun);
    let phase = (0..5).fold(phase, |phase, index| phase.split(index, 0));
    let mut phase = (5..8).fold(phase, |phase, index| phase.split(index, 100)).runs((7, 0), 0, 0.0, &[(4.0, 0.25)]);
    let view = phase.view(5.0);
    assert_eq!((view.peers.typical_first, view.peers.ends_unreported), (Some(0.25), false));
    assert!(!view.contenders[0].begins_behind(&view));
}

#[test]
fn a_prior_holds_the_times_for_the_typical_split() {
    let mut phase = Phase::maps(3).took(&[10.0, 10.0, 40.0]).split(0, 8).split(1, 8).split(2, 32);
    let prior = phase.view(50.0).as_prior().unwrap();
    assert!(prior.times(Bytes(8)).all(|time| (time - 10.0).abs() < 1e-9), "{prior:?}");
    assert_eq!(Phase::maps(3).view(50.0).as_prior(), None);
}

#[test]
fn a_slow_machine_slows_a_maps_work_and_not_its_start_up_which_of_a_reduce_is_not_told_from_it() {
    let prior = Prior::new(vec![10.0], Bytes(0), 2.0).unwrap();
    let fresh = |mut phase: Phase| phase.view(5.0).beside(Some(&prior), 2.0).fresh.map(|copy| copy.mean);
    assert_eq!(fresh(Phase::maps(3)), Some(secs(22.0)));
    assert_eq!(fresh(Phase::reduces(3)), Some(secs(24.0)));
}

#[test]
fn splits_go_before_counters_and_counters_say_nothing_below_one_and_a_half() {
    let ratio = |splits: bool, bytes| {
        let mut phase = Phase::maps(3).took(&[10.0, 10.0]).runs((2, 0), 0, 0.0, &[(5.0, 0.5), (10.0, 1.0)]);
        if splits {
            phase = (0..3).fold(phase, |phase, index| phase.split(index, 64));
        }
        (0..2).for_each(|index| read(&mut phase, index, 100, 10.0));
        read(&mut phase, 2, bytes, 10.0);
        let view = phase.view(10.0);
        view.input_ratio(&view.contenders[0])
    };
    assert!((ratio(false, 300) - 3.0).abs() < 1e-3, "{}", ratio(false, 300));
    assert_eq!((ratio(false, 140), ratio(true, 300)), (1.0, 1.0));
}

#[test]
fn of_a_split_that_is_not_told_there_is_no_share() {
    let mut phase = Phase::maps(2).split(0, 8).split(1, 8);
    let view = phase.view(1.0);
    assert_eq!((view.peers.split_share(Bytes(4)), view.peers.split_share(Bytes(0))), (Some(0.5), None));
    assert_eq!(Phase::maps(2).view(1.0).peers.split_share(Bytes(4)), None);
}

#[test]
fn input_is_unknown_until_splits_or_the_counters_of_the_task_and_of_a_finished_one_tell() {
    let unknown = |own: bool, peers: bool| {
        let mut phase = Phase::maps(2).took(&[10.0]).runs((1, 0), 0, 0.0, &[(10.0, 0.5)]);
        if own {
            read(&mut phase, 1, 50, 10.0);
        }
        if peers {
            read(&mut phase, 0, 50, 10.0);
        }
        let view = phase.view(10.0);
        view.input_unknown(&view.contenders[0])
    };
    assert_eq!([unknown(true, false), unknown(false, true), unknown(true, true)], [true, true, false]);
}

#[test]
fn a_reduces_own_run_begins_with_the_end_of_the_last_map_for_finished_ones_too() {
    let mut phase = Phase::reduces(2).done(0, 0, [0.0, 30.0]).runs((1, 0), 0, 5.0, &[(50.0, 0.5)]);
    let map = phase.job.id.task(TaskKind::Map, 0);
    let of = crate::model::TaskFact::of(map);
    let (state, started, finished) = (Some(TaskState::Succeeded), Some(at(0.0)), Some(at(20.0)));
    let view_of = |phase: &mut Phase| {
        let view = phase.view(50.0);
        (view.peers.typical, view.contenders[0].sample.started, view.contenders[0].elapsed)
    };
    assert_eq!(view_of(&mut phase), (Some(secs(30.0)), at(5.0), secs(45.0)), "the map still runs");
    phase.task(crate::model::TaskFact { state, started, finished, ..of });
    assert_eq!(view_of(&mut phase), (Some(secs(10.0)), at(20.0), secs(30.0)));
}

#[test]
fn a_first_report_may_take_twice_what_nine_of_ten_took_and_ten_seconds_at_least() {
    let start_up = |lag: f64| {
        let phase = (0..11).fold(Phase::maps(12), |phase, index| {
            let lag = if index == 10 { 90.0 } else { lag };
            phase.runs((index, 0), 0, 0.0, &[(lag, 0.5)]).done(index, 0, [0.0, 100.0])
        });
        let mut phase = phase.runs((11, 0), 0, 0.0, &[]);
        let view = phase.view(95.0);
        (view.peers.start_up, view.contenders[0].sample.rhythm)
    };
    let of = |first, rhythm| (Some(secs(first)), secs(rhythm));
    assert_eq!((start_up(8.0), start_up(3.0)), (of(16.0, 29.0), of(6.0, 23.0)), "one of eleven does not count");
    assert_eq!(Phase::maps(2).took(&[10.0]).view(20.0).peers.start_up, None);
}

#[test]
fn what_had_reported_before_it_was_first_heard_of_says_nothing_of_first_reports() {
    let start_up = |first_heard: f64| {
        let phase = (0..11).fold(Phase::maps(12), |phase, index| {
            let id = phase.job.id.task(TaskKind::Map, index).attempt(0);
            let mut phase = phase;
            let state = Some(AttemptState::Running);
            for (when, score) in
                [(first_heard, None), (300.0, Some(0.5))].into_iter().filter(|(when, _)| *when <= 300.0)
            {
                let fact = crate::model::AttemptFact {
                    state,
                    started: Some(at(0.0)),
                    score,
                    ..crate::model::AttemptFact::of(id)
                };
                assert!(phase.job.learn_attempt(&fact, None, at(when), 100));
            }
            phase.done(index, 0, [0.0, 600.0])
        });
        let mut phase = phase.runs((11, 0), 0, 590.0, &[]);
        phase.view(600.0).peers.start_up
    };
    assert_eq!(start_up(299.0), Some(secs(600.0)), "seen to wait for it");
    assert_eq!(start_up(300.0), None, "a service that has just begun");
}

#[test]
fn maps_that_run_tell_how_long_they_took_to_start_and_reduces_do_not() {
    let tells = |phase: Phase| phase.runs((0, 0), 0, 0.0, &[(4.0, 0.25), (6.0, 0.5)]).view(6.0).runs.knows_start_up();
    assert_eq!([tells(Phase::maps(2)), tells(Phase::reduces(2))], [true, false]);
}

#[test]
fn most_end_unreported_where_more_than_half_do() {
    let of = |unreported: u32, reported: u32| {
        let phase = (0..unreported).fold(Phase::maps(9), |phase, index| phase.done(index, 0, [0.0, 1.0]));
        let mut phase = (unreported..unreported + reported)
            .fold(phase, |phase, index| phase.runs((index, 0), 0, 0.0, &[(0.5, 0.5)]).done(index, 0, [0.0, 1.0]));
        phase.view(2.0).peers.ends_unreported
    };
    assert_eq!([of(1, 2), of(2, 2), of(3, 2), of(1, 0)], [false, false, true, true]);
}

#[test]
fn an_attempt_may_be_silent_for_two_reports_and_a_second_and_before_its_first_for_its_start_too() {
    let mut phase = Phase::maps(3).runs((0, 0), 0, 0.0, &[]).runs((1, 0), 0, 0.0, &[(1.0, 0.5)]);
    let rhythms = |phase: &mut Phase| {
        phase.view(5.0).contenders.iter().map(|one| one.sample.rhythm.as_secs_f64()).collect::<Vec<_>>()
    };
    assert_eq!(rhythms(&mut phase), [23.0, 13.0], "Hadoop reports each 6 s");
    phase.job.settings = Some(JobSettings { report_interval: Millis(2_000), ..JobSettings::default() });
    assert_eq!(rhythms(&mut phase), [15.0, 5.0]);
}

#[test]
fn a_mean_score_counts_finished_tasks_as_whole() {
    let mut phase = Phase::maps(9).took(&[10.0]).runs((1, 0), 0, 0.0, &[(10.0, 0.25)]).runs((2, 0), 0, 0.0, &[]);
    let phase = &mut phase;
    phase.attempt((3, 0), 0, |fact| fact.state = Some(AttemptState::Starting));
    let view = phase.view(10.0);
    assert!((view.mean_score - 1.25 / 3.0).abs() < 1e-6, "{}", view.mean_score);
}

#[test]
fn a_map_that_may_wait_on_its_node_works_since_its_reports_tell_and_is_neither_old_nor_silent_before() {
    let of = |opportunistic_maps, reports: &[(f64, f32)]| {
        let mut phase = Phase::maps(5).took(&[10.0; 4]).runs((4, 0), 0, 0.0, reports);
        phase.job.settings = Some(JobSettings { opportunistic_maps, ..JobSettings::default() });
        let view = phase.view(600.0);
        let contender = &view.contenders[0];
        let silent_hosts = view.peers.silent_hosts.len();
        (contender.elapsed, contender.sample.is_silent(), contender.outlasts(&view), silent_hosts)
    };
    assert_eq!(of(0, &[]), (secs(600.0), true, true, 0));
    assert_eq!(of(1, &[]), (secs(0.0), false, false, 0), "its container may still wait");
    assert_eq!(of(1, &[(595.0, 0.25)]).0, secs(5.0));
    assert_eq!(
        of(1, &[(590.0, 0.25), (594.0, 0.5)]).0,
        secs(14.0),
        "at its pace it began four seconds before its first"
    );
    assert!(of(1, &[(500.0, 0.25)]).1, "one that has reported waits no more");
}
