//! Why the ledger's file cannot be written or read, and what to do about it.

use rusqlite::ErrorCode;
use std::io;
use std::path::{Path, PathBuf};

/// Why the ledger cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The file system has no room.
    #[error(
        "{0}: no space left for the ledger; free some first; a lower ledger.max_bytes frees none before that, and keeps the ledger from filling the disk again after it"
    )]
    Full(PathBuf),
    /// The file or its directory cannot be written.
    #[error(
        "{0}: the ledger cannot be opened, or not be written: {1}; give whoever runs this the right to the file and its directory, or name another with ledger.path"
    )]
    ReadOnly(PathBuf, String),
    /// It is no SQLite file, or not whole.
    #[error(
        "{0}: the ledger is damaged: {1}; it is left as it is. Move it away to begin a new one, with the files of its name that end in -wal and -shm; `sqlite3 FILE .recover` may save what is in it"
    )]
    Damaged(PathBuf, String),
    /// It is whole, and not with what its log holds.
    #[error(
        "{0}: the ledger is damaged by its log and sound without it, so that the log seems to be another file's, as when a copy was put back beside it; move the files of its name that end in -wal and \
         -shm away, and keep them until you know"
    )]
    OthersLog(PathBuf),
    /// Somebody else has locked it.
    #[error(
        "{0}: another process has locked the ledger: {1}; end what holds it, such as a sqlite3 shell in the middle of a transaction"
    )]
    Busy(PathBuf, String),
    /// It is another program's.
    #[error(
        "{0} is another program's file, not a ledger of Drover's, and is left as it is; name another with ledger.path"
    )]
    Foreign(PathBuf),
    /// A newer Drover wrote it.
    #[error(
        "{0}: the ledger has version {1} of its schema, and this Drover knows {2}; install the Drover that wrote it, or name another file with ledger.path"
    )]
    Newer(PathBuf, i64, i64),
    /// An older Drover wrote it, and nobody has taken it on.
    #[error(
        "{0}: the ledger has version {1} of its schema; `drover serve` with ledger.path set to it, or to a copy of it, takes it to {2}; a service that is just starting on it is doing so"
    )]
    Older(PathBuf, i64, i64),
    /// It is gone.
    #[error(
        "{0}: the ledger's file was deleted or replaced while it was in use; a new one is begun in its place where there is none"
    )]
    Deleted(PathBuf),
    /// It is not there to be read.
    #[error("{0}: there is no ledger; ledger.path names where a service keeps one, --file another")]
    Missing(PathBuf),
    /// Anything else.
    #[error("{0}: the ledger cannot be used: {1}")]
    Unusable(PathBuf, String),
    /// Nobody writes it any more.
    #[error("{0}: the ledger's writer has ended in a panic, which is a fault of Drover; start the service again")]
    Panicked(PathBuf),
}

impl LedgerError {
    /// Every label.
    pub const LABELS: [&str; 10] =
        ["full", "read_only", "damaged", "busy", "foreign", "newer", "deleted", "missing", "unwritable", "panicked"];

    /// Stable label.
    pub fn label(&self) -> &'static str {
        match self {
            LedgerError::Full(_) => "full",
            LedgerError::ReadOnly(..) => "read_only",
            LedgerError::Damaged(..) | LedgerError::OthersLog(_) => "damaged",
            LedgerError::Busy(..) => "busy",
            LedgerError::Foreign(_) => "foreign",
            LedgerError::Newer(..) => "newer",
            LedgerError::Deleted(_) => "deleted",
            LedgerError::Missing(_) => "missing",
            // Of an older one whoever writes has no trouble.
            LedgerError::Older(..) | LedgerError::Unusable(..) => "unwritable",
            LedgerError::Panicked(_) => "panicked",
        }
    }

    /// What SQLite said of that file.
    pub fn of(path: &Path, error: &rusqlite::Error) -> LedgerError {
        let (path, says) = (path.to_owned(), error.to_string());
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => LedgerError::Full(path),
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                LedgerError::ReadOnly(path, says)
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => LedgerError::Busy(path, says),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => LedgerError::Damaged(path, says),
            _ => LedgerError::Unusable(path, says),
        }
    }

    /// Its directory cannot be made.
    pub(super) fn unmade(path: &Path, error: &io::Error) -> LedgerError {
        match LedgerError::of_io(path, error) {
            LedgerError::Missing(path) => LedgerError::ReadOnly(path, error.to_string()),
            other => other,
        }
    }

    /// What the file system said of it.
    pub(super) fn of_io(path: &Path, error: &io::Error) -> LedgerError {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => LedgerError::Full(path),
            io::ErrorKind::NotFound => LedgerError::Missing(path),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                LedgerError::ReadOnly(path, error.to_string())
            }
            _ => LedgerError::Unusable(path, error.to_string()),
        }
    }
}
