//! Opening the file: ours, whole and of a version that is understood, or an error that says what to do. Nothing that is not ours is ever written to.

use super::error::LedgerError;
use super::file::{READ_ONLY, beside, immutable};
use super::look::{self, version};
use super::steps::{STEPS, Step};
use crate::dirs;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::io;
use std::path::Path;
use std::time::Duration;

/// `DrOv`: says in the file's header whose it is.
pub const APPLICATION_ID: i32 = 0x4472_4f76;
/// How long another process may hold the file: a report reads for less.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// The same of one try of the writer, which goes on trying: until it has ended so does no service.
pub const TRY: Duration = Duration::from_millis(250);

/// Is there a file of ours? `false`: none yet, or an empty one. Nothing is written to it, nor beside it.
///
/// It is read through SQLite: a descriptor of our own, once closed, would take this process's locks from the file (POSIX), and whoever closed it last then would delete the log that is being written.
fn is_ours(path: &Path) -> Result<bool, LedgerError> {
    let told = match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        told => told.map_err(|error| LedgerError::of_io(path, &error))?,
    };
    if !told.is_file() {
        return Err(LedgerError::Unusable(path.to_owned(), "it is no regular file".into()));
    }
    if told.len() == 0 {
        return Ok(false);
    }
    match immutable(path).and_then(|file| owner(&file)) {
        Ok(APPLICATION_ID) => Ok(true),
        Ok(_) => Err(LedgerError::Foreign(path.to_owned())),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            Err(LedgerError::Damaged(path.to_owned(), "it is no SQLite file".into()))
        }
        Err(error) => Err(LedgerError::of(path, &error)),
    }
}

/// Whose it is, by the file's header.
fn owner(file: &Connection) -> rusqlite::Result<i32> {
    // A checkpoint under way may have written the first page and not yet all that it counts, which is no damage.
    file.pragma_update(None, "writable_schema", true)?;
    file.query_row("PRAGMA application_id", [], |row| row.get(0))
}

/// Opens it to be written to, once all of it has been read, unless that was found to be `whole` already. Is it there?
pub fn look(path: &Path, whole: bool) -> Result<(Connection, bool), LedgerError> {
    let ours = is_ours(path)?;
    dirs::make_above(path).map_err(|error| LedgerError::unmade(path, &error))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let failed = |error: rusqlite::Error| LedgerError::of(path, &error);
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(TRY).map_err(failed)?;
    if ours && !whole {
        look::through(&connection, path).map_err(|error| look::blame(path, error))?;
    }
    Ok((connection, ours))
}

/// Makes one that [`look`] has opened what it has to be.
pub fn prepare(connection: &mut Connection, path: &Path) -> Result<(), LedgerError> {
    let failed = |error: rusqlite::Error| LedgerError::of(path, &error);
    begin(connection).map_err(failed)?;
    connection.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
    connection.pragma_update(None, "journal_size_limit", 16_i64 << 20).map_err(failed)?;
    migrate(connection, path, STEPS)?;
    // A file that is there opens on a full disk, too: only what writes to it shows that it can be written.
    connection.pragma_update(None, "user_version", STEPS.len() as i64).map_err(failed)
}

/// What a file without a page begins with, where a process that was killed may have left such a one, too.
///
/// At once and before the write-ahead log: whenever the process ends, the file names its owner or has nothing in it.
fn begin(connection: &Connection) -> rusqlite::Result<()> {
    if connection.query_row("PRAGMA page_count", [], |row| row.get::<_, i64>(0))? > 0 {
        return Ok(());
    }
    let first = format!("BEGIN; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA application_id = {APPLICATION_ID}; COMMIT");
    connection.execute_batch(&first)
}

/// Both of a file that nothing is known of.
#[cfg(test)]
pub fn write(path: &Path) -> Result<Connection, LedgerError> {
    let (mut connection, _) = look(path, false)?;
    prepare(&mut connection, path).map(|()| connection)
}

/// Makes a file as a Drover did that knew these steps.
#[cfg(test)]
pub fn write_older(path: &Path, steps: &[Step<'_>]) {
    let mut made = Connection::open(path).unwrap();
    begin(&made).unwrap();
    migrate(&mut made, path, steps).unwrap();
}

/// Opens it for reading only, beside a service that writes it or without one.
///
/// # Errors
/// Where there is none, or none of ours.
pub fn read(path: &Path) -> Result<Connection, LedgerError> {
    let (connection, has) = read_any(path)?;
    let known = STEPS.len() as i64;
    if has == known {
        return Ok(connection);
    }
    Err(LedgerError::Older(path.to_owned(), has, known))
}

/// The same of an older version, too, and which.
pub fn read_any(path: &Path) -> Result<(Connection, i64), LedgerError> {
    if !is_ours(path)? {
        return Err(LedgerError::Missing(path.to_owned()));
    }
    let failed = |error: rusqlite::Error| LedgerError::of(path, &error);
    let patient = |opened: Connection| opened.busy_timeout(PATIENCE).and_then(|()| version(&opened)).map(|_| opened);
    let plain = Connection::open_with_flags(path, READ_ONLY).and_then(patient);
    let connection = match plain {
        // A directory that cannot be written has no room for the log's index; where there is no log, none is needed.
        Err(error) if !is_busy(&error) && !beside(path, "-wal").exists() => immutable(path).map_err(failed)?,
        opened => opened.map_err(failed)?,
    };
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    let has = look::known(&connection, path, STEPS.len() as i64).map_err(|error| look::blame(path, error))?;
    Ok((connection, has))
}

/// Somebody else has it, who may be writing.
fn is_busy(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked))
}

/// Takes a file to the newest version: all of it or none.
fn migrate(connection: &mut Connection, path: &Path, steps: &[Step<'_>]) -> Result<(), LedgerError> {
    let failed = |error: rusqlite::Error| LedgerError::of(path, &error);
    let known = steps.len() as i64;
    let has = look::known(connection, path, known)?;
    let missing = steps.iter().skip(usize::try_from(has).unwrap_or(0));
    if has == known {
        return Ok(());
    }
    let all = connection.transaction().map_err(failed)?;
    for step in missing {
        all.execute_batch(&step()).map_err(failed)?;
    }
    all.pragma_update(None, "user_version", known).map_err(failed)?;
    all.commit().map_err(failed)?;
    if has > 0 {
        // Here alone, so that no trouble that comes right after it keeps it from being told.
        tracing::warn!(
            path = %path.display(),
            "the ledger was taken from version {has} to {known} of its schema: an older Drover cannot use it any more; going back to one wants the copy made before"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests;
