use super::super::dist::Dist;
use super::super::scenario::Scores;
use super::*;

const MAPS_ALONE: Scoring = Scoring { has_reduces: false, of: Scores::Hadoop };
const MAPS_SORT: Scoring = Scoring { has_reduces: true, ..MAPS_ALONE };

fn every(interval_ms: u64) -> Reporting<'static> {
    Reporting { every: Millis(interval_ms), jitter: None }
}

fn attempt(kind: TaskKind) -> Attempt {
    Attempt::new(0, kind, 0, 0, false, 0, Time(0))
}

#[test]
fn a_stage_takes_as_much_longer_as_its_pace_is_lower_from_the_turn_on() {
    let mut map = attempt(TaskKind::Map);
    assert_eq!(map.begin(Stage::Work, 10_000.0, 1.0, Time(1_000)), Time(11_000));
    assert_eq!(map.turn(0.1, Time(6_000)), Time(56_000));
    assert_eq!(map.turn(1.0, Time(16_000)), Time(20_000));
    assert_eq!(map.clone().finish(Time(19_990)), 10.0, "too soon");
    assert_eq!(map.clone().finish(Time(20_001)), 0.0, "stages end on whole milliseconds");
    assert_eq!(map.clone().finish(Time(20_011)), 10.0, "too late");
    assert_eq!(map.finish(Time(20_000)), 0.0);
    map.begin(Stage::Commit, 0.0, 1.0, Time(20_000));
    assert_eq!(map.worked(Time(20_000)), 10_000.0);
}

#[test]
fn a_map_with_reduces_stands_at_two_thirds_when_it_has_read_all() {
    let mut map = attempt(TaskKind::Map);
    map.begin(Stage::Work, 10_000.0, 1.0, Time(0));
    map.will_report(Time(5_000), Draw::default());
    map.note_report(every(1_000), MAPS_SORT, Time(7_400));
    assert_eq!(map.report, Some(Report { at: Time(7_000), score: 0.7 * 2.0 / 3.0, stage: Stage::Work, count: 3 }));
    assert!((map.read(MAPS_SORT) - 0.7).abs() < 1e-6);
    map.report = None;
    map.note_report(every(1_000), MAPS_ALONE, Time(7_400));
    assert_eq!(map.report.map(|report| report.score), Some(0.7));
}

#[test]
fn a_map_that_has_mapped_all_says_that_it_sorts_where_there_are_reduces() {
    let said = |scoring| {
        let mut map = attempt(TaskKind::Map);
        map.begin(Stage::Commit, 900.0, 1.0, Time(10_000));
        map.speak(scoring, Time(10_300));
        map.report.map(|report| (report.score, report.stage.phase(TaskKind::Map)))
    };
    assert_eq!(said(MAPS_SORT), Some((7.0 / 9.0, Phase::Sort)));
    assert_eq!(said(MAPS_ALONE), Some((1.0, Phase::Sort)), "MapTask says so then, too, and it has no weight");
}

#[test]
fn what_was_said_before_a_turn_is_what_held_then() {
    let mut map = attempt(TaskKind::Map);
    map.begin(Stage::Work, 10_000.0, 1.0, Time(0));
    map.will_report(Time(3_000), Draw::default());
    map.note_report(every(3_000), MAPS_ALONE, Time(5_000));
    map.turn(0.5, Time(5_000));
    map.note_report(every(3_000), MAPS_ALONE, Time(5_500));
    assert_eq!(map.report.map(|report| (report.at, report.score)), Some((Time(3_000), 0.3)));
    map.note_report(every(3_000), MAPS_ALONE, Time(6_000));
    assert_eq!(map.report.map(|report| (report.at, report.score)), Some((Time(6_000), 0.55)));
}

#[test]
fn a_report_that_is_late_says_what_holds_when_it_comes() {
    let said = |jitter: &str, at: u64| {
        let mut map = attempt(TaskKind::Map);
        map.begin(Stage::Work, 10_000.0, 1.0, Time(0));
        map.will_report(Time(3_000), Draw::default());
        let jitter: Dist = serde_json::from_str(jitter).unwrap();
        map.note_report(Reporting { every: Millis(3_000), jitter: Some(&jitter) }, MAPS_ALONE, Time(at));
        map.report.map(|report| (report.at.0, report.score, report.count))
    };
    assert_eq!(said("2", 4_999), None);
    assert_eq!(said("2", 5_000), Some((5_000, 0.5, 1)));
    assert_eq!(said("2", 7_999), Some((5_000, 0.5, 1)), "the second would have come at 6 s");
    assert_eq!(said("2", 8_000), Some((8_000, 0.8, 2)));
    let either = r#"{"mixture": [[1, 0], [1, 2.5]]}"#;
    let late: Vec<u64> = (1..30).filter_map(|nth| Some(said(either, nth * 3_000 + 2_999)?.0 % 3_000)).collect();
    assert!(late.contains(&0) && late.contains(&2_500), "each report has a draw of its own: {late:?}");
}

#[test]
fn a_score_of_work_alone_says_nothing_before_it_begins() {
    let mut reduce = attempt(TaskKind::Reduce);
    let score = |reduce: &mut Attempt, of: Scores, at: u64| {
        reduce.speak(Scoring { has_reduces: true, of }, Time(at));
        reduce.report.map(|report| report.score)
    };
    let both = |reduce: &mut Attempt, at| [Scores::Work, Scores::Hadoop].map(|of| score(reduce, of, at));
    reduce.begin(Stage::Copy, 1_000.0, 1.0, Time(0));
    assert_eq!(both(&mut reduce, 750), [0.0, 0.25].map(Some));
    reduce.begin(Stage::Sort, 1_000.0, 1.0, Time(1_000));
    assert_eq!(both(&mut reduce, 1_500), [0.0, 0.5].map(Some));
    reduce.begin(Stage::Work, 1_000.0, 1.0, Time(2_000));
    assert_eq!(both(&mut reduce, 2_250), [0.25, 0.75].map(Some));
}

#[test]
fn one_that_never_reports_says_nothing() {
    let mut map = attempt(TaskKind::Map);
    map.begin(Stage::Work, 10_000.0, 1.0, Time(0));
    map.note_report(every(1_000), MAPS_ALONE, Time(9_000));
    assert_eq!(map.report, None);
}

#[test]
fn a_reduce_reads_no_further_than_maps_have_written_and_its_score_is_a_third_for_each_stage() {
    let mut reduce = attempt(TaskKind::Reduce);
    reduce.begin(Stage::Copy, 9_000.0, 1.0, Time(0));
    reduce.will_report(Time(0), Draw::default());
    let until = |reduce: &mut Attempt, limit, at| {
        reduce.may_read(limit, Time(at));
        reduce.goes_on_until(Time(at))
    };
    assert_eq!(until(&mut reduce, 0.0, 0), None);
    assert_eq!(until(&mut reduce, 0.5, 1_000), Some(Time(5_500)), "it stands still until then, and from then on");
    reduce.note_report(every(1), MAPS_SORT, Time(30_000));
    assert_eq!(reduce.report.map(|report| report.score), Some(0.5 / 3.0));
    assert_eq!(reduce.goes_on_until(Time(30_000)), None);
    assert_eq!(until(&mut reduce, 1.0, 30_000), Some(Time(34_500)));
    assert_eq!(reduce.finish(Time(34_500)), 0.0);
    assert_eq!(reduce.begin(Stage::Sort, 1_000.0, 0.5, Time(34_500)), Time(36_500));
    reduce.note_report(every(1), MAPS_SORT, Time(35_500));
    assert_eq!(reduce.report.map(|report| report.score), Some(0.5));
}

#[test]
fn two_clones_that_share_an_output_take_what_the_paper_says() {
    // §4.4, T_C, with r/B = 10 s, ω = 3 s and α = .5: ω + 7/.5, and 2 ω + 7/.5 after the first began.
    let mut clones = [attempt(TaskKind::Reduce), attempt(TaskKind::Reduce)];
    let unread = |clone: &Attempt, at| clone.unread(0, Time(at));
    let mut begin = |clone: usize, at, millis| {
        clones[clone].begin(Stage::Copy, 10_000.0, 1.0, Time(at));
        clones[clone].reads.resize(1, None);
        clones[clone].give(0, 0, millis);
        clones[clone].read_on(10_000.0, Time(at));
        clones[clone].goes_on_until(Time(at))
    };
    assert_eq!(begin(0, 0, 10_000.0), Some(Time(10_000)));
    assert_eq!(begin(1, 3_000, 3_000.0 + 7_000.0 / 0.5), Some(Time(20_000)));
    assert!((unread(&clones[0], 3_000) - 0.7).abs() < 1e-9);
    clones[0].reads[0] = Some(Read { nth: 0, output: 0, millis: 17_000.0 });
    clones[0].read_on(10_000.0, Time(3_000));
    assert_eq!(clones[0].goes_on_until(Time(3_000)), Some(Time(17_000)));
    assert_eq!(clones[0].finish(Time(17_000)), 0.0);
    clones[0].begin(Stage::Sort, 0.0, 1.0, Time(17_000));
    assert!((clones[0].worked(Time(17_000)) - 10_000.0).abs() < 1e-9, "contention is no work of its own");
    assert_eq!(unread(&clones[0], 17_000), 0.0);
}

#[test]
fn a_clone_reads_what_it_was_given_in_that_order_and_waits_for_the_rest() {
    let mut clone = attempt(TaskKind::Reduce);
    clone.begin(Stage::Copy, 8_000.0, 1.0, Time(0));
    clone.reads.resize(2, None);
    clone.give(1, 0, 4_000.0);
    clone.read_on(4_000.0, Time(0));
    assert_eq!(clone.goes_on_until(Time(0)), Some(Time(4_000)));
    assert_eq!((clone.unread(1, Time(1_000)), clone.unread(0, Time(1_000))), (0.75, 1.0));
    clone.give(0, 1, 4_000.0);
    clone.read_on(4_000.0, Time(6_000));
    assert_eq!(clone.goes_on_until(Time(6_000)), Some(Time(10_000)), "it stood still for two seconds");
}

#[test]
fn a_place_that_is_used_again_takes_no_event_of_the_one_before() {
    let mut all = Attempts::default();
    let first = all.add(attempt(TaskKind::Map));
    all.get_mut(first).begin(Stage::Work, 5.0, 1.0, Time(0));
    let version = all.get(first).version;
    all.remove(first);
    let second = all.add(attempt(TaskKind::Map));
    assert_eq!(second, first);
    assert!(all.get(second).version > version);
}
