//! Reads a recording line by line. What is damaged is named by file and line.

use super::format::{FORMAT, Header, Line, segments};
use crate::telemetry::BUILD;
use drover_core::engine::{Engine, EngineParams};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Longest line that is read: the state of an engine with a million attempts takes a third of this.
const LINE_MAX: u64 = 1 << 30;

/// A recording that cannot be read on.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file system refuses.
    #[error("{path}: {error}", path = .0.display(), error = .1)]
    Io(PathBuf, io::Error),
    /// Nothing to read.
    #[error("{}: holds no segment of a recording (drover-….jsonl); name the directory given to serve --record", .0.display())]
    Empty(PathBuf),
    /// A segment is of another build's format.
    #[error("{}:1: {what}", .file.display())]
    Format {
        /// The file.
        file: PathBuf,
        /// What is wrong, and what to do.
        what: String,
    },
    /// A line is no line of a recording.
    #[error("{}:{line}: {what}", .file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The line in it, from 1.
        line: usize,
        /// What is wrong, and what to do.
        what: String,
    },
}

/// A line with where it stands.
#[derive(Debug)]
pub struct Placed<'a> {
    /// The file.
    pub file: &'a Path,
    /// The line in it, from 1.
    pub number: usize,
    /// The line as it stands there.
    pub text: &'a str,
    /// What it says.
    pub line: Line<Box<Engine>, EngineParams>,
}

impl Placed<'_> {
    /// An error about this line.
    pub fn damaged(&self, what: impl Into<String>) -> ReadError {
        ReadError::Damaged { file: self.file.to_owned(), line: self.number, what: what.into() }
    }
}

/// The files that the paths stand for: a directory stands for its segments, oldest first.
pub fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, ReadError> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let found = segments(path).map_err(|error| ReadError::Io(path.clone(), error))?;
        if found.is_empty() {
            return Err(ReadError::Empty(path.clone()));
        }
        files.extend(found.into_iter().map(|(_, path)| path));
    }
    Ok(files)
}

/// Whose build reads it: versions do not tell, where formats change between two releases.
fn other_format(header: &Header) -> String {
    let age = if header.format > FORMAT { "a newer" } else { "an older" };
    let Header { format, drover, .. } = header;
    format!(
        "has format {format}, and this build (version {}) reads {FORMAT}: {age} build wrote it (version {drover}); replay it with that one",
        *BUILD
    )
}

/// Calls `visit` for every line of a file. With `lenient` a last line that is cut off is left out and counted; the count comes back.
pub fn read(
    file: &Path,
    lenient: bool,
    visit: &mut dyn FnMut(Placed<'_>) -> Result<(), ReadError>,
) -> Result<u64, ReadError> {
    let failed = |error| ReadError::Io(file.to_owned(), error);
    let mut from = BufReader::with_capacity(1 << 16, File::open(file).map_err(failed)?);
    let (mut bytes, mut number) = (Vec::new(), 0);
    loop {
        bytes.clear();
        from.by_ref().take(LINE_MAX).read_until(b'\n', &mut bytes).map_err(failed)?;
        if bytes.is_empty() {
            return Ok(0);
        }
        number += 1;
        let damaged = |what: String| ReadError::Damaged { file: file.to_owned(), line: number, what };
        if bytes.pop_if(|last| *last == b'\n').is_none() {
            if lenient {
                return Ok(1);
            }
            return Err(damaged("is cut off, as after a crash; --lenient leaves such a last line out".into()));
        }
        let text = std::str::from_utf8(&bytes).map_err(|error| damaged(format!("is no text: {error}")))?;
        let line = serde_json::from_str(text).map_err(|error| damaged(format!("is damaged: {error}")))?;
        match &line {
            Line::Segment(header) if header.format != FORMAT => {
                return Err(ReadError::Format { file: file.to_owned(), what: other_format(header) });
            }
            Line::Segment(_) => {}
            _ if number == 1 => return Err(damaged("is no header of a segment; this is no recording".into())),
            _ => {}
        }
        visit(Placed { file, number, text, line })?;
    }
}
