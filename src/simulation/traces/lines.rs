//! A trace's text, line by line, of which no more is held than may be.

use super::BadTrace;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// The longest line of a trace, bytes: a job of SWIM's, a row of a CSV, an event of a history.
pub(super) const LINE_LIMIT: u64 = 16 << 20;

/// As spreadsheets begin what they write: a byte-order mark.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// Lines with their numbers.
pub(super) struct Lines<'a> {
    path: &'a Path,
    inner: BufReader<Limited>,
    pub(super) line: usize,
}

/// What there is, but an error where there is more than may be: an end there would pass for the text's own.
struct Limited {
    inner: Box<dyn Read>,
    /// How many bytes more may come, and how many at first.
    left: u64,
    limit: u64,
    /// Others before it had theirs of the same limit.
    is_one_of_many: bool,
}

impl Read for Limited {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(into.len());
        if most == 0 && !into.is_empty() {
            return if self.inner.read(&mut [0])? == 0 { Ok(0) } else { Err(self.too_much()) };
        }
        let read = self.inner.read(&mut into[..most])?;
        self.left -= read as u64;
        Ok(read)
    }
}

impl Limited {
    fn too_much(&self) -> io::Error {
        let (limit, whole) = (self.limit, super::LIMIT);
        io::Error::other(if self.is_one_of_many {
            format!(
                "with the histories before it it has more than {whole} bytes, unpacked: name the directory of a day"
            )
        } else {
            format!("it has more than {limit} bytes, unpacked, and no more are read of a trace")
        })
    }
}

impl<'a> Lines<'a> {
    /// Of a file, plain or gzipped, that has `limit` bytes at most, unpacked; of many, what those before it left of their limit. A mark at its
    /// beginning is passed over.
    pub(super) fn open(path: &'a Path, limit: u64, is_one_of_many: bool) -> Result<Lines<'a>, BadTrace> {
        let unread = |source| BadTrace::Unread { path: path.to_owned(), source };
        let mut file = BufReader::new(File::open(path).map_err(unread)?);
        let packed = file.fill_buf().map_err(unread)?.starts_with(&[0x1f, 0x8b]);
        let inner: Box<dyn Read> = if packed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
        let inner = BufReader::new(Limited { inner, left: limit, limit, is_one_of_many });
        let mut lines = Lines { path, inner, line: 0 };
        if lines.begins()?.starts_with(MARK) {
            lines.inner.consume(MARK.len());
        }
        Ok(lines)
    }

    pub(super) fn path(&self) -> &Path {
        self.path
    }

    /// How it begins, of which nothing is taken yet.
    ///
    /// # Errors
    /// Of a gzip file that was cut off at once, too.
    pub(super) fn begins(&mut self) -> Result<&[u8], BadTrace> {
        self.inner.fill_buf().map_err(|source| BadTrace::Unread { path: self.path.to_owned(), source })
    }

    /// What follows the line that was read last.
    pub(super) fn rest(&mut self) -> &mut impl Read {
        &mut self.inner
    }

    /// Is there no more?
    ///
    /// # Errors
    /// Where there is more than is read of a trace, and of a gzip file that was cut off.
    pub(super) fn is_at_end(&mut self) -> io::Result<bool> {
        Ok(self.inner.fill_buf()?.is_empty())
    }

    /// How much more may be read, bytes.
    pub(super) fn left(&self) -> u64 {
        self.inner.get_ref().left
    }

    /// The next line, without its end.
    pub(super) fn next(&mut self) -> Result<Option<String>, BadTrace> {
        let mut text = String::new();
        self.line += 1;
        let read = (&mut self.inner).take(LINE_LIMIT + 1).read_line(&mut text);
        let read = read.map_err(|error| self.wrong(format!("cannot be read on: {error}")))?;
        if read as u64 > LINE_LIMIT {
            return Err(self.wrong(format!("is longer than {LINE_LIMIT} bytes")));
        }
        text.truncate(text.trim_end_matches(['\n', '\r']).len());
        Ok((read > 0).then_some(text))
    }

    /// The line that was read last is wrong.
    pub(super) fn wrong(&self, what: String) -> BadTrace {
        BadTrace::Line { path: self.path.to_owned(), line: self.line, what }
    }

    /// The file is wrong.
    pub(super) fn whole_wrong(&self, what: String) -> BadTrace {
        BadTrace::Whole { path: self.path.to_owned(), what }
    }

    /// A whole number of that line.
    pub(super) fn whole(&self, text: &str, name: &str) -> Result<u64, BadTrace> {
        text.trim().parse().map_err(|_| self.wrong(format!("{name}: \"{text}\" is no whole number from 0 on")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What reading lines of such a file comes to, with so many bytes allowed.
    fn read(text: &[u8], limit: u64) -> Result<Vec<String>, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let mut lines = Lines::open(file.path(), limit, false).unwrap();
        let all: Result<Vec<String>, BadTrace> = std::iter::from_fn(|| lines.next().transpose()).collect();
        all.map_err(|error| error.to_string().split_once(": ").unwrap().1.to_owned())
    }

    #[test]
    fn a_file_as_long_as_may_be_is_read_and_of_a_longer_one_no_line_passes_for_a_whole_one() {
        assert_eq!(read(b"ab\ncd", 5).unwrap(), ["ab", "cd"]);
        let said = read(b"ab\ncd", 4).unwrap_err();
        assert_eq!(said, "cannot be read on: it has more than 4 bytes, unpacked, and no more are read of a trace");
    }

    #[test]
    fn a_line_that_is_too_long_is_refused_before_it_is_held() {
        let long = vec![b'x'; LINE_LIMIT as usize + 1];
        assert_eq!(read(&long, u64::MAX).unwrap_err(), format!("is longer than {LINE_LIMIT} bytes"));
        assert_eq!(read(&long[1..], u64::MAX).unwrap()[0].len() as u64, LINE_LIMIT);
    }
}
