use super::*;
use crate::model::Track;

const TWO_PHASES: Shape = Shape { ends: &[0.5, 1.0] };

/// LATE §4.2, Fig. 2: 5 %/s to half, then 1 %/s; looked at at 20 s.
fn fig2(started_s: u64) -> Sample {
    let mut track = Track::default();
    let now = 20;
    for second in started_s + 1..=now {
        let age = (second - started_s) as f32;
        let score = if age <= 10.0 { 0.05 * age } else { 0.5 + 0.01 * (age - 10.0) };
        track.add(score, Time(1_000_000 + second * 1000));
    }
    let second = (now > started_s + 10).then_some(Time(1_000_000 + (started_s + 10) * 1000));
    Sample {
        launched: Time(1_000_000 + started_s * 1000),
        started: Time(1_000_000 + started_s * 1000),
        track,
        phase: None,
        entered: [second, None],
        heard: NOW,
        rhythm: Millis(1000),
        reading: None,
    }
}

const NOW: Time = Time(1_020_000);

#[test]
fn late_gives_the_papers_wrong_order_of_13_3_and_10_seconds() {
    let left = |s| {
        let left =
            Estimator::Late.time_left(&fig2(s), TWO_PHASES, &PhaseTimes::default(), Spreads::UNMEASURED, NOW).unwrap();
        left.mean.as_secs_f64()
    };
    assert!((left(0) - 13.333).abs() < 1e-3, "{}", left(0));
    assert!((left(10) - 10.0).abs() < 1e-3, "{}", left(10));
}

#[test]
fn phase_aware_gives_the_right_order_of_40_and_50_seconds() {
    let times = PhaseTimes { typical: [Some(Millis(10_000)), Some(Millis(50_000)), None] };
    let left = |s| {
        Estimator::PhaseAware
            .time_left(&fig2(s), TWO_PHASES, &times, Spreads::UNMEASURED, NOW)
            .unwrap()
            .mean
            .as_secs_f64()
    };
    assert!((left(0) - 40.0).abs() < 0.01, "{}", left(0));
    assert!((left(10) - 50.0).abs() < 0.01, "{}", left(10));
}

#[test]
fn an_attempt_beyond_its_rhythm_is_taken_to_stand_still() {
    let mut sample = fig2(0);
    sample.rhythm = Millis(3000);
    let times = PhaseTimes::default();
    let at = |later: u64| {
        let now = NOW + Millis(later);
        let sample = Sample { heard: now, ..sample };
        Estimator::PhaseAware.time_left(&sample, TWO_PHASES, &times, Spreads::UNMEASURED, now).unwrap().mean
    };
    assert_eq!(at(0) - at(2000), Millis(2000));
    assert!(at(5000) > at(0) && at(9000) > at(5000), "time that passes without progress is lost");
}

#[test]
fn an_attempt_that_turns_slow_late_is_judged_by_the_pace_of_the_moment() {
    let mut track = Track::default();
    let times = PhaseTimes { typical: [Some(Millis(4_000)), None, None] };
    let left = |track: Track, at: u64| {
        let now = Time(1_000_000 + at);
        let sample = Sample {
            launched: Time(1_000_000),
            started: Time(1_000_000),
            track,
            phase: None,
            entered: [None; 2],
            heard: now,
            rhythm: Millis(2_000),
            reading: None,
        };
        let shape = super::super::phase::MAP_ONLY;
        Estimator::PhaseAware.time_left(&sample, shape, &times, Spreads::UNMEASURED, now).unwrap().mean.as_secs_f64()
    };
    for ms in (500..=2_000).step_by(500) {
        track.add(ms as f32 / 4_000.0, Time(1_000_000 + ms));
    }
    assert!((left(track, 2_000) - 2.0).abs() < 0.01);
    // From half of the way on ten times slower: 20 s are left.
    for ms in (2_500..=5_000).step_by(500) {
        track.add(0.5 + (ms - 2_000) as f32 / 40_000.0, Time(1_000_000 + ms));
    }
    assert!((left(track, 5_000) - 17.0).abs() < 0.1, "{}", left(track, 5_000));
    // It has just entered another eighth of its way, and is as slow as before.
    for ms in (5_500..=8_000).step_by(500) {
        track.add(0.5 + (ms - 2_000) as f32 / 40_000.0, Time(1_000_000 + ms));
    }
    assert!((left(track, 7_500) - 14.5).abs() < 0.6, "{}", left(track, 7_500));
}

#[test]
fn a_late_start_is_not_slowness() {
    let mut track = Track::default();
    track.add(0.1, Time(9_000));
    track.add(0.6, Time(11_000));
    let sample = Sample {
        launched: Time(1_000),
        started: Time(1_000),
        track,
        phase: None,
        entered: [None; 2],
        heard: Time(11_000),
        rhythm: Millis(1000),
        reading: None,
    };
    let shape = super::super::phase::MAP_ONLY;
    let left = Estimator::PhaseAware
        .time_left(&sample, shape, &PhaseTimes::default(), Spreads::UNMEASURED, Time(11_000))
        .unwrap();
    assert!((left.mean.as_secs_f64() - 1.6).abs() < 0.01, "{left:?}");
}

#[test]
fn no_progress_gives_no_estimate() {
    let sample = Sample {
        launched: Time(1),
        started: Time(1),
        track: Track::default(),
        phase: None,
        entered: [None; 2],
        heard: Time(11_000),
        rhythm: Millis(1000),
        reading: None,
    };
    for estimator in Estimator::ALL {
        let shape = super::super::phase::MAP_ONLY;
        assert_eq!(
            estimator.time_left(&sample, shape, &PhaseTimes::default(), Spreads::UNMEASURED, Time(99_000)),
            None
        );
    }
}

#[test]
fn labels_are_those_that_settings_and_answers_go_by() {
    let labels = ["late", "phase-aware", "hadoop-legacy", "hadoop-smoothed", "hadoop-simple-exponential", "mantri"];
    assert_eq!(Estimator::ALL.map(Estimator::label), labels);
}

/// Phase-aware seconds left of a reduce launched at zero that told of these (second, score), and entered its sorting and its reducing then; looked at at its last report.
fn reduces_seconds(told: &[(u64, f32)], entered: [Option<u64>; 2], typical: [Option<u64>; 3]) -> Option<f64> {
    reduces_seconds_at(told.last()?.0, told, entered, typical)
}

/// The same of one that was looked at at that second, its job heard of, and itself not since its last report.
fn reduces_seconds_at(
    second: u64,
    told: &[(u64, f32)],
    entered: [Option<u64>; 2],
    typical: [Option<u64>; 3],
) -> Option<f64> {
    let at = |second: u64| Time(1_000_000 + second * 1000);
    let mut track = Track::default();
    told.iter().for_each(|(second, score)| track.add(*score, at(*second)));
    let now = at(second);
    let sample = Sample {
        launched: at(0),
        started: at(0),
        track,
        phase: None,
        entered: entered.map(|second| second.map(at)),
        heard: now,
        rhythm: Millis(1000),
        reading: None,
    };
    let times = PhaseTimes { typical: typical.map(|second| second.map(|second| Millis(second * 1000))) };
    phase_aware_seconds(&sample, super::super::phase::REDUCE, &times, now)
}

fn close(told: Option<f64>, seconds: f64) -> bool {
    told.is_some_and(|told| (told - seconds).abs() < 0.01)
}

#[test]
fn the_phases_to_come_take_what_others_took_or_else_as_long_for_their_share_as_the_current_one() {
    // Half of its copying in 10 s.
    let copying = |typical| reduces_seconds(&[(10, 1.0 / 6.0)], [None; 2], typical);
    assert!(close(copying([None, Some(5), Some(30)]), 45.0), "10 + 5 + 30");
    assert!(close(copying([None; 3]), 50.0), "10 + 20 + 20");
    // Half of its sorting in 5 s.
    let sorting = |typical| reduces_seconds(&[(20, 0.4), (25, 0.5)], [Some(20), None], typical);
    assert!(close(sorting([None, None, Some(30)]), 35.0), "5 + 30: {:?}", sorting([None, None, Some(30)]));
    assert!(close(sorting([None; 3]), 15.0), "5 + 10: {:?}", sorting([None; 3]));
    // A quarter of its reducing in 10 s, which alone is left.
    assert!(close(reduces_seconds(&[(60, 0.75)], [Some(20), Some(50)], [None; 3]), 30.0));
}

#[test]
fn an_attempt_that_has_just_entered_a_phase_or_just_begun_is_given_no_pace_of_its_own() {
    let third = 1.0 / 3.0;
    let sorting =
        |entered| reduces_seconds(&[(20, third), (25, third)], [Some(entered), None], [None, Some(6), Some(30)]);
    assert!(close(sorting(20), 36.0), "{:?}", sorting(20));
    assert!(close(sorting(15), 40.0), "it has been there for longer than others: {:?}", sorting(15));
    assert_eq!(reduces_seconds(&[(0, 0.2)], [None; 2], [None; 3]), None);
    assert!(close(reduces_seconds(&[(0, third / 2.0)], [None; 2], [Some(8), Some(6), Some(30)]), 40.0));
}

#[test]
fn an_attempt_that_stands_still_is_given_as_long_again_as_it_has_stood_however_little_it_lacks() {
    let typical = [Some(20), Some(10), Some(30)];
    let stands = |at: f32, entered| {
        let told = [(20, 0.3), (30, 0.6), (40, at)];
        [42, 100, 340].map(|second| reduces_seconds_at(second, &told, entered, typical).unwrap())
    };
    for (at, entered) in [(2.0 / 3.0, [Some(25), Some(39)]), (0.666, [Some(25), None]), (0.999, [Some(25), Some(35)])] {
        let [soon, later, late] = stands(at, entered);
        let again = |left: f64, stood: f64| (stood - 0.01..stood + 2.0).contains(&left);
        assert!(soon < 40.0 && again(later, 60.0) && again(late, 300.0), "{at}: {soon} {later} {late}");
    }
}

#[test]
fn silence_makes_no_time_left_shorter_whichever_report_it_follows() {
    let left = |last: u64, now: u64| {
        let mut track = Track::default();
        (6..=last).step_by(6).for_each(|second| track.add(second as f32 / 60.0, Time(1_000_000 + second * 1000)));
        let sample = Sample { track, rhythm: Millis(7_000), heard: Time(1_000_000 + now * 1000), ..fig2(0) };
        let sample = Sample { launched: Time(1_000_000), started: Time(1_000_000), entered: [None; 2], ..sample };
        let times = PhaseTimes { typical: [Some(Millis(60_000)), None, None] };
        phase_aware_seconds(&sample, super::super::phase::MAP_ONLY, &times, sample.heard).unwrap()
    };
    for last in (6..60).step_by(6) {
        let silent: Vec<_> = (last + 8..last + 200).map(|now| left(last, now)).collect();
        assert!(silent.is_sorted(), "after {last} s: {silent:?}");
        assert!(left(last, last + 8) > 60.0 - last as f64, "after {last} s");
    }
}

#[test]
fn an_old_score_that_is_told_when_a_phase_begins_is_not_taken_for_progress_within_it() {
    // A sixth of its reducing in 6 s; what it copied and sorted meanwhile it had done before.
    let told = reduces_seconds(&[(42, 0.31), (48, 2.0 / 3.0 + 1.0 / 18.0)], [Some(42), Some(42)], [None; 3]);
    assert!(close(told, 30.0), "{told:?}");
}

#[test]
fn a_score_of_zero_is_start_up_and_not_the_pace_of_the_moment() {
    // It does 3 % of its copying a second, of which it had done six before its first report.
    let told = reduces_seconds(&[(1, 0.0), (9, 0.02), (11, 0.12)], [None; 2], [Some(20), Some(0), Some(0)]);
    assert!(close(told, (1.0 / 3.0 - 0.12) / 0.05), "{told:?}");
}
