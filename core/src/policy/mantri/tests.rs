use super::*;
use crate::model::AttemptState;
use crate::policy::Past;
use crate::policy::tests::{Phase, at, secs};

/// One report is enough.
fn at_once() -> MantriParams {
    MantriParams { min_reports: 0, ..MantriParams::default() }
}

fn last(mut phase: Phase, now: f64, params: &MantriParams) -> Judged {
    judge(&phase.view(now), params).pop().unwrap()
}

/// Three tasks of 100 s have reported as they began to work.
fn reported(phase: Phase) -> Phase {
    (0..3).fold(phase, |phase, index| phase.runs((index, 0), 0, 0.0, &[(8.0, 0.01)])).took(&[100.0; 3])
}

/// Three tasks of these times, and a fourth that was launched at 100 s, of which a sixteenth was done after so many more: too little for a rate of its own.
fn beside(seconds: [f64; 3], reported: f64) -> Phase {
    Phase::maps(4).took(&seconds).runs((3, 0), 0, 100.0, &[(100.0 + reported, 0.0625)]).shim()
}

#[test]
fn the_numbers_are_those_of_t_rem_and_of_the_distribution_of_t_new() {
    // Of 15/16 at 2 s each.
    let numbers = last(beside([8.0, 10.0, 12.0], 2.0), 102.0, &at_once()).numbers;
    assert_eq!(
        (numbers.time_left, numbers.fresh_copy, numbers.gain),
        (Some(secs(30.0)), Some(secs(10.0)), Some(secs(20.0)),)
    );
    assert_eq!(numbers.fresh_copy_spread, Some(secs(1.633)), "the root of (2² + 0 + 2²) / 3");
    assert_eq!((numbers.cost_container_seconds, numbers.saves_probability), (Some(10.0), Some(1.0)));
    // Of 15/16 at .8 s each: as long as the longest of the three.
    let even = last(beside([8.0, 10.0, 12.0], 0.8), 100.8, &at_once()).numbers;
    let sooner = even.win_probability.unwrap();
    assert_eq!(even.time_left, Some(secs(12.0)));
    assert!((sooner - 2.0 / 3.0).abs() < 1e-12, "two of three are sooner: {sooner}");
}

#[test]
fn one_report_is_waited_beyond_until_twice_the_typical_run() {
    let phase = || {
        let mut phase = (0..4).fold(beside([10.0; 3], 2.0), |phase, index| phase.split(index, 10));
        // Over REST nothing tells when a report came.
        phase.job.shim = false;
        phase
    };
    let at_age = |age: f64| last(phase(), 100.0 + age, &MantriParams::default());
    let once = at_age(19.999);
    assert_eq!((once.verdict, once.recheck), (Verdict::TooFewReports, Some(at(120.0))));
    assert_eq!((at_age(20.0).verdict, at_age(20.0).recheck), (Verdict::Decided, None));
}

#[test]
fn input_that_nobody_has_told_is_waited_for_until_twice_the_typical_run() {
    let at_age = |age: f64| {
        let mut phase = beside([10.0; 3], age);
        phase.job.shim = false;
        last(phase, 100.0 + age, &at_once())
    };
    let unknown = at_age(19.999);
    assert_eq!((unknown.verdict, unknown.recheck), (Verdict::InputUnknown, Some(at(120.0))));
    assert_eq!(at_age(20.0).verdict, Verdict::Decided);
}

#[test]
fn t_new_rests_on_three_tasks_at_least() {
    let of = |finished: usize| {
        let phase = Phase::maps(9).took(&vec![10.0; finished]).runs((8, 0), 0, 0.0, &[(2.0, 0.0625)]).shim();
        let begun = (finished as u32..8).fold(phase, |phase, index| phase.runs((index, 0), 0, 2.0, &[]));
        last(begun, 2.0, &at_once()).verdict
    };
    assert_eq!((of(3), of(2)), (Verdict::Decided, Verdict::TooFewFinished));
}

#[test]
fn what_should_have_reported_and_never_has_is_not_one_that_reported_too_seldom() {
    let phase = || reported(Phase::maps(4)).runs((3, 0), 0, 100.0, &[]).shim();
    let silent = last(phase(), 150.0, &MantriParams::default());
    assert_eq!((silent.verdict, silent.rank), (Verdict::Decided, f64::INFINITY));
    assert_eq!((silent.numbers.time_left, silent.numbers.gain), (None, None));
    assert_eq!(
        last(phase(), 123.0, &MantriParams::default()).verdict,
        Verdict::Silent,
        "its rhythm expects none before"
    );
    let begun = (0..3).fold(Phase::maps(4), |phase, index| phase.runs((index, 0), 0, 0.0, &[]));
    let unheard = begun.took(&[100.0; 3]).runs((3, 0), 0, 100.0, &[]).shim();
    let judged = last(unheard, 250.0, &MantriParams::default());
    assert_eq!(judged.verdict, Verdict::Silent, "no peer did either");
}

#[test]
fn what_has_not_shown_its_own_pace_is_copied_and_not_killed_before_twice_the_typical_run() {
    let judged = |reports: &[(f64, f32)], now: f64, delta: f64| {
        let peers = Phase::maps(9);
        let peers = if reports.is_empty() { reported(peers) } else { peers.took(&[100.0; 3]) };
        let waiting = peers.runs((3, 0), 0, 100.0, reports).shim();
        let judged = last(waiting, now, &MantriParams { delta, ..MantriParams::default() });
        (judged.verdict, judged.action)
    };
    let (late, slow) = ([(140.0, 0.0625)], [(120.0, 0.03125), (140.0, 0.0625)]);
    assert_eq!(judged(&slow, 140.0, 0.25), (Verdict::Decided, Action::Restart));
    let begins_behind = judged(&late, 140.0, 0.25);
    assert_eq!(begins_behind, (Verdict::Decided, Action::Duplicate), "its start may have taken most of the 40 s");
    assert_eq!(judged(&[], 150.0, 0.25), (Verdict::Decided, Action::Duplicate));
    assert_eq!(judged(&[], 150.0, 1.0), (Verdict::TooFewReports, Action::Restart), "where a copy saves nothing");
    assert_eq!(judged(&[], 300.0, 0.25), (Verdict::Decided, Action::Restart));
}

#[test]
fn what_took_long_to_start_is_not_killed_for_a_first_second_of_slow_work() {
    // Maps work for six seconds once their JVMs have started, which takes sixteen.
    let after = |shown: f64| {
        let slow = [(116.0, 0.01), (116.0 + shown, 0.01 + 0.01 * shown as f32)];
        let phase = Phase::maps(9).took(&[22.0; 3]).runs((3, 0), 0, 100.0, &slow).shim();
        let judged = last(phase, 116.0 + shown, &MantriParams { period_of_typical: 0.04, ..MantriParams::default() });
        (judged.verdict, judged.action)
    };
    assert_eq!(after(1.0), (Verdict::TooFewReports, Action::Restart), "Delta is .9 s, and it has run for 17");
    assert_eq!(after(2.3), (Verdict::Decided, Action::Restart), "an eighth of 18.3 s");
    let of_reports = |min_reports: u32, shown: f64| {
        let slow = [(116.0, 0.01), (116.5, 0.011), (117.0, 0.012), (116.0 + shown, 0.01 + 0.01 * shown as f32)];
        let phase = Phase::maps(9).took(&[22.0; 3]).runs((3, 0), 0, 100.0, &slow).shim();
        let params = MantriParams { period_of_typical: 0.04, min_reports, ..MantriParams::default() };
        last(phase, 116.0 + shown, &params).verdict
    };
    assert_eq!(of_reports(1, 1.5), Verdict::TooFewReports, "one report is enough to judge it, and not to kill it");
    assert_eq!([of_reports(1, 2.4), of_reports(3, 2.4)], [Verdict::Decided; 2], "nor is it an eighth for each report");
    let long = |shown: f64| {
        let slow = [(300.0, 0.01), (300.0 + shown, 0.01 + 0.0002 * shown as f32)];
        let phase = Phase::maps(9).took(&[200.0; 3]).runs((3, 0), 0, 100.0, &slow).shim();
        last(phase, 300.0 + shown, &MantriParams::default()).action
    };
    assert_eq!((long(9.0), long(10.0)), (Action::Duplicate, Action::Restart), "no longer than the longest Delta");
}

#[test]
fn line_3_withdraws_a_copy_beyond_the_fastest_two_once_delta_has_passed_since_its_begin() {
    let at_age = |age: f64, reports: &[(f64, f32)]| {
        let two = beside([10.0; 3], 2.0).runs((3, 1), 0, 100.0, &[(102.0, 0.125)]);
        last(two.runs((3, 2), 0, 105.0, reports), 105.0 + age, &at_once())
    };
    let slowest = [(105.9, 0.01)];
    let kept = at_age(1.0, &slowest);
    assert_eq!((kept.verdict, kept.action), (Verdict::AlreadyCopied, Action::Duplicate), "Delta is a tenth of 10 s");
    assert_eq!(at_age(1.001, &[]).verdict, Verdict::AlreadyCopied, "before its first report it may be the fastest");
    let ended = at_age(1.001, &slowest);
    assert_eq!((ended.verdict, ended.action, ended.attempt.number), (Verdict::Decided, Action::Withdraw, 2));
}

#[test]
fn a_copy_that_waits_for_its_container_is_one() {
    let waits = beside([10.0; 3], 2.0).is((3, 1), AttemptState::Starting);
    assert_eq!(last(waits, 102.0, &at_once()).verdict, Verdict::AlreadyCopied);
    assert_eq!(last(beside([10.0; 3], 2.0), 102.0, &at_once()).verdict, Verdict::Decided);
}

#[test]
fn line_6_kills_a_task_no_fourth_time_and_none_that_a_restart_gains_less_than_delta() {
    let waiting = |restarts: u32, reported: f64| {
        let killed = (1..=restarts).fold(Phase::maps(9).took(&[10.0; 3]), |phase, number| {
            let ended = 50.0 + 10.0 * f64::from(number);
            phase.ended((3, number), 0, AttemptState::Killed, [ended - 10.0, ended])
        });
        let phase = killed.runs((3, 0), 0, 100.0, &[(100.0 + reported, 0.0625)]).shim();
        let judged = last(phase, 100.0 + reported, &MantriParams { delta: 1.0, ..at_once() });
        (judged.verdict, judged.action)
    };
    assert_eq!(waiting(2, 2.0), (Verdict::Decided, Action::Restart));
    assert_eq!(waiting(3, 2.0), (Verdict::RestartsSpent, Action::Duplicate));
    // 15/16 of .72 s each: more than t_new, and less than Delta more.
    assert_eq!((waiting(0, 0.72).0, waiting(0, 0.6).0), (Verdict::GainTooSmall, Verdict::NoGain));
}

#[test]
fn line_6_counts_restarts_that_were_decided_on_though_a_copy_ran_beside_what_was_killed() {
    let with = |times| {
        let mut phase = Phase::maps(9).took(&[10.0; 3]).runs((3, 0), 0, 100.0, &[(102.0, 0.0625)]).shim();
        let mut view = phase.view(102.0);
        view.past.restarts = [(view.contenders[0].id, times)].into();
        judge(&view, &MantriParams { delta: 1.0, ..at_once() }).remove(0).verdict
    };
    assert_eq!([with(2), with(3)], [Verdict::Decided, Verdict::RestartsSpent]);
}

#[test]
fn a_copy_that_line_7_asks_for_goes_before_the_jobs_own_tasks_where_that_can_be_done() {
    let early = |first, total| {
        let mut phase = Phase::maps(total).took(&[10.0; 3]).runs((3, 0), 0, 100.0, &[(102.0, 0.0625)]).shim();
        phase.job.can.copy_first = first;
        let view = View { can_restart: false, ..phase.view(102.0) };
        let judged = judge(&view, &at_once()).remove(0);
        assert_eq!((judged.verdict, judged.action), (Verdict::Decided, Action::Duplicate));
        judged.early
    };
    assert_eq!([early(true, 9), early(false, 9)], [true, false]);
    assert!(!early(true, 4), "line 10 has free slots");
}

#[test]
fn a_copys_time_is_the_other_tasks_however_far_this_one_falls_behind() {
    // A quarter done: its own time, four times its age, is known, and was a fourth of all.
    let at_age = |age: f64| {
        let phase =
            Phase::maps(5).took(&[10.0; 3]).runs((3, 0), 0, 100.0, &[(100.0 + age / 2.0, 0.125), (100.0 + age, 0.25)]);
        last(phase.shim(), 100.0 + age, &MantriParams { period_min: secs(1.0), ..at_once() })
    };
    for age in [8.0, 20.0, 80.0] {
        let judged = at_age(age);
        assert_eq!((judged.verdict, judged.numbers.fresh_copy), (Verdict::Decided, Some(secs(10.0))), "after {age} s");
    }
    let others = |min_evidence| {
        let phase = Phase::maps(5).took(&[10.0; 3]).runs((3, 0), 0, 100.0, &[(110.0, 0.125), (120.0, 0.25)]);
        last(phase.shim(), 120.0, &MantriParams { min_evidence, ..at_once() }).verdict
    };
    assert_eq!((others(3), others(4)), (Verdict::Decided, Verdict::TooFewFinished), "nor is it evidence");
}

#[test]
fn a_task_whose_copies_are_all_slow_is_restarted_by_its_slowest_and_by_none_that_need_not_have_reported_yet() {
    let beside = |other: &[(f64, f32)], now: f64, joins: bool| {
        let phase = Phase::maps(9).took(&[10.0; 3]).runs((3, 0), 0, 50.0, &[(60.0, 0.0625), (70.0, 0.125)]);
        let mut phase = phase.runs((3, 1), 1, 58.0, other).shim();
        let view = View { past: Past { joins, ..Past::default() }, ..phase.view(now) };
        let judged = judge(&view, &MantriParams { delta: 1.0, ..at_once() }).pop().unwrap();
        (judged.verdict, judged.action, judged.attempt.number)
    };
    let copied = |other: &[(f64, f32)], now: f64| beside(other, now, true);
    assert_eq!(beside(&[(64.0, 0.03), (70.0, 0.06)], 70.0, false).0, Verdict::AlreadyCopied, "whoever started it");
    // The second one's start takes a while, and then it is faster, or slower.
    assert_eq!(copied(&[], 70.0).0, Verdict::AlreadyCopied);
    assert_eq!(copied(&[(64.0, 0.125), (70.0, 0.25)], 70.0), (Verdict::Decided, Action::Restart, 0));
    assert_eq!(copied(&[(64.0, 0.03), (70.0, 0.06)], 70.0), (Verdict::Decided, Action::Restart, 1));
    assert_eq!(copied(&[(64.0, 0.4), (70.0, 0.9)], 70.0).0, Verdict::NoGain, "the task ends with its fastest");
}

#[test]
fn what_a_restart_would_kill_has_shown_its_own_pace_and_not_the_oldest_attempt_in_its_place() {
    let slowest = |reports: &[(f64, f32)]| {
        let slow = [(150.0, 0.0625), (160.0, 0.07), (170.0, 0.08)];
        let phase = Phase::maps(9).took(&[100.0; 3]).runs((3, 0), 0, 50.0, &slow).runs((3, 1), 1, 130.0, reports);
        let mut phase = phase.shim();
        let view = View { past: Past { joins: true, ..Past::default() }, ..phase.view(170.0) };
        let judged = judge(&view, &MantriParams { copies_max: 2, ..MantriParams::default() }).pop().unwrap();
        (judged.verdict, judged.action, judged.attempt.number)
    };
    assert_eq!(slowest(&[(150.0, 0.01), (170.0, 0.011)]), (Verdict::Decided, Action::Restart, 1));
    assert_ne!(slowest(&[(170.0, 0.01)]).1, Action::Restart, "that may have been the start of its JVM");
}

#[test]
fn line_3_withdraws_what_should_have_reported_and_never_has_before_a_younger_one() {
    let two = beside([10.0; 3], 20.0).runs((3, 1), 0, 100.0, &[]);
    let judged = last(two.runs((3, 2), 0, 118.0, &[]), 123.1, &at_once());
    assert_eq!((judged.action, judged.attempt.number), (Action::Withdraw, 1));
}
