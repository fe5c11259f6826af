//! Files that a user names, read no further than they may be long: a pipe or a device does not tell its length.

use std::fs::File;
use std::io::{Error, Read, Result};
use std::path::Path;

/// Its text, of so many bytes at most.
///
/// # Errors
/// What the system says, or that it is longer.
pub fn text(path: &Path, most: u64) -> Result<String> {
    let mut text = String::new();
    File::open(path)?.take(most.saturating_add(1)).read_to_string(&mut text)?;
    if text.len() as u64 > most {
        return Err(Error::other(format!("it is longer than {most} bytes, and no more are read")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_as_many_bytes_as_may_be_is_read_and_a_longer_one_or_one_without_end_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        std::fs::write(&path, "four").unwrap();
        assert_eq!(text(&path, 4).unwrap(), "four");
        for (path, most) in [(path.as_path(), 3), (Path::new("/dev/zero"), 1 << 20)] {
            let said = text(path, most).unwrap_err().to_string();
            assert_eq!(said, format!("it is longer than {most} bytes, and no more are read"));
        }
    }
}
