use super::*;
use crate::ledger::open;
use rusqlite::Connection;

/// A file with a thing sent every ten milliseconds, so often, and an answer to each fourth of these a millisecond later.
fn filled(things: u32) -> (tempfile::TempDir, Connection) {
    let dir = tempfile::tempdir().unwrap();
    let file = open::write(&dir.path().join("l.db")).unwrap();
    let n = format!("WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < {things})");
    let sent = format!("{n} INSERT INTO sent SELECT 10 * i, 'p', i FROM n;");
    let answers = format!("{n} INSERT INTO answers SELECT 10 * i + 1, 'p', i, 'a', '' FROM n WHERE i % 4 = 0;");
    file.execute_batch(&format!("{sent}{answers}")).unwrap();
    (dir, file)
}

fn count(file: &Connection, of: &str) -> i64 {
    file.query_row(&format!("SELECT count(*) FROM {of}"), [], |row| row.get(0)).unwrap()
}

/// Lets go until there is no more to let go of: after each step, what `seen` tells.
fn steps<T>(file: &Connection, bounds: Bounds, clock: Time, seen: impl Fn() -> T) -> Vec<T> {
    steps_after(file, bounds, clock, Millis(0), seen)
}

/// The same after that pause.
fn steps_after<T>(file: &Connection, bounds: Bounds, clock: Time, pause: Millis, seen: impl Fn() -> T) -> Vec<T> {
    let metrics = Metrics::new(&prometheus::Registry::new()).unwrap();
    let before = || count(file, "sent") + count(file, "answers");
    let mut all = Vec::new();
    loop {
        let had = before();
        step(file, bounds, clock, pause, &metrics).unwrap();
        if before() == had {
            return all;
        }
        all.push(seen());
    }
}

fn three_quarters(file: &Connection) -> Bounds {
    Bounds { max_age: Millis(u64::MAX), max_bytes: Bytes(taken(file).unwrap() / 4 * 3) }
}

#[test]
fn no_answer_goes_before_what_it_answers_whether_for_size_or_for_age() {
    let now = Time(200_000);
    for by_age in [false, true] {
        let (_dir, file) = filled(20_000);
        let by_size = three_quarters(&file);
        let bounds = if by_age { Bounds { max_age: Millis(100_000), max_bytes: Bytes(u64::MAX) } } else { by_size };
        let bare = "sent WHERE decision % 4 = 0 AND decision NOT IN (SELECT decision FROM answers)";
        let seen = steps(&file, bounds, now, || (count(&file, bare), count(&file, "sent")));
        assert!(seen.len() > 1 && seen.iter().all(|(bare, _)| *bare == 0), "{seen:?}");
        let mut left = seen.iter().map(|(_, sent)| *sent);
        let first = if by_age { 18_000 } else { 19_000 };
        assert_eq!(left.next(), Some(first), "what waits for the writer does not wait for long");
        assert!((9_000..16_000).contains(&left.next_back().unwrap()), "{seen:?}");
    }
}

#[test]
fn a_row_dated_far_ahead_empties_no_table_and_makes_no_row_younger() {
    let (_dir, file) = filled(3_000);
    file.execute("INSERT INTO stragglers VALUES (?, NULL, 1.0)", [1_i64 << 41]).unwrap();
    let now = Time(30_000);
    steps(&file, three_quarters(&file), now, || ());
    let left = [count(&file, "sent"), count(&file, "answers"), count(&file, "stragglers")];
    assert!(left[0] > 1_000 && left[1] >= left[0] / 4 && left[2] == 0, "{left:?}");
    file.execute("INSERT INTO stragglers VALUES (?, NULL, 1.0)", [1_i64 << 41]).unwrap();
    let week = Time(30_000) + Millis(7 * 86_400_000);
    assert_eq!(pause(&file, week).unwrap(), week.since(Time(30_001)), "it says nothing of when rows came last");
}

#[test]
fn what_a_start_writes_down_of_its_settings_makes_no_row_older_for_the_next() {
    let (_dir, file) = filled(3_000);
    let week = Time(30_000) + Millis(7 * 86_400_000);
    let before = pause(&file, week).unwrap();
    file.execute("INSERT INTO settings VALUES (?, 'p', '0.1.0', '{}')", [week.0 as i64]).unwrap();
    assert_eq!((pause(&file, week).unwrap(), before > Millis(0)), (before, true));
}

#[test]
fn rows_of_one_instant_go_together_and_those_all_ahead_of_the_clock_go_where_there_are_too_many() {
    let (_dir, file) = filled(20_000);
    file.execute_batch("UPDATE sent SET at_ms = 1 << 41; UPDATE answers SET at_ms = 1 << 41").unwrap();
    steps(&file, three_quarters(&file), Time(7), || ());
    assert_eq!(count(&file, "sent") + count(&file, "answers"), 0);
}

/// Sends all rows so far ahead.
fn moved(file: &Connection, by: Millis) {
    let Millis(by) = by;
    file.execute_batch(&format!("UPDATE sent SET at_ms = at_ms + {by}; UPDATE answers SET at_ms = at_ms + {by}"))
        .unwrap();
}

#[test]
fn rows_of_many_instants_all_ahead_of_the_clock_go_part_by_part() {
    let (_dir, file) = filled(20_000);
    moved(&file, Millis(1 << 41));
    let left = steps(&file, three_quarters(&file), Time(7), || count(&file, "sent"));
    assert!((5..15).contains(&left.len()) && (9_000..16_000).contains(left.last().unwrap()), "{left:?}");
}

#[test]
fn rows_of_a_clock_that_was_ahead_do_not_take_the_room_of_all_that_come_after_it() {
    let (_dir, file) = filled(20_000);
    file.execute_batch("UPDATE sent SET at_ms = at_ms + (1 << 41) WHERE at_ms / 10 % 10 > 0").unwrap();
    let rows = || [count(&file, "sent WHERE at_ms > 1 << 40"), count(&file, "sent WHERE at_ms < 1 << 40")];
    let before = rows();
    let left = steps(&file, three_quarters(&file), Time(200_000), rows);
    let [ahead, others] = *left.last().unwrap();
    assert!(ahead > before[0] / 4 && ahead < before[0] * 9 / 10, "{before:?} {left:?}");
    assert!(others > before[1] / 4 && others < before[1], "{before:?} {left:?}");
}

#[test]
fn after_a_month_without_a_service_its_new_rows_go_part_by_part_once_they_are_the_oldest() {
    let month = Millis(30 * 86_400_000);
    let (_dir, file) = filled(20_000);
    moved(&file, month);
    let clock = Time(200_000) + month;
    let left = steps_after(&file, three_quarters(&file), clock, month, || count(&file, "sent"));
    assert!((5..15).contains(&left.len()) && (9_000..16_000).contains(left.last().unwrap()), "{left:?}");
    // Nor is any of them too old, by which the pause counts.
    let old = Bounds { max_age: Millis(86_400_000), max_bytes: Bytes(u64::MAX) };
    assert!(steps_after(&file, old, clock + Millis(2 * 86_400_000), month, || ()).is_empty());
    assert!(!steps(&file, old, clock + Millis(2 * 86_400_000), || ()).is_empty());
}
