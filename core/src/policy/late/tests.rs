use super::*;
use crate::estimate::FreshCopy;
use crate::model::AttemptState;
use crate::policy::tests::{Phase, at, left, secs};

/// Four tasks of 10 s, and one that has run for a minute.
fn one_beside_four() -> Phase {
    Phase::maps(5).took(&[10.0; 4]).runs((4, 0), 0, 0.0, &[(30.0, 0.25), (60.0, 0.5)]).shim()
}

/// A copy takes 16 s on average.
const FRESH: FreshCopy = FreshCopy { mean: Millis(16_000), start: Millis(0), spread: Millis(2_000), evidence: 4 };

/// The only running task, where it has so much left: (mean, spread), seconds.
fn with_left(params: &LateParams, remains: Option<(f64, f64)>) -> Judged {
    let mut phase = one_beside_four();
    let mut view = View { fresh: Some(FRESH), ..phase.view(60.0) };
    view.contenders[0].left = remains.and_then(|(mean, spread)| left(mean, spread));
    judge(&view, params).remove(0)
}

#[test]
fn a_twentieth_of_the_tasks_three_at_least_but_no_more_than_half_must_have_finished() {
    let needed = |total| LateParams::default().finished_needed(total);
    let of = [1, 2, 3, 4, 5, 6, 10, 60, 61, 100].map(needed);
    assert_eq!(of, [1, 1, 1, 2, 2, 3, 3, 3, 4, 5]);
    assert_eq!(LateParams::paper().finished_needed(100), 0);
}

#[test]
fn empty_maps_are_not_among_those_that_must_have_finished_nor_among_those_of_which_a_share_must_have() {
    let verdict = |done: u32| {
        // Twenty maps of empty files, and two of data.
        let phase = (0..20).fold(Phase::maps(22).took(&[1.0; 20]), |phase, index| phase.split(index, 0));
        let phase = (20..20 + done).fold(phase, |phase, index| phase.done(index, 0, [0.0, 10.0]));
        let phase = (20..22).fold(phase, |phase, index| phase.split(index, 100));
        judge(&phase.runs((21, 0), 0, 0.0, &[(30.0, 0.25), (60.0, 0.3)]).view(60.0), &LateParams::default())
            .remove(0)
            .verdict
    };
    assert_eq!([0, 1].map(verdict), [Verdict::TooFewFinished, Verdict::Decided]);
}

#[test]
fn without_a_factor_what_is_slow_is_the_papers_percentile_of_the_rates() {
    let mut phase = Phase::maps(5).took(&[10.0, 5.0, 4.0, 2.0]).runs((4, 0), 0, 0.0, &[(1.0, 0.75)]);
    let view = phase.view(1.0);
    assert!((slow_below(&view, &LateParams::paper()) - 0.2).abs() < 1e-12, "of .1, .2, .25, .5 and its own .75");
    assert!((slow_below(&view, &LateParams::default()) - 1.0 / 6.75).abs() < 1e-12, "1.5 typical runs of 4.5 s");
}

#[test]
fn the_task_that_the_percentile_is_taken_from_is_not_below_it_by_a_rounding() {
    for second in 60..120 {
        let mut phase = Phase::maps(1).runs((0, 0), 0, 0.0, &[(f64::from(second), 0.3)]);
        let judged = judge(&phase.view(f64::from(second)), &LateParams::paper()).remove(0);
        assert_eq!(judged.verdict, Verdict::NotSlow, "after {second} s");
    }
}

#[test]
fn what_is_too_young_is_looked_at_again_when_it_is_old_enough() {
    let judged = |age: f64| {
        let mut phase = Phase::maps(5).took(&[10.0; 4]).runs((4, 0), 0, 20.0, &[(20.0 + age, 0.1)]);
        let view = phase.view(20.0 + age);
        judge(&view, &LateParams { min_reports: 0, ..LateParams::default() }).remove(0)
    };
    let young = judged(9.999);
    assert_eq!((young.verdict, young.recheck), (Verdict::TooYoung, Some(at(30.0))));
    assert_ne!(judged(10.0).verdict, Verdict::TooYoung);
}

#[test]
fn what_is_silent_is_looked_at_again_when_its_silence_tells() {
    let judged = |age: f64| {
        let mut phase = Phase::maps(5).took(&[10.0; 4]).runs((4, 0), 3, 20.0, &[]);
        judge(&phase.view(20.0 + age), &LateParams::default()).remove(0)
    };
    let silent = judged(15.0);
    assert_eq!((silent.verdict, silent.recheck), (Verdict::Silent, Some(at(42.001))), "twice its peers' 10 s, and two");
    assert_eq!((judged(22.0).verdict, judged(22.001).verdict), (Verdict::Silent, Verdict::Decided));
}

#[test]
fn one_report_is_waited_beyond_until_twice_the_age() {
    let judged = |age: f64| {
        let peers = (0..4).fold(Phase::maps(5), |phase, index| phase.runs((index, 0), 0, 0.0, &[(1.0, 0.75)]));
        let phase = peers.took(&[10.0; 4]).runs((4, 0), 0, 20.0, &[(21.0, 0.52)]);
        judge(&phase.shim().view(20.0 + age), &LateParams::default()).remove(0)
    };
    let once = judged(19.999);
    assert_eq!((once.verdict, once.recheck), (Verdict::TooFewReports, Some(at(40.0))));
    assert_eq!((judged(20.0).verdict, judged(20.0).recheck), (Verdict::Decided, None));
}

#[test]
fn one_report_is_enough_of_what_by_then_had_done_less_than_its_peers_by_a_third_of_the_work() {
    let at = |first: f32, peers: Option<f32>, shim: bool, second: f64| {
        let told = |phase: Phase, index| match peers {
            Some(score) => phase.runs((index, 0), 0, 0.0, &[(3.0, score)]),
            None => phase,
        };
        let mut phase = (0..4).fold(Phase::maps(5), told).took(&[10.0; 4]).runs((4, 0), 0, 20.0, &[(28.0, first)]);
        phase.job.shim = shim;
        phase = (0..5).fold(phase, |phase, index| phase.split(index, 10));
        judge(&phase.view(second), &LateParams::default())[0].verdict
    };
    let verdict = |first, peers, shim| at(first, peers, shim, 34.5);
    use Verdict::{Decided, TooFewReports, TooYoung};
    assert_eq!(verdict(0.25, None, true), Decided, "they ended before any");
    assert_eq!(verdict(0.25, Some(0.59), true), Decided);
    assert_eq!(verdict(0.25, Some(0.57), true), TooFewReports);
    let soon = [0.59, 0.57].map(|peers| at(0.25, Some(peers), true, 30.5));
    assert_eq!(soon, [Decided, TooYoung], "nor has it to work on for half of their time");
    assert_eq!(verdict(0.25, None, false), TooFewReports, "over REST a report is seen when it is asked for");
}

#[test]
fn a_report_is_waited_for_while_its_rhythm_lets_it_be_late_where_reports_are_asked_for_at_all() {
    let verdict = |params: &LateParams, age: f64| {
        let mut phase = Phase::maps(5).took(&[10.0; 4]).runs((4, 0), 0, 0.0, &[]).shim();
        phase.job.settings = Some(crate::model::JobSettings { report_interval: Millis(60_000), ..Default::default() });
        judge(&phase.view(age), params)[0].verdict
    };
    let patient = LateParams { min_reports: 2, slow_factor: 0.0, slow_task_percentile: 1.0, ..LateParams::default() };
    assert_eq!(verdict(&patient, 100.0), Verdict::Silent, "what its age tells beside its peers is for the factor");
    assert_eq!(verdict(&patient, 131.0), Verdict::Silent, "two intervals, a second and ten for its JVM");
    assert_eq!(verdict(&patient, 131.1), Verdict::Decided, "standing still is not too few reports");
    assert_eq!(verdict(&LateParams { min_reports: 0, ..patient }, 100.0), Verdict::Decided);
    assert_eq!(verdict(&LateParams { slow_factor: 1.5, ..patient }, 22.0), Verdict::Silent);
    assert_eq!(verdict(&LateParams { slow_factor: 1.5, ..patient }, 22.1), Verdict::Decided);
}

#[test]
fn what_should_have_reported_and_never_has_is_not_one_that_reported_too_seldom() {
    let begun = |phase: Phase, index| phase.runs((index, 0), 0, 0.0, &[(8.0, 0.05)]);
    let verdict = |begun: &dyn Fn(Phase, u32) -> Phase, age: f64| {
        let mut phase = (0..4).fold(Phase::maps(5), begun).took(&[100.0; 4]).runs((4, 0), 0, 0.0, &[]).shim();
        judge(&phase.view(age), &LateParams::default())[0].verdict
    };
    assert_eq!(verdict(&begun, 130.0), Verdict::Decided);
    let unheard = |age| verdict(&|phase, index| phase.runs((index, 0), 0, 0.0, &[]), age);
    let unwatched = |age| verdict(&|phase, _| phase, age);
    assert_eq!(unwatched(130.0), Verdict::Decided, "of peers that were heard of at their end nobody knows");
    assert_eq!([130.0, 202.0, 202.1].map(unheard), [Verdict::Silent, Verdict::Silent, Verdict::Decided], "no peer did");
}

#[test]
fn more_data_excuses_only_where_tasks_are_set_against_the_typical_run() {
    let verdict = |params: &LateParams| {
        let mut phase = (0..4).fold(one_beside_four(), |phase, index| phase.split(index, 10)).split(4, 120);
        judge(&phase.view(60.0), params)[0].verdict
    };
    let of_percentile =
        LateParams { slow_factor: 0.0, slow_task_percentile: 1.0, min_gain: 0.0, ..LateParams::default() };
    assert_eq!((verdict(&LateParams::default()), verdict(&of_percentile)), (Verdict::MoreData, Verdict::Decided));
}

#[test]
fn input_that_nobody_has_told_is_waited_for_until_twice_the_age() {
    let judged = |age: f64| {
        let mut phase = Phase::maps(5).took(&[10.0; 4]).runs((4, 0), 0, 0.0, &[(5.0, 0.01), (10.0, 0.05)]);
        judge(&phase.view(age), &LateParams::default()).remove(0)
    };
    let unknown = judged(19.999);
    assert_eq!((unknown.verdict, unknown.recheck), (Verdict::InputUnknown, Some(at(20.0))));
    assert_eq!(judged(20.0).verdict, Verdict::Decided);
}

#[test]
fn a_gain_of_a_quarter_of_a_copys_time_is_worth_one_and_none_is_none() {
    let sure = LateParams { min_win_probability: 0.0, ..LateParams::default() };
    let verdict = |mean| with_left(&sure, Some((mean, 0.0))).verdict;
    assert_eq!((verdict(20.0), verdict(19.999)), (Verdict::Decided, Verdict::GainTooSmall));
    assert_eq!(
        (verdict(16.001), verdict(16.0), verdict(12.0)),
        (Verdict::GainTooSmall, Verdict::NoGain, Verdict::NoGain,)
    );
}

#[test]
fn a_copy_that_wins_as_likely_as_it_must_is_worth_it_and_one_that_is_less_likely_to_is_not() {
    let remains = Some((24.0, 8.0));
    let likely = with_left(&LateParams::default(), remains).numbers.win_probability.unwrap();
    assert!((likely - 0.834).abs() < 1e-3, "8 s of gain by the root of 8² + 2²: {likely}");
    let verdict =
        |min_win_probability| with_left(&LateParams { min_win_probability, ..LateParams::default() }, remains).verdict;
    assert_eq!((verdict(likely), verdict(likely + 1e-9)), (Verdict::Decided, Verdict::GainTooSmall));
}

#[test]
fn what_has_no_end_in_sight_may_need_as_long_again_as_it_has_run() {
    let verdict = |elapsed: f64| {
        let mut phase = one_beside_four();
        let mut view = View { fresh: Some(FRESH), ..phase.view(60.0) };
        (view.contenders[0].left, view.contenders[0].elapsed) = (None, secs(elapsed));
        let params = LateParams { slow_task_percentile: 1.0, slow_factor: 0.0, ..LateParams::default() };
        judge(&view, &params)[0].verdict
    };
    assert_eq!((verdict(20.0), verdict(19.999)), (Verdict::Decided, Verdict::GainTooSmall));
    assert_eq!(with_left(&LateParams::default(), None).rank, f64::INFINITY);
}

#[test]
fn a_committing_task_is_no_candidate() {
    let mut phase = one_beside_four().is((4, 0), AttemptState::CommitPending);
    assert_eq!(judge(&phase.view(60.0), &LateParams::default())[0].verdict, Verdict::Committing);
}
