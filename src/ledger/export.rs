//! The ledger's tables as files for other tools: one a table, CSV or Parquet, with the columns of the schema.

use super::error::LedgerError;
use super::file::beside;
use super::open;
use super::schema::{Column, Kind, Table};
use super::tables::TABLES;
use crate::dirs;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use rusqlite::Connection;
use rusqlite::types::Value;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

mod parts;

/// Rows of a Parquet file that are kept in memory and written together.
const GROUP: usize = 50_000;

/// What files are written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text, with a heading.
    Csv,
    /// Columns, uncompressed.
    Parquet,
}

impl Format {
    fn extension(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Parquet => "parquet",
        }
    }
}

/// Why an export ends early.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// A file.
    #[error("{0}: {1}")]
    File(PathBuf, io::Error),
    /// A file that does not get its name, though all are whole: how many have theirs, of how many, and what the names of the others end in.
    #[error(
        "{0} cannot be replaced: {1}; {2} of {3} files are of this export by now, and the others lie whole beside their places, as NAME{4}"
    )]
    Unplaced(PathBuf, io::Error, usize, usize, String),
    /// The user did not wait for its end.
    #[error("interrupted: nothing is exported, and files of an earlier export are as they were")]
    Interrupted,
}

/// Writes every table into a file of its own in `dir`, which is made where there is none. The files with their numbers of rows. Files of those names are replaced once all are written, and by none
/// that is not whole. Once `stop` is set, none is.
///
/// # Errors
/// Where the ledger cannot be read, or a file not be written, or it is to stop.
pub fn export(path: &Path, dir: &Path, format: Format, stop: &AtomicBool) -> Result<Vec<(PathBuf, u64)>, ExportError> {
    let connection = open::read(path)?;
    dirs::make(dir).map_err(|error| ExportError::File(dir.to_owned(), error))?;
    let _under_way = parts::claim(dir);
    let unread = |error: &rusqlite::Error| ExportError::Ledger(LedgerError::of(path, error));
    // One moment of the file for all tables.
    let moment = connection.unchecked_transaction().map_err(|error| unread(&error))?;
    let file = |table: &Table| dir.join(format!("{}.{}", table.name, format.extension()));
    let end = parts::end();
    let source = Source { moment: &moment, stop };
    let one = |table: &&'static Table| {
        let part = beside(&file(table), &end);
        match source.write(table, &part, format) {
            Ok(rows) => Ok((file(table), rows)),
            Err(Trouble::Sqlite(error)) => Err(unread(&error)),
            Err(Trouble::Io(error)) => Err(ExportError::File(part, error)),
            Err(Trouble::Stopped) => Err(ExportError::Interrupted),
        }
    };
    let written: Result<Vec<_>, _> = TABLES.iter().map(one).collect();
    if written.is_err() {
        // Of most there is none, and the error that is told is the first.
        TABLES.iter().for_each(|table| _ = std::fs::remove_file(beside(&file(table), &end)));
    }
    let files = written?;
    for (placed, (file, _)) in files.iter().enumerate() {
        let renamed = std::fs::rename(beside(file, &end), file);
        renamed.map_err(|error| ExportError::Unplaced(file.clone(), error, placed, files.len(), end.clone()))?;
    }
    Ok(files)
}

/// Where rows come from, while nobody has had enough of them.
struct Source<'a> {
    moment: &'a Connection,
    stop: &'a AtomicBool,
}

impl Source<'_> {
    /// One table, on the disk when it comes back.
    fn write(&self, table: &Table, part: &Path, format: Format) -> Result<u64, Trouble> {
        let out = File::create(part).map_err(Trouble::Io)?;
        let synced = out.try_clone().map_err(Trouble::Io)?;
        let rows = match format {
            Format::Csv => csv(self, table, out),
            Format::Parquet => columns(self, table, out),
        }?;
        synced.sync_all().map_err(Trouble::Io)?;
        Ok(rows)
    }

    /// Hands every row of a table over, in the order in which they came.
    fn each(&self, table: &Table, mut take: impl FnMut(Vec<Value>) -> Result<(), Trouble>) -> Result<(), Trouble> {
        let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        let mut all =
            self.moment.prepare(&format!("SELECT {} FROM {} ORDER BY rowid", names.join(", "), table.name))?;
        let mut rows = all.query([])?;
        while let Some(row) = rows.next()? {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Trouble::Stopped);
            }
            take((0..names.len()).map(|at| row.get(at)).collect::<rusqlite::Result<_>>()?)?;
        }
        Ok(())
    }
}

enum Trouble {
    Sqlite(rusqlite::Error),
    Io(io::Error),
    Stopped,
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Trouble {
        Trouble::Sqlite(error)
    }
}

impl From<csv::Error> for Trouble {
    fn from(error: csv::Error) -> Trouble {
        Trouble::Io(error.into())
    }
}

impl From<ParquetError> for Trouble {
    fn from(error: ParquetError) -> Trouble {
        Trouble::Io(io::Error::other(error))
    }
}

fn csv(source: &Source<'_>, table: &Table, out: File) -> Result<u64, Trouble> {
    let mut out = csv::Writer::from_writer(out);
    out.write_record(table.columns.iter().map(|column| column.name))?;
    let mut count = 0;
    source.each(table, |row| {
        count += 1;
        Ok(out.write_record(row.iter().map(text))?)
    })?;
    out.flush().map_err(Trouble::Io)?;
    Ok(count)
}

/// What is absent is empty.
fn text(value: &Value) -> String {
    match value {
        Value::Null | Value::Blob(_) => String::new(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => unreckoned(text),
    }
}

/// Any user names a job, and a spreadsheet would reckon what begins so: the whole, or what comes after what many of them take for the end of a field.
fn unreckoned(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut begins = true;
    for one in text.chars() {
        if begins && matches!(one, '=' | '+' | '-' | '@' | '\t' | '\r') {
            out.push('\'');
        }
        out.push(one);
        begins = matches!(one, ';' | '\t');
    }
    out
}

fn columns(source: &Source<'_>, table: &Table, out: File) -> Result<u64, Trouble> {
    let properties = WriterProperties::builder().set_compression(Compression::UNCOMPRESSED).build();
    let mut file = SerializedFileWriter::new(out, Arc::new(schema(table)?), Arc::new(properties))?;
    let (mut group, mut count) = (Vec::with_capacity(GROUP), 0);
    source.each(table, |row| {
        group.push(row);
        count += 1;
        if group.len() < GROUP {
            return Ok(());
        }
        write_group(&mut file, table, &std::mem::take(&mut group))
    })?;
    if !group.is_empty() {
        write_group(&mut file, table, &group)?;
    }
    file.close()?;
    Ok(count)
}

fn schema(table: &Table) -> Result<Type, ParquetError> {
    let column = |column: &Column| {
        let (physical, logical) = match column.kind {
            Kind::Whole => (Physical::INT64, None),
            Kind::Real => (Physical::DOUBLE, None),
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let repeated = if column.optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let one = Type::primitive_type_builder(column.name, physical);
        Ok(Arc::new(one.with_logical_type(logical).with_repetition(repeated).build()?))
    };
    let fields = table.columns.iter().map(column).collect::<Result<_, ParquetError>>()?;
    Type::group_type_builder(table.name).with_fields(fields).build()
}

fn write_group(file: &mut SerializedFileWriter<File>, table: &Table, rows: &[Vec<Value>]) -> Result<(), Trouble> {
    let mut group = file.next_row_group()?;
    for (at, column) in table.columns.iter().enumerate() {
        write_column(&mut group, column, rows.iter().map(|row| &row[at]))?;
    }
    group.close()?;
    Ok(())
}

fn write_column<'a>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    column: &Column,
    values: impl Iterator<Item = &'a Value> + Clone,
) -> Result<(), Trouble> {
    let Some(mut writer) = group.next_column()? else { return Ok(()) };
    let there: Vec<i16> = values.clone().map(|value| i16::from(*value != Value::Null)).collect();
    let there = column.optional.then_some(&there[..]);
    match writer.untyped() {
        ColumnWriter::Int64ColumnWriter(out) => {
            let whole =
                values.filter_map(|value| if let Value::Integer(number) = value { Some(*number) } else { None });
            out.write_batch(&whole.collect::<Vec<_>>(), there, None)?;
        }
        ColumnWriter::DoubleColumnWriter(out) => {
            let real = values.filter_map(|value| if let Value::Real(number) = value { Some(*number) } else { None });
            out.write_batch(&real.collect::<Vec<_>>(), there, None)?;
        }
        ColumnWriter::ByteArrayColumnWriter(out) => {
            let text =
                values.filter_map(|value| if let Value::Text(text) = value { Some(text.as_str()) } else { None });
            out.write_batch(&text.map(ByteArray::from).collect::<Vec<_>>(), there, None)?;
        }
        // The schema has no other columns.
        _ => {}
    }
    writer.close()?;
    Ok(())
}

#[cfg(test)]
mod tests;
