//! A log of lines in a directory: rotated, and never larger than allowed.

use super::format::{path, segments};
use crate::dirs;
use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A segment's first lines may be so large only that four of them fit.
const SEGMENTS_AT_LEAST: u64 = 4;

/// The log, open for writing.
pub struct Log {
    dir: PathBuf,
    max_bytes: u64,
    segment_bytes: u64,
    /// Segments that are closed, with their sizes, oldest first.
    closed: VecDeque<(u64, u64)>,
    current: Option<Current>,
    next: u64,
}

struct Current {
    number: u64,
    file: BufWriter<File>,
    bytes: u64,
    /// Size at which the next one is to begin.
    full_at: u64,
}

/// Why the log ended.
#[derive(Debug, thiserror::Error)]
pub enum LogEnd {
    /// The file system has no room.
    #[error("{0}: no space left on the device")]
    Full(PathBuf),
    /// The file system refuses.
    #[error("{0}: {1}")]
    Unwritable(PathBuf, io::Error),
    /// Its thread is gone.
    #[error(
        "its thread ended in a panic, which is a fault of Drover; it records again once the service is started anew"
    )]
    Panicked,
}

impl LogEnd {
    /// Every label.
    pub const LABELS: [&str; 3] = ["full", "unwritable", "panicked"];

    /// Stable label.
    pub fn label(&self) -> &'static str {
        match self {
            LogEnd::Full(_) => "full",
            LogEnd::Unwritable(..) => "unwritable",
            LogEnd::Panicked => "panicked",
        }
    }

    fn of(path: &Path, error: io::Error) -> LogEnd {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => LogEnd::Full(path.to_owned()),
            _ => LogEnd::Unwritable(path.to_owned(), error),
        }
    }
}

impl Log {
    /// Opens the directory, which is created if it is not there.
    pub fn open(dir: &Path, max_bytes: u64, segment_bytes: u64) -> Result<Log, LogEnd> {
        let failed = |error| LogEnd::of(dir, error);
        dirs::make(dir).map_err(failed)?;
        let mut closed = VecDeque::new();
        for (number, path) in segments(dir).map_err(failed)? {
            closed.push_back((number, std::fs::metadata(path).map_err(failed)?.len()));
        }
        let next = closed.back().map_or(1, |(number, _)| number + 1);
        Ok(Log { dir: dir.to_owned(), max_bytes, segment_bytes, closed, current: None, next })
    }

    /// The number that the next segment gets.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Space that all segments take.
    pub fn bytes(&self) -> u64 {
        self.closed.iter().map(|(_, bytes)| bytes).sum::<u64>() + self.current.as_ref().map_or(0, |now| now.bytes)
    }

    /// Is it time for the next segment?
    pub fn wants_segment(&self) -> bool {
        self.current.as_ref().is_none_or(|now| now.bytes >= now.full_at)
    }

    /// Begins the next segment with its first lines. `false` if they are too large: then there is none for now.
    pub fn begin(&mut self, first: &[u8]) -> Result<bool, LogEnd> {
        self.close()?;
        let size = first.len() as u64;
        if size.saturating_mul(SEGMENTS_AT_LEAST) > self.max_bytes {
            return Ok(false);
        }
        let path = path(&self.dir, self.next);
        let file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(|e| LogEnd::of(&path, e))?;
        // A large state must not make every segment consist of little else.
        let full_at = self.segment_bytes.max(size.saturating_mul(2)).min(self.max_bytes / 2);
        self.current = Some(Current { number: self.next, file: BufWriter::new(file), bytes: 0, full_at });
        self.next += 1;
        self.write(first)
    }

    /// Appends whole lines to the present segment, and drops the oldest segments to make room for them. `false` if there is no segment, or they do not fit beside what it has:
    /// it ends with that, for what came after them would not follow on what is in it.
    pub fn write(&mut self, lines: &[u8]) -> Result<bool, LogEnd> {
        let more = lines.len() as u64;
        if self.current.as_ref().is_none_or(|now| now.bytes + more > self.max_bytes) {
            self.close()?;
            return Ok(false);
        }
        while self.bytes() + more > self.max_bytes {
            let Some((number, _)) = self.closed.pop_front() else { break };
            let oldest = path(&self.dir, number);
            match std::fs::remove_file(&oldest) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(LogEnd::of(&oldest, error)),
                _ => {}
            }
        }
        let Some(now) = &mut self.current else { return Ok(false) };
        now.bytes += more;
        let number = now.number;
        now.file.write_all(lines).map_err(|error| LogEnd::of(&path(&self.dir, number), error))?;
        Ok(true)
    }

    /// Hands what is buffered to the file system.
    pub fn flush(&mut self) -> Result<(), LogEnd> {
        let Some(now) = &mut self.current else { return Ok(()) };
        let number = now.number;
        now.file.flush().map_err(|error| LogEnd::of(&path(&self.dir, number), error))
    }

    fn close(&mut self) -> Result<(), LogEnd> {
        self.flush()?;
        if let Some(now) = self.current.take() {
            self.closed.push_back((now.number, now.bytes));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_never_grows_beyond_its_bound_and_keeps_the_newest() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log::open(dir.path(), 4_000, 1_000).unwrap();
        for n in 0..500 {
            if log.wants_segment() {
                log.begin(format!("{{\"first\":{n}}}\n").as_bytes()).unwrap();
            }
            log.write(format!("{n:0100}\n").as_bytes()).unwrap();
            log.flush().unwrap();
            let on_disk: u64 =
                std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().metadata().unwrap().len()).sum();
            assert!(on_disk <= 4_000 && on_disk == log.bytes(), "{on_disk}");
        }
        let newest = segments(dir.path()).unwrap().pop().unwrap().1;
        assert!(std::fs::read_to_string(newest).unwrap().ends_with("499\n"));
        assert!(segments(dir.path()).unwrap().len() >= 3);
    }

    #[test]
    fn a_second_run_in_the_same_directory_goes_on_counting() {
        let dir = tempfile::tempdir().unwrap();
        for expected in 1..=2 {
            let mut log = Log::open(dir.path(), 4_000, 1_000).unwrap();
            assert_eq!(log.next(), expected);
            log.begin(b"{}\n").unwrap();
            log.flush().unwrap();
        }
    }

    #[test]
    fn a_directory_that_cannot_be_written_ends_the_log_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert_eq!(Log::open(&file, 4_000, 1_000).err().unwrap().label(), "unwritable");
    }

    #[test]
    fn what_does_not_fit_ends_its_segment_costs_no_older_one_and_the_next_segment_may_begin() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log::open(dir.path(), 4_000, 1_000).unwrap();
        assert!(log.begin(&[b' '; 1_000]).unwrap() && log.begin(&[b' '; 1_000]).unwrap());
        assert!(!log.write(&[b' '; 3_001]).unwrap() && log.wants_segment());
        assert!(!log.write(b"{}\n").unwrap(), "it would not follow on what is there");
        assert!(!log.begin(&[b' '; 1_001]).unwrap() && log.wants_segment());
        assert_eq!((log.bytes(), segments(dir.path()).unwrap().len()), (2_000, 2));
        assert!(log.begin(b"{}\n").unwrap() && log.write(&[b' '; 3_000]).unwrap());
        assert_eq!(segments(dir.path()).unwrap().last().unwrap().0, 3);
    }

    #[test]
    fn a_device_without_space_ends_the_log_by_that_name() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log::open(dir.path(), 1 << 20, 1 << 16).unwrap();
        // The kernel answers every write to it with ENOSPC.
        let file = BufWriter::new(OpenOptions::new().write(true).open("/dev/full").unwrap());
        log.current = Some(Current { number: 1, file, bytes: 0, full_at: 1 << 16 });
        log.write(b"{}\n").unwrap();
        let end = log.flush().unwrap_err();
        assert_eq!(end.label(), "full");
        assert!(end.to_string().ends_with("no space left on the device"), "{end}");
    }
}
