//! What one process has learned, the next goes on from: through the ledger, before anything else, and into its recording.

use super::super::fixture::{facts, job, seen, watched};
use super::*;
use crate::config::{Sources, load};
use crate::history::{Options, Recorder, files, replay};
use drover_core::engine::EngineParams;
use drover_core::model::{EndFact, Fact, JobPhase};
use std::path::Path;
use std::sync::Arc;

const THEN: Time = Time(200_000);

fn loaded(ledger: &Path, set: &[&str]) -> Loaded {
    let path = format!("ledger.path={}", ledger.display());
    let set = std::iter::once(path).chain(set.iter().map(ToString::to_string)).collect();
    load(&Sources { file: None, set }, std::iter::empty()).unwrap()
}

/// A desk that has seen a job to its end, as a process that keeps a ledger there.
fn learned(loaded: &Loaded) -> Desk {
    let mut desk = watched();
    desk.ledger = begin(loaded, "first", &Notes::default(), &Registry::new()).unwrap().0;
    let (state, started, finished) = (Some(JobPhase::Succeeded), Some(Time(100_000)), Some(Time(120_000)));
    let end = EndFact { job: job(1), state, started, finished, attempts: Vec::new() };
    desk.observe(seen(job(1), 99, 121_000, Fact::Ended(end)));
    desk.decide(Time(121_000));
    desk
}

/// The next process's, which may record.
fn next(loaded: &Loaded, recording: Option<&Path>) -> Desk {
    next_at(loaded, recording, THEN)
}

fn next_at(loaded: &Loaded, recording: Option<&Path>, now: Time) -> Desk {
    let metrics = Arc::new(crate::telemetry::Metrics::new(&Registry::new()).unwrap());
    let recorder = recording.map(|dir| Recorder::start(dir, 1 << 30, 1 << 20, "next", metrics.clone()).unwrap());
    let mut desk = Desk::new(EngineParams::default(), 100, recorder, metrics);
    resume(&loaded.config, &mut desk, now);
    desk
}

#[test]
fn what_was_learned_when_a_service_was_stopped_is_known_at_the_next_start_unless_it_is_not_to_be() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ledger.db");
    let all = loaded(&file, &[]);
    assert_eq!(next(&all, None).resumed, None, "there is no ledger yet");
    let mut before = learned(&all);
    before.finish(Time(122_000));
    let known = before.engine.known();
    assert!(known.predictions > 0 && known.kinds == 1, "{known:?}");
    assert_eq!(next(&all, None).resumed, Some(Resumed { at: Time(122_000), known }));
    assert_eq!(next(&loaded(&file, &["ledger.resume_learned=false"]), None).resumed, None);
    assert_eq!(next(&loaded(&file, &["ledger.max_age=1h"]), None).resumed.map(|resumed| resumed.known), Some(known));
}

#[test]
fn a_service_that_is_killed_has_kept_what_it_learned_once_each_room_had_its_turn() {
    let dir = tempfile::tempdir().unwrap();
    let all = loaded(&dir.path().join("ledger.db"), &[]);
    let mut before = learned(&all);
    (0..6).for_each(|turn| before.keep_learned(Time(121_000 + turn * 5_000)));
    before.ledger.as_ref().unwrap().catch_up();
    let resumed = next(&all, None).resumed.unwrap();
    assert_eq!((resumed.known, resumed.at), (before.engine.known(), Time(146_000)));
}

#[test]
fn a_recording_begins_with_what_was_gone_on_from_and_is_replayed_to_the_same_decisions() {
    let (dir, recording) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let all = loaded(&dir.path().join("ledger.db"), &[]);
    learned(&all).finish(Time(122_000));
    let mut desk = next(&all, Some(recording.path()));
    let mut decided = Vec::new();
    for second in 0..40 {
        facts(job(2), second).into_iter().for_each(|fact| desk.observe(fact));
        let pass = desk.decide(Time(100_000 + second * 1_000));
        decided.extend(pass.decisions.iter().map(|decision| serde_json::to_string(decision).unwrap()));
    }
    desk.finish(Time(140_000));
    let mut replayed = Vec::new();
    let options = Options { policy: None, check: true, lenient: false };
    let files = files(&[recording.path().to_owned()]).unwrap();
    let report = replay(&files, options, &mut |_, text| {
        replayed.push(text.to_owned());
        Ok(())
    });
    assert_eq!((report.unwrap().differences, &replayed), (vec![], &decided));
    assert!(!decided.is_empty());
    let text = std::fs::read_to_string(&files[0]).unwrap();
    let line: serde_json::Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    assert_eq!(line["engine"]["priors"]["kinds"].as_array().unwrap().len(), 1);
}

#[test]
fn what_cannot_be_read_is_neither_gone_on_from_nor_written_over() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ledger.db");
    let all = loaded(&file, &[]);
    learned(&all).finish(Time(122_000));
    let holder = rusqlite::Connection::open(&file).unwrap();
    holder.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT").unwrap();
    let mut desk = next(&all, None);
    assert_eq!(desk.resumed, None);
    drop(holder);
    desk.ledger = begin(&all, "next", &Notes::default(), &Registry::new()).unwrap().0;
    desk.finish(Time(210_000));
    assert_eq!(next(&all, None).resumed.unwrap().at, Time(122_000), "of it nothing was lost");
}

#[test]
fn a_start_by_a_clock_that_is_hours_behind_takes_nothing_from_the_start_after_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ledger.db");
    let all = loaded(&file, &[]);
    let mut before = learned(&all);
    before.finish(Time(20_000_000));
    let mut behind = next_at(&all, None, THEN);
    assert_eq!(behind.resumed.unwrap().known.predictions, before.engine.known().predictions);
    behind.ledger = begin(&all, "behind", &Notes::default(), &Registry::new()).unwrap().0;
    behind.finish(Time(210_000));
    let at = |room: &str| {
        let ask = format!("SELECT at_ms FROM learned WHERE room = '{room}'");
        ledger::read(&file).unwrap().query_row(&ask, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!([at("odds"), at("calibration")], [20_000_000, 210_000], "its windows could not be gone on from");
}

#[test]
fn a_breaker_that_was_open_shows_after_the_start_until_it_has_rested() {
    let dir = tempfile::tempdir().unwrap();
    let all = loaded(&dir.path().join("ledger.db"), &[]);
    let text = r#"{"breakers":{"by_policy":{"late":{"ann":{"recent":[],"opened":199000}}},"turns":[]}}"#;
    let mut feed = begin(&all, "first", &Notes::default(), &Registry::new()).unwrap().0.unwrap();
    feed.learned(Time(199_000), serde_json::from_str(text).unwrap());
    feed.finish();
    let rest = EngineParams::default().govern.breaker_rest;
    for (at, shown) in [(THEN, 1), (THEN + rest, 0)] {
        let mut desk = next_at(&all, None, at);
        desk.decide(at);
        assert_eq!(desk.breakers_shown("late"), shown, "{at:?}");
        assert_eq!(desk.engine.open_breakers().len() as i64, shown);
    }
}
