use super::*;
use crate::ledger::fixture;
use crate::telemetry::logged;
use std::path::PathBuf;

/// Where in a file's header it stands how many transactions have changed it.
const CHANGES_AT: usize = 24;

fn path(dir: &tempfile::TempDir) -> PathBuf {
    dir.path().join("ledger.db")
}

#[test]
fn a_new_file_is_ours_has_the_newest_version_and_is_synchronised_in_full() {
    let dir = tempfile::tempdir().unwrap();
    let made = write(&path(&dir)).unwrap();
    let pragma = |name: &str| made.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(pragma("application_id"), i64::from(APPLICATION_ID));
    assert_eq!([pragma("user_version"), pragma("synchronous"), pragma("auto_vacuum")], [STEPS.len() as i64, 2, 2]);
    let mode: String = made.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    drop(write(&path(&dir)).unwrap());
}

/// As SQLite's begins of a file that had no page (Database File Format, 3): its magic, no page in it, 0, 0 pages before, of sectors of 512 bytes and pages of 4096.
fn journal_of_nothing() -> Vec<u8> {
    let words = [0_u32, 0, 0, 512, 4_096].into_iter().flat_map(u32::to_be_bytes);
    let mut bytes: Vec<u8> = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7].into_iter().chain(words).collect();
    bytes.resize(512, 0);
    bytes
}

#[test]
fn a_process_killed_while_it_makes_the_file_leaves_nothing_that_is_nobodys() {
    let dir = tempfile::tempdir().unwrap();
    let made = Connection::open(path(&dir)).unwrap();
    begin(&made).unwrap();
    let bytes = std::fs::read(path(&dir)).unwrap();
    assert_eq!(
        bytes[CHANGES_AT..CHANGES_AT + 4],
        1_u32.to_be_bytes(),
        "written to once, with all that says whose it is"
    );
    assert!(is_ours(&path(&dir)).unwrap());
    // Killed before that was so, it is found written to, and with what takes that back.
    drop(made);
    std::fs::write(beside(&path(&dir), "-journal"), journal_of_nothing()).unwrap();
    drop(write(&path(&dir)).unwrap());
    assert!(is_ours(&path(&dir)).unwrap() && !beside(&path(&dir), "-journal").exists());
}

#[test]
fn what_is_not_ours_is_refused_with_what_to_do_and_stays_as_it_is_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    let other = dir.path().join("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1)").unwrap();
    let foreign = std::fs::read(&other).unwrap();
    let torn = b"SQLite for".to_vec();
    for (bytes, label, says) in [
        (foreign, "foreign", "ledger.path"),
        (b"what somebody else wrote".repeat(10), "damaged", "Move it away"),
        (torn, "damaged", "Move it away"),
    ] {
        std::fs::write(path(&dir), &bytes).unwrap();
        for error in [write(&path(&dir)).unwrap_err(), read(&path(&dir)).unwrap_err()] {
            assert_eq!(error.label(), label);
            assert!(error.to_string().contains(says), "{error}");
        }
        assert_eq!(std::fs::read(path(&dir)).unwrap(), bytes);
    }
}

#[test]
fn a_file_with_a_torn_page_is_damaged_and_not_begun_anew() {
    let dir = tempfile::tempdir().unwrap();
    drop(write(&path(&dir)).unwrap());
    let mut bytes = std::fs::read(path(&dir)).unwrap();
    // All of the first page but the file's header.
    bytes[100..4_096].fill(0xab);
    std::fs::write(path(&dir), &bytes).unwrap();
    assert_eq!(write(&path(&dir)).unwrap_err().label(), "damaged");
    assert_eq!(std::fs::read(path(&dir)).unwrap(), bytes);
}

#[test]
fn a_file_of_a_newer_drover_is_left_to_it() {
    let dir = tempfile::tempdir().unwrap();
    write(&path(&dir)).unwrap().pragma_update(None, "user_version", 99).unwrap();
    for error in [write(&path(&dir)).unwrap_err(), read(&path(&dir)).unwrap_err()] {
        assert!(error.label() == "newer" && error.to_string().contains("version 99"), "{error}");
    }
}

#[test]
fn what_the_log_of_a_refused_file_holds_stays_there() {
    let dir = tempfile::tempdir().unwrap();
    let (newer, copy) = (path(&dir), dir.path().join("copy.db"));
    let open = write(&newer).unwrap();
    open.pragma_update(None, "user_version", 99).unwrap();
    // As a process leaves them that is killed: the version is in the log alone.
    let files = ["", "-wal"].map(|end| (beside(&copy, end), std::fs::read(beside(&newer, end)).unwrap()));
    files.iter().for_each(|(name, bytes)| std::fs::write(name, bytes).unwrap());
    assert_eq!(write(&copy).unwrap_err().label(), "newer");
    for (name, bytes) in files {
        assert!(std::fs::read(&name).unwrap() == bytes, "{} was written to", name.display());
    }
}

#[test]
fn what_a_killed_process_left_in_the_log_is_taken_over_once_it_has_been_looked_through() {
    let dir = tempfile::tempdir().unwrap();
    let (killed, copy) = (path(&dir), dir.path().join("copy.db"));
    let open = write(&killed).unwrap();
    open.execute_batch("INSERT INTO sent VALUES (7, 'p', 3)").unwrap();
    for end in ["", "-wal"] {
        std::fs::copy(beside(&killed, end), beside(&copy, end)).unwrap();
    }
    let again = write(&copy).unwrap();
    assert_eq!(again.query_row("SELECT at_ms FROM sent", [], |row| row.get::<_, i64>(0)).unwrap(), 7);
    drop(again);
    assert!(!beside(&copy, "-wal").exists(), "its log was put into it when it was closed");
}

#[test]
fn an_older_file_is_taken_on_with_its_rows_and_a_step_that_fails_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut open = Connection::open(path(&dir)).unwrap();
    let first: Step<'_> = &|| "CREATE TABLE a (b); INSERT INTO a VALUES (7);".into();
    let second: Step<'_> = &|| "ALTER TABLE a ADD COLUMN c DEFAULT 8;".into();
    let wrong: Step<'_> = &|| "ALTER TABLE a ADD COLUMN d; SELECT nonsense;".into();
    migrate(&mut open, &path(&dir), &[first]).unwrap();
    migrate(&mut open, &path(&dir), &[first, second]).unwrap();
    migrate(&mut open, &path(&dir), &[first, second, wrong]).unwrap_err();
    let row = open.query_row("SELECT * FROM a", [], |row| Ok((row.get(0)?, row.get(1)?, row.as_ref().column_count())));
    assert_eq!(row.unwrap(), (7, 8, 2));
    assert_eq!(version(&open).unwrap(), 2);
}

#[test]
fn a_ledger_is_read_where_nothing_can_be_written_and_one_that_is_not_there_is_named() {
    let dir = tempfile::tempdir().unwrap();
    drop(write(&path(&dir)).unwrap());
    let count = |open: Connection| open.query_row("SELECT count(*) FROM jobs", [], |row| row.get::<_, i64>(0));
    assert_eq!(count(read(&path(&dir)).unwrap()).unwrap(), 0);
    read(&path(&dir)).unwrap().execute_batch("DELETE FROM jobs").unwrap_err();
    assert_eq!(read(&dir.path().join("none")).unwrap_err().label(), "missing");
    assert!(!dir.path().join("none").exists());
}

#[test]
fn a_ledger_that_is_there_is_written_to_when_it_is_opened_so_that_a_full_disk_shows_then() {
    let dir = tempfile::tempdir().unwrap();
    drop(write(&path(&dir)).unwrap());
    let log = beside(&path(&dir), "-wal");
    assert!(!log.exists(), "what was written is in the file, and its log is gone");
    let open = write(&path(&dir)).unwrap();
    assert!(std::fs::metadata(log).unwrap().len() > 0);
    assert_eq!(version(&open).unwrap(), STEPS.len() as i64);
}

#[test]
fn a_directory_that_takes_no_file_is_told_as_such() {
    // Not even root makes a file there.
    let error = write(Path::new("/proc/none/ledger.db")).unwrap_err();
    assert!(error.label() == "read_only" && error.to_string().contains("/proc/none/ledger.db"), "{error}");
    let error = write(Path::new("/proc/ledger.db")).unwrap_err();
    assert!(error.label() == "read_only" && error.to_string().contains("/proc/ledger.db"), "{error}");
}

/// How many locks this process has on that file, as Linux tells them.
fn locks(path: &Path) -> usize {
    use std::os::unix::fs::MetadataExt;
    let of = format!(":{} ", std::fs::metadata(path).unwrap().ino());
    std::fs::read_to_string("/proc/locks").unwrap().lines().filter(|line| line.contains(&of)).count()
}

#[test]
fn whoever_reads_beside_the_writer_takes_no_lock_from_it_so_that_nobody_else_deletes_its_log() {
    let dir = tempfile::tempdir().unwrap();
    let writer = write(&path(&dir)).unwrap();
    writer.execute_batch("INSERT INTO sent VALUES (7, 'p', 3)").unwrap();
    let held = locks(&path(&dir));
    assert!(held > 0, "a connection by the log keeps others from ending it");
    drop(read(&path(&dir)).unwrap());
    drop(read_any(&path(&dir)).unwrap());
    assert_eq!(locks(&path(&dir)), held);
    // One that begins to write, as after trouble, finds a reader at work.
    let reader = read(&path(&dir)).unwrap();
    drop(writer);
    let held = locks(&path(&dir));
    assert!(held > 0 && is_ours(&path(&dir)).unwrap());
    assert_eq!(locks(&path(&dir)), held);
    drop(reader);
}

#[test]
fn what_is_no_file_is_no_ledger() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(path(&dir)).unwrap();
    assert_eq!(read(&path(&dir)).unwrap_err().label(), "unwritable");
}

#[test]
fn a_copy_put_back_beside_the_log_of_another_is_told_as_such_and_both_stay_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let (ledger, copy) = (path(&dir), dir.path().join("copy.db"));
    let open = write(&ledger).unwrap();
    let fill = |from: u32| {
        let n = format!("WITH n AS (SELECT {from} AS i UNION ALL SELECT i + 1 FROM n WHERE i < {from} + 5000)");
        format!("{n} INSERT INTO sent SELECT i, 'p', i FROM n; PRAGMA wal_checkpoint;")
    };
    open.execute_batch(&fill(0)).unwrap();
    std::fs::copy(&ledger, &copy).unwrap();
    // It grows on, lets go of its first rows, and ends where nothing of that is in the file yet.
    open.execute_batch(&fill(10_000)).unwrap();
    open.execute_batch("DELETE FROM sent WHERE at_ms < 9000; UPDATE sent SET at_ms = at_ms + 7").unwrap();
    std::fs::copy(beside(&ledger, "-wal"), beside(&copy, "-wal")).unwrap();
    let files = ["", "-wal"].map(|end| (beside(&copy, end), std::fs::read(beside(&copy, end)).unwrap()));
    let error = write(&copy).unwrap_err();
    assert_eq!(error.label(), "damaged");
    assert!(error.to_string().contains("-wal and -shm away") && !error.to_string().contains("begin a new"), "{error}");
    for (name, bytes) in &files {
        assert!(std::fs::read(name).unwrap() == *bytes, "{} was written to", name.display());
    }
    for end in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(beside(&copy, end));
    }
    let again = write(&copy).unwrap();
    assert_eq!(again.query_row("SELECT count(*) FROM sent", [], |row| row.get::<_, i64>(0)).unwrap(), 5_001);
}

#[test]
fn that_a_file_was_taken_to_another_version_is_told_once_and_whoever_only_reads_hears_who_takes_it_on() {
    let dir = tempfile::tempdir().unwrap();
    let known = STEPS.len() as i64;
    let has = fixture::older(&path(&dir));
    let told = read(&path(&dir)).unwrap_err().to_string();
    for part in [format!("version {has} "), format!("takes it to {known}"), "just starting on it".to_owned()] {
        assert!(told.contains(&part), "{told}");
    }
    let opened = |path: &Path| logged(|| drop(write(path).unwrap()));
    let told = opened(&path(&dir));
    assert!(told.contains(&format!("from version {has} to {known} of its schema")), "{told}");
    assert_eq!([opened(&path(&dir)), opened(&dir.path().join("new.db"))], [String::new(), String::new()]);
}
