//! A recording written live and read back through the engine.

use super::format::FORMAT;
use super::*;
use crate::service::Desk;
use crate::service::fixture::{facts, job, seen};
use crate::telemetry::Metrics;
use drover_core::engine::EngineParams;
use drover_core::model::*;
use drover_core::policy::PolicyName;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs some jobs live with a recording; the decisions as they were taken.
fn live(dir: &Path, run: &str, segment_bytes: u64, max_bytes: u64) -> Vec<String> {
    let metrics = Arc::new(Metrics::new(&prometheus::Registry::new()).unwrap());
    let recorder = Recorder::start(dir, max_bytes, segment_bytes, run, metrics.clone()).unwrap();
    let mut desk = Desk::new(EngineParams::default(), 100, Some(recorder), metrics.clone());
    let mut decisions = Vec::new();
    for n in 1..=4 {
        for second in 0..40 {
            for fact in facts(job(n), second) {
                desk.observe(fact);
            }
            let pass = desk.decide(Time(100_000 + second * 1_000));
            decisions.extend(pass.decisions.iter().map(|d| serde_json::to_string(d).unwrap()));
            desk.catch_up();
        }
        if n == 2 {
            let mut params = desk.engine.params().clone();
            params.late.min_age = Millis(2_000);
            desk.set_params(Time(140_000), params);
        }
    }
    desk.finish(Time(140_000));
    assert_eq!(metrics.recording_lost.get(), 0);
    assert!(decisions.len() >= 4, "the scenario decides nothing");
    decisions
}

fn again(dir: &Path, options: Options) -> Result<(Vec<String>, Report), ReadError> {
    let mut decisions = Vec::new();
    let report = replay(&files(&[dir.to_owned()])?, options, &mut |_, text| {
        decisions.push(text.to_owned());
        Ok(())
    })?;
    Ok((decisions, report))
}

const CHECK: Options = Options { policy: None, check: true, lenient: false };

fn rewrite(path: &Path, change: impl Fn(String) -> String) {
    let text = std::fs::read_to_string(path).unwrap();
    std::fs::write(path, change(text)).unwrap();
}

fn newest(dir: &Path) -> PathBuf {
    files(&[dir.to_owned()]).unwrap().pop().unwrap()
}

#[test]
fn a_replay_takes_the_same_decisions_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    let decisions = live(dir.path(), "a", 1 << 20, 1 << 30);
    let (replayed, report) = again(dir.path(), CHECK).unwrap();
    assert_eq!(replayed, decisions);
    assert_eq!((report.differences.len(), report.lost, report.segments), (0, 0, 1));
    assert!(report.dropped > 0 && report.observations > report.dropped);
}

#[test]
fn segments_carry_on_from_one_another_and_their_states_agree() {
    let dir = tempfile::tempdir().unwrap();
    let decisions = live(dir.path(), "a", 8 << 10, 1 << 30);
    let (replayed, report) = again(dir.path(), CHECK).unwrap();
    assert!(report.segments > 3, "{report:?}");
    assert_eq!((replayed, report.differences), (decisions, Vec::new()));
}

#[test]
fn a_recording_whose_oldest_segments_are_gone_still_replays() {
    let dir = tempfile::tempdir().unwrap();
    let decisions = live(dir.path(), "a", 16 << 10, 240 << 10);
    let (replayed, report) = again(dir.path(), CHECK).unwrap();
    assert_eq!(report.differences, Vec::<String>::new());
    assert!(!replayed.is_empty() && replayed.len() < decisions.len());
    assert!(decisions.ends_with(&replayed));
}

#[test]
fn what_is_missing_between_segments_or_empty_is_told_and_what_is_gone_before_the_first_is_not() {
    let dir = tempfile::tempdir().unwrap();
    live(dir.path(), "a", 8 << 10, 1 << 30);
    live(dir.path(), "b", 8 << 10, 1 << 30);
    let all = files(&[dir.path().to_owned()]).unwrap();
    let told = || {
        let report = again(dir.path(), CHECK).unwrap().1;
        (report.missing, report.empty, report.different)
    };
    assert_eq!(told(), (0, 0, 0));
    std::fs::remove_file(&all[0]).unwrap();
    assert_eq!(told(), (0, 0, 0));
    std::fs::remove_file(&all[2]).unwrap();
    assert_eq!(told(), (1, 0, 0));
    rewrite(all.last().unwrap(), |_| String::new());
    assert_eq!(told(), (1, 1, 0));
}

#[test]
fn of_many_differences_some_are_told_and_all_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    live(dir.path(), "a", 1 << 20, 1 << 30);
    rewrite(&newest(dir.path()), |text| {
        let more = text.lines().find(|line| line.starts_with("{\"decision\"")).unwrap().to_owned() + "\n";
        text.replacen(&more, &more.repeat(31), 1)
    });
    let report = again(dir.path(), CHECK).unwrap().1;
    assert_eq!((report.different, report.differences.len()), (30, 10));
}

#[test]
fn a_second_run_in_the_same_directory_starts_from_its_own_state() {
    let dir = tempfile::tempdir().unwrap();
    let mut decisions = live(dir.path(), "a", 16 << 10, 1 << 30);
    decisions.extend(live(dir.path(), "b", 16 << 10, 1 << 30));
    let (replayed, report) = again(dir.path(), CHECK).unwrap();
    assert_eq!((replayed, report.differences), (decisions, Vec::new()));
}

#[test]
fn a_last_line_cut_off_is_an_error_with_file_and_line_and_left_out_only_when_asked() {
    let dir = tempfile::tempdir().unwrap();
    live(dir.path(), "a", 1 << 20, 1 << 30);
    rewrite(&newest(dir.path()), |text| text[..text.len() - 7].to_owned());
    let lines = std::fs::read_to_string(newest(dir.path())).unwrap().lines().count();
    let error = again(dir.path(), CHECK).unwrap_err().to_string();
    assert!(error.contains(&format!("drover-00000001.jsonl:{lines}: is cut off")) && error.contains("--lenient"));
    let (_, report) = again(dir.path(), Options { lenient: true, ..CHECK }).unwrap();
    assert_eq!((report.cut_off, report.differences.len()), (1, 0));
}

#[test]
fn what_follows_on_a_line_that_was_cut_off_starts_from_its_own_state() {
    let dir = tempfile::tempdir().unwrap();
    let decisions = live(dir.path(), "a", 8 << 10, 1 << 30);
    let all = files(&[dir.path().to_owned()]).unwrap();
    // As a disk leaves it that wrote the later segment first: the end of one is missing, with facts, and no line ends there.
    rewrite(&all[1], |text| text[..text.len() * 2 / 3].trim_end().to_owned());
    let (replayed, report) = again(dir.path(), Options { lenient: true, ..CHECK }).unwrap();
    assert_eq!((report.cut_off, &report.differences), (1, &Vec::new()));
    assert!(!replayed.is_empty() && replayed.iter().all(|one| decisions.contains(one)));
}

/// Leaves the decisions of the last pass that decided anything out, and of what follows it so many lines.
fn ends_within_a_pass(path: &Path, lines: usize) {
    rewrite(path, |text| {
        let last = text.rfind("{\"decision\"").unwrap();
        let pass = text[..last].rfind("{\"decide\"").unwrap();
        let end = pass + text[pass..].find('\n').unwrap() + 1;
        let follows = text[last..].lines().skip(1).take(lines).map(|line| format!("{line}\n"));
        text[..end].to_owned() + &follows.collect::<String>()
    });
}

fn found(dir: &Path) -> (u64, usize) {
    let report = again(dir, CHECK).unwrap().1;
    (report.unfinished, report.differences.len())
}

#[test]
fn what_a_run_that_was_killed_within_a_pass_lacks_at_its_end_is_told_and_no_difference() {
    let dir = tempfile::tempdir().unwrap();
    live(dir.path(), "a", 1 << 20, 1 << 30);
    ends_within_a_pass(&newest(dir.path()), 0);
    assert_eq!(found(dir.path()), (1, 0));
    live(dir.path(), "b", 1 << 20, 1 << 30);
    assert_eq!(found(dir.path()), (1, 0), "another may follow");
}

#[test]
fn a_decision_that_is_missing_though_its_run_went_on_is_a_difference_also_in_the_last_pass() {
    let dir = tempfile::tempdir().unwrap();
    live(dir.path(), "a", 1 << 20, 1 << 30);
    ends_within_a_pass(&newest(dir.path()), 1);
    assert_eq!(found(dir.path()), (0, 1));
    live(dir.path(), "b", 1 << 20, 1 << 30);
    assert_eq!(found(dir.path()), (0, 1), "though another follows");
}

#[test]
fn a_damaged_line_or_another_format_or_no_recording_at_all_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    assert!(again(dir.path(), CHECK).unwrap_err().to_string().contains("holds no segment"));
    live(dir.path(), "a", 1 << 20, 1 << 30);
    let path = newest(dir.path());
    let good = std::fs::read_to_string(&path).unwrap();
    let [own, newer] = [FORMAT, FORMAT + 1].map(|format| format!("\"format\":{format}"));
    let says = [format!("reads {FORMAT}: an older build"), format!(":1: has format {}, and this build", FORMAT + 1)];
    let damage: [(&str, &str, &str); 5] = [
        ("{\"observe\":", "{\"obsrve\":", ":3: is damaged: unknown variant `obsrve`"),
        (&own, "\"format\":2", &says[0]),
        (&own, &newer, &says[1]),
        ("{\"segment\"", "{\"decide\":1}\n{\"segment\"", ":1: is no header"),
        ("{\"engine\"", "{\"decide\":1}\n{\"engine\"", ":2: comes before any state"),
    ];
    for (from, to, expected) in damage {
        std::fs::write(&path, good.replacen(from, to, 1)).unwrap();
        for lenient in [false, true] {
            let error = again(dir.path(), Options { lenient, ..CHECK }).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}

#[test]
fn segments_of_another_build_before_or_after_are_left_out_and_counted_and_the_others_replayed() {
    let dir = tempfile::tempdir().unwrap();
    live(dir.path(), "a", 1 << 20, 1 << 30);
    let first = newest(dir.path());
    live(dir.path(), "b", 1 << 20, 1 << 30);
    let alone = replay(&[newest(dir.path())], CHECK, &mut |_, _| Ok(())).unwrap();
    assert!(alone.decisions > 0 && alone.different == 0, "{alone:?}");
    for other in [first, newest(dir.path())] {
        let good = std::fs::read_to_string(&other).unwrap();
        let newer = good.replacen(&format!("\"format\":{FORMAT}"), &format!("\"format\":{}", FORMAT + 1), 1);
        std::fs::write(&other, newer).unwrap();
        let report = again(dir.path(), CHECK).unwrap().1;
        assert_eq!(report, Report { other_format: 1, ..alone.clone() });
        std::fs::write(&other, good).unwrap();
    }
}

#[test]
fn a_check_finds_a_decision_that_was_changed_left_out_or_added() {
    let dir = tempfile::tempdir().unwrap();
    live(dir.path(), "a", 1 << 20, 1 << 30);
    let path = newest(dir.path());
    let good = std::fs::read_to_string(&path).unwrap();
    let first = good.lines().find(|line| line.starts_with("{\"decision\"")).unwrap().to_owned() + "\n";
    let changes = [first.replacen("\"id\":1", "\"id\":7", 1), String::new(), first.clone() + &first];
    for change in changes {
        std::fs::write(&path, good.replacen(&first, &change, 1)).unwrap();
        assert_eq!(again(dir.path(), CHECK).unwrap().1.differences.len(), 1, "{change}");
    }
}

#[test]
fn another_policy_decides_differently_on_the_same_facts() {
    let dir = tempfile::tempdir().unwrap();
    live(dir.path(), "a", 16 << 10, 1 << 30);
    let none = Options { policy: Some(PolicyName::None), ..Options::default() };
    assert_eq!(again(dir.path(), none).unwrap().0, Vec::<String>::new());
    assert!(!again(dir.path(), Options::default()).unwrap().0.is_empty());
}

/// Job 1 under a policy and in a mode, its shim carrying out whatever is decided; the decisions.
fn carried_out(policy: PolicyName, mode: Mode, recorder: Option<Recorder<EngineParams>>) -> Vec<String> {
    let metrics = Arc::new(Metrics::new(&prometheus::Registry::new()).unwrap());
    let mut params = EngineParams { policy, ..EngineParams::default() };
    params.govern.mode = mode;
    let mut desk = Desk::new(params, 100, recorder, metrics);
    let (mut decisions, mut seq) = (Vec::new(), 0);
    for second in 0..60 {
        let at = 100_000 + second * 1_000;
        let mut say = |desk: &mut Desk, fact| {
            seq += 1;
            let mut seen = seen(job(1), seq, at, fact);
            seen.source.channel = Channel::Own;
            desk.observe(seen);
        };
        facts(job(1), second).into_iter().for_each(|fact| desk.observe(fact));
        if second == 0 {
            say(&mut desk, Fact::Can(job(1), Capabilities { duplicate: true, ..Capabilities::default() }));
        }
        for decision in desk.decide(Time(at)).decisions {
            let of = (decision.job, decision.id);
            say(&mut desk, Fact::Sent { job: of.0, decision: of.1 });
            let attempts = vec![1];
            say(&mut desk, Fact::Acked(AckFact { job: of.0, decision: of.1, answer: Answer::Applied, attempts }));
            decisions.push(serde_json::to_string(&decision).unwrap());
        }
        desk.catch_up();
    }
    desk.finish(Time(160_000));
    decisions
}

#[test]
fn another_policy_is_judged_as_advice_where_the_recorded_one_was_to_act() {
    let dir = tempfile::tempdir().unwrap();
    let metrics = Arc::new(Metrics::new(&prometheus::Registry::new()).unwrap());
    let recorder = Recorder::start(dir.path(), 1 << 30, 1 << 20, "a", metrics).unwrap();
    let acted = carried_out(PolicyName::Late, Mode::Act, Some(recorder));
    let [advised, told] = [Mode::Advise, Mode::Act].map(|mode| carried_out(PolicyName::LateEarly, mode, None));
    assert!(!advised.is_empty() && advised != told, "the mode changes nothing: {told:?}");
    let other = Options { policy: Some(PolicyName::LateEarly), ..Options::default() };
    assert_eq!(again(dir.path(), other).unwrap().0, advised);
    assert_eq!(again(dir.path(), CHECK).unwrap().0, acted, "the recorded one is replayed in its own mode");
}
