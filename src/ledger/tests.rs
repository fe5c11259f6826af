//! The writer and its file, well and unwell.

use super::retain::Bounds;
use super::schema::Record;
use super::store::Store;
use super::tables::*;
use super::*;
use drover_core::model::{Bytes, Millis, Time};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Tried again at once, and looked after only when something is handed over: no clock decides.
const PACE: Pace = Pace { waiting: 64, group: 10, retry: Duration::ZERO, look: Duration::from_secs(3_600) };
const BOUNDS: Bounds = Bounds { max_age: Millis(u64::MAX), max_bytes: Bytes(u64::MAX) };

fn now() -> Time {
    Time(1_000_000)
}

fn metrics() -> Metrics {
    Metrics::new(&prometheus::Registry::new()).unwrap()
}

fn started(path: &Path, pace: Pace, bounds: Bounds) -> (Ledger, Metrics) {
    let metrics = metrics();
    let ledger = Ledger::start(path, bounds, pace, now, metrics.clone()).unwrap();
    ledger.catch_up();
    (ledger, metrics)
}

fn row(at: u64) -> Row {
    StragglerRow { at_ms: Time(at), probability: Some(0.25), evidence: 7.0 }.row()
}

fn kept(path: &Path) -> Vec<u64> {
    let open = read(path).unwrap();
    let mut all = open.prepare("SELECT * FROM stragglers ORDER BY at_ms").unwrap();
    let rows = all.query_map([], StragglerRow::read).unwrap();
    rows.map(|row| row.unwrap().at_ms.0).collect()
}

fn lost(metrics: &Metrics, reason: &str) -> u64 {
    metrics.dropped.with_label_values(&[reason]).get()
}

fn path(dir: &tempfile::TempDir) -> PathBuf {
    dir.path().join("state").join("ledger.db")
}

#[test]
fn what_is_handed_over_is_kept_in_order_and_found_again_by_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    for first in [1, 26] {
        let (mut ledger, metrics) = started(&path(&dir), PACE, BOUNDS);
        (first..first + 25).for_each(|at| ledger.push(vec![row(at)]));
        ledger.finish();
        assert_eq!((ledger.committed(), metrics.rows.with_label_values(&["stragglers"]).get()), (25, 25));
        assert_eq!((metrics.queue.get(), metrics.active.get()), (0, 0));
        assert!(metrics.bytes.get() > 0);
    }
    assert_eq!(kept(&path(&dir)), (1..=50).collect::<Vec<_>>());
}

#[test]
fn a_row_that_is_there_stays_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let (mut ledger, metrics) = started(&path(&dir), PACE, BOUNDS);
    let again = StragglerRow { at_ms: Time(1), probability: None, evidence: 0.0 };
    ledger.push(vec![row(1), again.row()]);
    ledger.finish();
    assert_eq!((ledger.committed(), metrics.rows.with_label_values(&["stragglers"]).get()), (1, 1), "it is no new one");
    let open = read(&path(&dir)).unwrap();
    let one = open.query_row("SELECT * FROM stragglers", [], StragglerRow::read).unwrap();
    assert_eq!(one.probability, Some(0.25));
}

#[test]
fn a_row_that_lacks_what_it_has_to_have_is_counted_and_costs_none_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let (mut ledger, metrics) = started(&path(&dir), PACE, BOUNDS);
    // SQLite keeps no such number, and takes it for none.
    let odd = StragglerRow { at_ms: Time(2), probability: None, evidence: f64::NAN };
    ledger.push(vec![row(1), odd.row(), row(3)]);
    ledger.catch_up();
    assert_eq!((kept(&path(&dir)), ledger.state(), ledger.committed()), (vec![1, 3], State::Keeping, 2));
    assert_eq!((lost(&metrics, "invalid"), lost(&metrics, "unwritable")), (1, 0));
}

#[test]
fn rows_wait_for_somebody_else_who_has_the_file_locked_and_none_is_lost_but_at_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let (mut ledger, metrics) = started(&path(&dir), PACE, BOUNDS);
    let other = rusqlite::Connection::open(path(&dir)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    (1..=15).for_each(|at| ledger.push(vec![row(at)]));
    while ledger.state() == State::Keeping {
        std::thread::yield_now();
    }
    let words = ledger.state();
    assert!(words.label() == "busy" && words.trouble().unwrap().contains("locked"), "{words:?}");
    assert!(metrics.errors.with_label_values(&["busy"]).get() >= 1);
    other.execute_batch("COMMIT").unwrap();
    ledger.catch_up();
    assert_eq!((ledger.state(), metrics.active.get(), kept(&path(&dir)).len()), (State::Keeping, 1, 15));
    assert_eq!((lost(&metrics, "unwritable"), lost(&metrics, "queue_full")), (0, 0));
    // Nobody waits for ever.
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    ledger.push(vec![row(16)]);
    let began = Instant::now();
    ledger.finish();
    assert!(began.elapsed() < super::open::PATIENCE, "a reader's patience is not the writer's");
    assert_eq!(lost(&metrics, "unwritable"), 1);
}

#[test]
fn a_full_queue_loses_rows_by_count_and_never_waits() {
    let dir = tempfile::tempdir().unwrap();
    let (mut ledger, metrics) = started(&path(&dir), Pace { waiting: 2, ..PACE }, BOUNDS);
    // While somebody else writes the file, nothing is taken out of the queue but one group.
    let other = rusqlite::Connection::open(path(&dir)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    (1..=500).for_each(|at| ledger.push(vec![row(at)]));
    let missing = lost(&metrics, "queue_full");
    assert!(missing > 0);
    other.execute_batch("COMMIT").unwrap();
    ledger.finish();
    assert_eq!((lost(&metrics, "unwritable"), lost(&metrics, "queue_full")), (0, missing));
    assert_eq!(kept(&path(&dir)).len() as u64 + missing, 500);
}

#[test]
fn a_file_that_somebody_else_has_locked_is_not_read_past_the_lock() {
    let dir = tempfile::tempdir().unwrap();
    let (mut ledger, _) = started(&path(&dir), PACE, BOUNDS);
    ledger.push(vec![row(1)]);
    ledger.finish();
    let other = rusqlite::Connection::open(path(&dir)).unwrap();
    other.execute_batch("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE").unwrap();
    let error = read(&path(&dir)).unwrap_err().to_string();
    assert!(error.contains("locked"), "{error}");
}

#[test]
fn a_file_that_is_deleted_is_told_of_and_begun_anew_without_losing_what_comes() {
    let dir = tempfile::tempdir().unwrap();
    let (mut ledger, metrics) = started(&path(&dir), PACE, BOUNDS);
    ledger.push(vec![row(1)]);
    ledger.catch_up();
    for end in ["", "-wal", "-shm"] {
        std::fs::remove_file(beside(&path(&dir), end)).unwrap();
    }
    ledger.push(vec![row(2)]);
    ledger.catch_up();
    assert_eq!((kept(&path(&dir)), ledger.state()), (vec![2], State::Keeping));
    assert_eq!((metrics.errors.with_label_values(&["deleted"]).get(), lost(&metrics, "unwritable")), (1, 0));
}

#[test]
fn a_directory_that_cannot_hold_a_file_costs_the_rows_until_it_can() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    std::fs::write(&state, "a file where the directory is to be").unwrap();
    let (mut ledger, metrics) = started(&path(&dir), PACE, BOUNDS);
    assert!(ledger.state().trouble().is_some_and(|words| words.contains("ledger")), "{:?}", ledger.state());
    ledger.push(vec![row(1)]);
    ledger.catch_up();
    assert_eq!((lost(&metrics, "unwritable"), metrics.active.get()), (1, 0));
    std::fs::remove_file(&state).unwrap();
    ledger.push(vec![row(2)]);
    ledger.catch_up();
    assert_eq!((kept(&path(&dir)), ledger.state(), metrics.active.get()), (vec![2], State::Keeping, 1));
}

#[test]
fn a_foreign_file_is_never_written_and_the_service_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("state")).unwrap();
    let theirs = b"what somebody else wrote".repeat(10);
    std::fs::write(path(&dir), &theirs).unwrap();
    let (mut ledger, metrics) = started(&path(&dir), PACE, BOUNDS);
    (1..=20).for_each(|at| ledger.push(vec![row(at)]));
    ledger.catch_up();
    assert_eq!((ledger.state().label(), lost(&metrics, "unwritable")), ("damaged", 20));
    assert_eq!(std::fs::read(path(&dir)).unwrap(), theirs);
}

/// A file with so many rows, ten milliseconds apart.
fn filled(path: &Path, rows: u32) {
    drop(Store::open(path, &mut None).unwrap());
    let n = format!("WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < {rows})");
    let all = format!("{n} INSERT INTO stragglers SELECT 10 * i, 0.5, 1.0 FROM n");
    open::write(path).unwrap().execute_batch(&all).unwrap();
}

/// Has every page from that one on say nonsense: what is in the file before and after.
fn torn(path: &Path, from: usize) -> (Vec<u8>, Vec<u8>) {
    let whole = std::fs::read(path).unwrap();
    let mut bytes = whole.clone();
    bytes[from * 4_096..].fill(0xab);
    std::fs::write(path, &bytes).unwrap();
    (whole, bytes)
}

#[test]
fn a_ledger_with_a_torn_page_is_not_written_to_until_another_is_in_its_place() {
    let dir = tempfile::tempdir().unwrap();
    filled(&path(&dir), 5_000);
    let last = std::fs::metadata(path(&dir)).unwrap().len() as usize / 4_096 - 1;
    let (whole, bytes) = torn(&path(&dir), last);
    let (mut ledger, metrics) = started(&path(&dir), PACE, BOUNDS);
    (1..=20).for_each(|at| ledger.push(vec![row(at)]));
    (0..3).for_each(|_| ledger.catch_up());
    assert_eq!((ledger.state().label(), lost(&metrics, "unwritable")), ("damaged", 20));
    assert_eq!(metrics.errors.with_label_values(&["damaged"]).get(), 1, "what has not changed is not read again");
    assert!(std::fs::read(path(&dir)).unwrap() == bytes, "it was written to");
    let log = std::fs::metadata(beside(&path(&dir), "-wal"));
    assert_eq!(log.map_or(0, |log| log.len()), 0);
    std::fs::write(path(&dir), whole).unwrap();
    ledger.push(vec![row(1)]);
    ledger.catch_up();
    assert_eq!((ledger.state(), kept(&path(&dir)).len()), (State::Keeping, 5_001));
}

#[test]
fn a_file_that_was_found_whole_is_not_read_through_again_and_another_in_its_place_is() {
    let dir = tempfile::tempdir().unwrap();
    filled(&path(&dir), 5_000);
    let mut whole = None;
    drop(Store::open(&path(&dir), &mut whole).unwrap());
    let last = std::fs::metadata(path(&dir)).unwrap().len() as usize / 4_096 - 1;
    let (_, bytes) = torn(&path(&dir), last);
    let mut opens = || Store::open(&path(&dir), &mut whole).map(drop).map_err(|error| error.label());
    assert_eq!(opens(), Ok(()));
    std::fs::write(dir.path().join("other"), bytes).unwrap();
    std::fs::rename(dir.path().join("other"), path(&dir)).unwrap();
    assert_eq!(opens(), Err("damaged"));
}

#[test]
fn a_page_torn_while_the_ledger_is_kept_is_written_to_no_more_and_not_called_whole_at_the_next_try() {
    let dir = tempfile::tempdir().unwrap();
    // More than SQLite has in memory.
    filled(&path(&dir), 200_000);
    let (mut ledger, metrics) = started(&path(&dir), PACE, BOUNDS);
    let (_, bytes) = torn(&path(&dir), 1);
    ledger.push((0..20).map(|part| row(part * 100_000 + 5)).collect());
    for _ in 0..3 {
        ledger.catch_up();
        assert_eq!((ledger.state().label(), metrics.active.get()), ("damaged", 0));
    }
    ledger.finish();
    assert!(std::fs::read(path(&dir)).unwrap() == bytes, "it was written to");
}

#[test]
fn a_file_that_may_grow_no_further_is_full_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let error = {
        drop(Store::open(&path(&dir), &mut None).unwrap());
        let open = open::write(&path(&dir)).unwrap();
        open.pragma_update(None, "max_page_count", 1).unwrap();
        let rows = "WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 9000) INSERT INTO stragglers SELECT i, 0.5, 1.0 FROM n";
        LedgerError::of(&path(&dir), &open.execute_batch(rows).unwrap_err())
    };
    assert_eq!(error.label(), "full");
    assert!(error.to_string().contains("ledger.max_bytes"), "{error}");
}

#[test]
fn what_is_too_old_goes_and_the_rest_stays() {
    let dir = tempfile::tempdir().unwrap();
    let (mut ledger, metrics) = started(&path(&dir), PACE, Bounds { max_age: Millis(1_000), ..BOUNDS });
    ledger.push([1, 998_999, 999_000, 1_000_000].map(row).to_vec());
    ledger.catch_up();
    assert_eq!(kept(&path(&dir)), [999_000, 1_000_000]);
    assert_eq!(metrics.forgotten.with_label_values(&["stragglers"]).get(), 2);
}

#[test]
fn a_clock_far_ahead_of_the_newest_row_makes_no_row_old_before_a_second_service_has_kept_the_file_by_it() {
    fn far() -> Time {
        now() + Millis(100 * 86_400_000)
    }
    let dir = tempfile::tempdir().unwrap();
    let bounds = Bounds { max_age: Millis(1_000), ..BOUNDS };
    let keep = |clock: fn() -> Time, at: &[u64]| {
        let mut ledger = Ledger::start(&path(&dir), bounds, PACE, clock, metrics()).unwrap();
        ledger.push(at.iter().copied().map(row).collect());
        ledger.catch_up();
        ledger.finish();
        kept(&path(&dir))
    };
    assert_eq!(keep(now, &[999_500, 1_000_000]), [999_500, 1_000_000]);
    assert_eq!(keep(far, &[998_000, far().0]), [999_500, 1_000_000, far().0], "what was too old before goes");
    assert_eq!(keep(far, &[]), [far().0]);
}

#[test]
fn a_ledger_that_grows_too_large_lets_go_of_the_oldest_and_shrinks() {
    let dir = tempfile::tempdir().unwrap();
    let bound = 512 << 10;
    let (mut ledger, metrics) = started(&path(&dir), PACE, Bounds { max_bytes: Bytes(bound), ..BOUNDS });
    for first in (0..100_000).step_by(1_000) {
        ledger.push((first..first + 1_000).map(row).collect());
        ledger.catch_up();
    }
    // The last rows may be one group too many; a look lets go of it.
    (0..20).for_each(|_| ledger.catch_up());
    let left = kept(&path(&dir));
    assert_eq!(left.last(), Some(&99_999));
    assert!(left[0] > 0 && left.len() > 2_000 && left.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{}", left.len());
    ledger.finish();
    let size = std::fs::metadata(path(&dir)).unwrap().len();
    assert!(
        size <= bound + (128 << 10),
        "{size} bytes, and {} rows gone",
        metrics.forgotten.with_label_values(&["stragglers"]).get()
    );
}

#[test]
fn a_ledger_that_is_too_large_shrinks_whatever_the_clock_says() {
    for clock in [|| Time(0), || Time(1 << 45)] {
        let dir = tempfile::tempdir().unwrap();
        filled(&path(&dir), 50_000);
        let bounds = Bounds { max_bytes: Bytes(512 << 10), ..BOUNDS };
        let ledger = Ledger::start(&path(&dir), bounds, PACE, clock, metrics()).unwrap();
        (0..40).for_each(|_| ledger.catch_up());
        let left = kept(&path(&dir)).len();
        assert!((2_000..40_000).contains(&left), "{left} at {:?}", clock());
    }
}

/// A file with 50,000 rows: its size, and how large it is once that has been done to it and a service with that bound has looked at it so often, while nothing came.
fn looked_at(bound: u64, looks: u32, done: &str) -> (u64, u64) {
    let dir = tempfile::tempdir().unwrap();
    let (mut ledger, _) = started(&path(&dir), PACE, BOUNDS);
    ledger.push((0..50_000).map(row).collect());
    ledger.finish();
    let size = || std::fs::metadata(path(&dir)).unwrap().len();
    let before = size();
    open::write(&path(&dir)).unwrap().execute_batch(done).unwrap();
    let (mut ledger, _) = started(&path(&dir), PACE, Bounds { max_bytes: Bytes(bound), ..BOUNDS });
    (0..looks).for_each(|_| ledger.catch_up());
    ledger.finish();
    (before, size())
}

#[test]
fn a_ledger_whose_bound_is_lowered_gives_its_space_back() {
    let (before, after) = looked_at(256 << 10, 80, "");
    assert!(before > 1 << 20 && after <= 256 << 10, "{before} bytes before, {after} after");
}

#[test]
fn space_that_nothing_takes_is_given_back_also_when_no_row_is_left_to_let_go() {
    let (before, after) = looked_at(u64::MAX, 1, "DELETE FROM stragglers WHERE at_ms > 9");
    assert!(before > 1 << 20 && after <= 256 << 10, "{before} bytes before, {after} after");
}

#[test]
fn a_panic_of_the_writer_is_told_as_a_trouble_and_rows_after_it_are_counted_as_unwritable() {
    fn broken() -> Time {
        panic!("meant to")
    }
    let (dir, metrics) = (tempfile::tempdir().unwrap(), metrics());
    let mut ledger = Ledger::start(&path(&dir), BOUNDS, PACE, broken, metrics.clone()).unwrap();
    ledger.catch_up();
    while ledger.state() == State::Opening {
        std::thread::yield_now();
    }
    assert_eq!(ledger.state().label(), "panicked");
    assert!(ledger.state().trouble().unwrap().contains("fault of Drover"));
    assert_eq!((metrics.active.get(), metrics.errors.with_label_values(&["panicked"]).get()), (0, 1));
    ledger.push(vec![row(1)]);
    assert_eq!((lost(&metrics, "unwritable"), lost(&metrics, "queue_full")), (1, 0));
    ledger.finish();
}

#[test]
fn a_ledger_that_is_begun_is_told_from_one_that_has_rows_and_since_when() {
    let dir = tempfile::tempdir().unwrap();
    let opened = || {
        let store = Store::open(&dir.path().join("l.db"), &mut None).unwrap();
        (store.is_new, store.oldest().unwrap())
    };
    assert_eq!([opened(), opened()], [(true, None), (false, None)]);
    Store::open(&dir.path().join("l.db"), &mut None).unwrap().write(&[row(9), row(7)]).unwrap();
    assert_eq!(opened(), (false, Some(Time(7))));
}
