//! The file, open for writing.

use super::error::LedgerError;
use super::file;
use super::learned_row::LearnedRow;
use super::look;
use super::metrics::Metrics;
use super::open;
use super::retain::{self, Bounds};
use super::schema::{Record, Row};
use drover_core::model::{Bytes, Millis, Time};
use rusqlite::{Connection, ErrorCode, params, params_from_iter};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The file.
pub struct Store {
    path: PathBuf,
    connection: Connection,
    file: File,
    /// There was none before.
    pub is_new: bool,
}

/// What came of a group.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Rows that were not there before, by table.
    pub new: BTreeMap<&'static str, u64>,
    /// Rows that the file does not take, as they lack what such a row has to have.
    pub refused: u64,
}

/// Device and number of a file: another of the same name is not it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File(u64, u64);

fn identity(path: &Path) -> Option<File> {
    let told = std::fs::metadata(path).ok()?;
    Some(File(told.dev(), told.ino()))
}

impl Store {
    /// Opens or makes it. The file that was found `whole` is not read through again, which takes long; once one is, that is it.
    pub fn open(path: &Path, whole: &mut Option<File>) -> Result<Store, LedgerError> {
        let gone = || LedgerError::Deleted(path.to_owned());
        let before = identity(path);
        let (mut connection, there) = open::look(path, before.is_some() && before == *whole)?;
        if there && identity(path) != before {
            return Err(gone());
        }
        *whole = before.filter(|_| there);
        open::prepare(&mut connection, path)?;
        let file = identity(path).ok_or_else(gone)?;
        *whole = Some(file);
        Ok(Store { path: path.to_owned(), connection, file, is_new: !there })
    }

    /// SQLite writes on into a file that was deleted, and nobody would find it there.
    pub fn check(&self) -> Result<(), LedgerError> {
        let there = identity(&self.path) == Some(self.file);
        if there { Ok(()) } else { Err(LedgerError::Deleted(self.path.clone())) }
    }

    /// Writes all of these that a file can have, or none; when it comes back they are on the disk.
    pub fn write(&mut self, rows: &[Row]) -> Result<Written, LedgerError> {
        if rows.is_empty() {
            return Ok(Written::default());
        }
        let done = self.commit(rows);
        done.map_err(|error| self.failed(&error))
    }

    fn commit(&mut self, rows: &[Row]) -> rusqlite::Result<Written> {
        let group = self.connection.transaction()?;
        let mut written = Written::default();
        let mut statements: BTreeMap<&str, String> = BTreeMap::new();
        for row in rows {
            let sql = statements.entry(row.table.name).or_insert_with(|| row.table.insert());
            match group.prepare_cached(sql)?.execute(params_from_iter(&row.values)) {
                Ok(new) => *written.new.entry(row.table.name).or_default() += new as u64,
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                    if written.refused == 0 {
                        tracing::error!(%error, "a row lacks what it has to have, and is not kept; this is a fault of Drover");
                    }
                    written.refused += 1;
                }
                Err(error) => return Err(error),
            }
        }
        group.commit().map(|()| written)
    }

    /// Puts what was learned in the place of what was kept of that room, also in an older form; when it comes back it is on the disk. A newer form's stays for whoever reads it.
    pub fn replace(&mut self, learned: &LearnedRow) -> Result<(), LedgerError> {
        let done = self.commit_instead(learned);
        done.map_err(|error| self.failed(&error))
    }

    fn commit_instead(&mut self, learned: &LearnedRow) -> rusqlite::Result<()> {
        let group = self.connection.transaction()?;
        let name = LearnedRow::TABLE.name;
        let before = params![learned.room, learned.format];
        group.execute(&format!("DELETE FROM {name} WHERE room = ? AND format <= ?"), before)?;
        group.prepare_cached(&LearnedRow::TABLE.insert())?.execute(params_from_iter(learned.values()))?;
        group.commit()
    }

    /// Lets go of what was kept of a room in that form or an older one, where it is larger than may be: no start reads it, and rows would have to go for it.
    pub fn let_go(&mut self, room: &str, format: u32, most: u64) -> Result<(), LedgerError> {
        let name = LearnedRow::TABLE.name;
        let ask = format!("DELETE FROM {name} WHERE room = ? AND format <= ? AND octet_length(state) > ?");
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let done = self.connection.execute(&ask, params![room, format, most]);
        done.map(|_| ()).map_err(|error| self.failed(&error))
    }

    /// When its oldest row is from.
    pub fn oldest(&self) -> Result<Option<Time>, LedgerError> {
        retain::oldest(&self.connection).map_err(|error| self.failed(&error))
    }

    /// Time since its newest row that makes no row older.
    pub fn pause(&self, now: Time) -> Result<Millis, LedgerError> {
        retain::pause(&self.connection, now).map_err(|error| self.failed(&error))
    }

    /// Lets go of some of what is too much; that pause makes no row older.
    pub fn retain(&self, bounds: Bounds, clock: Time, pause: Millis, metrics: &Metrics) -> Result<(), LedgerError> {
        let step = retain::step(&self.connection, bounds, clock, pause, metrics);
        step.map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &rusqlite::Error) -> LedgerError {
        let error = LedgerError::of(&self.path, error);
        if matches!(error, LedgerError::Damaged(..)) {
            // It fails for no connection that is open.
            let _ = look::leave(&self.connection, true);
        }
        error
    }

    /// Space that it takes, its log included.
    pub fn bytes(&self) -> Bytes {
        file::size(&self.path)
    }
}
