//! Files of an export that have not got their names yet, and what becomes of those that a killed one left.

use super::Format;
use crate::ledger::tables::TABLES;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

/// How often a directory's lock is asked for, and the pause after each.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// What the name of a file ends in that has not its own yet: another export's in another.
pub fn end() -> String {
    format!(".{}.part", std::process::id())
}

/// Notes that an export into a directory is under way, for as long as what it gives is kept. Where no other is, the parts there are those of exports that were killed, and are removed: a disk
/// that is full with them has room again. `None` where the file system has no locks: whose they are cannot be known then, and they stay.
pub fn claim(dir: &Path) -> Option<File> {
    let lock = File::open(dir).ok()?;
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => remove_left(dir),
        Err(Errno::WOULDBLOCK) => {}
        Err(_) => return None,
    }
    // Another export has it alone for a moment. Who has it for longer, as `flock DIR COMMAND` around this very export, is not waited for.
    (0..TRIES).any(|_| is_shared(&lock)).then_some(lock)
}

fn is_shared(lock: &File) -> bool {
    let shared = flock(lock, FlockOperation::NonBlockingLockShared).is_ok();
    if !shared {
        std::thread::sleep(PAUSE);
    }
    shared
}

fn remove_left(dir: &Path) {
    let Ok(all) = fs::read_dir(dir) else { return };
    let left = all.flatten().filter(|file| file.file_name().to_str().is_some_and(is_part));
    // What cannot be removed is in nobody's way.
    left.for_each(|file| _ = fs::remove_file(file.path()));
}

/// `TABLE.csv.PID.part`: whoever names a file of their own so has been told.
fn is_part(name: &str) -> bool {
    let Some((file, process)) = name.strip_suffix(".part").and_then(|name| name.rsplit_once('.')) else { return false };
    let is_ours = |table: &str, extension: &str| {
        file.strip_prefix(table).and_then(|end| end.strip_prefix('.')) == Some(extension)
    };
    let is_table = |format: Format| TABLES.iter().any(|table| is_ours(table.name, format.extension()));
    process.parse::<u32>().is_ok() && [Format::Csv, Format::Parquet].into_iter().any(is_table)
}
