//! What was learned, kept and read again; damaged, another's, too large, of another time; and a process that ends in the middle of it.

use super::read::Unread;
use super::*;
use crate::ledger::file::beside;
use crate::ledger::open::write;
use crate::ledger::schema::Record;
use crate::ledger::tables::StragglerRow;
use crate::ledger::{Ledger, LedgerError, Metrics, Pace};
use drover_core::engine::{Engine, EngineParams};
use drover_core::model::Bytes;
use std::path::{Path, PathBuf};
use std::time::Duration;

const PACE: Pace = Pace { waiting: 64, group: 10, retry: Duration::ZERO, look: Duration::from_secs(3_600) };
const BOUNDS: Bounds = Bounds { max_age: Millis(1_000_000_000), max_bytes: Bytes(16 << 20) };
const NOW: Time = Time(1_795_000_000_000);

/// Copies of ann's that came to nothing, so many of them, on that host.
fn rests(host: &str, futile: u32) -> Learned {
    let text = format!(r#"{{"node_rests":[["ann","{host}",{{"futile":{futile},"last":7}}]]}}"#);
    serde_json::from_str(&text).unwrap()
}

fn breakers() -> Learned {
    serde_json::from_str(r#"{"breakers":{"by_policy":{},"turns":[]}}"#).unwrap()
}

fn odds() -> Learned {
    Engine::new(EngineParams::default()).learned(Room::Odds)
}

fn path(dir: &tempfile::TempDir) -> PathBuf {
    dir.path().join("ledger.db")
}

/// A process that keeps these, and ends.
fn keeps(path: &Path, all: impl IntoIterator<Item = (Time, Learned)>) {
    let metrics = Metrics::new(&prometheus::Registry::new()).unwrap();
    let mut ledger = Ledger::start(path, BOUNDS, PACE, || NOW, metrics).unwrap();
    for (at, learned) in all {
        ledger.keep(at, learned);
        ledger.catch_up();
    }
    ledger.finish();
}

fn text(learned: &Learned) -> String {
    serde_json::to_string(learned).unwrap()
}

/// What is gone on from, as text, and what is not, by room.
fn found(path: &Path) -> (Vec<String>, Vec<(Room, Unread)>) {
    let Found { learned, unread } = learned(path, BOUNDS, NOW).unwrap();
    (learned.iter().map(|(_, learned)| text(learned)).collect(), unread)
}

fn rows(path: &Path) -> i64 {
    write(path).unwrap().query_row("SELECT count(*) FROM learned", [], |row| row.get(0)).unwrap()
}

fn change(path: &Path, sql: &str) {
    assert!(write(path).unwrap().execute(sql, []).unwrap() > 0, "{sql}");
}

#[test]
fn what_is_kept_last_is_read_by_the_next_start_and_takes_the_place_of_what_was_before() {
    let dir = tempfile::tempdir().unwrap();
    keeps(&path(&dir), [(NOW, rests("n1", 1)), (NOW, breakers()), (NOW + Millis(1), rests("n1", 2))]);
    assert_eq!(found(&path(&dir)), (vec![text(&breakers()), text(&rests("n1", 2))], vec![]));
    keeps(&path(&dir), [(NOW + Millis(2), rests("n2", 3))]);
    assert_eq!(found(&path(&dir)), (vec![text(&breakers()), text(&rests("n2", 3))], vec![]));
    assert_eq!(rows(&path(&dir)), 2);
}

#[test]
fn what_waits_at_the_end_is_kept_and_what_has_not_changed_is_dated_anew_only_after_a_while() {
    let dir = tempfile::tempdir().unwrap();
    let at = || {
        let open = write(&path(&dir)).unwrap();
        Time(open.query_row("SELECT at_ms FROM learned", [], |row| row.get::<_, i64>(0)).unwrap() as u64)
    };
    let same = |after: Millis| (NOW + after, rests("n1", 1));
    keeps(&path(&dir), [same(Millis(0)), same(STANDS - Millis(1))]);
    assert_eq!(at(), NOW);
    keeps(&path(&dir), [same(Millis(0)), same(STANDS)]);
    assert_eq!(at(), NOW + STANDS);
}

#[test]
fn a_process_that_ends_while_it_writes_leaves_what_was_there() {
    let dir = tempfile::tempdir().unwrap();
    let (killed, copy) = (path(&dir), dir.path().join("copy.db"));
    keeps(&killed, [(NOW, rests("n1", 1))]);
    let mut open = write(&killed).unwrap();
    // So little room that the log has the pages of what is not committed yet.
    open.pragma_update(None, "cache_size", 1).unwrap();
    let group = open.transaction().unwrap();
    group.execute("DELETE FROM learned", []).unwrap();
    let state = "x".repeat(1 << 20);
    let row = LearnedRow {
        at_ms: NOW,
        room: "node_rests".into(),
        format: 1,
        drover: "0".into(),
        digest: String::new(),
        state,
    };
    group.execute(&LearnedRow::TABLE.insert(), rusqlite::params_from_iter(row.values())).unwrap();
    for end in ["", "-wal"] {
        std::fs::copy(beside(&killed, end), beside(&copy, end)).unwrap();
    }
    assert!(std::fs::metadata(beside(&copy, "-wal")).unwrap().len() > 1 << 19, "it was in the middle of it");
    assert_eq!(found(&copy), (vec![text(&rests("n1", 1))], vec![]));
}

#[test]
fn a_damaged_room_is_told_of_and_the_others_are_gone_on_from() {
    for sql in [
        "UPDATE learned SET state = replace(state, '\"futile\":1', '\"futile\":9') WHERE room = 'node_rests'",
        "UPDATE learned SET state = substr(state, 1, 20) WHERE room = 'node_rests'",
        "UPDATE learned SET state = (SELECT state FROM learned WHERE room = 'breakers') WHERE room = 'node_rests'",
        "UPDATE learned SET (state, digest) = (SELECT state, digest FROM learned WHERE room = 'breakers') WHERE room = 'node_rests'",
    ] {
        let dir = tempfile::tempdir().unwrap();
        keeps(&path(&dir), [(NOW, rests("n1", 1)), (NOW, breakers())]);
        change(&path(&dir), sql);
        let (good, bad) = found(&path(&dir));
        assert_eq!(good, [text(&breakers())], "{sql}");
        assert!(matches!(&bad[..], [(Room::NodeRests, Unread::Damaged(_))]), "{sql}: {bad:?}");
    }
}

#[test]
fn what_a_newer_drover_kept_in_another_form_is_left_to_it_and_an_older_ones_gives_way() {
    let dir = tempfile::tempdir().unwrap();
    keeps(&path(&dir), [(NOW, rests("n1", 1))]);
    change(&path(&dir), "UPDATE learned SET format = 2, drover = '9.0.0'");
    assert_eq!(found(&path(&dir)), (vec![], vec![(Room::NodeRests, Unread::Format(2, "9.0.0".into()))]));
    keeps(&path(&dir), [(NOW, rests("n2", 2))]);
    assert_eq!(found(&path(&dir)), (vec![text(&rests("n2", 2))], vec![]), "each reads its own");
    assert_eq!(rows(&path(&dir)), 2);
    change(&path(&dir), "UPDATE learned SET format = 0 WHERE format = 2");
    keeps(&path(&dir), [(NOW, rests("n3", 3))]);
    assert_eq!((found(&path(&dir)).0, rows(&path(&dir))), (vec![text(&rests("n3", 3))], 1));
}

#[test]
fn a_state_of_long_ago_is_not_gone_on_from_nor_windows_of_a_time_to_come() {
    let (ahead, hour) = (Millis(3_600_001), Millis(3_600_000));
    for (at, learned, why) in [
        (NOW + hour, odds(), None),
        (NOW + ahead, odds(), Some((Room::Odds, Unread::Ahead))),
        (NOW + ahead, rests("n1", 1), None),
        (NOW - BOUNDS.max_age, rests("n1", 1), None),
        (NOW - BOUNDS.max_age - Millis(1), rests("n1", 1), Some((Room::NodeRests, Unread::TooOld))),
    ] {
        let dir = tempfile::tempdir().unwrap();
        keeps(&path(&dir), [(at, learned)]);
        assert_eq!(found(&path(&dir)).1, why.into_iter().collect::<Vec<_>>(), "{at:?}");
    }
}

#[test]
fn a_state_that_is_too_large_is_neither_written_nor_read_and_leaves_what_was_there() {
    let dir = tempfile::tempdir().unwrap();
    let large = rests(&"n".repeat(usize::try_from(most(BOUNDS)).unwrap()), 2);
    keeps(&path(&dir), [(NOW, rests("n1", 1)), (NOW, large)]);
    assert_eq!(found(&path(&dir)), (vec![text(&rests("n1", 1))], vec![]));
    let small = Bounds { max_bytes: Bytes(160), ..BOUNDS };
    let unread = learned(&path(&dir), small, NOW).unwrap().unread;
    assert!(matches!(&unread[..], [(Room::NodeRests, Unread::TooLarge(_, 10))]), "{unread:?}");
    let (slot, mut store) = (Slot::default(), Store::open(&path(&dir), &mut None).unwrap());
    slot.put(NOW, rests("n1", 1));
    Shelf::new(small).keep(&slot, &mut store).unwrap();
    drop(store);
    assert_eq!(rows(&path(&dir)), 0, "what no start would read is not to cost rows");
}

#[test]
fn what_was_learned_and_cannot_be_written_costs_no_row() {
    let dir = tempfile::tempdir().unwrap();
    let metrics = Metrics::new(&prometheus::Registry::new()).unwrap();
    let mut ledger = Ledger::start(&path(&dir), BOUNDS, PACE, || NOW, metrics).unwrap();
    ledger.catch_up();
    write(&path(&dir)).unwrap().execute_batch("DROP TABLE learned").unwrap();
    for at in [1, 2] {
        ledger.keep(NOW, rests("n1", 1));
        ledger.push(vec![StragglerRow { at_ms: Time(at), probability: None, evidence: 0.0 }.row()]);
        ledger.catch_up();
    }
    assert_eq!(ledger.committed(), 2);
}

#[test]
fn a_ledger_of_before_has_nothing_and_one_that_cannot_be_read_says_so() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(learned(&path(&dir), BOUNDS, NOW), Err(LedgerError::Missing(_))));
    let open = write(&path(&dir)).unwrap();
    open.execute_batch("DROP TABLE learned; PRAGMA user_version = 4").unwrap();
    drop(open);
    assert_eq!(found(&path(&dir)), (vec![], vec![]));
    std::fs::write(path(&dir), "what somebody else wrote").unwrap();
    assert_eq!(learned(&path(&dir), BOUNDS, NOW).unwrap_err().label(), "damaged");
}

#[test]
fn it_is_no_part_of_what_rows_age_by_and_goes_with_none_of_them() {
    let dir = tempfile::tempdir().unwrap();
    keeps(&path(&dir), [(Time(1), rests("n1", 1))]);
    let mut store = Store::open(&path(&dir), &mut None).unwrap();
    assert_eq!((store.oldest().unwrap(), store.pause(NOW).unwrap()), (None, Millis(0)));
    let metrics = Metrics::new(&prometheus::Registry::new()).unwrap();
    store.write(&[]).unwrap();
    store.retain(Bounds { max_age: Millis(0), max_bytes: Bytes(1) }, NOW, Millis(0), &metrics).unwrap();
    drop(store);
    assert_eq!(rows(&path(&dir)), 1);
}
