//! The file on its disk, and what lies beside it.

use drover_core::model::Bytes;
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};

/// To read it.
pub const READ_ONLY: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX).union(OpenFlags::SQLITE_OPEN_URI);

/// The file as it lies there: without its log, without locks, and with nothing made beside it.
pub fn immutable(path: &Path) -> rusqlite::Result<Connection> {
    let uri = url::Url::from_file_path(std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
    let uri = uri.map_or_else(|()| path.display().to_string(), |uri| format!("{uri}?immutable=1"));
    Connection::open_with_flags(uri, READ_ONLY)
}

/// The file of that name with something at its end.
pub fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Space that it takes, its log included.
pub fn size(path: &Path) -> Bytes {
    let of = |path: &Path| std::fs::metadata(path).map_or(0, |told| told.len());
    Bytes(of(path) + of(&beside(path, "-wal")))
}
