//! Where a report goes: nothing that is not of an earlier one is touched, and a file is either the old one or the new one, whole.

use crate::dirs;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The page, by which an earlier report is known.
pub const PAGE: &str = "report.html";
/// What that says of itself near its beginning.
pub const MARK: &str = "<meta name=\"generator\" content=\"drover simulate\"/>";
/// Within so many bytes.
const BEGINNING: u64 = 2_048;

/// Every file that a report may have.
pub const FILES: [&str; 9] = [
    "jobs.csv",
    "phases.csv",
    "workflows.csv",
    "summary.json",
    "cdf.svg",
    "gain.svg",
    "sweep.svg",
    "swimlane.svg",
    PAGE,
];

/// Why a report cannot go where it should.
#[derive(Debug, thiserror::Error)]
pub enum BadDir {
    /// There is something else.
    #[error("{}: holds files and no earlier report of drover simulate; name a directory that is empty, or not there yet", .0.display())]
    NotOurs(PathBuf),
    /// It cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// What.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> BadDir {
    let path = path.to_owned();
    move |source| BadDir::Io { path, source }
}

/// Where a file is written until it is whole.
fn part(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!(".{name}.part"))
}

/// Makes a directory for a report where there is none, and tries whether files can be written there: what is found out only at the end may have cost hours.
///
/// # Errors
/// Where something else is there, or cannot be written.
pub fn prepare(dir: &Path) -> Result<(), BadDir> {
    dirs::make(dir).map_err(at(dir))?;
    let mut is_empty = true;
    for entry in fs::read_dir(dir).map_err(at(dir))? {
        let path = entry.map_err(at(dir))?.path();
        // What a write that was cut off left is nobody's.
        is_empty &= FILES.iter().any(|name| path == part(dir, name));
    }
    if !is_empty && !holds_report(dir).map_err(at(dir))? {
        return Err(BadDir::NotOurs(dir.to_owned()));
    }
    let tried = part(dir, PAGE);
    File::create(&tried).and_then(|_| fs::remove_file(&tried)).map_err(at(&tried))
}

fn holds_report(dir: &Path) -> io::Result<bool> {
    let page = match File::open(dir.join(PAGE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        opened => opened?,
    };
    let mut beginning = Vec::new();
    page.take(BEGINNING).read_to_end(&mut beginning)?;
    Ok(beginning.windows(MARK.len()).any(|window| window == MARK.as_bytes()))
}

/// Writes a report's files: first all under other names, then each to its place; those of an earlier report that this one has not are removed last.
///
/// # Errors
/// Where something else is there, or cannot be written.
pub fn write(dir: &Path, files: &[(&'static str, Vec<u8>)]) -> Result<(), BadDir> {
    prepare(dir)?;
    for (name, bytes) in files {
        let path = part(dir, name);
        let whole = |mut file: File| file.write_all(bytes).and_then(|()| file.sync_all());
        File::create(&path).and_then(whole).map_err(at(&path))?;
    }
    for (name, _) in files {
        fs::rename(part(dir, name), dir.join(name)).map_err(at(&dir.join(name)))?;
    }
    for stale in FILES.iter().filter(|name| files.iter().all(|(written, _)| written != *name)) {
        match fs::remove_file(dir.join(stale)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at(&dir.join(stale))(error)),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(words: &str) -> Vec<(&'static str, Vec<u8>)> {
        vec![("jobs.csv", words.into()), (PAGE, format!("<html>{MARK}{words}").into())]
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_report_is_written_anew_over_an_earlier_one_and_leaves_what_else_is_there() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("a/b");
        let mut first = report("first");
        first.push(("swimlane.svg", b"old".to_vec()));
        write(&dir, &first).unwrap();
        fs::write(dir.join("notes.txt"), "mine").unwrap();
        write(&dir, &report("second")).unwrap();
        assert_eq!(names(&dir), ["jobs.csv", "notes.txt", PAGE], "the old picture is not of this report");
        assert_eq!(fs::read(dir.join("jobs.csv")).unwrap(), b"second");
    }

    #[test]
    fn a_directory_that_holds_something_else_is_refused_and_left_as_it_was() {
        let temp = tempfile::tempdir().unwrap();
        for (name, words) in [("thesis.tex", "years"), (PAGE, "<html>of another program"), ("jobs.csv", "mine")] {
            let dir = temp.path().join(name.replace('.', "-"));
            fs::create_dir(&dir).unwrap();
            fs::write(dir.join(name), words).unwrap();
            let told = write(&dir, &report("new")).unwrap_err().to_string();
            assert!(told.contains("no earlier report"), "{told}");
            assert_eq!(
                (names(&dir), fs::read_to_string(dir.join(name)).unwrap()),
                (vec![name.to_owned()], words.to_owned())
            );
        }
    }

    #[test]
    fn what_a_write_that_was_cut_off_left_is_no_obstacle() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(part(temp.path(), "jobs.csv"), "half").unwrap();
        write(temp.path(), &report("whole")).unwrap();
        assert_eq!(names(temp.path()), ["jobs.csv", PAGE]);
    }

    #[test]
    fn that_no_file_can_be_written_is_told_before_anything_runs_and_nothing_is_left_of_the_try() {
        let temp = tempfile::tempdir().unwrap();
        prepare(temp.path()).unwrap();
        assert_eq!(names(temp.path()), [""; 0]);
        // Whoever runs the tests may be allowed to write anywhere.
        let bad = part(temp.path(), PAGE);
        fs::create_dir(&bad).unwrap();
        assert!(matches!(prepare(temp.path()), Err(BadDir::Io { path, .. }) if path == bad));
    }

    #[test]
    fn a_file_in_the_way_is_told() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("file");
        fs::write(&file, "x").unwrap();
        assert_eq!(prepare(&file).unwrap_err().to_string(), format!("{}: is no directory", file.display()));
        assert_eq!(fs::read_to_string(&file).unwrap(), "x");
    }
}
