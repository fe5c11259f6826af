//! A file is looked through before it is written to: a page that is torn would else be met in the middle of the work, with others moved about it by then.

use super::error::LedgerError;
use super::file::{beside, immutable};
use super::steps::STEPS;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The version of its schema.
pub fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// The same, where it is no newer than what is known.
pub fn known(connection: &Connection, path: &Path, known: i64) -> Result<i64, LedgerError> {
    match version(connection).map_err(|error| LedgerError::of(path, &error))? {
        newer if newer > known => Err(LedgerError::Newer(path.to_owned(), newer, known)),
        has => Ok(has),
    }
}

/// Reads all of it; where it is newer or damaged, neither it nor its log has changed once the connection has ended.
pub fn through(connection: &Connection, path: &Path) -> Result<(), LedgerError> {
    let failed = |error: rusqlite::Error| LedgerError::of(path, &error);
    leave(connection, true).map_err(failed)?;
    known(connection, path, STEPS.len() as i64)?;
    let says = check(connection).map_err(failed)?;
    match says.as_str() {
        "ok" => leave(connection, false).map_err(failed),
        _ => Err(LedgerError::Damaged(path.to_owned(), says.replace('\n', " "))),
    }
}

/// Reads all of it: `ok`, or the first thing that is not whole.
fn check(connection: &Connection) -> rusqlite::Result<String> {
    connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
}

/// The same trouble; of a damaged file that is whole without its log, that the log is at fault.
pub fn blame(path: &Path, error: LedgerError) -> LedgerError {
    let is_whole = || immutable(path).and_then(|file| check(&file)).is_ok_and(|says| says == "ok");
    let is_damaged = matches!(error, LedgerError::Damaged(..));
    if is_damaged && Stamp::one(&beside(path, "-wal")).is_some() && is_whole() {
        return LedgerError::OthersLog(path.to_owned());
    }
    error
}

/// Is what its log holds to stay there when the connection ends? Else it would be put into the file then.
pub fn leave(connection: &Connection, leave: bool) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, leave).map(|_| ())
}

/// Which file it is, how long, and when it was last written to; the same of its log, where that has anything in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp([u64; 3], [i64; 2]);

impl Stamp {
    /// Of the file of that name and its log; `None` where there is none.
    pub fn of(path: &Path) -> Option<(Stamp, Option<Stamp>)> {
        Some((Stamp::one(path)?, Stamp::one(&beside(path, "-wal"))))
    }

    fn one(path: &Path) -> Option<Stamp> {
        let told = std::fs::metadata(path).ok().filter(|told| told.len() > 0)?;
        Some(Stamp([told.dev(), told.ino(), told.len()], [told.mtime(), told.mtime_nsec()]))
    }
}
