//! The ledger in a process that dies, and in one whose disk is full.

use drover::ledger::tables::StragglerRow;
use drover::ledger::{Bounds, Ledger, Metrics, Pace, Record, read};
use drover_core::model::{Bytes, Millis, Time};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Names the file to a copy of this test program that is to write without end.
const FILE: &str = "DROVER_TEST_LEDGER";
/// The test that such a copy runs.
const CHILD: &str = "a_row_is_on_the_disk_once_it_is_said_to_be";

fn ledger(path: &Path) -> (Ledger, Metrics) {
    let metrics = Metrics::new(&prometheus::Registry::new()).unwrap();
    let bounds = Bounds { max_age: Millis(u64::MAX), max_bytes: Bytes(u64::MAX) };
    let ledger = Ledger::start(path, bounds, Pace::default(), || Time(0), metrics.clone()).unwrap();
    ledger.catch_up();
    (ledger, metrics)
}

fn kept(path: &Path) -> Vec<u64> {
    let open = read(path).unwrap();
    let mut all = open.prepare("SELECT * FROM stragglers ORDER BY at_ms").unwrap();
    let rows = all.query_map([], StragglerRow::read).unwrap();
    rows.map(|row| row.unwrap().at_ms.0).collect()
}

/// Writes rows numbered on from what is there, and says after each commit up to which they are on the disk. Ends when the file cannot be written any more, with a word on why.
fn write_on(path: &Path) {
    let (mut ledger, metrics) = ledger(path);
    let (lost, out) = (metrics.dropped.with_label_values(&["unwritable"]), std::io::stdout());
    let first = kept(path).last().map_or(0, |last| last + 1);
    let mut next = first;
    while lost.get() == 0 {
        let rows = (next..next + 7).map(|at| StragglerRow { at_ms: Time(at), probability: None, evidence: 1.0 }.row());
        ledger.push(rows.collect());
        next += 7;
        // Not after each: several groups are to be under way when the end comes.
        if next.is_multiple_of(5) {
            ledger.catch_up();
            writeln!(out.lock(), "committed {}", first + ledger.committed()).unwrap();
        }
    }
    let words = ledger.state().trouble().unwrap_or("none").to_owned();
    writeln!(out.lock(), "trouble {words}").unwrap();
}

#[test]
fn a_row_is_on_the_disk_once_it_is_said_to_be() {
    if let Some(path) = std::env::var_os(FILE) {
        return write_on(Path::new(&path));
    }
    let dir = tempfile::tempdir().unwrap();
    let (mut ledger, _) = ledger(&dir.path().join("l.db"));
    ledger.push(vec![StragglerRow { at_ms: Time(1), probability: None, evidence: 1.0 }.row()]);
    ledger.catch_up();
    assert_eq!((ledger.committed(), kept(&dir.path().join("l.db"))), (1, vec![1]));
}

fn copy(program: &str, arguments: &[&str], path: &Path) -> std::process::Child {
    let mut command = Command::new(program);
    command.args(arguments).env(FILE, path).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().unwrap()
}

#[test]
fn a_process_killed_at_any_moment_loses_no_row_that_was_said_to_be_on_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("l.db");
    let program = std::env::current_exe().unwrap();
    let mut before = 0;
    for round in 1..=20 {
        let mut child = copy(program.to_str().unwrap(), &["--exact", CHILD, "--nocapture"], &path);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut said = lines.filter_map(|line| line.split("committed ").nth(1)?.trim().parse::<u64>().ok());
        // Another commit in each round, so that other work is under way: a first one, a migration, a checkpoint.
        let mut last = said.by_ref().nth(round * 3 % 17).unwrap();
        child.kill().unwrap();
        // What it still said before it died counts, too.
        last = said.last().unwrap_or(last);
        child.wait().unwrap();
        let rows = kept(&path);
        assert!(rows.len() as u64 >= last && last > before, "round {round}: {} rows of {last}", rows.len());
        assert!(rows.iter().zip(0..).all(|(row, at)| *row == at), "round {round}: none is missing in between");
        before = last;
    }
}

#[test]
fn a_process_that_may_write_no_more_goes_on_says_why_and_keeps_what_was_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("l.db");
    let program = std::env::current_exe().unwrap();
    // Blocks of 512 bytes; the signal that comes with the limit is one that services ignore.
    let script = "trap '' XFSZ; ulimit -f 1024; exec \"$0\" \"$@\"";
    let arguments = ["-c", script, program.to_str().unwrap(), "--exact", CHILD, "--nocapture"];
    let output = copy("sh", &arguments, &path).wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let trouble = text.lines().find_map(|line| line.split("trouble ").nth(1)).unwrap();
    assert!(trouble.contains("l.db: the ledger cannot be used") || trouble.contains("no space left"), "{trouble}");
    let mut said = text.lines().filter_map(|line| line.split("committed ").nth(1)?.trim().parse::<u64>().ok());
    let (rows, last) = (kept(&path), said.next_back().unwrap());
    assert!(rows.len() as u64 >= last && last > 0, "{} rows of {last}", rows.len());
}
