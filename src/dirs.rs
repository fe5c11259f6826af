//! Directories that are made where they are not there yet, and files that are replaced whole.

use std::fs::File;
use std::io::{Error, ErrorKind, Result, Write};
use std::path::Path;

/// Makes it, and those above it.
///
/// # Errors
/// What the system says; of anything else in its place that it "exists" would tell nobody what is wrong.
pub fn make(dir: &Path) -> Result<()> {
    made(dir, || "is no directory".to_owned())
}

/// Makes the one that a file is to lie in.
///
/// # Errors
/// Likewise, with its name.
pub fn make_above(file: &Path) -> Result<()> {
    let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty());
    dir.map_or(Ok(()), |dir| made(dir, || format!("{} is no directory", dir.display())))
}

/// Writes the whole file or nothing of it, in a directory that is made where it is not there, and has it on the disk when it comes back. Once the new one is on the disk, and before it takes
/// the old one's place, `first` is done.
///
/// # Errors
/// What the system says, or `first`; what was there is there still.
pub fn replace(path: &Path, bytes: &[u8], first: impl FnOnce() -> Result<()>) -> Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    make(dir)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let new = path.with_file_name(format!("{name}.new"));
    let mut file = File::create(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    first()?;
    std::fs::rename(&new, path)?;
    File::open(dir)?.sync_all()
}

fn made(dir: &Path, other: impl FnOnce() -> String) -> Result<()> {
    std::fs::create_dir_all(dir).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Error::new(ErrorKind::NotADirectory, other()),
        _ => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_where_a_directory_is_to_be_is_told_as_that() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("new/file");
        make_above(&file).unwrap();
        std::fs::write(&file, "").unwrap();
        make(file.parent().unwrap()).unwrap();
        assert_eq!(make(&file).unwrap_err().to_string(), "is no directory");
        let above = make_above(&file.join("l.db")).unwrap_err().to_string();
        assert_eq!(above, format!("{} is no directory", file.display()));
        make_above(Path::new("l.db")).unwrap();
    }
}
